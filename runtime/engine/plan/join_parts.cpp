#include "runtime/engine/plan/join_parts.h"

#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::plan {

namespace {

// The arena buffers that the parts of a Concat fill, in order.
using Roots = llvm::SmallVector<ValueId, 4>;

// Returns nothing if a part is not in the arena, or if a buffer has anything between or after the parts.
std::optional<Roots> RootsOf(PlanDraft& draft, const ir::Node& concat) {
  PlanValues& values = draft.values();
  Roots roots;
  size_t filled = 0;  // bytes of the last root
  for (ir::OutputPort port : concat.inputs()) {
    const ValueId id = draft.ValueOf(port);
    const PlanValues::Place place = values.Find(id);
    if (values[place.root].storage != PlanValue::Storage::kArena) return std::nullopt;
    const bool begins = roots.empty() || filled == values[roots.back()].bytes;
    if (place.offset != (begins ? 0 : filled)) return std::nullopt;
    if (begins ? llvm::is_contained(roots, place.root) : place.root != roots.back()) return std::nullopt;
    if (begins) roots.push_back(place.root);
    filled = place.offset + values[id].bytes;
  }
  if (roots.empty() || filled != values[roots.back()].bytes) return std::nullopt;
  return roots;
}

// Returns the layout of the result in which the parts are contiguous (null: row-major), or nothing.
std::optional<tensor::Layout> JoinedLayoutOf(const PlanDraft& draft, const ir::Node& concat) {
  llvm::SmallVector<kernels::ValueInfo, 4> parts;
  for (ir::OutputPort port : concat.inputs()) {
    const PlanValue& part = draft.values()[draft.ValueOf(port)];
    parts.push_back({.type = part.type, .shape = part.shape, .layout = part.layout});
  }
  const Shape shape = concat.output().shape.known_extents();
  const int64_t axis = kernels::NormalAxis(concat.Int("axis"), static_cast<int64_t>(shape.size()));
  if (llvm::all_of(parts, [](const kernels::ValueInfo& part) { return part.layout == nullptr; })) {
    const bool is_outermost =
        llvm::all_of(llvm::ArrayRef<int64_t>(shape).take_front(static_cast<size_t>(axis)),
                     [](int64_t extent) { return extent == 1; });
    return is_outermost ? std::optional<tensor::Layout>(nullptr) : std::nullopt;
  }
  const kernels::JoinedLayout join = draft.hooks().join;
  if (join == nullptr) return std::nullopt;
  return join(parts, {.type = concat.output().type, .shape = shape}, axis);
}

}  // namespace

bool TryJoin(PlanDraft& draft, const ir::Node& concat) {
  const std::optional<Roots> roots = RootsOf(draft, concat);
  if (!roots) return false;
  const std::optional<tensor::Layout> layout = JoinedLayoutOf(draft, concat);
  if (!layout) return false;
  const Shape shape = concat.output().shape.known_extents();
  const ValueId id = draft.AddArenaValue(concat.output().type, shape, *layout);
  PlanValues& values = draft.values();
  size_t bytes = 0;
  for (ValueId root : *roots) bytes += values[root].bytes;
  if (id < 0 || bytes != values[id].bytes) return false;
  size_t offset = 0;
  for (ValueId root : *roots) {
    values.Join(root, id, offset);
    offset += values[root].bytes;
  }
  draft.SetValue(concat.port(), id);
  draft.CountReads(concat);
  return true;
}

}  // namespace nnefc::runtime::engine::plan
