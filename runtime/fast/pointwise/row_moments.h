// Mean and variance of a row.
#pragma once

#include <cmath>
#include <cstdint>

namespace nnefc::runtime::fast::pointwise {

struct Moments {
  double mean, variance;
};

// The factor that MVN applies to distances from the mean.
struct MvnFactor {
  double epsilon;
  bool normalizes;  // divides by the standard deviation, with epsilon inside or outside of the root
  bool inside;

  double Of(double variance) const {
    if (!normalizes) return 1;
    return 1 / (inside ? std::sqrt(variance + epsilon) : std::sqrt(variance) + epsilon);
  }
};

using Floats8 = float __attribute__((vector_size(32), aligned(4), may_alias));
using Doubles8 = double __attribute__((vector_size(64)));

// Computes one pass of distances from the first element. The first distance does not exceed the root of the
// sum of squared distances from the mean, so cancellation stays within f32 precision. Distances from an
// infinity would turn an infinite mean into NaN.
[[gnu::always_inline]] inline Moments MomentsOf(const float* x, int64_t terms) {
  constexpr int64_t kSimdWidth = 8;
  const double first = std::isfinite(x[0]) ? static_cast<double>(x[0]) : 0;
  Doubles8 sums[2] = {}, squares[2] = {};
  int64_t i = 0;
  for (; i + 2 * kSimdWidth <= terms; i += 2 * kSimdWidth) {
    for (int64_t part = 0; part < 2; ++part) {
      const auto& taken = *reinterpret_cast<const Floats8*>(x + i + part * kSimdWidth);
      const Doubles8 distances = __builtin_convertvector(taken, Doubles8) - first;
      sums[part] += distances;
      squares[part] += distances * distances;
    }
  }
  sums[0] += sums[1];
  squares[0] += squares[1];
  double sum = 0, square = 0;
  for (; i < terms; ++i) {
    const double distance = static_cast<double>(x[i]) - first;
    sum += distance;
    square += distance * distance;
  }
  for (int64_t lane = 0; lane < kSimdWidth; ++lane) {
    sum += sums[0][lane];
    square += squares[0][lane];
  }
  const double mean = sum / static_cast<double>(terms);
  const double variance = square / static_cast<double>(terms) - mean * mean;
  return {first + mean, variance < 0 ? 0 : variance};
}

// Merges the moments of parts with terms_of(part) elements each.
template <typename TermsOf>
Moments MomentsOfParts(const Moments* parts, int64_t count, const TermsOf& terms_of) {
  double terms = 0, sum = 0, squares = 0;
  for (int64_t part = 0; part < count; ++part) {
    const auto of_part = static_cast<double>(terms_of(part));
    terms += of_part;
    sum += parts[part].mean * of_part;
  }
  const double mean = sum / terms;
  for (int64_t part = 0; part < count; ++part) {
    const double distance = parts[part].mean - mean;
    squares += (parts[part].variance + distance * distance) * static_cast<double>(terms_of(part));
  }
  return {mean, squares / terms};
}

// Computes to = (x - mean) * factor.
[[gnu::always_inline]] inline void ShiftAndScale(const float* x, int64_t terms, double mean, double factor,
                                                 float* to) {
  constexpr int64_t kSimdWidth = 8;
  int64_t i = 0;
  for (; i + kSimdWidth <= terms; i += kSimdWidth) {
    const Doubles8 taken = __builtin_convertvector(*reinterpret_cast<const Floats8*>(x + i), Doubles8);
    *reinterpret_cast<Floats8*>(to + i) = __builtin_convertvector((taken - mean) * factor, Floats8);
  }
  for (; i < terms; ++i) to[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * factor);
}

}  // namespace nnefc::runtime::fast::pointwise
