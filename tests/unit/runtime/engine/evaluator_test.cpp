// Evaluation at compile time has the numbers of a run.

#include <cstring>

#include "runtime/engine/evaluate.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

// Compares a node that a run computes from parameters with the evaluator's result from constants.
void ExpectSame(std::string_view operation, const std::vector<TensorValue>& inputs,
                const ir::AttributeMap& attributes = {}) {
  TestGraph g;
  std::vector<ir::OutputPort> ports;
  ports.reserve(inputs.size());
  for (const TensorValue& input : inputs) ports.push_back(g.Parameter("x", input.shape(), input.type()));
  const ir::OutputPort made = g.Op(operation, ports, attributes);
  g.Result(made);
  const std::vector<TensorValue> ran = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  const ir::Node& node = g.graph->node(made.node);
  const auto evaluated = ReferenceEvaluator()(node, node.outputs(), inputs);
  ASSERT_TRUE(evaluated.has_value()) << operation;
  ASSERT_EQ(ran.size(), 1u);
  const TensorValue& one = evaluated->front();
  ASSERT_EQ(one.type(), ran[0].type());
  ASSERT_EQ(one.shape(), ran[0].shape());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(one.bytes()), one.byte_size()),
            std::string(reinterpret_cast<const char*>(ran[0].bytes()), ran[0].byte_size()))
      << operation << " of " << Name(inputs[0].type());
}

TEST(EvaluatorTest, EveryElementType) {
  for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                           ElementType::kI64, ElementType::kI32, ElementType::kI16, ElementType::kI8,
                           ElementType::kU64, ElementType::kU32, ElementType::kU16, ElementType::kU8}) {
    const TensorValue a = TensorValue::FromInts({4}, {3, 7, 100, 1}).ConvertedTo(type);
    const TensorValue b = TensorValue::FromInts({4}, {2, 7, 3, 100}).ConvertedTo(type);
    for (const char* operation : {"Add", "Multiply", "Divide", "Maximum", "Less"})
      ExpectSame(operation, {a, b}, With("auto_broadcast", "numpy"));
    ExpectSame("Convert", {a}, With("destination_type", ElementType::kF32));
  }
  const TensorValue logicals = TensorValue::FromBools({2}, {1, 0});
  ExpectSame("LogicalNot", {logicals});
  ExpectSame("Convert", {logicals}, With("destination_type", ElementType::kU8));
}

// 16-bit floats stay compressed as f32, and are converted to other types.
TEST(EvaluatorTest, ConversionsOf16BitFloats) {
  for (const ElementType from : {ElementType::kF16, ElementType::kBF16}) {
    const TensorValue value = TensorValue::FromFloats({4}, {1, -2.5, 0, 100}).ConvertedTo(from);
    for (const ElementType to : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                                 ElementType::kI32, ElementType::kI64})
      ExpectSame("Convert", {value}, With("destination_type", to));
  }
}

// Large results that can be deferred use no memory before they are read.
TEST(EvaluatorTest, LargeNumbersAreComputedWhenTheyAreRead) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  const TensorValue codes = RandomTensor({300, 100}, 1, -100, 100).ConvertedTo(ElementType::kI8);
  TestGraph g;
  const ir::OutputPort c = g.Parameter("c", {300, 100}, ElementType::kI8), x = g.Parameter("x", {300, 100});
  const ir::OutputPort row = g.Parameter("r", {100});
  const auto node = [&](ir::OutputPort port) -> const ir::Node& { return g.graph->node(port.node); };
  const ir::Node& convert = node(g.Op("Convert", {c}, With("destination_type", ElementType::kF32)));
  const ir::Node& multiply = node(g.Op("Multiply", {x, row}));
  const ir::Node& divide = node(g.Op("Divide", {x, row}));
  const auto numbers = EvaluateLater(convert, TestRegistry(), {codes}, kernels);
  ASSERT_TRUE(numbers.has_value());
  const TensorValue factors = RandomTensor({100}, 2);
  std::optional<TensorValue> product;
  {
    TestGraph gone;  // deferred results do not need the graph
    const ir::OutputPort a = gone.Parameter("x", {300, 100}), b = gone.Parameter("r", {100});
    product = EvaluateLater(gone.graph->node(gone.Op("Multiply", {a, b}).node), TestRegistry(),
                            {*numbers, factors}, kernels);
  }
  ASSERT_TRUE(product.has_value());
  const TensorValue loaded = product->Loaded();
  EXPECT_TRUE(product->buffer()->IsToCompute());
  EXPECT_TRUE(numbers->buffer()->IsToCompute());
  for (int64_t i = 0; i < codes.volume(); ++i) {
    const auto expected =
        static_cast<float>(codes.ElementAsInt(i)) * factors.elements<float>()[static_cast<size_t>(i % 100)];
    ASSERT_EQ(loaded.ElementAsDouble(i), expected);
  }
  // A range of rows, and ranges of bytes that begin or end at a row of 400 bytes, or do not.
  const TensorValue rows = product->LoadedRows(17, 250);
  EXPECT_EQ(rows, loaded.LoadedRows(17, 250));
  constexpr size_t kRowBytes = 400, kBytes = 300 * kRowBytes;
  for (const auto& [begin, size] : std::vector<std::pair<size_t, size_t>>{{5003, 4321},
                                                                          {12 * kRowBytes, 4321},
                                                                          {5003, 10 * kRowBytes},
                                                                          {5003, 11 * kRowBytes - 203},
                                                                          {12 * kRowBytes, 10 * kRowBytes},
                                                                          {12 * kRowBytes + 1, 10},
                                                                          {12 * kRowBytes, kRowBytes + 1},
                                                                          {kBytes - kRowBytes, kRowBytes - 1},
                                                                          {0, kBytes}}) {
    std::vector<std::byte> bytes(size + kRowBytes, std::byte{0x5A});
    product->buffer()->CopyPart(std::span(bytes).first(size), begin);
    EXPECT_EQ(std::memcmp(bytes.data(), loaded.bytes() + begin, size), 0) << begin << " " << size;
    EXPECT_EQ(std::count(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(), std::byte{0x5A}),
              static_cast<std::ptrdiff_t>(kRowBytes))
        << begin << " " << size;
  }
  EXPECT_TRUE(product->buffer()->IsToCompute());
  EXPECT_FALSE(EvaluateLater(divide, TestRegistry(), {*numbers, factors}, kernels).has_value());
  // Small results are computed at once.
  const ir::Node& small = node(g.Op("Add", {row, row}));
  EXPECT_FALSE(EvaluateLater(small, TestRegistry(), {factors, factors}, kernels).has_value());
  EXPECT_TRUE(EvaluateLater(multiply, TestRegistry(), {*numbers, factors}, kernels).has_value());
}

// A deferred result may have rows of more than the bytes that are computed at once.
TEST(EvaluatorTest, LongRowsOfDeferredResults) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  for (const int64_t extent : {65535, 65536, 65537, 200000}) {
    TestGraph g;
    const ir::OutputPort x = g.Parameter("x", {3, extent});
    const TensorValue numbers = RandomTensor({3, extent}, 1);
    const auto sum =
        EvaluateLater(g.graph->node(g.Op("Add", {x, x}).node), TestRegistry(), {numbers, numbers}, kernels);
    ASSERT_TRUE(sum.has_value()) << extent;
    const TensorValue loaded = sum->Loaded();
    for (int64_t i = 0; i < numbers.volume(); ++i)
      ASSERT_EQ(loaded.ElementAsDouble(i), 2 * numbers.ElementAsDouble(i)) << i;
  }
}

// Only results of f32 are deferred.
TEST(EvaluatorTest, LargeIntegersAreComputedAtOnce) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  for (const ElementType type : {ElementType::kI32, ElementType::kF64, ElementType::kF32}) {
    TestGraph g;
    const ir::OutputPort x = g.Parameter("x", {300, 100}, type);
    const ir::Node& sum = g.graph->node(g.Op("Add", {x, x}).node);
    const TensorValue ones = TensorValue::Filled(type, {300, 100}, 1);
    EXPECT_EQ(EvaluateLater(sum, TestRegistry(), {ones, ones}, kernels).has_value(),
              type == ElementType::kF32);
  }
}

// The recipe of a deferred result, a part of its key in a plan cache, differs by all that its numbers depend
// on, apart from the inputs themselves.
TEST(EvaluatorTest, RecipesOfDeferredResults) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  const auto recipe = [&](const std::string& operation, const Shape& left, const Shape& right,
                          ElementType type = ElementType::kF32) {
    TestGraph g;
    const bool is_convert = operation == "Convert";
    const ir::OutputPort a = g.Parameter("a", left, type), b = g.Parameter("b", right);
    const ir::OutputPort y = is_convert ? g.Op("Convert", {a}, With("destination_type", ElementType::kF32))
                                        : g.Op(operation, {a, b}, With("auto_broadcast", "numpy"));
    std::vector<TensorValue> values = {TensorValue::Filled(type, left, 1)};
    if (!is_convert) values.push_back(TensorValue::Filled(ElementType::kF32, right, 1));
    const auto later = EvaluateLater(g.graph->node(y.node), TestRegistry(), values, kernels);
    EXPECT_TRUE(later.has_value()) << operation;
    if (!later || later->buffer()->recipe() == nullptr) return Digest();
    EXPECT_EQ(later->buffer()->recipe()->from.size(), values.size());
    EXPECT_EQ(later->buffer()->recipe()->from[0], values[0].buffer());
    return later->buffer()->recipe()->what;
  };
  const Shape whole = {128, 256}, other = {256, 128}, row = {256}, column = {128, 1};
  const std::vector<Digest> all = {recipe("Add", whole, row),
                                   recipe("Multiply", whole, row),
                                   recipe("Subtract", whole, row),
                                   recipe("Add", whole, column),
                                   recipe("Add", whole, whole),
                                   recipe("Add", other, other),
                                   recipe("Convert", whole, row, ElementType::kI8),
                                   recipe("Convert", whole, row, ElementType::kU8),
                                   recipe("Convert", other, row, ElementType::kI8)};
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_FALSE(all[i] == Digest()) << i;
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i] == all[j]) << i << " " << j;
  }
  EXPECT_TRUE(recipe("Add", whole, row) == all[0]);
}

// Results of 64 KiB and more are deferred.
TEST(EvaluatorTest, BytesOfDeferredResults) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  for (const int64_t rows : {127, 128, 129}) {
    TestGraph g;
    const ir::OutputPort c = g.Parameter("c", {rows, 128}, ElementType::kI8);
    const ir::OutputPort f = g.Op("Convert", {c}, With("destination_type", ElementType::kF32));
    const auto later = EvaluateLater(g.graph->node(f.node), TestRegistry(),
                                     {TensorValue::Filled(ElementType::kI8, {rows, 128}, 3)}, kernels);
    EXPECT_EQ(later.has_value(), rows * 128 * 4 >= 65536) << rows;
    if (later) {
      EXPECT_EQ(later->Loaded(), TensorValue::Filled(ElementType::kF32, {rows, 128}, 3));
    }
  }
}

TEST(EvaluatorTest, InfinitiesAndNaN) {
  const TensorValue x = TensorValue::FromFloats({6}, {kNan, kInfinity, -kInfinity, 0.0F, -0.0F, -1.0F});
  for (const char* operation : {"Sqrt", "Log", "Exp", "Negative", "Sigmoid", "ReLU", "Tanh"})
    ExpectSame(operation, {x});
  const TensorValue y = TensorValue::FromFloats({6}, {1, kInfinity, kInfinity, 0.0F, kInfinity, kNan});
  for (const char* operation : {"Add", "Multiply", "Divide", "Maximum", "Power"})
    ExpectSame(operation, {x, y}, With("auto_broadcast", "numpy"));
}

// Only conversions of 16-bit floats are deferred, and not other operations from them to f32.
TEST(EvaluatorTest, RangesOfHalfNumbers) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32}) {
    std::vector<TensorValue> inputs;
    TestGraph g;
    std::vector<ir::OutputPort> ports;
    for (const float number : {1.0F, 4.0F, 1.5F}) {
      inputs.push_back(TensorValue::FromFloats({}, {number}).ConvertedTo(type));
      ports.push_back(g.Const(inputs.back()));
    }
    const ir::Node& node =
        g.graph->node(g.Op("opset4", "Range", ports, With("output_type", ElementType::kF32)).node);
    const auto evaluated = ReferenceEvaluator()(node, node.outputs(), inputs);
    ASSERT_TRUE(evaluated.has_value());
    EXPECT_EQ(evaluated->front(), TensorValue::FromFloats({2}, {1, 2.5F}));
  }
}

// Conversions of 16-bit floats stay compressed, whatever follows the inputs of the node in memory.
TEST(EvaluatorTest, HalfNumbersStayCompressed) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  const TensorValue numbers = RandomTensor({300, 100}, 1);
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF64}) {
    TestGraph g;
    const ir::OutputPort x = g.Parameter("x", {300, 100}, type);
    const ir::Node& convert =
        g.graph->node(g.Op("Convert", {x}, With("destination_type", ElementType::kF32)).node);
    const std::vector<TensorValue> values = {numbers.ConvertedTo(type), numbers};
    const auto later = EvaluateLater(convert, TestRegistry(), llvm::ArrayRef(values).take_front(1), kernels);
    EXPECT_EQ(later.has_value(), type == ElementType::kF64) << Name(type);
    const auto now = EvaluateNode(convert, convert.outputs(), llvm::ArrayRef(values).take_front(1), kernels);
    ASSERT_TRUE(now.ok());
    EXPECT_EQ(now->front().buffer()->compressed() != nullptr, type != ElementType::kF64) << Name(type);
  }
}

TEST(EvaluatorTest, ResultsOfUnknownTypesAndShapes) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  TestGraph g;
  const ir::OutputPort x = g.Parameter("x", {3});
  const ir::Node& node = g.graph->node(g.Op("Negative", {x}).node);
  const std::vector<TensorValue> inputs = {TensorValue::FromFloats({3}, {1, 2, 3})};
  ir::Output output = node.output();
  const auto known = EvaluateNode(node, {output}, inputs, kernels);
  ASSERT_TRUE(known.ok()) << known.error().message;
  EXPECT_EQ(known->front(), TensorValue::FromFloats({3}, {-1, -2, -3}));
  output.type = ElementType::kDynamic;
  const auto of_any_type = EvaluateNode(node, {output}, inputs, kernels);
  ASSERT_FALSE(of_any_type.ok());
  EXPECT_EQ(of_any_type.error().message, "the shape of its result is not known");
  output = node.output();
  output.shape = ir::PartialShape();
  const auto of_any_shape = EvaluateNode(node, {output}, inputs, kernels);
  ASSERT_FALSE(of_any_shape.ok());
  EXPECT_EQ(of_any_shape.error().message, "the shape of its result is not known");
  // A view of its input has a shape, too.
  const ir::OutputPort one = g.Parameter("one", {1, 3});
  const ir::Node& squeezed =
      g.graph->node(g.Op("Squeeze", {one, g.Const(TensorValue::FromInts({1}, {0}))}).node);
  const std::vector<TensorValue> rows = {TensorValue::FromFloats({1, 3}, {1, 2, 3}),
                                         TensorValue::FromInts({1}, {0})};
  const auto view = EvaluateNode(squeezed, squeezed.outputs(), rows, kernels);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->front(), inputs[0]);
  const auto view_of_any_shape = EvaluateNode(squeezed, {output}, rows, kernels);
  ASSERT_FALSE(view_of_any_shape.ok());
  EXPECT_EQ(view_of_any_shape.error().message, "the shape of its result is not known");
}

// Elements of types without kernels are converted by themselves.
TEST(EvaluatorTest, ConversionsOfStoredTypes) {
  const std::vector<float> numbers = {0, 1, 2, 3};
  for (const ElementType from : {ElementType::kU4, ElementType::kI4, ElementType::kU2}) {
    const TensorValue value = TensorValue::FromFloats({4}, numbers).ConvertedTo(from);
    TestGraph g;
    const auto x = g.Parameter("x", {4}, from);
    for (const ElementType to : {ElementType::kF32, ElementType::kI64, ElementType::kU8}) {
      if (from == ElementType::kI4 && to == ElementType::kU8) continue;
      const ir::Node& node = g.graph->node(g.Op("Convert", {x}, With("destination_type", to)).node);
      const auto values = ReferenceEvaluator()(node, node.outputs(), {value});
      ASSERT_TRUE(values.has_value()) << Name(from);
      EXPECT_EQ(values->front(), TensorValue::FromFloats({4}, numbers).ConvertedTo(to))
          << Name(from) << Name(to);
    }
  }
}

// A view of a value shares its bytes, also if only its rank differs.
TEST(EvaluatorTest, ViewsShareTheirInput) {
  TestGraph g;
  const ir::OutputPort x = g.Parameter("x", {1, 6});
  const TensorValue rows = RandomTensor({1, 6}, 1), axis = TensorValue::FromInts({1}, {0}),
                    shape = TensorValue::FromInts({2}, {2, 3});
  const auto evaluated = [&](ir::OutputPort port, const TensorValue& second) {
    const ir::Node& node = g.graph->node(port.node);
    const auto values = ReferenceEvaluator()(node, node.outputs(), {rows, second});
    return values ? values->front() : TensorValue();
  };
  const TensorValue list = evaluated(g.Op("Squeeze", {x, g.Const(axis)}), axis);
  EXPECT_EQ(list, rows.Reshaped({6}));
  EXPECT_EQ(list.buffer(), rows.buffer());
  const TensorValue pairs =
      evaluated(g.Op("Reshape", {x, g.Const(shape)}, With("special_zero", false)), shape);
  EXPECT_EQ(pairs, rows.Reshaped({2, 3}));
  EXPECT_EQ(pairs.buffer(), rows.buffer());
}

// Values that the inference does not know from the inputs of a run either.
TEST(EvaluatorTest, ShapesThatNoRunKnows) {
  kernels::KernelRegistry kernels;
  kernels::RegisterReferenceKernels(kernels);
  ir::OpRegistry registry(&TestRegistry());
  ir::OpInfo any = ForeignOp("Any");
  any.infer = [](ir::InferContext& context) {
    context.SetOutput(0, context.input(0).type, ir::PartialShape());
  };
  registry.Add(any);
  registry.Add(ForeignOp("Same"));
  TestGraph g;
  g.graph = std::make_shared<ir::Graph>(&registry);
  const ir::OutputPort x = g.Parameter("x", {3});
  const std::vector<TensorValue> inputs = {RandomTensor({3}, 1)};
  const auto fault = [&](const char* name, size_t limit) {
    const ir::Node& node = g.graph->node(g.Op("acme", name, {x}).node);
    const auto values = EvaluateDynamicNode(node, inputs, kernels, limit);
    return values ? "" : values.error().message;
  };
  const std::string too_large =
      "a result of shape [3] takes more memory than is allowed; `--max-memory` raises the limit";
  EXPECT_EQ(fault("Any", 0), "the shape of its result is not known");
  EXPECT_EQ(fault("Same", 11), too_large);
  EXPECT_EQ(fault("Same", 12), "there is no kernel for it");
  // Nor is a result of unknown extents deferred.
  const ir::OutputPort rows =
      g.PartialParameter("rows", ir::PartialShape({ir::Dim(), ir::Dim(100)}), ElementType::kI8);
  const ir::Node& convert =
      g.graph->node(g.Op("Convert", {rows}, With("destination_type", ElementType::kF32)).node);
  const TensorValue codes = RandomTensor({300, 100}, 1, -100, 100).ConvertedTo(ElementType::kI8);
  EXPECT_FALSE(EvaluateLater(convert, registry, {codes}, kernels));
}

// A kernel is made for the types and shapes of the operands and results.
TEST(EvaluatorTest, RequestsOfKernels) {
  kernels::KernelRegistry reference;
  kernels::RegisterReferenceKernels(reference);
  static std::vector<std::string> requested;
  static const kernels::KernelFactory* add = nullptr;
  add = reference.Find(kernels::Backend::kReference, "opset1", "Add");
  ASSERT_NE(add, nullptr);
  kernels::KernelRegistry noting;
  noting.Add(kernels::Backend::kReference, {"opset1"}, "Add", [](const kernels::KernelRequest& request) {
    for (const auto& values : {request.inputs, request.outputs}) {
      for (const kernels::ValueInfo& value : values)
        requested.push_back(std::string(Name(value.type)) + ToString(value.shape));
    }
    return (*add)(request);
  });
  TestGraph g;
  const ir::Node& node = g.graph->node(g.Op("Add", {g.Parameter("x", {2, 3}), g.Parameter("y", {3})}).node);
  const auto sum =
      EvaluateNode(node, node.outputs(), {RandomTensor({2, 3}, 1), RandomTensor({3}, 2)}, noting);
  ASSERT_TRUE(sum.ok()) << sum.error().message;
  EXPECT_EQ(requested, (std::vector<std::string>{"f32[2,3]", "f32[3]", "f32[2,3]"}));
}

TEST(EvaluatorTest, WhatFailsIsLeft) {
  TestGraph g;
  const auto x = g.Parameter("x", {3});
  const auto indices = g.Parameter("i", {1}, ElementType::kI64);
  const auto axis = g.Const(TensorValue::FromInts({}, {0}));
  const ir::Node& gather =
      g.graph->node(g.Op("opset8", "Gather", {x, indices, axis}, With("batch_dims", 0)).node);
  const auto at = [&](int64_t index) {
    const std::vector<TensorValue> inputs = {TensorValue::FromFloats({3}, {1, 2, 3}),
                                             TensorValue::FromInts({1}, {index}),
                                             TensorValue::FromInts({}, {0})};
    return ReferenceEvaluator()(gather, gather.outputs(), inputs);
  };
  ASSERT_TRUE(at(2).has_value());
  EXPECT_EQ(at(2)->front(), TensorValue::FromFloats({1}, {3}));
  EXPECT_FALSE(at(7).has_value());  // out of range of the axis
}

}  // namespace
}  // namespace nnefc::runtime::engine
