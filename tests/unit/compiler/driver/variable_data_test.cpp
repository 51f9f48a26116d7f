#include "compiler/driver/data/variable_data.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include "compiler/driver/compilation.h"
#include "compiler/driver/data/quantization.h"
#include "compiler/driver/data/write_variables.h"
#include "compiler/driver/stages/upgrade_model.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/package/tensors/random.h"
#include "compiler/support/files/file.h"
#include "fmt/format.h"
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

// Each standard quantization has an algorithm; `linear_quantize` has that of all items from `min` to `max`.
TEST(VariableDataTest, AlgorithmsOfQuantizedItems) {
  using Algorithm = package::DatQuantization::Algorithm;
  for (const auto& [operation, expected] : {std::pair("linear_quantize", Algorithm::kMinMaxLinear),
                                            {"min_max_linear_quantize", Algorithm::kMinMaxLinear},
                                            {"zero_point_linear_quantize", Algorithm::kZeroPointLinear},
                                            {"logarithmic_quantize", Algorithm::kLogarithmic}}) {
    for (const bool is_standard : {true, false}) {
      expand::TensorQuantization line;
      line.operation = operation;
      line.is_standard = is_standard;
      Context context;
      const auto quantization = ToDatQuantization(line, package::DatFile(), context);
      EXPECT_EQ(quantization.has_value(), is_standard) << operation;
      EXPECT_EQ(context.emitter.error_count(), is_standard ? 0U : 1U) << operation;
      if (quantization) {
        EXPECT_EQ(quantization->algorithm, expected) << operation;
      }
    }
  }
}

// The variables of a document, with data that a program passed or that a seed generates.
class VariableStoreTest : public ::testing::Test {
 protected:
  // Expands the document, whose input has the shape [2, 2].
  void Expand(const std::string& body, std::map<std::string, TensorValue> data = {}) {
    CompileOptions options;
    options.document =
        "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 2]);\n" + body + "}\n";
    options.data = std::move(data);
    compilation_ = std::make_unique<Compilation>("net.nnef", options);
    ASSERT_TRUE(compilation_->RunUntil(Stage::kExpand));
  }
  const ir::Graph& graph() const { return *compilation_->expanded(); }
  VariableStore Store(std::optional<uint64_t> seed = std::nullopt) {
    return VariableStore(*compilation_->model(), graph(), quantization_, seed, compilation_->context());
  }

  QuantizationTable quantization_;
  std::unique_ptr<Compilation> compilation_;
};

// The operation that reads a variable determines the distribution of its random data.
TEST_F(VariableStoreTest, RandomDataOfRoles) {
  std::string variables;
  for (const char* label : {"mean", "variance", "offset", "scale"})
    variables += fmt::format("    {0} = variable(shape = [1, 2], label = '{0}');\n", label);
  Expand(variables + "    y = batch_normalization(x, mean, variance, offset, scale, epsilon = 0.5);\n");
  VariableStore store = Store(7);
  for (const auto& [label, role] : {std::pair("mean", ir::DataRole::kMean),
                                    {"variance", ir::DataRole::kVariance},
                                    {"offset", ir::DataRole::kOffset},
                                    {"scale", ir::DataRole::kScale}}) {
    const std::optional<TensorValue> value = store.Load(label, ElementType::kF32, {1, 2}, {});
    ASSERT_TRUE(value) << label;
    EXPECT_EQ(*value, package::RandomTensor(role, 7, label, ElementType::kF32, {1, 2})) << label;
    EXPECT_NE(*value, package::RandomTensor(ir::DataRole::kFilter, 7, label, ElementType::kF32, {1, 2}));
  }
}

// The first operation that reads a variable determines its role, at any input.
TEST_F(VariableStoreTest, RolesOfEachInput) {
  Expand(
      "    a = variable(shape = [2, 2], label = 'a');\n    b = variable(shape = [1, 2], label = 'b');\n"
      "    p = matmul(a, x);\n    y = linear(p, a, b);\n");
  const std::map<std::string, ir::DataRole> expected = {{"a", ir::DataRole::kFilter},
                                                        {"b", ir::DataRole::kBias}};
  EXPECT_EQ(DataRoles(graph()), expected);
  Expand("    a = variable(shape = [2, 2], label = 'a');\n    y = matmul(a, x);\n");
  EXPECT_EQ(DataRoles(graph()).size(), 1U);
}

// Data may lack trailing singular extents on request.
TEST_F(VariableStoreTest, TrailingOnes) {
  const TensorValue data = TensorValue::FromFloats({2}, {3, 4});
  Expand("    v = variable(shape = [2, 1], label = 'v');\n    y = mul(x, v);\n", {{"v", data}});
  for (const bool is_implied : {false, true}) {
    VariableStore store = Store();
    if (is_implied) store.ImplyTrailingOnes();
    const std::optional<TensorValue> value = store.Load("v", ElementType::kF32, {2, 1}, {});
    EXPECT_EQ(value.has_value(), is_implied);
    if (value) {
      EXPECT_EQ(*value, TensorValue::FromFloats({2, 1}, {3, 4}));
    }
  }
}

// Files are compared with shapes whose extents are all known.
TEST_F(VariableStoreTest, KnownShapesOfFiles) {
  Expand("    v = variable(shape = [1, 3], label = 'v');\n    y = pad(v, padding = [(1, 0), (0, 0)]);\n",
         {{"v", TensorValue::FromFloats({1, 3}, {3, 4, 5})}});
  for (const auto& [shape, expected] :
       {std::pair(ir::PartialShape({1, 3}), ""),
        {ir::PartialShape({2, 1}), "the data of variable `v` has shape [1,3]; the document says [2,1]"},
        {ir::PartialShape::OfRank(1), ""},
        {ir::PartialShape(), ""}}) {
    Store().CheckFile("v", shape, {});
    std::string messages;
    for (const Diagnostic& each : compilation_->context().emitter.diagnostics()) messages += each.message;
    EXPECT_EQ(messages, expected);
    compilation_->context().emitter.Clear();
  }
}

// Files are compared with the shapes of variables, unless the extents of the document are those of a trial.
TEST_F(VariableStoreTest, ShapesOfFiles) {
  Expand("    v = variable(shape = [2, 1], label = 'v');\n    y = mul(x, v);\n",
         {{"v", TensorValue::FromFloats({1, 3}, {3, 4, 5})}});
  for (const bool has_trial_extents : {false, true}) {
    Context context;
    CheckVariableFiles(graph(), *compilation_->model(), quantization_, has_trial_extents, context);
    std::string messages;
    for (const Diagnostic& each : context.emitter.diagnostics()) messages += each.message;
    EXPECT_EQ(messages,
              has_trial_extents ? "" : "the data of variable `v` has shape [1,3]; the document says [2,1]");
  }
}

// Writes tensor files to a folder of its own.
class WriteVariablesTest : public VariableStoreTest {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Returns the names of the files after they were written with random data.
  std::set<std::string> Written(LabelsOf labels) {
    const std::string path = fmt::format("{}/{}", folder_, static_cast<int>(labels));
    std::filesystem::create_directory(path);
    VariableStore store = Store(1);
    is_written_ = WriteVariables(graph(), store, labels, path).ok();
    return FilesIn(path);
  }
  static std::set<std::string> FilesIn(const std::string& path) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      names.insert(entry.path().filename().string());
    return names;
  }

  std::string folder_ = (std::filesystem::path(testing::TempDir()) / "nnefc_variables_XXXXXX").string();
  bool is_written_ = false;
};

// Variables that share their data share its file, which has the label of the first one.
TEST_F(WriteVariablesTest, WritesSharedDataOnce) {
  Expand(
      "    v = variable(shape = [2, 2], label = 'V');\n    w = variable(shape = [2, 2], label = 'v');\n"
      "    u = variable(shape = [2, 2], label = 'u');\n    a = add(x, v);\n    b = add(u, w);\n"
      "    y = add(a, b);\n");
  for (const LabelsOf labels : {LabelsOf::kSource, LabelsOf::kPrinted}) {
    EXPECT_EQ(Written(labels), (std::set<std::string>{"V.dat", "u.dat"}));
    EXPECT_TRUE(is_written_);
  }
}

// The tensor files of an upgraded document have its labels, which lack characters of provisional ones
// (R 4.1.3).
TEST_F(WriteVariablesTest, UpgradedDataHaveRatifiedLabels) {
  CompileOptions options;
  options.document =
      "version 1.0\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 2])\n    v = variable(shape = "
      "[2, 2], label = 'a:b')\n    w = variable(shape = [2, 2], label = 'c')\n    p = mul(x, v)\n    y = "
      "mul(p, w)\n}\n";
  for (const char* label : {"a:b", "c"})
    options.data.emplace(label, TensorValue::FromFloats({2, 2}, {1, 2, 3, 4}));
  compilation_ = std::make_unique<Compilation>("net.nnef", options);
  ASSERT_TRUE(compilation_->RunUntil(Stage::kExpand));
  const ErrorOr<bool> written = WriteUpgradedData(*compilation_, folder_);
  ASSERT_TRUE(written.ok());
  EXPECT_TRUE(*written);
  EXPECT_EQ(FilesIn(folder_), (std::set<std::string>{"a_b.dat", "c.dat"}));
}

// Lines of graph.quant are computed when the model runs, except those of variables whose files are quantized.
TEST_F(WriteVariablesTest, LinesOfQuantizedFilesAreNotComputed) {
  std::string quantized("N\xef\1\0\2\0\0\0\1\0\0\0\2\0\0\0", 16);  // two items of 8 bits (R 5.2)
  quantized.resize(44);
  quantized += std::string("\x8\0\0\0\2\0\0\0", 8);
  quantized.resize(128);
  ASSERT_TRUE(WriteFile(folder_ + "/v.dat", quantized + "\1\2").ok());
  ASSERT_TRUE(package::WriteDat(folder_ + "/w.dat", TensorValue::FromFloats({2}, {1, 2})).ok());
  ASSERT_TRUE(WriteFile(folder_ + "/graph.nnef",
                        "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    v = "
                        "variable(shape = [2], label = 'v');\n    w = variable(shape = [2], label = 'w');\n"
                        "    p = mul(x, v);\n    y = mul(p, w);\n}\n")
                  .ok());
  std::string lines;
  for (const char* name : {"v", "w", "y"})
    lines += fmt::format("\"{}\": linear_quantize(min = 0.0, max = 255.0, bits = 8);\n", name);
  ASSERT_TRUE(WriteFile(folder_ + "/graph.quant", lines).ok());
  Compilation compilation(folder_, CompileOptions());
  ASSERT_TRUE(compilation.RunUntil(Stage::kExpand))
      << compilation.context().emitter.diagnostics().front().message;
  std::set<std::string> computed;
  for (const expand::TensorQuantization& line :
       compilation.quantization().table.LinesToCompute(*compilation.expanded(), *compilation.model()))
    computed.insert(line.tensor);
  EXPECT_EQ(computed, (std::set<std::string>{"w", "y"}));
}

// A tensor file has at most 8 extents (R 5.2).
TEST_F(WriteVariablesTest, FailsForRank9) {
  for (const int rank : {8, 9}) {
    std::string extents = "1";
    for (int axis = 1; axis < rank; ++axis) extents += ", 1";
    Expand("    v = variable(shape = [" + extents + "], label = 'v');\n    y = add(x, v);\n");
    (void)Written(rank == 8 ? LabelsOf::kSource : LabelsOf::kPrinted);
    EXPECT_EQ(is_written_, rank == 8);
  }
}

}  // namespace
}  // namespace nnefc::driver
