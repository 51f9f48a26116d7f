#pragma once

// Hints for repairs from the messages of shape functions. Messages state the found and the expected values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"
#include "tests/differential/random.h"

namespace nnefc::differential {

// Returns the part of the message with the expected value, or the whole message if it has none.
std::string_view ExpectedIn(std::string_view message);
// Returns the quoted words of the text, each up to its first bracket.
std::vector<std::string> WordsOf(std::string_view text);
// Returns the element type that the message expects.
std::optional<ElementType> TypeIn(const std::string& message, Random& random);
// Returns the axis that the message names.
std::optional<size_t> AxisIn(const std::string& message);
// Returns a number after "expected" in the message, or any other number in it.
std::optional<int64_t> NumberOf(const std::string& message, Random& random);
// Returns the shape that the message expects, as "[N,4]"; -1 for a free extent.
std::optional<Shape> ShapeIn(const std::string& message);
// Returns the message without the parts that differ between proposals: numbers, types, quoted values.
std::string Stage(const std::string& message);

}  // namespace nnefc::differential
