// Widths, types and arguments of tensor files at the ends of their ranges.

#include "tests/unit/compiler/package/dat_maker.h"

namespace nnefc::package {
namespace {

class DatCornersTest : public DatFixture {};

TEST_F(DatCornersTest, ItemsHaveTheNarrowestType) {
  const auto type = [&](uint32_t item_type, uint32_t bits) {
    const std::optional<DatFile> dat = Read(Make(Ratified{
        .extents = {1}, .bits = bits, .type = item_type, .data = std::string((bits + 7) / 8, '\x01')}));
    return dat ? std::string(Name(dat->value.type())) : Messages();
  };
  for (const auto& [bits, width] :
       {std::pair(1, 8), std::pair(7, 8), std::pair(8, 8), std::pair(9, 16), std::pair(15, 16),
        std::pair(16, 16), std::pair(17, 32), std::pair(31, 32), std::pair(32, 32), std::pair(33, 64),
        std::pair(63, 64), std::pair(64, 64)}) {
    EXPECT_EQ(type(1, static_cast<uint32_t>(bits)), fmt::format("u{}", width)) << bits;
    EXPECT_EQ(type(4, static_cast<uint32_t>(bits)), fmt::format("i{}", width)) << bits;
  }
  for (const uint32_t bits : {16U, 32U, 64U}) EXPECT_EQ(type(0, bits), fmt::format("f{}", bits));
  for (const uint32_t bits : {1U, 8U}) EXPECT_EQ(type(5, bits), "boolean");
}

// Logicals are bools, unsigned or signed integers of the provisional format, or integers of one bit.
TEST_F(DatCornersTest, IntegersAsLogicals) {
  const auto type = ElementType::kBoolean;
  for (const uint32_t item_type : {1U, 4U}) {
    EXPECT_EQ(Decoded(Make(Ratified{.extents = {3}, .bits = 1, .type = item_type, .data = "\xa0"}), type),
              "[3] 1 0 1");
    for (const uint32_t bits : {2U, 8U}) {
      EXPECT_NE(Decoded(Make(Ratified{.extents = {1}, .bits = bits, .type = item_type, .data = "\x01"}), type)
                    .find("expected bools [dat.type-mismatch]"),
                std::string::npos);
    }
  }
  for (const uint8_t item_type : {uint8_t{2}, uint8_t{3}}) {
    EXPECT_EQ(Decoded(Make(Provisional{.extents = {3}, .type = item_type, .bits = 1, .data = "\xa0"}), type),
              "[3] 1 0 1");
    EXPECT_EQ(Decoded(Make(Provisional{
                          .extents = {2}, .type = item_type, .bits = 8, .data = std::string("\0\2", 2)}),
                      type),
              "[2] 0 1");
  }
  EXPECT_NE(
      Decoded(Make(Provisional{.extents = {1}, .data = Raw<float>({1})}), type).find("[dat.type-mismatch]"),
      std::string::npos);
  // Quantized items of one bit are no logicals.
  EXPECT_NE(Decoded(Make(Ratified{.extents = {1}, .bits = 1, .type = 2, .data = "\x80"}), type)
                .find("[dat.type-mismatch]"),
            std::string::npos);
}

// Items of the logarithmic algorithm have at most the bits that it states.
TEST_F(DatCornersTest, ItemsBeyondTheBitsOfPowers) {
  const auto decode = [&](const std::string& data) {
    return Decoded(Make(Provisional{.extents = {2},
                                    .type = 1,
                                    .bits = 8,
                                    .algorithm = "logarithmic_quantize(max = 1.0, bits = 3)",
                                    .data = data}));
  };
  EXPECT_EQ(decode("\x07\x06"), "[2] 1 0.5");
  for (const char* data : {"\x07\x08", "\x07\x0f", "\x07\xff"}) {
    const std::string message = decode(data);
    EXPECT_TRUE(message.ends_with("quantization to 3 bits has no such index [dat.index]\n")) << message;
  }
}

TEST_F(DatCornersTest, ArgumentsOfAlgorithms) {
  const auto decode = [&](const std::string& text, const std::string& data = std::string("\x00\x01", 2)) {
    return Decoded(Make(Provisional{.extents = {2}, .type = 1, .bits = 8, .algorithm = text, .data = data}));
  };
  const auto linear = [&](const std::string& more, const std::string& data = std::string("\x00\x01", 2)) {
    return decode("linear_quantize(min=0,max=1," + more + ")", data);
  };
  EXPECT_EQ(linear("bits=1"), "[2] 0 1");
  EXPECT_EQ(linear("bits=64").substr(0, 6), "[2] 0 ");
  EXPECT_EQ(linear("bits=1,signed=false"), "[2] 0 1");
  EXPECT_EQ(linear("bits=1,symmetric=false,signed=false"), "[2] 0 1");
  const std::string bits = " of the quantization algorithm; expected 1 to 64 [dat.algorithm]\n";
  for (const char* wrong : {"0", "65", "0.5", "1.5", "-1", "64.5", "1e300"}) {
    const std::string message = linear(std::string("bits=") + wrong);
    EXPECT_TRUE(message.starts_with("x: error: at byte ") && message.ends_with(bits)) << message;
  }
  // 20 bytes of header, then the text.
  EXPECT_EQ(linear("signed=True,bits=8"),
            "x: error: at byte 59: expected `true` or `false`, saw `,bits=8)` [dat.algorithm]\n");
  EXPECT_EQ(linear("signed=,bits=8"),
            "x: error: at byte 55: expected `true` or `false`, saw `,bits=8)` [dat.algorithm]\n");
  EXPECT_EQ(
      linear("bits=8,bits=8"),
      "x: error: at byte 60: an argument of the quantization algorithm is given twice [dat.algorithm]\n");
  EXPECT_EQ(linear("bits=8,scale=8"),
            "x: error: at byte 61: `scale` is not an argument of a quantization algorithm [dat.algorithm]\n");
  EXPECT_EQ(linear("bits=inf"),
            "x: error: at byte 53: expected a finite number, saw `inf)` [dat.algorithm]\n");
  EXPECT_EQ(linear("bits:8"),
            "x: error: at byte 52: expected `=` in the quantization algorithm, saw `:8)` [dat.algorithm]\n");
  // Blanks after the text are data.
  EXPECT_EQ(decode("linear_quantize(min=0,max=255,bits=8)", "  "), "[2] 32 32");
  EXPECT_EQ(decode("linear_quantize(min=0,max=255,bits=8);", "  "), "[2] 32 32");
  EXPECT_EQ(decode("linear_quantize(max=255,bits=8)"),
            "x: error: at byte 51: the quantization algorithm has no argument `min` [dat.algorithm]\n");
  EXPECT_EQ(decode("linear_quantize(min=0,max=255)"),
            "x: error: at byte 50: the quantization algorithm has no argument `bits` [dat.algorithm]\n");
}

// The algorithm in a file decodes its items, whatever graph.quant says.
TEST_F(DatCornersTest, AlgorithmsOfFilesPrecedeGraphQuant) {
  DatQuantization other;
  other.min = TensorValue::Scalar(0);
  other.max = TensorValue::Scalar(1);
  const std::string own = Make(Provisional{.extents = {2},
                                           .type = 1,
                                           .bits = 8,
                                           .algorithm = "linear_quantize(min=0,max=255,bits=8)",
                                           .data = std::string("\0\7", 2)});
  EXPECT_EQ(Decoded(own, ElementType::kF32, &other), "[2] 0 7");
}

// Arguments of graph.quant broadcast to the items: no more axes, and extents of 1 or the same.
TEST_F(DatCornersTest, ShapesOfArguments) {
  const std::string bytes =
      Make(Ratified{.extents = {2, 3}, .bits = 8, .type = 2, .data = std::string("\0\1\2\3\4\5", 6)});
  const auto decode = [&](const Shape& shape) {
    DatQuantization linear;
    std::vector<float> ends(static_cast<size_t>(*Volume(shape)), 255);
    linear.min = TensorValue::Scalar(0);
    linear.max = TensorValue::FromFloats(shape, ends);
    return Decoded(bytes, ElementType::kF32, &linear);
  };
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2}, Shape{1, 1}, Shape{2, 1}, Shape{1, 3}, Shape{2, 3}})
    EXPECT_EQ(decode(shape), "[2,3] 0 1 2 3 4 5") << ToString(shape);
  for (const Shape& shape :
       {Shape{3}, Shape{3, 2}, Shape{2, 2}, Shape{1, 1, 1}, Shape{2, 3, 1}, Shape{0}, Shape{2, 0}}) {
    EXPECT_EQ(
        decode(shape),
        fmt::format(
            "x: error: at byte 48: an argument of the quantization has shape {}; items have shape [2,3] "
            "[dat.range]\n",
            ToString(shape)));
  }
}

// Quantized items with a range in the file: unsigned ones are linear, signed ones logarithmic.
TEST_F(DatCornersTest, RangesOfQuantizedItems) {
  const auto decode = [&](uint32_t type, float min, float max) {
    return Decoded(Make(Ratified{.extents = {1},
                                 .bits = 8,
                                 .type = type,
                                 .parameters = Bytes().F32(min).F32(max).text(),
                                 .data = std::string("\0", 1)}));
  };
  EXPECT_EQ(decode(2, -3, 2), "[1] -3");
  EXPECT_EQ(decode(2, 0, 2), "[1] 0");
  for (const uint32_t type : {3U, 0x11U}) {
    EXPECT_EQ(decode(type, -3, 2),
              "x: error: at byte 52: the range of logarithmic quantization is -3 to 2; it starts at 0 or at "
              "the negative "
              "of its end [dat.range]\n");
  }
}

// The least and the largest index of each number of bits; the file's items are wider.
TEST_F(DatCornersTest, IndicesOfFewerBits) {
  const auto decode = [&](int8_t item, bool is_signed, bool symmetric) {
    DatQuantization linear{.bits = 4, .is_signed = is_signed, .symmetric = symmetric};
    linear.min = TensorValue::Scalar(0);
    linear.max = TensorValue::Scalar(is_signed && symmetric ? 14 : 15);
    return Decoded(Make(Ratified{.extents = {1},
                                 .bits = 8,
                                 .type = is_signed ? 3U : 2U,
                                 .data = std::string(1, static_cast<char>(item))}),
                   ElementType::kF32, &linear);
  };
  EXPECT_EQ(decode(0, false, false), "[1] 0");
  EXPECT_EQ(decode(15, false, false), "[1] 15");
  EXPECT_EQ(decode(16, false, false),
            "x: error: at byte 128: item 0 is 16; quantization to 4 bits has no such index [dat.index]\n");
  EXPECT_EQ(decode(-8, true, false), "[1] 0");
  EXPECT_EQ(decode(7, true, false), "[1] 15");
  EXPECT_EQ(decode(-7, true, true), "[1] 0");
  EXPECT_EQ(decode(7, true, true), "[1] 14");
  for (const auto& [item, symmetric] : {std::pair(-9, false), std::pair(8, false), std::pair(-8, true),
                                        std::pair(8, true), std::pair(127, false)}) {
    EXPECT_EQ(decode(static_cast<int8_t>(item), true, symmetric),
              fmt::format("x: error: at byte 128: item 0 is {}; quantization to signed 4 bits has no such "
                          "index [dat.index]\n",
                          item));
  }
}

// Diagnostics cover the bytes of the wrong number.
TEST_F(DatCornersTest, BytesOfDiagnostics) {
  const auto range = [&](const std::string& bytes) {
    const std::optional<DatFile> dat = Read(bytes);
    if (dat) (void)DecodeDat(*dat, ElementType::kF32, context_.emitter);
    std::string text;
    for (const Diagnostic& diagnostic : context_.emitter.diagnostics())
      text += fmt::format("{} {}..{};", diagnostic.rule->label, diagnostic.range.begin, diagnostic.range.end);
    context_.emitter.Clear();
    return text;
  };
  const std::string one = Raw<float>({1});
  std::string changed = Make(Ratified{.extents = {1}, .data = one});
  changed[0] = 'x';
  EXPECT_EQ(range(changed), "dat.magic 0..2;");
  changed = Make(Ratified{.extents = {1}, .data = one});
  changed[2] = 2;
  EXPECT_EQ(range(changed), "dat.version 2..4;");
  changed = Make(Ratified{.extents = {1}, .data = one});
  changed[16] = 5;
  EXPECT_EQ(range(changed), "dat.stray-extents 16..20;");
  EXPECT_EQ(range(Make(Ratified{.extents = std::vector<uint32_t>(9, 1), .data = one})), "dat.rank 8..12;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .bits = 24, .data = "abc"})), "dat.bits 44..48;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .type = 7, .data = one})), "dat.item-type 48..52;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .type = 0x20001, .data = one})), "dat.vendor-type 48..52;");
  // The upper half of an item type is a vendor.
  for (const uint32_t type : {0x7fffU, 0x8000U, 0x8001U, 0xffffU})
    EXPECT_EQ(range(Make(Ratified{.extents = {1}, .type = type, .data = one})), "dat.item-type 48..52;");
  for (const uint32_t type : {0x10000U, 0x10001U, 0x80000000U, 0xffffffffU})
    EXPECT_EQ(range(Make(Ratified{.extents = {1}, .type = type, .data = one})), "dat.vendor-type 48..52;");
  EXPECT_EQ(
      range(Make(Ratified{.extents = {32}, .bits = 4, .type = 0x54523040, .data = std::string(18, '1')})),
      "dat.bits 44..48;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .data = one, .length = 8})), "dat.size 4..8;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .data = one + "12", .length = 4})), "dat.size 132..134;");
  EXPECT_EQ(range(Make(Ratified{.extents = {2}, .data = one, .length = 8})), "dat.truncated 132..132;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .data = one, .stray = "1234"})), "dat.stray-bytes 128..132;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1u << 31, 1u << 31, 4}, .bits = 64})), "dat.extents 12..24;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .bits = 32, .type = 4, .data = one})),
            "dat.type-mismatch 48..52;");
  EXPECT_EQ(range(Make(Ratified{.extents = {1}, .bits = 8, .type = 2, .data = "1"})),
            "dat.no-quantization 48..52;");
  EXPECT_EQ(range(Make(Provisional{.extents = {1}, .type = 4, .data = one})), "dat.item-type 16..17;");
  EXPECT_EQ(range(Make(Provisional{.extents = {1}, .bits = 24, .data = "abc"})), "dat.bits 17..18;");
  EXPECT_EQ(range(Make(Provisional{.extents = {1}, .algorithm = "linear()", .data = one})),
            "dat.algorithm 20..28;");
  EXPECT_EQ(range(Make(Provisional{.extents = std::vector<uint32_t>(33, 1), .data = one})),
            "dat.rank 8..12;");
  EXPECT_EQ(range(Make(Provisional{.extents = {3},
                                   .type = 1,
                                   .bits = 8,
                                   .algorithm = "linear(min=0,max=1,bits=4)",
                                   .data = "\x01\x02\x7f"})),
            "dat.index 48..49;");
}

// Diagnostics of single items cover the bytes of the first wrong one.
TEST_F(DatCornersTest, BytesOfWrongItems) {
  const auto range = [&](const std::string& bytes, ElementType type,
                         const DatQuantization* quantization = nullptr) {
    const std::optional<DatFile> dat = Read(bytes);
    EXPECT_TRUE(dat && !DecodeDat(*dat, type, context_.emitter, quantization));
    std::string text;
    for (const Diagnostic& diagnostic : context_.emitter.diagnostics())
      text += fmt::format("{} {}..{};", diagnostic.rule->label, diagnostic.range.begin, diagnostic.range.end);
    context_.emitter.Clear();
    return text;
  };
  // Integers above 2^63 - 1.
  constexpr uint64_t kMax = uint64_t{1} << 63;
  for (size_t wrong : {0, 1, 2}) {
    for (uint64_t item : {kMax, kMax + 1, ~uint64_t{0}}) {
      std::vector<uint64_t> items(4, kMax - 1);
      items[wrong] = items[3] = item;
      EXPECT_EQ(
          range(Make(Ratified{.extents = {4}, .bits = 64, .type = 1, .data = Raw(items)}), ElementType::kI64),
          fmt::format("dat.value {}..{};", 128 + 8 * wrong, 136 + 8 * wrong));
    }
  }
  // Quantized items of 12 bits in a range of 8 bits; the third one starts within a byte.
  DatQuantization linear{.bits = 8};
  linear.min = TensorValue::Scalar(0);
  linear.max = TensorValue::Scalar(1);
  const auto items = [&](std::string_view data) {
    return range(Make(Ratified{.extents = {4}, .bits = 12, .type = 2, .data = std::string(data)}),
                 ElementType::kF32, &linear);
  };
  using std::literals::operator""sv;
  EXPECT_EQ(items("\x10\x00\xff\x0f\xf0\xff"sv), "dat.index 128..129;");
  EXPECT_EQ(items("\x0f\xf1\x00\x0f\xf1\x00"sv), "dat.index 129..130;");
  EXPECT_EQ(items("\x0f\xf0\xff\x10\x01\x00"sv), "dat.index 131..132;");
  EXPECT_EQ(items("\x0f\xf0\xff\x0f\xf1\x00"sv), "dat.index 132..133;");
}

// A rank that neither format has belongs to the ratified format, unless the header states the length of a
// provisional one.
TEST_F(DatCornersTest, RanksBeyondBothFormats) {
  const auto read = [&](uint32_t rank, uint32_t length) {
    Bytes bytes;
    bytes.U8(0x4e).U8(0xef).U8(1).U8(0).U32(length).U32(rank).PadTo(200);
    return ReadFails(bytes.text());
  };
  EXPECT_EQ(read(1000, 16 + 4 * 1000), "x: error: at byte 8: rank 1000; expected 0 to 8 [dat.rank]\n");
  EXPECT_EQ(read(47, 16 + 4 * 47), "x: error: at byte 8: rank 47; expected 0 to 8 [dat.rank]\n");
  EXPECT_EQ(read(46, 16 + 4 * 46),
            "x: error: at byte 8: rank 46; tensors of rank 0 to 32 can be read [dat.rank]\n");
  EXPECT_EQ(read(33, 17 + 4 * 33),
            "x: error: at byte 8: rank 33; tensors of rank 0 to 32 can be read [dat.rank]\n");
  // A header of the largest rank, with 32 bits, states the length of its text, which is 0 here.
  Bytes largest;
  largest.U8(0x4e).U8(0xef).U8(1).U8(0).U32(17 + 4 * 32).U32(32).PadTo(13 + 4 * 32).U8(32).PadTo(200);
  EXPECT_EQ(ReadFails(largest.text()), "x: error: at byte 8: rank 32; expected 0 to 8 [dat.rank]\n");
  EXPECT_EQ(read(46, 15 + 4 * 46), "x: error: at byte 8: rank 46; expected 0 to 8 [dat.rank]\n");
  EXPECT_EQ(read(46, 16 + 4 * 46 + 0xffff),
            "x: error: at byte 8: rank 46; tensors of rank 0 to 32 can be read [dat.rank]\n");
  EXPECT_EQ(read(46, 16 + 4 * 46 + 0x10000), "x: error: at byte 8: rank 46; expected 0 to 8 [dat.rank]\n");
}

// Bits of items, at the bounds of each kind of item.
TEST_F(DatCornersTest, BitsOfItems) {
  const auto accepts = [&](uint32_t type, uint32_t bits) {
    const bool is_read =
        Read(Make(Ratified{.extents = {8}, .bits = bits, .type = type, .data = std::string(bits, '\0')}))
            .has_value();
    const std::string messages = Messages();
    EXPECT_EQ(messages.find("[dat.bits]") == std::string::npos, is_read) << messages;
    return is_read;
  };
  for (const uint32_t type : {1U, 2U, 3U, 4U}) {
    for (const uint32_t bits : {1U, 2U, 7U, 8U, 63U, 64U})
      EXPECT_TRUE(accepts(type, bits)) << type << " " << bits;
    for (const uint32_t bits : {0U, 65U, 128U}) EXPECT_FALSE(accepts(type, bits)) << type << " " << bits;
  }
  for (const uint32_t bits : {16U, 32U, 64U}) EXPECT_TRUE(accepts(0, bits)) << bits;
  for (const uint32_t bits : {0U, 1U, 8U, 15U, 17U, 31U, 33U, 63U, 65U})
    EXPECT_FALSE(accepts(0, bits)) << bits;
  for (const uint32_t bits : {1U, 8U}) EXPECT_TRUE(accepts(5, bits)) << bits;
  for (const uint32_t bits : {0U, 2U, 7U, 9U, 16U}) EXPECT_FALSE(accepts(5, bits)) << bits;
}

TEST_F(DatCornersTest, BlocksOfTooManyItems) {
  EXPECT_NE(ReadFails(Make(Ratified{.extents = {1u << 31, 1u << 31}, .bits = 0xffffffff, .type = 0x54523040}))
                .find("is too large"),
            std::string::npos);
  EXPECT_NE(ReadFails(Make(Ratified{.extents = {1u << 31, 1u << 26}, .bits = 0xffffffff, .type = 0x54523040}))
                .find("[dat.size]"),
            std::string::npos);
}

// Items of fewer than eight bits, the first one in the most significant bits.
TEST_F(DatCornersTest, WritesPackedItems) {
  const auto written = [&](ElementType type, const std::vector<int64_t>& items) {
    const TensorValue value =
        TensorValue::FromInts({static_cast<int64_t>(items.size())}, items).ConvertedTo(type);
    EXPECT_TRUE(WriteDat(Path("p.dat"), value).ok());
    return Slurp(Path("p.dat")).substr(128);
  };
  EXPECT_EQ(written(ElementType::kI4, {0, -1, -8, 7, 2, -2}), "\x0f\x87\x2e");
  EXPECT_EQ(written(ElementType::kI4, {-8, 0, -1}), "\x80\xf0");
  EXPECT_EQ(written(ElementType::kU4, {15, 0, 1, 14}), "\xf0\x1e");
  EXPECT_EQ(written(ElementType::kU2, {0, 3, 0, 2, 1}), "\x32\x40");
  EXPECT_EQ(written(ElementType::kU1, {0, 1, 0, 0, 0, 0, 0, 1, 1}), "\x41\x80");
}

// A quantization has 1 to 64 bits.
TEST_F(DatCornersTest, BitsOfQuantizations) {
  for (const bool is_logarithmic : {false, true}) {
    const auto decode = [&](int bits) {
      DatQuantization quantization{.bits = bits};
      if (is_logarithmic) quantization.algorithm = DatQuantization::Algorithm::kLogarithmic;
      quantization.min = TensorValue::Scalar(0);
      quantization.max = TensorValue::Scalar(1);
      return Decoded(Make(Ratified{.extents = {1}, .bits = 8, .type = 2, .data = std::string(1, '\1')}),
                     ElementType::kF32, &quantization);
    };
    for (const int bits : {-1, 65, 1000}) {
      EXPECT_EQ(
          decode(bits),
          fmt::format("x: error: at byte 48: {} bits of quantization; expected 1 to 64 [dat.range]\n", bits));
    }
    EXPECT_EQ(decode(1), "[1] 1");
    EXPECT_TRUE(decode(64).starts_with("[1] ")) << decode(64);
  }
}

// One symmetric bit with a sign has the index 0 alone, which is no range but has a zero point.
TEST_F(DatCornersTest, OneSymmetricBit) {
  DatQuantization quantization{.bits = 1, .is_signed = true, .symmetric = true};
  quantization.min = TensorValue::Scalar(0);
  quantization.max = TensorValue::Scalar(1);
  quantization.zero_point = TensorValue::FromInts({}, {3});
  quantization.scale = TensorValue::Scalar(2);
  const auto decode = [&](char index) {
    return Decoded(Make(Ratified{.extents = {1}, .bits = 8, .type = 3, .data = std::string(1, index)}),
                   ElementType::kF32, &quantization);
  };
  EXPECT_EQ(decode(0), "x: error: at byte 48: 1 bits of quantization are too few with a sign [dat.range]\n");
  quantization.algorithm = DatQuantization::Algorithm::kZeroPointLinear;
  EXPECT_EQ(decode(0), "[1] -6");
  for (const char wrong : {'\1', '\xff'}) EXPECT_NE(decode(wrong).find("[dat.index]"), std::string::npos);
}

// The message about a file of one byte shows no byte after it.
TEST_F(DatCornersTest, FilesOfOneByte) {
  const DataSource source = Source("xyz");
  EXPECT_FALSE(ReadDat({source.file, Buffer::Slice(source.bytes, 0, 1)}, context_.emitter));
  EXPECT_NE(Messages().find("it starts with `78 00`, not with `4E EF` [dat.magic]"), std::string::npos);
  EXPECT_FALSE(ReadDat({source.file, Buffer::Slice(source.bytes, 0, 2)}, context_.emitter));
  EXPECT_NE(Messages().find("it starts with `78 79`, not with `4E EF` [dat.magic]"), std::string::npos);
}

// An extent of a tensor file has 32 bits.
TEST_F(DatCornersTest, ExtentsOfMoreBits) {
  for (const auto format : {DatFile::Format::kRatified, DatFile::Format::kProvisional}) {
    for (const int64_t extent : {int64_t{0xffffffff}, int64_t{1} << 32}) {
      const TensorValue value(ElementType::kF32, {0, extent}, Buffer::Allocate(0));
      EXPECT_EQ(WriteDat(Path("e.dat"), value, format).ok(), extent == 0xffffffff) << extent;
    }
  }
}

}  // namespace
}  // namespace nnefc::package
