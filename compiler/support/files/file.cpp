// Files mapped into memory, and output files that appear only when complete.

#include "compiler/support/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "compiler/support/files/temporary_files.h"
#include "fmt/core.h"

namespace nnefc {

std::string SystemErrorText(int error_number) {
  std::string text = std::strerror(error_number);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

FileIdentity IdentityOf(const struct stat& status) {
  constexpr int64_t kSecond = 1'000'000'000;
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<uint64_t>(status.st_size),
          .modified = status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec,
          .changed = status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec};
}

ErrorOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError{fmt::format("cannot open `{}`: {}", path, SystemErrorText(errno))};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return SystemError{fmt::format("cannot read `{}`: not a regular file", path)};
  }
  auto size = static_cast<size_t>(status.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      int error_number = errno;
      ::close(descriptor);
      return SystemError{fmt::format("cannot map `{}`: {}", path, SystemErrorText(error_number))};
    }
  }
  ::close(descriptor);
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte*>(data), size, path, IdentityOf(status)));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::Release(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  // A failure costs only memory.
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

ErrorOr<OutputFile> OutputFile::Create(const std::string& path) {
  auto fail = [&] { return SystemError{fmt::format("cannot write `{}`: {}", path, SystemErrorText(errno))}; };
  // Follow links, and preserve the permissions of a replaced file. Files that are not regular (`/dev/null`, a
  // pipe) are written directly, without a temporary file.
  struct stat status {};
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return fail();
    return OutputFile(path, "", descriptor);
  }
  std::string target = path;
  if (exists) {
    std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    if (real == nullptr && errno != ENOENT) return fail();
    if (real != nullptr) target = real.get();
    exists = real != nullptr;  // another process may have removed it meanwhile
  }
  std::string temporary = target + ".XXXXXX";
  const auto hold = HoldTemporaryFiles();
  int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return fail();
  AddTemporaryFile(temporary);
  // mkostemp creates a private file; set the mode that open() would use.
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 07777 : 0666 & ~mask);
  return OutputFile(std::move(target), std::move(temporary), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  ForgetTemporaryFile(temporary_);
}

ErrorOr<Success> OutputFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError{fmt::format("cannot write `{}`: {}", path_, SystemErrorText(errno))};
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Success{};
}

ErrorOr<Success> OutputFile::Write(std::string_view text) {
  return Write(std::as_bytes(std::span(text.data(), text.size())));
}

ErrorOr<Success> OutputFile::Commit() {
  int descriptor = descriptor_;
  descriptor_ = -1;
  const bool direct = temporary_.empty();
  const auto hold = HoldTemporaryFiles();
  if (!direct) ForgetTemporaryFile(temporary_);
  if (::close(descriptor) != 0 || (!direct && ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    int error_number = errno;
    if (!direct) ::unlink(temporary_.c_str());
    return SystemError{fmt::format("cannot write `{}`: {}", path_, SystemErrorText(error_number))};
  }
  return Success{};
}

ErrorOr<Success> WriteFile(const std::string& path, std::string_view content) {
  auto file = OutputFile::Create(path);
  if (!file) return file.error();
  if (auto written = file->Write(content); !written) return written;
  return file->Commit();
}

}  // namespace nnefc
