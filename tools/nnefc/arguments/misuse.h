#pragma once

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace nnefc::cli {

// Validators of options. Their error messages and the help state the accepted values: one of several words,
// an integer in [lowest, highest], an integer or a real number that is not negative, a text that is not
// empty.
CLI::Validator OneOf(std::vector<std::string> choices);
// `OneOfOrProfile` also accepts the name of a device profile, which ends in `.json`.
CLI::Validator OneOfOrProfile(std::vector<std::string> choices);
// Accepts only the name of a device profile.
CLI::Validator DeviceProfile();
CLI::Validator Between(int64_t lowest, int64_t highest);
CLI::Validator NonNegative();
CLI::Validator NonNegativeNumber();
CLI::Validator NotEmpty();

// Returns advice for an unknown command: the command it misspells, or the equivalent of a command of other
// tools.
std::optional<std::string> AdviceForCommand(const CLI::App& app, const std::string& word);

// Returns the note that refers to the help of the command in `words`: "see `nnefc run --help`".
std::string HelpNote(const CLI::App& app, const std::vector<std::string>& words);

// Describes an error in the arguments of `app` in the style of our diagnostics: the option in back-quotes,
// the value, the expected values, and the intended option for a misspelling.
std::string DescribeMisuse(const CLI::App& app, const CLI::ParseError& error);

// Returns an error for an unknown option or an option before the command; nothing if CLI11 may parse the
// words. CLI11 would treat the value of an unknown option as a model.
std::optional<std::string> FindMisuse(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace nnefc::cli
