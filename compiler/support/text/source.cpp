// The manager of source texts: files, positions and lines.

#include "compiler/support/text/source.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/support/files/file.h"
#include "fmt/core.h"

namespace nnefc {

SourceRange Cover(SourceRange first, SourceRange last) {
  if (!first.valid()) return last;
  if (!last.valid() || last.file != first.file) return first;
  return {first.file, std::min(first.begin, last.begin), std::max(first.end, last.end)};
}

SourceManager SourceManager::MakeBase() {
  SourceManager base;
  base.first_ = kFirstOfBase;
  return base;
}

FileId SourceManager::Add(std::unique_ptr<File> file) {
  if (first_ == kFirstOfBase) LineStarts(*file);  // eagerly, since threads share it
  files_.push_back(std::move(file));
  return FileId(first_ + static_cast<int32_t>(files_.size()) - 1);
}

const SourceManager::File& SourceManager::Get(FileId file) const {
  if (base_ != nullptr && file.index >= kFirstOfBase) return base_->Get(file);
  NNEFC_CHECK(file.index >= first_ && static_cast<size_t>(file.index - first_) < files_.size());
  return *files_[static_cast<size_t>(file.index - first_)];
}

ErrorOr<FileId> SourceManager::Open(const std::string& path) {
  auto mapped = MappedFile::Open(path);
  if (!mapped) return mapped.error();
  if ((*mapped)->size() > std::numeric_limits<uint32_t>::max()) {
    return SystemError{fmt::format("`{}` is larger than 4 GiB", path)};
  }
  auto file = std::make_unique<File>();
  file->name = path;
  file->mapped = *mapped;
  file->text = (*mapped)->text();
  return Add(std::move(file));
}

FileId SourceManager::AddText(std::string name, std::string text) {
  auto file = std::make_unique<File>();
  file->name = std::move(name);
  file->owned = std::move(text);
  file->text = file->owned;
  return Add(std::move(file));
}

FileId SourceManager::AddOpaque(std::string name, FileKind kind) {
  auto file = std::make_unique<File>();
  file->name = std::move(name);
  file->kind = kind;
  return Add(std::move(file));
}

std::string_view SourceManager::Name(FileId file) const {
  return Get(file).name;
}
std::string_view SourceManager::Text(FileId file) const {
  return Get(file).text;
}
FileKind SourceManager::Kind(FileId file) const {
  return Get(file).kind;
}

void SourceManager::Release(FileId file) const {
  if (Get(file).mapped != nullptr) MappedFile::Release(Get(file).mapped->bytes());
}

const std::vector<uint32_t>& SourceManager::LineStarts(const File& file) const {
  if (!file.line_starts.empty()) return file.line_starts;
  file.line_starts.push_back(0);
  const char* begin = file.text.data();
  const char* end = begin + file.text.size();
  for (const char* at = begin; at < end;) {
    const char* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (newline == nullptr) break;
    file.line_starts.push_back(static_cast<uint32_t>(newline + 1 - begin));
    at = newline + 1;
  }
  return file.line_starts;
}

LineColumn SourceManager::Position(Location location) const {
  const auto& starts = LineStarts(Get(location.file));
  auto next = std::upper_bound(starts.begin(), starts.end(), location.offset);
  int line = static_cast<int>(next - starts.begin());
  return {line, static_cast<int>(location.offset - starts[static_cast<size_t>(line) - 1]) + 1};
}

uint32_t SourceManager::LineStart(FileId file, int line) const {
  const auto& starts = LineStarts(Get(file));
  NNEFC_CHECK(line >= 1 && static_cast<size_t>(line) <= starts.size());
  return starts[static_cast<size_t>(line) - 1];
}

std::string_view SourceManager::Line(FileId file, int line) const {
  const auto& starts = LineStarts(Get(file));
  std::string_view text = Get(file).text;
  size_t begin = LineStart(file, line);
  size_t end =
      static_cast<size_t>(line) < starts.size() ? starts[static_cast<size_t>(line)] - 1 : text.size();
  std::string_view content = text.substr(begin, end - begin);
  if (!content.empty() && content.back() == '\r') content.remove_suffix(1);
  return content;
}

}  // namespace nnefc
