#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/mutators/choices.h"

namespace nnefc::fuzz {

// Returns an integer at which implementations change their behaviour: a small one, or one next to a limit of
// a type.
int64_t BoundaryInteger(Choices& choices);
// Returns the text of a number that replaces `old`: an integer for an integer, usually one close to it.
std::string BoundaryNumber(std::string_view old, Choices& choices);

}  // namespace nnefc::fuzz
