#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nnefc::cli {

// A command or option of other tools, with what serves here.
struct ForeignWord {
  std::string_view theirs;
  std::string_view advice;   // "did you mean `--output`?"
  std::string_view command;  // the command that an option belongs to; empty for any
};

// The commands that other tools have, such as `validate`.
std::span<const ForeignWord> ForeignCommands();

// Returns the advice for an option that `command` lacks and other tools have, such as `--batch-size`.
std::optional<std::string_view> AdviceForOption(std::string_view option, std::string_view command);

}  // namespace nnefc::cli
