#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace nnefc::runtime {

// Reductions of f32: `Combine` the terms that `Map` makes of elements, from `first` on. Those
// that round do so in f64.

struct Sum {
  using Term = double;
  static constexpr double first() { return 0; }
  static double Map(double x) { return x; }
  static double Combine(double a, double b) { return a + b; }
};
struct SumOfSquares : Sum {
  static double Map(double x) { return x * x; }
};
// Elements that are not greater, NaN among them, are passed over.
template <typename T>
struct LargestOf {
  using Term = T;
  static constexpr T first() { return -std::numeric_limits<T>::infinity(); }
  static T Map(T x) { return x; }
  static T Combine(T a, T b) { return a < b ? b : a; }
};

constexpr int64_t kReducerLanes = 16;

// Combines each lane with the elements at its place in every part of a row, then the lanes:
// compilers keep the order of what is written one after the other.
template <typename Reducer>
[[gnu::always_inline]] inline typename Reducer::Term ReduceRow(const float* x, int64_t count,
                                                               const Reducer& reducer) {
  using Term = typename Reducer::Term;
  std::array<Term, kReducerLanes> lanes;
  lanes.fill(reducer.first());
  int64_t i = 0;
  for (; i + kReducerLanes <= count; i += kReducerLanes) {
    for (int64_t lane = 0; lane < kReducerLanes; ++lane)
      lanes[lane] = reducer.Combine(lanes[lane], reducer.Map(static_cast<Term>(x[i + lane])));
  }
  for (int64_t lane = 0; lane < count - i; ++lane)
    lanes[lane] = reducer.Combine(lanes[lane], reducer.Map(static_cast<Term>(x[i + lane])));
  for (int64_t width = kReducerLanes / 2; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane)
      lanes[lane] = reducer.Combine(lanes[lane], lanes[lane + width]);
  }
  return lanes[0];
}

}  // namespace nnefc::runtime
