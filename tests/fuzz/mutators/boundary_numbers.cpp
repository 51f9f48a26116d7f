#include "tests/fuzz/mutators/boundary_numbers.h"

#include <array>
#include <charconv>
#include <limits>

namespace nnefc::fuzz {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr auto kIntegers = std::to_array<int64_t>({0,
                                                   1,
                                                   -1,
                                                   2,
                                                   -2,
                                                   3,
                                                   4,
                                                   5,
                                                   7,
                                                   8,
                                                   9,
                                                   15,
                                                   16,
                                                   17,
                                                   31,
                                                   32,
                                                   63,
                                                   64,
                                                   65,
                                                   127,
                                                   128,
                                                   255,
                                                   256,
                                                   1000,
                                                   4095,
                                                   4096,
                                                   32767,
                                                   32768,
                                                   65535,
                                                   65536,
                                                   65537,
                                                   46341,
                                                   2147483647,
                                                   2147483648,
                                                   -2147483648,
                                                   4294967295,
                                                   4294967296,
                                                   4611686018427387904,
                                                   kLargest,
                                                   kSmallest,
                                                   kSmallest + 1,
                                                   kLargest - 1});
constexpr size_t kSmallIntegers = 16;
constexpr auto kScalars = std::to_array<std::string_view>({"0.0",          "1.0",     "-1.0",
                                                           "0.5",          "-0.0",    "2.0",
                                                           "1e-5",         "1e-45",   "1.17549435e-38",
                                                           "3.4028235e38", "3.5e38",  "-3.4028235e38",
                                                           "1e308",        "1.8e308", "5e-324",
                                                           "16777217.0",   "0.1",     "1e30",
                                                           "-1e30",        "65504.0", "9007199254740993.0"});

}  // namespace

int64_t BoundaryInteger(Choices& choices) {
  if (!choices.OneIn(3)) return kIntegers[choices.Below(kSmallIntegers)];
  return choices.Pick(kIntegers);
}

std::string BoundaryNumber(std::string_view old, Choices& choices) {
  int64_t integer = 0;
  const auto [end, error] = std::from_chars(old.data(), old.data() + old.size(), integer);
  const bool is_integer = error == std::errc() && end == old.data() + old.size();
  // The other kind of number, rarely: a dedicated rule rejects most of them.
  if (is_integer == choices.OneIn(12)) return std::string(choices.Pick(kScalars));
  if (is_integer && integer < kLargest && integer > kSmallest && choices.OneIn(2)) {
    return std::to_string(choices.OneIn(2) ? integer + 1 : integer - 1);
  }
  return std::to_string(BoundaryInteger(choices));
}

}  // namespace nnefc::fuzz
