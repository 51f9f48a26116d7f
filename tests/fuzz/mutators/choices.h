#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace nnefc::fuzz {

// A deterministic source of choices (SplitMix64): equal seeds make equal choices on every platform.
class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}

  uint64_t Bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, bound); 0 if `bound` is 0.
  size_t Below(size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(Bits() % bound); }
  bool OneIn(size_t count) { return Below(count) == 0; }
  // Returns an element of a container that is not empty.
  template <typename Container>
  decltype(auto) Pick(Container&& items) {
    return items[Below(std::size(items))];
  }

 private:
  uint64_t state_;
};

}  // namespace nnefc::fuzz
