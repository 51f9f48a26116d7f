// The quantization of a graph's tensors, read from graph.quant.

#include "compiler/driver/data/quantization.h"

#include <algorithm>

#include "compiler/driver/rules.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/semantics/quantization.h"
#include "compiler/syntax/parse.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::driver {

using expand::TensorQuantization;

namespace {

using Algorithm = package::DatQuantization::Algorithm;

// Returns true if `shape` broadcasts to `tensor`; shapes align at the first dimension (R 4.1).
bool BroadcastsTo(const Shape& shape, const ir::PartialShape& tensor) {
  if (!tensor.rank_known()) return true;
  if (static_cast<int64_t>(shape.size()) > tensor.rank()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const ir::Dim extent = tensor[static_cast<int64_t>(i)];
    if (shape[i] != 1 && extent.known() && shape[i] != extent.value()) return false;
  }
  return true;
}

bool Flag(const TensorQuantization& line, std::string_view name) {
  const TensorQuantization::Argument* argument = line.Find(name);
  return argument != nullptr && argument->value.ElementAsInt(0) != 0;
}

TensorValue Value(const TensorQuantization& line, std::string_view name) {
  const TensorQuantization::Argument* argument = line.Find(name);
  return argument == nullptr ? TensorValue() : argument->value;
}

// Returns nothing for an operation that is not one of the standard's quantizations.
std::optional<Algorithm> AlgorithmOf(const TensorQuantization& line) {
  const ir::OpId op = ir::StandardOps().Find(ir::kNnefSet, line.operation);
  if (!line.is_standard || !op.valid()) return std::nullopt;
  switch (ir::StandardOps().Info(op).quantizer) {
    case ir::Quantizer::kLinear:
    case ir::Quantizer::kMinMaxLinear:
      return Algorithm::kMinMaxLinear;
    case ir::Quantizer::kZeroPointLinear:
      return Algorithm::kZeroPointLinear;
    case ir::Quantizer::kLogarithmic:
      return Algorithm::kLogarithmic;
    case ir::Quantizer::kNone:
    case ir::Quantizer::kFakeQuantize:
      break;
  }
  return std::nullopt;
}

}  // namespace

QuantizationTable::QuantizationTable(std::vector<TensorQuantization> lines, const ir::Graph& graph,
                                     Context& context)
    : lines_(std::move(lines)) {
  llvm::StringMap<size_t> by_name;
  for (size_t i = 0; i < lines_.size(); ++i) by_name[lines_[i].tensor] = i;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::Output& output : node.outputs()) {
      for (const std::string& name : output.names) {
        auto found = by_name.find(name);
        if (found == by_name.end()) continue;
        for (const TensorQuantization::Argument& argument : lines_[found->second].arguments) {
          if (BroadcastsTo(argument.value.shape(), output.shape)) continue;
          context.emitter.Emit(kQuantizationShape, argument.range,
                               "`{}` of shape {} does not broadcast to `{}`, which has shape {}",
                               argument.name, ToString(argument.value.shape()), name,
                               ir::ToString(output.shape));
        }
        if (node.Is(ir::OpRole::kVariable)) {
          variables_[ir::ops::VariableKey(node)] = found->second;
        }
      }
    }
  }
}

const TensorQuantization* QuantizationTable::FindVariable(const std::string& key) const {
  auto found = variables_.find(key);
  return found == variables_.end() ? nullptr : &lines_[found->second];
}

std::vector<TensorQuantization> QuantizationTable::LinesToCompute(
    const ir::Graph& graph, const package::ModelContainer& model) const {
  llvm::StringSet<> names;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kVariable)) {
      Emitter quiet;  // mistakes in it are reported by its reader
      const std::string& label = node.attribute("label").AsString();
      const std::optional<package::DatHeader> dat = model.ReadVariableHeader(label, quiet);
      if (dat && dat->coding == package::DatCoding::kQuantized) continue;
    }
    for (const ir::Output& output : node.outputs()) {
      for (const std::string& name : output.names) names.insert(name);
    }
  }
  std::vector<TensorQuantization> lines;
  for (const TensorQuantization& line : lines_) {
    if (names.contains(line.tensor)) lines.push_back(line);
  }
  return lines;
}

namespace {

// Returns true for one item, or for `count` items along the first axis.
bool IsPerTensorOrFirstAxis(const TensorValue& value, int64_t count) {
  return value.volume() == 1 || (value.volume() == count && value.shape()[0] == count);
}

}  // namespace

lower::QuantizedTypes QuantizationTable::Types() const {
  lower::QuantizedTypes types;
  for (const TensorQuantization& line : lines_) {
    const bool is_eight_bits = line.Find("bits") != nullptr && line.Find("bits")->value.ElementAsInt(0) == 8;
    const TensorValue scale = Value(line, "scale"), zero_point = Value(line, "zero_point");
    if (!line.is_standard || !is_eight_bits || !scale.valid() || !zero_point.valid()) continue;
    const int64_t count = std::max(scale.volume(), zero_point.volume());
    if (!IsPerTensorOrFirstAxis(scale, count) || !IsPerTensorOrFirstAxis(zero_point, count)) continue;
    lower::QuantizedType type{.is_signed = Flag(line, "signed"), .scales = {}, .zero_points = {}};
    for (int64_t i = 0; i < count; ++i) {
      type.scales.push_back(static_cast<float>(scale.ElementAsDouble(scale.volume() == 1 ? 0 : i)));
      type.zero_points.push_back(
          static_cast<int32_t>(zero_point.ElementAsInt(zero_point.volume() == 1 ? 0 : i)));
    }
    types.emplace(line.tensor, std::move(type));
  }
  return types;
}

std::set<std::string, std::less<>> QuantizedNames(FileId text, const ast::Dialect& dialect,
                                                  Context& context) {
  Context quiet(context, context.emitter.room());
  const std::unique_ptr<ast::Document> document =
      ast::ParseDocument(text, {.dialect = dialect, .kind = ast::DocumentKind::kQuantization}, quiet);
  std::set<std::string, std::less<>> names;
  for (const ast::Quantization& line : document->quantizations) {
    if (line.key.symbol.valid()) names.emplace(quiet.symbols.Text(line.key.symbol));
  }
  return names;
}

ModelQuantization CheckModelQuantization(FileId text, const semantics::CheckedDocument& model,
                                         const expand::ExpandedDocument& expanded,
                                         const semantics::StandardLibrary& library, ir::OpRegistry& registry,
                                         Context& context) {
  const ir::Graph none(&registry);
  const ir::Graph& graph = expanded.graph != nullptr ? *expanded.graph : none;
  llvm::StringSet<> activations;
  for (ir::NodeId id : graph.nodes()) {
    for (const ir::Output& output : graph.node(id).outputs()) {
      for (const std::string& name : output.names) activations.insert(name);
    }
  }
  ModelQuantization result;
  result.document = semantics::CheckQuantization(
      ast::ParseDocument(text, {.dialect = model.dialect(), .kind = ast::DocumentKind::kQuantization},
                         context),
      model,
      [&](std::string_view name) {
        return !expanded.complete || activations.contains(llvm::StringRef(name.data(), name.size()));
      },
      library, context);
  if (!result.document->complete()) return result;
  Context own(context, context.emitter.room());
  result.table =
      QuantizationTable(expand::EvaluateQuantization(*result.document, library, registry, own), graph, own);
  result.complete = !own.emitter.has_errors();
  context.emitter.Take(std::move(own.emitter));
  return result;
}

std::optional<package::DatQuantization> ToDatQuantization(const TensorQuantization& line,
                                                          const package::DatFile& dat, Context& context) {
  package::DatQuantization quantization;
  const std::optional<Algorithm> algorithm = AlgorithmOf(line);
  if (!algorithm) {
    context.emitter.Emit(
        kQuantizationCustom, line.range,
        "the items of the tensor file of `{}` are quantized by `{}`; only those of a standard "
        "quantization operation can be read",
        line.tensor, line.operation);
    return std::nullopt;
  }
  quantization.algorithm = *algorithm;
  const TensorQuantization::Argument* bits = line.Find("bits");
  // Values out of range are reported when the items are decoded.
  quantization.bits =
      bits == nullptr ? 0 : static_cast<int>(std::clamp<int64_t>(bits->value.ElementAsInt(0), -1, 1000));
  // logarithmic_quantize has no `signed`: the item type decides (R 5.2).
  quantization.is_signed = quantization.algorithm == Algorithm::kLogarithmic
                               ? dat.items == package::DatItems::kSigned
                               : Flag(line, "signed");
  quantization.symmetric = Flag(line, "symmetric");
  quantization.min = Value(line, "min");
  quantization.max = Value(line, "max");
  quantization.zero_point = Value(line, "zero_point");
  quantization.scale = Value(line, "scale");
  return quantization;
}

}  // namespace nnefc::driver
