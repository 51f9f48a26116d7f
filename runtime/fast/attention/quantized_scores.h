// Scores of queries and keys that are results of 8-bit quantizations, with VNNI. Sums of products are exact.
#pragma once

#include <cstdint>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/simd/gemm/attention_microkernel.h"

namespace nnefc::runtime::fast::attention {

// With queries of zero point z and keys of zero point y
//   sum((a - z) * (b - y)) = sum(a * (b - 128)) - z * sum(b - 128) + (128 - y) * sum(a - z).
// The last term is left out: it is equal for all keys of a query, and does not change the softmax.
class QuantizedScores {
 public:
  // Queries and keys have `width` elements.
  QuantizedScores(const ir::ops::QuantizedOperands& operands, int64_t width);

  // Return the bytes of packed keys and queries, multiples of 64.
  int64_t KeyBytes(int64_t keys) const;
  int64_t QueryBytes(int64_t queries) const;

  void PackKeys(const simd::StridedRows& keys, std::byte* to) const;
  void PackQueries(const simd::StridedRows& queries, std::byte* to) const;
  // Computes the scores of packed queries and keys, multiplied by `scale`, in blocks of keys.
  void Multiply(const std::byte* queries, int64_t rows, const std::byte* keys, int64_t count, float scale,
                const simd::BlockedMatrix<float>& scores) const;

 private:
  int64_t quads() const;
  int64_t row_bytes() const;
  int64_t tile_bytes() const;

  memory::ValueQuantization queries_, keys_;
  int64_t width_;
};

}  // namespace nnefc::runtime::fast::attention
