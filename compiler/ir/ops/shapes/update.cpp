// Shape inference of NNEF's update, and checks of the variables of a whole graph.

#include <algorithm>
#include <map>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/ir/wording.h"
#include "compiler/support/files/contained_path.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::ir::ops {

namespace {

// update.variable: only variables are updated. update.shape: the shapes are equal.
void InferUpdate(InferContext& context) {
  const Node* target = context.producer(0);
  if (target != nullptr && !target->Is(OpRole::kVariable)) {
    context.Error(kUpdateTarget, "{} is the result of `{}`; expected a variable", Describe(context, 0),
                  OperationName(*target));
    return;
  }
  const Output& variable = context.input(0);
  const PartialShape& value = context.input(1).shape;
  bool equal = true;
  if (variable.shape.rank_known() && value.rank_known()) {
    equal = value.rank() == variable.shape.rank();
    for (int64_t axis = 0; equal && axis < value.rank(); ++axis) {
      equal = value[axis].Compatible(variable.shape[axis]);
    }
  }
  if (!equal) {
    context.Error(kUpdateShape, "{} has shape {}; expected {}, the shape of the variable",
                  Describe(context, 1), ToString(value), ToString(variable.shape));
    return;
  }
  Produce(context, 0, variable.type, variable.shape);
}

// The nodes that share the data of a label.
struct SharedData {
  NodeId variable;  // the first one of the label
  NodeId update;    // the first one, if any
};

const std::string* LabelOf(const Node& node) {
  const Attribute* label = node.attributes().Find("label");
  return label == nullptr ? nullptr : label->get<std::string>();
}

using Places = llvm::function_ref<VariablePlace(NodeId)>;

SourceRange PlaceOf(const Node& node, Places places) {
  const SourceRange range = places(node.id()).range;
  return range.valid() ? range : node.origin().range;
}

// Compares shapes; trailing singular extents are implied (P 4.1).
bool IsSameShape(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known()) return a == b;
  for (int64_t axis = 0; axis < std::max(a.rank(), b.rank()); ++axis) {
    if ((axis < a.rank() ? a[axis] : Dim(1)) != (axis < b.rank() ? b[axis] : Dim(1))) return false;
  }
  return true;
}

bool CheckShared(const Graph& graph, const Node& variable, SharedData& data, Emitter& emitter, Places places,
                 SharedShapes shapes) {
  if (!data.variable.valid()) {
    data.variable = variable.id();
    return true;
  }
  const Node& first = graph.node(data.variable);
  const Output& a = first.output();
  const Output& b = variable.output();
  if (a.type == ElementType::kDynamic || b.type == ElementType::kDynamic) return true;  // reported before
  const bool implies_ones = HasExactLabel(variable) && shapes == SharedShapes::kOfDialect;
  const bool same_shape = implies_ones ? IsSameShape(a.shape, b.shape) : a.shape == b.shape;
  if (a.type == b.type && same_shape) return true;
  emitter
      .Emit(
          kVariableShared, PlaceOf(variable, places),
          "the variable `{}` has type {} and shape {}, but shares its label with one of type {} and shape {}",
          *LabelOf(variable), DataTypeName(b.type), ToString(b.shape), DataTypeName(a.type),
          ToString(a.shape))
      .Notes(StackNotes(variable.origin().frame))
      .Note(first.origin().range, "the other variable is here");
  return false;
}

bool CheckUpdatedOnce(const Graph& graph, const Node& update, std::string_view label, SharedData& data,
                      Emitter& emitter, Places places) {
  if (!data.update.valid()) {
    data.update = update.id();
    return true;
  }
  emitter.Emit(kUpdateOnce, PlaceOf(update, places), "the variable `{}` is updated twice", label)
      .Notes(StackNotes(update.origin().frame))
      .Note(graph.node(data.update).origin().range, "the other update is here");
  return false;
}

// Tensor files of variables by their path in the model's folder.
class VariableFiles {
 public:
  VariableFiles(const Graph& graph, Emitter& emitter, Places places)
      : graph_(graph), emitter_(emitter), places_(places) {}

  // variable.file: variables that share no data have separate files, and no file's path is a folder of
  // another one. `label` and `key` are those of `variable`.
  bool Add(const Node& variable, const std::string& label, const std::string& key) {
    const std::optional<std::string> path = LabelPath(label);
    if (!path || keys_.contains(key)) return true;  // another rule, or a variable that shares the data
    keys_.insert(key);
    const std::string file = *path + std::string(kSuffix);
    if (const auto [other, is_new] = files_.try_emplace(file, variable.id()); !is_new)
      return Fail(variable, other->second,
                  fmt::format("is the file of `{}` too, `{}`", LabelOfNode(other->second), file));
    if (const auto inside = folders_.find(file); inside != folders_.end())
      return Fail(
          variable, inside->second,
          fmt::format("names the file `{}`, which is a folder for `{}`", file, LabelOfNode(inside->second)));
    for (size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
      const std::string folder = file.substr(0, slash);
      if (llvm::is_contained(kTexts, folder))
        return Fail(variable, NodeId(),
                    fmt::format("needs a folder `{}`, which is the name of a text of the model", folder));
      if (const auto other = files_.find(folder); other != files_.end())
        return Fail(variable, other->second,
                    fmt::format("needs a folder `{}`, which is the file of `{}`", folder,
                                LabelOfNode(other->second)));
      folders_.try_emplace(folder, variable.id());
    }
    return true;
  }

 private:
  static constexpr std::string_view kSuffix = ".dat";
  static constexpr std::string_view kTexts[] = {"graph.nnef", "graph.quant"};

  const std::string& LabelOfNode(NodeId id) const { return *LabelOf(graph_.node(id)); }

  bool Fail(const Node& variable, NodeId other, const std::string& why) {
    DiagnosticBuilder builder =
        emitter_.Emit(kVariableFile, PlaceOf(variable, places_), "the label `{}` {}; write another label",
                      *LabelOf(variable), why);
    builder.Notes(StackNotes(variable.origin().frame));
    if (other.valid()) builder.Note(PlaceOf(graph_.node(other), places_), "the other variable is here");
    return false;
  }

  const Graph& graph_;
  Emitter& emitter_;
  Places places_;
  llvm::StringSet<> keys_;
  std::map<std::string, NodeId> files_, folders_;
};

}  // namespace

bool CheckVariables(const Graph& graph, Emitter& emitter, ops::Places places, ops::SharedShapes shapes) {
  llvm::StringMap<ops::SharedData> labels;
  ops::VariableFiles files(graph, emitter, places);
  bool valid = CheckLabelCharacters(graph, emitter, places);
  const std::vector<NodeId> nodes = graph.nodes();
  for (NodeId id : nodes) {
    const Node& node = graph.node(id);
    const std::string* label = node.Is(OpRole::kVariable) ? ops::LabelOf(node) : nullptr;
    if (label == nullptr) continue;
    valid &= ops::CheckShared(graph, node, labels[VariableKey(node)], emitter, places, shapes);
    valid &= files.Add(node, *label, VariableKey(node));
  }
  for (NodeId id : nodes) {
    const Node& node = graph.node(id);
    if (!node.Is(OpRole::kUpdate) || node.num_inputs() == 0) continue;
    const Node& variable = graph.node(node.input(0).node);
    const std::string* label = variable.Is(OpRole::kVariable) ? ops::LabelOf(variable) : nullptr;
    if (label == nullptr) continue;
    valid &= ops::CheckUpdatedOnce(graph, node, *label, labels[VariableKey(variable)], emitter, places);
  }
  return valid;
}

void RegisterUpdate(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "update",
                         .section = "R 4.8",
                         .infer = ops::InferUpdate,
                         .is_sink = true,
                         .role = OpRole::kUpdate,
                         .provisional = ProvisionalForm::kUpdate});
}

}  // namespace nnefc::ir::ops
