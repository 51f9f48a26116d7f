// The reader of NumPy's .npz archives.

#include "compiler/package/tensors/npz.h"

#include <algorithm>
#include <cerrno>

#include "compiler/package/containers/libarchive.h"
#include "compiler/package/containers/utf8_locale.h"
#include "compiler/package/containers/zip_reader.h"
#include "compiler/package/rules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

namespace nnefc::package {
namespace {

constexpr std::string_view kSuffix = ".npy";

// A writer of zip files through libarchive into an OutputFile.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile file) : file_(std::move(file)) {}
  ~ZipWriter() {
    if (archive_ != nullptr) functions_->archive_write_free(archive_);
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  bool Open() {
    const ErrorOr<const ArchiveFunctions*> functions = LoadArchiveFunctions();
    if (!functions) {
      failure_ = functions.error();
      return false;
    }
    functions_ = *functions;
    archive_ = functions_->archive_write_new();
    NNEFC_CHECK(archive_ != nullptr);
    return functions_->archive_write_set_format_zip(archive_) == ARCHIVE_OK &&
           functions_->archive_write_zip_set_compression_store(archive_) == ARCHIVE_OK &&
           functions_->archive_write_set_bytes_per_block(archive_, 0) == ARCHIVE_OK &&
           functions_->archive_write_open(archive_, this, nullptr, Write, nullptr) == ARCHIVE_OK;
  }

  // Adds a member without a time; libarchive then writes the earliest time of the zip format.
  bool Add(const NamedTensor& tensor) {
    const std::string header = NpyHeader(tensor.value);
    const TensorValue items = NpyItems(tensor.value);
    const Utf8Locale utf8;
    archive_entry* entry = functions_->archive_entry_new();
    NNEFC_CHECK(entry != nullptr);
    functions_->archive_entry_set_pathname(entry, (tensor.name + std::string(kSuffix)).c_str());
    functions_->archive_entry_set_filetype(entry, AE_IFREG);
    functions_->archive_entry_set_perm(entry, 0644);
    functions_->archive_entry_set_size(entry, static_cast<int64_t>(header.size() + items.byte_size()));
    bool added = functions_->archive_write_header(archive_, entry) == ARCHIVE_OK &&
                 Data(header.data(), header.size()) && Data(items.bytes(), items.byte_size()) &&
                 functions_->archive_write_finish_entry(archive_) == ARCHIVE_OK;
    functions_->archive_entry_free(entry);
    return added;
  }

  ErrorOr<Success> Commit() {
    if (functions_->archive_write_close(archive_) != ARCHIVE_OK) return Failure();
    return file_.Commit();
  }

  SystemError Failure() const {
    if (failure_) return *failure_;
    const char* reason = functions_->archive_error_string(archive_);
    return SystemError{
        fmt::format("cannot write `{}`: {}", file_.temporary_path(), reason == nullptr ? "" : reason)};
  }

 private:
  bool Data(const void* data, size_t size) {
    return functions_->archive_write_data(archive_, data, size) == static_cast<la_ssize_t>(size);
  }
  static la_ssize_t Write(archive* handle, void* self, const void* data, size_t size) {
    auto* writer = static_cast<ZipWriter*>(self);
    auto written = writer->file_.Write(std::span(static_cast<const std::byte*>(data), size));
    if (written) return static_cast<la_ssize_t>(size);
    writer->failure_ = written.error();
    writer->functions_->archive_set_error(handle, EIO, "%s", written.error().message.c_str());
    return -1;
  }

  OutputFile file_;
  const ArchiveFunctions* functions_ = nullptr;
  archive* archive_ = nullptr;  // null until opened
  std::optional<SystemError> failure_;
};

// Returns the offset of the first byte that is invalid UTF-8 or NUL; nothing if there is none.
std::optional<size_t> FindNoText(std::string_view text) {
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(text.data());
  const llvm::UTF8* at = begin;
  const bool is_utf8 = llvm::isLegalUTF8String(&at, begin + text.size());
  const size_t wrong = is_utf8 ? std::string_view::npos : static_cast<size_t>(at - begin);
  const size_t place = std::min(wrong, text.find('\0'));
  return place == std::string_view::npos ? std::nullopt : std::optional(place);
}

// Returns true for a name with a part `..`, since archive tools might write outside their folder.
bool LeadsOut(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  llvm::SplitString(name, parts, "/\\");
  if (!parts.empty()) parts.pop_back();  // the last part is the file's own name
  return llvm::is_contained(parts, "..");
}

// Returns a message about a name that a zip file cannot store or restore, or nothing.
std::optional<std::string> FindUnwritable(std::span<const NamedTensor> tensors) {
  constexpr size_t kLongestName = 65'535;
  llvm::StringSet<> names;
  for (const NamedTensor& tensor : tensors) {
    if (const std::optional<size_t> wrong = FindNoText(tensor.name)) {
      return fmt::format("the name `{}` of a tensor is not UTF-8 text: its byte {} is {:#04x}",
                         ShownText(tensor.name), *wrong, static_cast<unsigned char>(tensor.name[*wrong]));
    }
    if (tensor.name.size() + kSuffix.size() > kLongestName) {
      return fmt::format("the name `{}` of a tensor has {} bytes; at most {} can be written",
                         ShownText(tensor.name), tensor.name.size(), kLongestName - kSuffix.size());
    }
    if (LeadsOut(tensor.name)) {
      return fmt::format(
          "the name `{}` of a tensor would lead out of a folder that the archive is unpacked to",
          ShownText(tensor.name));
    }
    if (!names.insert(tensor.name).second) {
      return fmt::format("two tensors have the name `{}`", ShownText(tensor.name));
    }
  }
  return std::nullopt;
}

// Validates the name of an array.
bool CheckName(const ZipMember& member, llvm::StringSet<>& names, FileId file, Emitter& emitter) {
  if (const std::optional<size_t> wrong = FindNoText(member.name)) {
    emitter.Emit(kArchiveName, ByteRange(file, member.name_offset + *wrong, 1),
                 "the name `{}` is not UTF-8 text: it holds the byte {:#04x}; rename the array",
                 ShownText(member.name), static_cast<unsigned char>(member.name[*wrong]));
    return false;
  }
  if (names.insert(llvm::StringRef(member.name.data(), member.name.size())).second) return true;
  emitter.Emit(kArchiveDuplicate, ByteRange(file, member.name_offset, member.name.size()),
               "the archive holds `{}` twice", ShownText(member.name));
  return false;
}

}  // namespace

std::optional<std::vector<NamedTensor>> ReadNpz(const DataSource& source, Context& context,
                                                const NpzOptions& options) {
  const std::string name(context.sources.Name(source.file));
  ZipReader reader(source, options.max_bytes, context.emitter);
  const std::optional<std::vector<ZipMember>> members = reader.Members();
  if (!members) return std::nullopt;
  std::vector<NamedTensor> tensors;
  llvm::StringSet<> names;
  for (const ZipMember& member : *members) {
    if (!member.name.ends_with(kSuffix)) continue;
    if (!CheckName(member, names, source.file, context.emitter)) return std::nullopt;
    std::shared_ptr<const Buffer> bytes = reader.Read(member);
    if (bytes == nullptr) return std::nullopt;
    DataSource array{
        context.sources.AddOpaque(fmt::format("{}:{}", name, ShownText(member.name)), FileKind::kBinary),
        std::move(bytes)};
    std::optional<TensorValue> value = ReadNpy(array, context.emitter);
    if (!value) return std::nullopt;
    tensors.push_back(
        {std::string(member.name.substr(0, member.name.size() - kSuffix.size())), std::move(*value)});
  }
  return tensors;
}

ErrorOr<Success> WriteNpz(const std::string& path, std::span<const NamedTensor> tensors) {
  if (const std::optional<std::string> reason = FindUnwritable(tensors)) {
    return SystemError{fmt::format("cannot write `{}`: {}", path, *reason)};
  }
  auto file = OutputFile::Create(path);
  if (!file) return file.error();
  ZipWriter writer(std::move(*file));
  if (!writer.Open()) return writer.Failure();
  for (const NamedTensor& tensor : tensors) {
    if (!writer.Add(tensor)) return writer.Failure();
  }
  return writer.Commit();
}

}  // namespace nnefc::package
