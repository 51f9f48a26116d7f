// Quantizations of the results of assignments, as stated in graph.quant (R 7.1, P 7.1).

#include "compiler/expand/evaluate/quantizers.h"

namespace nnefc::expand::evaluate {
namespace {

Value Item(const TensorValue& tensor, int64_t index, semantics::TypeKind kind) {
  if (kind == semantics::TypeKind::kLogical) return Value::Logical(tensor.ElementAsInt(index) != 0);
  if (kind == semantics::TypeKind::kInteger) return Value::Integer(tensor.ElementAsInt(index));
  return Value::Scalar(tensor.ElementAsDouble(index));
}

Quantizer::Argument ToArgument(const TensorValue& tensor, semantics::TypeKind kind, Heap& heap) {
  if (tensor.shape().empty()) return {Item(tensor, 0, kind), Value()};
  std::vector<Value> items;
  for (int64_t i = 0; i < tensor.volume(); ++i) items.push_back(Item(tensor, i, kind));
  std::vector<Value> extents;
  for (int64_t extent : tensor.shape()) extents.push_back(Value::Integer(extent));
  return {Value::Array(heap, std::move(items), false), Value::Array(heap, std::move(extents), false)};
}

}  // namespace

Quantizers MakeQuantizers(const semantics::CheckedDocument& document,
                          llvm::ArrayRef<TensorQuantization> lines, const SymbolTable& symbols, Heap& heap) {
  Quantizers quantizers;
  quantizers.constant = document.Find(symbols.Find("constant"));
  for (const TensorQuantization& line : lines) {
    const Symbol name = symbols.Find(line.tensor);
    const semantics::Callee callee = document.Find(symbols.Find(line.operation));
    if (!name.valid() || !callee.valid()) continue;
    Quantizer quantizer{callee, {}, line.range};
    const semantics::Signature& signature = callee.document->signature(callee.fragment);
    const semantics::TypeTable& types = callee.document->types();
    for (size_t i = 0; i < line.arguments.size(); ++i) {
      semantics::TypeId type = signature.parameters[i + 1].type;
      if (types.Kind(type) == semantics::TypeKind::kTensor) type = types.Element(type);
      quantizer.arguments.push_back(ToArgument(line.arguments[i].value, types.Kind(type), heap));
    }
    quantizers.by_name[name] = std::move(quantizer);
  }
  return quantizers;
}

}  // namespace nnefc::expand::evaluate
