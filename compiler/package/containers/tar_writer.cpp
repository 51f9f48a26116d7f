// The writer of reproducible tar archives.

#include "compiler/package/containers/tar_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "compiler/support/files/file.h"
#include "fmt/format.h"

namespace nnefc::package {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 512;

// The output of an archive, compressed or not.
class ArchiveOutput {
 public:
  ArchiveOutput(OutputFile file, bool compresses) : file_(std::move(file)), compresses_(compresses) {
    constexpr int kGzipWindow = 15 + 16;
    // Weights hardly compress, so that a higher level would only take longer.
    if (compresses_)
      NNEFC_CHECK(::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) ==
                  Z_OK);
  }
  ~ArchiveOutput() {
    if (compresses_) ::deflateEnd(&stream_);
  }
  ArchiveOutput(const ArchiveOutput&) = delete;
  ArchiveOutput& operator=(const ArchiveOutput&) = delete;

  ErrorOr<Success> Write(std::span<const std::byte> bytes) {
    return compresses_ ? Deflate(bytes, Z_NO_FLUSH) : file_.Write(bytes);
  }
  ErrorOr<Success> Commit() {
    if (compresses_) {
      if (auto written = Deflate({}, Z_FINISH); !written) return written;
    }
    return file_.Commit();
  }

 private:
  ErrorOr<Success> Deflate(std::span<const std::byte> bytes, int flush) {
    // zlib counts the input in 32 bits.
    constexpr size_t kMaxPart = size_t{1} << 30;
    do {
      const auto part = bytes.first(std::min(bytes.size(), kMaxPart));
      bytes = bytes.subspan(part.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
        stream_.avail_out = static_cast<uInt>(out_.size());
        NNEFC_CHECK(::deflate(&stream_, flush) != Z_STREAM_ERROR);
        const size_t size = out_.size() - stream_.avail_out;
        if (auto written = file_.Write(std::span<const std::byte>(out_).first(size)); !written)
          return written;
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return Success{};
  }

  OutputFile file_;
  bool compresses_;
  z_stream stream_{};
  std::array<std::byte, size_t{64} << 10> out_{};
};

// Writes `value` in octal digits, or in base 256 if the field is too short.
void SetNumber(std::span<char> field, uint64_t value) {
  const std::string digits = fmt::format("{:0{}o}", value, field.size() - 1);
  if (digits.size() < field.size()) {
    std::copy(digits.begin(), digits.end(), field.begin());
    return;
  }
  field[0] = static_cast<char>(0x80);
  for (size_t i = field.size(); i-- > 1; value >>= 8) field[i] = static_cast<char>(value & 0xff);
}

// Returns the header of a regular file in the format ustar; nothing if its name is too long.
std::optional<std::array<char, kBlock>> TarHeader(const std::string& name, uint64_t size) {
  std::array<char, kBlock> header{};
  const auto field = [&](size_t begin, size_t length) { return std::span(header).subspan(begin, length); };
  constexpr size_t kNameSize = 100, kPrefixSize = 155;
  size_t split = 0;
  if (name.size() > kNameSize) {
    split = name.find('/', name.size() - kNameSize - 1);
    if (split > kPrefixSize) return std::nullopt;  // too long, or npos: there is no slash
    std::copy_n(name.begin(), split, field(345, kPrefixSize).begin());
    ++split;
  }
  std::copy(name.begin() + static_cast<std::ptrdiff_t>(split), name.end(), field(0, kNameSize).begin());
  SetNumber(field(100, 8), 0644);
  SetNumber(field(108, 8), 0);
  SetNumber(field(116, 8), 0);
  SetNumber(field(124, 12), size);
  SetNumber(field(136, 12), 0);
  header[156] = '0';
  constexpr std::string_view kMagic("ustar\00000", 8);
  std::copy(kMagic.begin(), kMagic.end(), field(257, 8).begin());
  // The checksum counts its own field as spaces.
  std::fill_n(field(148, 8).begin(), 8, ' ');
  unsigned sum = 0;
  for (char byte : header) sum += static_cast<unsigned char>(byte);
  SetNumber(field(148, 7), sum);
  header[154] = '\0';
  return header;
}

ErrorOr<Success> AddFile(ArchiveOutput& output, const std::string& path, const std::string& name) {
  const auto file = MappedFile::Open(path);
  if (!file) return file.error();
  const size_t size = (*file)->size();
  const auto header = TarHeader(name, size);
  if (!header)
    return SystemError{fmt::format("cannot write `{}`: its name is too long for an archive", name)};
  if (auto written = output.Write(std::as_bytes(std::span(*header))); !written) return written;
  if (auto written = output.Write((*file)->bytes()); !written) return written;
  static constexpr std::array<std::byte, kBlock> kZeros{};
  return output.Write(std::span(kZeros).first((kBlock - size % kBlock) % kBlock));
}

}  // namespace

bool IsArchiveName(const std::string& path) {
  return path.ends_with(".tar") || path.ends_with(".tgz") || path.ends_with(".tar.gz");
}

ErrorOr<Success> WriteArchive(const std::string& folder, const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file()) names.push_back(fs::relative(it->path(), folder).generic_string());
  }
  if (error) return SystemError{fmt::format("cannot read `{}`: {}", folder, error.message())};
  std::sort(names.begin(), names.end());
  ErrorOr<OutputFile> file = OutputFile::Create(path);
  if (!file) return file.error();
  ArchiveOutput output(std::move(*file), !path.ends_with(".tar"));
  for (const std::string& name : names) {
    if (auto added = AddFile(output, fmt::format("{}/{}", folder, name), name); !added) return added;
  }
  static constexpr std::array<std::byte, 2 * kBlock> kEnd{};
  if (auto written = output.Write(kEnd); !written) return written;
  return output.Commit();
}

}  // namespace nnefc::package
