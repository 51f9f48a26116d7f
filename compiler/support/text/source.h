#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/error_or.h"
#include "compiler/support/ids.h"

namespace nnefc {

class MappedFile;

struct FileTag;
using FileId = TypedId<FileTag>;

// A byte offset in a text or binary file.
struct Location {
  FileId file;
  uint32_t offset = 0;

  bool valid() const { return file.valid(); }
  friend bool operator==(Location, Location) = default;
};

// Bytes [begin, end) of a file. A range with an invalid file means "no location" (a command-line option, for
// example).
struct SourceRange {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file.valid(); }
  Location start() const { return {file, begin}; }
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

// Returns the range from the start of `first` to the end of `last`; both belong to one file.
SourceRange Cover(SourceRange first, SourceRange last);

// A 1-based line and byte column.
struct LineColumn {
  int line = 1;
  int column = 1;
};

enum class FileKind : uint8_t {
  kText,    // located by line and column
  kBinary,  // located by byte offset
  kNamed,   // located by name only: folders, archives, the command line
};

// The owner of the texts of all files that a run has read, addressed by FileId.
class SourceManager {
 public:
  SourceManager() = default;
  // Creates a manager that also contains the files of `base`. Their ids are unchanged and follow all others.
  // `base` must outlive this manager and must not grow any more; any number of managers and threads may share
  // it.
  explicit SourceManager(const SourceManager* base) : base_(base) {
    NNEFC_CHECK(base->first_ == kFirstOfBase);
  }
  SourceManager(SourceManager&&) = default;
  SourceManager& operator=(SourceManager&&) = default;
  // Creates a manager that can serve as a base: its texts are the same for the whole process.
  static SourceManager MakeBase();

  // Reads `path` ("-" is not special), at most 4 GiB.
  ErrorOr<FileId> Open(const std::string& path);
  // Adds an in-memory text (a document of an archive, of an editor or of the standard library), shown to the
  // user as `name`.
  FileId AddText(std::string name, std::string text);
  // Adds a file without displayable text.
  FileId AddOpaque(std::string name, FileKind kind);

  std::string_view Name(FileId file) const;
  std::string_view Text(FileId file) const;
  FileKind Kind(FileId file) const;
  // Releases the memory of a text that is backed by a file; the next access reads it again.
  void Release(FileId file) const;
  LineColumn Position(Location location) const;
  // Returns the text of a 1-based line without its line end.
  std::string_view Line(FileId file, int line) const;
  // Returns the offset of the first byte of a 1-based line.
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
