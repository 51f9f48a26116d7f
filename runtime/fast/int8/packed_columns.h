// Columns of quantized values packed for VNNI: groups of four terms by column, as s8, the values minus 128.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

// The maximum rows of a panel that a microkernel multiplies at once.
inline constexpr int64_t kMaxPanelRows = 14;
static_assert(std::all_of(std::begin(simd::kInstructionSets), std::end(simd::kInstructionSets),
                          [](const simd::InstructionSet& set) { return set.tile_rows <= kMaxPanelRows; }));

// Returns the bytes of a packed tile of kBlockColumns columns.
inline int64_t PackedTileBytes(int64_t terms) {
  return tensor::CeilDivide(terms, simd::kQuad) * simd::kQuadWeights;
}

// Packs up to kBlockColumns columns that are stored as rows of terms. The rest of the tile becomes 0.
void PackStoredColumns(const uint8_t* from, int64_t columns, int64_t terms, int8_t* out);
// The same for a row-major matrix.
void PackStoredRows(const uint8_t* from, int64_t stride, int64_t columns, int64_t terms, int8_t* out);

// Finds the initial accumulators of a packed tile: the negated sum of each column times the zero point of the
// other operand.
void FindColumnStarts(const int8_t* packed, int64_t terms, int zero, int32_t* starts);

}  // namespace nnefc::runtime::fast::int8
