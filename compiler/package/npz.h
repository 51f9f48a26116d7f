#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/package/npy.h"

namespace nnefc {

struct NpzOptions {
  // Bound on the unpacked size: --max-bytes.
  uint64_t max_bytes = uint64_t{16} << 30;
};

// Reads NumPy's archive of arrays: a zip file of `<name>.npy`, stored or
// deflated. Other members are ignored; a name that is given twice is an error.
std::optional<std::vector<NamedTensor>> ReadNpz(const DataSource& source, Context& context,
                                                const NpzOptions& options = {});

// Writes the tensors in the order given, stored, without times, so that equal
// tensors make equal files.
ErrorOr<Success> WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace nnefc
