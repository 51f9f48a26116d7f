#include "tools/api/model.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "gtest/gtest.h"

namespace nnefc::api {
namespace {

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<float> Items(const Tensor& tensor) {
  return {tensor.floats().begin(), tensor.floats().end()};
}

constexpr char kSum[] = R"(version 1.0;
graph net(a, b) -> (y)
{
    a = external<scalar>(shape = [2]);
    b = external<scalar>(shape = [2]);
    y = add(a, b);
}
)";

constexpr char kCounter[] = R"(version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1]);
    v = variable<scalar>(shape = [1], label = 'v');
    y = add(v, x);
    u = update(v, y);
}
)";

std::string ReplaceOnce(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

Tensor Floats(std::vector<float> values) {
  return *Tensor::Copy({static_cast<int64_t>(values.size())}, values);
}

Executable CompileText(const char* text, const ModelOptions& options = {}) {
  Outcome<Model> model = Model::FromText("net.nnef", text, options);
  EXPECT_TRUE(model) << model.report.ToText();
  Outcome<Executable> executable = model->Compile({.backend = Backend::kReference, .threads = 1});
  EXPECT_TRUE(executable) << executable.report.ToText();
  return *executable;
}

TEST(ReportTest, KeepsRulePlaceNotesAndFixes) {
  const Report report = CheckText("net.nnef",
                                  "version 1.0;\ngraph g(x) -> (y)\n{\n    x = external<scalar>(shape = "
                                  "[1]);\n    y = rleu(x);\n}\n");
  ASSERT_EQ(report.diagnostics().size(), 1u);
  const Diagnostic& told = report.diagnostics()[0];
  EXPECT_EQ(told.severity, Severity::kError);
  EXPECT_FALSE(told.rule.empty());
  EXPECT_TRUE(told.section.starts_with("R "));
  EXPECT_EQ(told.place.file, "net.nnef");
  EXPECT_EQ(told.place.line, 5);
  EXPECT_EQ(told.place.column, 9);
  EXPECT_EQ(told.place.end_line, 5);
  EXPECT_EQ(told.place.end_column, 13);
  ASSERT_EQ(told.fixes.size(), 1u);
  EXPECT_EQ(told.fixes[0].text, "relu");
  EXPECT_EQ(told.fixes[0].applicability, Applicability::kSafe);
  EXPECT_EQ(report.error_count(), 1u);
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.environment_failed());
  EXPECT_TRUE(report.ToText().starts_with("net.nnef:5:9: error: "));
  EXPECT_TRUE(Contains(report.ToText(/*color=*/true), "\033["));
  EXPECT_TRUE(Contains(report.ToJson(), "\"rule\""));
  EXPECT_TRUE(Contains(report.ToSarif(), "2.1.0"));
}

TEST(ReportTest, OfNothingIsEmpty) {
  const Report report = CheckText("net.nnef", kSum);
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.diagnostics().empty());
  EXPECT_EQ(report.ToText(), "");
  EXPECT_TRUE(Contains(report.ToJson(), "\"diagnostics\""));
}

TEST(ReportTest, TellsTheEnvironmentFromTheModel) {
  const Report missing = Check("there/is/none.nnef");
  EXPECT_TRUE(missing.environment_failed());
  EXPECT_FALSE(missing.ok());
  EXPECT_TRUE(Contains(missing.ToText(), "there/is/none.nnef"));
}

TEST(ReportTest, LooksAtTensorFiles) {
  const std::string folder = testing::TempDir() + "/checked_model";
  std::filesystem::create_directories(folder);
  const std::string graph = kCounter;
  std::ofstream(folder + "/graph.nnef") << graph;
  EXPECT_TRUE(Check(folder).ok());  // a model without data is a document
  std::ofstream(folder + "/v.dat", std::ios::binary) << "N\xef\1";
  const Report report = Check(folder);
  EXPECT_FALSE(report.ok());
  EXPECT_TRUE(Contains(report.ToText(), "v.dat: error: at byte 3: the file ends after 3 bytes"))
      << report.ToText();
  std::filesystem::remove_all(folder);
}

TEST(ReportTest, TellsSectionsOfTheDocumentsDialect) {
  const Report report =
      CheckText("net.nnef",
                "version 1.0\ngraph g(x) -> (y)\n{\n    x = external(shape = [1, 2])\n    y = "
                "reshape(x, shape = [3])\n}\n",
                {.dialect = Dialect::kProvisional});
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(report.diagnostics()[0].section.starts_with("P "));
}

TEST(ModelTest, TellsItsPorts) {
  Outcome<Model> model = Model::FromText("net.nnef", kSum, {.input_shapes = {{"a", {3}}, {"b", {3}}}});
  ASSERT_TRUE(model) << model.report.ToText();
  ASSERT_EQ(model->inputs().size(), 2u);
  EXPECT_EQ(model->inputs()[1].name, "b");
  EXPECT_EQ(model->inputs()[1].type, ElementType::kF32);
  ASSERT_TRUE(model->inputs()[1].shape.has_value());
  EXPECT_EQ(*model->inputs()[1].shape, std::vector<int64_t>{3});
  ASSERT_EQ(model->outputs().size(), 1u);
  EXPECT_EQ(model->outputs()[0].name, "y");
}

TEST(ModelTest, Formats) {
  Outcome<std::string> formatted =
      Format("net.nnef", "version 1.0;graph g(x)->(y){x=external<scalar>(shape=[1]);y=relu(x);}");
  ASSERT_TRUE(formatted);
  EXPECT_TRUE(Contains(*formatted, "    y = relu(x);\n"));
  EXPECT_FALSE(Format("net.nnef", "version 1.0; graph g("));
}

TEST(ModelTest, ExpandsToADocumentThatExpandsToItself) {
  const char* text = R"(version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 3]);
    y = softmax(x, axes = [1]);
}
)";
  Outcome<Model> model = Model::FromText("net.nnef", text);
  ASSERT_TRUE(model);
  EXPECT_TRUE(Contains(*model->Expand(), "softmax"));
  Outcome<std::string> flat = model->Expand({"softmax"});
  ASSERT_TRUE(flat);
  EXPECT_FALSE(Contains(*flat, "softmax("));
  Outcome<Model> again = Model::FromText("flat.nnef", *flat);
  ASSERT_TRUE(again) << again.report.ToText();
  EXPECT_EQ(*again->Expand(), *flat);
}

TEST(ModelTest, WithoutDataCannotBeLoweredTwice) {
  Outcome<Model> model = Model::FromText("net.nnef", kCounter);
  ASSERT_TRUE(model);
  for (int i = 0; i < 2; ++i) {
    Outcome<Executable> executable = model->Compile();
    EXPECT_FALSE(executable);
    EXPECT_TRUE(Contains(executable.report.ToText(), "variable.no-data"));
  }
}

TEST(ModelTest, WritesOpenVinoThatIsReadAgain) {
  const auto folder = std::filesystem::temp_directory_path() / "nnefc_api_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "net.xml").string();
  Outcome<Model> model = Model::FromText("net.nnef", kSum);
  ASSERT_TRUE(model);
  EXPECT_FALSE(model->WriteOpenVino((folder / "net.onnx").string()).ok());
  ASSERT_TRUE(model->WriteOpenVino(path).ok());
  Outcome<Model> read = Model::Open(path);
  ASSERT_TRUE(read) << read.report.ToText();
  EXPECT_EQ(read->inputs().size(), 2u);
  EXPECT_FALSE(read->Expand());
  Outcome<Executable> executable = read->Compile({.backend = Backend::kReference});
  ASSERT_TRUE(executable);
  Outcome<Tensors> results = executable->Run({{"a", Floats({1, 2})}, {"b", Floats({10, 20})}});
  ASSERT_TRUE(results) << results.report.ToText();
  EXPECT_EQ(Items(results->at("y")), (std::vector<float>{11, 22}));
  std::filesystem::remove_all(folder);
}

TEST(ExecutableTest, ConvertsNumbersWithinTheirKind) {
  const Executable executable = CompileText(kSum);
  const std::array<double, 2> doubles = {0.5, 1.5};
  const std::array<int64_t, 2> integers = {1, 2};
  const Tensor a = *Tensor::Copy(ElementType::kF64, {2}, std::as_bytes(std::span(doubles)));
  const Tensor wrong = *Tensor::Copy(ElementType::kI64, {2}, std::as_bytes(std::span(integers)));
  Outcome<Tensors> results = executable.Run({{"a", a}, {"b", Floats({1, 1})}});
  ASSERT_TRUE(results) << results.report.ToText();
  EXPECT_EQ(Items(results->at("y")), (std::vector<float>{1.5f, 2.5f}));
  EXPECT_EQ(executable.Run({{"a", a}, {"b", wrong}}).report.diagnostics().at(0).rule, "input.type");
}

TEST(ExecutableTest, TellsInputsThatLackAndThatNobodyKnows) {
  const Executable executable = CompileText(kSum);
  EXPECT_EQ(executable.Run({{"a", Floats({1, 1})}}).report.diagnostics().at(0).rule, "input.missing");
  EXPECT_EQ(executable.Run({{"a", Floats({1, 1})}, {"c", Floats({1, 1})}}).report.diagnostics().at(0).rule,
            "input.unknown");
  EXPECT_FALSE(executable.Run({{"a", Floats({1, 1, 1})}, {"b", Floats({1, 1})}}));
}

TEST(ExecutableTest, FaultsOfARunKeepTheirRuleAndPlace) {
  const Executable executable = CompileText(R"(version 1.0;
graph net(x, i) -> (y)
{
    x = external<scalar>(shape = [3]);
    i = external<integer>(shape = [1]);
    y = gather(x, i, axis = 0);
}
)");
  const std::array<int64_t, 1> index = {7};
  const Tensor i = *Tensor::Copy(ElementType::kI64, {1}, std::as_bytes(std::span(index)));
  const Outcome<Tensors> results = executable.Run({{"x", Floats({1, 2, 3})}, {"i", i}});
  ASSERT_FALSE(results);
  const Diagnostic& told = results.report.diagnostics().at(0);
  EXPECT_EQ(told.rule, "run.failed");
  EXPECT_EQ(told.place.file, "net.nnef");
  EXPECT_EQ(told.place.line, 6);
  EXPECT_TRUE(Contains(told.message, "index 7 is outside an axis of extent 3")) << told.message;
  EXPECT_TRUE(results.report.ToText().starts_with("net.nnef:6:9: error: ")) << results.report.ToText();
}

TEST(ExecutableTest, SessionsHaveTheirOwnState) {
  const Executable executable = CompileText(kCounter, {.random_weights = 1});
  Session one = executable.NewSession();
  Session other = executable.NewSession();
  const Tensors input = {{"x", Floats({1})}};
  const float first = one.Run(input)->at("y").floats()[0];
  EXPECT_EQ(one.Run(input)->at("y").floats()[0], first + 1);
  EXPECT_EQ(other.Run(input)->at("y").floats()[0], first);
  one.ResetState();
  EXPECT_EQ(one.Run(input)->at("y").floats()[0], first);
}

TEST(ExecutableTest, OutlivesItsModelAndIsSharedByThreads) {
  const Executable executable = CompileText(kSum);
  std::vector<std::thread> threads;
  std::array<bool, 4> right = {};
  for (size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto x = static_cast<float>(i);
      Outcome<Tensors> results = executable.Run({{"a", Floats({x, x})}, {"b", Floats({1, 2})}});
      right[i] = results && results->at("y").floats()[1] == x + 2;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, (std::array<bool, 4>{true, true, true, true}));
}

TEST(ExecutableTest, ProfilesItsSteps) {
  Session session = CompileText(kSum).NewSession();
  session.EnableProfile(true);
  ASSERT_TRUE(session.Run({{"a", Floats({1, 1})}, {"b", Floats({1, 1})}}));
  ASSERT_FALSE(session.profile().empty());
  EXPECT_TRUE(Contains(session.profile()[0].operation, "Add"));
}

TEST(TensorTest, HoldsAsManyBytesAsItsShapeTakes) {
  const std::array<float, 2> two = {1, 2};
  EXPECT_TRUE(Tensor::Copy({2, 1}, two).has_value());
  EXPECT_FALSE(Tensor::Copy({3}, two).has_value());
  EXPECT_FALSE(Tensor::Copy({-2}, two).has_value());
  EXPECT_FALSE(Tensor::Copy({std::numeric_limits<int64_t>::max(), 4}, two).has_value());
  EXPECT_FALSE(Tensor::Copy(ElementType::kDynamic, {2}, std::as_bytes(std::span(two))).has_value());
  EXPECT_TRUE(Tensor::Copy({0}, {}).has_value());
}

TEST(TensorTest, IsWrittenAndReadAgain) {
  const std::string path = (std::filesystem::temp_directory_path() / "nnefc_api_test.npz").string();
  ASSERT_TRUE(WriteTensors(path, {{"a/b", Floats({1, 2})}, {"c", Floats({})}}).ok());
  Outcome<Tensors> read = ReadTensors(path);
  ASSERT_TRUE(read) << read.report.ToText();
  EXPECT_EQ(Items(read->at("a/b")), (std::vector<float>{1, 2}));
  EXPECT_EQ(read->at("c").volume(), 0);
  std::filesystem::remove(path);
  EXPECT_TRUE(ReadTensors(path).report.environment_failed());
}

TEST(TensorTest, DifferenceIsRelativeToTheLargestExpected) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(RelativeDifference(Floats({1, nan}), Floats({1, nan})), 0);
  EXPECT_DOUBLE_EQ(RelativeDifference(Floats({1, 9}), Floats({2, 10})), 0.1);
  EXPECT_EQ(RelativeDifference(Floats({1}), Floats({nan})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(RelativeDifference(Floats({1}), Floats({1, 1})), std::numeric_limits<double>::infinity());
}

constexpr char kLinear[] = R"(version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 2]);
    w = variable<scalar>(shape = [1, 2], label = 'fc/w');
    y = linear(x, w);
}
)";

TEST(ModelTest, HoldsOperationsAndVariables) {
  const std::vector<float> data = {2, 3};
  const Outcome<Model> model =
      Model::FromText("net.nnef", kLinear, {.data = {{"fc/w", *Tensor::Copy({1, 2}, data)}}});
  ASSERT_TRUE(model) << model.report.ToText();
  ASSERT_EQ(model->operations().size(), 1u);
  EXPECT_EQ(model->operations()[0].type, "linear");
  EXPECT_EQ(model->operations()[0].inputs, (std::vector<std::string>{"x", "w", ""}));
  ASSERT_EQ(model->variables().size(), 1u);
  EXPECT_EQ(model->variables()[0].label, "fc/w");
  EXPECT_EQ(model->variables()[0].port.name, "w");
  const Outcome<Tensor> read = model->ReadVariable("fc/w");
  ASSERT_TRUE(read) << read.report.ToText();
  EXPECT_EQ(Items(*read), data);
  EXPECT_FALSE(model->ReadVariable("w"));
  const auto results = model->Compile()->Run({{"x", *Tensor::Copy({1, 2}, std::vector<float>{5, 7})}});
  ASSERT_TRUE(results) << results.report.ToText();
  EXPECT_EQ(Items(results->at("y")), std::vector<float>{31});
}

TEST(ModelTest, DataOfAnotherShapeAreReportedAtTheirVariable) {
  const Outcome<Model> model = Model::FromText("net.nnef", kLinear, {.data = {{"fc/w", Floats({1, 2, 3})}}});
  ASSERT_FALSE(model);
  EXPECT_TRUE(Contains(model.report.ToText(), "[3]; the document says [1,2]")) << model.report.ToText();
}

// Data of another type have one error, whatever their shape.
TEST(ModelTest, DataOfAnotherTypeAreReportedOnce) {
  for (const int64_t columns : {2, 3}) {
    const std::vector<std::byte> bytes(static_cast<size_t>(columns), std::byte{1});
    const Outcome<Model> model = Model::FromText(
        "net.nnef", kLinear, {.data = {{"fc/w", *Tensor::Copy(ElementType::kBoolean, {1, columns}, bytes)}}});
    ASSERT_FALSE(model);
    ASSERT_EQ(model.report.diagnostics().size(), 1u) << model.report.ToText();
    EXPECT_TRUE(Contains(model.report.diagnostics()[0].message, "the data of variable `fc/w` do not fit: "))
        << model.report.ToText();
  }
}

// A variable needs data where some are passed, unless a seed makes them.
TEST(ModelTest, DataThatAreMissingAreReported) {
  const std::string text = ReplaceOnce(kLinear, "    y = linear(x, w);",
                                       "    v = variable<scalar>(shape = [1, 1], label = 'fc/v');\n"
                                       "    y = linear(x, w, v);");
  const Tensors data = {{"fc/w", *Tensor::Copy({1, 2}, std::vector<float>{2, 3})}};
  const Outcome<Model> model = Model::FromText("net.nnef", text, {.data = data});
  ASSERT_FALSE(model);
  ASSERT_EQ(model.report.diagnostics().size(), 1u) << model.report.ToText();
  EXPECT_EQ(model.report.diagnostics()[0].message,
            "no data were passed for variable `fc/v`; expected scalar of shape [1,1]");
  const Outcome<Model> seeded = Model::FromText("net.nnef", text, {.random_weights = 1, .data = data});
  EXPECT_TRUE(seeded) << seeded.report.ToText();
}

// Data of several variables with one label are checked once.
TEST(ModelTest, SharedDataAreCheckedOnce) {
  const std::string text = ReplaceOnce(kLinear, "    y = linear(x, w);",
                                       "    v = variable<scalar>(shape = [1, 2], label = 'fc/w');\n"
                                       "    z = add(w, v);\n    y = linear(x, z);");
  const Outcome<Model> model = Model::FromText("net.nnef", text, {.data = {{"fc/w", Floats({1, 2, 3})}}});
  ASSERT_FALSE(model);
  int errors = 0;
  for (const Diagnostic& diagnostic : model.report.diagnostics())
    errors += diagnostic.rule == "variable.data-shape" ? 1 : 0;
  EXPECT_EQ(errors, 1) << model.report.ToText();
}

TEST(ModelTest, IsWrittenWithItsData) {
  const Outcome<Model> model = Model::FromText(
      "net.nnef", kLinear, {.data = {{"fc/w", *Tensor::Copy({1, 2}, std::vector<float>{2, 3})}}});
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nnefc_written_model";
  std::filesystem::create_directories(folder);
  const Report report = model->WriteNnef(folder.string());
  EXPECT_TRUE(report.ok()) << report.ToText();
  const Outcome<Model> again = Model::Open(folder.string());
  ASSERT_TRUE(again) << again.report.ToText();
  EXPECT_EQ(Items(*again->ReadVariable("fc/w")), (std::vector<float>{2, 3}));
  EXPECT_EQ(*again->Upgrade(), *model->Upgrade());
  EXPECT_FALSE(model->WriteNnef((folder / "nowhere").string()).ok());
  std::filesystem::remove_all(folder);
}

// A written model is ratified: its labels and tensor files have other names, which stay distinct.
TEST(ModelTest, IsWrittenWithRatifiedLabels) {
  const std::string text = R"(version 1.0;
extension tract_registry tract_core;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1]);
    a = variable<scalar>(shape = [1], label = 'fc/w:0');
    b = variable<scalar>(shape = [1], label = 'fc/w_0');
    y = x * a + b;
}
)";
  const Outcome<Model> model =
      Model::FromText("net.nnef", text, {.data = {{"fc/w:0", Floats({2})}, {"fc/w_0", Floats({3})}}});
  ASSERT_TRUE(model) << model.report.ToText();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nnefc_ratified_model";
  std::filesystem::create_directories(folder);
  const Report report = model->WriteNnef(folder.string());
  EXPECT_TRUE(report.ok()) << report.ToText();
  EXPECT_TRUE(Contains(report.ToText(), "label `fc/w:0` is written as `fc/w_0_2`")) << report.ToText();
  const Outcome<Model> again = Model::Open(folder.string(), {.reading = Reading::kStrict});
  ASSERT_TRUE(again) << again.report.ToText();
  EXPECT_EQ(Items(*again->ReadVariable("fc/w_0_2")), std::vector<float>{2});
  EXPECT_EQ(Items(*again->ReadVariable("fc/w_0")), std::vector<float>{3});
  std::filesystem::remove_all(folder);
}

TEST(ModelTest, OpenVinoIrInMemoryIsThatOfTheFiles) {
  const Outcome<Model> model = Model::FromText(
      "net.nnef", kLinear, {.data = {{"fc/w", *Tensor::Copy({1, 2}, std::vector<float>{2, 3})}}});
  const Outcome<OpenVinoForm> form = model->ToOpenVino();
  ASSERT_TRUE(form) << form.report.ToText();
  const std::filesystem::path xml = std::filesystem::path(testing::TempDir()) / "nnefc_in_memory.xml";
  ASSERT_TRUE(model->WriteOpenVino(xml.string()).ok());
  const auto read = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(read(xml), form->xml);
  std::string weights(form->weights_size, '?');
  for (const auto& [offset, tensor] : form->constants)
    std::memcpy(weights.data() + offset, tensor.bytes().data(), tensor.bytes().size());
  EXPECT_EQ(read(std::filesystem::path(xml).replace_extension(".bin")), weights);
  EXPECT_FALSE(Model::FromText("net.nnef", kLinear)->ToOpenVino());
}

TEST(ExecutableTest, DataOfAnotherShapeAreReported) {
  const Outcome<Tensors> results = CompileText(kSum).Run({{"a", Floats({1, 2, 3})}, {"b", Floats({1, 2})}});
  ASSERT_FALSE(results);
  const Diagnostic& told = results.report.diagnostics().at(0);
  EXPECT_EQ(told.rule, "input.shape");
  EXPECT_TRUE(Contains(told.message, "the data of input `a` have shape [3]; expected [2]")) << told.message;
}

TEST(LintTest, SpeaksByItsSettings) {
  const std::string text = ReplaceOnce(kSum, "    y =", "    z = exp(a);\n    y =");
  const Report report = LintText("net.nnef", text);
  ASSERT_EQ(report.diagnostics().size(), 1u) << report.ToText();
  EXPECT_EQ(report.diagnostics()[0].rule, "lint.unused-tensor");
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(LintText("net.nnef", text, {.disabled = {"unused-tensor"}}).diagnostics().empty());
  EXPECT_FALSE(LintText("net.nnef", text, {.levels = {{"unused-tensor", "error"}}}).ok());
  EXPECT_TRUE(LintText("net.nnef", text, {.levels = {{"unused-tensor", "loud"}}}).environment_failed());
}

TEST(ModelTest, TransformationsAreSwitched) {
  const std::string text = ReplaceOnce(
      kSum, "y = add(a, b);", "c = softplus(a);\n    d = tanh(c);\n    e = mul(a, d);\n    y = add(e, b);");
  EXPECT_TRUE(Contains(*Model::FromText("net.nnef", text)->Lower(), "Mish"));
  const Outcome<Model> model = Model::FromText(
      "net.nnef", text, {.disabled_transformations = {"nnefc::transform::front::MishFusion"}});
  EXPECT_FALSE(Contains(*model->Lower(), "Mish"));
}

TEST(TensorTest, BorrowsBytesAndKeepsTheirOwner) {
  auto owner = std::make_shared<std::array<float, 4>>();
  owner->back() = 4;
  const auto bytes = std::as_bytes(std::span<const float>(*owner));
  const std::optional<Tensor> tensor = Tensor::Borrow(ElementType::kF32, {4}, bytes, owner);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->floats()[3], 4);
  EXPECT_FALSE(Tensor::Borrow(ElementType::kF32, {5}, bytes, owner));
}

}  // namespace
}  // namespace nnefc::api
