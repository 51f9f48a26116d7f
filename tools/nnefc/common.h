#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/support/error_or.h"
#include "tools/api/model.h"
#include "tools/api/program.h"
#include "tools/nnefc/output/streams.h"

namespace nnefc::cli {

// Exit codes of all commands.
inline constexpr int kSuccess = 0;
inline constexpr int kInvalid = 1;  // the input is invalid or a comparison failed
inline constexpr int kMisuse = 2;   // misuse, or the environment failed

// An error in the use of an option; caught in main, exit code 2.
class MisuseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the value of a result. Throws MisuseError for an error.
template <typename T>
T Require(ErrorOr<T> result) {
  if (!result) throw MisuseError(result.error().message);
  return std::move(*result);
}

enum class Format { kText, kGithub, kJson, kSarif };
Format FormatNamed(std::string_view name);

// Options common to all commands.
struct CommonOptions {
  std::vector<std::string> models;
  std::string dialect = "auto";
  bool is_strict = false;
  bool is_lenient = false;
  std::vector<std::string> input_shapes;
  std::vector<std::string> renames;
  bool quantize = false;  // according to graph.quant
  std::string graph;
  std::string format = "text";
  std::string color = "auto";
  std::string output;  // output path; standard output if empty
  bool verify = false;
  bool werror = false;                  // treats warnings as errors
  bool quiet = false;                   // prints only errors
  bool recursive = false;               // searches folders for models
  std::vector<std::string> extensions;  // plug-ins
  std::string stdin_filename;           // the name of the document on standard input
  uint64_t max_bytes = api::ModelOptions().max_bytes;
  Limits limits;

  Format output_format() const { return FormatNamed(format); }
  // True if the output of a command is text rather than JSON.
  bool prints_text() const { return output_format() == Format::kText || output_format() == Format::kGithub; }
  // Returns the models named on the command line, with those in folders if `--recursive` is set. Throws
  // MisuseError if there are none.
  std::vector<std::string> FindModels() const;
  // Returns the options to compile `model`; `-` is a document on standard input.
  driver::CompileOptions compile_options(const std::string& model) const;  // may throw MisuseError
  // Returns the plug-ins of `extensions`, loaded on first use.
  const std::shared_ptr<const plugin::Plugins>& plugins() const;
  // Returns the name of a model in messages; for `-` that of `--stdin-filename`, or else `<stdin>`.
  std::string ModelName(const std::string& model) const;
  // Throws MisuseError if an option for documents is set and a model is not one.
  void RefuseForOpenVino(std::string_view option, bool is_given) const;

 private:
  mutable std::shared_ptr<const plugin::Plugins> plugins_;
};

// Adds the options of commands that only read texts: models, the dialect, the format of diagnostics, syntax
// limits.
void AddTextOptions(CLI::App& command, CommonOptions& options);
// The inputs of a command: only NNEF documents, or also graphs.
enum class ModelKind { kDocument, kAny };
// The values of `--format`: those for diagnostics (text, json, sarif, github), or for results (text, json).
enum class ReportForms { kDiagnostics, kResult };
// Adds `--extensions` and `--mo-imports`.
void AddExtensions(CLI::App& command, std::vector<std::string>& extensions);
// Adds `--stdin-filename`.
void AddStdinFilename(CLI::App& command, CommonOptions& options);
// Adds `--recursive`.
void AddRecursive(CLI::App& command, CommonOptions& options);
// Parses "NAME=1,3,224,224", a value of `--input-shape`. Throws MisuseError for other text.
std::pair<std::string, Shape> ParseInputShape(const std::string& text);
// Parses "OLD=NEW" texts, the values of `--rename`. Throws MisuseError for other texts.
driver::Renames ParseRenames(const std::vector<std::string>& texts);
// Adds `--rename`.
void AddRename(CLI::App& command, CommonOptions& options);
// Returns the name of a model in messages: `<stdin>` for `-`.
std::string ShownModel(const std::string& model);
// Adds the common options to a command; `max_models` 0 means any number.
void AddCommonOptions(CLI::App& command, CommonOptions& options, int max_models,
                      ModelKind kind = ModelKind::kAny, ReportForms forms = ReportForms::kDiagnostics);
// Adds `--quantize` to commands that compute tensor values, or print the operations that compute them.
void AddQuantize(CLI::App& command, CommonOptions& options);

// Returns whether a stream (a descriptor) uses colour according to `--color`.
bool UseColor(const std::string& choice, int stream);
// The same for a command that writes to `output`, a file or standard output.
bool UseColorFor(const std::string& choice, const std::string& output);
void AddColor(CLI::App& command, std::string& choice, const char* what);
// Prints a unified diff, coloured if enabled.
void PrintDiff(const std::string& diff, const std::string& color);
// Adds `-o,--output` for the text that a command prints.
void AddOutput(CLI::App& command, std::string& output, const char* what);
// Writes to standard output if `path` is empty or "-", otherwise to the file via a temporary name. Throws
// MisuseError on failure.
void WriteProduct(const std::string& path, const std::string& content);

// A progress display for operations longer than a second, on terminals only.
class Progress {
 public:
  // Shows the stages of a program during the life of this object.
  explicit Progress(api::Program& program);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Shows that the program does something else.
  void Show(std::string_view what);

 private:
  struct State;
  api::Program& program_;
  std::unique_ptr<State> state_;
};

// Runs the compiler with a progress display; see Compilation::RunUntil.
bool RunStages(api::Program& program, driver::Stage last);

// Each function adds a sub-command that stores its exit code.
void AddCheck(CLI::App& app, int& exit_code);
void AddLint(CLI::App& app, int& exit_code);
void AddExpand(CLI::App& app, int& exit_code);
void AddFmt(CLI::App& app, int& exit_code);
void AddUpgrade(CLI::App& app, int& exit_code);
void AddCompile(CLI::App& app, int& exit_code);
void AddConvert(CLI::App& app, int& exit_code);
void AddTransform(CLI::App& app, int& exit_code);
void AddRun(CLI::App& app, int& exit_code);
void AddInspect(CLI::App& app, int& exit_code);
void AddDiff(CLI::App& app, int& exit_code);
void AddDraw(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddExplain(CLI::App& app, int& exit_code);
void AddOperations(CLI::App& app, int& exit_code);
void AddLsp(CLI::App& app, int& exit_code);

}  // namespace nnefc::cli
