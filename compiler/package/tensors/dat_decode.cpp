// The decoding of a tensor file's items to a tensor, including dequantization.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "compiler/package/rules.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/package/tensors/dat_algorithm.h"
#include "compiler/support/tensor/compressed_floats.h"
#include "compiler/support/tensor/element_visitor.h"

namespace nnefc::package {
namespace {

using Algorithm = DatQuantization::Algorithm;

template <typename T>
T Load(const std::byte* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// Calls `use` with a function that loads an item by index as its native type.
template <typename Use>
void WithItems(const TensorValue& value, Use use) {
  const std::byte* bytes = value.bytes();
  const bool is_native = VisitAnyType(value.type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    // Any nonzero byte is true.
    using Item = std::conditional_t<std::is_same_v<T, Boolean>, uint8_t, T>;
    use([bytes](int64_t i) { return Load<Item>(bytes, i); });
  });
  NNEFC_CHECK(is_native);
}

// An argument of an algorithm, broadcast to the shape of the items: leading extents aligned, missing trailing
// ones implied.
class Argument {
 public:
  Argument(const TensorValue& value, llvm::ArrayRef<int64_t> shape)
      : value_(value), strides_(shape.size(), 0) {
    int64_t stride = 1;
    for (size_t i = value.shape().size(); i-- > 0;) {
      if (value.shape()[i] != 1) strides_[i] = stride;
      stride *= value.shape()[i];
    }
  }
  static bool Fits(const TensorValue& value, llvm::ArrayRef<int64_t> shape) {
    if (!value.valid() || value.volume() == 0 || value.shape().size() > shape.size()) return false;
    for (size_t i = 0; i < value.shape().size(); ++i) {
      if (value.shape()[i] != 1 && value.shape()[i] != shape[i]) return false;
    }
    return true;
  }
  int64_t stride(size_t axis) const { return strides_[axis]; }
  double at(int64_t offset) const { return value_.ElementAsDouble(offset); }

 private:
  const TensorValue& value_;
  llvm::SmallVector<int64_t, 4> strides_;
};

class Dequantizer {
 public:
  Dequantizer(const DatFile& dat, const DatQuantization& quantization, Emitter& emitter)
      : dat_(dat), quantization_(quantization), emitter_(emitter) {}

  std::optional<TensorValue> Decode() {
    if (!CheckArguments()) return std::nullopt;
    std::optional<size_t> size = ByteSize(ElementType::kF32, dat_.value.volume());
    auto buffer = size ? Buffer::Allocate(*size) : nullptr;
    if (buffer == nullptr) {
      emitter_.Emit(kDataTooLarge, ByteRange(dat_.file, dat_.data_offset, 0),
                    "there is no memory for {} items", dat_.value.volume());
      return std::nullopt;
    }
    auto* out = reinterpret_cast<float*>(buffer->mutable_data());
    bool decoded = true;
    WithItems(dat_.value, [&](auto item) {
      // Floats and bools are never quantized.
      if constexpr (std::is_integral_v<decltype(item(0))>) decoded = DecodeItems(item, out);
    });
    if (!decoded) return std::nullopt;
    return TensorValue(ElementType::kF32, dat_.value.shape(), std::move(buffer));
  }

 private:
  // Values that are constant along a run of items.
  struct Run {
    double scale = 0;   // linear
    double offset = 0;  // linear
    double zero = 0;    // linear: subtracted from the index first
    int top = 0;        // logarithmic: the exponent of the largest index
  };

  std::vector<const TensorValue*> ArgumentValues() const {
    switch (quantization_.algorithm) {
      case Algorithm::kMinMaxLinear:
        return {&quantization_.min, &quantization_.max};
      case Algorithm::kZeroPointLinear:
        return {&quantization_.zero_point, &quantization_.scale};
      case Algorithm::kLogarithmic:
        return {&quantization_.max};
    }
    return {};
  }

  template <typename... Args>
  bool Fail(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    emitter_.Emit(rule, ByteRange(dat_.file, dat_.type_offset, 4), format, std::forward<Args>(args)...);
    return false;
  }

  bool CheckArguments() {
    int bits = quantization_.bits;
    if (bits < 1 || bits > 64) return Fail(kDatRange, "{} bits of quantization; expected 1 to 64", bits);
    double steps = Steps();
    if (steps < 1 && quantization_.algorithm != Algorithm::kZeroPointLinear) {
      return Fail(kDatRange, "{} bits of quantization are too few with a sign", bits);
    }
    for (const TensorValue* value : ArgumentValues()) {
      if (!Argument::Fits(*value, dat_.value.shape())) {
        return Fail(kDatRange, "an argument of the quantization has shape {}; items have shape {}",
                    value->valid() ? ToString(value->shape()) : "none", ToString(dat_.value.shape()));
      }
      for (int64_t i = 0; i < value->volume(); ++i) {
        if (!std::isfinite(value->ElementAsDouble(i))) {
          return Fail(kDatRange, "the quantization has the range end {}", value->ElementAsDouble(i));
        }
      }
    }
    return true;
  }

  // Returns the number of steps between the smallest and the largest index.
  double Steps() const {
    bool symmetric = quantization_.is_signed && quantization_.symmetric;
    if (quantization_.algorithm == Algorithm::kLogarithmic) {
      return std::ldexp(1.0, quantization_.bits - (quantization_.is_signed ? 1 : 0)) - 1;
    }
    return std::ldexp(1.0, quantization_.bits) - 1 - (symmetric ? 1 : 0);
  }

  // Prepares a run for min_max_linear_quantize or zero_point_linear_quantize (R 4.9.5), or the deprecated
  // logarithmic formulas of R 5.2. Returns false if the arguments do not form a range.
  bool MakeRun(llvm::ArrayRef<double> arguments, Run& run) {
    switch (quantization_.algorithm) {
      case Algorithm::kMinMaxLinear: {
        double min = arguments[0];
        double max = arguments[1];
        if (min > max)
          return Fail(kDatRange, "the range of the quantization is empty: min {}, max {}", min, max);
        run = {.scale = (max - min) / Steps(), .offset = min, .zero = LowestIndex(), .top = 0};
        return true;
      }
      case Algorithm::kZeroPointLinear:
        run = {.scale = arguments[1], .offset = 0, .zero = arguments[0], .top = 0};
        return true;
      case Algorithm::kLogarithmic:
        if (arguments[0] <= 0) {
          return Fail(kDatRange, "the range of the logarithmic quantization ends at {}; expected more than 0",
                      arguments[0]);
        }
        run.top = static_cast<int>(std::ceil(std::log2(arguments[0])));
        return true;
    }
    return false;
  }

  double LowestIndex() const {
    if (!quantization_.is_signed) return 0;
    return (quantization_.symmetric ? 1 : 0) - std::ldexp(1.0, quantization_.bits - 1);
  }
  double HighestIndex() const {
    if (quantization_.is_signed) return std::ldexp(1.0, quantization_.bits - 1) - 1;
    return std::ldexp(1.0, quantization_.bits) - 1;
  }

  template <typename Item>
  bool DecodeItems(Item item, float* out) {
    const Shape& shape = dat_.value.shape();
    std::vector<Argument> arguments;
    for (const TensorValue* value : ArgumentValues()) arguments.emplace_back(*value, shape);
    // The innermost axes with constant arguments form one run.
    size_t outer = shape.size();
    int64_t length = 1;
    auto constant = [&](size_t axis) {
      return std::all_of(arguments.begin(), arguments.end(),
                         [&](const Argument& a) { return a.stride(axis) == 0; });
    };
    while (outer > 0 && constant(outer - 1)) length *= shape[--outer];

    Shape index(outer, 0);
    for (int64_t begin = 0; begin < dat_.value.volume(); begin += length) {
      llvm::SmallVector<double, 2> values;
      for (const Argument& argument : arguments) {
        int64_t offset = 0;
        for (size_t axis = 0; axis < outer; ++axis) offset += index[axis] * argument.stride(axis);
        values.push_back(argument.at(offset));
      }
      Run run;
      if (!MakeRun(values, run) || !DecodeRun(item, run, begin, begin + length, out)) return false;
      for (size_t axis = outer; axis-- > 0;) {
        if (++index[axis] < shape[axis]) break;
        index[axis] = 0;
      }
    }
    return true;
  }

  template <typename Item>
  bool DecodeRun(Item item, const Run& run, int64_t begin, int64_t end, float* out) {
    if (quantization_.algorithm == Algorithm::kLogarithmic) return DecodePowers(item, run, begin, end, out);
    const double lowest = LowestIndex();
    const double highest = HighestIndex();
    for (int64_t i = begin; i < end; ++i) {
      auto q = static_cast<double>(item(i));
      if (q < lowest || q > highest) return FailIndex(i, q);
      out[i] = static_cast<float>((q - run.zero) * run.scale + run.offset);
    }
    return true;
  }

  // Decodes item q as 2^(q + m - r) with m = ceil(log2(max)) and the largest index r. The sign of signed
  // items is their highest bit. The provisional formula (P 4.8.5) has `bits` powers instead of 2^bits, but
  // the largest index must represent the largest value (P 7.1).
  template <typename Item>
  bool DecodePowers(Item item, const Run& run, int64_t begin, int64_t end, float* out) {
    const int width = quantization_.bits - (quantization_.is_signed ? 1 : 0);
    const uint64_t largest = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    for (int64_t i = begin; i < end; ++i) {
      auto code = static_cast<uint64_t>(item(i));
      bool negative = quantization_.is_signed && (code >> width & 1) != 0;
      if (quantization_.is_signed) code &= largest;
      if (code > largest) return FailIndex(i, static_cast<double>(code));
      // Powers below the smallest double are zero.
      auto below = static_cast<int>(std::min<uint64_t>(largest - code, 100'000));
      double power = std::ldexp(1.0, run.top - below);
      out[i] = static_cast<float>(negative ? -power : power);
    }
    return true;
  }

  bool FailIndex(int64_t item, double q) {
    uint64_t at = dat_.data_offset + static_cast<uint64_t>(item) * static_cast<uint64_t>(dat_.bits) / 8;
    emitter_.Emit(kDatIndex, ByteRange(dat_.file, at, 1),
                  "item {} is {}; quantization to {}{} bits has no such index", item, q,
                  quantization_.is_signed ? "signed " : "", quantization_.bits);
    return false;
  }

  const DatFile& dat_;
  const DatQuantization& quantization_;
  Emitter& emitter_;
};

class Decoder {
 public:
  Decoder(const DatFile& dat, Emitter& emitter) : dat_(dat), emitter_(emitter) {}

  std::optional<TensorValue> ToScalar(const DatQuantization* quantization) {
    if (dat_.coding == DatCoding::kPlain) {
      if (dat_.items != DatItems::kFloat) return Mismatch("scalar", "floats or quantized items");
      if (dat_.value.type() == ElementType::kF32) return dat_.value;
      if (dat_.value.type() == ElementType::kF16) return FromHalves();
      return Convert<float>(ElementType::kF32);
    }
    std::optional<DatQuantization> own;
    // The file's own quantization decodes its items; `graph.quant` then only applies to the computation (P
    // 7.1).
    if (quantization == nullptr || dat_.coding == DatCoding::kAlgorithm) {
      own = OwnQuantization();
      if (!own) return std::nullopt;
      quantization = &*own;
    }
    return Dequantizer(dat_, *quantization, emitter_).Decode();
  }

  std::optional<TensorValue> ToInteger() {
    bool integers = dat_.items == DatItems::kSigned || dat_.items == DatItems::kUnsigned;
    if (!integers || dat_.coding != DatCoding::kPlain)
      return Mismatch("integer", "signed or unsigned integers");
    if (dat_.value.type() == ElementType::kI64) return dat_.value;
    if (dat_.value.type() == ElementType::kU64 && !CheckWide()) return std::nullopt;
    return Convert<int64_t>(ElementType::kI64);
  }

  // The provisional format stored logicals as unsigned integers before it had bools, later with one bit.
  std::optional<TensorValue> ToLogical() {
    if (dat_.items == DatItems::kBool) return dat_.value;
    bool integers = dat_.items == DatItems::kSigned || dat_.items == DatItems::kUnsigned;
    bool stand_in = integers && (dat_.format == DatFile::Format::kProvisional || dat_.bits == 1);
    if (!stand_in || dat_.coding != DatCoding::kPlain) return Mismatch("logical", "bools");
    return Convert<uint8_t>(ElementType::kBoolean);
  }

 private:
  std::optional<TensorValue> Mismatch(std::string_view wanted, std::string_view expected) {
    emitter_.Emit(kDatTypeMismatch, ByteRange(dat_.file, dat_.type_offset, 4),
                  "a variable of type `{}` cannot be read from {}; expected {}", wanted, DescribeItems(dat_),
                  expected);
    return std::nullopt;
  }

  // Returns f32 values that stay compressed until their first access.
  TensorValue FromHalves() {
    return TensorValue(
        ElementType::kF32, dat_.value.shape(),
        Buffer::Unpacked({CompressedFloats::Form::kHalf, dat_.value.buffer(), dat_.value.volume()}));
  }

  bool CheckWide() {
    for (int64_t i = 0; i < dat_.value.volume(); ++i) {
      auto item = Load<uint64_t>(dat_.value.bytes(), i);
      if (item >> 63 == 0) continue;
      uint64_t at = dat_.data_offset + static_cast<uint64_t>(i) * static_cast<uint64_t>(dat_.bits) / 8;
      emitter_.Emit(kDatValue, ByteRange(dat_.file, at, 8), "item {} is {}; integers end at 2^63 - 1", i,
                    item);
      return false;
    }
    return true;
  }

  template <typename T>
  std::optional<TensorValue> Convert(ElementType type) {
    std::optional<size_t> size = ByteSize(type, dat_.value.volume());
    auto buffer = size ? Buffer::Allocate(*size) : nullptr;
    if (buffer == nullptr) {
      emitter_.Emit(kDataTooLarge, ByteRange(dat_.file, dat_.data_offset, 0),
                    "there is no memory for {} items", dat_.value.volume());
      return std::nullopt;
    }
    auto* out = reinterpret_cast<T*>(buffer->mutable_data());
    const int64_t volume = dat_.value.volume();
    WithItems(dat_.value, [&](auto item) {
      for (int64_t i = 0; i < volume; ++i) {
        if constexpr (std::is_same_v<T, uint8_t>) {
          out[i] = item(i) != 0 ? 1 : 0;
        } else {
          out[i] = static_cast<T>(item(i));
        }
      }
    });
    return TensorValue(type, dat_.value.shape(), std::move(buffer));
  }

  // Returns the file's own quantization: an algorithm text, legacy types, or the deprecated range of R 5.2
  // (logarithmic for signed quantized items).
  std::optional<DatQuantization> OwnQuantization() {
    if (dat_.coding == DatCoding::kAlgorithm) return ParseDatAlgorithm(dat_, emitter_);
    if (dat_.coding == DatCoding::kQuantized && !dat_.has_range) {
      emitter_.Emit(kDatNoQuantization, ByteRange(dat_.file, dat_.type_offset, 4),
                    "{} have no meaning: neither the file nor `graph.quant` states their quantization",
                    DescribeItems(dat_));
      return std::nullopt;
    }
    DatQuantization own;
    // Items of legacy types are unsigned.
    bool logarithmic = dat_.coding == DatCoding::kLogarithmic || dat_.items == DatItems::kSigned;
    own.bits = dat_.bits;
    own.min = TensorValue::Scalar(dat_.min);
    own.max = TensorValue::Scalar(dat_.max);
    if (!logarithmic) return own;
    if (dat_.min != 0 && dat_.min != -dat_.max) {
      emitter_.Emit(
          kDatRange, ByteRange(dat_.file, dat_.type_offset + 4, 8),
          "the range of logarithmic quantization is {} to {}; it starts at 0 or at the negative of its end",
          dat_.min, dat_.max);
      return std::nullopt;
    }
    own.algorithm = Algorithm::kLogarithmic;
    own.is_signed = dat_.min != 0;
    return own;
  }

  const DatFile& dat_;
  Emitter& emitter_;
};

}  // namespace

std::string DescribeItems(const DatHeader& dat) {
  if (dat.blocks != DatBlocks::kNone) return "4-bit floats in blocks";
  if (dat.coding != DatCoding::kPlain) return fmt::format("{}-bit quantized items", dat.bits);
  switch (dat.items) {
    case DatItems::kFloat:
      return fmt::format("{}-bit floats", dat.bits);
    case DatItems::kUnsigned:
      return fmt::format("{}-bit unsigned integers", dat.bits);
    case DatItems::kSigned:
      return fmt::format("{}-bit signed integers", dat.bits);
    case DatItems::kBool:
      return fmt::format("{}-bit bools", dat.bits);
  }
  return "";
}

std::optional<TensorValue> DecodeDat(const DatFile& dat, ElementType wanted, Emitter& emitter,
                                     const DatQuantization* quantization) {
  Decoder decoder(dat, emitter);
  switch (wanted) {
    case ElementType::kF32:
      return decoder.ToScalar(quantization);
    case ElementType::kI64:
      return decoder.ToInteger();
    case ElementType::kBoolean:
      return decoder.ToLogical();
    default:
      break;
  }
  NNEFC_CHECK(!"f32, i64 or boolean: the types of NNEF");
}

}  // namespace nnefc::package
