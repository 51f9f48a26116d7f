#include "compiler/driver/data/variable_data.h"

#include "compiler/driver/data/quantization.h"
#include "gtest/gtest.h"

namespace nnefc::driver {
namespace {

using package::DatCoding;
using Format = package::DatHeader::Format;

// Quantized items without a range are plain integers if they have the bits of a type, in ratified files only.
TEST(VariableDataTest, PlainIntegers) {
  const auto read = [](Format format, DatCoding coding, int bits, bool has_range) {
    package::DatFile dat;
    dat.format = format;
    dat.coding = coding;
    dat.bits = bits;
    dat.has_range = has_range;
    ReadPlainIntegers(dat);
    return dat.coding;
  };
  for (int bits = 1; bits <= 65; ++bits) {
    const bool has_type = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    const DatCoding expected = has_type ? DatCoding::kPlain : DatCoding::kQuantized;
    EXPECT_EQ(read(Format::kRatified, DatCoding::kQuantized, bits, false), expected) << bits;
    EXPECT_EQ(read(Format::kRatified, DatCoding::kQuantized, bits, true), DatCoding::kQuantized) << bits;
    EXPECT_EQ(read(Format::kProvisional, DatCoding::kQuantized, bits, false), DatCoding::kQuantized) << bits;
    for (const DatCoding coding :
         {DatCoding::kPlain, DatCoding::kLinear, DatCoding::kLogarithmic, DatCoding::kAlgorithm})
      EXPECT_EQ(read(Format::kRatified, coding, bits, false), coding) << bits;
  }
}

// Bits that no item has are reported as they are from -1 to 1000, and as the nearer of both beyond.
TEST(VariableDataTest, BitsOfQuantizedItems) {
  for (const auto& [stated, expected] : {std::pair(-3000.0F, -1),
                                         {-2.0F, -1},
                                         {-1.0F, -1},
                                         {0.0F, 0},
                                         {8.0F, 8},
                                         {999.0F, 999},
                                         {1000.0F, 1000},
                                         {1001.0F, 1000},
                                         {1e9F, 1000}}) {
    expand::TensorQuantization line;
    line.tensor = "v";
    line.operation = "linear_quantize";
    line.is_standard = true;
    line.arguments.push_back({.name = "bits", .value = TensorValue::Scalar(stated), .range = {}});
    Context context;
    const std::optional<package::DatQuantization> quantization =
        ToDatQuantization(line, package::DatFile(), context);
    ASSERT_TRUE(quantization);
    EXPECT_EQ(quantization->bits, expected) << stated;
  }
}

}  // namespace
}  // namespace nnefc::driver
