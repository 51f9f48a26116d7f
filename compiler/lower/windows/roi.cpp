// Lowerings of NNEF's operations on regions of interest to OpenVINO operations.

#include <algorithm>

#include "compiler/ir/wording.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/pooling.h"

namespace nnefc::lower {

namespace {

// avg_roi_align and max_roi_align (R 4.6.2): resampling, then pooling of blocks. Resampling has no OpenVINO
// form and remains an operation of the set nnef.
template <bool kAverages>
void LowerRoiAlign(NodeLowering& n) {
  constexpr int64_t kLargest = 1 << 20;
  std::vector<int64_t> size = n.Ints("output_size");
  const std::vector<int64_t> rate = n.Ints("sampling_rate");
  const auto is_modest = [](int64_t item) { return item <= kLargest; };
  if (!std::all_of(size.begin(), size.end(), is_modest) ||
      !std::all_of(rate.begin(), rate.end(), is_modest)) {
    n.Error(kWindowTooLarge, "`output_size` or `sampling_rate` of `{}` has an item above 2^20",
            ir::OperationName(n.node()));
    return;
  }
  for (size_t i = 0; i < size.size(); ++i) size[i] *= rate[i];
  const OutputPort resampled =
      n.Add(ir::kNnefSet, "roi_resample", {n.input(0), n.input(1), n.input(2)},
            Attributes({{"output_size", size}, {"method", n.String("resize_method")}}), "resampled");
  const Window window = BlockWindow(rate, static_cast<size_t>(n.input_rank(0)));
  const PartialShape shape = n.Shape(resampled, n.input_rank(0));
  n.SetOutput(kAverages ? Box(n, resampled, shape, n.output_shape(), window, true)
                        : MaxPool(n, resampled, shape, n.output_shape(), window, false));
}

}  // namespace

// avg_roi_pool, max_roi_pool and roi_resample have no OpenVINO form. ROIPooling has other rules for rounding
// and bins; ROIAlign interpolates across the edge of a region, but NNEF crops first.
void RegisterRoi(LoweringTable& table) {
  table["avg_roi_align"] = LowerRoiAlign<true>;
  table["max_roi_align"] = LowerRoiAlign<false>;
}

}  // namespace nnefc::lower
