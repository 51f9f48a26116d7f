// Runs each operation of cases.txt and of the other case files of its folder on both backends. OpenVINO
// computed the expected values (make_cases.py and the other scripts), except those of formula_cases.txt and
// kernel_faults.txt.

#include <fstream>
#include <initializer_list>
#include <map>
#include <span>
#include <sstream>

#include "fmt/core.h"
#include "runtime/kernels/registry.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {
namespace {

struct CaseTensor {
  TensorValue value;
  bool constant = false;
};
struct Case {
  std::string name, set, type;
  int num_outputs = 1;
  ir::AttributeMap attributes;
  std::vector<CaseTensor> inputs;
  std::vector<TensorValue> outputs;
  double tolerance = 0;
  std::string fault = {};  // a part of the message, where the run must fail
  // The portable kernel refuses the tensors itself; shape inference would refuse them before.
  bool only_kernel = false;
};

Shape ParseShape(const std::string& text) {
  Shape shape;
  std::stringstream stream(text.substr(1, text.size() - 2));
  for (std::string extent; std::getline(stream, extent, ',');) shape.push_back(std::stoll(extent));
  return shape;
}

TensorValue ParseTensor(std::istream& line, const std::string& type_name, const std::string& dims) {
  const ElementType type = *ParseElementType(type_name);
  const Shape shape = ParseShape(dims);
  std::vector<std::string> items;
  for (std::string item; line >> item;) items.push_back(item);
  EXPECT_EQ(static_cast<int64_t>(items.size()), Volume(shape));
  if (IsFloat(type)) {
    std::vector<float> values;
    values.reserve(items.size());
    for (const std::string& item : items) values.push_back(std::strtof(item.c_str(), nullptr));
    return TensorValue::FromFloats(shape, values).ConvertedTo(type);
  }
  std::vector<int64_t> values;
  values.reserve(items.size());
  for (const std::string& item : items) values.push_back(std::stoll(item));
  return TensorValue::FromInts(shape, values).ConvertedTo(type);
}

ir::Attribute ParseAttribute(std::istream& line, const std::string& kind) {
  std::vector<std::string> items;
  for (std::string item; line >> item;) items.push_back(item);
  if (kind == "bool") return items.at(0) == "1";
  if (kind == "int") return static_cast<int64_t>(std::stoll(items.at(0)));
  if (kind == "double") return std::stod(items.at(0));
  if (kind == "string") return items.at(0);
  if (kind == "type") return *ParseElementType(items.at(0));
  if (kind == "doubles") {
    ir::Attribute::Scalars values;
    for (const std::string& item : items) values.push_back(std::stod(item));
    return values;
  }
  ir::Attribute::Integers values;
  for (const std::string& item : items) values.push_back(std::stoll(item));
  return values;
}

void ReadCases(const std::string& name, std::vector<Case>& cases) {
  std::ifstream file("tests/unit/runtime/kernels/" + name);
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "case") {
      line >> cases.emplace_back().name;
    } else if (word == "op") {
      line >> cases.back().set >> cases.back().type >> cases.back().num_outputs;
    } else if (word == "attr") {
      std::string name, kind;
      line >> name >> kind;
      cases.back().attributes.Set(name, ParseAttribute(line, kind));
    } else if (word == "input") {
      std::string type, dims, role;
      line >> type >> dims >> role;
      cases.back().inputs.push_back({ParseTensor(line, type, dims), role == "const"});
    } else if (word == "output") {
      std::string type, dims;
      line >> type >> dims;
      cases.back().outputs.push_back(ParseTensor(line, type, dims));
    } else if (word == "tolerance") {
      line >> cases.back().tolerance;
    } else if (word == "fault" || word == "kernel_fault") {
      cases.back().only_kernel = word == "kernel_fault";
      std::getline(line >> std::ws, cases.back().fault);
    }
  }
}

// Adds operations whose regions compete in more than 1e9 pairs: each is a square from 0 to 1.
void AddLargeCases(std::vector<Case>& cases) {
  constexpr int64_t kRegions = 32000;
  const auto values_of = [](const Shape& shape) {
    return TensorValue::Make<float>(ElementType::kF32, shape, [](std::span<float> values) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = i % 4 < 2 ? 0.0F : 1.0F;
    });
  };
  const auto add = [&](std::string_view set, std::string_view type,
                       std::initializer_list<std::pair<std::string_view, ir::Attribute>> attributes,
                       std::initializer_list<Shape> inputs, std::initializer_list<Shape> outputs) {
    Case& large = cases.emplace_back(Case{.name = fmt::format("{}_of_too_many_regions", type),
                                          .set = std::string(set),
                                          .type = std::string(type),
                                          .num_outputs = static_cast<int>(outputs.size()),
                                          .fault = "too many regions compete",
                                          .only_kernel = true});
    for (const auto& [name, value] : attributes) large.attributes.Set(name, value);
    for (const Shape& shape : inputs) large.inputs.push_back({values_of(shape)});
    for (const Shape& shape : outputs) large.outputs.push_back(values_of(shape));
  };
  add("opset6", "ExperimentalDetectronDetectionOutput",
      {{"score_threshold", -1.0},
       {"nms_threshold", 0.5},
       {"max_delta_log_wh", 2.0},
       {"num_classes", int64_t{2}},
       {"post_nms_count", kRegions},
       {"max_detections_per_image", int64_t{1}},
       {"class_agnostic_box_regression", false},
       {"deltas_weights", ir::Attribute::Scalars{10.0, 10.0, 5.0, 5.0}}},
      {{kRegions, 4}, {kRegions, 8}, {kRegions, 2}, {1, 3}}, {{1, 4}});
  add("opset6", "ExperimentalDetectronGenerateProposalsSingleImage",
      {{"min_size", 0.0}, {"nms_threshold", 0.5}, {"pre_nms_count", kRegions}, {"post_nms_count", kRegions}},
      {{3}, {kRegions, 4}, {4, 1, kRegions}, {1, 1, kRegions}}, {{kRegions, 4}, {kRegions}});
  add("opset9", "GenerateProposals",
      {{"min_size", 0.0},
       {"nms_threshold", 0.5},
       {"pre_nms_count", kRegions},
       {"post_nms_count", kRegions},
       {"normalized", true},
       {"nms_eta", 1.0},
       {"roi_num_type", ElementType::kI64}},
      {{1, 3}, {1, kRegions, 1, 4}, {1, 4, 1, kRegions}, {1, 1, 1, kRegions}}, {{1, 4}});
  add("opset4", "Proposal",
      {{"base_size", int64_t{16}},
       {"pre_nms_topn", kRegions},
       {"post_nms_topn", kRegions},
       {"nms_thresh", 0.5},
       {"feat_stride", int64_t{16}},
       {"min_size", int64_t{0}},
       {"ratio", ir::Attribute::Scalars{1.0}},
       {"scale", ir::Attribute::Scalars{1.0}}},
      {{1, 2, 1, kRegions}, {1, 4, 1, kRegions}, {3}}, {{kRegions, 5}, {kRegions}});
}

const std::vector<Case>& Cases() {
  static const auto* cases = [] {
    auto* read = new std::vector<Case>;
    for (const char* name : {"cases.txt", "corner_cases.txt", "formula_cases.txt", "kernel_faults.txt",
                             "recurrent_cases.txt", "row_cases.txt"})
      ReadCases(name, *read);
    AddLargeCases(*read);
    return read;
  }();
  return *cases;
}

void ExpectFault(const TestGraph& graph, const std::vector<TensorValue>& values, Backend backend,
                 const std::string& fault) {
  const auto executable = Compile(graph.graph, {.backend = backend, .threads = 2});
  ASSERT_NE(executable, nullptr);
  const FaultOr<std::vector<TensorValue>> outputs = engine::Session::Create(executable)->Run(values);
  ASSERT_FALSE(outputs.ok());
  EXPECT_NE(outputs.error().message.find(fault), std::string::npos) << outputs.error().message;
}

void RunCase(const Case& test, Backend backend) {
  if (test.only_kernel) return;
  ASSERT_TRUE(TestRegistry().Find(test.set, test.type).valid()) << test.set << "." << test.type;
  TestGraph graph;
  std::vector<ir::OutputPort> inputs;
  std::vector<TensorValue> values;
  for (const CaseTensor& input : test.inputs) {
    if (input.constant) {
      inputs.push_back(graph.Const(input.value));
      continue;
    }
    inputs.push_back(graph.Parameter("x", input.value.shape(), input.value.type()));
    values.push_back(input.value);
  }
  const ir::OutputPort node = graph.Op(test.set, test.type, inputs, test.attributes, test.num_outputs);
  for (int i = 0; i < test.num_outputs; ++i) graph.Result({node.node, i});
  if (!test.fault.empty()) return ExpectFault(graph, values, backend, test.fault);
  const std::vector<TensorValue> outputs = RunGraph(graph.graph, {.backend = backend, .threads = 2}, values);
  ASSERT_EQ(outputs.size(), test.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) ExpectNear(outputs[i], test.outputs[i], test.tolerance);
}

const KernelRegistry& ReferenceKernels() {
  static const auto* kernels = [] {
    auto* registry = new KernelRegistry;
    RegisterReferenceKernels(*registry);
    return registry;
  }();
  return *kernels;
}

// Calls the portable kernel itself, with inputs and outputs of exact size next to pages without access. A
// kernel does not rely on shape inference for the fault of a case that has outputs.
void RunBetweenGuards(const Case& test, fast::simd::GuardedEdge edge) {
  TestGraph graph;
  std::vector<ir::OutputPort> ports;
  std::vector<fast::simd::GuardedArray<std::byte>> memory;
  std::vector<tensor::TensorView> inputs;
  std::vector<tensor::MutableTensorView> outputs;
  std::vector<ValueInfo> input_infos, output_infos;
  for (const CaseTensor& input : test.inputs) {
    const TensorValue& value = input.value;
    ports.push_back(input.constant ? graph.Const(value) : graph.Parameter("x", value.shape(), value.type()));
    memory.emplace_back(static_cast<int64_t>(value.byte_size()), edge);
    std::copy_n(value.bytes(), value.byte_size(), memory.back().data());
    inputs.emplace_back(value.type(), value.shape(), memory.back().data());
    input_infos.push_back({.type = value.type(), .shape = value.shape()});
  }
  const ir::NodeId node = ir::AddNode(
      *graph.graph, test.set, test.type,
      {.name = test.name, .inputs = ports, .attributes = test.attributes, .num_outputs = test.num_outputs});
  for (const TensorValue& value : test.outputs) {
    memory.emplace_back(static_cast<int64_t>(value.byte_size()), edge, std::byte{0x5A});
    outputs.emplace_back(value.type(), value.shape(), memory.back().data());
    output_infos.push_back({.type = value.type(), .shape = value.shape()});
  }
  const KernelFactory* factory = ReferenceKernels().Find(Backend::kReference, test.set, test.type);
  ASSERT_NE(factory, nullptr);
  const auto prepared =
      (*factory)({.node = &graph.graph->node(node), .inputs = input_infos, .outputs = output_infos});
  ASSERT_TRUE(prepared.has_value());
  std::vector<std::byte> scratch(prepared->scratch_bytes);
  std::vector<const tensor::TensorView*> input_pointers;
  std::vector<const tensor::MutableTensorView*> output_pointers;
  input_pointers.reserve(inputs.size());
  output_pointers.reserve(outputs.size());
  for (const tensor::TensorView& view : inputs) input_pointers.push_back(&view);
  for (const tensor::MutableTensorView& view : outputs) output_pointers.push_back(&view);
  const std::unique_ptr<KernelState> state = prepared->kernel->NewState();
  const FaultOr<Success> done = prepared->kernel->Run({.inputs = input_pointers,
                                                       .outputs = output_pointers,
                                                       .scratch = scratch.data(),
                                                       .state = state.get()});
  if (!test.fault.empty()) {
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().message.find(test.fault), std::string::npos) << done.error().message;
    return;
  }
  ASSERT_TRUE(done.ok()) << done.error().message;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tensor::MutableTensorView& view = outputs[i];
    const TensorValue result(view.type(), view.shape(),
                             Buffer::Borrow({view.bytes(), view.byte_size()}, std::make_shared<int>()));
    ExpectNear(result, test.outputs[i], test.tolerance);
  }
}

class OperationsTest : public testing::TestWithParam<size_t> {};

TEST_P(OperationsTest, ReferenceAgreesWithOpenVino) {
  RunCase(Cases()[GetParam()], Backend::kReference);
}
TEST_P(OperationsTest, OneDnnAgreesWithOpenVino) {
  RunCase(Cases()[GetParam()], Backend::kFast);
}
TEST_P(OperationsTest, ReferenceAccessesOnlyItsTensors) {
  const Case& test = Cases()[GetParam()];
  if (!test.fault.empty() && test.outputs.empty()) return;
  for (const fast::simd::GuardedEdge edge : {fast::simd::GuardedEdge::kBegin, fast::simd::GuardedEdge::kEnd})
    RunBetweenGuards(test, edge);
}

INSTANTIATE_TEST_SUITE_P(Cases, OperationsTest, testing::Range(size_t{0}, Cases().size()),
                         [](const testing::TestParamInfo<size_t>& info) { return Cases()[info.param].name; });

// Buffers of other programs have any byte; OpenVINO and NumPy treat all except 0 as true.
TEST(BooleanBytesTest, AllExceptZeroAreTrue) {
  const std::vector<std::pair<const char*, std::vector<uint8_t>>> operations = {
      {"LogicalAnd", {0, 0, 0, 1, 1, 1}},  {"LogicalOr", {0, 1, 1, 1, 1, 1}},
      {"LogicalXor", {0, 1, 1, 0, 0, 0}},  {"Equal", {1, 0, 0, 1, 1, 1}},
      {"NotEqual", {0, 1, 1, 0, 0, 0}},    {"Less", {0, 1, 0, 0, 0, 0}},
      {"LessEqual", {1, 1, 0, 1, 1, 1}},   {"Greater", {0, 0, 1, 0, 0, 0}},
      {"GreaterEqual", {1, 0, 1, 1, 1, 1}}};
  for (const auto& [type, expected] : operations) {
    SCOPED_TRACE(type);
    TestGraph graph;
    graph.Result(graph.Op("opset1", type,
                          {graph.Parameter("a", {6}, ElementType::kBoolean),
                           graph.Parameter("b", {6}, ElementType::kBoolean)}));
    const std::vector<TensorValue> outputs = RunGraph(graph.graph, {},
                                                      {TensorValue::FromBools({6}, {0, 0, 2, 2, 1, 255}),
                                                       TensorValue::FromBools({6}, {0, 4, 0, 1, 4, 255})});
    ASSERT_EQ(outputs.size(), 1u);
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(outputs[0].ElementAsDouble(i), expected[static_cast<size_t>(i)]) << i;
  }
}

TEST(OperationsTable, IsThere) {
  EXPECT_GE(Cases().size(), 600u);
}

}  // namespace
}  // namespace nnefc::runtime::kernels
