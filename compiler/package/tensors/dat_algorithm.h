#pragma once

#include <optional>

#include "compiler/package/tensors/dat.h"

namespace nnefc::package {

// Parses the algorithm text of a provisional tensor file (P 5.2, 5.3), such as
// `linear_quantize(min = -1.0, max = 1.0, bits = 8)`. Arguments are named literals. Emits kDatAlgorithm at
// the offset in the file.
[[nodiscard]] std::optional<DatQuantization> ParseDatAlgorithm(const DatFile& dat, Emitter& emitter);

}  // namespace nnefc::package
