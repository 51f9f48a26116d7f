// Validators of option values.

#include "tools/nnefc/arguments/misuse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "compiler/support/diagnostics/suggest.h"
#include "fmt/ranges.h"
#include "llvm/ADT/StringRef.h"
#include "tools/api/forms/device.h"
#include "tools/nnefc/arguments/foreign_words.h"

namespace nnefc::cli {
namespace {

std::string SuggestedInstead(const Suggestion& suggestion) {
  return suggestion.best().empty() ? std::string() : fmt::format("; did you mean `{}`?", suggestion.best());
}

// "text, json or sarif"
std::string Alternatives(const std::vector<std::string>& choices) {
  if (choices.size() < 2) return choices.empty() ? std::string() : choices.front();
  return fmt::format("{} or {}", fmt::join(choices.begin(), choices.end() - 1, ", "), choices.back());
}

// Returns the parsed command, or `app` itself.
const CLI::App& CommandOf(const CLI::App& app) {
  const std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App* command) { return command->parsed(); });
  return commands.empty() ? app : *commands.front();
}

// Describes the first argument that CLI11 could not assign.
std::string DescribeExtra(const CLI::App& app) {
  return fmt::format("`{}` is one argument too many for `{}`", app.remaining(true).front(),
                     CommandOf(app).get_name());
}

const CLI::App* FindCommand(const CLI::App& app, std::string_view word) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

bool BeginsLikeOption(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word != "--";
}

// Returns the option of a word: `--format`, `--format=json`, `-o`, `-onet.xml`.
const CLI::Option* FindOption(const CLI::App& command, std::string_view word) {
  const bool is_long = word.substr(0, 2) == "--";
  const std::string_view name = is_long ? word.substr(2, word.find('=') - 2) : word.substr(1, 1);
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& names = is_long ? option->get_lnames() : option->get_snames();
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

// Returns true if the value of the option is the next word.
bool TakesNextWord(const CLI::Option& option, std::string_view word) {
  const bool has_value =
      word.substr(0, 2) == "--" ? word.find('=') != std::string_view::npos : word.size() > 2;
  return option.get_items_expected_max() > 0 && !has_value;
}

// Returns "; `nnefc run` has `--tolerance`" for an option of another command. Similar names of other commands
// are not suggested, since they serve other tasks.
std::string OtherCommandWith(const CLI::App& app, const std::string& wanted) {
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* option : other->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if ("--" + name == wanted) return fmt::format("; `nnefc {}` has `{}`", other->get_name(), wanted);
      }
    }
  }
  return "";
}

// Returns whether advice such as "did you mean `--format json`?" refers to an option that `command` does not
// have.
bool MeansMissingOption(const CLI::App& command, std::string_view advice) {
  llvm::StringRef option(advice.data(), advice.size());
  if (!option.consume_front("did you mean `--")) return false;
  const std::string name = "--" + option.take_until([](char c) { return c == ' ' || c == '`'; }).str();
  return FindOption(command, name) == nullptr;
}

// Returns "; did you mean ..?" for an option that `command` does not have.
std::string AdviceFor(const CLI::App& app, const CLI::App& command, std::string_view word) {
  const std::string wanted(word.substr(0, word.find('=')));
  if (FindOption(app, wanted) != nullptr && wanted != "-h")
    return fmt::format("; did you mean `nnefc {}`?", wanted);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string spelled = wanted.substr(0, 2) == "--" ? wanted : "-" + wanted;
  if (wanted.size() > 2 && std::find(names.begin(), names.end(), spelled) != names.end())
    return fmt::format("; did you mean `{}`?", spelled);
  const std::optional<std::string_view> advice = AdviceForOption(wanted, command.get_name());
  if (advice && !MeansMissingOption(command, *advice)) return fmt::format("; {}", *advice);
  Suggestion suggestion(wanted);
  for (const std::string& name : names) suggestion.Offer(name);
  if (!suggestion.best().empty()) return SuggestedInstead(suggestion);
  return OtherCommandWith(app, wanted);
}

std::string DescribeUnknown(const CLI::App& app, const CLI::App& command, const std::string& word) {
  std::error_code error;
  const bool is_file = word.find_first_of("./") < word.find('=') || std::filesystem::exists(word, error);
  if (is_file)
    return fmt::format("`{}` begins like an option; name the file `./{}`, or write `--` before it", word,
                       word);
  return fmt::format("`{}` has no option `{}`{}", command.get_name(), word.substr(0, word.find('=')),
                     AdviceFor(app, command, word));
}

// Reports options before the command.
std::optional<std::string> FindBeforeCommand(const CLI::App& app, const std::vector<std::string>& words) {
  if (FindOption(app, words.front()) != nullptr) return std::nullopt;
  const auto at = std::find_if(words.begin(), words.end(),
                               [&](const std::string& word) { return FindCommand(app, word) != nullptr; });
  if (at == words.end()) return fmt::format("unknown command `{}`", words.front());
  const CLI::App& command = *FindCommand(app, *at);
  if (FindOption(command, words.front()) == nullptr) return DescribeUnknown(app, command, words.front());
  std::vector<std::string> right = words;
  std::rotate(right.begin(), right.begin() + (at - words.begin()), right.begin() + (at - words.begin()) + 1);
  return fmt::format("options stand behind the command: `nnefc {}`", fmt::join(right, " "));
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
    return fmt::format("expected {}, not `{}`{}", Alternatives(choices), given, SuggestedInstead(suggestion));
  };
  return CLI::Validator(refuse, shown);
}

CLI::Validator OneOfOrProfile(std::vector<std::string> choices) {
  const std::string shown = fmt::format("{{{},FILE.json}}", fmt::join(choices, ","));
  const CLI::Validator words = OneOf(std::move(choices));
  auto refuse = [words](std::string given) {
    if (api::IsDeviceProfile(given)) return std::string();
    const std::string mistake = words(given);
    return mistake.empty() ? mistake : mistake + "; the name of a device profile ends in `.json`";
  };
  return CLI::Validator(refuse, shown);
}

CLI::Validator DeviceProfile() {
  return CLI::Validator(
      [](const std::string& given) {
        return api::IsDeviceProfile(given) ? std::string() : "the name of a device profile ends in `.json`";
      },
      "");
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

CLI::Validator NonNegativeNumber() {
  auto refuse = [](const std::string& given) {
    double value = 0;
    const char* end = given.data() + given.size();
    const auto [at, error] = std::from_chars(given.data(), end, value);
    return error == std::errc() && at == end && std::isfinite(value) && value >= 0
               ? std::string()
               : fmt::format("expected a number such as 1e-5, not `{}`", given);
  };
  return CLI::Validator(refuse, "");
}

CLI::Validator NotEmpty() {
  auto refuse = [](const std::string& given) {
    return given.empty() ? std::string("expected a name, not an empty text") : std::string();
  };
  return CLI::Validator(refuse, "");
}

std::optional<std::string> AdviceForCommand(const CLI::App& app, const std::string& word) {
  Suggestion suggestion(word);
  for (const CLI::App* command : app.get_subcommands({})) suggestion.Offer(command->get_name());
  for (const ForeignWord& foreign : ForeignCommands()) {
    if (foreign.theirs == word) return std::string(foreign.advice);
    suggestion.Offer(foreign.theirs);
  }
  if (suggestion.best().empty()) return std::nullopt;
  for (const ForeignWord& foreign : ForeignCommands()) {
    if (foreign.theirs == suggestion.best()) return std::string(foreign.advice);
  }
  return fmt::format("did you mean `nnefc {}`?", suggestion.best());
}

std::string HelpNote(const CLI::App& app, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (FindCommand(app, word) != nullptr) return fmt::format("see `nnefc {} --help`", word);
  }
  return "see `nnefc --help`";
}

std::string DescribeMisuse(const CLI::App& app, const CLI::ParseError& error) {
  const llvm::StringRef text = error.what();
  const bool wants_command =
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &CommandOf(app) == &app;
  if (wants_command && app.remaining(true).empty()) return "no command is given";
  if (wants_command) return fmt::format("unknown command `{}`", app.remaining(true).front());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return DescribeExtra(app);
  const auto [name, rest] = text.split(": ");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && !rest.empty()) {
    // "NAME: 1 required TYPE missing", "NAME: At Most 1 required but received 3" or "NAME: At Least 2 ..."
    if (std::string_view(rest).ends_with("missing")) return fmt::format("`{}` needs a value", name.str());
    const auto [bound, received] = rest.split(" required but received ");
    if (!std::string_view(bound).starts_with("At Most")) {
      return fmt::format("`{}` needs {} values, not {}", name.str(), bound.rsplit(' ').second.str(),
                         received.str());
    }
    return fmt::format("`{}` may be given once, not {} times", name.str(), received.str());
  }
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr && !rest.empty()) {
    return fmt::format("`{}`: {}", name.str(), rest.str());
  }
  // "--atol requires --compare", "--fix excludes --check"
  for (const auto& [word, reported] : {std::pair(" requires ", "`{}` needs `{}`"),
                                       std::pair(" excludes ", "`{}` and `{}` exclude each other")}) {
    const auto [one, other] = text.split(word);
    if (!other.empty()) return fmt::format(fmt::runtime(reported), one.str(), other.str());
  }
  return text.str();
}

std::optional<std::string> FindMisuse(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  if (BeginsLikeOption(words.front())) return FindBeforeCommand(app, words);
  const CLI::App* command = FindCommand(app, words.front());
  if (command == nullptr) return std::nullopt;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--") return std::nullopt;
    if (!BeginsLikeOption(words[i])) continue;
    const CLI::Option* option = FindOption(*command, words[i]);
    if (option == nullptr) return DescribeUnknown(app, *command, words[i]);
    if (TakesNextWord(*option, words[i])) ++i;
  }
  return std::nullopt;
}

}  // namespace nnefc::cli
