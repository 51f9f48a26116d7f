#include "compiler/lower/facts.h"

#include <algorithm>

#include "llvm/ADT/StringSwitch.h"

namespace nnefc::lower {

namespace {

enum class Sign {
  kUnknown,
  kNever,         // below zero
  kNeverByFirst,  // if the first input is not
  kNeverByAll,    // if no input is
  kNeverByAny,    // if one input is not
};

Sign SignOf(llvm::StringRef op) {
  return llvm::StringSwitch<Sign>(op)
      .Cases("relu", "sigmoid", "abs", "sqr", "sqrt", "exp", "softmax", "softplus", "rms_pool", Sign::kNever)
      .Cases("max_pool", "avg_pool", "box", "max_pool_with_index", Sign::kNeverByFirst)
      .Cases("nearest_downsample", "area_downsample", "nearest_upsample", "multilinear_upsample",
             Sign::kNeverByFirst)
      .Cases("copy", "copy_n", "reshape", "squeeze", "unsqueeze", "transpose", "split", "unstack", "slice",
             Sign::kNeverByFirst)
      .Cases("tile", "gather", "sum_reduce", "mean_reduce", "max_reduce", "min_reduce", Sign::kNeverByFirst)
      .Cases("concat", "stack", "add", "mul", "min", "add_n", Sign::kNeverByAll)
      .Case("max", Sign::kNeverByAny)
      .Default(Sign::kUnknown);
}

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
  if (node.set() != ir::kNnefSet) return false;
  if (node.type() == "constant") return HasNoNegativeItem(node.attribute("value"));
  switch (SignOf(node.type())) {
    case Sign::kUnknown:
      return false;
    case Sign::kNever:
      return true;
    case Sign::kNeverByFirst:
      return !inputs.empty() && is_known(inputs.front());
    case Sign::kNeverByAll:
      return std::all_of(inputs.begin(), inputs.end(), is_known);
    case Sign::kNeverByAny:
      return std::any_of(inputs.begin(), inputs.end(), is_known);
  }
  return false;
}

}  // namespace nnefc::lower
