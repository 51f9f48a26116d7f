// RandomUniform and Multinomial. Equal seeds yield the same numbers in each run, those of OpenVINO's first
// inference. If both seeds are 0, each run draws new numbers.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::signal {

namespace {

struct Seeds {
  uint64_t global, op;

  static Seeds Of(const ir::Node& node) {
    Seeds seeds{static_cast<uint64_t>(node.Int("global_seed")), static_cast<uint64_t>(node.Int("op_seed"))};
    if (seeds.global == 0 && seeds.op == 0) seeds.global = std::random_device()() | 1;
    return seeds;
  }
};

// Philox4x32 with 10 rounds: four 32-bit numbers per counter value.
class Philox {
 public:
  explicit Philox(Seeds seeds) : seeds_(seeds) {}

  uint32_t operator()() {
    if (next_ == block_.size()) Refill();
    return block_[next_++];
  }

 private:
  static uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
  static uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

  void Refill() {
    uint64_t n = count_, counter = seeds_.op;
    uint32_t key_low = Low(seeds_.global), key_high = High(seeds_.global);
    for (int round = 0; round < 10; ++round) {
      const uint64_t by_n = uint64_t{0xD2511F53} * Low(n);
      const uint64_t by_counter = uint64_t{0xCD9E8D57} * Low(counter);
      const uint32_t n_low = High(by_counter) ^ High(n) ^ key_low;
      const uint32_t counter_low = High(by_n) ^ High(counter) ^ key_high;
      n = uint64_t{Low(by_counter)} << 32 | n_low;
      counter = uint64_t{Low(by_n)} << 32 | counter_low;
      key_low += 0x9E3779B9;
      key_high += 0xBB67AE85;
    }
    block_ = {Low(n), High(n), Low(counter), High(counter)};
    next_ = 0;
    if (++count_ == 0) ++seeds_.op;
  }

  Seeds seeds_;
  uint64_t count_ = 0;
  std::array<uint32_t, 4> block_ = {};
  size_t next_ = 4;
};

// Returns a number in [0, 1) from the lowest bits of x, as many as the format has mantissa bits.
template <typename T>
double Fraction(uint64_t x) {
  constexpr int kBits = std::is_same_v<T, double>  ? 52
                        : std::is_same_v<T, float> ? 23
                        : std::is_same_v<T, Half>  ? 10
                                                   : 7;
  return std::ldexp(static_cast<double>(x & ((uint64_t{1} << kBits) - 1)), -kBits);
}

// PyTorch's variant, with one more bit.
template <typename T>
double TorchFraction(uint64_t x) {
  constexpr int kBits = std::is_same_v<T, double>  ? 53
                        : std::is_same_v<T, float> ? 24
                        : std::is_same_v<T, Half>  ? 11
                                                   : 8;
  return std::ldexp(static_cast<double>(x & ((uint64_t{1} << kBits) - 1)), -kBits);
}

// low + x mod (high - low); low < high.
template <typename T>
T InRange(uint64_t x, T low, T high) {
  const auto first = static_cast<uint64_t>(low);
  return static_cast<T>(first + x % (static_cast<uint64_t>(high) - first));
}

template <typename T>
T FromFraction(double fraction, T low, T high) {
  using C = ComputeType<T>;
  const C width = static_cast<C>(high) - static_cast<C>(low);
  return T(std::fma(static_cast<C>(fraction), width, static_cast<C>(low)));
}

// TensorFlow alignment: Philox. 64-bit numbers consist of two 32-bit ones.
template <typename T>
void FillByPhilox(Seeds seeds, T low, T high, T* out, int64_t count) {
  Philox next(seeds);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t first = next();
    const uint64_t second = sizeof(T) == 8 ? next() : 0;
    if constexpr (kIsFloating<T>) {
      out[i] = FromFraction(Fraction<T>(sizeof(T) == 8 ? first << 32 | second : first), low, high);
    } else {
      out[i] = InRange(second << 32 | first, low, high);
    }
  }
}

// PyTorch alignment: the Mersenne Twister with the global seed. 64-bit integers use two numbers only if the
// bounds require them.
template <typename T>
void FillByMersenneTwister(Seeds seeds, T low, T high, T* out, int64_t count) {
  std::mt19937 next(static_cast<uint32_t>(seeds.global));
  bool is_wide = sizeof(T) == 8;
  if constexpr (std::is_same_v<T, int64_t>) is_wide = low > int64_t{UINT32_MAX} || high > int64_t{UINT32_MAX};
  for (int64_t i = 0; i < count; ++i) {
    uint64_t x = next();
    if (is_wide) x = x << 32 | next();
    if constexpr (kIsFloating<T>) {
      out[i] = FromFraction(TorchFraction<T>(x), low, high);
    } else {
      out[i] = InRange(x, low, high);
    }
  }
}

// RandomUniform-8: numbers in [minval, maxval).
FaultOr<Success> RandomUniform(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  const bool is_torch = run.node.String("alignment") == "pytorch";
  const Seeds seeds = Seeds::Of(run.node);
  bool is_empty = false;
  const bool known = VisitNumericType(output.type(), [&]<typename T>(TypeTag<T>) {
    if constexpr (kIsFloating<T> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      const T low = run.input(1).data<T>()[0];
      const T high = run.input(2).data<T>()[0];
      is_empty = !(static_cast<ComputeType<T>>(low) < static_cast<ComputeType<T>>(high));
      if (is_empty) return;
      T* out = output.mutable_data<T>();
      is_torch ? FillByMersenneTwister(seeds, low, high, out, output.volume())
               : FillByPhilox(seeds, low, high, out, output.volume());
    }
  });
  if (is_empty) return KernelFault("`minval` is not less than `maxval`");
  if (!known) return UnsupportedType(run);
  return Success();
}

// Prefix sums of a row of probabilities with removal of elements (a Fenwick tree).
class CumulativeSums {
 public:
  explicit CumulativeSums(llvm::ArrayRef<double> row) : row_(row.begin(), row.end()), sums_(row.size() + 1) {
    for (size_t i = 0; i < row.size(); ++i) Add(i, row[i]);
    num_nonzero_ = row.size() - static_cast<size_t>(std::count(row.begin(), row.end(), 0.0));
  }

  // Returns true if all elements are zero. Then the total may differ from 0 by rounding errors.
  bool IsZero() const { return num_nonzero_ == 0; }
  double Total() const {
    double total = 0;
    for (size_t i = row_.size(); i > 0; i -= i & -i) total += sums_[i];
    return total;
  }
  // Returns the first nonzero element at which the prefix sum is at least `target`. There is a nonzero
  // element.
  size_t Find(double target) const {
    size_t at = 0, step = 1;
    while (2 * step <= row_.size()) step *= 2;
    for (; step > 0; step /= 2) {
      if (at + step <= row_.size() && sums_[at + step] < target) {
        at += step;
        target -= sums_[at];
      }
    }
    // Rounding errors may lead to a zero element or past the end.
    while (at < row_.size() && row_[at] == 0) ++at;
    if (at >= row_.size()) at = row_.size() - 1;
    while (row_[at] == 0) --at;
    return at;
  }
  // Sets a nonzero element to 0.
  void Remove(size_t i) {
    Add(i, -row_[i]);
    row_[i] = 0;
    --num_nonzero_;
  }

 private:
  void Add(size_t i, double x) {
    for (++i; i < sums_.size(); i += i & -i) sums_[i] += x;
  }

  std::vector<double> row_;
  std::vector<double> sums_;
  size_t num_nonzero_ = 0;
};

// Multinomial-13: draws classes by probability; without replacement each at most once.
FaultOr<Success> Multinomial(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  const int64_t rows = output.extent(0), samples = output.extent(1);
  const int64_t classes = run.input(0).extent(1);
  const bool with_replacement = run.node.Bool("with_replacement");
  llvm::SmallVector<double, 8> probabilities = tensor::ElementsAsDoubles(run.input(0));
  const Seeds seeds = Seeds::Of(run.node);
  std::seed_seq sequence{static_cast<uint32_t>(seeds.global), static_cast<uint32_t>(seeds.op)};
  std::mt19937 next(sequence);
  for (double& p : probabilities) {
    if (run.node.Bool("log_probs")) p = std::exp(p);
    if (!(p >= 0) || std::isinf(p)) return KernelFault("a probability is {}; expected at least 0", p);
  }
  for (int64_t row = 0; row < rows; ++row) {
    CumulativeSums sums(llvm::ArrayRef<double>(probabilities)
                            .slice(static_cast<size_t>(row * classes), static_cast<size_t>(classes)));
    for (int64_t i = 0; i < samples; ++i) {
      if (sums.IsZero()) return KernelFault("row {} has no probability left for sample {}", row, i);
      const auto fraction = static_cast<float>(next()) / static_cast<float>(std::mt19937::max());
      const size_t found = sums.Find(static_cast<double>(fraction) * sums.Total());
      if (!with_replacement) sums.Remove(found);
      if (output.type() == ElementType::kI32) {
        output.mutable_data<int32_t>()[row * samples + i] = static_cast<int32_t>(found);
      } else {
        output.mutable_data<int64_t>()[row * samples + i] = static_cast<int64_t>(found);
      }
    }
  }
  return Success();
}

}  // namespace

void RegisterRandom(KernelRegistry& registry) {
  registry.AddReference({"opset8"}, "RandomUniform", RandomUniform);
  registry.AddReference({"opset13"}, "Multinomial", Multinomial);
}

}  // namespace nnefc::runtime::kernels::signal
