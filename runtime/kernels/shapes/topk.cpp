// TopK: the largest or smallest elements along an axis and their positions.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// A strict weak order in which NaN comes last. Equal elements keep the order of their positions.
template <typename T>
bool Precedes(T a, T b, bool largest) {
  if constexpr (kIsFloating<T>) {
    const bool a_nan = std::isnan(static_cast<ComputeType<T>>(a));
    const bool b_nan = std::isnan(static_cast<ComputeType<T>>(b));
    if (a_nan || b_nan) return !a_nan && b_nan;
  }
  return largest ? b < a : a < b;
}

template <typename T>
void TopKAs(const ReferenceRun& run) {
  const tensor::TensorView& input = run.input(0);
  const tensor::MutableTensorView& values = run.output(0);
  const tensor::MutableTensorView& indices = run.output(1);
  const size_t axis = static_cast<size_t>(NormalAxis(run.node.Int("axis"), input.rank()));
  const bool largest = run.node.String("mode") == "max";
  const bool by_index = run.node.String("sort") == "index";
  const int64_t extent = input.shape()[axis];
  const int64_t k = values.shape()[axis];
  const int64_t inner = input.strides()[axis];
  if (extent == 0 || k == 0) return;
  tensor::ParallelFor(input.volume() / extent, extent * 8, [&](int64_t line) {
    const int64_t outer = line / inner;
    const T* x = input.data<T>() + outer * extent * inner + line % inner;
    std::vector<int64_t> order(static_cast<size_t>(extent));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      if (Precedes(x[a * inner], x[b * inner], largest)) return true;
      return !Precedes(x[b * inner], x[a * inner], largest) && a < b;
    });
    if (by_index) std::sort(order.begin(), order.begin() + k);
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = (outer * k + i) * inner + line % inner;
      const int64_t from = order[static_cast<size_t>(i)];
      values.mutable_data<T>()[at] = x[from * inner];
      if (indices.type() == ElementType::kI32) {
        indices.mutable_data<int32_t>()[at] = static_cast<int32_t>(from);
      } else {
        indices.mutable_data<int64_t>()[at] = from;
      }
    }
  });
}

FaultOr<Success> TopK(const ReferenceRun& run) {
  if (!VisitNumericType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { TopKAs<T>(run); }))
    return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterTopK(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset3", "opset11"}, "TopK", TopK);
}

}  // namespace nnefc::runtime::kernels
