// Merging of convolution groups to larger, sparse ones.

#include "runtime/onednn/weighted/merged_groups.h"

#include <algorithm>
#include <utility>

#include "fmt/core.h"
#include "runtime/onednn/reorder.h"

namespace nnefc::runtime::onednn {

namespace {

class MergedFilterReorder final : public kernels::Kernel {
 public:
  MergedFilterReorder(llvm::ArrayRef<int64_t> filter, int64_t merged,
                      std::shared_ptr<const kernels::Kernel> to_order, size_t merged_bytes)
      : outputs_(filter[1]),
        inputs_(filter[2]),
        window_(Volume(filter.drop_front(3)).value_or(0)),
        merged_(merged),
        to_order_(std::move(to_order)),
        merged_bytes_(merged_bytes) {}

  std::string implementation() const override {
    return fmt::format("merged_groups:{}", to_order_->implementation());
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const std::shared_ptr<Buffer> whole = Buffer::Allocate(merged_bytes_);
    if (whole == nullptr) return kernels::OutOfMemory();
    auto* rows = reinterpret_cast<float*>(whole->mutable_data());
    std::fill_n(rows, merged_bytes_ / sizeof(float), 0.0f);
    // One row per output of each group, with all inputs of the merged group.
    const float* filter = run.input(0).data<float>();
    const int64_t taps = inputs_ * window_;
    for (int64_t row = 0; row < run.input(0).extent(0) * outputs_; ++row) {
      const int64_t place = row / outputs_ % merged_;  // index of the group within the merged one
      std::copy_n(filter + row * taps, taps, rows + (row * merged_ + place) * taps);
    }
    tensor::TensorView merged = run.input(0);
    merged.set_bytes(reinterpret_cast<const std::byte*>(rows));
    const tensor::TensorView* inputs[] = {&merged};
    return to_order_->Run({.inputs = inputs, .outputs = run.outputs});
  }

 private:
  int64_t outputs_, inputs_, window_;
  int64_t merged_;
  std::shared_ptr<const kernels::Kernel> to_order_;
  size_t merged_bytes_;
};

}  // namespace

int64_t GroupsToMerge(int64_t groups, int64_t inputs_of_group, int64_t outputs_of_group) {
  constexpr int64_t kTileInputs = 32, kTileOutputs = 16, kMax = 128;
  const int64_t width = std::min(inputs_of_group, outputs_of_group);
  if (groups == 1 || width == 1 || width >= kTileInputs) return 1;
  // Measured with widths of 4 to 16: full tiles are best, then full tile columns.
  for (int64_t wanted : {kTileInputs, kTileOutputs}) {
    if (wanted % width == 0 && groups % (wanted / width) == 0) return wanted / width;
  }
  for (int64_t merged = 2; merged <= groups && merged * width <= kMax; ++merged) {
    if (groups % merged == 0 && merged * width > kTileInputs) return merged;
  }
  return 1;
}

Shape MergedFilter(llvm::ArrayRef<int64_t> filter, int64_t merged) {
  Shape shape(filter.begin(), filter.end());
  shape[0] /= merged;
  shape[1] *= merged;
  shape[2] *= merged;
  if (shape[0] == 1) shape.erase(shape.begin());
  return shape;
}

std::shared_ptr<const kernels::Kernel> MakeMergedFilterReorder(llvm::ArrayRef<int64_t> filter, int64_t merged,
                                                               const fast::memory::BlockedFormat& target) {
  const fast::memory::BlockedFormat source = fast::memory::RowMajorFormat(MergedFilter(filter, merged));
  std::shared_ptr<const kernels::Kernel> to_order = MakePrimitiveReorder(source, target);
  if (to_order == nullptr) return nullptr;
  return std::make_shared<MergedFilterReorder>(filter, merged, std::move(to_order), source.byte_size());
}

}  // namespace nnefc::runtime::onednn
