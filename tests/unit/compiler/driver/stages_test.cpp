#include "compiler/driver/stages.h"

#include "compiler/driver/compilation.h"
#include "compiler/driver/stages/convert_model.h"
#include "compiler/ir/text/text.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::driver {
namespace {

std::string Document(const std::string& body) {
  return "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n" + body + "}\n";
}

std::vector<std::string> Labels(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> labels;
  labels.reserve(diagnostics.size());
  for (const Diagnostic& diagnostic : diagnostics) labels.emplace_back(diagnostic.rule->label);
  return labels;
}
using Strings = std::vector<std::string>;

class StagesTest : public ::testing::Test {
 protected:
  // Runs all stages up to expansion.
  void Run(const std::string& document) {
    options_.document = document;
    opened_ = OpenModel("net.nnef", ModelFormat::kNnef, options_, registry_, context_);
    parsed_ = ParseModel(opened_, options_, context_);
    checked_ = CheckModel(parsed_, options_, context_);
    expanded_ = ExpandModel(opened_, checked_, options_, registry_, context_);
  }

  CompileOptions options_;
  Context context_{options_.plugins->library().base()};
  ir::OpRegistry registry_{&ir::StandardOps()};
  Opened opened_;
  Parsed parsed_;
  Checked checked_;
  Expanded expanded_;
};

TEST_F(StagesTest, EachHasItsDiagnostics) {
  Run(Document("    a = relu(b);\n    c = matmul(x, x);\n    y = relu(x)\n"));
  EXPECT_TRUE(opened_.complete && opened_.diagnostics.empty());
  EXPECT_EQ(Labels(parsed_.diagnostics), Strings({"syntax.missing-semicolon"}));
  EXPECT_EQ(Labels(checked_.diagnostics), Strings({"identifier.undefined"}));
  EXPECT_FALSE(expanded_.diagnostics.empty());  // of `matmul`, whose extents differ
  EXPECT_FALSE(checked_.complete || expanded_.complete);
  // The context has those of all stages in their order.
  Strings all = Labels(parsed_.diagnostics);
  for (const std::string& label : Labels(checked_.diagnostics)) all.push_back(label);
  for (const std::string& label : Labels(expanded_.diagnostics)) all.push_back(label);
  EXPECT_EQ(Labels(context_.emitter.diagnostics()), all);
}

TEST_F(StagesTest, ModelsThatCannotBeOpenedSayWhy) {
  opened_ = OpenModel("/missing/net.nnef", ModelFormat::kNnef, options_, registry_, context_);
  EXPECT_FALSE(opened_.complete);
  EXPECT_TRUE(opened_.environment_failed);
  EXPECT_EQ(Labels(opened_.diagnostics), Labels(context_.emitter.diagnostics()));
  EXPECT_EQ(opened_.diagnostics.size(), 1U);
}

TEST_F(StagesTest, AreCompleteWithoutErrors) {
  Run(Document("    y = relu(x);\n"));
  EXPECT_TRUE(opened_.complete && checked_.complete && expanded_.complete);
  const Lowered lowered = LowerModel(opened_, checked_, expanded_, options_, context_);
  EXPECT_TRUE(lowered.complete);
  ASSERT_NE(lowered.graph, nullptr);
  EXPECT_TRUE(lowered.diagnostics.empty());
  EXPECT_TRUE(context_.emitter.diagnostics().empty());
}

TEST_F(StagesTest, FrontTransformationsChangeACopy) {
  Run(Document("    s = softplus(x);\n    t = tanh(s);\n    y = mul(x, t);\n"));
  ASSERT_TRUE(expanded_.complete);
  const std::string before = ir::PrintGraph(*expanded_.document.graph);
  const Lowered fused = LowerModel(opened_, checked_, expanded_, options_, context_);
  options_.transform.disabled = {"front.MishFusion"};
  const Lowered plain = LowerModel(opened_, checked_, expanded_, options_, context_);
  ASSERT_TRUE(plain.complete && fused.complete);
  EXPECT_EQ(ir::PrintGraph(*expanded_.document.graph), before);
  EXPECT_EQ(ir::PrintGraph(*plain.graph).find("Mish"), std::string::npos);
  EXPECT_NE(ir::PrintGraph(*fused.graph).find("Mish"), std::string::npos);
}

// Where only the structure is wanted, variables without data have some if a seed is given.
TEST_F(StagesTest, SeedsMakeDataOfVariables) {
  options_.structure_only = true;
  Run(Document("    v = variable<scalar>(shape = [2, 3], label = 'v');\n    y = add(x, v);\n"));
  for (const std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(1)}) {
    options_.random_weights = seed;
    const Lowered lowered = LowerModel(opened_, checked_, expanded_, options_, context_);
    ASSERT_TRUE(lowered.complete);
    EXPECT_EQ(ir::PrintGraph(*lowered.graph).find("dense") != std::string::npos, seed.has_value());
  }
}

TEST_F(StagesTest, OpenSymbolsAreTriedButNotLowered) {
  options_.purpose = expand::Purpose::kValidate;
  options_.leniency = semantics::Leniency::kLenient;
  Run("version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;\n"
      "graph net( x ) -> ( y )\n{\n    x = tract_core_external(shape = [S, 3], datum_type = 'f32');\n"
      "    y = concat([for i in range_of([0] * S) yield x], axis = 0);\n}\n");
  ASSERT_TRUE(expanded_.complete) << RenderText(context_.emitter.diagnostics(), context_.sources, {});
  EXPECT_TRUE(expanded_.document.is_trial());
  const Lowered lowered = LowerModel(opened_, checked_, expanded_, options_, context_);
  EXPECT_FALSE(lowered.complete);
  EXPECT_EQ(Labels(lowered.diagnostics), Strings({"external.open-symbol"}));
  options_.input_shapes["x"] = {5, 3};
  const Expanded known = ExpandModel(opened_, checked_, options_, registry_, context_);
  EXPECT_FALSE(known.document.is_trial());
  EXPECT_TRUE(LowerModel(opened_, checked_, known, options_, context_).complete);
}

TEST_F(StagesTest, ExtentsOfReshapesStayOpen) {
  options_.leniency = semantics::Leniency::kLenient;
  Run("version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;\n"
      "graph net( x ) -> ( y )\n{\n    x = tract_core_external(shape = [2 * S, 4], datum_type = 'f32');\n"
      "    y = reshape(x, shape = [S, 2, S / S, 4]);\n}\n");
  ASSERT_TRUE(expanded_.complete) << RenderText(context_.emitter.diagnostics(), context_.sources, {});
  EXPECT_FALSE(expanded_.document.is_trial());
  const Lowered lowered = LowerModel(opened_, checked_, expanded_, options_, context_);
  ASSERT_TRUE(lowered.complete);
  EXPECT_NE(ir::PrintGraph(*lowered.graph).find("[?,2,1,4]"), std::string::npos);
}

TEST_F(StagesTest, MissingQuantizationIsIncomplete) {
  options_.quantize = true;
  Run(Document("    y = relu(x);\n"));
  EXPECT_FALSE(expanded_.complete);
  EXPECT_TRUE(expanded_.document.complete);
  EXPECT_EQ(Labels(expanded_.diagnostics), Strings({"quantization.missing"}));
}

TEST_F(StagesTest, TensorsAreQuantized) {
  options_.quantization =
      NamedText{"graph.quant", "\"x\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n"};
  Run(Document("    y = relu(x);\n"));
  ASSERT_TRUE(expanded_.complete) << RenderText(context_.emitter.diagnostics(), context_.sources, {});
  const std::string exact = ir::PrintGraph(*expanded_.document.graph);
  EXPECT_EQ(exact.find("linear_quantize"), std::string::npos);
  options_.quantize = true;
  const Expanded quantized = ExpandModel(opened_, checked_, options_, registry_, context_);
  ASSERT_TRUE(quantized.complete);
  EXPECT_NE(ir::PrintGraph(*quantized.document.graph).find("linear_quantize"), std::string::npos);
  EXPECT_EQ(ir::PrintGraph(*expanded_.document.graph), exact);
}

// Where a line of graph.quant is wrong, no tensor is quantized.
TEST_F(StagesTest, MistakesOfQuantizationKeepTheGraphExact) {
  const std::string right = "\"x\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n";
  options_.quantize = true;
  for (const std::string wrong : {"", "\"y\": linear_quantize(min = [[0.0, 0.0]], max = 1.0, bits = 8);\n"}) {
    options_.quantization = NamedText{"graph.quant", right + wrong};
    Run(Document("    y = relu(x);\n"));
    EXPECT_EQ(expanded_.complete, wrong.empty());
    const std::string graph = ir::PrintGraph(*expanded_.document.graph);
    EXPECT_EQ(graph.find("linear_quantize") != std::string::npos, wrong.empty()) << graph;
    context_.emitter.Clear();
  }
}

// A tensor has a quantized type if its quantization has 8 bits and is of the tensor or of its first axis.
TEST_F(StagesTest, QuantizedTypesAreOfTheFirstAxis) {
  const auto count_scales = [&](std::string_view scale, std::string_view zero_point, int bits) -> size_t {
    options_.quantization =
        NamedText{"graph.quant", fmt::format("\"x\": zero_point_linear_quantize(zero_point = {}, scale = {}, "
                                             "bits = {}, signed = true, symmetric = false);\n",
                                             zero_point, scale, bits)};
    Run(Document("    y = relu(x);\n"));
    EXPECT_TRUE(expanded_.complete) << RenderText(context_.emitter.diagnostics(), context_.sources, {});
    const lower::QuantizedTypes types = expanded_.quantization.table.Types();
    const auto found = types.find("x");
    if (found == types.end()) return 0;
    EXPECT_EQ(found->second.scales.size(), found->second.zero_points.size());
    return found->second.scales.size();
  };
  EXPECT_EQ(count_scales("0.5", "3", 8), 1U);
  EXPECT_EQ(count_scales("0.5", "3", 7), 0U);
  EXPECT_EQ(count_scales("[[0.5], [0.25]]", "3", 8), 2U);
  EXPECT_EQ(count_scales("0.5", "[[3], [4]]", 8), 2U);
  EXPECT_EQ(count_scales("[[0.5], [0.25]]", "[[3], [4]]", 8), 2U);
  EXPECT_EQ(count_scales("[[0.5, 0.25, 0.125]]", "3", 8), 0U);
  EXPECT_EQ(count_scales("0.5", "[[3, 4, 5]]", 8), 0U);
  EXPECT_EQ(count_scales("[[0.5], [0.25]]", "[[3, 4, 5]]", 8), 0U);
  EXPECT_EQ(count_scales("[[0.5, 0.25, 0.125]]", "[[3, 4, 5]]", 8), 0U);
}

// ---- the order of the stages ----

TEST(CompilationTest, ProcessesWhatDoesNotDependOnErrors) {
  const std::string documents[] = {Document("    y = relu(x)\n"), Document("    y = relu(b);\n"),
                                   Document("    y = matmul(x, x);\n"), Document("    y = relu(x);\n")};
  for (int complete = 0; complete < 4; ++complete) {
    CompileOptions options;
    options.document = documents[complete];
    Compilation compilation("net.nnef", options);
    // The first two stages with errors are parsing and checking.
    EXPECT_EQ(compilation.RunUntil(Stage::kExpand), complete == 3);
    EXPECT_EQ(compilation.incomplete_stages(), 3 - complete);
    EXPECT_NE(compilation.checked(), nullptr);
    EXPECT_NE(compilation.expanded(), nullptr);
    EXPECT_EQ(compilation.times().size(), complete == 3 ? 4U : static_cast<size_t>(complete) + 2);
    EXPECT_EQ(compilation.RunUntil(Stage::kLower), complete == 3);
  }
}

// A hundred errors are stored unless the options say otherwise.
TEST(CompilationTest, StoresAHundredErrors) {
  std::string body;
  for (int i = 0; i < 150; ++i) body += fmt::format("    a{0} = relu(b{0});\n", i);
  CompileOptions options;
  options.document = Document(body + "    y = relu(x);\n");
  for (const size_t limit : {size_t{100}, size_t{7}}) {
    if (limit != 100) options.error_limit = limit;
    Compilation compilation("net.nnef", options);
    EXPECT_FALSE(compilation.RunUntil(Stage::kCheck));
    EXPECT_EQ(compilation.context().emitter.diagnostics().size(), limit);
  }
}

// Stages that did not run are incomplete, as are those of a model that cannot be opened.
TEST(CompilationTest, StagesAreIncompleteBeforeTheyRun) {
  CompileOptions options;
  options.document = Document("    y = relu(x);\n");
  Compilation compilation("net.nnef", options);
  EXPECT_EQ(compilation.incomplete_stages(), 4);
  EXPECT_EQ(compilation.pipeline(), nullptr);
  EXPECT_TRUE(compilation.RunUntil(Stage::kExpand));
  EXPECT_EQ(compilation.incomplete_stages(), 0);
  EXPECT_EQ(compilation.pipeline(), nullptr);
  Compilation missing("/missing/net.nnef", CompileOptions());
  EXPECT_FALSE(missing.RunUntil(Stage::kExpand));
  EXPECT_EQ(missing.incomplete_stages(), 4);
}

// Where the limit of errors is reached, the document is still checked, but not expanded.
TEST(CompilationTest, ChecksAfterTheLimitOfErrors) {
  for (const size_t limit : {size_t{1}, size_t{2}}) {
    CompileOptions options;
    options.document = Document("    y = relu(x)\n");
    options.error_limit = limit;
    Compilation compilation("net.nnef", options);
    EXPECT_FALSE(compilation.RunUntil(Stage::kExpand));
    EXPECT_NE(compilation.checked(), nullptr);
    EXPECT_EQ(compilation.expanded() != nullptr, limit == 2);
  }
}

// The first error says that lenient mode reads the document, unless errors beyond the limit were left out.
TEST(CompilationTest, NotesLenientReadingBelowTheLimitOfErrors) {
  for (const size_t limit : {size_t{1}, size_t{2}, size_t{3}}) {
    CompileOptions options;
    options.document = Document("    a = softmax(x, [1]);\n    y = softmax(a, [0]);\n");
    options.error_limit = limit;
    Compilation compilation("net.nnef", options);
    EXPECT_FALSE(compilation.RunUntil(Stage::kExpand));
    const std::vector<Diagnostic>& found = compilation.context().emitter.diagnostics();
    ASSERT_EQ(found.size(), std::min(limit, size_t{2}));
    const bool is_noted = llvm::any_of(found.front().notes, [](const DiagnosticNote& note) {
      return note.message.find("`--lenient` reads it") != std::string::npos;
    });
    EXPECT_EQ(is_noted, limit == 3) << limit;
  }
}

// A file that cannot be read is a fault of the environment: of a model, a graph or a configuration.
TEST(CompilationTest, UnreadableFilesAreOfTheEnvironment) {
  for (const auto& [path, label] : {std::pair{"/missing/net.nnef", "container.unreadable"},
                                    {"/missing/net.xml", "file.unreadable"},
                                    {"/missing/net.ir", "file.unreadable"}}) {
    Compilation compilation(path, CompileOptions());
    EXPECT_FALSE(compilation.RunUntil(Stage::kOpen));
    EXPECT_TRUE(compilation.environment_failed()) << path;
    EXPECT_EQ(Labels(compilation.context().emitter.diagnostics()), Strings({label})) << path;
  }
  CompileOptions options;
  options.document = Document("    y = relu(x);\n");
  Compilation compilation("net.nnef", options);
  EXPECT_FALSE(compilation.UpdateConfiguration("/missing/config.json"));
  EXPECT_TRUE(compilation.environment_failed());
  EXPECT_EQ(Labels(compilation.context().emitter.diagnostics()), Strings({"file.unreadable"}));
  // The configuration of a model that is invalid is not opened.
  options.document = Document("    y = relu(z);\n");
  Compilation invalid("net.nnef", options);
  EXPECT_FALSE(invalid.UpdateConfiguration("/missing/config.json"));
  EXPECT_FALSE(invalid.environment_failed());
}

TEST(CompilationTest, ExpandsAgainForOtherShapes) {
  CompileOptions options;
  options.document = Document("    y = relu(x);\n");
  Compilation compilation("net.nnef", options);
  ASSERT_TRUE(compilation.RunUntil(Stage::kExpand));
  compilation.SetInputShapes({{"x", {4, 5}}});
  ASSERT_TRUE(compilation.RunUntil(Stage::kLower));
  EXPECT_EQ(compilation.times().size(), 5U);
  const ir::Graph& graph = *compilation.lowered();
  EXPECT_EQ(graph.node(graph.parameters()[0]).output().shape, ir::PartialShape({4, 5}));
}

// A conversion whose document would be refused has no result: the fragments of this one make 24 operations.
TEST(CompilationTest, ConvertedDocumentsAreChecked) {
  std::string body, last = "x";
  for (int i = 0; i < 6; ++i) {
    for (const char* operation : {"relu", "tanh", "sigmoid", "exp"}) {
      const std::string next = fmt::format("{}{}", operation, i);
      body += fmt::format("    {} = {}({});\n", next, operation, last);
      last = next;
    }
  }
  for (const int64_t limit : {23, 24}) {
    CompileOptions options;
    options.document = Document(fmt::format("{}    y = neg({});\n", body, last));
    options.limits.operations = limit;
    Compilation compilation("net.nnef", options);
    ASSERT_TRUE(compilation.RunUntil(StageBeforeConversion(compilation.format())));
    const std::optional<ConvertedModel> model = ConvertModel(
        compilation, {.input_shapes = {},
                      .evaluate = [](const ir::Node&, llvm::ArrayRef<ir::Output>, llvm::ArrayRef<TensorValue>)
                          -> std::optional<std::vector<TensorValue>> { return std::nullopt; },
                      .has_fragments = true});
    EXPECT_EQ(model.has_value(), limit == 24) << limit;
    const auto& found = compilation.context().emitter.diagnostics();
    ASSERT_EQ(found.size(), limit == 24 ? 0U : 1U) << limit;
    if (!found.empty()) {
      EXPECT_EQ(found[0].rule->label, "limit.operations") << found[0].message;
    }
  }
}

}  // namespace
}  // namespace nnefc::driver
