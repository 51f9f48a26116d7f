#pragma once

#include <string>
#include <string_view>

namespace nnefc {

// The difference of two texts in the unified format, with three lines of
// context; empty if they are equal. Takes time and memory in proportion to the
// texts and to the square of the number of lines that differ, of which no more
// than some thousands are matched.
std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name);

}  // namespace nnefc
