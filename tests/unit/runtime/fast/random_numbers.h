#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace nnefc::runtime::fast {

// In [-1, 1), the same ones for the same `seed`.
inline std::vector<float> RandomNumbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = uniform(random);
  return numbers;
}

}  // namespace nnefc::runtime::fast
