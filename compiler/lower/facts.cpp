#include "compiler/lower/facts.h"

#include <algorithm>

namespace nnefc::lower {

namespace {

// Judges literals and short lists; long ones are not worth the walk.
bool HasNoNegativeItem(const Attribute& value) {
  constexpr size_t kLongestList = 64;
  if (const auto* scalar = value.get<double>()) return *scalar >= 0;
  const auto* scalars = value.get<Attribute::Scalars>();
  return scalars != nullptr && scalars->size() <= kLongestList &&
         std::all_of(scalars->begin(), scalars->end(), [](double item) { return item >= 0; });
}

}  // namespace

bool IsNonNegative(const ir::Graph& source, const ir::Node& node, const std::vector<bool>& known) {
  const auto inputs = node.inputs();
  const auto is_known = [&](OutputPort port) { return known[static_cast<size_t>(port.node.index)]; };
  if (node.Is(ir::OpRole::kConstant)) return HasNoNegativeItem(node.attribute("value"));
  switch (node.info().sign) {
    case ir::SignRule::kUnknown:
      return false;
    case ir::SignRule::kNever:
      return true;
    case ir::SignRule::kNeverByFirst:
      return !inputs.empty() && is_known(inputs.front());
    case ir::SignRule::kNeverByAll:
      return std::all_of(inputs.begin(), inputs.end(), is_known);
    case ir::SignRule::kNeverByAny:
      return std::any_of(inputs.begin(), inputs.end(), is_known);
  }
  return false;
}

}  // namespace nnefc::lower
