// Writing of graphs in their text form.

#include "tools/api/forms/write_graph.h"

#include <optional>
#include <span>

#include "compiler/ir/text/text.h"
#include "compiler/openvino/write.h"
#include "compiler/support/files/file.h"
#include "compiler/support/files/temporary_files.h"
#include "tools/api/forms/openvino_form.h"

namespace nnefc::api {
namespace {

constexpr uint64_t kAlignment = 64;

// Writes elements of constants to a file that is created for the first of them. Later calls do nothing after
// an error.
class ElementsWriter {
 public:
  explicit ElementsWriter(std::string path) : path_(std::move(path)) {}

  // Returns the offset of the elements.
  uint64_t Add(const TensorValue& value) {
    if (!file_ && status_) {
      ErrorOr<OutputFile> created = OutputFile::Create(path_);
      if (created) file_.emplace(std::move(*created));
      if (!created) status_ = created.error();
    }
    const std::string padding((kAlignment - size_ % kAlignment) % kAlignment, '\0');
    if (status_) status_ = file_->Write(padding);
    if (status_) status_ = file_->Write(std::span(value.bytes(), value.byte_size()));
    const uint64_t begin = size_ + padding.size();
    size_ = begin + value.byte_size();
    return begin;
  }
  const ErrorOr<Success>& status() const { return status_; }
  ErrorOr<Success> Commit() { return status_ && file_ ? file_->Commit() : status_; }

 private:
  std::string path_;
  std::optional<OutputFile> file_;
  ErrorOr<Success> status_ = Success{};
  uint64_t size_ = 0;
};

}  // namespace

ErrorOr<Success> WriteGraphText(const ir::Graph& graph, const std::string& path) {
  ElementsWriter elements(path.substr(0, path.rfind('.')) + ".bin");
  const std::string text =
      ir::PrintGraph(graph, {.keep = [&](const TensorValue& value) { return elements.Add(value); }});
  if (!elements.status()) return elements.status();
  const auto hold = HoldTemporaryFiles();
  if (auto committed = elements.Commit(); !committed) return committed;
  return WriteFile(path, text);
}

std::shared_ptr<const ir::Graph> LoweredFormFor(driver::Compilation& compilation, const std::string& path) {
  if (path.ends_with(".xml")) return OpenVinoFormOf(compilation, /*structure_only=*/false);
  return compilation.lowered();
}

ErrorOr<Success> WriteLoweredForm(const ir::Graph& graph, const std::string& path,
                                  const std::function<void(const std::string&)>& print) {
  if (path.ends_with(".xml")) return openvino::WriteOpenVino(graph, path);
  if (path.ends_with(".ir")) return WriteGraphText(graph, path);
  if (!path.empty() && path != "-") return WriteFile(path, ir::PrintGraph(graph));
  print(ir::PrintGraph(graph));
  return Success{};
}

}  // namespace nnefc::api
