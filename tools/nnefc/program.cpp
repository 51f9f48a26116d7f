// The command line: parsing, dispatch to commands, and exit codes.

#include "tools/nnefc/program.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>

#include "fmt/core.h"
#include "tools/api/model.h"
#include "tools/nnefc/arguments/help.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/commit.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/interrupt.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

// The first line contains only the version, for scripts.
std::string DescribeVersion() {
  return fmt::format("nnefc " NNEFC_VERSION "\ncommit {}\n{}", kCommit, api::DescribeBackend());
}

// Lists the commands if there are no arguments.
bool IsNoCommand(const CLI::App& app, const std::vector<std::string>& words) {
  if (!words.empty()) return false;
  PrintError("no command is given; there are");
  for (const CLI::App* command : app.get_subcommands({})) {
    PrintStderr("  nnefc {:<12}{}\n", command->get_name(), command->get_description());
  }
  PrintStderr("nnefc: note: {}\n", HelpNote(app, words));
  return true;
}

// CLI11 reports an unknown first word as a missing command.
bool IsUnknownCommand(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return false;
  const std::string& word = words.front();
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return false;
  }
  const std::string note = HelpNote(app, {});
  std::error_code error;
  if (std::filesystem::exists(word, error)) {
    PrintError(fmt::format("unknown command `{}`; did you mean `nnefc check {}`?", word, word), note);
    return true;
  }
  const std::optional<std::string> advice = AdviceForCommand(app, word);
  PrintError(fmt::format("unknown command `{}`{}", word, advice ? "; " + *advice : ""), note);
  return true;
}

// Treats `nnefc help run` as `nnefc run --help`.
std::vector<std::string> Words(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    if (words.size() < 2) words.emplace_back("--help");
  }
  return words;
}

// Limits lists to one comma-separated word; otherwise CLI11 would also consume following words such as MODEL.
// File names must not be empty.
void RestrictValues(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options([](CLI::Option*) { return true; })) {
      if (!option->get_positional()) option->allow_extra_args(false);
      const std::string type = option->get_type_name();
      const bool is_file = type == "FILE" || type == "FOLDER" || type == "PATH" || type == "FILE.so";
      if (is_file || option->get_positional()) option->check(NotEmpty());
    }
  }
}

// Prints the limits for documents, archives and runs: common options that the help of commands omits.
void PrintLimits(const CLI::App& app) {
  Print("The diagnostic names the limit; these options raise it:\n\n");
  for (const CLI::Option* option : app.get_subcommand("run")->get_options()) {
    if (!option->get_lnames().empty() && option->get_lnames().front().starts_with("max-"))
      Print("  --{:<18}{} ({})\n", option->get_lnames().front(), option->get_description(),
            option->get_default_str());
  }
  Print("\nExample: nnefc run model --max-memory 4000000000\n");
}

// Returns the format for errors of misuse from unparsed arguments.
Format ErrorFormatOf(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string value = words[i].starts_with("--format=")                ? words[i].substr(9)
                              : words[i] == "--format" && i + 1 < words.size() ? words[i + 1]
                                                                               : "";
    if (!value.empty()) return FormatNamed(value);
  }
  return Format::kText;
}

// Adds the command `only`, or all of them if it names none. The options of all commands take a good part of
// the time of a short run.
void AddCommands(CLI::App& app, std::string_view only, int& exit_code) {
  struct Command {
    std::string_view name;
    void (*add)(CLI::App&, int&);
  };
  constexpr Command kCommands[] = {
      {"check", AddCheck},     {"lint", AddLint},           {"expand", AddExpand},
      {"fmt", AddFmt},         {"upgrade", AddUpgrade},     {"compile", AddCompile},
      {"convert", AddConvert}, {"transform", AddTransform}, {"run", AddRun},
      {"inspect", AddInspect}, {"diff", AddDiff},           {"draw", AddDraw},
      {"bench", AddBench},     {"explain", AddExplain},     {"operations", AddOperations},
      {"lsp", AddLsp},
  };
  const bool is_command =
      std::ranges::any_of(kCommands, [&](const Command& command) { return command.name == only; });
  for (const Command& command : kCommands) {
    if (!is_command || command.name == only) command.add(app, exit_code);
  }
}

// Returns the parser of the command line with the command `only`, or with all if it names none.
std::unique_ptr<CLI::App> MakeApp(std::string_view only, int& exit_code) {
  auto app =
      std::make_unique<CLI::App>("The compiler for NNEF, the Neural Network Exchange Format.", "nnefc");
  app->require_subcommand(1);
  app->set_version_flag("-V,--version", DescribeVersion);
  app->footer(
      "Example:\n"
      "  nnefc run model_folder --input input=image.npy --outputs out.npz\n"
      "`nnefc help COMMAND` lists the options of a command, `nnefc help limits` the limits of documents and "
      "runs.\n"
      "Exit codes: 0 success, 1 the input is invalid or a comparison failed, 2 misuse or environment.");
  AddCommands(*app, only, exit_code);
  RestrictValues(*app);
  FormatHelp(*app);
  return app;
}

int Run(CLI::App& app, std::vector<std::string> words, const int& exit_code) {
  const bool is_topic = words == std::vector<std::string>{"limits", "--help"};
  if (!is_topic && (IsNoCommand(app, words) || IsUnknownCommand(app, words))) return kMisuse;
  if (FindMisuse(app, words)) {
    // The message of a wrong option may name another command that has it.
    int unused = kSuccess;
    const std::unique_ptr<CLI::App> all = MakeApp("", unused);
    PrintError(*FindMisuse(*all, words), HelpNote(*all, words));
    return kMisuse;
  }
  if (is_topic) {
    PrintLimits(app);
    return kSuccess;
  }
  const std::string help_note = HelpNote(app, words);
  try {
    std::reverse(words.begin(), words.end());  // CLI11 expects reverse order
    app.parse(std::move(words));
  } catch (const CLI::Success& request) {
    return app.exit(request, std::cout);  // --help, --version
  } catch (const CLI::ParseError& error) {
    PrintError(DescribeMisuse(app, error), help_note);
    return kMisuse;
  } catch (const MisuseError& error) {
    PrintError(error.what());
    return kMisuse;
  } catch (const std::bad_alloc&) {
    PrintError("out of memory");
    return kMisuse;
  }
  return exit_code;
}

// Flushes all output. Returns the final exit code, because a full disk or a closed pipe may lose output.
int Finish(int exit_code) {
  std::cout.flush();
  if (StdoutFailed() || !std::cout) {
    PrintError("cannot write to standard output");
    exit_code = kMisuse;
  }
  WriteReports();
  return StderrFailed() && exit_code == kSuccess ? kMisuse : exit_code;
}

}  // namespace

int RunProgram(int argc, char** argv) {
  OpenClosedStreams();
  RemoveFilesWhenInterrupted();
  int exit_code = kSuccess;
  const std::vector<std::string> words = Words(argc, argv);
  const std::unique_ptr<CLI::App> app = MakeApp(words.empty() ? "" : words.front(), exit_code);
  SetErrorFormat(ErrorFormatOf(words));
  return Finish(Run(*app, words, exit_code));
}

}  // namespace nnefc::cli
