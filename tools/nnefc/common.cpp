// Options and helpers shared by the commands.

#include "tools/nnefc/common.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "compiler/support/files/file.h"
#include "fmt/core.h"
#include "tools/nnefc/arguments/help.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/search.h"

namespace nnefc::cli {
namespace {

// Stages recurse into expressions; this nesting depth fits any stack.
constexpr int64_t kHighestNesting = 4000;

}  // namespace

std::pair<std::string, Shape> ParseInputShape(const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw MisuseError(fmt::format("`--input-shape {}`: expected NAME=1,3,224,224", text));
  }
  Shape shape;
  const char* at = text.data() + equals + 1;
  const char* end = text.data() + text.size();
  while (at < end) {
    int64_t extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    bool separated = next == end || (*next == ',' && next + 1 < end);
    if (error != std::errc() || extent <= 0 || !separated) {
      throw MisuseError(
          fmt::format("`--input-shape {}`: extents are positive integers separated by commas", text));
    }
    shape.push_back(extent);
    at = next == end ? end : next + 1;
  }
  return {text.substr(0, equals), shape};
}

driver::Renames ParseRenames(const std::vector<std::string>& texts) {
  driver::Renames renames;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw MisuseError(fmt::format("`--rename {}`: expected OLD=NEW", text));
    const std::string from = text.substr(0, equals);
    if (&driver::NewName(renames, from) != &from)
      throw MisuseError(fmt::format("`--rename {}`: `{}` is renamed twice", text, from));
    renames.emplace_back(from, text.substr(equals + 1));
  }
  return renames;
}

void AddRename(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--rename", options.renames,
                  "OLD=NEW: a new name of an input or output; repeat it for others: --rename x=image")
      ->type_name("OLD=NEW")
      ->take_all()
      ->expected(1);
}

Format FormatNamed(std::string_view name) {
  if (name == "json") return Format::kJson;
  if (name == "sarif") return Format::kSarif;
  return name == "github" ? Format::kGithub : Format::kText;
}

std::string ShownModel(const std::string& model) {
  return model == "-" ? "<stdin>" : model;
}

std::string CommonOptions::ModelName(const std::string& model) const {
  return model == "-" && !stdin_filename.empty() ? stdin_filename : ShownModel(model);
}

std::vector<std::string> CommonOptions::FindModels() const {
  if (!stdin_filename.empty()) {
    if (std::ranges::find(models, "-") == models.end())
      throw MisuseError("`--stdin-filename` names the document on standard input, which is the model `-`");
    if (driver::FormatOf(stdin_filename) != driver::ModelFormat::kNnef)
      throw MisuseError(
          fmt::format("`--stdin-filename {}`: expected the name of an NNEF document", stdin_filename));
  }
  return recursive ? SearchFolders(models) : models;
}

// Options for documents have no meaning for a graph of OpenVINO operations.
void CommonOptions::RefuseForOpenVino(std::string_view option, bool is_given) const {
  if (!is_given) return;
  for (const std::string& model : models) {
    if (driver::FormatOf(model) != driver::ModelFormat::kNnef)
      throw MisuseError(fmt::format("`{}` is for NNEF documents, which `{}` is not", option, model));
  }
}

driver::CompileOptions CommonOptions::compile_options(const std::string& model) const {
  RefuseForOpenVino("--dialect", dialect != "auto");
  RefuseForOpenVino("--graph", !graph.empty());
  RefuseForOpenVino("--input-shape", !input_shapes.empty());
  RefuseForOpenVino("--quantize", quantize);
  api::ModelOptions result{.quantize = quantize, .max_bytes = max_bytes};
  if (dialect == "provisional") result.dialect = api::Dialect::kProvisional;
  if (dialect == "ratified") result.dialect = api::Dialect::kRatified;
  if (is_strict) result.reading = api::Reading::kStrict;
  if (is_lenient) result.reading = api::Reading::kLenient;
  if (!graph.empty()) result.graph = graph;
  for (const std::string& text : input_shapes) {
    auto [name, shape] = ParseInputShape(text);
    result.input_shapes.emplace(std::move(name), std::vector<int64_t>(shape.begin(), shape.end()));
  }
  driver::CompileOptions compile = api::ToCompileOptions(result, plugins());
  if (model == "-") compile.document = StandardInput();
  compile.renames = ParseRenames(renames);
  compile.limits = limits;
  compile.verify = verify;
  return compile;
}

const std::shared_ptr<const plugin::Plugins>& CommonOptions::plugins() const {
  if (plugins_ == nullptr) plugins_ = plugin::Plugins::Load(extensions);
  return plugins_;
}

namespace {

void AddModels(CLI::App& command, CommonOptions& options, int max_models, const char* what) {
  auto* model = command.add_option("MODEL", options.models, what);
  model->required();
  if (max_models > 0) model->expected(1, max_models);
  command.add_option("--dialect", options.dialect, "the dialect of the document")
      ->type_name("WORD")
      ->check(OneOf({"auto", "provisional", "ratified"}))
      ->capture_default_str()
      ->group(kCommonGroup);
  auto* lenient =
      command.add_flag("--lenient", options.is_lenient,
                       "accept known deviations of exporters from the specification, with warnings");
  command
      .add_flag("--strict", options.is_strict,
                "report those deviations as errors, in documents with an exporter's marks too")
      ->excludes(lenient)
      ->group(kCommonGroup);
  lenient->group(kCommonGroup);
}

// Diagnostics of documents support more formats than results for programs.
void AddReporting(CLI::App& command, CommonOptions& options, ReportForms forms) {
  const bool is_result = forms == ReportForms::kResult;
  command
      .add_option("--format", options.format,
                  is_result ? "the form of the result and of diagnostics: --format json"
                            : "the form of diagnostics; `github` marks lines of a change: --format sarif")
      ->type_name("WORD")
      ->check(OneOf(is_result ? std::vector<std::string>{"text", "json"}
                              : std::vector<std::string>{"text", "json", "sarif", "github"}))
      ->capture_default_str()
      ->group(kCommonGroup);
  AddColor(command, options.color, "colour in diagnostics and reports");
  command.add_flag("--werror", options.werror, "treat warnings as errors, in the exit code too")
      ->group(kCommonGroup);
  command.add_flag("-q,--quiet", options.quiet, "print only errors")->group(kCommonGroup);
}

}  // namespace

void AddColor(CLI::App& command, std::string& choice, const char* what) {
  command.add_option("--color", choice, what)
      ->type_name("WORD")
      ->check(OneOf({"auto", "always", "never"}))
      ->capture_default_str()
      ->group(kCommonGroup);
}

void AddExtensions(CLI::App& command, std::vector<std::string>& extensions) {
  command
      .add_option("--extensions", extensions,
                  "a plug-in: a shared library with more transformations, operations and fragments; "
                  "`python -m nnefc` accepts folders of transformations in Python too; may be repeated")
      ->type_name("FILE.so")
      ->take_all()
      ->expected(1)
      ->group(kCommonGroup);
  // The Python process that loads the folders reads it, too.
  command.add_flag("--mo-imports")
      ->description(
          "redirect imports of `openvino.tools.mo`, `mo` and `extensions` in folders of `--extensions` to "
          "`nnefc.mo`")
      ->group(kCommonGroup);
}

void AddStdinFilename(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--stdin-filename", options.stdin_filename,
                  "the file whose text standard input has: its name in messages")
      ->type_name("FILE");
}

void AddRecursive(CLI::App& command, CommonOptions& options) {
  command.add_flag("-r,--recursive", options.recursive,
                   "search folders for models: folders with a `graph.nnef`, other `.nnef` documents, "
                   "`.nnef.tar` and `.nnef.tgz` archives");
}

void AddOutput(CLI::App& command, std::string& output, const char* what) {
  command.add_option("-o,--output", output, what)->type_name("FILE");
}

namespace {

void AddLimit(CLI::App& command, const char* name, int64_t& limit, const char* what,
              int64_t highest = int64_t{1} << 40) {
  command.add_option(name, limit, what)
      ->type_name("N")
      ->check(Between(1, highest))
      ->capture_default_str()
      ->group(kLimitGroup);
}

void AddNestingLimit(CLI::App& command, CommonOptions& options) {
  AddLimit(command, "--max-nesting", options.limits.nesting, "nested brackets and operators of an expression",
           kHighestNesting);
}

void AddBytesLimit(CLI::App& command, CommonOptions& options) {
  command.add_option("--max-bytes", options.max_bytes, "bytes of an archive when unpacked")
      ->type_name("N")
      ->check(Between(1, int64_t{1} << 50))
      ->capture_default_str()
      ->group(kLimitGroup);
}

}  // namespace

void AddTextOptions(CLI::App& command, CommonOptions& options) {
  AddModels(command, options, 0, "a .nnef document, a graph.quant file, a model folder, an archive, or -");
  AddReporting(command, options, ReportForms::kResult);
  AddNestingLimit(command, options);
  AddBytesLimit(command, options);
}

void AddCommonOptions(CLI::App& command, CommonOptions& options, int max_models, ModelKind kind,
                      ReportForms forms) {
  AddModels(
      command, options, max_models,
      kind == ModelKind::kDocument
          ? "a model folder, a .tar or .tgz, a .nnef document, or - for a document on standard input"
          : "a model folder, a .tar or .tgz, a .nnef document, - for one on standard input, OpenVINO IR "
            "(.xml), or a graph as `compile` prints it (.ir)");
  command
      .add_option("--input-shape", options.input_shapes, "NAME=1,3,224,224: the shape of an external tensor")
      ->type_name("NAME=EXTENTS")
      ->take_all()
      ->expected(1)
      ->group(kCommonGroup);
  command.add_option("--graph", options.graph, "the graph to use if the document has several")
      ->type_name("NAME")
      ->group(kCommonGroup);
  AddExtensions(command, options.extensions);
  AddReporting(command, options, forms);
  command
      .add_flag("--verify", options.verify,
                "verify the graph that each stage makes; please report a failure, with the model")
      ->group(kCommonGroup);
  AddNestingLimit(command, options);
  AddLimit(command, "--max-recursion", options.limits.recursion,
           "fragments being instantiated within each other");
  AddLimit(command, "--max-steps", options.limits.steps, "steps of compile-time evaluation");
  AddLimit(command, "--max-operations", options.limits.operations, "operations made by fragments");
  AddLimit(command, "--max-items", options.limits.items, "array items and string bytes alive at a time");
  AddBytesLimit(command, options);
}

void AddQuantize(CLI::App& command, CommonOptions& options) {
  command.add_flag("--quantize", options.quantize,
                   "quantize each tensor that graph.quant names as soon as it is computed");
}

bool UseColor(const std::string& choice, int stream) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  // https://no-color.org: an empty value is ignored.
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(stream) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool UseColorFor(const std::string& choice, const std::string& output) {
  const bool is_file = !output.empty() && output != "-";
  return is_file ? choice == "always" : UseColor(choice, STDOUT_FILENO);
}

void PrintDiff(const std::string& diff, const std::string& color) {
  if (!UseColor(color, STDOUT_FILENO)) return WriteStdout(diff);
  for (size_t begin = 0; begin < diff.size();) {
    const size_t end = std::min(diff.find('\n', begin), diff.size());
    const std::string line = diff.substr(begin, end - begin);
    const bool is_head = line.starts_with("---") || line.starts_with("+++");
    const std::string_view code = is_head                  ? "1"
                                  : line.starts_with('+')  ? "32"
                                  : line.starts_with('-')  ? "31"
                                  : line.starts_with("@@") ? "36"
                                                           : "";
    Print("{}\n", code.empty() ? line : fmt::format("\033[{}m{}\033[0m", code, line));
    begin = end + 1;
  }
}

void WriteProduct(const std::string& path, const std::string& content) {
  if (path.empty() || path == "-") {
    WriteStdout(content);
    return;
  }
  Require(WriteFile(path, content));
}

struct Progress::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::string what;
  bool active = false;
  bool shown = false;
  bool quit = false;
  std::chrono::steady_clock::time_point start;
  std::thread thread;

  void Loop() {
    std::unique_lock lock(mutex);
    while (!quit) {
      wake.wait_for(lock, std::chrono::milliseconds(200));
      std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      if (!active || elapsed.count() < 1) continue;
      PrintStderr("\r\033[Knnefc: {} ({:.0f} s)", what, elapsed.count());
      std::fflush(stderr);
      shown = true;
    }
  }
  void Clear() {
    if (shown) PrintStderr("\r\033[K");
    shown = false;
  }
};

Progress::Progress(api::Program& program) : program_(program) {
  if (::isatty(STDERR_FILENO) != 1) return;
  state_ = std::make_unique<State>();
  state_->thread = std::thread([state = state_.get()] { state->Loop(); });
  program_.set_observer([this](std::string_view stage) { Show(stage); });
}

Progress::~Progress() {
  if (!state_) return;
  program_.set_observer(nullptr);
  {
    std::lock_guard lock(state_->mutex);
    state_->active = false;
    state_->Clear();
    state_->quit = true;
  }
  state_->wake.notify_all();
  state_->thread.join();
}

void Progress::Show(std::string_view what) {
  if (!state_) return;
  std::lock_guard lock(state_->mutex);
  state_->Clear();
  state_->what = fmt::format("{}: {}", program_.compilation().path(), what);
  state_->active = true;
  state_->start = std::chrono::steady_clock::now();
}

bool RunStages(api::Program& program, driver::Stage last) {
  const Progress progress(program);
  return program.compilation().RunUntil(last);
}

}  // namespace nnefc::cli
