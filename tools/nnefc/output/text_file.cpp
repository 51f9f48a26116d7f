// Documents that a command modifies.

#include "tools/nnefc/output/text_file.h"

#include <cstdio>
#include <filesystem>

#include "compiler/driver/rules.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

constexpr std::string_view kQuantizationSuffix = ".quant";
constexpr size_t kMaxInput = size_t{4} << 30;

}  // namespace

const std::string& StandardInput() {
  static const std::string text = [] {
    std::string read;
    char buffer[1 << 16];
    while (const size_t count = std::fread(buffer, 1, sizeof buffer, stdin)) {
      read.append(buffer, count);
      if (read.size() >= kMaxInput) throw MisuseError("standard input is larger than 4 GiB");
    }
    return read;
  }();
  return text;
}

std::vector<TextFile> OpenTexts(const std::string& path, const std::string& name,
                                const package::ModelOpenOptions& options, Context& context,
                                bool& environment_failed) {
  if (path == "-") {
    return {{.path = name,
             .is_quantization = name.ends_with(kQuantizationSuffix),
             .file = context.sources.AddText(name, StandardInput())}};
  }
  if (path.ends_with(kQuantizationSuffix) && !std::filesystem::is_directory(path)) {
    ErrorOr<FileId> file = context.sources.Open(path);
    if (!file) {
      environment_failed = true;
      context.emitter.Emit(driver::kFileUnreadable, {}, "{}", file.error().message);
      return {};
    }
    return {{.path = path, .writable = true, .is_quantization = true, .file = *file}};
  }
  package::ModelOpenResult opened = package::ModelContainer::Open(path, context, options);
  environment_failed = opened.environment_failed;
  if (opened.model == nullptr) return {};
  // Members of an archive have names `ARCHIVE:MEMBER` and are not files.
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  std::vector<TextFile> texts;
  auto add = [&](FileId file, bool is_quantization) {
    std::string name(context.sources.Name(file));
    const bool writable = is_folder || name == path;
    texts.push_back({std::move(name), writable, is_quantization, file});
  };
  add(opened.model->graph_text(), false);
  // A document that is named explicitly does not include the graph.quant of its folder.
  const bool is_document = texts.front().path == path;
  if (opened.model->quantization_text() && !is_document) add(*opened.model->quantization_text(), true);
  return texts;
}

}  // namespace nnefc::cli
