#pragma once

#include <string>
#include <string_view>

#include "tests/fuzz/mutators/mutator.h"

namespace nnefc::fuzz {

// Returns a mutant of a tensor file of either dialect.
std::string MutateDat(std::string_view input, Mutation& mutation);
// Returns a mutant of an array of NumPy.
std::string MutateNpy(std::string_view input, Mutation& mutation);

}  // namespace nnefc::fuzz
