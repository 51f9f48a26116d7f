#pragma once

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace nnefc::cli {

// Validators of options. What they refuse is told with what is expected; help
// shows the same.
CLI::Validator OneOf(std::vector<std::string> choices);
CLI::Validator Between(int64_t lowest, int64_t highest);
CLI::Validator NonNegative();
CLI::Validator NonNegativeNumber();
CLI::Validator NotEmpty();

// Returns advice for a word that is no command of `app`: the command that it is a misspelling of, or what
// serves where other tools have such a command.
std::optional<std::string> AdviceForCommand(const CLI::App& app, const std::string& word);

// Returns the note that names the help of the command among `words`: "see `nnefc run --help`".
std::string HelpNote(const CLI::App& app, const std::vector<std::string>& words);

// Says what is wrong with the arguments of `app` in the words of our other
// diagnostics: the option in back-quotes, what was given, what is expected, and
// the option that a misspelt one was meant to be.
std::string DescribeMisuse(const CLI::App& app, const CLI::ParseError& error);

// What is wrong with the words of a command line as far as options go: one
// that the command does not have, one that stands before the command. Nothing
// if CLI11 may parse them: it takes the value of an unknown option for a model.
std::optional<std::string> FindMisuse(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace nnefc::cli
