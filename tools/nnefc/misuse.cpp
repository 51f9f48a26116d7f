#include "tools/nnefc/misuse.h"

#include <charconv>

#include "compiler/support/suggest.h"
#include "fmt/ranges.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::cli {
namespace {

std::string MeantInstead(const Suggestion& suggestion) {
  return suggestion.best().empty() ? std::string() : fmt::format("; did you mean `{}`?", suggestion.best());
}

// "text, json or sarif"
std::string Alternatives(const std::vector<std::string>& choices) {
  if (choices.size() < 2) return choices.empty() ? std::string() : choices.front();
  return fmt::format("{} or {}", fmt::join(choices.begin(), choices.end() - 1, ", "), choices.back());
}

// The command that was asked for, or `app` itself.
const CLI::App& CommandOf(const CLI::App& app) {
  const std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App* command) { return command->parsed(); });
  return commands.empty() ? app : *commands.front();
}

// The first of what CLI11 found no option for; the rest may be its values.
std::string DescribeExtra(const CLI::App& app) {
  const CLI::App& command = CommandOf(app);
  const std::string extra = app.remaining(true).front();
  if (!llvm::StringRef(extra).startswith("-")) {
    return fmt::format("`{}` is one argument too many for `{}`", extra, command.get_name());
  }
  const std::string wanted = extra.substr(0, extra.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  Suggestion suggestion(wanted);
  for (const std::string& name : names) suggestion.Offer(name);
  return fmt::format("`{}` has no option `{}`{}", command.get_name(), wanted, MeantInstead(suggestion));
}

}  // namespace

CLI::Validator OneOf(std::vector<std::string> choices) {
  const std::string shown = fmt::format("{{{}}}", fmt::join(choices, ","));
  auto refuse = [choices = std::move(choices)](const std::string& given) {
    Suggestion suggestion(given);
    for (const std::string& choice : choices) {
      if (choice == given) return std::string();
      suggestion.Offer(choice);
    }
    return fmt::format("expected {}, not `{}`{}", Alternatives(choices), given, MeantInstead(suggestion));
  };
  return CLI::Validator(refuse, shown);
}

CLI::Validator Between(int64_t lowest, int64_t highest) {
  auto refuse = [lowest, highest](const std::string& given) {
    int64_t value = 0;
    const char* end = given.data() + given.size();
    const auto [at, error] = std::from_chars(given.data(), end, value);
    const bool fits = error == std::errc() && at == end && value >= lowest && value <= highest;
    return fits ? std::string()
                : fmt::format("expected an integer from {} to {}, not `{}`", lowest, highest, given);
  };
  return CLI::Validator(refuse, fmt::format("[{} - {}]", lowest, highest));
}

CLI::Validator NonNegative() {
  auto refuse = [](const std::string& given) {
    uint64_t value = 0;
    const char* end = given.data() + given.size();
    const auto [at, error] = std::from_chars(given.data(), end, value);
    return error == std::errc() && at == end
               ? std::string()
               : fmt::format("expected a non-negative integer, not `{}`", given);
  };
  return CLI::Validator(refuse, "");
}

std::string DescribeMisuse(const CLI::App& app, const CLI::ParseError& error) {
  const llvm::StringRef text = error.what();
  const bool wants_command =
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &CommandOf(app) == &app;
  if (wants_command && app.remaining(true).empty()) return "no command is given";
  if (wants_command || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return DescribeExtra(app);
  const auto [name, rest] = text.split(": ");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && !rest.empty()) {
    // "NAME: 1 required TYPE missing" or "NAME: At Most 1 required but received 3"
    if (rest.endswith("missing")) return fmt::format("`{}` needs a value", name.str());
    const auto [most, received] = rest.split(" but received ");
    return fmt::format("`{}` may be given once, not {} times", name.str(), received.str());
  }
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr && !rest.empty()) {
    return fmt::format("`{}`: {}", name.str(), rest.str());
  }
  return text.str();
}

}  // namespace nnefc::cli
