#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::kernels::signal {

using Complex = std::complex<double>;

// The discrete Fourier transform of `size` numbers, X[k] = sum over n of x[n] * exp(-2 * pi * i * k * n /
// size), in O(size * log(size)). Uses the factors of the size, or a convolution (Bluestein) if a factor is a
// large prime. Immutable and thread-safe.
class Fft {
 public:
  explicit Fft(int64_t size);

  int64_t size() const { return size_; }
  // Transforms `data` in place; `scratch` is resized.
  void Forward(Complex* data, std::vector<Complex>& scratch) const;
  // Computes the inverse: with a positive exponent, divided by the size.
  void Inverse(Complex* data, std::vector<Complex>& scratch) const;

 private:
  void ByFactors(const Complex* in, Complex* out, int64_t size, int64_t stride, size_t factor) const;
  void ByConvolution(Complex* data, std::vector<Complex>& scratch) const;

  int64_t size_;
  std::vector<int64_t> factors_;
  std::vector<Complex> roots_;  // exp(-2 * pi * i * k / size)
  // Bluestein's algorithm: exp(-pi * i * k * k / size), the transform of its conjugate, and the plan of that
  // transform.
  std::vector<Complex> chirp_;
  std::vector<Complex> filter_;
  std::unique_ptr<const Fft> convolution_;
};

// Transforms a row-major array of complex numbers along one axis.
void TransformAxis(Complex* data, llvm::ArrayRef<int64_t> shape, size_t axis, bool inverse);

}  // namespace nnefc::runtime::kernels::signal
