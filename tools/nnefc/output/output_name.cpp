// Checks of output names against the format written.

#include "tools/nnefc/output/output_name.h"

#include <algorithm>
#include <filesystem>

#include "fmt/core.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

// Extensions of files that are unlikely names of folders.
constexpr std::string_view kFileExtensions[] = {".nnef", ".quant", ".dat", ".npy",  ".npz",  ".safetensors",
                                                ".tar",  ".tgz",   ".gz",  ".zip",  ".xml",  ".bin",
                                                ".ir",   ".json",  ".txt", ".onnx", ".html", ".svg"};

bool IsStandardOutput(const std::string& path) {
  return path.empty() || path == "-";
}

}  // namespace

void RequireExtension(const std::string& path, std::initializer_list<std::string_view> extensions,
                      std::string_view what) {
  if (IsStandardOutput(path)) return;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw MisuseError(fmt::format("cannot write `{}`, which is a folder: {}", path, what));
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  const std::string extension = fs::path(path).extension().string();
  if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end())
    throw MisuseError(fmt::format("cannot write `{}`: {}", path, what));
}

void RequireReportName(const std::string& path, Format format) {
  switch (format) {
    case Format::kText:
    case Format::kGithub:
      return RequireExtension(path, {".txt", ".log", ".out", ""},
                              "the report is text, for a `.txt` or `.log`; `--format json` writes JSON");
    case Format::kJson:
      return RequireExtension(path, {".json", ".txt", ".log", ".out", ""},
                              "the report is JSON, for a `.json`");
    case Format::kSarif:
      return RequireExtension(path, {".sarif", ".json", ".txt", ".log", ".out", ""},
                              "the report is SARIF, for a `.sarif` or `.json`");
  }
}

void RequireFolderName(const std::string& path, std::string_view what) {
  std::error_code error;
  if (fs::is_directory(path, error)) return;
  const bool exists = fs::exists(path, error);
  const std::string extension = fs::path(path).extension().string();
  const bool is_file_name = std::find(std::begin(kFileExtensions), std::end(kFileExtensions), extension) !=
                            std::end(kFileExtensions);
  if (exists || is_file_name) throw MisuseError(fmt::format("cannot write `{}`: {}", path, what));
}

void RequireArchiveName(const std::string& path, bool force) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw MisuseError(fmt::format("cannot write `{}`, which is a folder: the model is an archive", path));
  if (fs::exists(path, error) && !force)
    throw MisuseError(fmt::format("`{}` exists; `--force` replaces it", path));
}

void RequireOtherFile(const CommonOptions& options, bool force) {
  std::error_code error;
  if (force || options.output.empty()) return;
  for (const std::string& model : options.models) {
    if (fs::equivalent(model, options.output, error))
      throw MisuseError(
          fmt::format("`{}` is what is read; `--force` replaces it by the result", options.output));
  }
}

}  // namespace nnefc::cli
