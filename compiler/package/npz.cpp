#include "compiler/package/npz.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <cstring>

#include "compiler/package/archive_reader.h"
#include "compiler/package/rules.h"
#include "compiler/package/utf8_locale.h"

namespace nnefc {
namespace {

constexpr std::string_view kSuffix = ".npy";

// Writes a zip file through libarchive into an OutputFile.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile file) : file_(std::move(file)), archive_(archive_write_new()) {
    NNEFC_CHECK(archive_ != nullptr);
  }
  ~ZipWriter() { archive_write_free(archive_); }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  bool Open() {
    return archive_write_set_format_zip(archive_) == ARCHIVE_OK &&
           archive_write_zip_set_compression_store(archive_) == ARCHIVE_OK &&
           archive_write_set_bytes_per_block(archive_, 0) == ARCHIVE_OK &&
           archive_write_open(archive_, this, nullptr, Write, nullptr) == ARCHIVE_OK;
  }

  // Without a time, which libarchive then writes as the first that zip knows.
  bool Add(const NamedTensor& tensor) {
    const std::string header = NpyHeader(tensor.value);
    const TensorValue items = NpyItems(tensor.value);
    const Utf8Locale utf8;
    archive_entry* entry = archive_entry_new();
    NNEFC_CHECK(entry != nullptr);
    archive_entry_set_pathname(entry, (tensor.name + std::string(kSuffix)).c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<int64_t>(header.size() + items.byte_size()));
    // A warning: the name is no UTF-8, and stands there as it is.
    bool added = archive_write_header(archive_, entry) >= ARCHIVE_WARN &&
                 Data(header.data(), header.size()) && Data(items.bytes(), items.byte_size()) &&
                 archive_write_finish_entry(archive_) == ARCHIVE_OK;
    archive_entry_free(entry);
    return added;
  }

  ErrorOr<Success> Commit() {
    if (archive_write_close(archive_) != ARCHIVE_OK) return Failure();
    return file_.Commit();
  }

  SystemError Failure() const {
    if (failure_) return *failure_;
    const char* reason = archive_error_string(archive_);
    return SystemError{
        fmt::format("cannot write `{}`: {}", file_.temporary_path(), reason == nullptr ? "" : reason)};
  }

 private:
  bool Data(const void* data, size_t size) {
    return archive_write_data(archive_, data, size) == static_cast<la_ssize_t>(size);
  }
  static la_ssize_t Write(archive* handle, void* self, const void* data, size_t size) {
    auto* writer = static_cast<ZipWriter*>(self);
    auto written = writer->file_.Write(std::span(static_cast<const std::byte*>(data), size));
    if (written) return static_cast<la_ssize_t>(size);
    writer->failure_ = written.error();
    archive_set_error(handle, EIO, "%s", written.error().message.c_str());
    return -1;
  }

  OutputFile file_;
  archive* archive_;
  std::optional<SystemError> failure_;
};

}  // namespace

namespace {

// A zip file that is nothing but the end of its directory (and a comment), as
// NumPy writes it for no arrays; libarchive does not know it as one.
bool IsEmptyZip(const Buffer& bytes) {
  constexpr size_t kEndSize = 22;
  constexpr char kEnd[] = "PK\5\6\0\0\0\0\0\0\0\0";  // no disks, no entries
  return bytes.size() >= kEndSize && std::memcmp(bytes.data(), kEnd, sizeof kEnd - 1) == 0;
}

}  // namespace

std::optional<std::vector<NamedTensor>> ReadNpz(const DataSource& source, Context& context,
                                                const NpzOptions& options) {
  if (IsEmptyZip(*source.bytes)) return std::vector<NamedTensor>();
  std::string name(context.sources.Name(source.file));
  // The archive as a whole is told by its name alone.
  DataSource archive{context.sources.AddOpaque(name, FileKind::kNamed), source.bytes};
  ArchiveReader reader(archive, {.format = ArchiveReader::Format::kZip, .max_bytes = options.max_bytes},
                       context.emitter);
  std::vector<NamedTensor> tensors;
  while (auto path = reader.Next()) {
    if (!path->ends_with(kSuffix)) continue;
    std::shared_ptr<const Buffer> bytes = reader.Read();
    if (bytes == nullptr) return std::nullopt;
    DataSource member{
        context.sources.AddOpaque(fmt::format("{}:{}", name, ShownText(*path)), FileKind::kBinary),
        std::move(bytes)};
    std::optional<TensorValue> value = ReadNpy(member, context.emitter);
    if (!value) return std::nullopt;
    tensors.push_back({path->substr(0, path->size() - kSuffix.size()), std::move(*value)});
  }
  if (reader.failed()) return std::nullopt;
  return tensors;
}

ErrorOr<Success> WriteNpz(const std::string& path, std::span<const NamedTensor> tensors) {
  auto file = OutputFile::Create(path);
  if (!file) return file.error();
  ZipWriter writer(std::move(*file));
  if (!writer.Open()) return writer.Failure();
  for (const NamedTensor& tensor : tensors) {
    if (!writer.Add(tensor)) return writer.Failure();
  }
  return writer.Commit();
}

}  // namespace nnefc
