#pragma once

// Documents in the provisional dialect.

#include <string>

namespace nnefc::differential {

// Returns a flat ratified document, as PrintFlatDocument prints it, in the provisional dialect. That dialect
// may lack operations, parameters and types of the document, and may define others differently.
std::string InProvisionalWords(const std::string& document);

}  // namespace nnefc::differential
