#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "compiler/package/data_source.h"
#include "compiler/support/context.h"

namespace nnefc::package {

// A builder of byte strings with little-endian numbers.
class Bytes {
 public:
  template <typename T>
  Bytes& Add(std::type_identity_t<T> value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    text_.append(raw, sizeof(T));
    return *this;
  }
  Bytes& U8(uint8_t value) { return Add<uint8_t>(value); }
  Bytes& U16(uint16_t value) { return Add<uint16_t>(value); }
  Bytes& U32(uint32_t value) { return Add<uint32_t>(value); }
  Bytes& F32(float value) { return Add<float>(value); }
  Bytes& Text(std::string_view text) {
    text_ += text;
    return *this;
  }
  Bytes& PadTo(size_t size) {
    text_.resize(size);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A folder with the lifetime of the test.
class PackageTest : public testing::Test {
 protected:
  PackageTest() {
    std::string name = (std::filesystem::temp_directory_path() / "nnefc_package_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~PackageTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  std::string Write(std::string_view name, std::string_view content) const {
    std::filesystem::path path = Path(name);
    std::filesystem::create_directories(path.parent_path());
    // A new file: the old one may be mapped, and ext4 writes to disk when content is replaced.
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  static std::string Slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Returns the bytes as a file that messages call `x`.
  DataSource Source(std::string_view content, FileKind kind = FileKind::kBinary) {
    // The data end with the allocation, so that the address sanitizer detects reads past the end.
    auto buffer = Buffer::Allocate(content.size() / 64 * 64 + 63);
    size_t offset = buffer->size() - content.size();
    if (!content.empty()) std::memcpy(buffer->mutable_data() + offset, content.data(), content.size());
    auto bytes = Buffer::Slice(std::move(buffer), offset, content.size());
    return {context_.sources.AddOpaque("x", kind), std::move(bytes)};
  }
  // Returns the diagnostics since the last call of Messages().
  std::string ReportText() const {
    return RenderText(context_.emitter.diagnostics(), context_.sources, {.color = false, .excerpts = false});
  }
  // Returns the same diagnostics and removes them.
  std::string Messages() {
    std::string text = ReportText();
    context_.emitter.Clear();
    return text;
  }

  std::string folder_;
  Context context_;
};

}  // namespace nnefc::package
