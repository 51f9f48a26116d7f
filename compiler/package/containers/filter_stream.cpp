// Decompression by libarchive.

#include "compiler/package/containers/filter_stream.h"

#include "compiler/package/containers/libarchive.h"
#include "compiler/support/check.h"

namespace nnefc::package {

void SupportFilters(const ArchiveFunctions& functions, archive* handle) {
  functions.archive_read_support_filter_bzip2(handle);
  functions.archive_read_support_filter_compress(handle);
  functions.archive_read_support_filter_lz4(handle);
  functions.archive_read_support_filter_lzma(handle);
  functions.archive_read_support_filter_xz(handle);
  functions.archive_read_support_filter_zstd(handle);
}

bool IsLayered(const ArchiveFunctions& functions, archive* handle) {
  constexpr int kMaxFilters = 2;  // the compression and the plain stream
  return functions.archive_filter_count(handle) > kMaxFilters;
}

FilterStream::FilterStream(PackedBytes packed) : packed_(std::move(packed)) {}

FilterStream::~FilterStream() {
  if (archive_ != nullptr) functions_->archive_read_free(archive_);
}

ssize_t FilterStream::ReadPacked(archive*, void* self, const void** block) {
  const auto bytes = static_cast<FilterStream*>(self)->packed_.Next();
  *block = bytes.data();
  return static_cast<ssize_t>(bytes.size());
}

bool FilterStream::Open() {
  opened_ = true;
  const ErrorOr<const ArchiveFunctions*> functions = LoadArchiveFunctions();
  if (!functions) {
    reason_ = functions.error().message;
    return false;
  }
  functions_ = *functions;
  archive_ = functions_->archive_read_new();
  NNEFC_CHECK(archive_ != nullptr);
  functions_->archive_read_support_format_raw(archive_);
  SupportFilters(*functions_, archive_);
  if (functions_->archive_read_open(archive_, this, nullptr, ReadPacked, nullptr) != ARCHIVE_OK) return false;
  if (IsLayered(*functions_, archive_)) {
    reason_ = "it is compressed several times";
    return false;
  }
  archive_entry* entry = nullptr;
  return functions_->archive_read_next_header(archive_, &entry) == ARCHIVE_OK;
}

std::optional<std::span<const std::byte>> FilterStream::Next() {
  const void* block = nullptr;
  size_t size = 0;
  int64_t offset = 0;
  int status = error_.empty() && (opened_ || Open()) ? ARCHIVE_OK : ARCHIVE_FATAL;
  while (status == ARCHIVE_OK && size == 0)
    status = functions_->archive_read_data_block(archive_, &block, &size, &offset);
  if (status == ARCHIVE_EOF) return std::span<const std::byte>();
  if (status == ARCHIVE_OK) return std::span(static_cast<const std::byte*>(block), size);
  const char* reported = archive_ == nullptr ? nullptr : functions_->archive_error_string(archive_);
  if (reason_.empty() && reported != nullptr) reason_ = reported;
  if (reason_.empty()) reason_ = "it cannot be unpacked";
  error_ = reason_;
  return std::nullopt;
}

}  // namespace nnefc::package
