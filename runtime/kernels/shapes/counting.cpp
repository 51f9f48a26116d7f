// Reference kernels of NonZero, OneHot, CumSum, Bucketize, SearchSorted and Eye.

#include <algorithm>

#include "runtime/kernels/arithmetic/reduction.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels {

namespace {

void StoreIndex(const tensor::MutableTensorView& output, int64_t at, int64_t value) {
  if (output.type() == ElementType::kI32) {
    output.mutable_data<int32_t>()[at] = static_cast<int32_t>(value);
  } else {
    output.mutable_data<int64_t>()[at] = value;
  }
}

// out[:, n] = the coordinates of the n-th nonzero element.
FaultOr<Success> NonZero(const ReferenceRun& run) {
  const tensor::TensorView& input = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const int64_t count = output.extent(1);
  int64_t n = 0;
  const bool known = VisitAnyType(input.type(), [&]<typename T>(TypeTag<T>) {
    using C = ComputeType<T>;
    for (int64_t i = 0; i < input.volume(); ++i) {
      if (static_cast<C>(input.data<T>()[i]) == C(0) || n++ >= count) continue;
      if (input.rank() == 0) StoreIndex(output, 0, 0);
      int64_t rest = i;
      for (int64_t axis = input.rank(); axis-- > 0;) {
        StoreIndex(output, axis * count + n - 1, rest % input.extent(axis));
        rest /= input.extent(axis);
      }
    }
  });
  if (!known) return UnsupportedType(run);
  if (n != count) return KernelFault("{} elements are not zero; expected {}", n, count);
  return Success();
}

// out[.., c, ..] = c == indices[..] ? on : off
FaultOr<Success> OneHot(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  const auto axis = static_cast<size_t>(NormalAxis(run.node.Int("axis"), output.rank()));
  const bool normalizes = run.node.String("negative_indices_mode") == "normalize";
  const int64_t depth = output.shape()[axis];
  const int64_t inner = output.strides()[axis];
  if (run.input(2).volume() != 1 || run.input(3).volume() != 1)
    return KernelFault("{} and {} values; expected 1 each", run.input(2).volume(), run.input(3).volume());
  FaultOr<std::vector<int64_t>> indices = IndexElements(run.input(0));
  if (!indices) return indices.error();
  const bool known = VisitAnyType(output.type(), [&]<typename T>(TypeTag<T>) {
    const T on = run.input(2).data<T>()[0];
    const T off = run.input(3).data<T>()[0];
    for (int64_t i = 0; i < output.volume(); ++i) {
      int64_t chosen = (*indices)[static_cast<size_t>(i / (depth * inner) * inner + i % inner)];
      if (normalizes && chosen < 0) chosen += depth;
      output.mutable_data<T>()[i] = i / inner % depth == chosen ? on : off;
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// out[i] = x[0] + .. + x[i]; without x[i] if exclusive; from the other end if reverse.
FaultOr<Success> CumSum(const ReferenceRun& run) {
  const tensor::TensorView& input = run.input(0);
  if (input.rank() == 0) return KernelFault("a tensor without axes");
  const FaultOr<size_t> given = AxisOf(run.input(1), input.rank());
  if (!given) return given.error();
  const size_t axis = *given;
  const bool exclusive = run.node.Bool("exclusive");
  const bool reverse = run.node.Bool("reverse");
  const int64_t extent = input.shape()[axis];
  const int64_t inner = input.strides()[axis];
  if (input.volume() == 0) return Success();
  const bool known = VisitNumericType(input.type(), [&]<typename T>(TypeTag<T>) {
    // Floats are summed in f64; integers wrap around.
    using C = std::conditional_t<kIsFloating<T>, double, ComputeType<T>>;
    tensor::ParallelFor(input.volume() / extent, extent, [&](int64_t line) {
      const int64_t first = line / inner * extent * inner + line % inner;
      C sum = 0;
      for (int64_t step = 0; step < extent; ++step) {
        const int64_t at = first + (reverse ? extent - 1 - step : step) * inner;
        const C x = static_cast<C>(static_cast<ComputeType<T>>(input.data<T>()[at]));
        if (exclusive) run.output().mutable_data<T>()[at] = ConvertElement<T>(sum);
        sum = static_cast<C>(sum + x);
        if (!exclusive) run.output().mutable_data<T>()[at] = ConvertElement<T>(sum);
      }
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// out = the number of bounds b < x (with_right_bound: a bucket includes its upper bound), or b <= x
// otherwise.
FaultOr<Success> Bucketize(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const llvm::SmallVector<double, 8> bounds = tensor::ElementsAsDoubles(run.input(1));
  const bool right = run.node.Bool("with_right_bound");
  const bool known = VisitNumericType(data.type(), [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(data.volume(), 8, [&](int64_t i) {
      const double x = static_cast<double>(static_cast<ComputeType<T>>(data.data<T>()[i]));
      const auto* place = right ? std::lower_bound(bounds.begin(), bounds.end(), x)
                                : std::upper_bound(bounds.begin(), bounds.end(), x);
      StoreIndex(run.output(), i, place - bounds.begin());
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// out[r, i] = the first position in row r whose element is >= values[r, i], or > with right_mode.
FaultOr<Success> SearchSorted(const ReferenceRun& run) {
  const tensor::TensorView& sorted = run.input(0);
  const tensor::TensorView& values = run.input(1);
  const bool right = run.node.Bool("right_mode");
  const int64_t length = sorted.extent(sorted.rank() - 1);
  const int64_t per_row = sorted.rank() == 1 ? values.volume() : values.extent(values.rank() - 1);
  const bool known = VisitNumericType(sorted.type(), [&]<typename T>(TypeTag<T>) {
    using C = ComputeType<T>;
    for (int64_t i = 0; i < values.volume(); ++i) {
      const T* row = sorted.data<T>() + i / per_row * length;
      const C x = static_cast<C>(values.data<T>()[i]);
      const T* place = std::partition_point(row, row + length, [&](T element) {
        return right ? !(x < static_cast<C>(element)) : static_cast<C>(element) < x;
      });
      StoreIndex(run.output(), i, place - row);
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// out[.., row, column] = column - row == diagonal_index ? 1 : 0
FaultOr<Success> Eye(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  const int64_t rows = output.extent(output.rank() - 2);
  const int64_t columns = output.extent(output.rank() - 1);
  if (run.input(2).volume() != 1) return KernelFault("{} diagonals", run.input(2).volume());
  const int64_t diagonal = tensor::ElementsAsInts(run.input(2))[0];
  const bool known = VisitAnyType(output.type(), [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < output.volume(); ++i) {
      const bool is_one = i % columns - i / columns % rows == diagonal;
      output.mutable_data<T>()[i] = ConvertElement<T>(is_one ? 1 : 0);
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterCounting(KernelRegistry& registry) {
  registry.AddReference({"opset3"}, "NonZero", NonZero);
  registry.AddReference({"opset1", "opset16"}, "OneHot", OneHot);
  registry.AddReference({"opset3"}, "CumSum", CumSum);
  registry.AddReference({"opset3"}, "Bucketize", Bucketize);
  registry.AddReference({"opset15"}, "SearchSorted", SearchSorted);
  registry.AddReference({"opset9"}, "Eye", Eye);
}

}  // namespace nnefc::runtime::kernels
