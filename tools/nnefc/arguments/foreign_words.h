#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nnefc::cli {

// A command or option of other tools, with its equivalent in nnefc.
struct ForeignWord {
  std::string_view theirs;
  std::string_view advice;   // "did you mean `--output`?"
  std::string_view command;  // the command of an option; empty for any command
};

// Returns commands of other tools, such as `validate`.
std::span<const ForeignWord> ForeignCommands();

// Returns advice for an option of other tools that `command` does not have, such as `--batch-size`.
std::optional<std::string_view> AdviceForOption(std::string_view option, std::string_view command);

}  // namespace nnefc::cli
