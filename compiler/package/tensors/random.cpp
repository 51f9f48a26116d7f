// Pseudo-random data of variables and inputs, determined by seed and name.

#include "compiler/package/tensors/random.h"

#include <cmath>
#include <string>

namespace nnefc::package {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// The output function of SplitMix64.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

// Rule 1: labels are case-insensitive and contain no colon.
std::string Key(ir::DataRole role, std::string_view name) {
  if (role == ir::DataRole::kInput) return "external:" + std::string(name);
  std::string key(name);
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key;
}

// Rule 2: the random words of one tensor, addressable in any order.
struct Words {
  uint64_t state;

  Words(ir::DataRole role, uint64_t seed, std::string_view name)
      : state(Fnv1a(Key(role, name)) ^ Mix(seed + kGolden)) {}
  uint64_t operator[](size_t item) const { return Mix(state + (item + 1) * kGolden); }
};

double Deviation(ir::DataRole role, llvm::ArrayRef<int64_t> shape) {
  switch (role) {
    case ir::DataRole::kInput:
      return 1.0;
    case ir::DataRole::kBias:
      return 0.01;
    case ir::DataRole::kMean:
    case ir::DataRole::kOffset:
      return 0.1;
    default:
      break;
  }
  uint64_t fan_in = 1;
  for (int64_t extent : shape.drop_front(shape.empty() ? 0 : 1)) fan_in *= static_cast<uint64_t>(extent);
  return std::sqrt(2.0 / static_cast<double>(fan_in == 0 ? 1 : fan_in));
}

// Rule 4. Each item has exactly one rounding multiplication.
void FillFloats(ir::DataRole role, const Words& words, llvm::ArrayRef<int64_t> shape, std::span<float> out) {
  constexpr double kUnit24 = 0x1p-24;
  if (role == ir::DataRole::kVariance || role == ir::DataRole::kScale) {
    bool scale = role == ir::DataRole::kScale;
    double factor = scale ? 0.4 : 1.0;
    uint64_t offset = scale ? uint64_t{1} << 25 : uint64_t{1} << 23;
    for (size_t i = 0; i < out.size(); ++i) {
      double uniform = static_cast<double>((words[i] >> 40) + offset) * kUnit24;
      out[i] = static_cast<float>(factor * uniform);
    }
    return;
  }
  const double unit = Deviation(role, shape) * std::sqrt(3.0 / 4294967295.0);
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t word = words[i];
    auto field = [word](int shift) { return static_cast<int32_t>((word >> shift) & 0xffff); };
    int32_t sum = field(0) + field(16) + field(32) + field(48) - 131070;
    out[i] = static_cast<float>(unit * static_cast<double>(sum));
  }
}

template <typename T>
void FillBits(const Words& words, std::span<T> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(words[i] >> 63);
}

template <typename T, typename Fill>
TensorValue Make(ElementType type, llvm::ArrayRef<int64_t> shape, Fill fill) {
  std::optional<int64_t> volume = Volume(shape);
  if (!volume) return {};
  std::optional<size_t> size = ByteSize(type, *volume);
  if (!size) return {};
  auto buffer = Buffer::Allocate(*size);
  if (buffer == nullptr) return {};
  fill(std::span<T>(reinterpret_cast<T*>(buffer->mutable_data()), static_cast<size_t>(*volume)));
  return TensorValue(type, Shape(shape.begin(), shape.end()), std::move(buffer));
}

}  // namespace

TensorValue RandomTensor(ir::DataRole role, uint64_t seed, std::string_view name, ElementType type,
                         llvm::ArrayRef<int64_t> shape) {
  Words words(role, seed, name);
  TensorValue value;
  if (IsFloat(type)) {
    value = Make<float>(ElementType::kF32, shape,
                        [&](std::span<float> out) { FillFloats(role, words, shape, out); });
  } else if (type == ElementType::kBoolean) {
    value = Make<uint8_t>(type, shape, [&](std::span<uint8_t> out) { FillBits(words, out); });
  } else {
    value = Make<int64_t>(ElementType::kI64, shape, [&](std::span<int64_t> out) { FillBits(words, out); });
  }
  return value.valid() ? value.ConvertedTo(type) : value;
}

}  // namespace nnefc::package
