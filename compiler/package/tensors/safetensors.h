#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "compiler/package/data_source.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/support/context.h"

namespace nnefc::package {

// A tensor of a safetensors file: eight bytes with the size of a JSON header, the header, then the items of
// all tensors, little-endian and without gaps. The header was checked against the file's size.
struct SafetensorsEntry {
  DatHeader header;  // `data_offset` is relative to the start of the file
  ElementType type = ElementType::kF32;
  uint64_t size = 0;  // size of its items in bytes
};

// The tensors of a file by name.
using SafetensorsIndex = std::map<std::string, SafetensorsEntry, std::less<>>;

// The maximum size of a header, in bytes.
inline constexpr uint64_t kLongestSafetensorsHeader = 8 + (uint64_t{16} << 20);
// Returns the bytes of size field and header, from the first eight bytes; at most kLongestSafetensorsHeader.
uint64_t SafetensorsHeaderSize(std::span<const std::byte> start);

// Reads the header of a file of `size` bytes. `start` has at least the header. Emits an error and returns
// nothing if it is corrupt.
[[nodiscard]] std::optional<SafetensorsIndex> ReadSafetensorsIndex(const DataSource& start, uint64_t size,
                                                                   Emitter& emitter);

// Reads the tensor of an entry: mapped, except for bfloat16 (converted to f32). Emits an error and returns
// nothing if an item is not a value of its type.
[[nodiscard]] std::optional<DatFile> ReadSafetensorsEntry(const DataSource& file,
                                                          const SafetensorsEntry& entry, Emitter& emitter);

}  // namespace nnefc::package
