#pragma once

#include <string_view>

namespace nnefc::expand {

// What the ratified dialect calls an operation of the provisional one.
std::string_view RatifiedName(std::string_view name);
// What the provisional dialect calls a parameter of a ratified operation.
std::string_view ProvisionalParameter(std::string_view operation, std::string_view parameter);
// True of the provisional dialect's own operations for one group per channel,
// `conv` and `deconv` with `groups = 0` in the ratified one.
bool IsPlanewise(std::string_view name);
// True of the provisional dialect's operations that quantize.
bool IsQuantization(std::string_view name);
// True if the body of a standard compound computes something else in the
// ratified dialect, at least with some arguments.
bool MayChangeMeaning(std::string_view name);

}  // namespace nnefc::expand
