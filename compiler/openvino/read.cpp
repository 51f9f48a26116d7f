// The entry point of the reader of OpenVINO models.

#include "compiler/openvino/read.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/origin.h"
#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/limits.h"
#include "compiler/openvino/reading/graph_reader.h"
#include "compiler/openvino/reading/xml_file.h"
#include "compiler/openvino/rules.h"
#include "compiler/openvino/weights.h"

namespace nnefc::openvino {

namespace {

constexpr int64_t kOldestVersion = 10;
constexpr int64_t kNewestVersion = 11;

bool CheckRoot(XmlFile& file) {
  XmlReader xml(file);
  const pugi::xml_node root = file.root();
  if (!openvino::EqualsIgnoringCase(root.name(), "net")) {
    xml.Error(kXmlMissingElement, xml.Range(root), "the root of the file is `{}`; expected `net`",
              std::string_view(root.name()).substr(0, 60));
    return false;
  }
  const std::optional<int64_t> version = xml.Integer(root, "version");
  if (!version) return false;
  if (*version >= kOldestVersion && *version <= kNewestVersion) return true;
  xml.Error(kNetVersion, xml.Range(root.attribute("version")),
            "`version` of `net` is {}; versions {} and {} are read", *version, kOldestVersion,
            kNewestVersion);
  return false;
}

bool HasNegative(const ir::Output& output) {
  if (!output.value) return false;
  for (int64_t i = 0; i < output.value->volume(); ++i) {
    if (output.value->ElementAsInt(i) < 0) return true;
  }
  return false;
}

// Warns about integer divisions with a negative constant and `m_pythondiv` (rounding down): nnefc rounds
// toward zero.
void WarnOfRoundedDivisions(const ir::Graph& graph, Emitter& emitter) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::Body& body : node.bodies()) WarnOfRoundedDivisions(*body.graph, emitter);
    if (!node.Is(ir::ElementFunction::kDivide) || KindOf(node.output().type) != ElementKind::kSigned)
      continue;
    if (!node.Bool("m_pythondiv")) continue;
    if (!HasNegative(graph.output(node.input(0))) && !HasNegative(graph.output(node.input(1)))) continue;
    emitter
        .Emit(kRoundedDivision, node.origin().range,
              "`{}` (Divide) has a negative constant and the attribute `m_pythondiv`, by which OpenVINO's "
              "documentation "
              "rounds integer quotients down; this one is rounded toward zero, as OpenVINO's CPU plug-in and "
              "ONNX do",
              node.name())
        .Note(node.origin().range,
              "to round down, subtract `FloorMod` of the operands from the dividend first");
  }
}

bool ReportUnknownOperations(const ir::Graph& graph, Emitter& emitter, int depth) {
  bool all_known = true;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.info().infer == nullptr) {
      all_known = false;
      DiagnosticBuilder builder =
          node.set() == ir::kNnefSet
              ? emitter.Emit(
                    kCustomPrimitive, node.origin().range,
                    "`{}` is a custom primitive, a fragment without a body: nnefc cannot compute it; "
                    "give the fragment a body of standard operations",
                    node.type())
              : emitter.Emit(
                    kLayerUnknownType, node.origin().range,
                    "the operation `{}` of `{}`, the layer `{}`, is unknown{}", node.type(), node.set(),
                    node.name(),
                    node.set().starts_with("opset") ? "" : "; a plug-in can add it: `--extensions FILE.so`");
      builder.Notes(ir::StackNotes(node.origin().frame));
    }
    if (depth > ir::kMaxBodyNesting) continue;  // graphs that were read or verified are less deep
    for (const ir::Body& body : node.bodies())
      all_known &= ReportUnknownOperations(*body.graph, emitter, depth + 1);
  }
  return all_known;
}

}  // namespace

bool LooksLikeOpenVino(std::string_view text) {
  while (true) {
    const size_t tag = text.find('<');
    if (tag == std::string_view::npos) return false;
    text.remove_prefix(tag + 1);
    if (text.starts_with("?") || text.starts_with("!")) continue;
    return text.size() > 3 && openvino::EqualsIgnoringCase(text.substr(0, 3), "net") &&
           std::string_view(" \t\r\n>").find(text[3]) != std::string_view::npos;
  }
}

ErrorOr<std::unique_ptr<ir::Graph>> ReadOpenVino(const std::string& path, ir::OpRegistry& registry,
                                                 Context& context, const ReadOptions& options) {
  auto xml = XmlFile::Load(path, context);
  if (!xml) return xml.error();
  std::unique_ptr<ir::Graph> graph;
  if (*xml == nullptr || !CheckRoot(**xml)) return graph;
  const std::string weights_path =
      options.weights_path.empty() ? openvino::WeightsPath(path) : options.weights_path;
  openvino::GraphReader reader(xml->get(), &registry, weights_path, &context.emitter);
  graph = reader.Read();
  if (graph == nullptr || !ir::InferGraph(*graph, context.emitter) || !reader.CompareDeclared())
    return std::unique_ptr<ir::Graph>();
  WarnOfRoundedDivisions(*graph, context.emitter);
  return graph;
}

bool RequireKnownOperations(const ir::Graph& graph, Emitter& emitter) {
  return ReportUnknownOperations(graph, emitter, 0);
}

}  // namespace nnefc::openvino
