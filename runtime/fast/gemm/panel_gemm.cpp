// GEMM and GEMV with constant matrices in panels of 16 outputs.

#include "runtime/fast/gemm/panel_gemm.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "compiler/support/x86.h"

#if defined(NNEFC_X86)
#include <immintrin.h>
#endif

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::gemm {

namespace {

using RowPointers = const std::byte* const*;

// Number of independent partial sums per result, to have about eight additions in flight.
constexpr int ChainsFor(int sums) {
  return sums >= 8 ? 1 : sums >= 4 ? 2 : sums >= 2 ? 4 : 8;
}

// A range of terms for a range of rows.
struct PanelPass {
  RowPointers rows;  // all rows
  int64_t first_row;
  int64_t first, terms;
};

// A tile of rows and half panels with sums in registers, for 8-lane vectors. `kFused`: written with AVX2
// instructions, because compilers would reload weights for each row, slower than the multiplications.
template <bool kFused, int kRows, int kHalves>
struct TileOf8 {
  using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
  static constexpr int kChains = ChainsFor(kRows * kHalves);
  static constexpr int kTermUnroll = kChains > 4 ? kChains : 4;

  // Runs the half panels starting at `begin`, in consecutive panels.
  [[gnu::always_inline]] static void Run(const PanelPass& pass, const PanelSums* panels, int64_t begin) {
    Vector sums[kChains][kRows][kHalves] = {};
    const float* left[kRows];
    const float* weights[kHalves];
    for (int row = 0; row < kRows; ++row)
      left[row] = reinterpret_cast<const float*>(pass.rows[pass.first_row + row]) + pass.first;
    for (int i = 0; i < kHalves; ++i) {
      const PanelSums& to = panels[(begin + i) / 2];
      const int64_t column = ColumnOf(begin + i);
      weights[i] = reinterpret_cast<const float*>(to.panel) + pass.first * kPanelWidth + column;
      const float* const start = pass.first > 0 ? to.out : to.start;
      if (start == nullptr) continue;
      const int64_t stride = pass.first > 0 ? to.out_stride : to.start_stride;
      for (int row = 0; row < kRows; ++row)
        sums[0][row][i] = Load(start + (pass.first_row + row) * stride + column);
    }
    int64_t terms = pass.terms;
    for (; terms >= kTermUnroll; terms -= kTermUnroll) {
      for (const float*& row : left) simd::AddressFrom(row);
      for (const float*& half : weights) simd::AddressFrom(half);
#pragma GCC unroll 8
      for (int k = 0; k < kTermUnroll; ++k) AddTerm(left, weights, k, sums[k % kChains]);
      for (const float*& row : left) row += kTermUnroll;
      for (const float*& half : weights) half += kTermUnroll * kPanelWidth;
    }
    for (int64_t k = 0; k < terms; ++k) AddTerm(left, weights, k, sums[0]);
    for (int i = 0; i < kHalves; ++i) {
      const PanelSums& to = panels[(begin + i) / 2];
      float* const out = to.out + pass.first_row * to.out_stride + ColumnOf(begin + i);
      const int64_t stride = to.out_stride;
      for (int row = 0; row < kRows; ++row) {
        for (int chain = 1; chain < kChains; ++chain) sums[0][row][i] += sums[chain][row][i];
        *reinterpret_cast<Vector*>(out + row * stride) = sums[0][row][i];
      }
    }
  }

 private:
  static int64_t ColumnOf(int64_t half) { return half % 2 * (kPanelWidth / 2); }
  [[gnu::always_inline]] static const Vector& Load(const float* numbers) {
    return *reinterpret_cast<const Vector*>(numbers);
  }
  [[gnu::always_inline]] static void AddTerm(const float* const (&left)[kRows],
                                             const float* const (&weights)[kHalves], int64_t k,
                                             Vector (&sums)[kRows][kHalves]) {
    Vector factors[kHalves];
    for (int i = 0; i < kHalves; ++i) factors[i] = Load(weights[i] + k * kPanelWidth);
    for (int row = 0; row < kRows; ++row) {
// Clang accepts these registers only in functions with AVX enabled; it generates fused multiply-adds by
// itself.
#if defined(NNEFC_X86) && !defined(__clang__)
      if constexpr (kFused && kRows > 1) {
        Vector x;
        asm("vbroadcastss %1, %0" : "=x"(x) : "m"(left[row][k]));
        for (int i = 0; i < kHalves; ++i)
          asm("vfmadd231ps %2, %1, %0" : "+x"(sums[row][i]) : "x"(x), "x"(factors[i]));
        continue;
      }
#endif
      for (int i = 0; i < kHalves; ++i) sums[row][i] += left[row][k] * factors[i];
    }
  }
};

#if defined(NNEFC_X86)
#define NNEFC_TILE_OF_16 gnu::target(NNEFC_TARGET_AVX512 ",avx512bf16")

// The same for 16-lane vectors of f32 or bf16 pairs; bf16 instructions are used for the latter only.
template <bool kPairs, int kRows, int kPanels>
struct TileOf16 {
  static constexpr int kChains = ChainsFor(kRows * kPanels);

  // Runs `tiles` consecutive tiles. Sums stay in registers because compilers unroll inner loops before they
  // analyse array indices.
  [[NNEFC_TILE_OF_16]] static void Run(RowPointers rows, int64_t terms, const PanelSums* panels,
                                       int64_t tiles) {
    const int64_t count = kPairs ? (terms + 1) / 2 : terms;
    for (; tiles > 0; --tiles, panels += kPanels) {
      __m512 sums[kChains][kRows][kPanels];
      const std::byte* from[kPanels];
      for (int i = 0; i < kPanels; ++i) {
        from[i] = panels[i].panel;
        Start(panels[i], i, sums);
      }
      int64_t k = 0;
      for (; k + kChains <= count; k += kChains) {
        for (int chain = 0; chain < kChains; ++chain) AddTerm(rows, from, k + chain, sums[chain]);
      }
      if constexpr (kChains > 1) {
        for (; k < count; ++k) AddTerm(rows, from, k, sums[0]);
      }
      for (int i = 0; i < kPanels; ++i) Finish(panels[i], i, sums);
    }
  }

 private:
  [[NNEFC_TILE_OF_16, gnu::always_inline]] static inline void Start(const PanelSums& to, int i,
                                                                    __m512 (&sums)[kChains][kRows][kPanels]) {
    const float* start = to.start;
    const int64_t stride = to.start_stride;
    for (int row = 0; row < kRows; ++row) {
      for (int chain = 1; chain < kChains; ++chain) sums[chain][row][i] = _mm512_setzero_ps();
      sums[0][row][i] = start == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(start + row * stride);
    }
    if (!kPairs || to.bias == nullptr) return;
    const __m512 bias = _mm512_loadu_ps(to.bias);
    for (int row = 0; row < kRows; ++row) sums[0][row][i] = _mm512_add_ps(sums[0][row][i], bias);
  }
  [[NNEFC_TILE_OF_16, gnu::always_inline]] static inline void Finish(
      const PanelSums& to, int i, __m512 (&sums)[kChains][kRows][kPanels]) {
    float* out = to.out;
    const int64_t stride = to.out_stride;
    for (int row = 0; row < kRows; ++row) {
      for (int chain = 1; chain < kChains; ++chain)
        sums[0][row][i] = _mm512_add_ps(sums[0][row][i], sums[chain][row][i]);
    }
    if constexpr (kPairs) Limit(to.limits, i, sums[0]);
    for (int row = 0; row < kRows; ++row) _mm512_storeu_ps(out + row * stride, sums[0][row][i]);
  }
  // Both instructions return the second operand for NaN.
  [[NNEFC_TILE_OF_16, gnu::always_inline]] static inline void Limit(const simd::Limits& limits, int i,
                                                                    __m512 (&sums)[kRows][kPanels]) {
    if (limits.has_max) {
      const __m512 max = _mm512_set1_ps(limits.max);
      for (int row = 0; row < kRows; ++row) sums[row][i] = _mm512_min_ps(sums[row][i], max);
    }
    if (!limits.has_min) return;
    const __m512 min = _mm512_set1_ps(limits.min);
    for (int row = 0; row < kRows; ++row) sums[row][i] = _mm512_max_ps(sums[row][i], min);
  }
  [[NNEFC_TILE_OF_16, gnu::always_inline]] static inline void AddTerm(
      RowPointers rows, const std::byte* const (&panels)[kPanels], int64_t k,
      __m512 (&sums)[kRows][kPanels]) {
    // An f32 term and a bf16 pair have the same size.
    __m512 weights[kPanels];
    for (int i = 0; i < kPanels; ++i) weights[i] = _mm512_loadu_ps(panels[i] + k * int64_t{sizeof(__m512)});
    for (int row = 0; row < kRows; ++row) {
      __m512 factor = _mm512_set1_ps(reinterpret_cast<const float*>(rows[row])[k]);
#if defined(__clang__)
      // The optimizer of Clang 16 recurses endlessly when it estimates the cost of a broadcast bf16 pair.
      if constexpr (kPairs) asm("" : "+v"(factor));
#endif
      for (int i = 0; i < kPanels; ++i) {
        if constexpr (kPairs) {
          sums[row][i] = _mm512_dpbf16_ps(sums[row][i], (__m512bh)factor, (__m512bh)weights[i]);
        } else {
          sums[row][i] = _mm512_fmadd_ps(factor, weights[i], sums[row][i]);
        }
      }
    }
  }
};
#endif

// ---- tile selection ----

// Runs tiles of `kMax` panels, and the rest in one or two smaller tiles.
template <template <int, int> typename Tile, int kRows, int kMax>
[[gnu::always_inline]] inline void RunTiles(RowPointers rows, int64_t terms,
                                            llvm::ArrayRef<PanelSums> panels) {
  const auto count = static_cast<int64_t>(panels.size());
  int64_t tiles = count / kMax;
  // A single-panel tile is bound by loads.
  if (kMax == 3 && tiles > 0 && count % kMax == 1) --tiles;
  Tile<kRows, kMax>::Run(rows, terms, panels.data(), tiles);
  const PanelSums* next = panels.data() + tiles * kMax;
  const int64_t rest = count - tiles * kMax;
  if constexpr (kMax > 3) {
    if (rest == 3) return Tile<kRows, 3>::Run(rows, terms, next, 1);
  }
  if constexpr (kMax > 2) {
    if (rest >= 2) return Tile<kRows, 2>::Run(rows, terms, next, rest / 2);
  }
  if constexpr (kMax > 1) {
    if (rest == 1) return Tile<kRows, 1>::Run(rows, terms, next, 1);
  }
}

// Runs tiles of `kMax` half panels, and the rest in smaller tiles.
template <int kRows, int kMax>
void RunHalves(const PanelPass& pass, llvm::ArrayRef<PanelSums> panels) {
  const auto count = 2 * static_cast<int64_t>(panels.size());
  // A tile of a single half panel is bound by loads.
  const int64_t rest = count % kMax == 1 ? kMax + 1 : count % kMax;
  const auto run = [&](auto fused) __attribute__((always_inline)) {
    int64_t begin = 0;
    for (; begin + rest < count; begin += kMax)
      TileOf8<fused(), kRows, kMax>::Run(pass, panels.data(), begin);
    for (; begin < count; begin += 2) TileOf8<fused(), kRows, 2>::Run(pass, panels.data(), begin);
  };
#if defined(NNEFC_X86)
  if (simd::WidestVectorUnit() != simd::VectorUnit::kBaseline)
    return simd::RunInAvx2([&] { run(std::true_type()); });
#endif
  run(std::false_type());
}

// Indexed by rows - 1: these fit independent sums and operands into 16 registers.
using HalvesOfRows = void (*)(const PanelPass&, llvm::ArrayRef<PanelSums>);
constexpr HalvesOfRows kNarrowTiles[] = {RunHalves<1, 8>, RunHalves<2, 4>, RunHalves<3, 3>, RunHalves<4, 3>};
constexpr int64_t kNarrowRows = std::size(kNarrowTiles);

#if defined(NNEFC_X86)
template <int kRows, int kPanels>
using TileOfFloats = TileOf16<false, kRows, kPanels>;
template <int kRows, int kPanels>
using TileOfPairs = TileOf16<true, kRows, kPanels>;

using TilesOfRows = void (*)(RowPointers, int64_t, llvm::ArrayRef<PanelSums>);
// Indexed by rows - 1, for processors with 32 registers.
template <template <int, int> typename Tile>
constexpr TilesOfRows kWideTiles[kMaxPanelRows] = {
    RunTiles<Tile, 1, 4>, RunTiles<Tile, 2, 4>, RunTiles<Tile, 3, 4>, RunTiles<Tile, 4, 4>,
    RunTiles<Tile, 5, 3>, RunTiles<Tile, 6, 3>, RunTiles<Tile, 7, 3>, RunTiles<Tile, 8, 3>};
#endif

// Returns the format of a matrix [terms, outputs] in panels: one after the other, each with its terms in
// order, for bf16 in pairs.
memory::BlockedFormat PanelFormat(int64_t terms, int64_t outputs, memory::StorageType type) {
  constexpr int64_t kTermsTogether = 16, kPair = 2;
  const int64_t pair = type == memory::StorageType::kBf16 ? kPair : 1;
  memory::BlockedFormat format = memory::RowMajorFormat({terms, outputs}, type);
  format.padded_extents[0] = tensor::RoundUp(terms, kTermsTogether * pair);
  format.padded_extents[1] = tensor::RoundUp(outputs, kPanelWidth);
  format.num_blocks = pair == 1 ? 2 : 3;
  format.blocks[0] = {0, kTermsTogether};
  format.blocks[1] = {1, kPanelWidth};
  if (pair != 1) format.blocks[2] = {0, pair};
  format.strides[0] = kTermsTogether * pair * kPanelWidth;
  format.strides[1] = format.padded_extents[0] * kPanelWidth;
  return format;
}

}  // namespace

std::optional<PanelMatrix> PanelMatrix::Make(const kernels::ValueInfo& value, int64_t group,
                                             memory::StorageType type) {
  const Shape& shape = value.shape;
  if (value.constant == nullptr || !memory::IsDenseF32(value) || shape.size() < 2 || shape.size() > 3)
    return std::nullopt;
  const int64_t terms = shape.back();
  const int64_t groups = *Volume(shape) / (terms * group);
  const memory::BlockedFormat matrix = PanelFormat(terms, group, type);
  const int64_t panel_bytes = static_cast<int64_t>(matrix.byte_size()) / CountPanels(group);
  const memory::BlockedLayout::Form form = {.order = memory::SwappedOrder(3, 1, 2)};
  return PanelMatrix(std::make_shared<memory::BlockedLayout>(memory::StackedFormat(matrix, groups), form),
                     type, terms, group, panel_bytes);
}

void MultiplyByPanels(llvm::ArrayRef<const std::byte*> rows, memory::StorageType type, int64_t terms,
                      llvm::ArrayRef<PanelSums> panels) {
#if defined(NNEFC_X86)
  if (type == memory::StorageType::kBf16)
    return kWideTiles<TileOfPairs>[rows.size() - 1](rows.data(), terms, panels);
  if (simd::WidestVectorUnit() == simd::VectorUnit::kAvx512)
    return kWideTiles<TileOfFloats>[rows.size() - 1](rows.data(), terms, panels);
#endif
  MultiplyByPanelsAvx2(rows, terms, panels);
}

void MultiplyByPanelsAvx2(llvm::ArrayRef<const std::byte*> rows, int64_t terms,
                          llvm::ArrayRef<PanelSums> panels) {
  const auto count = static_cast<int64_t>(rows.size());
  if (count <= kNarrowRows) return kNarrowTiles[count - 1]({rows.data(), 0, 0, terms}, panels);
  // Processes panels and terms in blocks, loaded from an outer cache once: for half of the rows, then the
  // other half.
  constexpr size_t kPanelsOfPass = 3;
  constexpr int64_t kTermsOfPass = 256;
  const int64_t above = count / 2;
  while (!panels.empty()) {
    const llvm::ArrayRef<PanelSums> some = panels.take_front(kPanelsOfPass);
    panels = panels.drop_front(some.size());
    for (int64_t first = 0; first == 0 || first < terms; first += kTermsOfPass) {
      const int64_t together = std::min(kTermsOfPass, terms - first);
      kNarrowTiles[above - 1]({rows.data(), 0, first, together}, some);
      kNarrowTiles[count - above - 1]({rows.data(), above, first, together}, some);
    }
  }
}

#if defined(NNEFC_X86)
namespace {

[[NNEFC_TILE_OF_16]] int64_t RoundInVectors(const float* numbers, int64_t count, uint16_t* rounded) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256bh vector = _mm512_cvtneps_pbh(_mm512_loadu_ps(numbers + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rounded + i), (__m256i)vector);
  }
  return i;
}

[[NNEFC_TILE_OF_16]] void RoundBlocksInVectors(const float* numbers, int64_t stride, int64_t count,
                                               uint16_t* rounded, int64_t rounded_stride) {
  for (; count > 0; --count, numbers += stride, rounded += rounded_stride) {
    const __m256bh vector = _mm512_cvtneps_pbh(_mm512_loadu_ps(numbers));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rounded), (__m256i)vector);
  }
}

}  // namespace
#endif

void RoundToBf16(const float* numbers, int64_t count, uint16_t* rounded) {
  int64_t i = 0;
#if defined(NNEFC_X86)
  static const bool has_bf16 = HasBf16();
  if (has_bf16) i = RoundInVectors(numbers, count, rounded);
#endif
  for (; i < count; ++i) rounded[i] = FloatToBFloat(numbers[i]);
}

void RoundBlocksToBf16(const float* numbers, int64_t stride, int64_t count, uint16_t* rounded,
                       int64_t rounded_stride) {
#if defined(NNEFC_X86)
  static const bool has_bf16 = HasBf16();
  if (has_bf16) return RoundBlocksInVectors(numbers, stride, count, rounded, rounded_stride);
#endif
  for (; count > 0; --count, numbers += stride, rounded += rounded_stride) {
    for (int64_t i = 0; i < kPanelWidth; ++i) rounded[i] = FloatToBFloat(numbers[i]);
  }
}

}  // namespace nnefc::runtime::fast::gemm
