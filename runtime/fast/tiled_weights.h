#pragma once

#include "runtime/tensor/layout.h"

namespace nnefc::runtime {

// A constant matrix as tiles of registers (product_tile.h) take it: [outputs / 32][terms][32], with zeros
// behind the last output. It lies as [terms, outputs] where `inputs_first`, otherwise as [outputs, terms],
// which a filter of [outputs, inputs, taps..] is, too.
Layout TiledWeights(int64_t terms, int64_t outputs, bool inputs_first);

}  // namespace nnefc::runtime
