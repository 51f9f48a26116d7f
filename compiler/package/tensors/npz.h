#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/package/tensors/npy.h"

namespace nnefc::package {

struct NpzOptions {
  // The limit on the unpacked size: --max-bytes.
  uint64_t max_bytes = uint64_t{16} << 30;
};

// Reads NumPy's archive of arrays: a zip file of `<name>.npy`, stored or deflated. Names are UTF-8 and
// otherwise unrestricted (`a/b`, `../a`, empty). Other members are ignored; duplicate names are an error.
[[nodiscard]] std::optional<std::vector<NamedTensor>> ReadNpz(const DataSource& source, Context& context,
                                                              const NpzOptions& options = {});

// Writes the tensors in order, stored and without timestamps, so that equal tensors produce equal files.
// Fails for names that could not be read back: invalid UTF-8, NUL, too long for a zip file, or duplicates.
ErrorOr<Success> WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace nnefc::package
