// NNEF's argmax_pool and max_pool_with_index (R 4.3.3, 4.9.3) for windows along
// more than three dimensions, which no OpenVINO operation has.

#include <limits>

#include "compiler/ir/ops/sliding_window_shape.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/unary.h"

namespace nnefc::runtime {

namespace {

// R 4.3, border modes: the element that stands for position `at` of an axis;
// nothing for one whose value is not an element's.
std::optional<int64_t> Source(int64_t at, int64_t extent, const std::string& border) {
  if (at >= 0 && at < extent) return at;
  int64_t source = at;
  if (border == "replicate") source = at < 0 ? 0 : extent - 1;
  if (border == "reflect") source = at < 0 ? -at : 2 * (extent - 1) - at;
  if (border == "reflect-even") source = at < 0 ? -at - 1 : 2 * extent - 1 - at;
  if (source < 0 || source >= extent) return std::nullopt;
  return source;
}

struct Pool {
  std::vector<int64_t> size, stride, dilation, before;
  std::string border;
  int64_t volume = 1;
};

std::optional<Pool> ReadPool(const ReferenceRun& run) {
  const llvm::ArrayRef<int64_t> extents = run.input(0).shape();
  Pool pool;
  pool.size = IntsOr(run.node, "size", extents.size(), 1);
  pool.border = StringOr(run.node, "border", "constant");
  const ir::nnef::Window window = ir::nnef::WindowOf(run.node, pool.size);
  const auto padding = ir::nnef::ResolvedPaddings(window, extents);
  if (!padding) return std::nullopt;
  for (size_t i = 0; i < window.size(); ++i) {
    pool.stride.push_back(window[i].stride);
    pool.dilation.push_back(window[i].dilation);
    pool.before.push_back((*padding)[i].first);
    if (__builtin_mul_overflow(pool.volume, pool.size[i], &pool.volume)) return std::nullopt;
  }
  return pool;
}

template <typename T>
struct Maximum {
  T value = T(-std::numeric_limits<ComputeType<T>>::infinity());
  int64_t place = -1;  // in the window, row-major
};

// The first largest value under the window at output element `index`, NaN passed
// over; the first place where nothing is greater than negative infinity.
template <typename T>
Maximum<T> LargestUnderWindow(const TensorView& input, llvm::ArrayRef<int64_t> output, const Pool& pool,
                              int64_t index) {
  const size_t rank = output.size();
  llvm::SmallVector<int64_t, 6> start(rank);
  for (size_t axis = rank; axis-- > 0;) {
    start[axis] = index % output[axis] * pool.stride[axis] - pool.before[axis];
    index /= output[axis];
  }
  Maximum<T> best;
  for (int64_t place = 0; place < pool.volume; ++place) {
    int64_t rest = place;
    int64_t offset = 0;
    bool inside = true;
    for (size_t axis = rank; axis-- > 0;) {
      const auto at = Source(start[axis] + rest % pool.size[axis] * pool.dilation[axis], input.shape()[axis],
                             pool.border);
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
ErrorOr<Success> RunPool(const ReferenceRun& run, const MutableTensorView* values,
                         const MutableTensorView* indices) {
  const std::optional<Pool> pool = ReadPool(run);
  if (!pool) return KernelError("a window that does not fit memory");
  const llvm::ArrayRef<int64_t> shape = run.output().shape();
  const bool known = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    ParallelFor(run.output().volume(), pool->volume, [&](int64_t index) {
      const Maximum<T> best = LargestUnderWindow<T>(run.input(0), shape, *pool, index);
      if (values != nullptr) values->mutable_data<T>()[index] = best.value;
      if (indices != nullptr) indices->mutable_data<int64_t>()[index] = std::max<int64_t>(best.place, 0);
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

ErrorOr<Success> ArgmaxPool(const ReferenceRun& run) {
  return RunPool(run, nullptr, &run.output());
}

ErrorOr<Success> MaxPoolWithIndex(const ReferenceRun& run) {
  return RunPool(run, &run.output(0), &run.output(1));
}

}  // namespace

void RegisterNnefPool(KernelRegistry& registry) {
  registry.AddReference({"nnef"}, "argmax_pool", ArgmaxPool);
  registry.AddReference({"nnef"}, "max_pool_with_index", MaxPoolWithIndex);
}

}  // namespace nnefc::runtime
