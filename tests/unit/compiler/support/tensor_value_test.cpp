#include "compiler/support/tensor/tensor_value.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/support/tensor/element_visitor.h"
#include "compiler/support/tensor/packed_elements.h"

namespace nnefc {
namespace {

// Elements of less than 8 bits share bytes; types without a width have none.
TEST(PackedElementsTest, TypesOfLessThanAByte) {
  for (const ElementType type : {ElementType::kU1, ElementType::kU4, ElementType::kI4})
    EXPECT_TRUE(IsPacked(type)) << Name(type);
  for (const ElementType type : {ElementType::kU8, ElementType::kI8, ElementType::kF16, ElementType::kF32,
                                 ElementType::kI64, ElementType::kDynamic, ElementType::kString})
    EXPECT_FALSE(IsPacked(type)) << Name(type);
}

// Expected bits follow IEEE 754 binary16, as computed by NumPy:
// np.float32(x).astype(np.float16).view(np.uint16).
TEST(HalfTest, ConvertsLikeNumPy) {
  const std::pair<float, uint16_t> cases[] = {{0.0f, 0x0000},
                                              {-0.0f, 0x8000},
                                              {1.0f, 0x3c00},
                                              {65504.0f, 0x7bff},
                                              {65519.996f, 0x7bff},
                                              {65520.0f, 0x7c00},
                                              {5.9604645e-08f, 0x0001},
                                              {2.9802322e-08f, 0x0000},
                                              {0.333333343f, 0x3555},
                                              {6.1035156e-05f, 0x0400},
                                              {1.00048828125f, 0x3c00},
                                              {1.00146484375f, 0x3c02},
                                              {std::numeric_limits<float>::infinity(), 0x7c00}};
  for (auto [value, bits] : cases) EXPECT_EQ(FloatToHalf(value), bits) << value;
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    EXPECT_EQ(FloatToHalf(HalfToFloat(static_cast<uint16_t>(bits))), bits);
  }
  EXPECT_EQ(FloatToHalf(std::nanf("")), 0x7e00);
  EXPECT_EQ(FloatToHalf(-std::nanf("")), 0xfe00);
  EXPECT_TRUE(std::isnan(HalfToFloat(0x7e00)));
}

TEST(BFloatTest, RoundsToEven) {
  EXPECT_EQ(FloatToBFloat(1.0f), 0x3f80);
  EXPECT_EQ(FloatToBFloat(1.00390625f), 0x3f80);  // a tie, to even
  EXPECT_EQ(FloatToBFloat(1.01171875f), 0x3f82);  // a tie, to even
  EXPECT_EQ(BFloatToFloat(0x4049), 3.140625f);
  // A NaN stays one of its sign, with the high bits of its payload, and becomes quiet.
  for (const auto& [bits, expected] :
       {std::pair(0x7fc00000U, 0x7fc0), std::pair(0xffc00000U, 0xffc0), std::pair(0x7f800001U, 0x7fc0),
        std::pair(0xff800001U, 0xffc0), std::pair(0x7fd50000U, 0x7fd5), std::pair(0x7fbfffffU, 0x7fff),
        std::pair(0x7fffffffU, 0x7fff), std::pair(0x7f80ffffU, 0x7fc0)})
    EXPECT_EQ(FloatToBFloat(std::bit_cast<float>(bits)), expected) << bits;
  EXPECT_EQ(FloatToBFloat(std::bit_cast<float>(0x7f800000U)), 0x7f80);
  EXPECT_EQ(FloatToBFloat(std::bit_cast<float>(0x7f7fffffU)), 0x7f80);  // beyond the largest number
}

TEST(VolumeTest, IsOverflowSafe) {
  EXPECT_EQ(Volume({}), 1);
  EXPECT_EQ(Volume({2, 3, 4}), 24);
  EXPECT_EQ(Volume({int64_t{1} << 40, int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(Volume({int64_t{1} << 40, int64_t{1} << 40, 0}), std::nullopt);
  EXPECT_EQ(Volume({0, 5}), 0);
  EXPECT_EQ(Volume({-1}), std::nullopt);
  EXPECT_EQ(ByteSize(ElementType::kF64, INT64_MAX), std::nullopt);
  EXPECT_EQ(ByteSize(ElementType::kU8, -1), std::nullopt);
  EXPECT_EQ(ByteSize(ElementType::kU8, 0), 0);
  EXPECT_EQ(ByteSize(ElementType::kU1, 9), 2);
  EXPECT_EQ(ByteSize(ElementType::kI4, 3), 2);
}

TEST(TensorValueTest, IsComputedWhenItIsRead) {
  int calls = 0;
  const TensorValue value(ElementType::kI8, {3}, Buffer::Computed(3, [&](std::byte* out) {
                            ++calls;
                            for (int i = 0; i < 3; ++i) out[i] = static_cast<std::byte>(i + 1);
                          }));
  EXPECT_TRUE(value.buffer()->IsToCompute());
  EXPECT_EQ(value.AlignedToElements().buffer(), value.buffer());
  EXPECT_EQ(calls, 0);
  // Copies have no other owner.
  EXPECT_EQ(value.Loaded().ElementAsInt(2), 3);
  EXPECT_EQ(value.Loaded().ElementAsInt(0), 1);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(value.buffer()->IsToCompute());
  EXPECT_EQ(value.ElementAsInt(1), 2);
  EXPECT_EQ(value.ElementAsInt(2), 3);
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(value.buffer()->IsToCompute());
  EXPECT_EQ(value.Loaded().buffer(), value.buffer());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(value.bytes()) % 64, 0u);
}

TEST(TensorValueTest, IsComputedByRows) {
  std::vector<std::pair<size_t, size_t>> parts;
  const auto part = [&](std::span<std::byte> out, size_t begin) {
    parts.emplace_back(begin, out.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(begin + i);
  };
  const auto all = [&](std::byte* out) { part({out, 12}, 0); };
  const TensorValue value(ElementType::kI16, {3, 2}, Buffer::Computed(12, all, std::nullopt, part));
  const TensorValue rows = value.LoadedRows(1, 3);
  EXPECT_EQ(rows.shape(), Shape({2, 2}));
  EXPECT_EQ(rows.bytes()[0], std::byte{4});
  EXPECT_EQ(rows.bytes()[7], std::byte{11});
  EXPECT_EQ(parts, (std::vector<std::pair<size_t, size_t>>{{4, 8}}));
  EXPECT_EQ(value.LoadedRows(2, 2).volume(), 0);
  EXPECT_TRUE(value.buffer()->IsToCompute());
  // From existing elements, and from elements that are only computed as a whole.
  EXPECT_EQ(value.bytes()[5], std::byte{5});
  EXPECT_EQ(value.LoadedRows(1, 3), rows);
  EXPECT_EQ(value.LoadedRows(1, 2).bytes(), value.bytes() + 4);
  const TensorValue whole(ElementType::kI16, {3, 2}, Buffer::Computed(12, all));
  EXPECT_EQ(whole.LoadedRows(1, 3), rows);
  EXPECT_TRUE(whole.buffer()->IsToCompute());
}

// A heap would keep any block that is smaller than an earlier one.
TEST(TensorValueTest, LargeCopiesAreGivenBackAtOnce) {
  for (int i = 1; i < 4; ++i) {
    const size_t size = static_cast<size_t>(7 - i) << 20;
    const auto buffer = Buffer::Computed(size, [&](std::byte* out) { std::memset(out, i, size); });
    std::shared_ptr<const Buffer> copy = buffer->ComputeCopy();
    EXPECT_EQ(copy->data()[size - 1], static_cast<std::byte>(i));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(copy->data()) % 64, 0u);
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto* middle =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(copy->data()) + size / 2) / page * page);
    unsigned char is_there = 0;
    EXPECT_EQ(::mincore(middle, page, &is_there), 0);
    copy = nullptr;
    EXPECT_EQ(::mincore(middle, page, &is_there), -1) << "copy " << i;
    EXPECT_EQ(errno, ENOMEM);
  }
}

TEST(TensorValueTest, AlignsToItsElementsAlone) {
  const std::shared_ptr<const Buffer> whole = Buffer::Allocate(32);
  for (const auto& [type, offset, stays] :
       {std::tuple(ElementType::kF32, 4, true), std::tuple(ElementType::kF32, 2, false),
        std::tuple(ElementType::kI64, 4, false), std::tuple(ElementType::kI64, 8, true),
        std::tuple(ElementType::kU8, 3, true), std::tuple(ElementType::kU4, 3, true)}) {
    const TensorValue value(type, {2}, Buffer::Slice(whole, static_cast<size_t>(offset), 16));
    EXPECT_EQ(value.AlignedToElements().buffer() == value.buffer(), stays) << Name(type) << " at " << offset;
  }
}

TEST(TensorValueTest, ConvertsWithTruncationAndSaturation) {
  TensorValue floats = TensorValue::FromFloats({5}, {-1.7f, 1.7f, 300.0f, std::nanf(""), -1e30f});
  TensorValue bytes = floats.ConvertedTo(ElementType::kI8);
  EXPECT_EQ(bytes.elements<int8_t>(), llvm::ArrayRef<int8_t>({-1, 1, 127, 0, -128}));
  TensorValue logicals = floats.ConvertedTo(ElementType::kBoolean);
  EXPECT_EQ(logicals.ElementAsInt(3), 1);  // NaN != 0
  TensorValue wide = floats.ConvertedTo(ElementType::kI64);
  EXPECT_EQ(wide.ElementAsInt(4), INT64_MIN);
}

// The integer of an element is that of the converted tensor, for floats of any width and packed integers.
TEST(TensorValueTest, IntegersOfElements) {
  const TensorValue numbers = TensorValue::FromFloats({6}, {-3.0F, -1.5F, 0.0F, 0.5F, 1.5F, 3.0F});
  for (const ElementType type : {ElementType::kF4E2M1, ElementType::kF8E4M3, ElementType::kF8E5M2,
                                 ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64,
                                 ElementType::kI4, ElementType::kI8, ElementType::kI64}) {
    const TensorValue value = numbers.ConvertedTo(type);
    for (int64_t i = 0; i < value.volume(); ++i) {
      EXPECT_EQ(value.ElementAsInt(i), std::vector<int64_t>({-3, -1, 0, 0, 1, 3})[static_cast<size_t>(i)])
          << Name(type) << " " << i;
    }
  }
}

TEST(TensorValueTest, KeepsWideIntegersExact) {
  int64_t big = (int64_t{1} << 62) + 1;
  TensorValue value = TensorValue::FromInts({2}, {big, -1});
  EXPECT_EQ(value.ConvertedTo(ElementType::kU64).ElementAsInt(0), big);
  EXPECT_EQ(value.ConvertedTo(ElementType::kU64).ElementAsInt(1), 0);
}

// The low bits of a value: the rule for integers of two and four bits.
int64_t LowBits(int64_t value, ElementType type) {
  const int64_t bits = type == ElementType::kU2 ? 2 : 4;
  const int64_t low = value & ((int64_t{1} << bits) - 1);
  return type == ElementType::kI4 && low > 7 ? low - 16 : low;
}

// Between any two integer types of whole bytes a value outside the target's range becomes the nearer bound.
// Values of u64 above those of i64 are read as the maximum of i64.
TEST(TensorValueTest, IntegersSaturateBetweenAllTypes) {
  struct Range {
    ElementType type;
    int64_t lowest, highest;
  };
  const Range ranges[] = {{ElementType::kU1, 0, 1},           {ElementType::kU2, 0, 3},
                          {ElementType::kU4, 0, 15},          {ElementType::kI4, -8, 7},
                          {ElementType::kU8, 0, UINT8_MAX},   {ElementType::kI8, INT8_MIN, INT8_MAX},
                          {ElementType::kU16, 0, UINT16_MAX}, {ElementType::kI16, INT16_MIN, INT16_MAX},
                          {ElementType::kU32, 0, UINT32_MAX}, {ElementType::kI32, INT32_MIN, INT32_MAX},
                          {ElementType::kU64, 0, INT64_MAX},  {ElementType::kI64, INT64_MIN, INT64_MAX}};
  for (const Range& from : ranges) {
    for (const Range& to : ranges) {
      std::vector<int64_t> values;
      for (int64_t end : {from.lowest, from.highest, to.lowest, to.highest, int64_t{0}}) {
        for (int64_t step : {-1, 0, 1}) {
          int64_t value = 0;
          if (__builtin_add_overflow(end, step, &value)) continue;
          if (value >= from.lowest && value <= from.highest) values.push_back(value);
        }
      }
      const Shape shape{static_cast<int64_t>(values.size())};
      const TensorValue given = TensorValue::FromInts(shape, values).ConvertedTo(from.type);
      const TensorValue made = given.ConvertedTo(to.type);
      for (size_t i = 0; i < values.size(); ++i) {
        SCOPED_TRACE(std::string(Name(from.type)) + " to " + std::string(Name(to.type)));
        EXPECT_EQ(given.ElementAsInt(static_cast<int64_t>(i)), values[i]);
        // The type `bit` is 1 for every nonzero value.
        const bool is_packed =
            to.type == ElementType::kU2 || to.type == ElementType::kU4 || to.type == ElementType::kI4;
        const int64_t expected = to.type == ElementType::kU1 ? static_cast<int64_t>(values[i] != 0)
                                 : is_packed                 ? LowBits(values[i], to.type)
                                                             : std::clamp(values[i], to.lowest, to.highest);
        EXPECT_EQ(made.ElementAsInt(static_cast<int64_t>(i)), expected) << values[i];
      }
    }
  }
}

TEST(TensorValueTest, PacksNibblesLowFirst) {
  TensorValue value = TensorValue::FromInts({3}, {-8, 7, 3}).ConvertedTo(ElementType::kI4);
  EXPECT_EQ(value.byte_size(), 2u);
  EXPECT_EQ(value.ElementAsInt(0), -8);
  EXPECT_EQ(value.ElementAsInt(1), 7);
  EXPECT_EQ(value.ElementAsInt(2), 3);
}

TEST(TensorValueTest, ReshapeSharesTheBuffer) {
  TensorValue value = TensorValue::FromFloats({2, 3}, {1, 2, 3, 4, 5, 6});
  TensorValue reshaped = value.Reshaped({3, 2});
  EXPECT_EQ(reshaped.bytes(), value.bytes());
  EXPECT_EQ(ToString(reshaped.shape()), "[3,2]");
}

// By the definitions of the formats (OCP OFP8 and MX, QLoRA for NF4).
TEST(BufferTest, BorrowsBytesAndKeepsTheirOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::weak_ptr<std::vector<float>> watched = owner;
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  auto buffer = Buffer::Borrow({data, 12}, std::move(owner));
  EXPECT_EQ(buffer->data(), data);
  EXPECT_EQ(buffer->size(), 12u);
  EXPECT_FALSE(buffer->mapped());
  auto rest = Buffer::Slice(std::move(buffer), 4, 8);
  EXPECT_EQ(rest->data(), data + 4);
  EXPECT_FALSE(watched.expired());
  rest = nullptr;
  EXPECT_TRUE(watched.expired());
}

TEST(NarrowFloatTest, ReadsCodesByTheFormats) {
  EXPECT_EQ(NarrowToFloat(ElementType::kF8E4M3, 0x7e), 448.0F);
  EXPECT_EQ(NarrowToFloat(ElementType::kF8E4M3, 0x01), std::ldexp(1.0F, -9));
  EXPECT_EQ(NarrowToFloat(ElementType::kF8E4M3, 0xb8), -1.0F);
  EXPECT_TRUE(std::isnan(NarrowToFloat(ElementType::kF8E4M3, 0x7f)));
  EXPECT_EQ(NarrowToFloat(ElementType::kF8E5M2, 0x7b), 57344.0F);
  EXPECT_TRUE(std::isinf(NarrowToFloat(ElementType::kF8E5M2, 0x7c)));
  EXPECT_EQ(NarrowToFloat(ElementType::kF4E2M1, 0x7), 6.0F);
  EXPECT_EQ(NarrowToFloat(ElementType::kF4E2M1, 0x9), -0.5F);
  EXPECT_EQ(NarrowToFloat(ElementType::kF8E8M0, 128), 2.0F);
  EXPECT_EQ(NarrowToFloat(ElementType::kNF4, 7), 0.0F);
  EXPECT_EQ(NarrowToFloat(ElementType::kNF4, 0), -1.0F);
}

TEST(NarrowFloatTest, WritesEveryNumberAsItsCode) {
  for (ElementType type : {ElementType::kNF4, ElementType::kF4E2M1, ElementType::kF8E4M3,
                           ElementType::kF8E5M2, ElementType::kF8E8M0}) {
    for (unsigned code = 0; code < (1U << BitWidth(type)); ++code) {
      const float number = NarrowToFloat(type, static_cast<uint8_t>(code));
      if (std::isfinite(number)) {
        EXPECT_EQ(FloatToNarrow(type, number), code) << Name(type);
      }
    }
  }
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E4M3, 17.0F), 0x58);  // between 16 and 18: the even code
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E4M3, 19.0F), 0x5a);  // between 18 and 20
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E4M3, 0x1p-10F), 0);
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E4M3, 0x1.8p-10F), 1);
}

// The same as OpenVINO's Convert, measured on its CPU plug-in.
TEST(NarrowFloatTest, NumbersBeyondTheLargest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto codes = [](ElementType type, std::initializer_list<float> values) {
    std::vector<int> found;
    for (float value : values) found.push_back(FloatToNarrow(type, value));
    return found;
  };
  EXPECT_EQ(codes(ElementType::kF8E4M3, {464.0F, 465.0F, -1e9F, kInfinity, kNan, -kNan}),
            (std::vector<int>{0x7e, 0x7f, 0xff, 0x7f, 0x7f, 0xff}));
  EXPECT_EQ(codes(ElementType::kF8E5M2, {61439.0F, 61440.0F, 1e9F, -kInfinity, kNan}),
            (std::vector<int>{0x7b, 0x7c, 0x7c, 0xfc, 0x7e}));
  EXPECT_EQ(codes(ElementType::kF4E2M1, {7.0F, 1e9F, -kInfinity, kNan}), (std::vector<int>{7, 7, 15, 7}));
  EXPECT_EQ(codes(ElementType::kNF4, {2.0F, -2.0F, kInfinity, kNan}), (std::vector<int>{15, 0, 15, 0}));
  EXPECT_EQ(codes(ElementType::kF8E8M0, {0.0F, -1.0F, 1.5F, 2.9F, 3.0F, 6.0F, 3e38F, kInfinity, kNan}),
            (std::vector<int>{0, 0, 128, 128, 128, 130, 254, 254, 255}));
}

// 2^e below 1.5 * 2^e, 2^(e+1) above it, and at it the even code: 127 + e or 128 + e.
TEST(NarrowFloatTest, PowersOfTwoAreTheNearestOnes) {
  for (const int exponent : {-126, -3, -2, -1, 0, 1, 2, 3, 126}) {
    const int code = 127 + exponent;
    const auto found = [&](float significand) {
      return int{FloatToNarrow(ElementType::kF8E8M0, std::ldexp(significand, exponent))};
    };
    EXPECT_EQ(found(1.0F), code) << exponent;
    EXPECT_EQ(found(std::nextafter(1.5F, 1.0F)), code) << exponent;
    EXPECT_EQ(found(1.5F), code + code % 2) << exponent;
    EXPECT_EQ(found(std::nextafter(1.5F, 2.0F)), code + 1) << exponent;
    EXPECT_EQ(found(1.75F), code + 1) << exponent;
  }
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E8M0, 0x1p127F), 254);
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E8M0, 0x1.cp127F), 254);
  EXPECT_EQ(FloatToNarrow(ElementType::kF8E8M0, 0x1p-149F), 0);
}

// In the middle of two numbers, the code is that of the lower one.
TEST(NarrowFloatTest, MiddlesOfNormalFloats) {
  const auto code = [](float value) { return int{FloatToNarrow(ElementType::kNF4, value)}; };
  for (int i = 1; i < 16; ++i) {
    const float low = NarrowToFloat(ElementType::kNF4, static_cast<uint8_t>(i - 1));
    const float high = NarrowToFloat(ElementType::kNF4, static_cast<uint8_t>(i));
    const float middle = (low + high) / 2;
    EXPECT_EQ(code(middle), i - 1) << i;
    EXPECT_EQ(code(std::nextafter(middle, -2.0F)), i - 1) << i;
    EXPECT_EQ(code(std::nextafter(middle, 2.0F)), i) << i;
  }
}

// The smallest normal number of 16 bits and its neighbours.
TEST(HalfTest, SmallestNormalNumber) {
  EXPECT_EQ(FloatToHalf(0x1p-14F), 0x0400);
  EXPECT_EQ(FloatToHalf(std::nextafter(0x1p-14F, 0.0F)), 0x0400);
  EXPECT_EQ(FloatToHalf(0x1.ff8p-15F), 0x03ff);
  EXPECT_EQ(FloatToHalf(std::nextafter(0x1p-14F, 1.0F)), 0x0400);
  EXPECT_EQ(FloatToHalf(0x1.004p-14F), 0x0401);
  EXPECT_EQ(Half().bits, 0);
  EXPECT_EQ(BFloat().bits, 0);
}

constexpr ElementType kAllTypes[] = {
    ElementType::kDynamic, ElementType::kBoolean, ElementType::kBF16,   ElementType::kF16,
    ElementType::kF32,     ElementType::kF64,     ElementType::kI8,     ElementType::kI16,
    ElementType::kI32,     ElementType::kI64,     ElementType::kU8,     ElementType::kU16,
    ElementType::kU32,     ElementType::kU64,     ElementType::kU1,     ElementType::kU2,
    ElementType::kU4,      ElementType::kI4,      ElementType::kNF4,    ElementType::kF4E2M1,
    ElementType::kF8E4M3,  ElementType::kF8E5M2,  ElementType::kF8E8M0, ElementType::kString};

// Only types of less than a byte and floats of up to 8 bits are not computed with.
TEST(ElementTypeTest, TypesToStore) {
  for (const ElementType type : kAllTypes) {
    const bool expected = type == ElementType::kU1 || type == ElementType::kU2 || type == ElementType::kU4 ||
                          type == ElementType::kI4 || type == ElementType::kNF4 ||
                          type == ElementType::kF4E2M1 || type == ElementType::kF8E4M3 ||
                          type == ElementType::kF8E5M2 || type == ElementType::kF8E8M0;
    EXPECT_EQ(IsStorageOnly(type), expected) << Name(type);
  }
}

// Types without a letter have no letter 0 either.
TEST(ElementTypeTest, LettersOfNumPy) {
  for (const int bytes : {0, 1, 2, 4, 8}) EXPECT_EQ(FromNumPy('\0', bytes), std::nullopt) << bytes;
  EXPECT_EQ(FromNumPy('f', 2), ElementType::kF16);
  EXPECT_EQ(FromNumPy('f', 1), std::nullopt);
  EXPECT_EQ(FromNumPy('i', 1), ElementType::kI8);
  EXPECT_EQ(FromNumPy('i', 3), std::nullopt);
  EXPECT_EQ(FromNumPy('u', 8), ElementType::kU64);
}

TEST(ElementTypeTest, Signs) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64,
                                 ElementType::kF8E4M3, ElementType::kF8E5M2, ElementType::kF4E2M1}) {
    EXPECT_TRUE(IsFloat(type)) << Name(type);
    EXPECT_TRUE(IsSigned(type)) << Name(type);
    EXPECT_FALSE(IsInteger(type)) << Name(type);
  }
  for (const ElementType type : {ElementType::kI4, ElementType::kI8, ElementType::kI64}) {
    EXPECT_FALSE(IsFloat(type)) << Name(type);
    EXPECT_TRUE(IsSigned(type)) << Name(type);
  }
  for (const ElementType type :
       {ElementType::kU1, ElementType::kU8, ElementType::kU64, ElementType::kBoolean, ElementType::kString}) {
    EXPECT_FALSE(IsFloat(type)) << Name(type);
    EXPECT_FALSE(IsSigned(type)) << Name(type);
  }
}

TEST(ElementTypeTest, VisitedTypes) {
  const auto ignore = [](auto) {};
  for (const ElementType type : kAllTypes) {
    const bool is_stored =
        IsStorageOnly(type) || type == ElementType::kDynamic || type == ElementType::kString;
    const bool is_float = !is_stored && IsFloat(type), is_integer = !is_stored && IsInteger(type);
    EXPECT_EQ(VisitAnyType(type, ignore), !is_stored) << Name(type);
    EXPECT_EQ(VisitFloatType(type, ignore), is_float) << Name(type);
    EXPECT_EQ(VisitIntegerType(type, ignore), is_integer) << Name(type);
    EXPECT_EQ(VisitNumericType(type, ignore), is_float || is_integer) << Name(type);
  }
}

TEST(TensorValueTest, NoValue) {
  const TensorValue value;
  EXPECT_EQ(value.type(), ElementType::kDynamic);
  EXPECT_EQ(value.volume(), 0);
  EXPECT_EQ(value.byte_size(), 0U);
}

TEST(TensorValueTest, IntegersOfLessThanAByteKeepTheLowBits) {
  const TensorValue wide = TensorValue::FromFloats({6}, {-9.0F, -8.7F, 7.9F, 8.0F, 100.0F, -1.0F});
  const TensorValue value = wide.ConvertedTo(ElementType::kI4);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < 6; ++i) found.push_back(value.ElementAsInt(i));
  EXPECT_EQ(found, (std::vector<int64_t>{7, -8, 7, -8, 4, -1}));
}

// Numbers without an integer of 64 bits are 0.
TEST(TensorValueTest, NumbersWithoutLowBits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const ElementType type : {ElementType::kU4, ElementType::kI4, ElementType::kU2}) {
    for (const float number : {0x1p63F, -0x1p63F, 0x1p100F, kInfinity, -kInfinity, kNan})
      EXPECT_EQ(TensorValue::Filled(type, {1}, static_cast<double>(number)).ElementAsInt(0), 0) << number;
    EXPECT_EQ(TensorValue::Filled(type, {1}, 0x1p62 + 0x1p10).ElementAsInt(0), 0);
    EXPECT_EQ(TensorValue::Filled(type, {1}, 17.0).ElementAsInt(0), 1);
  }
}

TEST(TensorValueTest, CodesAreOneToAByte) {
  for (ElementType type : {ElementType::kU1, ElementType::kU2, ElementType::kI4, ElementType::kF4E2M1}) {
    const TensorValue value = TensorValue::FromInts({3, 3}, {1, 0, 1, 1, 1, 0, 0, 1, 1}).ConvertedTo(type);
    const TensorValue codes = CodesOf(value);
    EXPECT_EQ(codes.type(), ElementType::kU8);
    EXPECT_EQ(codes.byte_size(), 9u);
    for (int64_t i = 0; i < 9; ++i)
      EXPECT_EQ(NumberOf(type, static_cast<uint8_t>(codes.bytes()[i])), value.ElementAsDouble(i))
          << Name(type);
    EXPECT_EQ(PackCodes(type, value.shape(), codes.bytes()), value) << Name(type);
  }
}

TEST(TensorValueTest, PacksTwoBitsLowFirst) {
  TensorValue value = TensorValue::FromInts({5}, {1, 2, 3, 0, 2}).ConvertedTo(ElementType::kU2);
  EXPECT_EQ(value.byte_size(), 2u);
  EXPECT_EQ(value.bytes()[0], std::byte{0b00111001});
  EXPECT_EQ(value.ElementAsInt(1), 2);
  EXPECT_EQ(value.ElementAsInt(4), 2);
}

// Floats at and beyond the limits of integers, which floats round up: the nearest integer of the type.
TEST(TensorValueTest, FloatsAtTheLimitsOfIntegers) {
  const auto convert = [](float value, ElementType type) {
    return TensorValue::Scalar(value).ConvertedTo(type).ElementAsInt(0);
  };
  EXPECT_EQ(convert(0x1p31F, ElementType::kI32), INT32_MAX);
  EXPECT_EQ(convert(0x1p31F - 128, ElementType::kI32), INT32_MAX - 127);
  EXPECT_EQ(convert(-0x1p31F, ElementType::kI32), INT32_MIN);
  EXPECT_EQ(convert(-0x1p31F - 256, ElementType::kI32), INT32_MIN);
  EXPECT_EQ(convert(0x1p32F, ElementType::kU32), UINT32_MAX);
  EXPECT_EQ(convert(0x1p63F, ElementType::kI64), INT64_MAX);
  EXPECT_EQ(convert(-0x1p63F, ElementType::kI64), INT64_MIN);
  EXPECT_EQ(convert(0x1p64F, ElementType::kU64), INT64_MAX);
  EXPECT_EQ(convert(0x1p63F, ElementType::kU64), INT64_MAX);
  for (const float value : {255.0F, 255.5F, 256.0F})
    EXPECT_EQ(convert(value, ElementType::kU8), 255) << value;
  for (const float value : {127.0F, 127.5F, 128.0F})
    EXPECT_EQ(convert(value, ElementType::kI8), 127) << value;
  for (const float value : {-128.0F, -128.5F, -129.0F})
    EXPECT_EQ(convert(value, ElementType::kI8), -128) << value;
  EXPECT_EQ(convert(254.5F, ElementType::kU8), 254);
  EXPECT_EQ(convert(-0.5F, ElementType::kU8), 0);
  // Integers beyond the range of i64 are its largest.
  const TensorValue wide = TensorValue::Scalar(0x1p64F).ConvertedTo(ElementType::kU64);
  EXPECT_EQ(wide.ElementAsDouble(0), 0x1p64);
}

TEST(TensorValueTest, InvalidValuesAreEqual) {
  const TensorValue value = TensorValue::Scalar(1);
  EXPECT_TRUE(TensorValue() == TensorValue());
  EXPECT_FALSE(TensorValue() == value);
  EXPECT_FALSE(value == TensorValue());
}

// Equal values have one type, one shape and the same bytes.
TEST(TensorValueTest, EqualValues) {
  const TensorValue value = TensorValue::FromFloats({2, 3}, std::vector<float>(6, 0));
  EXPECT_TRUE(value == TensorValue::FromFloats({2, 3}, std::vector<float>(6, 0)));
  EXPECT_FALSE(value == TensorValue::FromFloats({3, 2}, std::vector<float>(6, 0)));
  EXPECT_FALSE(value == TensorValue::FromFloats({2, 3}, {0, 0, 0, 0, 0, 1}));
  EXPECT_FALSE(value == TensorValue::FromFloats({2, 3}, {1, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(value == TensorValue::Filled(ElementType::kI32, {2, 3}, 0));
  EXPECT_FALSE(TensorValue::Filled(ElementType::kU8, {2}, 1) ==
               TensorValue::Filled(ElementType::kI8, {2}, 1));
}

TEST(TensorValueTest, OnlyComputedBuffersAreToCompute) {
  EXPECT_FALSE(Buffer::Borrow({}, std::make_shared<int>(0))->IsToCompute());
  EXPECT_FALSE(Buffer::Allocate(0)->IsToCompute());
  EXPECT_FALSE(Buffer::Allocate(4)->IsToCompute());
  const std::shared_ptr<const Buffer> computed =
      Buffer::Computed(4, [](std::byte* out) { std::memset(out, 7, 4); });
  EXPECT_TRUE(computed->IsToCompute());
  EXPECT_EQ(computed->data()[3], std::byte{7});
  EXPECT_FALSE(computed->IsToCompute());
}

}  // namespace
}  // namespace nnefc
