#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/driver/compilation.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/nnefc/streams.h"

namespace nnefc::cli {

// Exit codes of every command.
inline constexpr int kSuccess = 0;
inline constexpr int kInvalid = 1;  // the input is invalid or a comparison failed
inline constexpr int kMisuse = 2;   // misuse, or the environment failed

// What is wrong with the use of an option; caught in main, exit code 2.
class MisuseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Format { kText, kGithub, kJson, kSarif };
Format FormatNamed(std::string_view name);

// Options that every command has.
struct CommonOptions {
  std::vector<std::string> models;
  std::string dialect = "auto";
  bool is_strict = false;
  bool is_lenient = false;
  std::vector<std::string> input_shapes;
  bool quantize = false;  // as graph.quant says
  std::string graph;
  std::string format = "text";
  std::string color = "auto";
  std::string output;  // where the product goes; standard output if empty
  bool verify = false;
  bool werror = false;                  // warnings are errors
  bool quiet = false;                   // errors alone are told
  bool recursive = false;               // folders are searched for models
  std::vector<std::string> extensions;  // plug-ins
  uint64_t max_bytes = ModelOpenOptions().max_bytes;
  Limits limits;

  Format output_format() const { return FormatNamed(format); }
  // What a command makes is text; otherwise it is JSON.
  bool prints_text() const { return output_format() == Format::kText || output_format() == Format::kGithub; }
  // The models that the command line names: those of the folders with
  // `--recursive`. Throws MisuseError if there are none.
  std::vector<std::string> FindModels() const;
  // How `model` is to be compiled: `-` is a document on standard input.
  CompileOptions compile_options(const std::string& model) const;  // may throw MisuseError
  // Those of `extensions`, loaded when they are first asked for.
  const std::shared_ptr<const plugin::Plugins>& plugins() const;
  // Throws MisuseError if an option of documents is given for another model.
  void RefuseForOpenVino(std::string_view option, bool is_given) const;

 private:
  mutable std::shared_ptr<const plugin::Plugins> plugins_;
};

// Adds to a command the options of those that read texts and no more: the
// models, any number, the dialect, the form of diagnostics, limits of syntax.
void AddTextOptions(CLI::App& command, CommonOptions& options);
// What a command takes: documents of NNEF, or graphs too.
enum class ModelKind { kDocument, kAny };
// The forms of `--format`: those of diagnostics alone (text, json, sarif, github), or of a result too (text,
// json).
enum class ReportForms { kDiagnostics, kResult };
// Adds `--extensions`.
void AddExtensions(CLI::App& command, std::vector<std::string>& extensions);
// Adds `--recursive`.
void AddRecursive(CLI::App& command, CommonOptions& options);
// What messages call a model: `-` is `<stdin>`.
std::string ShownModel(const std::string& model);
// Adds the common options to a command; `max_models` 0 is any number.
void AddCommonOptions(CLI::App& command, CommonOptions& options, int max_models,
                      ModelKind kind = ModelKind::kAny, ReportForms forms = ReportForms::kDiagnostics);
// Of commands that compute with the values of tensors, or show what they will be computed by.
void AddQuantize(CLI::App& command, CommonOptions& options);

// Whether a stream (its descriptor) is written in colour, as `--color` chooses.
bool UseColor(const std::string& choice, int stream);
// The same of what a command writes to `output`, a file or standard output.
bool UseColorFor(const std::string& choice, const std::string& output);
void AddColor(CLI::App& command, std::string& choice, const char* what);
// Prints a unified diff, in colour where that is wanted.
void PrintDiff(const std::string& diff, const std::string& color);
// Adds `-o,--output` for what a command prints.
void AddOutput(CLI::App& command, std::string& output, const char* what);
// Writes to stdout, or to `path` (aside, then renamed) unless it is empty or
// "-". Throws MisuseError if the file cannot be written.
void WriteProduct(const std::string& path, const std::string& content);
// "12 ms", "1.25 s"
std::string FormatTime(double milliseconds);
// "f32[1,3,224,224]"
std::string FormatType(ElementType type, const ir::PartialShape& shape);

// A number for each extent, null for one that is not known; null if not even
// the rank is.
nlohmann::ordered_json ShapeToJson(const ir::PartialShape& shape);

// Shows what takes longer than a second, on a terminal only.
class Progress {
 public:
  Progress();
  ~Progress();
  void Start(std::string what);
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Runs the compiler with progress; see Compilation::RunUntil.
bool RunStages(Compilation& compilation, Stage last);

// The commands: each adds its sub-command, which stores its exit code.
void AddCheck(CLI::App& app, int& exit_code);
void AddLint(CLI::App& app, int& exit_code);
void AddExpand(CLI::App& app, int& exit_code);
void AddFmt(CLI::App& app, int& exit_code);
void AddUpgrade(CLI::App& app, int& exit_code);
void AddCompile(CLI::App& app, int& exit_code);
void AddTransform(CLI::App& app, int& exit_code);
void AddRun(CLI::App& app, int& exit_code);
void AddInspect(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddExplain(CLI::App& app, int& exit_code);
void AddOperations(CLI::App& app, int& exit_code);

}  // namespace nnefc::cli
