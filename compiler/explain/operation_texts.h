#pragma once

#include <string_view>

namespace nnefc::explain {

// Returns one sentence that summarises a standard operation; empty for other operations.
std::string_view SummaryOf(std::string_view operation);

// Returns the meaning of a parameter of a standard operation; empty for unknown names.
std::string_view ParameterText(std::string_view operation, std::string_view parameter);

}  // namespace nnefc::explain
