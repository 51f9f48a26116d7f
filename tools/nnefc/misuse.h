#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace nnefc::cli {

// Validators of options. What they refuse is told with what is expected; help
// shows the same.
CLI::Validator OneOf(std::vector<std::string> choices);
CLI::Validator Between(int64_t lowest, int64_t highest);
CLI::Validator NonNegative();

// Says what is wrong with the arguments of `app` in the words of our other
// diagnostics: the option in back-quotes, what was given, what is expected, and
// the option that a misspelt one was meant to be.
std::string DescribeMisuse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace nnefc::cli
