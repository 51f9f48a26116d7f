// Profiles with each kind of mistake, and their expected diagnostics.

#include "compiler/device/read_profile.h"

#include "gtest/gtest.h"

namespace nnefc::device {
namespace {

// Returns "1:5 label: message", one per line.
std::string Read(const std::string& json, std::optional<Profile>* read = nullptr) {
  Context context;
  std::string text;
  const std::optional<Profile> profile = ReadProfileText(context.sources.AddText("d.json", json), context);
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
    const LineColumn position = context.sources.Position(diagnostic.range.start());
    text += fmt::format("{}{}:{} {}: {}", text.empty() ? "" : "\n", position.line, position.column,
                        diagnostic.rule->label, diagnostic.message);
  }
  EXPECT_EQ(profile.has_value(), !context.emitter.has_errors()) << json;
  if (read != nullptr) *read = profile;
  return text;
}

TEST(ReadProfileTest, ReportsMistakesWithTheirPositions) {
  struct {
    const char* json;
    const char* expected;
  } const cases[] = {
      {"[]", "1:1 device.profile-value: the profile must be an object"},
      {R"({"fragments": 1})", "1:15 device.profile-value: `fragments` must be `true` or `false`"},
      {R"({"dialect": "old"})", "1:13 device.profile-value: `dialect` must be `ratified` or `any`"},
      {"{\n \"operation\": {}}",
       "2:2 device.profile-unknown-key: there is no key `operation` in `/`; did you mean `operations`?"},
      {R"({"operations": {"convv": {}}})",
       "1:17 device.profile-unknown-name: there is no operation `convv`; did you mean `conv`?"},
      {R"({"operations": {"conv": {"attributes": {"dilatoin": [1]}}}})",
       "1:41 device.profile-unknown-name: there is no attribute of `conv` `dilatoin`; did you mean "
       "`dilation`?"},
      {R"({"operations": {"conv": {"inputs": {"weights": {}}}}})",
       "1:37 device.profile-unknown-name: there is no input of `conv` `weights`"},
      {R"({"custom_operations": {"conv": {}}})",
       "1:24 device.profile-value: `conv` is an operation of nnefc; list it in `operations`"},
      {R"({"operations": {"conv": {"attributes": {"groups": {}}}}})",
       "1:51 device.profile-value: a range must have `min`, `max` or both"},
      {R"({"operations": {"conv": {"attributes": {"groups": {"min": "1", "max": [2]}}}}})",
       "1:59 device.profile-value: `min` must be a number\n1:71 device.profile-value: `max` must be a "
       "number"},
      {R"({"operations": {"conv": {"attributes": {"groups": [{"max": true}, {"min": 1}]}}}})",
       "1:60 device.profile-value: `max` must be a number"},
      {R"({"operations": {"conv": {"attributes": {"groups": [null]}}}})",
       "1:52 device.profile-value: a value of `groups` must be a logical value, a number, a string or a list "
       "of "
       "these"},
      {R"({"operations": {"conv": {"attributes": {"groups": [[1, {"min": 1}]]}}}})",
       "1:52 device.profile-value: a value of `groups` must be a logical value, a number, a string or a list "
       "of these"},
      {R"({"operations": {"conv": {"attributes": {"groups": [[[null]]]}}}})",
       "1:52 device.profile-value: a value of `groups` must be a logical value, a number, a string or a list "
       "of these"},
      {R"({"operations": {"conv": {"attributes": {"groups": 3}}}})",
       "1:51 device.profile-value: `groups` must be a list of allowed values, or a range such as `{\"min\": "
       "1, "
       "\"max\": 2}`"},
      {R"({"tensors": {"max_extents": [0, -1]}})",
       "1:33 device.profile-value: an extent must be an integer of at least 0"},
      {R"({"tensors": {"ranks": [-1]}})",
       "1:24 device.profile-value: a value of `ranks` must be an integer of at least 0"},
      {R"({"scalar_bits": 0})", "1:17 device.profile-value: `scalar_bits` must be an integer from 1 to 64"},
      {R"({"scalar_bits": 65})", "1:17 device.profile-value: `scalar_bits` must be an integer from 1 to 64"},
      {R"({"limits": {"operations": 1.5}})",
       "1:27 device.profile-value: `operations` must be an integer of at least 0"},
      {R"({"weight_types": ["f65", "f0", "q8", "f"]})",
       "1:19 device.profile-value: `weight_types` must be a list of types of stored items: `boolean`, or "
       "`f`, "
       "`i` or `u` with 1 to 64 bits such as `f16` and `i8`\n"
       "1:26 device.profile-value: `weight_types` must be a list of types of stored items: `boolean`, or "
       "`f`, "
       "`i` or `u` with 1 to 64 bits such as `f16` and `i8`\n"
       "1:32 device.profile-value: `weight_types` must be a list of types of stored items: `boolean`, or "
       "`f`, "
       "`i` or `u` with 1 to 64 bits such as `f16` and `i8`\n"
       "1:38 device.profile-value: `weight_types` must be a list of types of stored items: `boolean`, or "
       "`f`, "
       "`i` or `u` with 1 to 64 bits such as `f16` and `i8`"},
      {R"({"operations": {"relu": {"kernel": [1]}}})",
       "1:26 device.profile-unknown-key: there is no key `kernel` in `/operations/relu`; there are `types`, "
       "`ranks`, `max_extents`, `inputs`, `attributes`"},
  };
  for (const auto& each : cases) EXPECT_EQ(Read(each.json), each.expected) << each.json;
}

// A number without a fraction is an integer below 2^62.
TEST(ReadProfileTest, IntegersWithAPoint) {
  for (const char* integer : {"0", "2.0", "4611686018427387392.0", "4611686018427387904"})
    EXPECT_EQ(Read(fmt::format(R"({{"limits": {{"operations": {}}}}})", integer)), "") << integer;
  for (const char* other : {"2.5", "4611686018427387904.0", "-1.0", "-4611686018427387904.0", "1e300"}) {
    EXPECT_EQ(Read(fmt::format(R"({{"limits": {{"operations": {}}}}})", other)),
              "1:27 device.profile-value: `operations` must be an integer of at least 0")
        << other;
  }
}

// The number of bits of a type has one or two digits.
TEST(ReadProfileTest, TypesOfStoredItems) {
  for (const char* type : {"f16", "i8", "u1", "u64", "f32", "i32", "boolean"})
    EXPECT_EQ(Read(fmt::format(R"({{"weight_types": ["{}"]}})", type)), "") << type;
  for (const char* type : {"", "f", "8", "i064", "u008", "u0", "u65", "i100", "x8", "I8", "i8 ", "bool"}) {
    EXPECT_NE(Read(fmt::format(R"({{"weight_types": ["{}"]}})", type)).find("device.profile-value"),
              std::string::npos)
        << type;
  }
}

// Operations with a filter have a kernel.
TEST(ReadProfileTest, OperationsWithAKernel) {
  for (const char* name : {"conv", "deconv"})
    EXPECT_EQ(Read(fmt::format(R"({{"operations": {{"{}": {{"kernel": [1]}}}}}})", name)), "") << name;
  for (const char* name : {"box", "debox", "max_pool", "linear"}) {
    const std::string text = Read(fmt::format(R"({{"operations": {{"{}": {{"kernel": [1]}}}}}})", name));
    EXPECT_NE(text.find("device.profile-unknown-key: there is no key `kernel`"), std::string::npos) << text;
  }
}

TEST(ReadProfileTest, LimitsTheSizeOfTheFile) {
  const std::string fits = "{}" + std::string((size_t{1} << 20) - 2, ' ');
  EXPECT_EQ(Read(fits), "");
  EXPECT_EQ(Read(fits + " "), "1:1 device.profile-syntax: the file has more than 1048576 bytes");
}

TEST(ReadProfileTest, ReadsValuesAndRanges) {
  std::optional<Profile> profile;
  ASSERT_EQ(Read(R"({"operations": {"conv": {"kernel": [1, {"min": 3, "max": 5}]}}, "scalar_bits": 64,
                     "custom_operations": {"a/b~": {"types": []}}, "limits": {"operations": 2.0}})",
                 &profile),
            "");
  const AllowedValues& kernel = *profile->operations->by_name.at("conv").kernel;
  EXPECT_EQ(kernel.entry.pointer, "/operations/conv/kernel");
  for (const int allowed : {1, 3, 4, 5}) EXPECT_TRUE(kernel.AllowsNumber(allowed));
  for (const int refused : {0, 2, 6}) EXPECT_FALSE(kernel.AllowsNumber(refused));
  EXPECT_EQ(profile->custom_operations->by_name.at("a/b~").results.types->entry.pointer,
            "/custom_operations/a~1b~0/types");
  EXPECT_EQ(profile->max_operations->max, 2);
  EXPECT_EQ(profile->scalar_bits, 64);
  ASSERT_EQ(Read(R"({"tensors": {"max_extents": [0, 4]}})", &profile), "");
  EXPECT_EQ(profile->tensors.max_extents->extents, (std::vector<int64_t>{0, 4}));
  EXPECT_FALSE(profile->tensors.max_extents->is_uniform);
  ASSERT_EQ(Read(R"({"tensors": {"max_extents": 0}})", &profile), "");
  EXPECT_EQ(profile->tensors.max_extents->extents, std::vector<int64_t>{0});
  EXPECT_TRUE(profile->tensors.max_extents->is_uniform);
}

}  // namespace
}  // namespace nnefc::device
