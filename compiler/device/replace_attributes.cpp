// Replacements of attribute values that a device does not accept.

#include "compiler/device/replace_attributes.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/device/graph_check.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::device {
namespace {

using ir::Attribute;
using ir::NodeId;
using ir::OutputPort;
using Integers = std::vector<int64_t>;

// Unique names of tensors in a graph.
class TensorNames {
 public:
  explicit TensorNames(const ir::Graph& graph) {
    for (NodeId id : graph.nodes()) {
      names_.insert(graph.node(id).name());
      for (const ir::Output& output : graph.node(id).outputs()) {
        for (const std::string& name : output.names) names_.insert(name);
      }
    }
  }
  std::string Take(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

 private:
  llvm::StringSet<> names_;
};

// A change of one node: operations before it, other inputs and other attributes. It is undone unless Accept
// is called.
class Change {
 public:
  Change(ir::Graph& graph, NodeId id, const Profile& profile, TensorNames& names)
      : graph_(graph),
        id_(id),
        profile_(profile),
        names_(names),
        forbidden_(ForbiddenAttributes(profile, graph.node(id))) {
    for (const ir::Output& output : node().outputs()) outputs_.push_back(output);
    inputs_.assign(node().inputs().begin(), node().inputs().end());
    attributes_ = node().attributes();
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    if (!is_accepted_) Undo();
  }

  const ir::Graph& graph() const { return graph_; }
  const ir::Node& node() const { return graph_.node(id_); }
  // Adds an operation with one input before the node. Returns its result, or an invalid port if it is
  // invalid.
  OutputPort Add(std::string_view operation, OutputPort input, ir::AttributeMap attributes,
                 std::string_view suffix) {
    if (!is_valid_) return {};
    const std::string base = node().output().names.empty() ? node().name() : node().output().names.front();
    const std::string name = names_.Take(fmt::format("{}_{}", base, suffix));
    for (const ir::AttributeInfo& info : ir::StandardOps().Info(OperationId(operation)).attributes) {
      if (info.fallback && attributes.Find(info.name) == nullptr) attributes.Set(info.name, *info.fallback);
    }
    Emitter quiet;
    const ir::InferredNode added = ir::AddInferred(
        graph_, ir::kNnefSet, operation,
        {.name = name, .inputs = input, .attributes = std::move(attributes), .origin = node().origin()},
        quiet);
    added_.push_back(added.id);
    graph_.SetOutputNames({added.id, 0}, {name});
    is_valid_ = added.inferred;
    return {added.id, 0};
  }
  void SetInput(int32_t index, OutputPort port) {
    if (is_valid_) graph_.SetInput(id_, index, port);
  }
  void SetAttribute(std::string_view name, Attribute value) {
    graph_.SetAttribute(id_, name, std::move(value));
  }

  // Sets an attribute whose value is forbidden.
  void SetForbidden(std::string_view name, Attribute value) {
    if (llvm::is_contained(forbidden_, name)) SetAttribute(name, std::move(value));
  }

  // Retains the change if the node has the same results as before, and the profile accepts all operations.
  bool Accept() {
    Emitter quiet;
    is_accepted_ =
        is_valid_ && ir::InferNode(graph_, id_, quiet) && HasSameResults() &&
        IsAccepted(profile_, graph_, node()) &&
        llvm::all_of(added_, [&](NodeId id) { return IsAccepted(profile_, graph_, graph_.node(id)); });
    return is_accepted_;
  }

 private:
  static ir::OpId OperationId(std::string_view operation) {
    return ir::StandardOps().Find(ir::kNnefSet, operation);
  }
  bool HasSameResults() const {
    const llvm::ArrayRef<ir::Output> own = node().outputs();
    return std::equal(own.begin(), own.end(), outputs_.begin(), outputs_.end(),
                      [](const ir::Output& one, const ir::Output& other) {
                        return one.type == other.type && one.shape == other.shape;
                      });
  }
  void Undo() {
    for (size_t i = 0; i < inputs_.size(); ++i) graph_.SetInput(id_, static_cast<int32_t>(i), inputs_[i]);
    std::vector<std::string> names;
    for (const auto& [name, value] : node().attributes()) names.emplace_back(name);
    for (const std::string& name : names) graph_.EraseAttribute(id_, name);
    for (const auto& [name, value] : attributes_) graph_.SetAttribute(id_, name, value);
    llvm::copy(outputs_, graph_.InferredOutputs(id_).begin());
    for (NodeId id : llvm::reverse(added_)) graph_.Erase(id);
  }

  ir::Graph& graph_;
  NodeId id_;
  const Profile& profile_;
  TensorNames& names_;
  std::vector<std::string> forbidden_;
  std::vector<ir::Output> outputs_;
  std::vector<OutputPort> inputs_;
  ir::AttributeMap attributes_;
  std::vector<NodeId> added_;
  bool is_valid_ = true;
  bool is_accepted_ = false;
};

ir::AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> entries) {
  ir::AttributeMap attributes;
  for (const auto& [name, value] : entries) attributes.Set(name, value);
  return attributes;
}

// Transposes the last two axes of operands that `transposeA` and `transposeB` transpose.
bool ReplaceTransposes(Change& change) {
  int32_t index = 0;
  for (const char* name : {"transposeA", "transposeB"}) {
    const OutputPort operand = change.node().input(index);
    if (change.node().Bool(name)) {
      const int64_t rank = change.graph().output(operand).shape.rank();
      Integers axes;
      for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
      std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
      change.SetInput(
          index, change.Add("transpose", operand,
                            Attributes({{"axes", axes}, {"dtype", std::string("scalar")}}), "transposed"));
      change.SetAttribute(name, false);
    }
    ++index;
  }
  return true;
}

// Reduces along one axis after another, from the last.
bool ReplaceAxes(Change& change) {
  Integers axes = change.node().Ints("axes");
  if (axes.size() < 2) return false;
  llvm::sort(axes, std::greater<>());
  const ir::AttributeMap attributes = change.node().attributes();
  OutputPort port = change.node().input(0);
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    ir::AttributeMap own = attributes;
    own.Set("axes", Integers{axes[i]});
    port = change.Add(change.node().type(), port, std::move(own), "reduced");
  }
  change.SetInput(0, port);
  change.SetAttribute("axes", Integers{axes.back()});
  return true;
}

// An operation with a sliding window.
struct WindowOperation {
  bool has_filter = false;  // else the attribute `size`
  bool is_upscaling = false;
};

// Larger dilated filters remain.
constexpr int64_t kMaxDilatedExtent = 1 << 20;

// The replacement of attributes of a window.
struct WindowReplacement {
  bool pads = false;     // the padding is that of a `pad` before it
  bool dilates = false;  // the filter has zeros
};

// Returns the filter with d - 1 zeros after each element but the last, along each spatial axis.
OutputPort Dilate(Change& change, OutputPort filter, const Integers& dilation) {
  const nnefc::Shape shape = change.graph().output(filter).shape.known_extents();
  Integers split(shape.begin(), shape.begin() + 2), joined = split, axes, begin, end;
  std::vector<std::pair<int64_t, int64_t>> padding(2);
  for (size_t i = 0; i < dilation.size(); ++i) {
    const int64_t extent = shape[i + 2];
    split.insert(split.end(), {extent, 1});
    padding.insert(padding.end(), {{0, 0}, {0, dilation[i] - 1}});
    joined.push_back(extent * dilation[i]);
    axes.push_back(static_cast<int64_t>(i) + 2);
    begin.push_back(0);
    end.push_back((extent - 1) * dilation[i] + 1);
  }
  const Attribute type = std::string("scalar");
  OutputPort port = change.Add("reshape", filter, Attributes({{"shape", split}, {"dtype", type}}), "split");
  port = change.Add("pad", port, Attributes({{"padding", ir::PairList(padding)}}), "spread");
  port = change.Add("reshape", port, Attributes({{"shape", joined}, {"dtype", type}}), "joined");
  return change.Add("slice", port,
                    Attributes({{"axes", axes}, {"begin", begin}, {"end", end}, {"dtype", type}}), "dilated");
}

bool ReplaceWindow(Change& change, WindowOperation operation, WindowReplacement replacement) {
  const ir::Node& node = change.node();
  const ir::Graph& graph = change.graph();
  const nnefc::Shape input = graph.output(node.input(0)).shape.known_extents();
  const nnefc::Shape upscaled = operation.is_upscaling ? node.output().shape.known_extents() : input;
  const size_t first = operation.has_filter ? 2 : 0;
  Integers size, dilation, stride;
  if (operation.has_filter) {
    const nnefc::Shape filter = graph.output(node.input(1)).shape.known_extents();
    size.assign(filter.begin() + 2, filter.end());
  } else {
    size = node.Ints("size");
  }
  const ir::ops::Window window = ir::ops::WindowOf(node, size);
  for (const ir::ops::WindowAxis& axis : window) {
    stride.push_back(axis.stride);
    dilation.push_back(axis.dilation);
  }
  const Integers extents(upscaled.begin() + static_cast<std::ptrdiff_t>(first), upscaled.end());
  auto padding = ir::ops::ResolvedPaddings(window, extents);
  if (!padding) return false;
  if (replacement.pads) {
    const std::string border = node.String("border");
    const bool is_crop =
        llvm::any_of(*padding, [](const auto& pair) { return pair.first < 0 || pair.second < 0; });
    if (operation.is_upscaling || border == "ignore" || is_crop) return false;
    std::vector<std::pair<int64_t, int64_t>> all(first);
    all.insert(all.end(), padding->begin(), padding->end());
    change.SetInput(
        0, change.Add("pad", node.input(0), Attributes({{"padding", ir::PairList(all)}, {"border", border}}),
                      "padded"));
    change.SetAttribute("border", std::string("constant"));
    change.SetAttribute("padding", ir::PairList({padding->size(), {0, 0}}));
  } else {
    change.SetForbidden("padding", ir::PairList(*padding));
  }
  if (replacement.dilates) {
    if (!operation.has_filter || operation.is_upscaling) return false;
    const bool is_small = llvm::all_of(window, [](const ir::ops::WindowAxis& axis) {
      return axis.size <= kMaxDilatedExtent / axis.dilation;
    });
    if (!is_small) return false;
    change.SetInput(1, Dilate(change, node.input(1), dilation));
    change.SetAttribute("dilation", Integers(dilation.size(), 1));
  } else {
    change.SetForbidden("dilation", dilation);
  }
  change.SetForbidden("stride", stride);
  if (operation.has_filter && node.Int("groups") == 0)
    change.SetForbidden("groups", operation.is_upscaling ? upscaled[1] : input[1]);
  return true;
}

bool IsKnown(const ir::Graph& graph, const ir::Node& node) {
  const auto is_known = [](const ir::Output& output) { return output.shape.known(); };
  return llvm::all_of(node.outputs(), is_known) &&
         llvm::all_of(node.inputs(), [&](OutputPort port) { return is_known(graph.output(port)); });
}

using Replacement = std::function<bool(Change&)>;

// Returns the replacements for windows, those that add fewer operations first.
std::vector<Replacement> WindowReplacements(WindowOperation operation) {
  constexpr WindowReplacement kOrder[] = {
      {}, {.pads = true}, {.dilates = true}, {.pads = true, .dilates = true}};
  std::vector<Replacement> replacements;
  for (WindowReplacement replacement : kOrder) {
    replacements.emplace_back(
        [operation, replacement](Change& change) { return ReplaceWindow(change, operation, replacement); });
  }
  return replacements;
}

// Returns the replacements for an operation in the order of trials, or null.
const std::vector<Replacement>* ReplacementsFor(const ir::Node& node) {
  static const ir::OpTable<std::vector<Replacement>> table(
      ir::StandardOps(), ir::kNnefSet,
      {{"matmul", {ReplaceTransposes}},
       {"sum_reduce", {ReplaceAxes}},
       {"mean_reduce", {ReplaceAxes}},
       {"max_reduce", {ReplaceAxes}},
       {"min_reduce", {ReplaceAxes}},
       {"all_reduce", {ReplaceAxes}},
       {"any_reduce", {ReplaceAxes}},
       {"conv", WindowReplacements({.has_filter = true})},
       {"deconv", WindowReplacements({.has_filter = true, .is_upscaling = true})},
       {"box", WindowReplacements({})},
       {"debox", WindowReplacements({.is_upscaling = true})},
       {"max_pool", WindowReplacements({})},
       {"avg_pool", WindowReplacements({})},
       {"rms_pool", WindowReplacements({})}});
  return table.Find(node.op());
}

}  // namespace

bool ReplaceAttributes(ir::Graph& graph, const Profile& profile) {
  TensorNames names(graph);
  bool is_changed = false;
  for (NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    const std::vector<Replacement>* replacements = ReplacementsFor(node);
    if (replacements == nullptr || ForbiddenAttributes(profile, node).empty() || !IsKnown(graph, node))
      continue;
    for (const Replacement& replace : *replacements) {
      Change change(graph, id, profile, names);
      if (!replace(change) || !change.Accept()) continue;
      is_changed = true;
      break;
    }
  }
  return is_changed;
}

}  // namespace nnefc::device
