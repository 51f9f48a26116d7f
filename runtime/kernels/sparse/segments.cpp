// SegmentMax, SparseFillEmptyRows and GatherTree.

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels::sparse {

namespace {

template <typename T>
T Lowest() {
  if constexpr (std::is_same_v<T, Half>) return T(-65504.0F);
  if constexpr (std::is_same_v<T, BFloat>) return T(BFloatToFloat(0xff7f));
  return T(std::numeric_limits<ComputeType<T>>::lowest());
}

// out[s] = the maximum of data[i] for segment_ids[i] == s. Empty segments are zero or the lowest number.
FaultOr<Success> SegmentMax(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const FaultOr<std::vector<int64_t>> segments = IndexElements(run.input(1));
  if (!segments) return segments.error();
  const int64_t length = VolumeOf(llvm::ArrayRef<int64_t>(data.shape()).drop_front());
  const int64_t count = output.extent(0);
  for (size_t i = 0; i < segments->size(); ++i) {
    const int64_t segment = (*segments)[i];
    if (segment < 0 || (i > 0 && segment < (*segments)[i - 1]))
      return KernelFault("segment {} follows {}; expected ascending segments", segment,
                         i > 0 ? (*segments)[i - 1] : 0);
  }
  const bool fills_zero = run.node.String("fill_mode") == "zero";
  const bool known = VisitNumericType(data.type(), [&]<typename T>(TypeTag<T>) {
    using C = ComputeType<T>;
    T* out = output.mutable_data<T>();
    std::fill_n(out, output.volume(), fills_zero ? T() : Lowest<T>());
    for (size_t i = 0; i < segments->size(); ++i) {
      const int64_t segment = (*segments)[i];
      if (segment >= count) break;
      const bool is_first = i == 0 || (*segments)[i - 1] != segment;
      const T* row = data.data<T>() + static_cast<int64_t>(i) * length;
      for (int64_t k = 0; k < length; ++k) {
        T& most = out[segment * length + k];
        if (is_first || static_cast<C>(most) < static_cast<C>(row[k])) most = row[k];
      }
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

void StoreIndex(const tensor::MutableTensorView& output, int64_t at, int64_t value) {
  if (output.type() == ElementType::kI32) {
    output.mutable_data<int32_t>()[at] = static_cast<int32_t>(value);
  } else {
    output.mutable_data<int64_t>()[at] = value;
  }
}

// Writes the values sorted by row and column, with the default value at column 0 of each empty row.
FaultOr<Success> SparseFillEmptyRows(const ReferenceRun& run) {
  const tensor::TensorView& values = run.input(0);
  const FaultOr<std::vector<int64_t>> pairs = IndexElements(run.input(2));
  if (!pairs) return pairs.error();
  const auto extents = tensor::ElementsAsInts(run.input(1));
  const int64_t rows = extents[0];
  const auto row_of = [&](int64_t i) { return (*pairs)[static_cast<size_t>(2 * i)]; };
  const auto column_of = [&](int64_t i) { return (*pairs)[static_cast<size_t>(2 * i + 1)]; };
  std::vector<int64_t> order(static_cast<size_t>(values.volume()));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i : order) {
    if (row_of(i) < 0 || row_of(i) >= rows || column_of(i) < 0 || column_of(i) >= extents[1])
      return KernelFault("the element [{},{}] is outside a matrix [{},{}]", row_of(i), column_of(i), rows,
                         extents[1]);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return row_of(a) != row_of(b) ? row_of(a) < row_of(b) : column_of(a) < column_of(b);
  });
  const int64_t expected = run.output().extent(0);
  const size_t bytes = values.element_bytes();
  int64_t count = 0;
  const auto add = [&](int64_t row, int64_t column, const std::byte* value) {
    if (count < expected) {
      StoreIndex(run.output(), 2 * count, row);
      StoreIndex(run.output(), 2 * count + 1, column);
      if (run.num_outputs() > 1)
        std::memcpy(run.output(1).mutable_bytes() + static_cast<size_t>(count) * bytes, value, bytes);
    }
    ++count;
  };
  size_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const bool is_empty = next == order.size() || row_of(order[next]) != row;
    if (is_empty) add(row, 0, run.input(3).bytes());
    for (; next < order.size() && row_of(order[next]) == row; ++next)
      add(row, column_of(order[next]), values.bytes() + static_cast<size_t>(order[next]) * bytes);
    if (run.num_outputs() > 2) run.output(2).mutable_data<Boolean>()[row] = Boolean(is_empty);
  }
  if (count != expected) return KernelFault("{} elements; expected {}", count, expected);
  return Success();
}

// Follows each beam back from its last step: out[t] = step_ids[t, beam], beam = parent_idx[t, beam]. Steps
// after an end token or past the length are end tokens.
FaultOr<Success> GatherTree(const ReferenceRun& run) {
  const tensor::TensorView& steps = run.input(0);
  const int64_t times = steps.extent(0), batches = steps.extent(1), beams = steps.extent(2);
  const auto lengths = tensor::ElementsAsDoubles(run.input(2));
  std::optional<Fault> fault;
  const bool known = VisitNumericType(steps.type(), [&]<typename T>(TypeTag<T>) {
    const T end = run.input(3).data<T>()[0];
    const T* parents = run.input(1).data<T>();
    T* out = run.output().mutable_data<T>();
    std::fill_n(out, steps.volume(), end);
    for (int64_t row = 0; row < batches * beams && !fault; ++row) {
      const int64_t batch = row / beams;
      int64_t beam = row % beams;
      const auto at = [&](int64_t time, int64_t of_beam) {
        return (time * batches + batch) * beams + of_beam;
      };
      const double length = std::clamp(lengths[static_cast<size_t>(batch)], 0.0, static_cast<double>(times));
      const auto count = static_cast<int64_t>(length);
      for (int64_t time = count; time-- > 0;) {
        out[at(time, row % beams)] = steps.data<T>()[at(time, beam)];
        const double parent = AsDouble(parents[at(time, beam)]);
        if (time == 0) break;
        if (!(parent >= 0 && parent < static_cast<double>(beams))) {
          fault = KernelFault("parent {} is outside {} beams", parent, beams);
          break;
        }
        beam = static_cast<int64_t>(parent);
      }
      bool is_finished = false;
      for (int64_t time = 0; time < count; ++time) {
        T& token = out[at(time, row % beams)];
        if (is_finished) token = end;
        is_finished = is_finished || AsDouble(token) == AsDouble(end);
      }
    }
  });
  if (fault) return *fault;
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterSegments(KernelRegistry& registry) {
  registry.AddReference({"opset16"}, "SegmentMax", SegmentMax);
  registry.AddReference({"opset16"}, "SparseFillEmptyRows", SparseFillEmptyRows);
  registry.AddReference({"opset1"}, "GatherTree", GatherTree);
}

}  // namespace nnefc::runtime::kernels::sparse
