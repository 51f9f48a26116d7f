#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/package/tensors/dat.h"
#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {

// A tensor file of the ratified dialect.
struct Ratified {
  std::vector<uint32_t> extents = {};
  uint32_t bits = 32;
  uint32_t type = 0;
  std::string parameters = {};  // at 52
  std::string data = {};
  std::string stray = {};
  std::optional<uint32_t> length = {};
};

inline std::string Make(const Ratified& file) {
  Bytes bytes;
  bytes.U8(0x4e).U8(0xef).U8(1).U8(0).U32(file.length.value_or(static_cast<uint32_t>(file.data.size())));
  bytes.U32(static_cast<uint32_t>(file.extents.size()));
  for (uint32_t extent : file.extents) bytes.U32(extent);
  bytes.PadTo(44).U32(file.bits).U32(file.type).Text(file.parameters).PadTo(128);
  return bytes.Text(file.stray).Text(file.data).text();
}

// A tensor file of the provisional dialect.
struct Provisional {
  std::vector<uint32_t> extents = {};
  uint8_t type = 0;
  uint8_t bits = 32;
  std::string algorithm = {};
  std::string data = {};
};

inline std::string Make(const Provisional& file) {
  Bytes bytes;
  auto rank = static_cast<uint32_t>(file.extents.size());
  auto text = static_cast<uint16_t>(file.algorithm.size());
  bytes.U8(0x4e).U8(0xef).U8(1).U8(0).U32(16 + 4 * rank + text).U32(rank);
  for (uint32_t extent : file.extents) bytes.U32(extent);
  return bytes.U8(file.type).U8(file.bits).U16(text).Text(file.algorithm).Text(file.data).text();
}

template <typename T>
std::string Raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Reads tensor files and prints their decoded items.
class DatFixture : public PackageTest {
 protected:
  std::optional<DatFile> Read(const std::string& bytes) { return ReadDat(Source(bytes), context_.emitter); }
  std::string ReadFails(const std::string& bytes) {
    EXPECT_FALSE(Read(bytes).has_value());
    return Messages();
  }
  // The decoded items as text, or the messages.
  std::string Decoded(const std::string& bytes, ElementType type = ElementType::kF32,
                      const DatQuantization* quantization = nullptr) {
    auto dat = Read(bytes);
    if (!dat) return Messages();
    auto value = DecodeDat(*dat, type, context_.emitter, quantization);
    if (!value) return Messages();
    EXPECT_EQ(Messages(), "");
    EXPECT_EQ(value->type(), type);
    return Text(*value);
  }
  static std::string Text(const TensorValue& value) {
    std::string text = ToString(value.shape());
    for (int64_t i = 0; i < value.volume(); ++i) {
      text += value.type() == ElementType::kI64 ? fmt::format(" {}", value.ElementAsInt(i))
                                                : fmt::format(" {}", value.ElementAsDouble(i));
    }
    return text;
  }
};

}  // namespace nnefc::package
