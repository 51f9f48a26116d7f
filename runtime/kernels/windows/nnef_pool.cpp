// NNEF's argmax_pool and max_pool_with_index (R 4.3.3, 4.9.3) for windows with more dimensions than
// OpenVINO's pooling operations support.

#include <limits>

#include "compiler/ir/ops/windows/sliding_window.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/nnef_window.h"

namespace nnefc::runtime::kernels {

namespace {

// Converts a row-major index in the window to the index in a window of size `index_size`.
int64_t IndexOf(int64_t place, const NnefWindow& pool, llvm::ArrayRef<int64_t> index_size) {
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t axis = pool.size.size(); axis-- > 0;) {
    index += place % pool.size[axis] * stride;
    place /= pool.size[axis];
    stride *= index_size[axis];
  }
  return index;
}

template <typename T>
struct WindowMaximum {
  T value = T(-std::numeric_limits<ComputeType<T>>::infinity());
  int64_t place = -1;  // row-major index in the window
};

// Returns the first maximum under the window at output element `index`. NaN is skipped. If nothing is greater
// than negative infinity, the index is that of the first element.
template <typename T>
WindowMaximum<T> LargestUnderWindow(const tensor::TensorView& input, llvm::ArrayRef<int64_t> output,
                                    const NnefWindow& pool, int64_t index) {
  const size_t rank = output.size();
  llvm::SmallVector<int64_t, 6> start(rank);
  for (size_t axis = rank; axis-- > 0;) {
    start[axis] = index % output[axis] * pool.stride[axis] - pool.pad_begin[axis];
    index /= output[axis];
  }
  WindowMaximum<T> best;
  for (int64_t place = 0; place < pool.volume; ++place) {
    int64_t rest = place;
    int64_t offset = 0;
    bool inside = true;
    for (size_t axis = rank; axis-- > 0;) {
      const auto at = BorderPosition(start[axis] + rest % pool.size[axis] * pool.dilation[axis],
                                     input.shape()[axis], pool.border);
      rest /= pool.size[axis];
      inside &= at.has_value();
      offset += at.value_or(0) * input.strides()[axis];
    }
    if (!inside && pool.border == "ignore") continue;
    const T value = inside ? input.data<T>()[offset] : T();
    if (best.place < 0) best.place = place;
    if (best.value < value) best = {value, place};
  }
  return best;
}

// `values` and `indices` are outputs or null.
FaultOr<Success> RunPool(const ReferenceRun& run, const tensor::MutableTensorView* values,
                         const tensor::MutableTensorView* indices) {
  const llvm::ArrayRef<int64_t> extents = run.input(0).shape();
  const auto pool = ReadNnefWindow(run.node, run.node.Ints("size"), extents);
  if (!pool) return KernelFault("a window that does not fit memory");
  const ir::Attribute* given = run.node.attributes().Find(ir::ops::kIndexSize);
  const std::vector<int64_t> index_size = given == nullptr ? pool->size : given->AsInts();
  const llvm::ArrayRef<int64_t> shape = run.output().shape();
  const bool known = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(run.output().volume(), pool->volume, [&](int64_t index) {
      const WindowMaximum<T> best = LargestUnderWindow<T>(run.input(0), shape, *pool, index);
      if (values != nullptr) values->mutable_data<T>()[index] = best.value;
      if (indices != nullptr) {
        indices->mutable_data<int64_t>()[index] =
            IndexOf(std::max<int64_t>(best.place, 0), *pool, index_size);
      }
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

FaultOr<Success> ArgmaxPool(const ReferenceRun& run) {
  return RunPool(run, nullptr, &run.output());
}

FaultOr<Success> MaxPoolWithIndex(const ReferenceRun& run) {
  return RunPool(run, &run.output(0), &run.output(1));
}

}  // namespace

void RegisterNnefPool(KernelRegistry& registry) {
  registry.AddReference({"nnef"}, "argmax_pool", ArgmaxPool);
  registry.AddReference({"nnef"}, "max_pool_with_index", MaxPoolWithIndex);
}

}  // namespace nnefc::runtime::kernels
