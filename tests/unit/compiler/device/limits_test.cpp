// Models at each limit of a profile and just beyond it, and the messages about what exceeds it.

#include <filesystem>
#include <fstream>

#include "compiler/device/check_device.h"
#include "compiler/device/graph_check.h"
#include "compiler/device/read_profile.h"
#include "compiler/package/tensors/dat.h"
#include "gtest/gtest.h"

namespace nnefc::device {
namespace {

using Lines = std::vector<std::string>;

// Returns "LABEL: MESSAGE" for each violation of a model, and " | NOTE" for its notes if `shows_notes`.
Lines Violations(driver::Compilation& compilation, const std::string& json, bool shows_notes) {
  EXPECT_TRUE(compilation.RunUntil(driver::Stage::kExpand));
  Context& context = compilation.context();
  EXPECT_TRUE(!context.emitter.has_errors())
      << RenderText(context.emitter.diagnostics(), context.sources, {});
  const size_t before = context.emitter.diagnostics().size();
  const auto profile = ReadProfileText(context.sources.AddText("d.json", json), context);
  EXPECT_TRUE(profile) << RenderText(context.emitter.diagnostics(), context.sources, {});
  if (profile) CheckDevice(compilation, *profile);
  Lines lines;
  for (size_t i = before; i < context.emitter.diagnostics().size(); ++i) {
    const Diagnostic& diagnostic = context.emitter.diagnostics()[i];
    lines.push_back(fmt::format("{}: {}", diagnostic.rule->label, diagnostic.message));
    for (const DiagnosticNote& note : diagnostic.notes) {
      if (shows_notes) lines.back() += " | " + note.message;
    }
  }
  return lines;
}

Lines Of(const std::string& document, const std::string& json, bool shows_notes = false) {
  driver::CompileOptions options;
  options.purpose = expand::Purpose::kValidate;
  options.document = document;
  driver::Compilation compilation("g.nnef", std::move(options));
  return Violations(compilation, json, shows_notes);
}

std::string Graph(const std::string& names, const std::string& body, const std::string& results = "y") {
  return "version 1.0;\ngraph g( " + names + " ) -> ( " + results + " )\n{\n" + body + "\n}\n";
}

// Expects that exactly `bytes` are needed for the activations of a document.
void ExpectActivations(const std::string& document, int64_t bytes, const std::string& more = "") {
  const auto profile = [&](int64_t max) {
    return fmt::format(R"({{{}"limits": {{"activation_bytes": {}}}}})", more, max);
  };
  EXPECT_EQ(Of(document, profile(bytes)), Lines()) << document;
  EXPECT_EQ(
      Of(document, profile(bytes - 1)),
      Lines({fmt::format("device.activations: the tensors that are needed at one time have {} bytes; reduce "
                         "the batch or the extents of inputs",
                         bytes)}))
      << document;
}

// Inputs are needed from the start, results to the end, other tensors from their operation to the last use.
TEST(DeviceLimits, ActivationsThatAreNeededAtOneTime) {
  const std::string x = "x = external(shape = [8]);\n";  // 32 bytes
  ExpectActivations(Graph("x", x + "y = relu(x);"), 64);
  ExpectActivations(Graph("x", x + "a = relu(x); b = relu(a); y = relu(b);"), 64);
  // An input that is declared and used late.
  ExpectActivations(Graph("x, z", x + "a = tile(x, repeats = [4]); b = max_reduce(a, axes = [0]);\n"
                                      "z = external(shape = [8]); y = add(b, z);"),
                    32 + 128 + 32);
  // An input that is not used is needed at the start only.
  ExpectActivations(Graph("x, z", x + "z = external(shape = [16]); y = relu(x);"), 32 + 64);
  ExpectActivations(Graph("x, z", x + "z = external(shape = [4]); y = relu(x);"), 32 + 32);
  // A result is needed to the end, an unused tensor in its own step.
  ExpectActivations(Graph("x", x + "r = tile(x, repeats = [4]); a = relu(x); y = relu(a);", "y, r"),
                    128 + 32 + 32);
  ExpectActivations(
      Graph("x", x + "r = tile(x, repeats = [4]); a = tile(x, repeats = [8]); y = max_reduce(a, axes "
                     "= [0]);"),
      32 + 256);
  ExpectActivations(
      Graph("x",
            x + "a = tile(x, repeats = [4]); b = relu(x); c = relu(b); y = add(tile(c, repeats = "
                "[4]), a);",
            "y")
          .insert(13, "extension KHR_enable_operator_expressions;\n"),
      128 + 128 + 128);
  // Each use of a tensor counts: the first one and the last one.
  ExpectActivations(Graph("x", x + "a = relu(x); b = relu(a); c = relu(b); y = add(c, a);"), 32 * 3);
  ExpectActivations(Graph("x", x + "a = relu(x); b = relu(a); c = relu(b); y = add(a, c);"), 32 * 3);
  // Neither variables nor constants are activations.
  ExpectActivations(Graph("x", x + "v = variable(shape = [8], label = 'v'); y = add(x, v);"), 64);
  ExpectActivations(Graph("x", x + "v = constant(shape = [8], value = [1.0]); y = add(x, v);"), 64);
}

// Bytes of items: bits of scalars are those of the profile, others those of their types; tensors are rounded
// up.
TEST(DeviceLimits, BitsOfItems) {
  const auto relu = [](int64_t extent) {
    return Graph("x", fmt::format("x = external(shape = [{}]); y = relu(x);", extent));
  };
  ExpectActivations(relu(3), 24);
  ExpectActivations(relu(3), 12, R"("scalar_bits": 16, )");
  ExpectActivations(relu(3), 6, R"("scalar_bits": 8, )");
  ExpectActivations(relu(2), 2, R"("scalar_bits": 4, )");
  ExpectActivations(relu(3), 4, R"("scalar_bits": 4, )");
  ExpectActivations(relu(8), 2, R"("scalar_bits": 1, )");
  ExpectActivations(relu(9), 4, R"("scalar_bits": 1, )");
  ExpectActivations(relu(3), 48, R"("scalar_bits": 64, )");
  const std::string less = Graph("x", "x = external(shape = [8]); y = lt(x, 0.5);");
  ExpectActivations(less, 32 + 8);
  ExpectActivations(less, 16 + 8, R"("scalar_bits": 16, )");
  const std::string integers = Graph("x", "x = external<integer>(shape = [8]); y = copy(x);");
  ExpectActivations(integers, 64 + 64);
  ExpectActivations(integers, 64 + 64, R"("scalar_bits": 16, )");
  EXPECT_EQ(TensorBytes({3}, 4), 2);
  EXPECT_EQ(TensorBytes({2, 0}, 4), 0);
  EXPECT_EQ(TensorBytes(ir::PartialShape(Shape{}), 32), 4);
  // 2^63 - 1 bits can be counted.
  constexpr int64_t kMany = int64_t{1} << 31;
  EXPECT_EQ(TensorBytes({kMany, kMany - 1}, 2), (kMany * (kMany - 1)) / 4);
  EXPECT_EQ(TensorBytes({kMany, kMany}, 2), std::nullopt);
  EXPECT_EQ(TensorBytes({ir::Dim(), 2}, 1), std::nullopt);
}

// Operations include those of bodies, but neither inputs nor variables nor constants.
TEST(DeviceLimits, Operations) {
  const auto expect = [](const std::string& document, int count) {
    const auto profile = [](int max) { return fmt::format(R"({{"limits": {{"operations": {}}}}})", max); };
    EXPECT_EQ(Of(document, profile(count)), Lines()) << document;
    EXPECT_EQ(Of(document, profile(count - 1), true),
              Lines({fmt::format("device.operation-count: the graph has {0} operations; divide the model | "
                                 "`/limits/operations` of the profile allows at most {1}",
                                 count, count - 1)}))
        << document;
  };
  expect(Graph("x", "x = external(shape = [8]); a = relu(x); y = tanh(a);"), 2);
  expect(Graph("x",
               "x = external(shape = [8]); v = variable(shape = [8], label = 'v'); c = constant(shape = [8], "
               "value = [1.0]); a = add(x, v); y = add(a, c);"),
         2);
  expect(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension NNEFC_control_flow;\n"
      "fragment one( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
      "fragment two( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { a = relu(x); y = tanh(a); }\n"
      "graph g( c, x ) -> ( y ) { c = external<logical>(shape = [1]); x = external(shape = [8]); "
      "[a] = if_else(c, [x], then_body = 'one', else_body = 'two'); y = relu(a); }",
      1 + 1 + 2 + 1);
}

// With trial extents, no extent is compared, but a profile that limits extents needs those of symbols.
TEST(DeviceLimits, ExtentsOfSymbols) {
  const auto expect = [](std::string_view extents, const std::string& mistake) {
    const std::string document =
        "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol N;\nextension "
        "tract_symbol "
        "S;\n" +
        Graph("x", fmt::format("x = external(shape = {});\nf = variable(shape = [3, 3, 1, 1], label = 'f');\n"
                               "y = conv(tile(x, repeats = [N, 1, 1, 1]), f);",
                               extents))
            .substr(13);
    const auto operations = [](std::string_view conv) {
      return fmt::format(
          R"({{"operations": {{"external": {{}}, "variable": {{}}, "tile": {{}}, "conv": {}}}}})", conv);
    };
    for (const std::string& json :
         {std::string("{}"), operations("{}"), operations(R"({"ranks": [4], "types": ["scalar"]})"),
          operations(R"({"inputs": {"input": {"ranks": [4]}}})"),
          std::string(R"({"limits": {"weight_bytes": 36, "operations": 2}, "tensors": {"ranks": [4, 0]}})")})
      EXPECT_EQ(Of(document, json), Lines()) << json;
    for (const std::string& json :
         {operations(R"({"max_extents": 1})"), operations(R"({"inputs": {"input": {"max_extents": 1}}})"),
          operations(R"({"kernel": {"min": 2}})"), std::string(R"({"tensors": {"max_extents": 1}})"),
          std::string(R"({"custom_operations": {"other": {"max_extents": 1}}})"),
          std::string(R"({"limits": {"activation_bytes": 1}})")}) {
      EXPECT_EQ(Of(document, json),
                Lines({"device.unknown-extent: the profile limits extents or bytes, and " + mistake}))
          << json;
    }
  };
  expect("[S, 3, 1, 1]", "extents of inputs are symbols; pass `--input-shape x=..`");
  expect("[2, 3, 1, 1]",
         "operations depend on a symbol that is the extent of no input; write a number for it");
}

// Weights with one label are one tensor.
TEST(DeviceLimits, BytesOfWeights) {
  const std::string two = Graph("x",
                                "x = external(shape = [8]); v = variable(shape = [8], label = 'v'); w = "
                                "variable(shape = [4], label = 'w');"
                                " a = add(x, v); y = mul(a, max_reduce(w, axes = [0]));");
  const std::string document = std::string(two).insert(13, "extension KHR_enable_operator_expressions;\n");
  const auto limits = [](int64_t all, int64_t each) {
    return fmt::format(R"({{"limits": {{"weight_bytes": {}, "weight_bytes_per_tensor": {}}}}})", all, each);
  };
  EXPECT_EQ(Of(document, limits(48, 32)), Lines());
  EXPECT_EQ(
      Of(document, limits(47, 32), true),
      Lines({"device.weights: the weights have 48 bytes; store them with fewer bits, or divide the model | "
             "`/limits/weight_bytes` of the profile allows at most 47"}));
  EXPECT_EQ(
      Of(document, limits(48, 31), true),
      Lines({"device.weights: the weights of `v` have 32 bytes; store them with fewer bits, or split the "
             "operation | `/limits/weight_bytes_per_tensor` of the profile allows at most 31"}));
  EXPECT_EQ(Of(document, limits(48, 15)).size(), 2u);
  EXPECT_EQ(Of(document, limits(48, 16)).size(), 1u);
  const std::string halves = R"({"scalar_bits": 16, "limits": {"weight_bytes": )";
  EXPECT_EQ(Of(document, halves + "24}}"), Lines());
  EXPECT_EQ(Of(document, halves + "23}}").size(), 1u);
  // The types of items are those of files, which a document alone does not have.
  EXPECT_EQ(Of(document, R"({"weight_types": ["f16"]})"), Lines());
  // Labels that differ in case only are one label.
  const std::string cases = Graph("x",
                                  "x = external(shape = [8]); v = variable(shape = [8], label = 'v'); w = "
                                  "variable(shape = [8], label = 'V'); y = select(true, add(x, v), w);");
  EXPECT_EQ(Of(std::string(cases).insert(13, "extension KHR_enable_operator_expressions;\n"), limits(32, 32)),
            Lines());
  // In a body, the label of the graph's variable.
  const std::string bodies =
      "version 1.0\nfragment f( x: tensor ) -> ( y: tensor ) { v = variable(shape = [8], label = 'v') y = "
      "add(x, v) }\n"
      "graph g( x ) -> ( y ) { x = external(shape = [8]) a = f(x) y = f(a) }";
  EXPECT_EQ(Of(bodies, R"({"limits": {"weight_bytes": 32}})"), Lines());
  EXPECT_EQ(Of(bodies, R"({"limits": {"weight_bytes": 31}})").size(), 1u);
}

// Files of weights state the bits of their items.
TEST(DeviceLimits, StoredItems) {
  std::string name = (std::filesystem::temp_directory_path() / "nnefc_device_XXXXXX").string();
  const std::string folder = mkdtemp(name.data());
  const auto check = [&](ElementType type, std::string_view nnef_type, const std::string& json) {
    const std::string declared = nnef_type == "scalar" ? "" : fmt::format("<{}>", nnef_type);
    std::ofstream(folder + "/graph.nnef") << Graph(
        "x",
        fmt::format(
            "x = external{0}(shape = [8]); v = variable{0}(shape = [8], label = 'v'); y = select(true, x, "
            "v);",
            declared));
    EXPECT_TRUE(package::WriteDat(folder + "/v.dat", TensorValue::Filled(type, {8}, 1)).ok());
    driver::CompileOptions options;
    options.purpose = expand::Purpose::kValidate;
    driver::Compilation compilation(folder, std::move(options));
    return Violations(compilation, json, true);
  };
  const auto allows = [](std::string_view types) {
    return fmt::format(R"({{"weight_types": [{}]}})", types);
  };
  const auto message = [](std::string_view type, std::string_view allowed) {
    return Lines(
        {fmt::format("device.weights: the items of `v` are stored as `{}`; convert its tensor file | "
                     "`/weight_types` of the profile allows {}",
                     type, allowed)});
  };
  EXPECT_EQ(check(ElementType::kF32, "scalar", allows(R"("f32")")), Lines());
  EXPECT_EQ(check(ElementType::kF32, "scalar", allows(R"("f16", "i32")")), message("f32", "`f16` and `i32`"));
  EXPECT_EQ(check(ElementType::kF16, "scalar", allows(R"("f16")")), Lines());
  EXPECT_EQ(check(ElementType::kF16, "scalar", allows("")), message("f16", "nothing"));
  EXPECT_EQ(check(ElementType::kI8, "integer", allows(R"("i8")")), Lines());
  EXPECT_EQ(check(ElementType::kI8, "integer", allows(R"("u8", "i16", "f8")")),
            message("i8", "`u8`, `i16` and `f8`"));
  EXPECT_EQ(check(ElementType::kU8, "integer", allows(R"("u8")")), Lines());
  EXPECT_EQ(check(ElementType::kU8, "integer", allows(R"("i8")")), message("u8", "`i8`"));
  EXPECT_EQ(check(ElementType::kBoolean, "logical", allows(R"("boolean")")), Lines());
  EXPECT_EQ(check(ElementType::kBoolean, "logical", allows(R"("u8", "u1")")),
            message("boolean", "`u8` and `u1`"));
  // The bytes are those of the file.
  for (const auto& [type, bytes] : {std::pair(ElementType::kF32, 32), std::pair(ElementType::kF16, 16)}) {
    const auto limit = [](int max) { return fmt::format(R"({{"limits": {{"weight_bytes": {}}}}})", max); };
    EXPECT_EQ(check(type, "scalar", limit(bytes)), Lines());
    EXPECT_EQ(check(type, "scalar", limit(bytes - 1)).size(), 1u);
  }
  std::filesystem::remove_all(folder);
}

// The language of a document.
TEST(DeviceLimits, DialectFragmentsAndExtensions) {
  const std::string plain = Graph("x", "x = external(shape = [8]); y = relu(x);");
  const std::string provisional =
      "version 1.0\nfragment f( x: tensor ) -> ( y: tensor ) { y = relu(x) }\n"
      "graph g( x ) -> ( y ) { x = external(shape = [8]) y = f(x) }";
  const std::string fragments =
      "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension NNEFC_control_flow;\n"
      "fragment p( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
      "graph g( x ) -> ( y ) { x = external(shape = [8]); y = f(x); }";
  EXPECT_EQ(Of(plain, R"({"dialect": "ratified", "fragments": false, "extensions": []})"), Lines());
  EXPECT_EQ(Of(provisional, R"({"dialect": "any", "fragments": true, "extensions": []})"), Lines());
  EXPECT_EQ(Of(provisional, R"({"dialect": "ratified"})", true),
            Lines({"device.dialect: the device reads ratified documents, and this one is provisional; `nnefc "
                   "upgrade` "
                   "converts it | `/dialect` of the profile"}));
  EXPECT_EQ(
      Of(fragments, R"({"fragments": false})", true),
      Lines(
          {"device.fragment: the device reads no fragments with a body, and the document defines `f`; `nnefc "
           "expand` writes a document without fragments | `/fragments` of the profile"}));
  EXPECT_EQ(Of(fragments, R"({"extensions": ["KHR_enable_fragment_definitions", "NNEFC_control_flow"]})"),
            Lines());
  EXPECT_EQ(
      Of(fragments, R"({"extensions": ["NNEFC_control_flow", "NNEFC_opset"]})", true),
      Lines(
          {"device.extension: the device does not have the extension `KHR_enable_fragment_definitions`; "
           "`nnefc "
           "expand` writes a document without it | `/extensions` of the profile allows `NNEFC_control_flow` "
           "and `NNEFC_opset`"}));
  EXPECT_EQ(
      Of(fragments, R"({"extensions": ["KHR_enable_fragment_definitions"]})", true),
      Lines(
          {"device.extension: the device does not have the extension `NNEFC_control_flow` | `/extensions` of "
           "the profile allows `KHR_enable_fragment_definitions`"}));
}

// Which values a list and a range allow, and their texts.
TEST(DeviceLimits, TextsOfAllowedValues) {
  const std::string document = Graph(
      "x",
      "x = external(shape = [1, 1, 9, 9]); y = max_pool(x, size = [1, 1, 3, 3], padding = [(0,0), (0,0), "
      "(1,2), (1,1)], stride = [1, 1, 7, 1], border = 'ignore');");
  const auto check = [&](std::string_view attribute, std::string_view allowed) {
    const Lines lines = Of(
        document,
        fmt::format(R"({{"operations": {{"external": {{}}, "max_pool": {{"attributes": {{"{}": {}}}}}}}}})",
                    attribute, allowed),
        true);
    if (lines.empty()) return std::string();
    EXPECT_EQ(lines.size(), 1u);
    return lines[0].substr(lines[0].find("of the profile ") + 15);
  };
  EXPECT_EQ(check("stride", "[1, 7]"), "");
  EXPECT_EQ(check("stride", "[1, 7.0]"), "");
  EXPECT_EQ(check("stride", "[1, 7.5]"), "allows 1 or 7.5");
  EXPECT_EQ(check("stride", "[[1, 1, 7, 1]]"), "");
  EXPECT_EQ(check("stride", "[[1, 1, 7]]"), "allows [1, 1, 7]");
  EXPECT_EQ(check("stride", "[[1, 1, 7, 2], 5]"), "allows [1, 1, 7, 2] or 5");
  EXPECT_EQ(check("stride", R"({"min": 1, "max": 7})"), "");
  EXPECT_EQ(check("stride", R"({"min": 1})"), "");
  EXPECT_EQ(check("stride", R"({"max": 7})"), "");
  EXPECT_EQ(check("stride", R"({"min": 2})"), "allows 2 or more");
  EXPECT_EQ(check("stride", R"({"min": 1.5, "max": 9})"), "allows 1.5 to 9");
  EXPECT_EQ(check("stride", R"({"max": 6})"), "allows at most 6");
  EXPECT_EQ(check("stride", R"({"min": 7, "max": 7})"), "allows 7");
  EXPECT_EQ(check("stride", R"([{"max": 1}, {"min": 7}])"), "");
  EXPECT_EQ(check("stride", R"([{"max": 1}, {"min": 8}, 2])"), "allows at most 1, 8 or more or 2");
  EXPECT_EQ(check("stride", "[]"), "allows nothing");
  EXPECT_EQ(check("stride", R"(["1", true, 7])"), "allows '1', true or 7");
  EXPECT_EQ(check("border", R"(["constant", "ignore"])"), "");
  EXPECT_EQ(check("border", R"(["constant", false])"), "allows 'constant' or false");
  EXPECT_EQ(check("padding", "[0, 1, 2]"), "");
  EXPECT_EQ(check("padding", R"({"max": 2})"), "");
  EXPECT_EQ(check("padding", "[[0, 0], [1, 2], [1, 1]]"), "");
  EXPECT_EQ(check("padding", "[[0, 0], [2, 1], [1, 1]]"), "allows [0, 0], [2, 1] or [1, 1]");
  EXPECT_EQ(check("padding", "[0, 1]"), "allows 0 or 1");
  EXPECT_EQ(check("size", "[1, 3]"), "");
  EXPECT_EQ(check("size", "[3]"), "allows 3");
  // A default that is not given must be allowed, too; an empty list must be a value itself.
  EXPECT_EQ(check("dilation", "[1]"), "allows 1");
  EXPECT_EQ(check("dilation", "[1, []]"), "");
}

// Literals in arguments, such as the default bias of conv, are no tensors; constants of rank 0 are.
TEST(DeviceLimits, LiteralsAreNoTensors) {
  const auto check = [](std::string_view statements) {
    return Of(
        Graph("x", "x = external(shape = [1, 2, 4, 4]); f = variable(shape = [2, 2, 1, 1], label = 'f'); " +
                       std::string(statements)),
        R"({"tensors": {"types": ["scalar"], "ranks": [4]}})");
  };
  EXPECT_EQ(check("y = conv(x, f);"), Lines());
  EXPECT_EQ(check("y = conv(x, f, 0.5);"), Lines());
  EXPECT_EQ(check("y = select(true, x, 0.5);"), Lines());
  EXPECT_EQ(check("c = constant<scalar>(shape = [], value = [0.5]); y = mul(x, c);"),
            Lines({"device.rank: `c` has rank 0"}));
}

// The limits of all tensors, of results and of inputs.
TEST(DeviceLimits, TensorsOfOperations) {
  const std::string document = Graph(
      "x, b", "x = external(shape = [2, 3]); b = external<logical>(shape = [2, 3]); y = select(b, x, 0.5);");
  const auto check = [&](std::string_view json) { return Of(document, std::string(json)); };
  const auto entry = [&](std::string_view json) {
    return check(fmt::format(R"({{"operations": {{"external": {{}}, "select": {}}}}})", json));
  };
  EXPECT_EQ(check(R"({"tensors": {"types": ["scalar", "logical"], "ranks": [2, 0], "max_extents": 3}})"),
            Lines());
  EXPECT_EQ(check(R"({"tensors": {"types": ["scalar"]}})"),
            Lines({"device.type: `b` has items of type `logical`"}));
  EXPECT_EQ(check(R"({"tensors": {"max_extents": [2, 3, 1]}})"), Lines());
  EXPECT_EQ(check(R"({"tensors": {"max_extents": [2]}})"), Lines());
  EXPECT_EQ(check(R"({"tensors": {"max_extents": []}})"), Lines());
  EXPECT_EQ(check(R"({"tensors": {"max_extents": [1]}})").size(), 3u);
  EXPECT_EQ(
      check(R"({"tensors": {"max_extents": 2}})"),
      Lines({"device.extent: `x` has extent 3 along axis 1", "device.extent: `b` has extent 3 along axis 1",
             "device.extent: `y` has extent 3 along axis 1"}));
  EXPECT_EQ(entry(R"({"types": ["scalar"], "ranks": [2], "max_extents": 3})"), Lines());
  EXPECT_EQ(entry(R"({"types": ["logical"]})"), Lines({"device.type: `y` has items of type `scalar`"}));
  EXPECT_EQ(entry(R"({"inputs": {"condition": {"types": ["logical"], "ranks": [2]}}})"), Lines());
  EXPECT_EQ(entry(R"({"inputs": {"condition": {"types": ["scalar"]}}})"),
            Lines({"device.type: `condition` of `select` has items of type `logical`"}));
  EXPECT_EQ(entry(R"({"inputs": {"false_value": {"ranks": [2]}}})"),
            Lines({"device.rank: `false_value` of `select` has rank 0"}));
  EXPECT_EQ(
      entry(R"({"inputs": {"true_value": {"max_extents": [1, 2]}}})"),
      Lines(
          {"device.extent: `true_value` of `select` has extent 2 along axis 0; `true_value` of `select` has "
           "extent 3 along axis 1"}));
  // One operation that the device lacks, and the count of those that it has.
  EXPECT_EQ(
      Of(document, R"({"operations": {"external": {}}})", true),
      Lines({"device.operation: the device has no operation `select` | `/operations` of the profile lists 1 "
             "operation, without `select`"}));
  EXPECT_EQ(
      Of(document, R"({"operations": {"external": {}, "relu": {}}})", true),
      Lines({"device.operation: the device has no operation `select` | `/operations` of the profile lists 2 "
             "operations, without `select`"}));
}

}  // namespace
}  // namespace nnefc::device
