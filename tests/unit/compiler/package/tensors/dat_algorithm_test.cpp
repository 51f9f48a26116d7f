// The texts of quantization algorithms in provisional tensor files (P 5.2, 5.3).
#include "compiler/package/tensors/dat_algorithm.h"

#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {
namespace {

class DatAlgorithmTest : public PackageTest {
 protected:
  // "linear 8 bits -1..1 signed symmetric", or the message with its offset in the text.
  std::string Parsed(std::string_view text) {
    DatFile file;
    file.file = context_.sources.AddOpaque("x", FileKind::kBinary);
    file.algorithm = text;
    const std::optional<DatQuantization> parsed = ParseDatAlgorithm(file, context_.emitter);
    if (!parsed) {
      const Diagnostic& diagnostic = context_.emitter.diagnostics().front();
      const std::string message = fmt::format("{}: {}", diagnostic.range.begin, diagnostic.message);
      context_.emitter.Clear();
      return message;
    }
    const bool is_linear = parsed->algorithm == DatQuantization::Algorithm::kMinMaxLinear;
    return fmt::format("{} {} bits {}..{}{}{}", is_linear ? "linear" : "logarithmic", parsed->bits,
                       parsed->min.ElementAsDouble(0), parsed->max.ElementAsDouble(0),
                       parsed->is_signed ? " signed" : "", parsed->symmetric ? " symmetric" : "");
  }
};

TEST_F(DatAlgorithmTest, HaveSeveralNames) {
  for (const char* name : {"linear_quantize", "quantize_linear", "linear", "min_max_linear_quantize"})
    EXPECT_EQ(Parsed(std::string(name) + "(min = -1.0, max = 1.0, bits = 8)"), "linear 8 bits -1..1") << name;
  for (const char* name : {"logarithmic_quantize", "quantize_logarithmic", "logarithmic"})
    EXPECT_EQ(Parsed(std::string(name) + "(max = 2.5, bits = 8)"), "logarithmic 8 bits 0..2.5") << name;
  for (const char* name : {"Linear", "linear2", "2linear", "_linear", "zero_point_linear_quantize", "linearA",
                           "Alinear", "linearZ", "Zlinear", "lineara", "alinear", "linearz", "zlinear",
                           "linear0", "linear9", "linear_", ""})
    EXPECT_EQ(Parsed(std::string(name) + "(max = 1, bits = 8)"),
              fmt::format("{}: the quantization algorithm `{}(max = 1, bits = 8)` is not known; expected "
                          "`linear_quantize` or `logarithmic_quantize`",
                          name[0] == '2' ? 0 : std::string(name).size(), name))
        << name;
}

TEST_F(DatAlgorithmTest, HaveBlanksAnywhere) {
  for (const char* text : {"linear(min=-1,max=1,bits=8)", " linear ( min = -1 , max = 1 , bits = 8 ) ",
                           "\tlinear\n(\vmin\f=\r-1,max=1,bits=8);", "linear(max=1,bits=8,min=-1) ; ",
                           "linear(bits=8.0,max=1e0,min=-1.0)"})
    EXPECT_EQ(Parsed(text), "linear 8 bits -1..1") << text;
  using namespace std::string_view_literals;
  EXPECT_EQ(Parsed("linear(min=-1,max=1,bits=8)\0\0"sv), "linear 8 bits -1..1");
  EXPECT_EQ(Parsed("linear(min=-1,max=1,bits=8)\0 "sv).substr(0, 3), "27:");
}

TEST_F(DatAlgorithmTest, HaveOneToSixtyFourBits) {
  const auto bits = [&](const std::string& count) {
    return Parsed("linear(min=0,max=1,bits=" + count + ")");
  };
  for (const char* count : {"1", "2", "63", "64"})
    EXPECT_EQ(bits(count), fmt::format("linear {} bits 0..1", count)) << count;
  for (const char* count : {"0", "0.5", "-1", "1.5", "63.5", "65", "100"})
    EXPECT_EQ(bits(count), fmt::format("{}: `bits = {}` of the quantization algorithm; expected 1 to 64",
                                       25 + std::string(count).size(), count))
        << count;
}

TEST_F(DatAlgorithmTest, HaveLogicals) {
  const auto logicals = [&](const std::string& more) {
    return Parsed("linear(min=0,max=1,bits=8," + more + ")");
  };
  EXPECT_EQ(logicals("signed=true"), "linear 8 bits 0..1 signed");
  EXPECT_EQ(logicals("signed=false"), "linear 8 bits 0..1");
  EXPECT_EQ(logicals("symmetric=true"), "linear 8 bits 0..1 symmetric");
  EXPECT_EQ(logicals("symmetric=false,signed=true"), "linear 8 bits 0..1 signed");
  for (const char* other : {"maybe", "1", "True", ""})
    EXPECT_NE(logicals(std::string("signed=") + other).find("expected `true` or `false`"), std::string::npos)
        << other;
  const std::string twice = "an argument of the quantization algorithm is given twice";
  EXPECT_EQ(logicals("signed=true,signed=true"), "45: " + twice);
  EXPECT_EQ(logicals("signed=false,signed=true"), "46: " + twice);
  EXPECT_EQ(logicals("symmetric=false, symmetric = false"), "55: " + twice);
}

TEST_F(DatAlgorithmTest, NameWhatIsMissing) {
  const std::string missing = "the quantization algorithm has no argument ";
  EXPECT_EQ(Parsed("linear(min=0,max=1)"), "19: " + missing + "`bits`");
  EXPECT_EQ(Parsed("linear(min=0,bits=1)"), "20: " + missing + "`max`");
  EXPECT_EQ(Parsed("linear(max=0,bits=1)"), "20: " + missing + "`min`");
  EXPECT_EQ(Parsed("logarithmic(min=0,bits=1)"), "25: " + missing + "`max`");
  EXPECT_EQ(Parsed("linear(min=0,max=1,bits=8,min=1)"),
            "30: an argument of the quantization algorithm is given twice");
  EXPECT_EQ(Parsed("linear(step=0)"), "12: `step` is not an argument of a quantization algorithm");
  EXPECT_EQ(Parsed("linear(min=inf)"), "11: expected a finite number, saw `inf)`");
  EXPECT_EQ(Parsed("linear(min=x)"), "11: expected a finite number, saw `x)`");
  EXPECT_EQ(Parsed("linear()"), "7: expected a named argument, saw `)`");
  EXPECT_EQ(Parsed("linear(min=0,)"), "13: expected a named argument, saw `)`");
  EXPECT_EQ(Parsed("linear(1)"), "7: expected a named argument, saw `1)`");
  EXPECT_EQ(Parsed("linear"), "6: expected `(` in the quantization algorithm, saw ``");
  EXPECT_EQ(Parsed("linear(min 0)"), "11: expected `=` in the quantization algorithm, saw `0)`");
  EXPECT_EQ(Parsed("linear(min=0"), "12: expected `)` in the quantization algorithm, saw ``");
  EXPECT_EQ(Parsed("linear(min=0,max=1,bits=8);;"),
            "27: expected the end of the quantization algorithm, saw `;`");
}

}  // namespace
}  // namespace nnefc::package
