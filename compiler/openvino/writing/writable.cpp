// The check that a graph has an OpenVINO form: its names, types and operations.

#include <algorithm>

#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/origin.h"
#include "compiler/ir/wording.h"
#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/limits.h"
#include "compiler/openvino/rt_info.h"
#include "compiler/openvino/rules.h"
#include "compiler/openvino/write.h"
#include "compiler/openvino/writing/layer_order.h"

namespace nnefc::openvino {

namespace {

// Returns whether an XML attribute may have this name.
bool IsXmlName(std::string_view name) {
  const auto is_first = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  const auto is_other = [&](char c) { return is_first(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !name.empty() && is_first(name.front()) && std::all_of(name.begin(), name.end(), is_other);
}

class WritableChecker {
 public:
  WritableChecker(const WritableOptions& options, Emitter& emitter) : options_(options), emitter_(emitter) {}

  // Checks a graph. `depth` is the number of enclosing bodies, at most ir::kMaxBodyNesting; this bounds the
  // recursion.
  void Check(const ir::Graph& graph, int depth) {
    if (graph.results().empty() && graph.sinks().empty()) {
      ReportAt(kNetNoResult, {}, "the graph `{}` has no result", Shown(graph.name()));
    }
    CheckText({}, "the name of the graph", graph.name());
    CheckSinks(graph);
    CheckGraphRtInfo(graph);
    for (ir::NodeId id : graph.nodes()) {
      if (emitter_.exhausted()) return;
      const ir::Node& node = graph.node(id);
      CheckNode(graph, node);
      if (!node.bodies().empty() && depth == ir::kMaxBodyNesting) {
        Report(kNetNesting, node, "bodies are nested deeper than {}", ir::kMaxBodyNesting);
        continue;
      }
      for (const ir::Body& body : node.bodies()) Check(*body.graph, depth + 1);
    }
  }
  bool writable() const { return writable_; }

 private:
  // A file identifies a sink by its operation, or as an unknown operation without outputs.
  void CheckSinks(const ir::Graph& graph) {
    for (ir::NodeId id : graph.sinks()) {
      const ir::Node& node = graph.node(id);
      if (node.info().is_sink || (node.info().infer == nullptr && node.num_outputs() == 0)) continue;
      Report(kNoOpenVinoForm, node,
             "`{}` is kept as a sink; OpenVINO IR would drop it, as it does not end in a result",
             node.name());
    }
  }

  void CheckNode(const ir::Graph& graph, const ir::Node& node) {
    if (node.set() == ir::kNnefSet) {
      Report(kNoOpenVinoForm, node, "`{}`, which makes `{}`, has no form in OpenVINO IR{}",
             ir::OperationName(node), node.name(), Reason(node));
    }
    if (!options_.structure_only && node.Is(ir::OpRole::kConst) && !node.output().value) {
      Report(kNoVariableData, node, "the variable `{}` has no data to write", node.name());
    }
    CheckText(node.origin().range, "the name of a layer", node.name());
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      CheckNames(node, "the tensor names", openvino::TensorNames(graph, node.port(i), nullptr));
    }
    CheckAttributes(node);
    CheckRtInfo(node);
  }

  std::string Reason(const ir::Node& node) const {
    if (node.info().infer == nullptr) return ": it is a custom primitive; give the fragment a body";
    return options_.reason ? options_.reason(node) : "";
  }

  void CheckAttributes(const ir::Node& node) {
    if (node.attributes().size() > kMaxAttributes) {
      Report(kUnwritableText, node, "`{}` has more than {} attributes", node.name(), kMaxAttributes);
    }
    for (const auto& [name, value] : node.attributes()) {
      if (!IsXmlName(name)) {
        Report(kUnwritableText, node, "`{}` of `{}` is not a name that an attribute of XML may have",
               Shown(name), node.name());
      }
      CheckText(node.origin().range, name, AttributeText(value));
      if (!node.Is(ir::OpRole::kResult) || name != "output_names") continue;
      if (const auto* names = value.get<ir::Attribute::Strings>()) CheckNames(node, name, *names);
    }
  }

  // The fields of an rt_info attribute are XML attributes; it has one version.
  void CheckRtInfo(const ir::Node& node) {
    for (const auto& [path, value] : node.rt_info()) {
      const std::vector<std::string> items = openvino::SplitPath(path);
      CheckText(node.origin().range, "an entry of rt_info", path);
      CheckText(node.origin().range, "an entry of rt_info", AttributeText(value));
      const bool is_of_port = path.starts_with("input:") || path.starts_with("output:");
      const size_t field = is_of_port ? 3 : 2;
      if (items.size() <= field) continue;
      if (!IsXmlName(items[field]) || items[field] == "name" || items[field] == "version") {
        Report(kUnwritableText, node, "`{}` in rt_info of `{}` is not a name that a field may have",
               Shown(items[field]), node.name());
      }
    }
  }

  void CheckGraphRtInfo(const ir::Graph& graph) {
    for (const auto& [path, value] : graph.rt_info()) {
      CheckText({}, "an entry of rt_info", path);
      CheckText({}, "an entry of rt_info", AttributeText(value));
    }
  }

  // XML can represent every byte except NUL.
  void CheckText(SourceRange range, std::string_view what, std::string_view text) {
    if (text.find('\0') == std::string_view::npos) return;
    ReportAt(kUnwritableText, range, "{} holds a NUL byte, which XML cannot hold", Shown(what));
  }

  // Lists of names are separated by commas; `\,` is a comma within a name.
  void CheckNames(const ir::Node& node, std::string_view what, const std::vector<std::string>& names) {
    const std::string text = openvino::JoinNames(names);
    CheckText(node.origin().range, what, text);
    if (openvino::SplitNames(text) == names) return;
    Report(kUnwritableText, node, "{} of `{}` are ambiguous in a list: one is empty or ends in `\\`",
           Shown(what), node.name());
  }

  static std::string_view Shown(std::string_view text) { return text.substr(0, kShown); }

  template <typename... Args>
  void Report(const Rule& rule, const ir::Node& node, fmt::format_string<Args...> format, Args&&... args) {
    writable_ = false;
    emitter_.Emit(rule, node.origin().range, format, std::forward<Args>(args)...)
        .Notes(ir::StackNotes(node.origin().frame));
  }
  template <typename... Args>
  void ReportAt(const Rule& rule, SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    writable_ = false;
    emitter_.Emit(rule, range, format, std::forward<Args>(args)...);
  }

  const WritableOptions& options_;
  Emitter& emitter_;
  bool writable_ = true;
};

}  // namespace

bool CheckWritable(const ir::Graph& graph, Emitter& emitter, const WritableOptions& options) {
  WritableChecker checker(options, emitter);
  checker.Check(graph, 0);
  return checker.writable();
}

}  // namespace nnefc::openvino
