// Pooling with border 'ignore' whose windows may be completely in the border.

#include "compiler/expand/evaluate/dropped_windows.h"

#include <algorithm>

#include "compiler/ir/ops/windows/sliding_window_shape.h"

namespace nnefc::expand::evaluate {
namespace {

using ir::ops::WindowAxis;

// Returns an item of a list of integers: 1 past its end, 0 if it is not an integer.
int64_t ItemOf(const Value* list, size_t axis) {
  if (list == nullptr || axis >= static_cast<size_t>(list->length())) return 1;
  const Value& item = list->item(static_cast<int64_t>(axis));
  return item.kind() == ValueKind::kInteger ? item.integer() : 0;
}

std::optional<std::pair<int64_t, int64_t>> PairOf(const Value* list, size_t axis) {
  if (list == nullptr || axis >= static_cast<size_t>(list->length())) return std::nullopt;
  const Value& pair = list->item(static_cast<int64_t>(axis));
  if (pair.kind() != ValueKind::kTuple || pair.length() != 2) return std::nullopt;
  return std::pair{pair.item(0).integer(), pair.item(1).integer()};
}

bool LosesAlong(int64_t extent, const WindowAxis& window) {
  if (window.size < 1 || window.stride < 1 || window.dilation < 1)
    return false;  // reported by shape inference
  const auto padding = ir::ops::ResolvedPadding(extent, window);
  const ir::ops::WindowExtent count = ir::ops::DownscaledExtent(ir::Dim(extent), window);
  if (!padding || count.problem != ir::ops::WindowProblem::kNone || !count.extent.known()) return false;
  const ir::Wide before = padding->first;
  const ir::Wide reach = ir::ops::DilatedSize(window) - 1;
  const bool is_before = before > reach;
  const bool is_behind = ir::Wide(count.extent.value() - 1) * window.stride - before >= extent;
  // A dilated window may have items in the padding on both sides and none inside.
  const bool may_straddle = window.dilation > extent && window.size > 1 && before > 0 && padding->second > 0;
  return is_before || is_behind || may_straddle;
}

}  // namespace

bool DropsWindows(const semantics::Signature& signature, llvm::ArrayRef<Value> arguments,
                  const SymbolTable& symbols, const ir::Graph& graph) {
  auto argument = [&](std::string_view parameter) -> const Value* {
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      if (symbols.Text(signature.parameters[i].name.symbol) == parameter) return &arguments[i];
    }
    return nullptr;
  };
  const Value* border = argument("border");
  const Value* input = argument("input");
  if (border == nullptr || border->kind() != ValueKind::kString || border->text() != "ignore") return false;
  if (input == nullptr || input->kind() != ValueKind::kTensor) return false;
  const std::optional<Shape> shape = graph.output(input->port()).shape.extents();
  if (!shape) return false;
  const Value* size = argument("size");
  const Value* padding = argument("padding");
  size_t axes = shape->size();
  for (const Value* list : {size, padding}) {
    if (list != nullptr) axes = std::max(axes, static_cast<size_t>(list->length()));
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    const WindowAxis window{.size = ItemOf(size, axis),
                            .stride = ItemOf(argument("stride"), axis),
                            .dilation = ItemOf(argument("dilation"), axis),
                            .padding = PairOf(padding, axis)};
    if (LosesAlong(axis < shape->size() ? (*shape)[axis] : 1, window)) return true;
  }
  return false;
}

}  // namespace nnefc::expand::evaluate
