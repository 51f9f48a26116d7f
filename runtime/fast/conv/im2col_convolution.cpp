// Convolution as im2col and GEMM.

#include "runtime/fast/conv/im2col_convolution.h"

#include "runtime/fast/conv/direct_convolution.h"
#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/gemm/im2col.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/reasons.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;

namespace {

// Returns true for row lengths that fill narrow tiles badly: seven pixels make tiles of three or four.
bool FillsTilesBadly(int64_t columns) {
  constexpr int64_t kFewPixels = 4;
  return columns >= kFewPixels &&
         tensor::CeilDivide(columns, tensor::CeilDivide(columns, gemm::TilePixels())) <= kFewPixels;
}

gemm::Im2col PatchesOf(const kernels::KernelRequest& request, const kernels::Window& window) {
  return {request.inputs[0].shape[0], request.inputs[1].shape[1], window[1], window[2]};
}

}  // namespace

Reason Im2colApplies(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (filter.size() != 4) return Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 2);
  if (filter[0] < simd::kBlockColumns) return Reason("{} output channels, fewer than a block", filter[0]);
  if (filter[1] % simd::kBlockColumns != 0) return Reason("{} input channels, not whole blocks", filter[1]);
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  // For many or large images one copy per tap is too expensive.
  constexpr int64_t kMaxFloats = int64_t{4} << 20;
  const int64_t floats = PatchesOf(request, gemm::WindowOfConvolution(request)).floats();
  return floats > kMaxFloats ? Reason("a patch matrix of {} elements", floats) : Reason();
}

// Faster than direct convolution with AVX2, for single pixels and for rows that fill its tiles badly: seven
// or eight pixels leave a third of a tile empty (processor not recorded). The tiles of AVX-512 hold the
// pixels of two such rows.
kernels::Cost Im2colCost(const kernels::KernelRequest& request) {
  constexpr double kAsDirect = 1;  // but earlier in the table, and later than Winograd
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const kernels::WindowAxis &rows = window[1], &columns = window[2];
  if (simd::SimdWidth() != simd::kSimdWidth256)
    return kernels::Cost::NotByDefault(Reason("not faster with AVX-512"));
  const bool is_pixel =
      rows.size * columns.size == 1 && rows.before + rows.after + columns.before + columns.after == 0;
  if (is_pixel || FillsTilesBadly(columns.output)) return {kAsDirect};
  return kernels::Cost::NotByDefault(
      Reason("rows of {} pixels fill the tiles of direct convolution", columns.output));
}

kernels::KernelOrReason MakeIm2colConvolution(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const gemm::Im2col patches = PatchesOf(request, gemm::WindowOfConvolution(request));
  const gemm::GemmSizes sizes{.images = request.inputs[0].shape[0],
                              .rows = patches.pixels(),
                              .terms = patches.terms(),
                              .outputs = filter[0],
                              .is_blocked = true,
                              .inputs_first = false};
  return gemm::MakeGemm(request, sizes, {.windows = patches, .filter = BlockedFilterLayout(filter)},
                        request.posts);
}

}  // namespace nnefc::runtime::fast::conv
