// The vector instruction sets for which the files of this folder are compiled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/support/x86.h"

namespace nnefc::runtime::fast::simd {

// The instruction sets that ONEDNN_MAX_CPU_ISA names, each with the earlier ones.
enum class InstructionLimit : uint8_t {
  kAvx,  // no vector kernels
  kAvx2,
  kAvx2Vnni,
  kAvx512,
  kAvx512Vnni,
  kAvx512Bf16,
  kAmx,  // no limit
};

// The block size: contiguous matrix columns or image channels.
inline constexpr int64_t kBlockColumns = 16;

// The properties of a vector instruction set, and the sizes of tiles and blocks of work that suit it.
struct InstructionSet {
  int64_t width;           // floats per vector; divides kBlockColumns
  int64_t tile_rows;       // rows (or pixels) per register tile with one or two column blocks
  InstructionLimit limit;  // the first limit that includes it
  // Whether the costs of implementations were measured with it. Another set is compiled and tested, but no
  // processor selects it.
  bool is_measured;
  // Matrix multiplication: the fewest rows per task, which amortise reading all weights; the number of terms
  // beyond which tasks have more rows and divide the terms; the number of terms per pass of a tile.
  int64_t gemm_min_rows, gemm_max_terms, gemm_pass_terms;
  // Direct convolution: the weights of a tile of outputs per pass, in floats.
  int64_t direct_pass_weights;
  // Winograd: the terms with filters transformed together, if the L2 cache is large.
  int64_t winograd_terms;

  // Column blocks of a register tile with all rows; smaller vectors compute two blocks in turn.
  constexpr int64_t blocks_per_tile() const {
    return 2 * width > kBlockColumns ? 2 * width / kBlockColumns : 1;
  }
};

namespace simd512 {
// AVX-512. Its tiles read weights from L2 at full speed, and from a remote cache once for all rows.
inline constexpr InstructionSet kInstructionSet{.width = 16,
                                                .tile_rows = 14,
                                                .limit = InstructionLimit::kAvx512,
                                                .is_measured = true,
                                                .gemm_min_rows = 28,
                                                .gemm_max_terms = 512,
                                                .gemm_pass_terms = int64_t{1} << 40,
                                                .direct_pass_weights = 65536,
                                                .winograd_terms = 256};
}  // namespace simd512

namespace simd256 {
// AVX2 with FMA. Its tiles keep sums in memory between passes, so that the weights of a pass stay in L1 for
// all rows.
inline constexpr InstructionSet kInstructionSet{.width = 8,
                                                .tile_rows = 6,
                                                .limit = InstructionLimit::kAvx2,
                                                .is_measured = true,
                                                .gemm_min_rows = 48,
                                                .gemm_max_terms = int64_t{1} << 40,
                                                .gemm_pass_terms = 128,
                                                .direct_pass_weights = 18432,
                                                .winograd_terms = 64};
}  // namespace simd256

namespace simd128 {
// Vectors of four floats as the compiler's vector extensions, for processors other than x86-64. The sizes are
// those of AVX2.
inline constexpr InstructionSet kInstructionSet{.width = 4,
                                                .tile_rows = 6,
                                                .limit = InstructionLimit::kAvx2,
                                                .is_measured = false,
                                                .gemm_min_rows = 48,
                                                .gemm_max_terms = int64_t{1} << 40,
                                                .gemm_pass_terms = 128,
                                                .direct_pass_weights = 18432,
                                                .winograd_terms = 64};
}  // namespace simd128

// Expands X(namespace, arguments) for each instruction set of this build, the widest vectors first.
// CMakeLists.txt compiles the files for the same ones.
#if defined(NNEFC_X86) && NNEFC_ONLY_SIMD_WIDTH == 16
#define NNEFC_EACH_INSTRUCTION_SET(X, ...) X(simd512 __VA_OPT__(, ) __VA_ARGS__)
#elif defined(NNEFC_X86) && NNEFC_ONLY_SIMD_WIDTH == 8
#define NNEFC_EACH_INSTRUCTION_SET(X, ...) X(simd256 __VA_OPT__(, ) __VA_ARGS__)
#elif defined(NNEFC_X86)
#define NNEFC_EACH_INSTRUCTION_SET(X, ...) \
  X(simd512 __VA_OPT__(, ) __VA_ARGS__) X(simd256 __VA_OPT__(, ) __VA_ARGS__)
#else
#define NNEFC_EACH_INSTRUCTION_SET(X, ...) X(simd128 __VA_OPT__(, ) __VA_ARGS__)
#endif

#define NNEFC_INSTRUCTION_SET_ELEMENT(set) set::kInstructionSet,
inline constexpr InstructionSet kInstructionSets[] = {
    NNEFC_EACH_INSTRUCTION_SET(NNEFC_INSTRUCTION_SET_ELEMENT)};
#undef NNEFC_INSTRUCTION_SET_ELEMENT
inline constexpr size_t kInstructionSetCount = sizeof(kInstructionSets) / sizeof(kInstructionSets[0]);
inline constexpr int64_t kMaxSimdWidth = kInstructionSets[0].width;

}  // namespace nnefc::runtime::fast::simd
