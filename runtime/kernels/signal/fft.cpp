// The discrete Fourier transform of any size.

#include "runtime/kernels/signal/fft.h"

#include <array>
#include <cmath>
#include <numbers>

#include "runtime/kernels/shapes/indices.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::kernels::signal {

namespace {

// A direct transform of prime length takes length^2 steps; longer ones use convolution.
constexpr int64_t kLargestFactor = 31;

// exp(-2 * pi * i * k / n), exact at quarters of the circle.
Complex Root(int64_t k, int64_t n) {
  if (4 * k % n == 0) {
    static constexpr std::array<std::array<double, 2>, 4> kQuarters = {{{1, 0}, {0, -1}, {-1, 0}, {0, 1}}};
    const auto& quarter = kQuarters[static_cast<size_t>(4 * k / n % 4)];
    return {quarter[0], quarter[1]};
  }
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// Returns the prime factors in ascending order.
std::vector<int64_t> FactorsOf(int64_t size) {
  std::vector<int64_t> factors;
  for (int64_t factor = 2; factor * factor <= size; ++factor) {
    for (; size % factor == 0; size /= factor) factors.push_back(factor);
  }
  if (size > 1) factors.push_back(size);
  return factors;
}

}  // namespace

Fft::Fft(int64_t size) : size_(size), factors_(FactorsOf(size)) {
  if (size <= 1) return;
  if (factors_.back() <= kLargestFactor) {
    roots_.reserve(static_cast<size_t>(size));
    for (int64_t k = 0; k < size; ++k) roots_.push_back(Root(k, size));
    return;
  }
  // k * n = (k * k + n * n - (k - n) * (k - n)) / 2: the transform is a convolution with a chirp, made cyclic
  // with a power of two of at least 2 * size - 1.
  int64_t length = 1;
  while (length < 2 * size - 1) length *= 2;
  convolution_ = std::make_unique<const Fft>(length);
  chirp_.resize(static_cast<size_t>(size));
  filter_.assign(static_cast<size_t>(length), Complex(0));
  for (int64_t k = 0, square = 0; k < size; square = (square + 2 * k + 1) % (2 * size), ++k) {
    const auto at = static_cast<size_t>(k);
    chirp_[at] = Root(square, 2 * size);
    filter_[at] = filter_[static_cast<size_t>((length - k) % length)] = std::conj(chirp_[at]);
  }
  std::vector<Complex> scratch;
  convolution_->Forward(filter_.data(), scratch);
}

void Fft::Forward(Complex* data, std::vector<Complex>& scratch) const {
  if (size_ <= 1) return;
  if (convolution_) return ByConvolution(data, scratch);
  scratch.assign(data, data + size_);
  ByFactors(scratch.data(), data, size_, 1, 0);
}

void Fft::Inverse(Complex* data, std::vector<Complex>& scratch) const {
  for (int64_t k = 0; k < size_; ++k) data[k] = std::conj(data[k]);
  Forward(data, scratch);
  for (int64_t k = 0; k < size_; ++k) data[k] = std::conj(data[k]) / static_cast<double>(size_);
}

// Cooley-Tukey: combines the transforms of the `radix` interleaved parts of in[0], in[stride] ...
void Fft::ByFactors(const Complex* in, Complex* out, int64_t size, int64_t stride, size_t factor) const {
  if (size == 1) {
    *out = *in;
    return;
  }
  const int64_t radix = factors_[factor];
  const int64_t part = size / radix;
  for (int64_t r = 0; r < radix; ++r)
    ByFactors(in + r * stride, out + r * part, part, stride * radix, factor + 1);
  std::array<Complex, kLargestFactor> terms;
  const auto root = [&](int64_t k) { return roots_[static_cast<size_t>(k * stride % size_)]; };
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t r = 0; r < radix; ++r) terms[static_cast<size_t>(r)] = out[r * part + k] * root(r * k);
    for (int64_t q = 0; q < radix; ++q) {
      Complex sum = terms[0];
      for (int64_t r = 1; r < radix; ++r) sum += terms[static_cast<size_t>(r)] * root(r * q % radix * part);
      out[q * part + k] = sum;
    }
  }
}

void Fft::ByConvolution(Complex* data, std::vector<Complex>& scratch) const {
  std::vector<Complex> line(filter_.size());
  for (size_t k = 0; k < chirp_.size(); ++k) line[k] = data[k] * chirp_[k];
  convolution_->Forward(line.data(), scratch);
  for (size_t k = 0; k < line.size(); ++k) line[k] *= filter_[k];
  convolution_->Inverse(line.data(), scratch);
  for (size_t k = 0; k < chirp_.size(); ++k) data[k] = line[k] * chirp_[k];
}

void TransformAxis(Complex* data, llvm::ArrayRef<int64_t> shape, size_t axis, bool inverse) {
  const int64_t extent = shape[axis];
  const int64_t inner = VolumeOf(shape.drop_front(axis + 1));
  const int64_t lines = VolumeOf(shape.take_front(axis)) * inner;
  if (lines == 0 || extent <= 1) return;
  const Fft transform(extent);
  tensor::ParallelFor(lines, 16 * extent, [&](int64_t line) {
    std::vector<Complex> numbers(static_cast<size_t>(extent)), scratch;
    Complex* first = data + line / inner * extent * inner + line % inner;
    for (int64_t k = 0; k < extent; ++k) numbers[static_cast<size_t>(k)] = first[k * inner];
    inverse ? transform.Inverse(numbers.data(), scratch) : transform.Forward(numbers.data(), scratch);
    for (int64_t k = 0; k < extent; ++k) first[k * inner] = numbers[static_cast<size_t>(k)];
  });
}

}  // namespace nnefc::runtime::kernels::signal
