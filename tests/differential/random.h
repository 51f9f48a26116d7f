#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace nnefc::differential {

// A random generator with the same numbers on every machine (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, count); `count` > 0.
  int64_t Below(int64_t count) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(count)); }
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  // Returns true with a probability of `percent`.
  bool Chance(int percent) { return Below(100) < percent; }
  // Returns a number in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[static_cast<size_t>(Below(static_cast<int64_t>(items.size())))];
  }
  template <typename T>
  T Pick(std::initializer_list<T> items) {
    return *(items.begin() + Below(static_cast<int64_t>(items.size())));
  }

 private:
  uint64_t state_;
};

}  // namespace nnefc::differential
