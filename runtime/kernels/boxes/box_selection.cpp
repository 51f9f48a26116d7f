// NonMaxSuppression.

#include <algorithm>

#include "compiler/ir/ops/opset/boxes/box_selection.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

void StoreIndices(const tensor::MutableTensorView& output, int64_t at, llvm::ArrayRef<int64_t> values) {
  for (int64_t value : values) {
    if (output.type() == ElementType::kI32) {
      output.mutable_data<int32_t>()[at++] = static_cast<int32_t>(value);
    } else {
      output.mutable_data<int64_t>()[at++] = value;
    }
  }
}

// Outputs: rows [batch, class, box], the same with the score, and their number.
FaultOr<Success> NonMaxSuppression(const ReferenceRun& run) {
  const auto scalar = [&](size_t i) {
    return i < run.num_inputs() ? tensor::ElementsAsDoubles(run.input(i)) : llvm::SmallVector<double, 8>{0};
  };
  for (size_t i = 2; i < run.num_inputs(); ++i) {
    if (run.input(i).volume() != 1)
      return KernelFault("input {} has {} elements; expected 1", i, run.input(i).volume());
  }
  const llvm::SmallVector<double, 8> boxes = tensor::ElementsAsDoubles(run.input(0));
  const llvm::SmallVector<double, 8> scores = tensor::ElementsAsDoubles(run.input(1));
  const std::optional<std::vector<ir::ops::opset::SelectedBox>> found = ir::ops::opset::SelectBoxes(
      {.boxes = {boxes.begin(), boxes.end()},
       .scores = {scores.begin(), scores.end()},
       .batches = run.input(1).extent(0),
       .classes = run.input(1).extent(1),
       .count = run.input(1).extent(2),
       .most_per_class = static_cast<int64_t>(std::clamp(scalar(2)[0], 0.0, 1e15)),
       .iou_threshold = scalar(3)[0],
       .score_threshold = scalar(4)[0],
       .sigma = scalar(5)[0],
       .is_center = run.node.String("box_encoding") == "center",
       .sorted = run.node.Bool("sort_result_descending")});
  if (!found) return KernelFault("too many boxes compete");
  const std::vector<ir::ops::opset::SelectedBox>& selected = *found;
  const auto count = static_cast<int64_t>(selected.size());
  if (run.output(0).extent(0) != count)
    return KernelFault("{} boxes remain; expected {}", count, run.output(0).extent(0));
  for (int64_t i = 0; i < count; ++i) {
    const ir::ops::opset::SelectedBox& box = selected[static_cast<size_t>(i)];
    StoreIndices(run.output(0), i * 3, {box.batch, box.category, box.box});
    if (run.num_outputs() < 2) continue;
    float* row = run.output(1).mutable_data<float>() + i * 3;
    row[0] = static_cast<float>(box.batch);
    row[1] = static_cast<float>(box.category);
    row[2] = box.score;
  }
  if (run.num_outputs() > 2) StoreIndices(run.output(2), 0, {count});
  return Success();
}

}  // namespace

void RegisterBoxSelection(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset3", "opset4", "opset5", "opset9"}, "NonMaxSuppression",
                        NonMaxSuppression);
}

}  // namespace nnefc::runtime::kernels
