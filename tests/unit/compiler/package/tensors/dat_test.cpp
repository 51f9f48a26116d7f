#include "compiler/package/tensors/dat.h"

#include <cmath>

#include "tests/unit/compiler/package/dat_maker.h"

namespace nnefc::package {
namespace {

class DatTest : public DatFixture {};

TEST_F(DatTest, ReadsFloatsOfBothFormats) {
  std::string data = Raw<float>({1, -2, 0.5f, 4, 5, 6});
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2, 3}, .data = data})), "[2,3] 1 -2 0.5 4 5 6");
  EXPECT_EQ(Decoded(Make(Provisional{.extents = {2, 3}, .data = data})), "[2,3] 1 -2 0.5 4 5 6");
  std::string doubles = Raw<double>({0.25, -3});
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2}, .bits = 64, .data = doubles})), "[2] 0.25 -3");
  EXPECT_EQ(Decoded(Make(Provisional{.extents = {2}, .bits = 64, .data = doubles})), "[2] 0.25 -3");
  std::string halves = Raw<uint16_t>({0x3c00, 0xc100});
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2}, .bits = 16, .data = halves})), "[2] 1 -2.5");
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {}, .data = Raw<float>({7})})), "[] 7");
}

TEST_F(DatTest, TellsTheFormatsApartWhereSizesAgree) {
  // 24 bytes of header and 128 of data: 128 + u32@4 is also the size of the file.
  std::vector<float> values(32, 2);
  auto provisional = Read(Make(Provisional{.extents = {1, 32}, .data = Raw(values)}));
  ASSERT_TRUE(provisional);
  EXPECT_EQ(provisional->format, DatFile::Format::kProvisional);
  EXPECT_EQ(provisional->value.shape(), Shape({1, 32}));
  // 24 bytes of data, as long as a provisional header of rank 2.
  auto ratified = Read(Make(Ratified{.extents = {1, 6}, .data = Raw(std::vector<float>(6, 1))}));
  ASSERT_TRUE(ratified);
  EXPECT_EQ(ratified->format, DatFile::Format::kRatified);
  EXPECT_EQ(ratified->value.shape(), Shape({1, 6}));
  EXPECT_EQ(Messages(), "");
}

TEST_F(DatTest, ReadsHeadersByThemselves) {
  // Longer than the ratified header: a text of 300 bytes, 32 extents.
  for (const std::string& bytes :
       {Make(Provisional{
            .extents = {3}, .type = 1, .bits = 8, .algorithm = std::string(300, ' '), .data = "abc"}),
        Make(Provisional{.extents = std::vector<uint32_t>(32, 1), .data = Raw<float>({7})}),
        Make(Ratified{.extents = {2, 3}, .data = std::string(24, 'x')})}) {
    const std::span start(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    const uint64_t size = DatHeaderSize(start);
    EXPECT_LT(size, bytes.size());
    const auto header = ReadDatHeader(Source(bytes.substr(0, size)), bytes.size(), context_.emitter);
    ASSERT_TRUE(header) << Messages();
    const auto whole = Read(bytes);
    ASSERT_TRUE(whole);
    EXPECT_EQ(header->shape, whole->value.shape());
    EXPECT_EQ(header->algorithm, whole->algorithm);
    EXPECT_EQ(header->data_offset, whole->data_offset);
    // The message states the missing or excess bytes.
    for (uint64_t wrong : {bytes.size() - 1, bytes.size() + 1, bytes.size() + 10'000'000'000}) {
      EXPECT_FALSE(ReadDatHeader(Source(bytes.substr(0, size)), wrong, context_.emitter));
      const std::string messages = Messages();
      EXPECT_NE(messages.find(wrong < bytes.size() ? "[dat.truncated]" : "[dat.size]"), std::string::npos)
          << messages;
    }
  }
}

TEST_F(DatTest, MapsFloatsWithoutACopy) {
  for (const std::string& bytes : {Make(Ratified{.extents = {3}, .data = Raw<float>({1, 2, 3})}),
                                   Make(Provisional{.extents = {3}, .data = Raw<float>({1, 2, 3})})}) {
    auto source = OpenData(Write("x.dat", bytes), context_);
    ASSERT_TRUE(source);
    auto dat = ReadDat(*source, context_.emitter);
    ASSERT_TRUE(dat);
    auto value = DecodeDat(*dat, ElementType::kF32, context_.emitter);
    ASSERT_TRUE(value);
    EXPECT_TRUE(value->buffer()->mapped());
    EXPECT_EQ(value->bytes(), source->bytes->data() + bytes.size() - 12);
  }
}

TEST_F(DatTest, ReadsIntegersOfAnyWidth) {
  auto type = ElementType::kI64;
  EXPECT_EQ(
      Decoded(Make(Ratified{.extents = {2}, .bits = 32, .type = 4, .data = Raw<int32_t>({-5, 7})}), type),
      "[2] -5 7");
  EXPECT_EQ(
      Decoded(Make(Ratified{.extents = {2}, .bits = 8, .type = 1, .data = Raw<uint8_t>({200, 7})}), type),
      "[2] 200 7");
  EXPECT_EQ(
      Decoded(Make(Ratified{.extents = {1}, .bits = 64, .type = 4, .data = Raw<int64_t>({INT64_MIN})}), type),
      "[1] -9223372036854775808");
  // Most significant bit first: 0001 1111 0111 -> 1, -1, 7.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {3}, .bits = 4, .type = 4, .data = "\x1f\x70"}), type),
            "[3] 1 -1 7");
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {3}, .bits = 4, .type = 1, .data = "\x1f\x70"}), type),
            "[3] 1 15 7");
  // Twelve bits: 0x123, 0xfff.
  EXPECT_EQ(Decoded(Make(Provisional{.extents = {2}, .type = 2, .bits = 12, .data = "\x12\x3f\xff"}), type),
            "[2] 291 -1");
  EXPECT_EQ(Decoded(Make(Provisional{.extents = {2}, .type = 3, .bits = 12, .data = "\x12\x3f\xff"}), type),
            "[2] 291 4095");
  // Whole bytes are little-endian: 0x030201.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {1}, .bits = 24, .type = 1, .data = "\x01\x02\x03"}), type),
            "[1] 197121");
  // 63 bits, all ones, then zeros.
  std::string wide = std::string(7, '\xff') + '\xfe' + std::string(8, '\0');
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2}, .bits = 63, .type = 1, .data = wide}), type),
            "[2] 9223372036854775807 0");
  // The signed flag of 1.0 to 1.0.2.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {1},
                                  .bits = 16,
                                  .type = 1,
                                  .parameters = Bytes().U32(1).text(),
                                  .data = Raw<int16_t>({-9})}),
                    type),
            "[1] -9");
  EXPECT_EQ(
      Decoded(Make(Ratified{.extents = {1}, .bits = 64, .type = 1, .data = Raw<uint64_t>({UINT64_MAX})}),
              type),
      "x: error: at byte 128: item 0 is 18446744073709551615; integers end at 2^63 - 1 [dat.value]\n");
}

TEST_F(DatTest, ReadsLogicals) {
  auto type = ElementType::kBoolean;
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {10}, .bits = 1, .type = 5, .data = "\xa0\x40"}), type),
            "[10] 1 0 1 0 0 0 0 0 0 1");
  EXPECT_EQ(
      Decoded(Make(Ratified{.extents = {3}, .bits = 8, .type = 5, .data = std::string("\x01\x00\x7f", 3)}),
              type),
      "[3] 1 0 1");
  EXPECT_EQ(
      Decoded(Make(Provisional{.extents = {2}, .type = 3, .bits = 8, .data = std::string("\x01\x00", 2)}),
              type),
      "[2] 1 0");
  // Ratified integers of one bit stand for logicals, wider ones do not.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {4}, .bits = 1, .type = 1, .data = "\xa0"}), type),
            "[4] 1 0 1 0");
  EXPECT_NE(Decoded(Make(Ratified{.extents = {4}, .bits = 2, .type = 1, .data = "\xa0"}), type)
                .find("cannot be read from 2-bit unsigned integers"),
            std::string::npos);
}

TEST_F(DatTest, RefusesItemsOfAnotherType) {
  std::string integers = Make(Ratified{.extents = {1}, .bits = 32, .type = 4, .data = Raw<int32_t>({1})});
  EXPECT_EQ(Decoded(integers, ElementType::kF32),
            "x: error: at byte 48: a variable of type `scalar` cannot be read from 32-bit signed integers; "
            "expected "
            "floats or quantized items [dat.type-mismatch]\n");
  EXPECT_EQ(Decoded(integers, ElementType::kBoolean),
            "x: error: at byte 48: a variable of type `logical` cannot be read from 32-bit signed integers; "
            "expected "
            "bools [dat.type-mismatch]\n");
  std::string floats = Make(Provisional{.extents = {1}, .data = Raw<float>({1})});
  EXPECT_EQ(Decoded(floats, ElementType::kI64),
            "x: error: at byte 16: a variable of type `integer` cannot be read from 32-bit floats; expected "
            "signed or "
            "unsigned integers [dat.type-mismatch]\n");
}

TEST_F(DatTest, DecodesLegacyCodes) {
  std::string range = Bytes().F32(-1).F32(1).text();
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {3},
                                  .bits = 8,
                                  .type = 0x10,
                                  .parameters = range,
                                  .data = std::string("\x00\x33\xff", 3)})),
            "[3] -1 -0.6000000238418579 1");
  // m = ceil(log2(3)) = 2, r = 7: index 7 is 4, index 5 is 1.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2},
                                  .bits = 3,
                                  .type = 0x11,
                                  .parameters = Bytes().F32(0).F32(3).text(),
                                  .data = "\xf4"})),
            "[2] 4 1");
  // With a sign bit r is 3: 0 11 -> 4, 1 10 -> -2.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2},
                                  .bits = 3,
                                  .type = 0x11,
                                  .parameters = Bytes().F32(-3).F32(3).text(),
                                  .data = "\x78"})),
            "[2] 4 -2");
  // The deprecated range of quantized unsigned items.
  EXPECT_EQ(
      Decoded(Make(Ratified{.extents = {2}, .bits = 4, .type = 2, .parameters = range, .data = "\xf0"})),
      "[2] 1 -1");
  // One of its limits may be 0.
  for (const auto& [min, max, decoded] :
       {std::tuple(-1.0f, 0.0f, "[2] 0 -1"), std::tuple(0.0f, 1.0f, "[2] 1 0")}) {
    EXPECT_EQ(Decoded(Make(Ratified{.extents = {2},
                                    .bits = 4,
                                    .type = 2,
                                    .parameters = Bytes().F32(min).F32(max).text(),
                                    .data = "\xf0"})),
              decoded);
  }
  // That of signed items is logarithmic.
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {2},
                                  .bits = 3,
                                  .type = 3,
                                  .parameters = Bytes().F32(-3).F32(3).text(),
                                  .data = "\x78"})),
            "[2] 4 -2");
}

TEST_F(DatTest, DecodesAlgorithmTexts) {
  auto decode = [&](std::string text, std::string data = std::string("\x00\xff", 2)) {
    return Decoded(Make(Provisional{.extents = {2}, .type = 1, .bits = 8, .algorithm = text, .data = data}));
  };
  EXPECT_EQ(decode("linear_quantize(min = -1.0, max = 1.0, bits = 8)"), "[2] -1 1");
  EXPECT_EQ(decode(" quantize_linear ( bits=8,min=0,max=2.5e1 ) ;" + std::string(2, '\0')), "[2] 0 25");
  EXPECT_EQ(decode("linear(min=-2,max=2,bits=8)"), "[2] -2 2");
  EXPECT_EQ(decode("logarithmic_quantize(max = 1.0, bits = 8)", "\xff\xfe"), "[2] 1 0.5");
  EXPECT_EQ(decode("linear_quantize(min = 0.0, max = 1.0, bits = 4)"),
            "x: error: at byte 68: item 1 is 255; quantization to 4 bits has no such index [dat.index]\n");
  EXPECT_EQ(decode("linear_quantize(min = 0.0, bits = 8)"),
            "x: error: at byte 56: the quantization algorithm has no argument `max` [dat.algorithm]\n");
  EXPECT_EQ(decode("sqrt(x)"),
            "x: error: at byte 24: the quantization algorithm `sqrt(x)` is not known; expected "
            "`linear_quantize` or "
            "`logarithmic_quantize` [dat.algorithm]\n");
  EXPECT_EQ(decode("linear_quantize(min = 1.0, max = -1.0, bits = 8)"),
            "x: error: at byte 16: the range of the quantization is empty: min 1, max -1 [dat.range]\n");
  for (const char* text :
       {"(", "linear_quantize", "linear_quantize(", "linear_quantize()", "linear_quantize(min)",
        "linear_quantize(min=nan,max=1,bits=8)", "linear_quantize(min=0,max=1e999,bits=8)",
        "linear_quantize(min=0,max=1,bits=8.5)", "linear_quantize(min=0,max=1,bits=65)",
        "linear_quantize(min=0,min=0,max=1,bits=8)", "linear_quantize(min=0,max=1,bits=8)x",
        "linear_quantize(min=0,max=1,bits=8", "logarithmic_quantize(max=-1.0,bits=8)",
        "linear_quantize(min=0,max=1,bits=8,signed=maybe)"}) {
    EXPECT_NE(decode(text).find("error"), std::string::npos) << text;
  }
}

TEST_F(DatTest, DecodesByGraphQuant) {
  DatQuantization linear;
  linear.min = TensorValue::FromFloats({2}, {-1, 0});
  linear.max = TensorValue::FromFloats({2, 1}, {1, 255});
  std::string bytes =
      Make(Ratified{.extents = {2, 2}, .bits = 8, .type = 2, .data = std::string("\x00\xff\x01\xff", 4)});
  EXPECT_EQ(Decoded(bytes, ElementType::kF32, &linear), "[2,2] -1 1 1 255");
  EXPECT_EQ(Decoded(bytes),
            "x: error: at byte 48: 8-bit quantized items have no meaning: neither the file nor "
            "`graph.quant` states their quantization [dat.no-quantization]\n");

  DatQuantization zero_point{.algorithm = DatQuantization::Algorithm::kZeroPointLinear, .is_signed = true};
  zero_point.zero_point = TensorValue::FromInts({}, {1});
  zero_point.scale = TensorValue::FromFloats({1, 2}, {0.5f, 2});
  std::string signed_bytes = Make(Ratified{.extents = {1, 2}, .bits = 8, .type = 3, .data = "\xff\x05"});
  EXPECT_EQ(Decoded(signed_bytes, ElementType::kF32, &zero_point), "[1,2] -1 8");

  linear.min = TensorValue::FromFloats({3}, {0, 0, 0});
  EXPECT_EQ(Decoded(bytes, ElementType::kF32, &linear),
            "x: error: at byte 48: an argument of the quantization has shape [3]; items have shape [2,2] "
            "[dat.range]\n");
}

// The sign of a logarithmic item takes one bit.
TEST_F(DatTest, SignedLogarithmicHasBitsForTheExponent) {
  const std::string bytes = Make(Ratified{.extents = {1}, .bits = 8, .type = 3, .data = "\x01"});
  const auto decoded = [&](int bits, bool is_signed) {
    DatQuantization logarithmic{
        .algorithm = DatQuantization::Algorithm::kLogarithmic, .bits = bits, .is_signed = is_signed};
    logarithmic.max = TensorValue::Scalar(1);
    return Decoded(bytes, ElementType::kF32, &logarithmic);
  };
  EXPECT_NE(decoded(1, true).find("1 bits of quantization are too few with a sign"), std::string::npos);
  EXPECT_EQ(decoded(2, true).find("too few"), std::string::npos);
  EXPECT_EQ(decoded(1, false).find("too few"), std::string::npos);
}

TEST_F(DatTest, SignedLinearIsSymmetricOnRequest) {
  DatQuantization linear{.bits = 8, .is_signed = true, .symmetric = true};
  linear.min = TensorValue::Scalar(-127);
  linear.max = TensorValue::Scalar(127);
  std::string bytes =
      Make(Ratified{.extents = {3}, .bits = 8, .type = 3, .data = std::string("\x81\x00\x7f", 3)});
  EXPECT_EQ(Decoded(bytes, ElementType::kF32, &linear), "[3] -127 0 127");
  std::string lowest = Make(Ratified{.extents = {1}, .bits = 8, .type = 3, .data = "\x80"});
  EXPECT_EQ(
      Decoded(lowest, ElementType::kF32, &linear),
      "x: error: at byte 128: item 0 is -128; quantization to signed 8 bits has no such index [dat.index]\n");
}

TEST_F(DatTest, AcceptsStrayBytesOfAnOldExporter) {
  auto dat = Read(Make(Ratified{.extents = {1}, .data = Raw<float>({3}), .stray = std::string(4, '\0')}));
  ASSERT_TRUE(dat);
  EXPECT_EQ(dat->value.ElementAsDouble(0), 3);
  EXPECT_EQ(
      Messages(),
      "x: warning: at byte 128: 4 stray bytes between header and data, as an old exporter wrote them, are "
      "skipped [dat.stray-bytes]\n");
}

// Two blocks of 32 items: a scale in f16, then 16 bytes of two 4-bit codes each; a code is -8 to 7 times the
// scale.
std::string Blocks() {
  std::string data("\x00\x38", 2);  // 0.5
  for (int i = 0; i < 16; ++i) data += static_cast<char>((15 - i) << 4 | i);
  data += std::string("\x00\xc0", 2);  // -2
  data += std::string(16, '\x9f');
  return data;
}
constexpr uint32_t kVendorBits = 0xffffffff;

TEST_F(DatTest, ReadsBlocksOfATract) {
  const auto halves =
      Read(Make(Ratified{.extents = {2, 32}, .bits = kVendorBits, .type = 0x54523040, .data = Blocks()}));
  const auto pairs =
      Read(Make(Ratified{.extents = {4, 16}, .bits = kVendorBits, .type = 0x54522040, .data = Blocks()}));
  ASSERT_TRUE(halves && pairs) << Messages();
  EXPECT_EQ(DescribeItems(*halves), "4-bit floats in blocks");
  EXPECT_EQ(pairs->value.shape(), (Shape{4, 16}));
  for (int64_t i = 0; i < 16; ++i) {
    const double low = 0.5 * static_cast<double>(i - 8);
    const double high = 0.5 * static_cast<double>(15 - i - 8);
    EXPECT_EQ(halves->value.ElementAsDouble(i), low);
    EXPECT_EQ(halves->value.ElementAsDouble(16 + i), high);
    EXPECT_EQ(pairs->value.ElementAsDouble(2 * i), low);
    EXPECT_EQ(pairs->value.ElementAsDouble(2 * i + 1), high);
    EXPECT_EQ(halves->value.ElementAsDouble(32 + i), -14);
    EXPECT_EQ(halves->value.ElementAsDouble(48 + i), -2);
  }
}

TEST_F(DatTest, SaysWhatIsWrongWithBlocks) {
  EXPECT_EQ(ReadFails(Make(
                Ratified{.extents = {3, 16}, .bits = kVendorBits, .type = 0x54523040, .data = Blocks()})),
            "x: error: at byte 12: the items of shape [3,16] fill no whole number of blocks of 32 "
            "[dat.extents]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {64}, .bits = 4, .type = 0x54523040, .data = Blocks()})),
            "x: error: at byte 44: 4 bits per item; items of type 0x54523040 lie in blocks, which 0xffffffff "
            "says here [dat.bits]\n");
  EXPECT_EQ(
      ReadFails(Make(Ratified{.extents = {96}, .bits = kVendorBits, .type = 0x54523040, .data = Blocks()})),
      "x: error: at byte 4: the header says 36 bytes of data, but shape [96] in blocks of 32 items takes "
      "54 [dat.size]\n");
}

TEST_F(DatTest, SaysWhatIsWrong) {
  std::string four = Raw<float>({1});
  EXPECT_EQ(ReadFails(""),
            "x: error: at byte 0: the file ends after 0 bytes, within the header [dat.truncated]\n");
  EXPECT_EQ(
      ReadFails("PK\x03\x04"),
      "x: error: at byte 0: invalid tensor file: it starts with `50 4B`, not with `4E EF` [dat.magic]\n");
  std::string version = Make(Ratified{.extents = {1}, .data = four});
  version[2] = 2;
  EXPECT_EQ(
      ReadFails(version),
      "x: error: at byte 2: version 2.0 of the tensor format is not known; expected 1.0 [dat.version]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {1}, .bits = 24, .data = "abc"})),
            "x: error: at byte 44: 24 bits per item; floats have 16, 32 or 64 [dat.bits]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {1}, .bits = 65, .type = 1, .data = "abcdefghi"})),
            "x: error: at byte 44: 65 bits per item; integers have 1 to 64 [dat.bits]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {1}, .type = 7, .data = four})),
            "x: error: at byte 48: item type 7; expected 0 (float), 1 (unsigned), 2 or 3 (quantized), 4 "
            "(signed) or 5 "
            "(bool) [dat.item-type]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {1}, .type = 0x00020001, .data = four})),
            "x: error: at byte 48: item type 0x00020001 is of vendor 0x0002; known are Khronos' item "
            "types, of vendor 0, and tract's blocks of 4 bits (Q4_0) [dat.vendor-type]\n");
  EXPECT_EQ(
      ReadFails(Make(Ratified{.extents = {2}, .data = four})),
      "x: error: at byte 4: the header says 4 bytes of data, but shape [2] with 32 bits per item takes 8 "
      "[dat.size]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {2}, .data = four, .length = 8})),
            "x: error: at byte 132: the file ends after 4 of 8 bytes of data ([2] with 32 bits per item) "
            "[dat.truncated]\n");
  EXPECT_EQ(ReadFails(Make(Ratified{.extents = {1}, .data = four + "!", .length = 4})),
            "x: error: at byte 132: 1 byte follows the data ([1] with 32 bits per item) [dat.size]\n");
  std::string rank = Make(Ratified{.extents = {1}, .data = four});
  rank[8] = 9;
  EXPECT_EQ(ReadFails(rank), "x: error: at byte 8: rank 9; expected 0 to 8 [dat.rank]\n");
  EXPECT_EQ(
      ReadFails(Make(Provisional{.extents = {1}, .type = 4, .data = four})),
      "x: error: at byte 16: item type 4; expected 0 (float), 1 (quantized), 2 (signed) or 3 (unsigned) "
      "[dat.item-type]\n");
  EXPECT_EQ(ReadFails(Make(Provisional{.extents = {2}, .data = four})),
            "x: error: at byte 24: the file ends after 4 of 8 bytes of data ([2] with 32 bits per item) "
            "[dat.truncated]\n");
  EXPECT_EQ(
      ReadFails(Make(Provisional{.extents = {1}, .algorithm = "linear(min=0,max=1,bits=8)", .data = four})),
      "x: error: at byte 20: a quantization algorithm is given for items that are not quantized "
      "[dat.algorithm]\n");
}

TEST_F(DatTest, DoesNotBelieveExtents) {
  uint32_t most = UINT32_MAX;
  EXPECT_NE(ReadFails(Make(Ratified{.extents = {most, most, most}, .data = "1234"})).find("too large"),
            std::string::npos);
  // 2^32 items of 2^32 bits wrap to nothing in 64 bits.
  EXPECT_NE(
      ReadFails(Make(Ratified{.extents = {1u << 31, 1u << 31, 4}, .bits = 64, .data = ""})).find("too large"),
      std::string::npos);
  EXPECT_NE(ReadFails(Make(Provisional{.extents = {1u << 31, 1u << 31, 4}, .bits = 64, .data = ""}))
                .find("too large"),
            std::string::npos);
  EXPECT_NE(ReadFails(Make(Ratified{
                          .extents = {1u << 31, 8}, .bits = 1, .type = 5, .data = "", .length = 1u << 31}))
                .find("ends after 0 of 2147483648"),
            std::string::npos);
}

// R 5.2, P 5.2: every byte, including the reserved ones.
TEST_F(DatTest, WritesTheBytesOfBothLayouts) {
  struct Row {
    TensorValue value;
    uint32_t bits;
    uint8_t ratified;
    uint8_t provisional;
    std::string data;
  };
  const std::vector<Row> rows = {
      {TensorValue::FromFloats({2, 2}, {1, -2, 0.5f, 0}), 32, 0, 0, Raw<float>({1, -2, 0.5f, 0})},
      {TensorValue::Scalar(3), 32, 0, 0, Raw<float>({3})},
      {TensorValue::Filled(ElementType::kF32, Shape(8, 1), 4), 32, 0, 0, Raw<float>({4})},
      {TensorValue::Filled(ElementType::kF16, {3}, -2), 16, 0, 0, Raw<uint16_t>({0xc000, 0xc000, 0xc000})},
      {TensorValue::Filled(ElementType::kF64, {1, 1}, 0.25), 64, 0, 0, Raw<double>({0.25})},
      // Types that the formats lack are written as f32.
      {TensorValue::Filled(ElementType::kBF16, {2}, -3), 32, 0, 0, Raw<float>({-3, -3})},
      {TensorValue::Filled(ElementType::kF8E4M3, {1, 2}, 2), 32, 0, 0, Raw<float>({2, 2})},
      {TensorValue::FromInts({3}, {-1, 0, INT64_MAX}), 64, 4, 2, Raw<int64_t>({-1, 0, INT64_MAX})},
      {TensorValue::Filled(ElementType::kI32, {2}, -2), 32, 4, 2, Raw<int32_t>({-2, -2})},
      {TensorValue::Filled(ElementType::kI8, {5}, -7), 8, 4, 2, std::string(5, '\xf9')},
      {TensorValue::Filled(ElementType::kU16, {2}, 65535), 16, 1, 3, std::string(4, '\xff')},
      {TensorValue::Filled(ElementType::kU32, {2}, 5), 32, 1, 3, Raw<uint32_t>({5, 5})},
      {TensorValue::FromBools({3}, {1, 0, 1}), 8, 5, 3, std::string("\1\0\1", 3)},
      {TensorValue::FromInts({3}, {1, -1, 7}).ConvertedTo(ElementType::kI4), 4, 4, 2, "\x1f\x70"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(Name(row.value.type()));
    const std::vector<uint32_t> extents(row.value.shape().begin(), row.value.shape().end());
    ASSERT_TRUE(WriteDat(Path("r.dat"), row.value, DatFile::Format::kRatified).ok());
    EXPECT_EQ(Slurp(Path("r.dat")),
              Make(Ratified{.extents = extents, .bits = row.bits, .type = row.ratified, .data = row.data}));
    ASSERT_TRUE(WriteDat(Path("p.dat"), row.value, DatFile::Format::kProvisional).ok());
    EXPECT_EQ(Slurp(Path("p.dat")), Make(Provisional{.extents = extents,
                                                     .type = row.provisional,
                                                     .bits = static_cast<uint8_t>(row.bits),
                                                     .data = row.data}));
  }
}

TEST_F(DatTest, WritesWhatItReads) {
  std::vector<TensorValue> values = {TensorValue::FromFloats({2, 2}, {1, 2, -3, 0.5f}),
                                     TensorValue::FromInts({3}, {-1, 0, INT64_MAX}),
                                     TensorValue::FromBools({3}, {1, 0, 1}),
                                     TensorValue::Scalar(2),
                                     TensorValue::Filled(ElementType::kF16, {3}, -2),
                                     TensorValue::Filled(ElementType::kF64, {1, 1}, 0.1),
                                     TensorValue::Filled(ElementType::kI8, {5}, -7),
                                     TensorValue::Filled(ElementType::kU16, {2}, 65535),
                                     TensorValue::Filled(ElementType::kU32, {2}, 5),
                                     TensorValue::Filled(ElementType::kF32, {0, 3}, 5)};
  for (const TensorValue& value : values) {
    for (auto format : {DatFile::Format::kRatified, DatFile::Format::kProvisional}) {
      std::string path = Path("written.dat");
      ASSERT_TRUE(WriteDat(path, value, format).ok());
      auto source = OpenData(path, context_);
      ASSERT_TRUE(source);
      auto dat = ReadDat(*source, context_.emitter);
      ASSERT_TRUE(dat) << Messages();
      EXPECT_EQ(dat->format, format);
      TensorValue read = dat->value;
      if (value.type() == ElementType::kBoolean)
        read = *DecodeDat(*dat, ElementType::kBoolean, context_.emitter);
      EXPECT_EQ(read, value) << Name(value.type());
    }
  }
  auto nibbles = TensorValue::FromInts({3}, {1, -1, 7}).ConvertedTo(ElementType::kI4);
  ASSERT_TRUE(WriteDat(Path("i4.dat"), nibbles).ok());
  EXPECT_EQ(Slurp(Path("i4.dat")).substr(128), "\x1f\x70");
  EXPECT_EQ(Decoded(Slurp(Path("i4.dat")), ElementType::kI64), "[3] 1 -1 7");
  auto deep = TensorValue::Filled(ElementType::kF32, Shape(9, 1), 0);
  EXPECT_FALSE(WriteDat(Path("deep.dat"), deep).ok());
  EXPECT_TRUE(WriteDat(Path("deep.dat"), deep, DatFile::Format::kProvisional).ok());
  EXPECT_FALSE(WriteDat(Path("none/x.dat"), nibbles).ok());
}

// Each number of both headers at its bound, and one beyond.
TEST_F(DatTest, BoundsOfTheFormats) {
  const std::string one = Raw<float>({3});
  EXPECT_EQ(Decoded(Make(Ratified{.extents = std::vector<uint32_t>(8, 1), .data = one})),
            "[1,1,1,1,1,1,1,1] 3");
  EXPECT_NE(ReadFails(Make(Ratified{.extents = std::vector<uint32_t>(9, 1), .data = one}))
                .find("rank 9; expected 0 to 8"),
            std::string::npos);
  EXPECT_TRUE(
      Decoded(Make(Provisional{.extents = std::vector<uint32_t>(32, 1), .data = one})).ends_with("] 3"));
  EXPECT_NE(ReadFails(Make(Provisional{.extents = std::vector<uint32_t>(33, 1), .data = one}))
                .find("rank 33; tensors of rank 0 to 32 can be read"),
            std::string::npos);
  // No items at all: the file ends with its header.
  EXPECT_EQ(Decoded(Make(Provisional{.extents = {0}})), "[0]");
  EXPECT_EQ(Decoded(Make(Ratified{.extents = {0}})), "[0]");
  for (uint32_t wrong : {0U, 3U, 5U, 128U, 0xffffffffU}) {
    EXPECT_NE(ReadFails(Make(Ratified{.extents = {1}, .data = one, .length = wrong})).find("[dat.size]"),
              std::string::npos)
        << wrong;
  }
  for (size_t stray : {1, 3, 5, 8}) {
    EXPECT_NE(ReadFails(Make(Ratified{.extents = {1}, .data = one, .stray = std::string(stray, 's')}))
                  .find("[dat.size]"),
              std::string::npos)
        << stray;
  }
}

// Files that are truncated at any position.
TEST_F(DatTest, FilesThatAreCutOff) {
  const std::string scalar = Make(Provisional{.data = Raw<float>({3})});
  EXPECT_NE(ReadFails(scalar.substr(0, 15)).find("the file ends after 15 bytes, within the header"),
            std::string::npos);
  EXPECT_NE(ReadFails(scalar.substr(0, 16)).find("the file ends after 0 of 4 bytes of data"),
            std::string::npos);
  const std::string ratified = Make(Ratified{.extents = {2}, .data = Raw<float>({3, 4})});
  for (size_t size = 2; size < ratified.size(); ++size) {
    const std::string where = size < 128 ? fmt::format("{} bytes, within the header", size)
                                         : fmt::format("{} of 8 bytes of data", size - 128);
    EXPECT_NE(ReadFails(ratified.substr(0, size)).find("the file ends after " + where), std::string::npos)
        << size;
  }
  const std::string provisional = Make(Provisional{.extents = {2},
                                                   .type = 1,
                                                   .bits = 8,
                                                   .algorithm = "linear_quantize(0.0, 1.0, bits = 8)",
                                                   .data = "12"});
  const size_t header = provisional.size() - 2;
  for (size_t size = 20; size < provisional.size(); ++size) {
    const std::string where = size < header ? fmt::format("{} bytes, within the header", size)
                                            : fmt::format("{} of 2 bytes of data", size - header);
    EXPECT_NE(ReadFails(provisional.substr(0, size)).find("the file ends after " + where), std::string::npos)
        << size;
  }
  EXPECT_NE(ReadFails(provisional + "3").find("1 byte follows the data"), std::string::npos);
}

}  // namespace
}  // namespace nnefc::package
