#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace nnefc::runtime::fast::pointwise {

// f32 reductions: `Combine` merges the terms that `Map` returns for elements, starting with `first`. Those
// that round use f64.

struct Sum {
  using Term = double;
  static constexpr double first() { return 0; }
  static double Map(double x) { return x; }
  static double Combine(double a, double b) { return a + b; }
};
struct SumOfSquares : Sum {
  static double Map(double x) { return x * x; }
};
// Elements that are not greater, such as NaN, are skipped.
template <typename T>
struct LargestOf {
  using Term = T;
  static constexpr T first() { return -std::numeric_limits<T>::infinity(); }
  static T Map(T x) { return x; }
  static T Combine(T a, T b) { return a < b ? b : a; }
};

constexpr int64_t kReducerWidth = 16;

// Reduces each element position of blocks separately, then across positions, because compilers do not reorder
// sequential reductions.
template <typename Reducer>
[[gnu::always_inline]] inline typename Reducer::Term ReduceRow(const float* x, int64_t count,
                                                               const Reducer& reducer) {
  using Term = typename Reducer::Term;
  std::array<Term, kReducerWidth> lanes;
  lanes.fill(reducer.first());
  int64_t i = 0;
  for (; i + kReducerWidth <= count; i += kReducerWidth) {
    for (int64_t lane = 0; lane < kReducerWidth; ++lane)
      lanes[lane] = reducer.Combine(lanes[lane], reducer.Map(static_cast<Term>(x[i + lane])));
  }
  for (int64_t lane = 0; lane < count - i; ++lane)
    lanes[lane] = reducer.Combine(lanes[lane], reducer.Map(static_cast<Term>(x[i + lane])));
  for (int64_t width = kReducerWidth / 2; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane)
      lanes[lane] = reducer.Combine(lanes[lane], lanes[lane + width]);
  }
  return lanes[0];
}

}  // namespace nnefc::runtime::fast::pointwise
