#pragma once

#include <chrono>
#include <string>

#include "compiler/support/error_or.h"

namespace nnefc::api {

// The time that Graphviz may take for a picture. Its layout is slow for thousands of operations.
constexpr std::chrono::milliseconds kMaxPictureTime = std::chrono::minutes(5);

// Returns a picture in SVG of a graph in DOT. Runs Graphviz' program `dot`, found by PATH, without files.
// Returns an error if it is missing, fails or takes longer than `max_time`.
ErrorOr<std::string> SvgText(const std::string& dot, std::chrono::milliseconds max_time = kMaxPictureTime);

}  // namespace nnefc::api
