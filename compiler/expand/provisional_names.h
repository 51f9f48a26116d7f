#pragma once

#include <string_view>

namespace nnefc::expand {

// Returns the ratified name of a provisional operation.
std::string_view RatifiedName(std::string_view name);
// Returns the provisional name of a parameter of a ratified operation.
std::string_view ProvisionalParameter(std::string_view operation, std::string_view parameter);
// Returns true for the provisional dialect's operations with one group per channel; in the ratified dialect
// these are `conv` and `deconv` with `groups = 0`.
bool IsPlanewise(std::string_view name);
// Returns true for the provisional dialect's quantization operations.
bool IsQuantization(std::string_view name);
// Returns true if the body of a standard compound differs from the ratified operation for at least some
// arguments.
bool MayChangeMeaning(std::string_view name);

}  // namespace nnefc::expand
