// Widths, types and arguments of tensor files at the ends of their ranges.

#include "tests/unit/compiler/package/dat_maker.h"

namespace nnefc {
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

}  // namespace
}  // namespace nnefc
