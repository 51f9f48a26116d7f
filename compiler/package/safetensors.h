#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "compiler/package/dat.h"
#include "compiler/package/data_source.h"
#include "compiler/support/context.h"

namespace nnefc {

// A tensor of a file in the format of safetensors: eight bytes, the size of a
// header in JSON, the header, then the items of all tensors, little-endian and
// without gaps. What the header says was checked against the file's size.
struct SafetensorsEntry {
  DatHeader header;  // `data_offset` counts from the beginning of the file
  ElementType type = ElementType::kF32;
  uint64_t size = 0;  // bytes of its items
};

// The tensors of a file by name.
using SafetensorsIndex = std::map<std::string, SafetensorsEntry, std::less<>>;

// No header takes more bytes.
inline constexpr uint64_t kLongestSafetensorsHeader = 8 + (uint64_t{16} << 20);
// How many bytes size and header take, told by the first eight; less where that
// is more than kLongestSafetensorsHeader.
uint64_t SafetensorsHeaderSize(std::span<const std::byte> start);

// Reads the header of a file of `size` bytes, of which `start` holds those of the
// header at least. Nothing if it is damaged, which was emitted.
[[nodiscard]] std::optional<SafetensorsIndex> ReadSafetensorsIndex(const DataSource& start, uint64_t size,
                                                                   Emitter& emitter);

// A tensor of a file that the entry is of: mapped, but for bfloat16, which is
// read as f32. Nothing if an item is no value of its type, which was emitted.
[[nodiscard]] std::optional<DatFile> ReadSafetensorsEntry(const DataSource& file,
                                                          const SafetensorsEntry& entry, Emitter& emitter);

}  // namespace nnefc
