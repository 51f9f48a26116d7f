// DFT, IDFT, RDFT, IRDFT, STFT and ISTFT. Complex tensors have real and imaginary parts along a last axis of
// extent 2. Transforms are computed in f64.

#include <algorithm>
#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"
#include "runtime/kernels/signal/fft.h"

namespace nnefc::runtime::kernels::signal {

namespace {

// Complex numbers in row-major order.
struct ComplexArray {
  explicit ComplexArray(llvm::ArrayRef<int64_t> extents)
      : shape(extents.begin(), extents.end()), data(static_cast<size_t>(VolumeOf(extents))) {}

  Shape shape;
  std::vector<Complex> data;
};

// Calls `visit(a, b)` with the offsets of an element in row-major arrays of two shapes of equal rank, for all
// elements that exist in both.
template <typename Visit>
void ForCommonElements(llvm::ArrayRef<int64_t> first, llvm::ArrayRef<int64_t> second, const Visit& visit) {
  Shape common;
  for (size_t i = 0; i < first.size(); ++i) common.push_back(std::min(first[i], second[i]));
  const int64_t volume = VolumeOf(common);
  for (int64_t n = 0; n < volume; ++n) {
    int64_t rest = n, a = 0, b = 0, a_stride = 1, b_stride = 1;
    for (size_t i = first.size(); i-- > 0;) {
      const int64_t at = rest % common[i];
      rest /= common[i];
      a += at * a_stride;
      b += at * b_stride;
      a_stride *= first[i];
      b_stride *= second[i];
    }
    visit(a, b);
  }
}

// Loads the input, cropped or zero-padded to the shape of the array.
template <typename T>
void LoadComplex(const tensor::TensorView& input, ComplexArray& array) {
  const T* x = input.data<T>();
  ForCommonElements(
      llvm::ArrayRef<int64_t>(input.shape()).drop_back(), array.shape, [&](int64_t from, int64_t to) {
        array.data[static_cast<size_t>(to)] = {AsDouble(x[2 * from]), AsDouble(x[2 * from + 1])};
      });
}

template <typename T>
void LoadReal(const tensor::TensorView& input, ComplexArray& array) {
  const T* x = input.data<T>();
  ForCommonElements(input.shape(), array.shape, [&](int64_t from, int64_t to) {
    array.data[static_cast<size_t>(to)] = AsDouble(x[from]);
  });
}

template <typename T>
T FromDouble(double x) {
  return T(static_cast<ComputeType<T>>(x));
}

template <typename T>
void StoreComplex(const ComplexArray& array, const tensor::MutableTensorView& output) {
  T* out = output.mutable_data<T>();
  ForCommonElements(array.shape, llvm::ArrayRef<int64_t>(output.shape()).drop_back(),
                    [&](int64_t from, int64_t to) {
                      const Complex x = array.data[static_cast<size_t>(from)];
                      out[2 * to] = FromDouble<T>(x.real());
                      out[2 * to + 1] = FromDouble<T>(x.imag());
                    });
}

// Returns the axes of the transform in order, for a tensor of this rank.
FaultOr<llvm::SmallVector<int64_t, 8>> TransformedAxes(const ReferenceRun& run, size_t rank) {
  return AxesOf(run.input(1), static_cast<int64_t>(rank));
}

// Sets the extents of the axes to `signal_size`, if that input exists; -1 keeps the extent.
void SetSizes(const ReferenceRun& run, llvm::ArrayRef<int64_t> axes, Shape& shape) {
  if (run.num_inputs() < 3) return;
  const auto sizes = tensor::ElementsAsInts(run.input(2));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] >= 0) shape[static_cast<size_t>(axes[i])] = sizes[i];
  }
}

// DFT-7 and IDFT-7: transforms along each of the axes.
template <bool kInverse>
FaultOr<Success> Dft(const ReferenceRun& run) {
  ComplexArray array(llvm::ArrayRef<int64_t>(run.output().shape()).drop_back());
  const auto axes = TransformedAxes(run, array.shape.size());
  if (!axes) return axes.error();
  const bool known = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    LoadComplex<T>(run.input(0), array);
    for (int64_t axis : *axes)
      TransformAxis(array.data.data(), array.shape, static_cast<size_t>(axis), kInverse);
    StoreComplex<T>(array, run.output());
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// RDFT-9: the transform of real numbers. Only the first n / 2 + 1 elements of the last axis are stored; the
// others are conjugates.
FaultOr<Success> Rdft(const ReferenceRun& run) {
  const auto axes = TransformedAxes(run, run.input(0).shape().size());
  if (!axes) return axes.error();
  Shape shape = run.input(0).shape();
  SetSizes(run, *axes, shape);
  ComplexArray array(shape);
  const bool known = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    LoadReal<T>(run.input(0), array);
    for (int64_t axis : *axes)
      TransformAxis(array.data.data(), array.shape, static_cast<size_t>(axis), false);
    StoreComplex<T>(array, run.output());
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// Completes lines along an axis with x[n - k] = conj(x[k]).
void ExtendConjugates(ComplexArray& array, size_t axis) {
  const int64_t extent = array.shape[axis];
  const int64_t inner = VolumeOf(llvm::ArrayRef<int64_t>(array.shape).drop_front(axis + 1));
  const auto volume = static_cast<int64_t>(array.data.size());
  for (int64_t i = 0; i < volume; ++i) {
    const int64_t k = i / inner % extent;
    if (k <= extent / 2) continue;
    array.data[static_cast<size_t>(i)] =
        std::conj(array.data[static_cast<size_t>(i + (extent - 2 * k) * inner)]);
  }
}

// IRDFT-9: the inverse of RDFT, from at most the first n / 2 + 1 elements of the last axis. Without axes the
// result is the real part.
FaultOr<Success> Irdft(const ReferenceRun& run) {
  ComplexArray array(run.output().shape());
  const auto axes = TransformedAxes(run, array.shape.size());
  if (!axes) return axes.error();
  if (axes->empty()) {
    const bool is_float = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
      LoadComplex<T>(run.input(0), array);
      for (size_t i = 0; i < array.data.size(); ++i)
        run.output().mutable_data<T>()[i] = FromDouble<T>(array.data[i].real());
    });
    return is_float ? FaultOr<Success>(Success()) : UnsupportedType(run);
  }
  const auto last = static_cast<size_t>(axes->back());
  Shape half = array.shape;
  half[last] = half[last] / 2 + 1;
  ComplexArray first(half);
  const bool known = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    LoadComplex<T>(run.input(0), first);
    for (int64_t axis : llvm::ArrayRef<int64_t>(*axes).drop_back())
      TransformAxis(first.data.data(), first.shape, static_cast<size_t>(axis), true);
    ForCommonElements(first.shape, array.shape, [&](int64_t from, int64_t to) {
      array.data[static_cast<size_t>(to)] = first.data[static_cast<size_t>(from)];
    });
    ExtendConjugates(array, last);
    TransformAxis(array.data.data(), array.shape, last, true);
    for (size_t i = 0; i < array.data.size(); ++i)
      run.output().mutable_data<T>()[i] = FromDouble<T>(array.data[i].real());
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// ---- frames ----

// Returns the window centred in a frame, with zeros around it.
std::vector<double> FrameWindow(const tensor::TensorView& window, int64_t frame_size) {
  std::vector<double> frame(static_cast<size_t>(frame_size));
  const auto numbers = tensor::ElementsAsDoubles(window);
  const int64_t first = (frame_size - window.volume()) / 2;
  for (int64_t i = 0; i < window.volume(); ++i)
    frame[static_cast<size_t>(first + i)] = numbers[static_cast<size_t>(i)];
  return frame;
}

struct Frames {
  int64_t size, step, count, bins;
  // The bins axis precedes the frames axis.
  bool transposed;

  int64_t Offset(int64_t batch, int64_t frame, int64_t bin) const {
    return 2 * (transposed ? (batch * bins + bin) * count + frame : (batch * count + frame) * bins + bin);
  }
};

// STFT-15: out[b, f, k] = sum over n of window[n] * signal[b, f * step + n] * exp(-2 * pi * i * k * n /
// size).
FaultOr<Success> Stft(const ReferenceRun& run) {
  const tensor::TensorView& signal = run.input(0);
  const int64_t length = signal.extent(signal.rank() - 1);
  const bool transposed = run.node.Bool("transpose_frames");
  const int64_t rank = run.output().rank();
  const Frames frames{.size = tensor::ElementsAsInts(run.input(2))[0],
                      .step = tensor::ElementsAsInts(run.input(3))[0],
                      .count = run.output().extent(rank - (transposed ? 2 : 3)),
                      .bins = run.output().extent(rank - (transposed ? 3 : 2)),
                      .transposed = transposed};
  const std::vector<double> window = FrameWindow(run.input(1), frames.size);
  const int64_t batches = signal.rank() == 1 ? 1 : signal.extent(0);
  const Fft transform(frames.size);
  const bool known = VisitFloatType(signal.type(), [&]<typename T>(TypeTag<T>) {
    T* out = run.output().mutable_data<T>();
    tensor::ParallelFor(batches * frames.count, 16 * frames.size, [&](int64_t task) {
      const int64_t batch = task / frames.count;
      const int64_t frame = task % frames.count;
      const T* x = signal.data<T>() + batch * length + frame * frames.step;
      std::vector<Complex> numbers(window.size()), scratch;
      for (size_t n = 0; n < window.size(); ++n) numbers[n] = AsDouble(x[n]) * window[n];
      transform.Forward(numbers.data(), scratch);
      for (int64_t k = 0; k < frames.bins; ++k) {
        const Complex bin = numbers[static_cast<size_t>(k)];
        out[frames.Offset(batch, frame, k)] = FromDouble<T>(bin.real());
        out[frames.Offset(batch, frame, k) + 1] = FromDouble<T>(bin.imag());
      }
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// ISTFT-16: transforms each frame back, multiplies it by the window, adds overlapping frames, and divides by
// the sum of squared windows.
FaultOr<Success> Istft(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const Frames frames{.size = tensor::ElementsAsInts(run.input(2))[0],
                      .step = tensor::ElementsAsInts(run.input(3))[0],
                      .count = data.extent(data.rank() - 2),
                      .bins = data.extent(data.rank() - 3),
                      .transposed = true};
  const int64_t batches = data.rank() == 3 ? 1 : data.extent(0);
  const int64_t length = output.extent(output.rank() - 1);
  const int64_t margin = run.node.Bool("center") ? frames.size / 2 : 0;
  const std::vector<double> window = FrameWindow(run.input(1), frames.size);
  const double scale = run.node.Bool("normalized") ? std::sqrt(static_cast<double>(frames.size)) : 1.0;
  const Fft transform(frames.size);
  std::vector<double> weights(static_cast<size_t>(length));
  // Frames beyond the result have no effect, so the step is limited.
  const int64_t step = std::min(frames.step, length + frames.size);
  // Adds window[n] * numbers[n] of a frame to the covered elements of the result.
  const auto add = [&](int64_t frame, const auto& number, std::vector<double>& sums) {
    const int64_t first = frame * step - margin;
    const int64_t end = std::min(frames.size, length - first);
    for (int64_t n = std::max<int64_t>(0, -first); n < end; ++n)
      sums[static_cast<size_t>(first + n)] += window[static_cast<size_t>(n)] * number(static_cast<size_t>(n));
  };
  for (int64_t frame = 0; frame < frames.count; ++frame)
    add(
        frame, [&](size_t n) { return window[n]; }, weights);
  const bool known = VisitFloatType(data.type(), [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(batches, 16 * frames.count * frames.size, [&](int64_t batch) {
      std::vector<double> sums(static_cast<size_t>(length));
      std::vector<Complex> scratch;
      for (int64_t frame = 0; frame < frames.count; ++frame) {
        ComplexArray numbers(Shape{frames.size});
        for (int64_t k = 0; k < frames.bins; ++k) {
          const T* bin = data.data<T>() + frames.Offset(batch, frame, k);
          numbers.data[static_cast<size_t>(k)] = {AsDouble(bin[0]), AsDouble(bin[1])};
        }
        ExtendConjugates(numbers, 0);
        transform.Inverse(numbers.data.data(), scratch);
        add(
            frame, [&](size_t n) { return numbers.data[n].real(); }, sums);
      }
      for (int64_t i = 0; i < length; ++i) {
        const double weight = weights[static_cast<size_t>(i)];
        const double sum = weight == 0 ? 0 : scale * sums[static_cast<size_t>(i)] / weight;
        output.mutable_data<T>()[batch * length + i] = FromDouble<T>(sum);
      }
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterFourier(KernelRegistry& registry) {
  registry.AddReference({"opset7"}, "DFT", Dft<false>);
  registry.AddReference({"opset7"}, "IDFT", Dft<true>);
  registry.AddReference({"opset9"}, "RDFT", Rdft);
  registry.AddReference({"opset9"}, "IRDFT", Irdft);
  registry.AddReference({"opset15"}, "STFT", Stft);
  registry.AddReference({"opset16"}, "ISTFT", Istft);
}

}  // namespace nnefc::runtime::kernels::signal
