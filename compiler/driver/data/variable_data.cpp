// The data of a graph's variables: read from the model's tensor files, or generated.

#include "compiler/driver/data/variable_data.h"

#include <set>

#include "compiler/driver/rules.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/support/tensor/trailing_ones.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::driver {

std::map<std::string, ir::DataRole> DataRoles(const ir::Graph& graph) {
  std::map<std::string, ir::DataRole> roles;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (size_t i = 0; i < node.info().inputs.size(); ++i) {
      const std::optional<ir::DataRole> role = node.info().inputs[i].data;
      if (!role) continue;
      for (ir::OutputPort input : node.segment(static_cast<int32_t>(i))) {
        const ir::Node& producer = graph.node(input.node);
        if (producer.Is(ir::OpRole::kVariable)) roles.try_emplace(ir::ops::VariableKey(producer), *role);
      }
    }
  }
  return roles;
}

VariableStore::VariableStore(const package::ModelContainer& model, const ir::Graph& graph,
                             const QuantizationTable& quantization, std::optional<uint64_t> seed,
                             Context& context)
    : model_(model), quantization_(quantization), seed_(seed), context_(context) {
  if (seed_) roles_ = DataRoles(graph);
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kVariable) && ir::ops::HasExactLabel(node))
      exact_labels_.insert(node.attribute("label").AsString());
  }
}

std::string VariableStore::KeyOf(const std::string& label) const {
  return exact_labels_.contains(label) ? label : llvm::StringRef(label).lower();
}

std::optional<TensorValue> VariableStore::Load(const std::string& label, ElementType type,
                                               const ir::PartialShape& shape, const ir::Origin& origin) {
  std::string key = KeyOf(label);
  auto found = loaded_.find(key);
  if (found == loaded_.end()) {
    found = loaded_.emplace(std::move(key), Read(label, type, shape.known_extents(), origin)).first;
  }
  // Variables with shared data may differ in trailing singular extents.
  const Shape extents = shape.known_extents();
  if (!found->second || found->second->shape() == extents) return found->second;
  return found->second->Reshaped(extents);
}

void ReadPlainIntegers(package::DatFile& dat) {
  const bool has_type = dat.bits == 8 || dat.bits == 16 || dat.bits == 32 || dat.bits == 64;
  const bool is_ratified = dat.format == package::DatHeader::Format::kRatified;
  if (is_ratified && has_type && dat.coding == package::DatCoding::kQuantized && !dat.has_range)
    dat.coding = package::DatCoding::kPlain;
}

std::optional<TensorValue> VariableStore::ReadModel(const std::string& label, ElementType type,
                                                    Emitter& emitter) {
  std::optional<package::DatFile> dat = model_.ReadVariableFile(label, emitter);
  if (!dat) return std::nullopt;
  const expand::TensorQuantization* line = quantization_.FindVariable(KeyOf(label));
  if (line == nullptr && exact_labels_.contains(label)) ReadPlainIntegers(*dat);
  if (line == nullptr || dat->coding != package::DatCoding::kQuantized) {
    return package::DecodeDat(*dat, type, emitter);
  }
  std::optional<package::DatQuantization> quantization = ToDatQuantization(*line, *dat, context_);
  if (!quantization) return std::nullopt;
  return package::DecodeDat(*dat, type, emitter, &*quantization);
}

std::optional<TensorValue> VariableStore::Read(const std::string& label, ElementType type, const Shape& shape,
                                               const ir::Origin& origin) {
  if (model_.HasVariable(label)) {
    std::optional<TensorValue> value = ReadModel(label, type, context_.emitter);
    if (!value) return std::nullopt;
    if (Fits(label, value->shape(), shape)) return value->Reshaped(shape);
    EmitShape(label, value->shape(), shape, origin);
    return std::nullopt;
  }
  if (seed_) {
    auto role = roles_.find(KeyOf(label));
    TensorValue value = package::RandomTensor(role == roles_.end() ? ir::DataRole::kFilter : role->second,
                                              *seed_, label, type, shape);
    if (value.valid()) return value;
    context_.emitter.Emit(kVariableDataShape, origin.range,
                          "the data of variable `{}` of shape {} does not fit memory", label,
                          ToString(shape));
    return std::nullopt;
  }
  if (model_.has_weights()) {
    EmitMissing(label, origin);
  } else if (!has_reported_missing_weights_) {
    // Reported once for all variables.
    has_reported_missing_weights_ = true;
    context_.emitter.Emit(
        kVariableWithoutData, origin.range,
        "variable `{}` has no data: `{}` comes without tensor files; give a model folder or "
        "archive that holds `{}.dat`, or `--random-weights SEED`",
        label, model_.name(), label);
  }
  return std::nullopt;
}

void VariableStore::EmitMissing(const std::string& label, const ir::Origin& origin) {
  context_.emitter
      .Emit(kVariableWithoutData, origin.range,
            "the model has no data for variable `{}`: `{}.dat` is missing", label, label)
      .Notes(ir::StackNotes(origin.frame));
}

void VariableStore::EmitShape(const std::string& label, const Shape& actual, const Shape& expected,
                              const ir::Origin& origin) {
  context_.emitter
      .Emit(kVariableDataShape, origin.range, "the data of variable `{}` has shape {}; the document says {}",
            label, ToString(actual), ToString(expected))
      .Notes(ir::StackNotes(origin.frame));
}

bool VariableStore::Fits(const std::string& label, const Shape& actual, const Shape& expected) const {
  if (actual == expected) return true;
  if (!trailing_ones_ && !exact_labels_.contains(label)) return false;
  return WithoutTrailingOnes(actual) == WithoutTrailingOnes(expected);
}

void VariableStore::CheckFile(const std::string& label, const ir::PartialShape& shape,
                              const ir::Origin& origin) {
  if (!model_.HasVariable(label)) return EmitMissing(label, origin);
  const std::optional<package::DatHeader> dat = model_.ReadVariableHeader(label, context_.emitter);
  const std::optional<Shape> extents = shape.extents();
  if (dat && extents && !Fits(label, dat->shape, *extents)) EmitShape(label, dat->shape, *extents, origin);
}

void ReportNoTensorFiles(const ir::Graph& graph, const package::ModelContainer& model, Context& context) {
  if (!model.is_bundle()) return;
  std::set<std::string> labels;
  const ir::Node* first = nullptr;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kVariable)) continue;
    if (first == nullptr) first = &node;
    labels.insert(ir::ops::VariableKey(node));
  }
  if (first == nullptr) return;
  const std::string& label = first->attribute("label").AsString();
  context.emitter
      .Emit(kNoTensorFiles, first->origin().range, "`{}` holds no tensor file{}: `{}.dat` is missing{}",
            model.name(),
            labels.size() == 1 ? "" : fmt::format(" for any of its {} variables", labels.size()), label,
            labels.size() == 1 ? "" : ", as are the others")
      .Notes(ir::StackNotes(first->origin().frame));
}

void VariableStore::CheckPassed(const std::string& label, const ir::Output& variable,
                                const ir::Origin& origin) {
  if (!model_.HasVariable(label)) {
    if (seed_) return;
    context_.emitter
        .Emit(kVariableWithoutData, origin.range,
              "no data were passed for variable `{}`; expected {} of shape {}", label,
              ir::ops::DataTypeName(variable.type), ir::ToString(variable.shape))
        .Notes(ir::StackNotes(origin.frame));
    return;
  }
  Emitter apart;
  const std::optional<TensorValue> value = ReadModel(label, variable.type, apart);
  for (const Diagnostic& diagnostic : apart.diagnostics()) {
    context_.emitter
        .Emit(*diagnostic.rule, origin.range, "the data of variable `{}` do not fit: {}", label,
              diagnostic.message)
        .Notes(ir::StackNotes(origin.frame));
  }
  const Shape expected = variable.shape.known_extents();
  if (value && !Fits(label, value->shape(), expected)) EmitShape(label, value->shape(), expected, origin);
}

void CheckPassedData(const ir::Graph& graph, const package::ModelContainer& model,
                     const QuantizationTable& quantization, std::optional<uint64_t> seed, Context& context) {
  VariableStore variables(model, graph, quantization, seed, context);
  std::set<std::string> checked;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kVariable) || !checked.insert(ir::ops::VariableKey(node)).second) continue;
    variables.CheckPassed(node.attribute("label").AsString(), node.output(), node.origin());
  }
}

void CheckVariableFiles(const ir::Graph& graph, const package::ModelContainer& model,
                        const QuantizationTable& quantization, bool has_trial_extents, Context& context) {
  if (!model.has_weights()) {
    ReportNoTensorFiles(graph, model, context);
    return;
  }
  VariableStore variables(model, graph, quantization, std::nullopt, context);
  std::set<std::string> checked;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kVariable) || !checked.insert(ir::ops::VariableKey(node)).second) continue;
    variables.CheckFile(node.attribute("label").AsString(),
                        has_trial_extents ? ir::PartialShape() : node.output().shape, node.origin());
  }
}

}  // namespace nnefc::driver
