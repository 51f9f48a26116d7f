// Facts about values that are not in the types: tensors without negative elements.

#include "compiler/lower/facts.h"

#include <algorithm>

namespace nnefc::lower {

namespace {

// Checks literals and short lists; longer lists are not worth the time.
bool HasNoNegativeItem(const Attribute& value) {
  constexpr size_t kLongestList = 64;
  if (const auto* scalar = value.get<double>()) return *scalar >= 0;
  const auto* scalars = value.get<Attribute::Scalars>();
  return scalars != nullptr && scalars->size() <= kLongestList &&
         std::all_of(scalars->begin(), scalars->end(), [](double item) { return item >= 0; });
}

// True if a window result may be the maximum of no elements, -infinity: with border 'ignore' and a window
// that may be entirely in the padding.
bool MayBeLargestOfNone(const ir::Node& node) {
  if (node.info().window != ir::WindowKind::kMax || node.attribute("border").AsString() != "ignore")
    return false;
  const std::vector<int64_t> size = node.attribute("size").AsInts();
  const std::vector<int64_t> dilation = node.attribute("dilation").AsInts();
  const std::vector<std::pair<int64_t, int64_t>> padding = node.attribute("padding").AsPairs();
  const auto is_dilated = [&](size_t axis) { return axis < dilation.size() && dilation[axis] != 1; };
  for (size_t axis = 0; axis < size.size(); ++axis) {
    // Automatic padding is smaller than the window but may fill its gaps.
    if (axis >= padding.size()
            ? is_dilated(axis) && size[axis] > 1
            : std::max(padding[axis].first, padding[axis].second) >= (is_dilated(axis) ? 1 : size[axis]))
      return true;
  }
  return false;
}

}  // namespace

bool IsNonNegative(const ir::Graph& source, const ir::Node& node, const std::vector<bool>& known) {
  const auto inputs = node.inputs();
  const auto is_known = [&](OutputPort port) { return known[static_cast<size_t>(port.node.index)]; };
  if (MayBeLargestOfNone(node)) return false;
  if (node.Is(ir::OpRole::kConstant)) return HasNoNegativeItem(node.attribute("value"));
  switch (node.info().sign) {
    case ir::SignRule::kUnknown:
      return false;
    case ir::SignRule::kNonNegative:
      return true;
    case ir::SignRule::kNonNegativeIfFirst:
      return !inputs.empty() && is_known(inputs.front());
    case ir::SignRule::kNonNegativeIfAll:
      return std::all_of(inputs.begin(), inputs.end(), is_known);
    case ir::SignRule::kNonNegativeIfAny:
      return std::any_of(inputs.begin(), inputs.end(), is_known);
  }
  return false;
}

}  // namespace nnefc::lower
