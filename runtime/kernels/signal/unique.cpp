// Unique.

#include "compiler/ir/ops/opset/signal/unique.h"

#include <cstring>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels::signal {

namespace {

void StoreIndices(const tensor::MutableTensorView& output, llvm::ArrayRef<int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (output.type() == ElementType::kI32) {
      output.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    } else {
      output.mutable_data<int64_t>()[i] = values[i];
    }
  }
}

// Copies the first occurrence of each distinct slice along the axis, or of each element without an axis.
void CopyFirst(const tensor::TensorView& data, std::optional<int64_t> axis,
               const ir::ops::opset::signal::UniqueItems& items, const tensor::MutableTensorView& output) {
  const llvm::ArrayRef<int64_t> shape = data.shape();
  const auto at = static_cast<size_t>(axis.value_or(0));
  const int64_t outer = axis ? VolumeOf(shape.take_front(at)) : 1;
  const int64_t inner = axis ? VolumeOf(shape.drop_front(at + 1)) : 1;
  const int64_t extent = axis ? shape[at] : data.volume();
  const auto count = static_cast<int64_t>(items.first.size());
  const size_t bytes = static_cast<size_t>(inner) * data.element_bytes();
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t from = i * extent + items.first[static_cast<size_t>(k)];
      std::memcpy(output.mutable_bytes() + static_cast<size_t>(i * count + k) * bytes,
                  data.bytes() + static_cast<size_t>(from) * bytes, bytes);
    }
  }
}

FaultOr<Success> Unique(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  std::optional<int64_t> axis;
  if (run.num_inputs() > 1) {
    const FaultOr<size_t> given = AxisOf(run.input(1), data.rank());
    if (!given) return given.error();
    axis = static_cast<int64_t>(*given);
  }
  const std::optional<ir::ops::opset::signal::UniqueItems> items = ir::ops::opset::signal::FindUnique(
      data.type(), data.shape(), data.bytes(), axis, run.node.Bool("sorted"));
  if (!items) return UnsupportedType(run);
  const auto count = static_cast<int64_t>(items->first.size());
  const int64_t expected = axis ? run.output().extent(*axis) : run.output().volume();
  if (count != expected) return KernelFault("{} items are distinct; expected {}", count, expected);
  CopyFirst(data, axis, *items, run.output());
  if (run.num_outputs() > 1) StoreIndices(run.output(1), items->first);
  if (run.num_outputs() > 2) StoreIndices(run.output(2), items->inverse);
  if (run.num_outputs() > 3) StoreIndices(run.output(3), items->counts);
  return Success();
}

}  // namespace

void RegisterUnique(KernelRegistry& registry) {
  registry.AddReference({"opset10"}, "Unique", Unique);
}

}  // namespace nnefc::runtime::kernels::signal
