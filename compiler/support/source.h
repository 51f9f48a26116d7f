#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/error_or.h"
#include "compiler/support/file.h"
#include "compiler/support/ids.h"

namespace nnefc {

struct FileTag;
using FileId = TypedId<FileTag>;

// A place in a text or binary file: a byte offset.
struct Location {
  FileId file;
  uint32_t offset = 0;

  bool valid() const { return file.valid(); }
  friend bool operator==(Location, Location) = default;
};

// Bytes [begin, end) of a file. A range whose file is invalid stands for "no
// place" (a command line option, say).
struct SourceRange {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file.valid(); }
  Location start() const { return {file, begin}; }
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

// The range from the start of `first` to the end of `last`, both of one file.
SourceRange Cover(SourceRange first, SourceRange last);

// 1-based line and byte column.
struct LineColumn {
  int line = 1;
  int column = 1;
};

enum class FileKind : uint8_t {
  kText,    // told by line and column
  kBinary,  // told by byte offset
  kNamed,   // told by its name alone: folders, archives, the command line
};

// Owns the text of every file that a run has read; a FileId names one.
class SourceManager {
 public:
  SourceManager() = default;
  // Knows the files of `base` too, which keep their ids and come after all
  // others. `base` must outlive this one and not grow any more; any number of
  // managers and threads may share it.
  explicit SourceManager(const SourceManager* base) : base_(base) {
    NNEFC_CHECK(base->first_ == kFirstOfBase);
  }
  SourceManager(SourceManager&&) = default;
  SourceManager& operator=(SourceManager&&) = default;
  // One that is fit for a base: its texts are the same for the whole process.
  static SourceManager MakeBase();

  // Reads `path` ("-" is not special). At most 4 GiB.
  ErrorOr<FileId> Open(const std::string& path);
  // Adds text held in memory (a document of an archive, of an editor, of the
  // standard library), told to the user as `name`.
  FileId AddText(std::string name, std::string text);
  // Adds a file that has no text to show.
  FileId AddOpaque(std::string name, FileKind kind);

  std::string_view Name(FileId file) const;
  std::string_view Text(FileId file) const;
  FileKind Kind(FileId file) const;
  // Takes no memory for the text any more until it is read again, where a file has it.
  void LetGo(FileId file) const;
  LineColumn Position(Location location) const;
  // The text of the 1-based line without its line end.
  std::string_view Line(FileId file, int line) const;
  // The offset of the first byte of the 1-based line.
  uint32_t LineStart(FileId file, int line) const;

 private:
  struct File {
    std::string name;
    FileKind kind = FileKind::kText;
    std::string owned;
    std::shared_ptr<const MappedFile> mapped;
    std::string_view text;
    mutable std::vector<uint32_t> line_starts;
  };
  static constexpr int32_t kFirstOfBase = 1 << 30;

  FileId Add(std::unique_ptr<File> file);
  const File& Get(FileId file) const;
  const std::vector<uint32_t>& LineStarts(const File& file) const;

  const SourceManager* base_ = nullptr;
  int32_t first_ = 0;
  std::vector<std::unique_ptr<File>> files_;  // from first_ on
};

}  // namespace nnefc
