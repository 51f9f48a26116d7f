// Interpolate. Each mode is separable: a weighted sum over a small number of positions along each axis.

#include <algorithm>
#include <array>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/resized_axes.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime::kernels {

using tensor::TensorView;

namespace {

// out[o, x, i] = sum over the taps of x of weight * in[o, position, i], for one axis of a tensor viewed as
// [outer, axis, inner]. Sums are computed in f64.
struct ResizedLines {
  int64_t outer, input, inner;
  const std::vector<Taps>& taps;  // one list per output position
};
template <typename In, typename Out>
void ResizeAxis(const In* in, Out* out, const ResizedLines& of) {
  const auto value = [](In x) { return static_cast<double>(static_cast<ComputeType<In>>(x)); };
  const auto output = static_cast<int64_t>(of.taps.size());
  if (of.inner == 1) {
    tensor::ParallelFor(of.outer, 2 * output, [&](int64_t line) {
      for (int64_t x = 0; x < output; ++x) {
        double sum = 0;
        for (const Tap& tap : of.taps[static_cast<size_t>(x)])
          sum += tap.weight * value(in[line * of.input + tap.position]);
        out[line * output + x] = ConvertElement<Out>(sum);
      }
    });
    return;
  }
  tensor::ParallelFor(of.outer * output, of.inner, [&](int64_t row) {
    const Taps& taps = of.taps[static_cast<size_t>(row % output)];
    const In* lines = in + row / output * of.input * of.inner;
    if (taps.size() == 1 && taps[0].weight == 1) {
      const In* taken = lines + taps[0].position * of.inner;
      std::transform(taken, taken + of.inner, out + row * of.inner,
                     [&](In x) { return ConvertElement<Out>(value(x)); });
      return;
    }
    if (taps.size() == 2) {  // the common case, without sums in memory
      const In *low = lines + taps[0].position * of.inner, *high = lines + taps[1].position * of.inner;
      Out* to = out + row * of.inner;
      tensor::Wide([&] {
        for (int64_t i = 0; i < of.inner; ++i)
          to[i] = ConvertElement<Out>(taps[0].weight * value(low[i]) + taps[1].weight * value(high[i]));
      });
      return;
    }
    constexpr int64_t kPart = 256;
    std::array<double, kPart> sums;
    for (int64_t first = 0; first < of.inner; first += kPart) {
      const int64_t count = std::min(kPart, of.inner - first);
      sums.fill(0);
      for (const Tap& tap : taps) {
        const In* part = lines + tap.position * of.inner + first;
        tensor::Wide([&] {
          for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] += tap.weight * value(part[i]);
        });
      }
      Out* to = out + row * of.inner + first;
      tensor::Wide([&] {
        for (int64_t i = 0; i < count; ++i) to[i] = ConvertElement<Out>(sums[static_cast<size_t>(i)]);
      });
    }
  });
}

// Resizes one axis after the other, because the weights are separable. Intermediate results are f64.
template <typename T>
void InterpolateAs(const ReferenceRun& run, const TensorView& input,
                   const std::vector<std::vector<Taps>>& taps, llvm::ArrayRef<size_t> resized) {
  T* output = run.output().mutable_data<T>();
  Shape shape(input.shape());
  std::vector<double> from, to;
  for (size_t i = 0; i < resized.size(); ++i) {
    const size_t axis = resized[i];
    int64_t outer = 1, inner = 1;
    for (size_t k = 0; k < axis; ++k) outer *= shape[k];
    for (size_t k = axis + 1; k < shape.size(); ++k) inner *= shape[k];
    const ResizedLines lines{outer, shape[axis], inner, taps[axis]};
    shape[axis] = static_cast<int64_t>(taps[axis].size());
    const bool last = i + 1 == resized.size();
    if (!last) to.resize(static_cast<size_t>(outer * shape[axis] * inner));
    if (i == 0) {
      last ? ResizeAxis(input.data<T>(), output, lines) : ResizeAxis(input.data<T>(), to.data(), lines);
    } else {
      last ? ResizeAxis(from.data(), output, lines) : ResizeAxis(from.data(), to.data(), lines);
    }
    from.swap(to);
  }
}

bool PickOneEach(llvm::ArrayRef<Taps> taps) {
  return std::all_of(taps.begin(), taps.end(),
                     [](const Taps& of) { return of.size() == 1 && of[0].weight == 1; });
}

// Copies one input element per output element (nearest neighbour). Lines along the last resized axis that
// equal the previous line are copied from it.
template <typename T>
void PickElements(const TensorView& input, const tensor::MutableTensorView& output,
                  const std::vector<std::vector<Taps>>& taps, size_t last) {
  std::vector<int64_t> picked;
  for (const Taps& of : taps[last]) picked.push_back(of[0].position * input.strides()[last]);
  const auto count = static_cast<int64_t>(picked.size());
  const int64_t inner = input.strides()[last], line = count * inner;
  const int64_t lines = output.volume() / line, together = std::max<int64_t>(1, (int64_t{1} << 14) / line);
  const auto offset_of = [&](int64_t index) {
    int64_t offset = 0;
    for (size_t axis = last; axis-- > 0; index /= output.extent(static_cast<int64_t>(axis))) {
      const int64_t place = index % output.extent(static_cast<int64_t>(axis));
      offset += (taps[axis].empty() ? place : taps[axis][static_cast<size_t>(place)][0].position) *
                input.strides()[axis];
    }
    return offset;
  };
  const T* in = input.data<T>();
  const int64_t* positions = picked.data();
  tensor::ParallelFor((lines + together - 1) / together, together * line, [&](int64_t part) {
    int64_t before = -1;
    for (int64_t i = part * together; i < std::min(lines, (part + 1) * together); ++i) {
      const int64_t offset = offset_of(i);
      T* out = output.mutable_data<T>() + i * line;
      if (offset == before) {
        std::copy_n(out - line, line, out);
      } else if (inner == 1) {
        for (int64_t x = 0; x < count; ++x) out[x] = in[offset + positions[x]];
      } else {
        for (int64_t x = 0; x < count; ++x) std::copy_n(in + offset + positions[x], inner, out + x * inner);
      }
      before = offset;
    }
  });
}

// Returns the input with zero padding, if the node has any.
TensorView PaddedInput(const ReferenceRun& run, std::vector<std::byte>& storage) {
  const TensorView& input = run.input(0);
  const size_t rank = static_cast<size_t>(input.rank());
  const std::vector<int64_t> before = run.node.Ints("pads_begin");
  const std::vector<int64_t> after = run.node.Ints("pads_end");
  Shape shape(input.shape());
  int64_t offset = 0;
  for (size_t i = 0; i < rank; ++i) {
    shape[i] += (i < before.size() ? before[i] : 0) + (i < after.size() ? after[i] : 0);
  }
  if (shape == input.shape()) return input;
  const tensor::Strides strides = tensor::DenseStrides(shape);
  for (size_t i = 0; i < rank && i < before.size(); ++i) offset += before[i] * strides[i];
  const TensorView padded(input.type(), shape, nullptr);
  storage.assign(padded.byte_size(), std::byte{0});
  const int64_t width = static_cast<int64_t>(input.element_bytes());
  tensor::CopyElements(input, tensor::MutableTensorView(input.type(), input.shape(), strides,
                                                        storage.data() + offset * width));
  return TensorView(input.type(), shape, storage.data());
}

FaultOr<Success> Interpolate(const ReferenceRun& run) {
  if (run.output().volume() == 0) return Success();
  std::vector<std::byte> storage;
  const TensorView input = PaddedInput(run, storage);
  const llvm::ArrayRef<int64_t> output = run.output().shape();
  const FaultOr<std::vector<std::vector<Taps>>> taps =
      TapsOfInterpolation({run.node, input.shape(), output, [&](size_t of) {
                             return tensor::ElementsAsDoubles(run.input(static_cast<int32_t>(of)));
                           }});
  if (!taps) return taps.error();
  if (input.volume() == 0) return KernelFault("an empty tensor cannot be resized");
  llvm::SmallVector<size_t, 4> resized;
  for (size_t axis = 0; axis < taps->size(); ++axis) {
    if (!(*taps)[axis].empty()) resized.push_back(axis);
  }
  // Shrinking axes come first, so that no intermediate result is larger than both ends. Among axes with equal
  // growth the last one comes first while it has fewer lines, because it alone is not vectorised.
  const auto growth = [&](size_t axis) {
    return static_cast<double>(output[axis]) / static_cast<double>(input.shape()[axis]);
  };
  std::sort(resized.begin(), resized.end(), [&](size_t a, size_t b) {
    if (growth(a) != growth(b)) return growth(a) < growth(b);
    return growth(a) > 1 ? a > b : a < b;
  });
  if (resized.empty()) {
    tensor::CopyElements(input, run.output());
    return Success();
  }
  const bool picks =
      std::all_of(resized.begin(), resized.end(), [&](size_t axis) { return PickOneEach((*taps)[axis]); });
  const size_t last = *std::max_element(resized.begin(), resized.end());
  const bool known = VisitNumericType(input.type(), [&]<typename T>(TypeTag<T>) {
    picks ? PickElements<T>(input, run.output(), *taps, last) : InterpolateAs<T>(run, input, *taps, resized);
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterInterpolate(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset4", "opset11"}, "Interpolate", Interpolate);
}

}  // namespace nnefc::runtime::kernels
