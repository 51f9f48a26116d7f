#include "runtime/fast/conv/im2col_convolution.h"

#include "runtime/fast/algorithms.h"
#include "runtime/fast/conv/direct_convolution.h"
#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/gemm/im2col.h"
#include "runtime/fast/gemm/tiling.h"

namespace nnefc::runtime {

namespace {

// Returns true for row lengths that fill narrow tiles badly: seven pixels make tiles of three or four.
bool FillsTilesBadly(int64_t columns) {
  constexpr int64_t kFewPixels = 4;
  return columns >= kFewPixels && CeilDivide(columns, CeilDivide(columns, TilePixels())) <= kFewPixels;
}

}  // namespace

std::optional<PreparedKernel> MakeIm2colConvolution(const KernelRequest& request) {
  if (!request.way.empty() && request.way != kIm2col) return std::nullopt;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (filter.size() != 4 || filter[0] < kBlockColumns || filter[1] % kBlockColumns != 0 ||
      request.inputs[1].constant == nullptr)
    return std::nullopt;
  const Window window = WindowOfConvolution(request);
  const WindowAxis &rows = window[1], &columns = window[2];
  const bool is_pixel =
      rows.size * columns.size == 1 && rows.before + rows.after + columns.before + columns.after == 0;
  // Wide tiles hold the pixels of two such rows.
  const bool is_worth = SimdWidth() == kSimdWidth256 && (is_pixel || FillsTilesBadly(columns.output));
  if (request.way.empty() && !is_worth) return std::nullopt;
  const Im2col windows(input[0], filter[1], rows, columns);
  // For many or large images one copy per tap is too expensive.
  constexpr int64_t kMaxFloats = int64_t{4} << 20;
  if (windows.floats() > kMaxFloats) return std::nullopt;
  const GemmSizes sizes{.images = input[0],
                        .rows = windows.pixels(),
                        .terms = windows.terms(),
                        .outputs = filter[0],
                        .is_blocked = true,
                        .inputs_first = false};
  KernelRequest product = request;
  product.way = {};
  return MakeGemm(product, sizes, {.windows = windows, .filter = BlockedFilterLayout(filter)}, request.posts);
}

}  // namespace nnefc::runtime
