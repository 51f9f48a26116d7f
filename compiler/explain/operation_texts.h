#pragma once

#include <string_view>

namespace nnefc::explain {

// Returns one sentence that says what a standard operation does; empty for others.
std::string_view SummaryOf(std::string_view operation);

// Returns what a parameter of a standard operation means; empty for names that none of them has.
std::string_view ParameterText(std::string_view operation, std::string_view parameter);

}  // namespace nnefc::explain
