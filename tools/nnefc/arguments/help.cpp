// The layout of help texts.

#include "tools/nnefc/arguments/help.h"

#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::cli {
namespace {

constexpr size_t kHelpColumns = 80;
constexpr size_t kDescriptionColumn = 30;
constexpr size_t kSummaryColumn = 15;  // column of command summaries

// Breaks `text` at spaces into lines shorter than 80 columns. The text starts at `column`; later lines start
// at `indent`.
std::string Wrap(llvm::StringRef text, size_t column, size_t indent) {
  std::string result;
  size_t at = column;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    const bool is_first = result.empty();
    if (!is_first && at + 1 + word.size() > kHelpColumns) {
      result += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!is_first) {
      result += ' ';
      ++at;
    }
    result += word.str();
    at += word.size();
  }
  return result;
}

// Formats a list entry: the name at column 2, and its description at `column`, on the next line if the name
// is long.
std::string Entry(const std::string& name, const std::string& description, size_t column) {
  const std::string head = "  " + name;
  const std::string gap =
      head.size() + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - head.size(), ' ');
  return fmt::format("{}{}{}\n", head, gap, Wrap(description, column, column));
}

std::vector<std::string> NamesOf(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return names;
}

// Returns "[auto|never; default: auto; needs --compare]": the values of an option and the options it depends
// on.
std::string Constraints(const CLI::Option& option) {
  std::vector<std::string> parts;
  const std::string type = option.get_type_name();
  llvm::StringRef shown = llvm::StringRef(type).split(':').second;
  if (shown.consume_front("{")) {
    shown.consume_back("}");
    std::string words = shown.str();
    std::replace(words.begin(), words.end(), ',', '|');
    parts.push_back(words);
  } else if (shown.consume_front("[")) {
    shown.consume_back("]");
    const auto [least, greatest] = shown.split(" - ");
    parts.push_back(fmt::format("{} to {}", least.str(), greatest.str()));
  }
  if (!option.get_default_str().empty() && option.get_type_size() != 0)
    parts.push_back("default: " + option.get_default_str());
  if (!option.get_needs().empty())
    parts.push_back(fmt::format("needs {}", fmt::join(NamesOf(option.get_needs()), ", ")));
  if (!option.get_excludes().empty())
    parts.push_back(fmt::format("not with {}", fmt::join(NamesOf(option.get_excludes()), ", ")));
  return parts.empty() ? "" : fmt::format(" [{}]", fmt::join(parts, "; "));
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional);
    if (is_positional) {
      if (option->get_expected_max() >= CLI::detail::expected_max_vector_size) name += " ...";
    } else if (option->get_type_size() != 0) {
      const std::string type = option->get_type_name();
      name += " " + type.substr(0, type.find(':'));
    }
    return Entry(name, option->get_description() + Constraints(*option), kDescriptionColumn);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return Entry(command->get_name(), command->get_description(), kSummaryColumn);
  }

  std::string make_description(const CLI::App* app) const override {
    return Wrap(app->get_description(), 0, 0) + "\n";
  }

  // Lines that start with spaces are examples and are not wrapped.
  std::string make_footer(const CLI::App* app) const override {
    std::string text;
    const std::string footer = app->get_footer();
    for (llvm::StringRef rest = footer; !rest.empty();) {
      const auto [line, after] = rest.split('\n');
      text += (!line.empty() && line.front() == ' ' ? line.str() : Wrap(line, 0, 0)) + "\n";
      rest = after;
    }
    return text;
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) + Groups(app) +
           make_subcommands(app, mode) + '\n' + make_footer(app);
  }

 private:
  std::string Groups(const CLI::App* app) const {
    std::vector<std::string> groups = app->get_groups();
    const auto rank = [](const std::string& group) {
      return group == kCommonGroup ? 2 : group == kTransformationGroup ? 1 : 0;
    };
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    std::string text;
    for (const std::string& group : groups) {
      const std::vector<const CLI::Option*> options = app->get_options([&](const CLI::Option* option) {
        return group != kLimitGroup && option->get_group() == group && option->nonpositional();
      });
      if (!options.empty()) text += make_group(group, false, options);
    }
    return text;
  }
};

}  // namespace

void FormatHelp(CLI::App& app) {
  const auto formatter = std::make_shared<HelpFormatter>();
  app.formatter(formatter);
  app.get_help_ptr()->description("print this help and exit");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->formatter(formatter);
    command->get_help_ptr()->description("print this help and exit")->group(kCommonGroup);
  }
}

}  // namespace nnefc::cli
