// Quantization of constant filters to 8 bits.

#include "runtime/fast/int8/convolution/filter_quantization.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::int8 {

namespace {

constexpr size_t kRow = 256;  // numbers checked between two tests for a mismatch
constexpr double kWhole = 1e-4;

// Calls `run(row)` for consecutive parts of the numbers, until it returns false.
template <typename Run>
bool EachRow(std::span<const float> numbers, const Run& run) {
  for (size_t begin = 0; begin < numbers.size(); begin += kRow) {
    if (!run(numbers.subspan(begin, std::min(kRow, numbers.size() - begin)))) return false;
  }
  return true;
}

// Returns the maximum distance of the numbers from multiples of 1 / `inverse`, infinity beyond 128. In f32
// quantized values are off by up to 1.6e-5: two roundings of half an ulp of 128.
constexpr float kCodeError = 1.6e-5F;
float FarthestInF32(std::span<const float> numbers, float inverse) {
  float farthest = 0;
  const float* number = numbers.data();
  const size_t count = numbers.size();
  simd::Vectorized([=, &farthest] {
    constexpr float kRound = 12582912.0F;  // the last mantissa bit has the value 1
    float away = 0;
    for (size_t i = 0; i < count; ++i) {
      const float code = number[i] * inverse;
      const float distance = std::abs(code - ((code + kRound) - kRound));
      const float from_whole = std::abs(code) <= 128.5F ? distance : std::numeric_limits<float>::infinity();
      away = from_whole > away ? from_whole : away;
    }
    farthest = away;
  });
  return farthest;
}

bool AreMultiples(std::span<const float> numbers, double scale) {
  const double inverse = 1 / scale;
  return EachRow(numbers, [inverse](std::span<const float> row) {
    const float close = FarthestInF32(row, static_cast<float>(inverse));
    if (close <= static_cast<float>(kWhole) - kCodeError) return true;
    if (close <= 0.5F && close > static_cast<float>(kWhole) + kCodeError) return false;
    double farthest = 0;
    const float* number = row.data();
    const size_t count = row.size();
    simd::Vectorized([=, &farthest] {
      constexpr double kRound = 6755399441055744.0;  // the last mantissa bit has the value 1
      double away = 0;
      for (size_t i = 0; i < count; ++i) {
        const double code = static_cast<double>(number[i]) * inverse;
        const double distance = std::abs(code - (code + kRound - kRound));
        away = distance > away ? distance : away;
      }
      farthest = away;
    });
    return farthest <= kWhole;
  });
}

// Includes a margin for rounding to f32.
float SumOfMagnitudes(std::span<const float> numbers) {
  double sum = 0;
  EachRow(numbers, [&](std::span<const float> row) {
    const float* number = row.data();
    const size_t count = row.size();
    float of_row = 0;
    simd::Vectorized([=, &of_row] {
      constexpr size_t kSums = 8;
      float sums[kSums] = {}, rest = 0;
      size_t i = 0;
      for (; i + kSums <= count; i += kSums) {
        for (size_t lane = 0; lane < kSums; ++lane) sums[lane] += std::abs(number[i + lane]);
      }
      for (; i < count; ++i) rest += std::abs(number[i]);
      for (float lane : sums) rest += lane;
      of_row = rest;
    });
    sum += static_cast<double>(of_row);
    return true;
  });
  return static_cast<float>(sum * (1 + 1e-4));
}

struct Extremes {
  float largest = 0;           // maximum magnitude; infinite or NaN if any number is
  bool only_negative = false;  // true if only a negative number has that magnitude
};

// Compared as integers, an order-preserving view of floats without their sign.
Extremes ExtremesOf(std::span<const float> numbers) {
  int32_t magnitude = 0, highest = INT32_MIN;
  const float* number = numbers.data();
  const size_t count = numbers.size();
  simd::Vectorized([=, &magnitude, &highest] {
    int32_t most = 0, high = INT32_MIN;
    for (size_t i = 0; i < count; ++i) {
      int32_t bits = 0;
      __builtin_memcpy(&bits, number + i, sizeof(bits));
      const int32_t size = bits & INT32_MAX;
      most = size > most ? size : most;
      high = bits > high ? bits : high;
    }
    magnitude = most;
    highest = high;
  });
  return {.largest = std::bit_cast<float>(magnitude), .only_negative = highest < magnitude};
}

}  // namespace

// Returns the quantized value of the largest magnitude if all numbers are multiples of the previous scale:
// the largest multiple, up to `most`, of the smallest one with integral values for all numbers. With any
// other a number is at least 1/128 away from an integer, far more than `kWhole`.
std::optional<int> ScaleFinder::QuantizeByUnit(std::span<const float> numbers, double largest,
                                               int most) const {
  if (unit_ == 0) return std::nullopt;
  const double of_largest = std::nearbyint(largest / unit_);
  if (!(of_largest >= 1 && of_largest <= most) || !AreMultiples(numbers, unit_)) return std::nullopt;
  const double inverse = 1 / unit_;
  int64_t divisor = static_cast<int64_t>(of_largest);
  for (size_t i = 0; i < numbers.size() && divisor > 1; ++i)
    divisor = std::gcd(divisor, std::lround(static_cast<double>(numbers[i]) * inverse));
  const int step = static_cast<int>(of_largest) / static_cast<int>(divisor);
  return most / step * step;
}

std::optional<float> ScaleFinder::Find(std::span<const float> numbers) {
  constexpr size_t kMaxProducts = INT32_MAX / (255 * 128);
  if (numbers.size() > kMaxProducts) return std::nullopt;
  const Extremes extremes = ExtremesOf(numbers);
  if (!std::isfinite(extremes.largest)) return std::nullopt;
  if (extremes.largest == 0) return 1.0f;
  const auto largest = static_cast<double>(extremes.largest);
  const int most = extremes.only_negative ? 128 : 127;
  const auto fits = [&](int code) {
    const double scale = largest / code;
    return scale > 1e-30 && AreMultiples(numbers, scale);
  };
  std::optional<int> found = QuantizeByUnit(numbers, largest, most);
  if (!found || !fits(*found)) {
    found = std::nullopt;
    for (int code = most; code > 0 && !found; --code) {
      if (fits(code)) found = code;
    }
  }
  if (!found) return std::nullopt;
  unit_ = largest / *found;
  max_magnitude_ = std::max(max_magnitude_, SumOfMagnitudes(numbers) / static_cast<float>(unit_));
  return static_cast<float>(unit_);
}

// Reads channels in groups, because a filter that is computed lazily exists only in parts.
ir::FilterQuantization QuantizeFilter(const TensorValue& filter, bool grouped) {
  constexpr size_t kSome = size_t{128} << 10;
  if (filter.type() != ElementType::kF32 || filter.rank() < (grouped ? 3 : 2) || filter.volume() == 0)
    return {};
  const Shape& shape = filter.shape();
  const int64_t channels = grouped ? shape[0] * shape[1] : shape[0];
  const auto each = static_cast<size_t>(filter.volume() / channels);
  const int64_t step =
      std::max<int64_t>(1, static_cast<int64_t>(kSome * static_cast<size_t>(shape[0]) / filter.byte_size()));
  ScaleFinder finder;
  ir::FilterQuantization codes;
  for (int64_t begin = 0; begin < shape[0]; begin += step) {
    const TensorValue rows =
        filter.LoadedRows(begin, std::min(begin + step, shape[0])).Aligned(alignof(float));
    const std::span<const float> numbers = rows.elements<float>();
    for (size_t at = 0; at < numbers.size(); at += each) {
      const std::optional<float> scale = finder.Find(numbers.subspan(at, each));
      if (!scale) return {};
      codes.scales.push_back(*scale);
    }
  }
  codes.max_magnitude = finder.max_magnitude();
  return codes;
}

ir::FilterQuantization QuantizeColumns(const TensorValue& filter) {
  if (filter.type() != ElementType::kF32 || filter.rank() < 2 || filter.volume() == 0) return {};
  const TensorValue aligned = filter.Loaded().Aligned(alignof(float));
  const float* numbers = aligned.elements<float>().data();
  const auto rows = static_cast<size_t>(filter.shape()[0]);
  const auto columns = static_cast<size_t>(filter.shape()[1]);
  const size_t taps = static_cast<size_t>(filter.volume()) / rows / columns;
  constexpr size_t kSome = 16;  // columns gathered together: at least one cache line
  const size_t each = rows * taps;
  std::vector<float> gathered(kSome * each);
  ScaleFinder finder;
  ir::FilterQuantization codes;
  for (size_t first = 0; first < columns; first += kSome) {
    const size_t count = std::min(kSome, columns - first);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < count; ++i)
        std::copy_n(numbers + (row * columns + first + i) * taps, taps,
                    gathered.data() + i * each + row * taps);
    }
    for (size_t i = 0; i < count; ++i) {
      const std::optional<float> scale = finder.Find(std::span(gathered).subspan(i * each, each));
      if (!scale) return {};
      codes.scales.push_back(*scale);
    }
  }
  codes.max_magnitude = finder.max_magnitude();
  return codes;
}

ir::FilterQuantization QuantizeMatrix(const TensorValue& matrix, bool transposed) {
  if (matrix.rank() != 2) return {};
  return transposed ? QuantizeFilter(matrix, false) : QuantizeColumns(matrix);
}

kernels::Reason TransposedInt8Applies(const ir::Node& node, llvm::ArrayRef<int64_t> filter) {
  if (!HasVnni()) return kernels::Reason("needs VNNI");
  const llvm::ArrayRef<int64_t> size = filter.drop_front(2);
  const auto numbers = [&](std::string_view name) { return node.Ints(name, size.size()); };
  const std::vector<int64_t> strides = numbers("strides"), dilations = numbers("dilations"),
                             begin = numbers("pads_begin"), end = numbers("pads_end"),
                             more = numbers("output_padding");
  const bool is_explicit = node.String("auto_pad") == "explicit";
  for (size_t axis = 0; axis < size.size(); ++axis) {
    if (dilations[axis] != 1) return kernels::Reason("a dilated filter");
    const bool is_padded = is_explicit ? begin[axis] >= 0 && more[axis] <= end[axis] : more[axis] <= 0;
    if (size[axis] < strides[axis] || !is_padded) return kernels::Reason("results without taps");
  }
  return kernels::Reason();
}

ir::FilterQuantization QuantizeFilterOf(const ir::Node& node, const TensorValue& filter,
                                        kernels::ConstantNumbers& numbers) {
  constexpr size_t kLarge = size_t{16} << 10;
  const bool is_factor = node.Is(ir::Contraction::kMatMul);
  const bool is_grouped = node.Is(ir::Contraction::kGroupConvolution);
  const bool is_transposed = node.Is(ir::Contraction::kConvolutionBackpropData);
  if (is_transposed && !TransposedInt8Applies(node, filter.shape()).empty()) return {};
  const bool by_column = is_transposed || (is_factor && !node.Bool("transpose_b"));
  const auto find = [&] { return by_column ? QuantizeColumns(filter) : QuantizeFilter(filter, is_grouped); };
  if (filter.byte_size() < kLarge || filter.rank() < 2) return find();
  const Shape& shape = filter.shape();
  const int64_t channels = by_column ? shape[1] : is_grouped ? shape[0] * shape[1] : shape[0];
  const std::string_view what = by_column    ? "codes of columns"
                                : is_grouped ? "codes of groups"
                                             : "codes of rows";
  // The cached numbers are the scales, followed by max_magnitude.
  ir::FilterQuantization codes;
  codes.scales = numbers.Get(filter, what, static_cast<size_t>(channels + 1), [&] {
    ir::FilterQuantization found = find();
    if (!found.scales.empty()) found.scales.push_back(found.max_magnitude);
    return std::move(found.scales);
  });
  if (codes.scales.empty()) return codes;
  codes.max_magnitude = codes.scales.back();
  codes.scales.pop_back();
  return codes;
}

}  // namespace nnefc::runtime::fast::int8
