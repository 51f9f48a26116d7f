// Models on both sides of each bound of a profile, and decompositions of compounds.

#include "compiler/device/check_device.h"

#include "compiler/device/read_profile.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace nnefc::device {
namespace {

// Returns the violations of a graph's body, or the mistakes of the profile.
std::vector<Diagnostic> Violations(const std::string& body, const std::string& json) {
  driver::CompileOptions options;
  options.purpose = expand::Purpose::kValidate;
  options.document =
      "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4, 8, 8]);\n" + body + "}\n";
  driver::Compilation compilation("g.nnef", std::move(options));
  EXPECT_TRUE(compilation.RunUntil(driver::Stage::kExpand)) << body;
  Context& context = compilation.context();
  const auto profile = ReadProfileText(context.sources.AddText("d.json", json), context);
  if (profile) CheckDevice(compilation, *profile);
  return context.emitter.diagnostics();
}

// Returns the labels and messages of the violations of a graph's body, one per line.
std::string Check(const std::string& body, const std::string& json) {
  std::string text;
  for (const Diagnostic& diagnostic : Violations(body, json))
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", diagnostic.rule->label, diagnostic.message);
  return text;
}

// Returns the notes of the first violation that name a command, one per line.
std::string AdviceFor(const std::string& body, const std::string& operations) {
  const std::vector<Diagnostic> violations =
      Violations(body, R"({"operations": {"external": {})" + operations + "}}");
  if (violations.empty()) return "no violation";
  std::string text;
  for (const auto& note : violations.front().notes) {
    if (note.message.find("nnefc expand") != std::string::npos) text += note.message;
  }
  return text;
}

std::string Conv(const std::string& arguments) {
  return "    w = variable(shape = [4, 4, 3, 3], label = 'w');\n    y = conv(x, w" + arguments + ");\n";
}
std::string ConvProfile(const std::string& entry) {
  return R"({"operations": {"external": {}, "variable": {}, "conv": )" + entry + "}}";
}

TEST(CheckDeviceTest, ComparesAttributesWithAllowedValues) {
  struct {
    const char* arguments;
    const char* attributes;
    const char* expected;
  } const cases[] = {
      {", stride = [2, 1]", R"("stride": [1, 2])", ""},
      {", stride = [2, 3]", R"("stride": [1, 2])",
       "device.attribute: the device does not accept `stride = [2, 3]` of `conv`"},
      // An empty list must be a value itself.
      {"", R"("stride": [[], 1])", ""},
      {"", R"("stride": [2])", "device.attribute: the device does not accept `stride = []` of `conv`"},
      {"", R"("padding": {"min": 0, "max": 1})",
       "device.attribute: the device does not accept `padding = []` of `conv`"},
      {"", R"("padding": [[]])", ""},
      {", padding = [(0, 1), (1, 1)]", R"("padding": {"max": 1})", ""},
      {", padding = [(0, 1), (1, 1)]", R"("padding": [[[0, 1], [1, 1]]])", ""},
      {", padding = [(0, 1), (1, 2)]", R"("padding": {"max": 1})",
       "device.attribute: the device does not accept `padding = [(0, 1), (1, 2)]` of `conv`"},
      {", border = 'constant'", R"("border": ["constant"])", ""},
      {", border = 'reflect'", R"("border": ["constant"])",
       "device.attribute: the device does not accept `border = 'reflect'` of `conv`"},
      // All violations of one operation are reported at once.
      {", stride = [3, 3], border = 'reflect'", R"("border": ["constant"], "stride": {"max": 2})",
       "device.attribute: the device does not accept `border = 'reflect'` of `conv`; the device does not "
       "accept "
       "`stride = [3, 3]` of `conv`"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(
        Check(Conv(each.arguments), ConvProfile(fmt::format(R"({{"attributes": {{{}}}}})", each.attributes))),
        each.expected)
        << each.arguments << each.attributes;
  }
}

TEST(CheckDeviceTest, LimitsTensors) {
  EXPECT_EQ(Check(Conv(""), ConvProfile(R"({"kernel": {"max": 3}, "ranks": [4], "types": ["scalar"]})")), "");
  EXPECT_EQ(
      Check(Conv(""), ConvProfile(R"({"kernel": {"min": 4}})")),
      "device.kernel: the filter of `conv` has extent 3 along axis 2; the filter of `conv` has extent 3 "
      "along axis 3");
  EXPECT_EQ(Check(Conv(""), ConvProfile(R"({"max_extents": [1, 4, 8, 8]})")), "");
  EXPECT_EQ(Check(Conv(""), ConvProfile(R"({"max_extents": [1, 3]})")),
            "device.extent: `y` has extent 4 along axis 1");
  EXPECT_EQ(Check(Conv(""), ConvProfile(R"({"inputs": {"filter": {"max_extents": 4}}})")), "");
  EXPECT_EQ(Check(Conv(""), ConvProfile(R"({"inputs": {"filter": {"ranks": [3]}}})")),
            "device.rank: `filter` of `conv` has rank 4");
}

// An entry of the profile is noted once for each of its bounds that a tensor exceeds.
TEST(CheckDeviceTest, NotesOfOneEntry) {
  const auto notes = [](const char* max_extents) {
    const std::vector<Diagnostic> violations = Violations(
        "    y = relu(x);\n",
        fmt::format(R"({{"operations": {{"external": {{}}, "relu": {{"max_extents": {}}}}}}})", max_extents));
    std::vector<std::string> messages;
    for (const Diagnostic& violation : violations) {
      for (const DiagnosticNote& note : violation.notes) messages.push_back(note.message);
    }
    return fmt::format("{}", fmt::join(messages, "\n"));
  };
  const std::string entry = "`/operations/relu/max_extents` of the profile allows at most ";
  EXPECT_EQ(notes("[1, 4, 8, 8]"), "");
  EXPECT_EQ(notes("[1, 4, 7, 8]"), entry + "7 there");
  EXPECT_EQ(notes("[1, 3, 7, 6]"), entry + "3 there\n" + entry + "7 there\n" + entry + "6 there");
  EXPECT_EQ(notes("[1, 3, 7, 7]"), entry + "3 there\n" + entry + "7 there");
  EXPECT_EQ(notes("7"), entry + "7 there");
}

// A literal is no constant of the device; a constant with an axis is.
TEST(CheckDeviceTest, ConstantsAreOperations) {
  const std::string sums = R"({"operations": {"external": {}, "add": {}}})";
  EXPECT_EQ(Check("    y = add(x, 1.0);\n", sums), "");
  const std::string body = "    c = constant(shape = [1, 4], value = [1.0]);\n    y = add(x, c);\n";
  EXPECT_EQ(Check(body, sums), "device.operation: the device has no operation `constant`");
  EXPECT_EQ(Check(body, R"({"operations": {"external": {}, "add": {}, "constant": {}}})"), "");
}

TEST(CheckDeviceTest, LimitsBytesAndOperations) {
  // The filter has 4 * 4 * 3 * 3 items.
  EXPECT_EQ(Check(Conv(""), R"({"limits": {"weight_bytes": 576, "weight_bytes_per_tensor": 576}})"), "");
  EXPECT_EQ(Check(Conv(""), R"({"scalar_bits": 16, "limits": {"weight_bytes": 288}})"), "");
  EXPECT_EQ(Check(Conv(""), R"({"limits": {"weight_bytes": 575}})"),
            "device.weights: the weights have 576 bytes; store them with fewer bits, or divide the model");
  // Two tensors of 256 items are needed at one time, whatever the length of the chain.
  const std::string chain = "    a = relu(x);\n    b = relu(a);\n    y = relu(b);\n";
  EXPECT_EQ(Check(chain, R"({"limits": {"activation_bytes": 2048, "operations": 3}})"), "");
  EXPECT_EQ(
      Check(chain, R"({"limits": {"activation_bytes": 2047, "operations": 2}})"),
      "device.operation-count: the graph has 3 operations; divide the model\n"
      "device.activations: the tensors that are needed at one time have 2048 bytes; reduce the batch or "
      "the extents of inputs");
  // `x` is needed to the end.
  const std::string skip = "    a = relu(x);\n    b = relu(a);\n    y = add(b, x);\n";
  EXPECT_EQ(Check(skip, R"({"limits": {"activation_bytes": 3072}})"), "");
  EXPECT_NE(Check(skip, R"({"limits": {"activation_bytes": 3071}})"), "");
}

// Weights whose number of bits is beyond 64 bits have no size, while others have.
TEST(CheckDeviceTest, WeightsOfUnknownSize) {
  const auto check = [](const char* extent, const char* limits) {
    return Check(fmt::format("    w = variable(shape = [1073741824, {}], label = 'w');\n"
                             "    v = variable(shape = [2], label = 'v');\n    y = relu(x);\n",
                             extent),
                 fmt::format(R"({{"limits": {{{}}}}})", limits));
  };
  const std::string each = R"("weight_bytes_per_tensor": 8)", all = R"("weight_bytes": 1000)";
  EXPECT_EQ(
      check("1", each.c_str()),
      "device.weights: the weights of `w` have 4294967296 bytes; store them with fewer bits, or split the "
      "operation");
  EXPECT_EQ(check("1073741824", each.c_str()), "");
  EXPECT_EQ(check("1073741824", all.c_str()), "device.unknown-extent: the size of the weights is not known");
}

TEST(CheckDeviceTest, NamesDecompositionsIntoListedOperations) {
  const std::string clamp = "    y = clamp(x, 0.0, 1.0);\n";
  EXPECT_EQ(AdviceFor(clamp, R"(, "max": {}, "min": {})"),
            "`nnefc expand --lower clamp` writes it with operations that the device has");
  EXPECT_EQ(AdviceFor(clamp, R"(, "max": {})"), "");
  EXPECT_EQ(AdviceFor(clamp, R"(, "min": {})"), "");
  EXPECT_EQ(AdviceFor(clamp, R"(, "clamp": {})"), "no violation");
}

}  // namespace
}  // namespace nnefc::device
