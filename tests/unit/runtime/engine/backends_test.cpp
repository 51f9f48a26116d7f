// Kernels of the fast backend that are not oneDNN primitives, against the reference backend, at extents
// around those of vectors, threads and blocks.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

TEST(PortTest, NamesOfTheLayerAndOfItsTensor) {
  const Port port{.name = "layer", .tensor_names = {"tensor:0", "other"}};
  for (const char* name : {"layer", "tensor:0", "other"}) EXPECT_TRUE(port.IsCalled(name)) << name;
  for (const char* name : {"", "tensor", "layer:0", "others"}) EXPECT_FALSE(port.IsCalled(name)) << name;
}

// Runs both backends on one thread and on three; `kernel` is the prefix of the name of the expected fast
// kernel.
void ExpectBackendsAgree(const TestGraph& graph, const std::vector<TensorValue>& inputs, double tolerance,
                         const std::string& kernel) {
  const std::vector<TensorValue> expected =
      RunGraph(graph.graph, {.backend = kernels::Backend::kReference, .threads = 2}, inputs);
  for (int threads : {1, 3}) {
    const auto executable = Compile(graph.graph, {.backend = kernels::Backend::kFast, .threads = threads});
    ASSERT_NE(executable, nullptr);
    EXPECT_NE(executable->DescribePlan().find(kernel), std::string::npos) << executable->DescribePlan();
    kernels::FaultOr<std::vector<TensorValue>> actual = Session::Create(executable)->Run(inputs);
    ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
    ASSERT_EQ(actual->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ExpectNear((*actual)[i], expected[i], tolerance);
  }
}

struct SequenceCase {
  const char* type;
  int64_t gates;
  std::vector<int64_t> lengths;
  int64_t length, inputs, hidden;
  ir::AttributeMap attributes = {};
  const char* kernel = "panels:f32";
  bool has_constant_weights = true;
};

// A bidirectional sequence in the graph; its inputs are x and the first states.
void CheckSequence(const SequenceCase& made) {
  TestGraph g;
  const auto batch = static_cast<int64_t>(made.lengths.size());
  const bool lstm = made.gates == 4;
  ir::AttributeMap attributes = made.attributes;
  attributes.Set("hidden_size", made.hidden);
  attributes.Set("direction", "bidirectional");
  std::vector<ir::OutputPort> inputs = {g.Parameter("x", {batch, made.length, made.inputs})};
  std::vector<TensorValue> values = {RandomTensor({batch, made.length, made.inputs}, 1)};
  for (int state = 0; state < (lstm ? 2 : 1); ++state) {
    inputs.push_back(g.Parameter("s" + std::to_string(state), {batch, 2, made.hidden}));
    values.push_back(RandomTensor({batch, 2, made.hidden}, 2));
  }
  inputs.push_back(g.Ints(made.lengths));
  const int64_t rows = made.gates * made.hidden;
  const bool is_linear = made.attributes.Find("linear_before_reset") != nullptr;
  const auto add_weights = [&](const std::string& name, const Shape& shape, float most) {
    if (made.has_constant_weights) return inputs.push_back(g.Weights(shape, 3, -most, most));
    inputs.push_back(g.Parameter(name, shape));
    values.push_back(RandomTensor(shape, 4, -most, most));
  };
  // Small enough that differences do not grow from step to step.
  add_weights("w", {2, rows, made.inputs}, 0.3f);
  add_weights("r", {2, rows, made.hidden}, 1 / std::sqrt(static_cast<float>(made.hidden)));
  inputs.push_back(g.Weights({2, rows + (is_linear ? made.hidden : 0)}, 5));
  const ir::OutputPort y = g.Op("opset5", made.type, inputs, attributes, lstm ? 3 : 2);
  for (int32_t i = 0; i < (lstm ? 3 : 2); ++i) g.Result({y.node, i}, "output" + std::to_string(i));
  ExpectBackendsAgree(g, values, 3e-5, made.kernel);
}

TEST(RecurrentTest, HardSigmoidAndClip) {
  ir::AttributeMap attributes;
  attributes.Set("activations", "hardsigmoid,tanh,relu");
  attributes.Set("activations_alpha", ir::Attribute::Scalars{0.3});
  attributes.Set("activations_beta", ir::Attribute::Scalars{0.4});
  attributes.Set("clip", 0.7);
  CheckSequence({"LSTMSequence", 4, {3, 5}, 5, 9, 13, attributes});
  CheckSequence({"LSTMSequence", 4, {3, 5}, 5, 9, 37, attributes});
}

// One function that is not the default, at each position, and a clip of default functions.
TEST(RecurrentTest, OneOtherActivation) {
  struct Activated {
    const char* type;
    int64_t gates;
    const char* activations;
  };
  for (const auto& [type, gates, activations] : {Activated{"LSTMSequence", 4, "relu,tanh,tanh"},
                                                 {"LSTMSequence", 4, "sigmoid,relu,tanh"},
                                                 {"LSTMSequence", 4, "sigmoid,tanh,relu"},
                                                 {"LSTMSequence", 4, "tanh,tanh,tanh"},
                                                 {"LSTMSequence", 4, "sigmoid,sigmoid,tanh"},
                                                 {"LSTMSequence", 4, "sigmoid,tanh,sigmoid"},
                                                 {"LSTMSequence", 4, "tanh,sigmoid,sigmoid"},
                                                 {"GRUSequence", 3, "tanh,sigmoid"},
                                                 {"GRUSequence", 3, "tanh,tanh"},
                                                 {"GRUSequence", 3, "sigmoid,relu"},
                                                 {"RNNSequence", 1, "sigmoid"}}) {
    SCOPED_TRACE(activations);
    CheckSequence({type, gates, {3, 5}, 5, 9, 37, With("activations", activations)});
  }
  for (const double clip : {0.2, 0.7}) {
    CheckSequence({"LSTMSequence", 4, {3, 5}, 5, 9, 37, With("clip", clip)});
    CheckSequence({"GRUSequence", 3, {3, 5}, 5, 9, 37, With("clip", clip)});
    CheckSequence({"RNNSequence", 1, {3, 5}, 5, 9, 37, With("clip", clip)});
  }
}

// The reset gate has the first function, too, if it applies to products.
TEST(RecurrentTest, ActivationsOfLinearGates) {
  for (const char* activations : {"tanh,tanh", "sigmoid,relu", "sigmoid,sigmoid", "tanh,sigmoid"}) {
    SCOPED_TRACE(activations);
    ir::AttributeMap attributes = With("linear_before_reset", true);
    attributes.Set("activations", activations);
    for (const int64_t hidden : {13, 37}) CheckSequence({"GRUSequence", 3, {3, 5}, 5, 9, hidden, attributes});
  }
}

// Each half of a bidirectional sequence has its own functions.
TEST(RecurrentTest, ActivationsOfEachDirection) {
  const auto attributes = [](const char* activations) {
    ir::AttributeMap made;
    made.Set("activations", activations);
    made.Set("activations_alpha", ir::Attribute::Scalars{0.3, 0.15});
    made.Set("activations_beta", ir::Attribute::Scalars{0.4, 0.6});
    return made;
  };
  for (int64_t hidden : {13, 37}) {
    CheckSequence({"LSTMSequence",
                   4,
                   {3, 5},
                   5,
                   9,
                   hidden,
                   attributes("hardsigmoid,tanh,relu,sigmoid,relu,hardsigmoid")});
    CheckSequence(
        {"GRUSequence", 3, {3, 5}, 5, 9, hidden, attributes("sigmoid,hardsigmoid,hardsigmoid,tanh")});
    CheckSequence({"RNNSequence", 1, {3, 5}, 5, 9, hidden, attributes("hardsigmoid,tanh")});
  }
}

// Lengths 0 and 1, and equal lengths that are not adjacent.
TEST(RecurrentTest, LengthsOfAllKinds) {
  CheckSequence({"LSTMSequence", 4, {0, 4, 4, 1, 4}, 4, 3, 7});
  CheckSequence({"GRUSequence", 3, {4, 4, 0}, 4, 3, 7});
  CheckSequence({"LSTMSequence", 4, {0, 4, 4, 1, 4}, 4, 3, 27});
  CheckSequence({"GRUSequence", 3, {4, 4, 0}, 4, 3, 27});
  CheckSequence({"RNNSequence", 1, {2, 2}, 4, 3, 65});
  // Enough sequences of one length for separate ones per thread, and too few.
  const std::vector<int64_t> lengths = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 6, 6, 1};
  CheckSequence({"LSTMSequence", 4, lengths, 9, 20, 70});
  CheckSequence({"GRUSequence", 3, lengths, 9, 20, 70});
  CheckSequence({"GRUSequence", 3, lengths, 9, 20, 70, With("linear_before_reset", true)});
  CheckSequence({"RNNSequence", 1, lengths, 9, 20, 200});
}

// More gates than the buffer has room for: several blocks of steps.
TEST(RecurrentTest, LongSequences) {
  CheckSequence({"LSTMSequence", 4, {301, 301, 280}, 301, 2, 300});
  CheckSequence({"GRUSequence", 3, {500}, 500, 3, 801});
}

// Sizes around those of panels and tiles, on one thread and on several.
TEST(RecurrentTest, SizesOfAllKinds) {
  const ir::AttributeMap linear = With("linear_before_reset", true);
  for (int64_t batch : {1, 2, 5, 8, 9, 19}) {
    for (int64_t hidden : {1, 16, 31, 64, 131, 256}) {
      SCOPED_TRACE(testing::Message() << "a batch of " << batch << ", " << hidden << " hidden");
      const std::vector<int64_t> lengths(static_cast<size_t>(batch), 6);
      CheckSequence({"LSTMSequence", 4, lengths, 6, hidden / 2 + 1, hidden});
      CheckSequence({"GRUSequence", 3, lengths, 6, 5, hidden});
      CheckSequence({"GRUSequence", 3, lengths, 6, 5, hidden, linear});
      CheckSequence({"RNNSequence", 1, lengths, 6, 5, hidden});
      if (HasFailure()) return;
    }
  }
}

TEST(RecurrentTest, WeightsThatAreNoConstants) {
  for (const auto& [type, gates] : {std::pair{"LSTMSequence", 4}, {"GRUSequence", 3}, {"RNNSequence", 1}})
    CheckSequence({type, gates, {3, 0, 5, 5}, 5, 6, 70, {}, "onednn:gemm", false});
  // States are divided into parts of 512 units.
  for (const int64_t hidden : {511, 512, 513})
    CheckSequence({"RNNSequence", 1, {3, 5}, 5, 6, hidden, {}, "onednn:gemm", false});
  const ir::AttributeMap linear = With("linear_before_reset", true);
  CheckSequence({"GRUSequence", 3, {3, 0, 5, 5}, 5, 6, 70, linear, "onednn:gemm", false});
}

// The most frequent operations of networks never run on the reference kernels.
TEST(KernelsTest, FrequentOperationsAreFast) {
  using Pairs = std::vector<std::pair<std::string_view, ir::Attribute>>;
  const auto check = [](const std::string& name, const Shape& shape, const Pairs& given,
                        const std::vector<TensorValue>& constants = {}) {
    TestGraph g;
    std::vector inputs{g.Parameter("x", shape)};
    for (const TensorValue& constant : constants) inputs.push_back(g.Const(constant));
    ir::AttributeMap attributes;
    for (const auto& [key, value] : given) attributes.Set(key, value);
    g.Result(g.Op(name, inputs, attributes));
    const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1});
    ASSERT_NE(executable, nullptr);
    EXPECT_EQ(executable->DescribePlan().find("reference"), std::string::npos) << executable->DescribePlan();
  };
  using Ints = ir::Attribute::Integers;
  const Pairs window{{"kernel", Ints{3, 3}},   {"strides", Ints{2, 2}},    {"pads_begin", Ints{1, 1}},
                     {"pads_end", Ints{1, 1}}, {"rounding_type", "floor"}, {"auto_pad", "explicit"}};
  Pairs average = window;
  average.emplace_back("exclude-pad", true);
  const Shape image{1, 32, 14, 14};
  check("MaxPool", image, window);
  check("AvgPool", image, average);
  check("SoftMax", {4, 100}, {{"axis", 1}});
  check("ReLU", image, {});
  check("Sigmoid", image, {});
  check("Add", image, {}, {RandomTensor(image, 1)});
  check("Multiply", image, {}, {RandomTensor(image, 1)});
  check("MatMul", {4, 64}, {{"transpose_b", true}}, {RandomTensor({32, 64}, 1)});
  check("ReduceMean", image, {{"keep_dims", true}}, {TensorValue::FromInts({2}, {2, 3})});
  for (const char* function : {"Exp", "Erf", "Tanh"}) check(function, image, {});
}

// All axes of the left side except the last are rows of one matrix multiplication; biases belong to its
// columns.
TEST(ProductTest, RowsOfSeveralAxes) {
  for (const bool transposed : {false, true}) {
    TestGraph g;
    auto x = g.Parameter("x", {2, 3, 5, 17});
    auto residual = g.Parameter("residual", {2, 3, 5, 9});
    ir::AttributeMap attributes;
    attributes.Set("transpose_b", transposed);
    auto y = g.Op("MatMul", {x, g.Weights(transposed ? Shape{9, 17} : Shape{17, 9}, 1)}, attributes);
    y = g.Op("Add", {y, g.Weights({9}, 2)});
    y = g.Op("opset2", "Gelu", {y});
    g.Result(g.Op("Add", {y, residual}));
    ExpectBackendsAgree(g, {RandomTensor({2, 3, 5, 17}, 3), RandomTensor({2, 3, 5, 9}, 4)}, 1e-5,
                        "MatMul+Add+Gelu+Add");
  }
}

TEST(ProductTest, SumsOverOtherAxesAreNoBiases) {
  TestGraph g;
  auto x = g.Parameter("x", {2, 3, 17});
  auto y = g.Op("MatMul", {x, g.Weights({17, 3}, 1)});
  y = g.Op("Add", {y, g.Weights({3, 1}, 2)});
  g.Result(g.Op("Multiply", {y, g.Weights({1, 1, 3}, 5)}));
  ExpectBackendsAgree(g, {RandomTensor({2, 3, 17}, 3)}, 1e-5, "MatMul");
}

struct AttentionCase {
  Shape q, k, v;
  Shape mask = {};
  ElementType mask_type = ElementType::kF32;
  bool causal = false;
  std::optional<float> scale = {};
};

void CheckAttentionBy(const AttentionCase& made, const char* kernel) {
  TestGraph g;
  std::vector<ir::OutputPort> inputs = {g.Parameter("q", made.q), g.Parameter("k", made.k),
                                        g.Parameter("v", made.v)};
  std::vector<TensorValue> values = {RandomTensor(made.q, 1), RandomTensor(made.k, 2),
                                     RandomTensor(made.v, 3)};
  if (!made.mask.empty()) {
    inputs.push_back(g.Parameter("mask", made.mask, made.mask_type));
    values.push_back(RandomTensor(made.mask, 4).ConvertedTo(made.mask_type));
    if (made.mask_type == ElementType::kBoolean) {
      std::vector<uint8_t> bits;
      for (int64_t i = 0; i < values.back().volume(); ++i) bits.push_back(i % 3 != 1);
      values.back() = TensorValue::FromBools(made.mask, bits);
    }
  } else if (made.scale) {
    inputs.push_back(g.Const(TensorValue::Scalar(kInfinity)));  // a scalar is not a mask
  }
  if (made.scale) inputs.push_back(g.Const(TensorValue::Scalar(*made.scale)));
  g.Result(g.Op("opset13", "ScaledDotProductAttention", inputs, With("causal", made.causal)));
  SCOPED_TRACE(ToString(made.q) + ToString(made.k) + ToString(made.mask));
  ExpectBackendsAgree(g, values, 3e-6, fast::simd::HasSimd() ? kernel : "onednn:attention");
}

// Once unchanged, and once with values in whole blocks. Our own microkernels pack all keys, which takes too
// long for few queries.
void CheckAttention(AttentionCase made) {
  const bool are_few = made.q[made.q.size() - 2] < 8 && made.k[made.k.size() - 2] > 64;
  const char* const kernel = are_few ? "onednn:attention" : "nnefc:attention";
  CheckAttentionBy(made, kernel);
  made.v.back() *= 16;
  CheckAttentionBy(made, kernel);
}

// The elements of values about those of a block, and the numbers of queries and keys that decide the kernel.
TEST(AttentionTest, ElementsQueriesAndKeys) {
  for (const int64_t elements : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40})
    CheckAttentionBy({{2, 3, 21, 12}, {2, 3, 70, 12}, {2, 3, 70, elements}}, "nnefc:attention");
  for (const int64_t queries : {1, 7, 8}) {
    for (const int64_t keys : {64, 65}) CheckAttention({{2, queries, 20}, {2, keys, 20}, {2, keys, 24}});
  }
}

TEST(AttentionTest, Blocks) {
  CheckAttention({{2, 3, 1}, {2, 5, 1}, {2, 5, 1}});
  CheckAttention({{2, 3, 37, 16}, {2, 3, 41, 16}, {2, 3, 41, 9}});
  CheckAttention({{1, 2, 700, 8}, {1, 2, 513, 8}, {1, 2, 513, 8}});
  CheckAttention({{1, 1, 33}, {1, 900, 33}, {1, 900, 2}});
}

TEST(AttentionTest, MoreKeysThanACacheHolds) {
  CheckAttentionBy({{1, 40, 32}, {1, 4000, 32}, {1, 4000, 32}}, "onednn:attention");
  CheckAttentionBy({{1, 300, 64}, {1, 700, 64}, {1, 700, 64}}, "nnefc:attention");
}

TEST(AttentionTest, SmallElementsInGroups) {
  CheckAttention({{4, 12, 16, 8}, {4, 12, 16, 8}, {4, 12, 16, 8}});
  CheckAttention({{35, 5, 3}, {35, 7, 3}, {35, 7, 2}, {5, 7}, ElementType::kBoolean});
  CheckAttention({.q = {2, 6, 5, 3}, .k = {2, 6, 7, 3}, .v = {2, 6, 7, 2}, .mask = {2, 1, 5, 7}});
  CheckAttention({.q = {7, 9, 3}, .k = {7, 9, 3}, .v = {7, 9, 2}, .causal = true});
}

TEST(AttentionTest, BatchesAreStretched) {
  CheckAttention({{2, 3, 7, 4}, {2, 1, 5, 4}, {1, 3, 5, 6}});
  CheckAttention({{4, 7, 4}, {3, 1, 5, 4}, {1, 5, 6}});
  // Few queries of many keys, whose batch elements are multiplied in groups unless an operand is stretched.
  CheckAttention({{6, 7, 4}, {6, 70, 4}, {6, 70, 6}});
  CheckAttention({{1, 7, 4}, {6, 70, 4}, {6, 70, 6}});
  CheckAttention({{6, 7, 4}, {1, 70, 4}, {6, 70, 6}});
  CheckAttention({{6, 7, 4}, {6, 70, 4}, {1, 70, 6}});
  CheckAttention({{2, 3, 7, 4}, {2, 1, 70, 4}, {1, 3, 70, 6}});
  CheckAttention({{2, 1, 7, 4}, {1, 3, 70, 4}, {1, 1, 70, 6}});
}

TEST(AttentionTest, Masks) {
  for (const Shape& mask : {Shape{1, 5}, Shape{7, 5}, Shape{7, 1}, Shape{2, 1, 1, 5}, Shape{1, 3, 7, 5}}) {
    CheckAttention({{2, 3, 7, 4}, {2, 3, 5, 4}, {2, 3, 5, 6}, mask});
    // Causal attention has a mask of its own.
    CheckAttention({{2, 3, 7, 4}, {2, 3, 5, 4}, {2, 3, 5, 6}, mask, ElementType::kF32, true});
    CheckAttention({{2, 3, 7, 4}, {2, 3, 5, 4}, {2, 3, 5, 6}, mask, ElementType::kBoolean});
  }
}

TEST(AttentionTest, MasksWithBatchesOfTheirOwn) {
  CheckAttention({{1, 3, 7, 4}, {1, 3, 5, 4}, {1, 3, 5, 6}, {2, 1, 7, 5}});
  CheckAttention({{3, 7, 4}, {3, 5, 4}, {1, 5, 6}, {2, 3, 1, 5}});
  CheckAttention({{1, 7, 4}, {1, 5, 4}, {1, 5, 6}, {3, 7, 5}, ElementType::kBoolean});
}

TEST(AttentionTest, MasksOfFewQueries) {
  for (const Shape& mask : {Shape{1, 70}, Shape{7, 70}, Shape{7, 1}, Shape{6, 1, 70}, Shape{2, 6, 7, 70}}) {
    CheckAttention({{6, 7, 4}, {6, 70, 4}, {6, 70, 6}, mask});
    CheckAttention({{6, 7, 4}, {6, 70, 4}, {6, 70, 6}, mask, ElementType::kBoolean});
    CheckAttention({{6, 7, 4}, {6, 70, 4}, {6, 70, 6}, mask, ElementType::kF32, true});
  }
}

// Masks of several blocks of queries, in place and not.
TEST(AttentionTest, MasksOfManyQueries) {
  for (const Shape& mask : {Shape{300, 40}, Shape{300, 1}, Shape{1, 40}, Shape{1, 1}}) {
    CheckAttention({{2, 300, 16}, {2, 40, 16}, {2, 40, 6}, mask});
    CheckAttention({{2, 300, 16}, {2, 40, 16}, {2, 40, 6}, mask, ElementType::kBoolean});
  }
  CheckAttention({.q = {2, 300, 16}, .k = {2, 310, 16}, .v = {2, 310, 6}, .causal = true});
}

TEST(AttentionTest, CausalAndScaled) {
  CheckAttention({.q = {2, 70, 4}, .k = {2, 70, 4}, .v = {2, 70, 3}, .causal = true});
  CheckAttention({.q = {2, 3, 4}, .k = {2, 70, 4}, .v = {2, 70, 3}, .causal = true, .scale = 2.5F});
  CheckAttention({.q = {2, 70, 4}, .k = {2, 3, 4}, .v = {2, 3, 3}, .scale = -0.5F});
}

// A sum over no keys is 0. Operands without other elements have results without elements.
TEST(AttentionTest, EmptyOperands) {
  struct Empty {
    Shape q, k, v;
  };
  for (const auto& [q, k, v] :
       {Empty{{2, 3, 4}, {2, 0, 4}, {2, 0, 16}}, Empty{{2, 3, 4}, {2, 5, 4}, {2, 5, 0}},
        Empty{{2, 0, 4}, {2, 5, 4}, {2, 5, 16}}, Empty{{0, 3, 4}, {0, 5, 4}, {0, 5, 16}}}) {
    for (const kernels::Backend backend : kBackends) {
      SCOPED_TRACE(ToString(q) + ToString(k) + ToString(v));
      TestGraph g;
      const std::vector<ir::OutputPort> inputs = {g.Parameter("q", q), g.Parameter("k", k),
                                                  g.Parameter("v", v)};
      g.Result(g.Op("opset13", "ScaledDotProductAttention", inputs, With("causal", false)));
      const auto made = RunGraph(g.graph, {.backend = backend, .threads = 2},
                                 {RandomTensor(q, 1), RandomTensor(k, 2), RandomTensor(v, 3)});
      ASSERT_EQ(made.size(), 1U);
      ASSERT_EQ(ToString(made[0].shape()), ToString({q[0], q[1], v[2]}));
      for (int64_t i = 0; i < made[0].volume(); ++i) EXPECT_EQ(made[0].ElementAsDouble(i), 0);
    }
  }
}

struct RowCase {
  const char* set;
  const char* type;
  ir::AttributeMap attributes = {};
};

// Checks an operation of x and constant axes.
void CheckRows(const RowCase& made, const Shape& shape, const std::vector<int64_t>& axes) {
  TestGraph g;
  const ir::OutputPort x = g.Parameter("x", shape);
  g.Result(g.Op(made.set, made.type, {x, g.Ints(axes)}, made.attributes));
  const TensorValue value = RandomTensor(shape, 7, -3, 5);
  SCOPED_TRACE(std::string(made.type) + " of " + ToString(shape));
  ExpectBackendsAgree(g, {value}, 2e-6, ":rows");
}

// Rows that are not a whole number of vectors, columns that are not a whole number of parts.
TEST(RowTest, Reductions) {
  const ir::AttributeMap keep = With("keep_dims", true);
  for (const RowCase& made :
       {RowCase{"opset1", "ReduceSum"}, RowCase{"opset1", "ReduceMean", keep},
        RowCase{"opset1", "ReduceProd"}, RowCase{"opset1", "ReduceMax", keep}, RowCase{"opset1", "ReduceMin"},
        RowCase{"opset4", "ReduceL1"}, RowCase{"opset4", "ReduceL2", keep}}) {
    CheckRows(made, {3, 5, 37}, {2});
    CheckRows(made, {3, 5, 37}, {1, -1});
    CheckRows(made, {1, 1, 1}, {0, 2});
    CheckRows(made, {2, 9, 1, 131}, {1, 2});
    CheckRows(made, {17, 3}, {0});
  }
}

// Rows that are divided among threads.
TEST(RowTest, ExtremesOfLongRows) {
  for (const char* type : {"ReduceMax", "ReduceMin"}) {
    CheckRows({"opset1", type}, {40011}, {0});
    CheckRows({"opset1", type}, {3, 40011}, {1});
  }
}

TEST(RowTest, LongSumsAreExact) {
  CheckRows({"opset1", "ReduceSum"}, {2, 300007}, {1});
  CheckRows({"opset1", "ReduceMean"}, {100003, 3}, {0});
}

TEST(RowTest, Normalisations) {
  for (const bool variance : {false, true}) {
    for (const char* mode : {"inside_sqrt", "outside_sqrt"}) {
      ir::AttributeMap attributes = With("eps", 1e-2);
      attributes.Set("normalize_variance", variance);
      attributes.Set("eps_mode", mode);
      CheckRows({"opset6", "MVN", attributes}, {3, 5, 37}, {2});
      CheckRows({"opset6", "MVN", attributes}, {2, 3, 5, 7}, {1, 2, 3});
      CheckRows({"opset6", "MVN", attributes}, {2, 11, 3, 100}, {1});
      CheckRows({"opset6", "MVN", attributes}, {9, 1, 131}, {0});
    }
  }
  for (const char* mode : {"add", "max"}) {
    ir::AttributeMap attributes = With("eps", 1e-3);
    attributes.Set("eps_mode", mode);
    CheckRows({"opset1", "NormalizeL2", attributes}, {3, 5, 37}, {2});
    CheckRows({"opset1", "NormalizeL2", attributes}, {2, 3, 9, 15}, {1});
  }
}

TEST(RowTest, FunctionsAlongAnAxis) {
  for (const char* type : {"SoftMax", "LogSoftmax"}) {
    for (const auto& [shape, axis] : std::initializer_list<std::pair<Shape, int64_t>>{{{2, 7, 133}, 1},
                                                                                      {{2, 7, 133}, 2},
                                                                                      {{300, 64}, 1},
                                                                                      {{300, 65}, -1},
                                                                                      {{20000}, 0},
                                                                                      {{65, 3}, 0}}) {
      TestGraph g;
      const ir::OutputPort x = g.Parameter("x", shape);
      g.Result(g.Op(type == std::string("SoftMax") ? "opset8" : "opset5", type, {x}, With("axis", axis)));
      ExpectBackendsAgree(g, {RandomTensor(shape, 7, -30, 30)}, 2e-6, "nnefc:rows");
    }
  }
  TestGraph g;
  g.Result(g.Op("Erf", {g.Parameter("x", {5, 1001})}));
  ExpectBackendsAgree(g, {RandomTensor({5, 1001}, 7, -5, 5)}, 1e-6, "nnefc:vectors");
}

TEST(RowTest, PlanesOfChannels) {
  TestGraph g;
  const ir::OutputPort x = g.Parameter("x", {2, 6, 3, 5});
  ir::AttributeMap attributes = With("num_groups", int64_t{3});
  attributes.Set("epsilon", 1e-3);
  const ir::OutputPort y =
      g.Op("opset12", "GroupNormalization", {x, g.Weights({6}, 1), g.Weights({6}, 2)}, attributes);
  g.Result(g.Op("opset5", "BatchNormInference",
                {y, g.Weights({6}, 3), g.Weights({6}, 4), g.Weights({6}, 5), g.Weights({6}, 6, 0.1f, 2)},
                With("epsilon", 1e-3)));
  ExpectBackendsAgree(g, {RandomTensor({2, 6, 3, 5}, 7, -3, 5)}, 2e-6, "nnefc:rows");
}

}  // namespace
}  // namespace nnefc::runtime::engine
