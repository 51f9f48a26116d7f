#pragma once

// What a message of a shape function tells about how to mend a node. Messages
// say what was seen and what is expected, which is enough to go on.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"
#include "tests/differential/random.h"

namespace nnefc::differential {

// The part of the message that says what would be right; all of it if none does.
std::string_view ExpectedIn(std::string_view message);
// The words of the text in quotes, without what follows a bracket.
std::vector<std::string> WordsOf(std::string_view text);
// The element type that the message asks for.
std::optional<ElementType> TypeIn(const std::string& message, Random& random);
// The axis that the message is about.
std::optional<size_t> AxisIn(const std::string& message);
// A number that the message puts behind "expected", or any other of it.
std::optional<int64_t> NumberOf(const std::string& message, Random& random);
// The shape that the message asks for, as "[N,4]"; -1 where it is free.
std::optional<Shape> ShapeIn(const std::string& message);
// The message without what differs from proposal to proposal: numbers, types,
// quoted values.
std::string Stage(const std::string& message);

}  // namespace nnefc::differential
