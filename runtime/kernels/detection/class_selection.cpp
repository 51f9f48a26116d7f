// MatrixNms and MulticlassNms.

#include "compiler/ir/ops/opset/detection/class_selection.h"

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/detection/floats.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::detection {

namespace {

void StoreIndex(const tensor::MutableTensorView& output, int64_t at, int64_t value) {
  if (output.type() == ElementType::kI32) {
    output.mutable_data<int32_t>()[at] = static_cast<int32_t>(value);
  } else {
    output.mutable_data<int64_t>()[at] = value;
  }
}

FaultOr<Success> ClassSelection(const ReferenceRun& run) {
  const tensor::TensorView& scores = run.input(1);
  ir::ops::opset::detection::ClassifiedBoxes given{.boxes = Floats(run.input(0)),
                                                   .scores = Floats(scores),
                                                   .classes = scores.extent(scores.rank() - 2),
                                                   .count = scores.extent(scores.rank() - 1),
                                                   .images = scores.extent(0)};
  if (run.num_inputs() > 2) {
    const auto counts = tensor::ElementsAsInts(run.input(2));
    given.boxes_per_image.emplace(counts.begin(), counts.end());
    given.images = static_cast<int64_t>(counts.size());
  }
  const std::optional<ir::ops::opset::detection::ClassSelection> selection =
      ir::ops::opset::detection::SelectByClass(run.node, given);
  if (!selection) return KernelFault("too many boxes compete, or `roisnum` names more than there are");
  const auto count = static_cast<int64_t>(selection->boxes.size());
  if (run.output().extent(0) != count)
    return KernelFault("{} boxes remain; expected {}", count, run.output().extent(0));
  const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
    T* out = run.output().mutable_data<T>();
    for (const ir::ops::opset::detection::ClassifiedBox& box : selection->boxes) {
      *out++ = T(static_cast<ComputeType<T>>(box.category));
      *out++ = T(static_cast<ComputeType<T>>(box.score));
      for (float corner : box.corners) *out++ = T(static_cast<ComputeType<T>>(corner));
    }
  });
  if (!known) return UnsupportedType(run);
  if (run.num_outputs() > 1) {
    for (int64_t i = 0; i < count; ++i)
      StoreIndex(run.output(1), i, selection->boxes[static_cast<size_t>(i)].index);
  }
  if (run.num_outputs() > 2) {
    for (size_t i = 0; i < selection->per_image.size(); ++i)
      StoreIndex(run.output(2), static_cast<int64_t>(i), selection->per_image[i]);
  }
  return Success();
}

}  // namespace

void RegisterClassSelection(KernelRegistry& registry) {
  registry.AddReference({"opset8"}, "MatrixNms", ClassSelection);
  registry.AddReference({"opset8", "opset9"}, "MulticlassNms", ClassSelection);
}

}  // namespace nnefc::runtime::kernels::detection
