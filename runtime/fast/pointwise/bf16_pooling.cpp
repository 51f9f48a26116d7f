// Max pooling of bf16 images in NHWC layout.

#include "runtime/fast/pointwise/bf16_pooling.h"

#include <algorithm>
#include <vector>

#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::pointwise {

namespace {

constexpr int64_t kSimdWidth = 32;
using Bits = int16_t __attribute__((vector_size(2 * kSimdWidth), aligned(2), may_alias));
constexpr int16_t kInfinity = 0x7f80;
constexpr int16_t kLowest = INT16_MIN;

// Converts float bits to integers with the same order, NaN below negative infinity. T is an integer or vector
// type, passed by reference because vector results are ABI-dependent.
template <typename T>
[[gnu::always_inline]] inline void ToRank(T& bits) {
  bits = bits ^ ((bits >> 15) & INT16_MAX);
  bits = bits > kInfinity ? T{} + kLowest : bits;
}
template <typename T>
[[gnu::always_inline]] inline void FromRank(T& rank) {
  constexpr auto kNegativeInfinity = static_cast<int16_t>(0x807f);  // rank of negative infinity
  rank = rank > kNegativeInfinity ? rank : T{} + kNegativeInfinity;
  rank = rank ^ ((rank >> 15) & INT16_MAX);
}
template <typename T>
[[gnu::always_inline]] inline void TakeLarger(const T& rank, T& most) {
  most = rank > most ? rank : most;
}

// Calls of_vector(c) for vectors of channels starting at c; the last two may overlap. With fewer channels
// than a vector, calls of_vector(0) if `room` channels fill a vector, including those of later pixels, or
// else of_element(c).
template <typename OfVector, typename OfElement>
[[gnu::always_inline]] inline void ForChannels(int64_t channels, int64_t room, const OfVector& of_vector,
                                               const OfElement& of_element) {
  if (channels < kSimdWidth && room >= kSimdWidth) return of_vector(0);
  if (channels < kSimdWidth) {
    for (int64_t c = 0; c < channels; ++c) of_element(c);
    return;
  }
  for (int64_t c = 0; c + kSimdWidth <= channels; c += kSimdWidth) of_vector(c);
  if (channels % kSimdWidth != 0) of_vector(channels - kSimdWidth);
}

class Bf16MaxPool final : public kernels::Kernel {
 public:
  explicit Bf16MaxPool(const Bf16Images& images) : images_(images) {}

  std::string implementation() const override { return "nnefc:bf16_max_pool"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto& [planes, y, x] = images_.window;
    const auto* input = reinterpret_cast<const int16_t*>(run.input(0).bytes());
    auto* output = reinterpret_cast<int16_t*>(run.output().mutable_bytes());
    const int64_t rows = images_.batch * planes.output * y.output;
    tensor::ParallelFor(rows, x.input * images_.channels * y.size,
                        [&, rows_of_image = y.output](int64_t row) {
                          thread_local std::vector<int16_t> ranks;  // maximum of each column
                          // The vectors of the last pixels read elements after them.
                          ranks.resize(static_cast<size_t>(x.input * images_.channels + kSimdWidth));
                          const int64_t image = row / rows_of_image, at = row % rows_of_image;
                          const int16_t* pixels = input + image * y.input * x.input * images_.channels;
                          int16_t* largest = ranks.data();
                          int16_t* out = output + row * x.output * images_.channels;
                          simd::Vectorized([&] {
                            FindColumns(pixels, at, largest);
                            for (int64_t to = 0; to < x.output; ++to)
                              Store(largest, to, out + to * images_.channels);
                          });
                        });
    return Success();
  }

 private:
  struct Taps {
    int64_t begin, end;  // input pixels
  };
  static Taps TapsOf(const kernels::WindowAxis& axis, int64_t at) {
    const int64_t first = at * axis.stride - axis.before;
    return {std::max<int64_t>(first, 0), std::min(first + axis.size, axis.input)};
  }

  [[gnu::always_inline]] void FindColumns(const int16_t* pixels, int64_t at, int16_t* largest) const {
    const auto& [planes, y, x] = images_.window;
    const int64_t count = x.input * images_.channels;
    const Taps taps = TapsOf(y, at);
    const auto in_vectors = [&](int64_t c) __attribute__((always_inline)) {
      Bits most = Bits{} + kLowest;
      for (int64_t i = taps.begin; i < taps.end; ++i) {
        Bits rank = *reinterpret_cast<const Bits*>(pixels + i * count + c);
        ToRank(rank);
        TakeLarger(rank, most);
      }
      *reinterpret_cast<Bits*>(largest + c) = most;
    };
    const auto of_element = [&](int64_t c) __attribute__((always_inline)) {
      int most = kLowest;
      for (int64_t i = taps.begin; i < taps.end; ++i) {
        int rank = pixels[i * count + c];
        ToRank(rank);
        TakeLarger(rank, most);
      }
      largest[c] = static_cast<int16_t>(most);
    };
    ForChannels(count, count, in_vectors, of_element);
  }

  [[gnu::always_inline]] void Store(const int16_t* columns, int64_t to, int16_t* out) const {
    const kernels::WindowAxis& x = images_.window[2];
    const int64_t channels = images_.channels;
    const Taps taps = TapsOf(x, to);
    const auto in_vectors = [&](int64_t c) __attribute__((always_inline)) {
      Bits most = Bits{} + kLowest;
      for (int64_t i = taps.begin; i < taps.end; ++i)
        TakeLarger<Bits>(*reinterpret_cast<const Bits*>(columns + i * channels + c), most);
      FromRank(most);
      *reinterpret_cast<Bits*>(out + c) = most;
    };
    const auto of_element = [&](int64_t c) __attribute__((always_inline)) {
      int most = kLowest;
      for (int64_t i = taps.begin; i < taps.end; ++i) TakeLarger<int>(columns[i * channels + c], most);
      FromRank(most);
      out[c] = static_cast<int16_t>(most);
    };
    ForChannels(channels, (x.output - to) * channels, in_vectors, of_element);
  }

  Bf16Images images_;
};

}  // namespace

std::shared_ptr<const kernels::Kernel> MakeBf16MaxPool(const Bf16Images& images) {
  return std::make_shared<Bf16MaxPool>(images);
}

}  // namespace nnefc::runtime::fast::pointwise
