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
// deflated. Names are UTF-8 and otherwise free (`a/b`, `../a`, none at all). Other members are ignored; a
// name that is given twice is an error.
[[nodiscard]] std::optional<std::vector<NamedTensor>> ReadNpz(const DataSource& source, Context& context,
                                                              const NpzOptions& options = {});

// Writes the tensors in the order given, stored, without times, so that equal
// tensors make equal files. Fails for names that would not be read again: such as
// are not UTF-8, hold a NUL, are longer than a zip file can say or are given twice.
ErrorOr<Success> WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace nnefc
