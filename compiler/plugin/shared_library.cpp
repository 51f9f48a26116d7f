// Loading of shared libraries, with the reasons of failures.

#include "compiler/plugin/shared_library.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "compiler/plugin/interface.h"

namespace nnefc::plugin {
namespace {

constexpr size_t kLongestInterface = 1024;

// Reads a structure of an ELF file at an offset; nothing past the end.
template <typename T>
std::optional<T> ReadAt(std::span<const std::byte> file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

// Returns the NUL-terminated text at an offset.
std::string_view TextAt(std::span<const std::byte> file, uint64_t offset, size_t most) {
  if (offset >= file.size()) return {};
  const size_t size = std::min<uint64_t>(most, file.size() - offset);
  const char* begin = reinterpret_cast<const char*>(file.data() + offset);
  return {begin, strnlen(begin, size)};
}

std::optional<Elf64_Shdr> FindSection(std::span<const std::byte> file, const Elf64_Ehdr& header,
                                      std::string_view name) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  const auto section = [&](uint64_t index) {
    return ReadAt<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const std::optional<Elf64_Shdr> names = section(header.e_shstrndx);
  if (!names) return std::nullopt;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::optional<Elf64_Shdr> candidate = section(i);
    if (!candidate) return std::nullopt;
    if (TextAt(file, names->sh_offset + candidate->sh_name, name.size() + 1) == name) return candidate;
  }
  return std::nullopt;
}

// Demangles a message, such as "undefined symbol: Name(int)".
std::string WithoutMangling(std::string text) {
  const size_t begin = text.find("_Z");
  if (begin == std::string::npos) return text;
  const size_t end = std::min(text.find_first_of(" ,)", begin), text.size());
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(text.substr(begin, end - begin).c_str(), nullptr, nullptr, &status), std::free);
  if (status == 0) text.replace(begin, end - begin, demangled.get());
  return text;
}

}  // namespace

ErrorOr<std::string, LoadError> ReadInterface(std::span<const std::byte> file) {
  const std::optional<Elf64_Ehdr> header = ReadAt<Elf64_Ehdr>(file, 0);
  const bool is_elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
  if (!is_elf || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_type != ET_DYN)
    return LoadError{"it is not a shared library"};
  const std::optional<Elf64_Shdr> section = FindSection(file, *header, NNEFC_INTERFACE_SECTION);
  if (!section)
    return LoadError{"it is a shared library without `NNEFC_EXTENSION`, which makes it a plug-in of nnefc"};
  return std::string(
      TextAt(file, section->sh_offset, std::min<uint64_t>(section->sh_size, kLongestInterface)));
}

ErrorOr<std::shared_ptr<const SharedLibrary>, LoadError> SharedLibrary::Load(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return std::shared_ptr<const SharedLibrary>(new SharedLibrary(handle));
  const char* error = ::dlerror();
  std::string message = error == nullptr ? "the system does not say why" : error;
  // The reporter adds the path.
  if (message.starts_with(path + ": ")) message.erase(0, path.size() + 2);
  return LoadError{WithoutMangling(std::move(message))};
}

SharedLibrary::~SharedLibrary() {
  ::dlclose(handle_);
}

void* SharedLibrary::Find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace nnefc::plugin
