#pragma once

// Documents in the provisional dialect.

#include <string>

namespace nnefc::differential {

// The flat ratified document, as PrintFlatDocument prints it, in the words of the
// provisional dialect. It may lack operations, parameters and types of its own
// that the document needs, and give others another meaning.
std::string InProvisionalWords(const std::string& document);

}  // namespace nnefc::differential
