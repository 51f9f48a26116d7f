#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "compiler/driver/upgrade_model.h"
#include "compiler/support/temporary_files.h"
#include "fmt/format.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

// A folder that is made beside its final place and renamed when complete.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
    std::error_code error;
    const bool is_free =
        !fs::exists(path_, error) || (fs::is_directory(path_, error) && fs::is_empty(path_, error));
    if (!is_free) throw MisuseError(fmt::format("`{}` exists; name a folder that is new or empty", path_));
    temporary_ = path_ + ".XXXXXX";
    const auto hold = HoldTemporaryFiles();
    if (::mkdtemp(temporary_.data()) == nullptr)
      throw MisuseError(fmt::format("cannot make `{}`: {}", path_, SystemErrorText(errno)));
    AddTemporaryFile(temporary_);
    fs::permissions(temporary_, fs::perms(0777) & ~Mask(), error);
  }
  ~OutputFolder() {
    std::error_code error;
    if (temporary_.empty()) return;
    fs::remove_all(temporary_, error);
    ForgetTemporaryFile(temporary_);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& path() const { return temporary_; }
  void Commit() {
    std::error_code error;
    const auto hold = HoldTemporaryFiles();
    fs::rename(temporary_, path_, error);
    if (error) throw MisuseError(fmt::format("cannot write `{}`: {}", path_, error.message()));
    ForgetTemporaryFile(temporary_);
    temporary_.clear();
  }

 private:
  static fs::perms Mask() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return fs::perms(mask);
  }

  std::string path_;
  std::string temporary_;
};

struct UpgradeCommand : CommonOptions {
  int Run() {
    CompileOptions compile = compile_options();
    compile.keep_instances = true;
    compile.purpose = Purpose::kPrint;
    Compilation compilation(models.front(), compile);
    if (compilation.format() != ModelFormat::kNnef) throw MisuseError("`upgrade` takes NNEF models");
    const bool ok = RunStages(compilation, Stage::kExpand);
    Reporter reporter(*this);
    if (!ok) return reporter.Report(compilation);
    const UpgradedTexts texts = UpgradeTexts(compilation);
    const bool is_document = compilation.context().sources.Name(compilation.graph_text()) == models.front();
    if (is_document) {
      RequireExtension(output, {".nnef", ".txt"}, "`upgrade` writes a document to `.nnef`");
      WriteProduct(output, texts.graph);
      return reporter.Report(compilation);
    }
    if (output.empty() || output == "-")
      throw MisuseError("the upgraded model is a folder; name it with `--output`");
    RequireNoArchive(output);
    OutputFolder folder(output);
    Write(folder.path() + "/graph.nnef", texts.graph);
    if (texts.quantization) Write(folder.path() + "/graph.quant", *texts.quantization);
    ErrorOr<bool> complete = WriteUpgradedData(compilation, folder.path());
    if (!complete) throw MisuseError(complete.error().message);
    if (*complete) folder.Commit();
    return reporter.Report(compilation);
  }

 private:
  static void RequireNoArchive(const std::string& path) {
    const std::string extension = fs::path(path).extension().string();
    for (std::string_view other : {".nnef", ".tar", ".tgz", ".gz", ".zip", ".npz", ".xml"}) {
      if (extension == other)
        throw MisuseError(fmt::format("cannot write `{}`: the upgraded model is a folder", path));
    }
  }
  static void Write(const std::string& path, const std::string& text) {
    if (auto written = WriteFile(path, text); !written) throw MisuseError(written.error().message);
  }
};

}  // namespace

void AddUpgrade(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<UpgradeCommand>();
  CLI::App* command = app.add_subcommand("upgrade", "turn a provisional model into a ratified one");
  AddCommonOptions(*command, *options, 1, ModelKind::kDocument);
  command->add_option(
      "-o,--output", options->output,
      "the document to write, or of a folder or archive the folder; standard output without it");
  command->footer(
      "Fragments, comments and composition stay where the ratified dialect has a form for them; what does "
      "not "
      "is told.\nExample: nnefc upgrade old.nnef -o new.nnef");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli
