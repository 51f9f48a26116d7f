// Quantizations to 256 values: ranges, scales and zero points by their definitions.

#include "compiler/ir/ops/arithmetic/quantized_values.h"

#include <limits>

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops {
namespace {

AttributeMap Attributes(std::initializer_list<std::pair<const char*, Attribute>> entries) {
  AttributeMap attributes;
  for (const auto& [name, value] : entries) attributes.Set(name, value);
  return attributes;
}

// Returns "low..high scale zero" of a node with these other inputs, or "none".
std::string Quantization(std::string_view set, std::string_view name, AttributeMap attributes,
                         const std::vector<float>& limits) {
  Graph graph(&StandardOps(), "g");
  const NodeId node = AddNode(graph, set, name, {.name = "q", .attributes = std::move(attributes)});
  std::vector<TensorValue> values;
  values.reserve(limits.size());
  for (const float limit : limits) values.push_back(TensorValue::FromFloats({1}, {limit}));
  std::vector<const TensorValue*> pointers;
  pointers.reserve(values.size());
  for (const TensorValue& value : values) pointers.push_back(&value);
  const auto found = LinearQuantizationOf(graph.node(node), pointers);
  if (!found) return "none";
  return fmt::format("{}..{} {} {}", found->low, found->high, found->scale, found->zero);
}

std::string FakeQuantize(const std::vector<float>& limits, int64_t levels = 256) {
  return Quantization("opset1", "FakeQuantize", Attributes({{"levels", levels}}), limits);
}

TEST(QuantizedValues, RangesOfFakeQuantize) {
  EXPECT_EQ(FakeQuantize({0, 255, 0, 255}), "0..255 1 0");
  EXPECT_EQ(FakeQuantize({-128, 127, -128, 127}), "-128..127 1 128");
  EXPECT_EQ(FakeQuantize({0, 2, 0, 510}), "0..2 2 0");
  EXPECT_EQ(FakeQuantize({-510, 0, -510, 0}), "-510..0 2 255");
  for (const int64_t levels : {255, 257}) EXPECT_EQ(FakeQuantize({0, 255, 0, 255}, levels), "none");
  // Zero is one of the values.
  EXPECT_EQ(FakeQuantize({1, 256, 1, 256}), "none");
  EXPECT_EQ(FakeQuantize({-256, -1, -256, -1}), "none");
  EXPECT_EQ(FakeQuantize({-0.5F, 254.5F, -0.5F, 254.5F}), "none");
  EXPECT_EQ(FakeQuantize({-10.0009F, 244.9991F, -10.0009F, 244.9991F}), "-10.0009..244.9991 1 10");
  EXPECT_EQ(FakeQuantize({-9.9991F, 245.0009F, -9.9991F, 245.0009F}), "-9.9991..245.0009 1 10");
  EXPECT_EQ(FakeQuantize({-10.0015F, 244.9985F, -10.0015F, 244.9985F}), "none");
  EXPECT_EQ(FakeQuantize({-9.9985F, 245.0015F, -9.9985F, 245.0015F}), "none");
  EXPECT_EQ(FakeQuantize({0.0005F, 255.0005F, 0.0005F, 255.0005F}), "0.0005..255.0005 1 0");
  EXPECT_EQ(FakeQuantize({0.002F, 255.002F, 0.002F, 255.002F}), "none");
  EXPECT_EQ(FakeQuantize({-255.0005F, -0.0005F, -255.0005F, -0.0005F}), "-255.0005..-0.0005 1 255");
  EXPECT_EQ(FakeQuantize({-255.002F, -0.002F, -255.002F, -0.002F}), "none");
  // With the scale 1000, the distance of zero from a value is just the tolerance.
  EXPECT_EQ(FakeQuantize({1, 255001, 1, 255001}), "none");
  EXPECT_EQ(FakeQuantize({-1, 254999, -1, 254999}), "-1..254999 1000 0");
  // Ranges are not empty, reversed or too narrow.
  EXPECT_EQ(FakeQuantize({0, 0, 0, 255}), "none");
  EXPECT_EQ(FakeQuantize({1, 0, 0, 255}), "none");
  EXPECT_EQ(FakeQuantize({0, 1, 0, 0}), "none");
  EXPECT_EQ(FakeQuantize({0, 1, 255, 0}), "none");
  EXPECT_EQ(FakeQuantize({0, 1e-31F, 0, 255}), "none");
  EXPECT_EQ(FakeQuantize({0, 1, 0, 2.5e-28F}), "none");
  EXPECT_NE(FakeQuantize({0, 1, 0, 2.6e-28F}), "none");
  for (const float other : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    for (size_t i = 0; i < 4; ++i) {
      std::vector<float> limits = {-128, 127, -128, 127};
      limits[i] = other;
      EXPECT_EQ(FakeQuantize(limits), "none") << i << " " << other;
    }
  }
}

// 4.9.5: `min_max_linear_quantize` and `zero_point_linear_quantize` of 8 bits that have 256 steps.
TEST(QuantizedValues, QuantizationsOfTheStandard) {
  const auto min_max = [](int64_t bits, bool is_signed, bool is_symmetric) {
    return Quantization(kNnefSet, "min_max_linear_quantize",
                        Attributes({{"bits", bits}, {"signed", is_signed}, {"symmetric", is_symmetric}}),
                        {-128, 127});
  };
  EXPECT_EQ(min_max(8, false, false), "-128..127 1 128");
  EXPECT_EQ(min_max(8, true, false), "-128..127 1 128");
  EXPECT_EQ(min_max(8, false, true), "-128..127 1 128");
  EXPECT_EQ(min_max(8, true, true), "none");
  for (const int64_t bits : {7, 9}) EXPECT_EQ(min_max(bits, false, false), "none");
  const auto zero_point = [](int64_t bits, bool is_signed, bool is_symmetric, float zero, float scale) {
    return Quantization(kNnefSet, "zero_point_linear_quantize",
                        Attributes({{"bits", bits}, {"signed", is_signed}, {"symmetric", is_symmetric}}),
                        {zero, scale});
  };
  EXPECT_EQ(zero_point(8, false, false, 10, 0.5F), "-5..122.5 0.5 10");
  EXPECT_EQ(zero_point(8, true, false, 0, 0.5F), "-64..63.5 0.5 128");
  EXPECT_EQ(zero_point(8, true, false, -128, 2), "0..510 2 0");
  EXPECT_EQ(zero_point(8, true, true, 0, 0.5F), "none");
  EXPECT_EQ(zero_point(8, false, true, 0, 0.5F), "0..127.5 0.5 0");
  EXPECT_EQ(zero_point(7, false, false, 10, 0.5F), "none");
  EXPECT_EQ(zero_point(8, false, false, 10, -0.5F), "none");
  EXPECT_EQ(zero_point(8, false, false, 256, 0.5F), "none");
  EXPECT_EQ(Quantization(kNnefSet, "linear_quantize", Attributes({{"bits", 8}}), {0, 255}), "none");
  EXPECT_EQ(Quantization(kNnefSet, "logarithmic_quantize", Attributes({{"bits", 8}}), {255}), "none");
  EXPECT_EQ(Quantization(kNnefSet, "relu", {}, {}), "none");
}

// Limits are constants of one element, and the result has the type and the shape of the data.
TEST(QuantizedValues, NodesInTheirGraphs) {
  struct Form {
    ElementType type = ElementType::kF32;
    PartialShape data = {2, 3}, result = {2, 3};
    bool is_constant = true;
    int64_t volume = 1;
  };
  const auto is_quantization = [](const Form& form) {
    Graph graph(&StandardOps(), "g");
    std::vector<OutputPort> inputs = {{AddParameter(graph, "x", form.type, form.data), 0}};
    for (const float limit : {-128.0F, 127.0F, -128.0F, 127.0F}) {
      const std::vector<float> items(static_cast<size_t>(form.volume), limit);
      inputs.push_back({form.is_constant
                            ? AddConst(graph, TensorValue::FromFloats({form.volume}, items), "c")
                            : AddParameter(graph, "p", ElementType::kF32, PartialShape{form.volume}),
                        0});
    }
    const NodeId node = AddNode(graph, "opset1", "FakeQuantize",
                                {.name = "q", .inputs = inputs, .attributes = Attributes({{"levels", 256}})});
    graph.SetOutputType({node, 0}, form.type, form.result);
    return LinearQuantizationOf(graph, graph.node(node)).has_value();
  };
  EXPECT_TRUE(is_quantization({}));
  EXPECT_FALSE(is_quantization({.type = ElementType::kF16}));
  EXPECT_FALSE(is_quantization({.result = {1, 2, 3}}));
  EXPECT_FALSE(
      is_quantization({.data = PartialShape({Dim(), Dim(3)}), .result = PartialShape({Dim(), Dim(3)})}));
  EXPECT_FALSE(is_quantization({.is_constant = false}));
  EXPECT_FALSE(is_quantization({.volume = 2}));
}

// A graph with results of MaxPool, images in channels-last order.
class QuantizedImages : public ::testing::Test {
 protected:
  OutputPort Images(const PartialShape& shape) { return Add("opset1", "MaxPool", {Rows(shape)}, shape, {}); }
  // Data in row-major order.
  OutputPort Rows(const PartialShape& shape) {
    return {AddParameter(graph_, "x", ElementType::kF32, shape), 0};
  }
  OutputPort Add(std::string_view set, std::string_view name, const std::vector<OutputPort>& inputs,
                 const PartialShape& shape, AttributeMap attributes) {
    const NodeId node =
        AddNode(graph_, set, name, {.name = "n", .inputs = inputs, .attributes = std::move(attributes)});
    graph_.SetOutputType({node, 0}, ElementType::kF32, shape);
    return {node, 0};
  }
  OutputPort Constant(const Shape& shape, const std::vector<int64_t>& items) {
    return {AddConst(graph_, TensorValue::FromInts(shape, items), "c"), 0};
  }
  OutputPort Floats(const Shape& shape, float item) {
    const std::vector<float> items(static_cast<size_t>(*Volume(shape)), item);
    return {AddConst(graph_, TensorValue::FromFloats(shape, items), "c"), 0};
  }
  const Node& Of(OutputPort port) { return graph_.node(port.node); }

  Graph graph_{&StandardOps(), "g"};
};

TEST_F(QuantizedImages, PadsOfChannels) {
  using Items = std::vector<int64_t>;
  const auto extends = [&](const PartialShape& shape, const Items& begin, const Items& end,
                           const char* mode = "constant", float border = 0) {
    const auto constant = [&](const Items& items) {
      return Constant({static_cast<int64_t>(items.size())}, items);
    };
    return ExtendsChannels(
        graph_, Of(Add("opset1", "Pad", {Images(shape), constant(begin), constant(end), Floats({}, border)},
                       shape, Attributes({{"pad_mode", mode}}))));
  };
  const PartialShape images = {1, 4, 5, 6};
  EXPECT_TRUE(extends(images, {0, 0, 0, 0}, {0, 1, 0, 0}));
  EXPECT_FALSE(extends(images, {0, 0, 0, 0}, {0, 0, 0, 0}));
  EXPECT_FALSE(extends(images, {0, 0, 0, 0}, {0, -1, 0, 0}));
  EXPECT_FALSE(extends(images, {0, 1, 0, 0}, {0, 1, 0, 0}));
  for (const Items& end : {Items{1, 1, 0, 0}, Items{0, 1, 1, 0}, Items{0, 1, 0, -1}})
    EXPECT_FALSE(extends(images, {0, 0, 0, 0}, end));
  EXPECT_FALSE(extends(images, {0, 0, 0, 0}, {0, 1, 0, 0}, "edge"));
  EXPECT_FALSE(extends(images, {0, 0, 0, 0}, {0, 1, 0, 0}, "constant", 1));
  // Another border than one known number is none; nor are row-major data images.
  const auto extends_with = [&](OutputPort data, OutputPort border) {
    const OutputPort begin = Constant({4}, {0, 0, 0, 0}), end = Constant({4}, {0, 1, 0, 0});
    return ExtendsChannels(graph_, Of(Add("opset1", "Pad", {data, begin, end, border}, images,
                                          Attributes({{"pad_mode", "constant"}}))));
  };
  const OutputPort scalar = {AddParameter(graph_, "s", ElementType::kF32, PartialShape::OfRank(0)), 0};
  EXPECT_TRUE(extends_with(Images(images), Floats({}, 0)));
  for (const OutputPort border : {Floats({2}, 0), Floats({0}, 0), scalar})
    EXPECT_FALSE(extends_with(Images(images), border));
  EXPECT_FALSE(extends_with(Rows(images), Floats({}, 0)));
  // The numbers of added elements must be known.
  const OutputPort data = Images(images), open = {AddParameter(graph_, "p", ElementType::kI64, {4}), 0};
  const OutputPort none = Constant({4}, {0, 0, 0, 0}), one = Constant({4}, {0, 1, 0, 0});
  for (const auto& [begin, end] : {std::pair(open, open), std::pair(open, one), std::pair(none, open)})
    EXPECT_FALSE(ExtendsChannels(graph_, Of(Add("opset1", "Pad", {data, begin, end}, images,
                                                Attributes({{"pad_mode", "constant"}})))));
  // Ranks 3 to 5.
  EXPECT_FALSE(extends({1, 4}, {0, 0}, {0, 1}));
  EXPECT_TRUE(extends({1, 4, 5}, {0, 0, 0}, {0, 1, 0}));
  EXPECT_TRUE(extends({1, 4, 5, 6, 7}, {0, 0, 0, 0, 0}, {0, 1, 0, 0, 0}));
  EXPECT_FALSE(extends({1, 4, 5, 6, 7, 8}, {0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}));
}

// Interpolate-4 has axes as its last input; without them all axes change.
TEST_F(QuantizedImages, CopiesOfPixels) {
  const auto repeats = [&](std::optional<std::vector<int64_t>> axes, const char* mode = "nearest",
                           const char* calculation = "sizes") {
    std::vector<OutputPort> inputs = {Images({1, 4, 5, 6}), Constant({2}, {10, 12}), Floats({2}, 2)};
    if (axes) inputs.push_back(Constant({static_cast<int64_t>(axes->size())}, *axes));
    return RepeatsPixels(graph_,
                         Of(Add("opset4", "Interpolate", inputs, {1, 4, 10, 12},
                                Attributes({{"mode", mode}, {"shape_calculation_mode", calculation}}))));
  };
  EXPECT_TRUE(repeats({{2, 3}}));
  EXPECT_TRUE(repeats({{-2, -1}}));
  // Scales are of pixels only; by sizes, other extents may remain.
  for (const auto& [axes, is_of_pixels] :
       std::initializer_list<std::pair<std::vector<int64_t>, bool>>{{{2, 3}, true},
                                                                    {{-2, -1}, true},
                                                                    {{1, 3}, false},
                                                                    {{-3, -1}, false},
                                                                    {{0, 2}, false},
                                                                    {{-4, -2}, false}}) {
    EXPECT_EQ(repeats(axes, "nearest", "scales"), is_of_pixels) << axes[0];
    EXPECT_TRUE(repeats(axes)) << axes[0];
  }
  EXPECT_FALSE(repeats({{2, 3}}, "linear"));
  EXPECT_FALSE(RepeatsPixels(
      graph_,
      Of(Add("opset4", "Interpolate",
             {Rows({1, 4, 5, 6}), Constant({2}, {10, 12}), Floats({2}, 2), Constant({2}, {2, 3})},
             {1, 4, 10, 12}, Attributes({{"mode", "nearest"}, {"shape_calculation_mode", "sizes"}})))));
  EXPECT_FALSE(repeats(std::nullopt));
  // The sizes, the scales and the axes are known.
  for (const size_t open : {1, 2, 3}) {
    std::vector<OutputPort> operands = {Images({1, 4, 5, 6}), Constant({2}, {10, 12}), Floats({2}, 2),
                                        Constant({2}, {2, 3})};
    operands[open] = {AddParameter(graph_, "p", ElementType::kI64, {2}), 0};
    EXPECT_FALSE(RepeatsPixels(
        graph_, Of(Add("opset4", "Interpolate", operands, {1, 4, 10, 12},
                       Attributes({{"mode", "nearest"}, {"shape_calculation_mode", "sizes"}})))));
  }
  // The result has known extents.
  const std::vector<OutputPort> inputs = {Images({1, 4, 5, 6}), Constant({2}, {10, 12}), Floats({2}, 2),
                                          Constant({2}, {2, 3})};
  EXPECT_FALSE(
      RepeatsPixels(graph_, Of(Add("opset4", "Interpolate", inputs, PartialShape::OfRank(4),
                                   Attributes({{"mode", "nearest"}, {"shape_calculation_mode", "sizes"}})))));
}

// Zero points by channel are subtracted from the data of a depthwise convolution.
TEST_F(QuantizedImages, ZeroPointsOfChannels) {
  const PartialShape images = {1, 4, 4, 6};
  const auto subtracts = [&](const Shape& zeros, bool is_data = true,
                             const PartialShape& filters = {4, 1, 1, 3, 3}) {
    const OutputPort difference = Add("opset1", "Subtract", {Images(images), Floats(zeros, 3)}, images, {});
    const OutputPort filter = {AddParameter(graph_, "f", ElementType::kF32, filters), 0};
    Add("opset1", "GroupConvolution",
        is_data ? std::vector{difference, filter} : std::vector{filter, difference}, images, {});
    return SubtractsZeroPoints(graph_, Of(difference));
  };
  EXPECT_TRUE(subtracts({1, 4, 1, 1}));
  for (const Shape& other : {Shape{1, 4, 1}, Shape{4, 1, 1}, Shape{1, 4, 4, 1}, Shape{1, 1, 1, 1}, Shape{}})
    EXPECT_FALSE(subtracts(other)) << nnefc::ToString(other);
  EXPECT_FALSE(subtracts({1, 4, 1, 1}, false));
  // One filter of one channel for each channel.
  const PartialShape others[] = {{2, 1, 1, 3, 3}, {4, 2, 1, 3, 3}, {4, 1, 2, 3, 3},
                                 {4, 1, 3, 3},    PartialShape(),  {Dim(4), Dim(1), Dim(1), Dim(), Dim(3)}};
  for (const PartialShape& filters : others)
    EXPECT_FALSE(subtracts({1, 4, 1, 1}, true, filters)) << ToString(filters);
  // The zero points are known, and only depthwise convolutions read the differences.
  for (const bool is_known : {true, false}) {
    for (const char* user : {"GroupConvolution", "Convolution"}) {
      const OutputPort zeros = is_known ? Floats({1, 4, 1, 1}, 3) : Rows({1, 4, 1, 1});
      const OutputPort difference = Add("opset1", "Subtract", {Images(images), zeros}, images, {});
      Add("opset1", user, {difference, Rows({4, 1, 1, 3, 3})}, images, {});
      EXPECT_EQ(SubtractsZeroPoints(graph_, Of(difference)), is_known && user[0] == 'G') << user;
    }
  }
}

// A lookup gathers from 256 known numbers in f32, by indices that hold all quantized values.
TEST_F(QuantizedImages, LookupsInTables) {
  struct Lookup {
    ElementType index = ElementType::kI32;
    int64_t batch_dims = 0;
    bool is_data = false;  // the converted values are the gathered data
  };
  const auto is_lookup = [&](OutputPort table, const Lookup& lookup = {}) {
    const OutputPort convert = Add("opset1", "Convert", {Images({1, 4, 5, 6})}, {1, 4, 5, 6},
                                   Attributes({{"destination_type", lookup.index}}));
    graph_.SetOutputType(convert, lookup.index, {1, 4, 5, 6});
    const OutputPort axis = Constant({}, {0});
    Add("opset8", "Gather",
        lookup.is_data ? std::vector{convert, table, axis} : std::vector{table, convert, axis}, {1, 4, 5, 6},
        Attributes({{"batch_dims", lookup.batch_dims}}));
    return IsTableLookup(graph_, Of(convert));
  };
  const std::vector<int64_t> integers(256, 3);
  EXPECT_TRUE(is_lookup(Floats({256}, 3)));
  EXPECT_TRUE(is_lookup(Floats({256}, 3), {.index = ElementType::kI64}));
  for (const ElementType index : {ElementType::kU8, ElementType::kI8, ElementType::kF32})
    EXPECT_FALSE(is_lookup(Floats({256}, 3), {.index = index})) << Name(index);
  EXPECT_FALSE(is_lookup(Floats({256}, 3), {.batch_dims = 1}));
  EXPECT_FALSE(is_lookup(Floats({256}, 3), {.is_data = true}));
  EXPECT_FALSE(is_lookup(Floats({255}, 3)));
  EXPECT_FALSE(is_lookup(Floats({256, 1}, 3)));
  EXPECT_FALSE(is_lookup(Constant({256}, integers)));
  EXPECT_FALSE(is_lookup({AddParameter(graph_, "t", ElementType::kF32, {256}), 0}));
  EXPECT_FALSE(is_lookup(Add("opset1", "Const", {}, {256}, {})));
}

// A split along the channels of images, of known axis and parts.
TEST_F(QuantizedImages, SplitsOfChannels) {
  const auto splits = [&](OutputPort axis, const PartialShape& part = {1, 2, 5, 6}, bool is_image = true) {
    const PartialShape whole = {1, 4, 5, 6};
    const OutputPort inputs[] = {is_image ? Images(whole) : Rows(whole), axis};
    const NodeId split = AddNode(
        graph_, "opset1", "Split",
        {.name = "n", .inputs = inputs, .attributes = Attributes({{"num_splits", 2}}), .num_outputs = 2});
    for (int32_t i = 0; i < 2; ++i) graph_.SetOutputType({split, i}, ElementType::kF32, part);
    return SplitsImages(graph_, graph_.node(split));
  };
  EXPECT_TRUE(splits(Constant({}, {1})));
  EXPECT_TRUE(splits(Constant({1}, {-3})));
  for (const int64_t axis : {0, 2, 3, -1}) EXPECT_FALSE(splits(Constant({}, {axis}))) << axis;
  EXPECT_FALSE(splits(Constant({2}, {1, 1})));
  EXPECT_FALSE(splits(Constant({0}, {})));
  EXPECT_FALSE(splits({AddParameter(graph_, "a", ElementType::kI64, PartialShape::OfRank(0)), 0}));
  EXPECT_FALSE(splits(Constant({}, {1}), PartialShape::OfRank(4)));
  EXPECT_FALSE(splits(Constant({}, {1}), {1, 2, 5, 6}, false));
}

// The limits of a quantization are known constants.
TEST_F(QuantizedImages, LimitsOfQuantizations) {
  const PartialShape shape = {1, 4, 5, 6};
  const auto is_known = [&](OutputPort limit) {
    const OutputPort low = Floats({}, 0), high = Floats({}, 255);
    return LinearQuantizationOf(
               graph_, Of(Add("opset1", "FakeQuantize", {Images(shape), low, limit, low, high}, shape,
                              Attributes({{"levels", 256}}))))
        .has_value();
  };
  EXPECT_TRUE(is_known(Floats({}, 255)));
  EXPECT_FALSE(is_known({AddParameter(graph_, "p", ElementType::kF32, PartialShape::OfRank(0)), 0}));
  EXPECT_FALSE(is_known(Add("opset1", "Const", {}, PartialShape::OfRank(0), {})));
  // A limit that other nodes compute is no constant yet, even of known value.
  const OutputPort computed = Add("opset1", "Abs", {Floats({}, 255)}, PartialShape::OfRank(0), {});
  graph_.SetOutputValue(computed, TensorValue::FromFloats({}, {255}));
  EXPECT_FALSE(is_known(computed));
}

// The source of images is found through their maxima, not through the indices of these.
TEST_F(QuantizedImages, SourcesOfImages) {
  const OutputPort images = Images({1, 4, 5, 6});
  const NodeId pool = AddNode(graph_, "opset8", "MaxPool", {.name = "n", .inputs = images, .num_outputs = 2});
  const auto is_parameter = [](const Node& node) { return node.Is(OpRole::kParameter); };
  EXPECT_TRUE(SourceOfImage(graph_, images, is_parameter).has_value());
  EXPECT_EQ(SourceOfImage(graph_, {pool, 0}, is_parameter), SourceOfImage(graph_, images, is_parameter));
  EXPECT_FALSE(SourceOfImage(graph_, {pool, 1}, is_parameter).has_value());
  const auto none = [](const Node&) { return false; };
  EXPECT_FALSE(SourceOfImage(graph_, images, none).has_value());
  // The source is searched through 15 nodes.
  OutputPort last = images;
  for (int i = 1; i < 15; ++i) last = Add("opset1", "MaxPool", {last}, {1, 4, 5, 6}, {});
  EXPECT_TRUE(SourceOfImage(graph_, last, is_parameter).has_value());
  last = Add("opset1", "MaxPool", {last}, {1, 4, 5, 6}, {});
  EXPECT_FALSE(SourceOfImage(graph_, last, is_parameter).has_value());
}

// The images before a quantization are searched through 16 nodes, itself the first; others are row-major.
TEST_F(QuantizedImages, ImagesBeforeManyNodes) {
  const auto is_row_major_after = [&](int count) {
    OutputPort last = Images({1, 4, 5, 6});
    for (int i = 0; i < count; ++i) last = Add("opset1", "Abs", {last}, {1, 4, 5, 6}, {});
    return AreRowMajor(graph_, Of(last));
  };
  for (const int count : {0, 1, 2, 14, 15}) EXPECT_FALSE(is_row_major_after(count)) << count;
  for (const int count : {16, 17, 40}) EXPECT_TRUE(is_row_major_after(count)) << count;
}

// A concatenation of images without elements has no functions to move.
TEST_F(QuantizedImages, FunctionsAfterConcatenations) {
  for (const Shape& factors : {Shape{1, 1, 4, 1}, Shape{1, 1, 1, 4}, Shape{4, 1}, Shape{4}}) {
    const PartialShape whole = {1, 4, 4, 4};
    const OutputPort concat = Add("opset1", "Concat", {Images({1, 2, 4, 4}), Images({1, 2, 4, 4})}, whole,
                                  Attributes({{"axis", 1}}));
    const OutputPort product = Add("opset1", "Multiply", {concat, Floats(factors, 2)}, whole, {});
    const OutputPort limits[] = {Floats({}, 0), Floats({}, 255)};
    Add("opset1", "FakeQuantize", {product, limits[0], limits[1], limits[0], limits[1]}, whole,
        Attributes({{"levels", 256}}));
    EXPECT_TRUE(FunctionsOfConcat(graph_, Of(concat)).empty()) << nnefc::ToString(factors);
  }
  // Functions that repeat the images compute more than the parts.
  for (const bool is_repeated : {true, false}) {
    const PartialShape whole = {1, 4, 4, 4};
    const OutputPort concat = Add("opset1", "Concat", {Images({1, 2, 4, 4}), Images({1, 2, 4, 4})}, whole,
                                  Attributes({{"axis", 1}}));
    const OutputPort product = Add("opset1", "Multiply", {concat, Floats({}, 2)}, whole, {});
    const OutputPort low = Floats({}, 0), high = Floats({is_repeated ? 2 : 1, 1, 1, 1}, 255);
    Add("opset1", "FakeQuantize", {product, low, high, low, high}, {is_repeated ? 2 : 1, 4, 4, 4},
        Attributes({{"levels", 256}}));
    EXPECT_EQ(FunctionsOfConcat(graph_, Of(concat)).empty(), is_repeated);
  }
  for (const int64_t height : {0, 5}) {
    const PartialShape part = {1, 2, height, 6}, whole = {1, 4, height, 6};
    const OutputPort concat =
        Add("opset1", "Concat", {Images(part), Images(part)}, whole, Attributes({{"axis", 1}}));
    const OutputPort product = Add("opset1", "Multiply", {concat, Floats({1, 4, 1, 1}, 2)}, whole, {});
    const OutputPort limits[] = {Floats({}, 0), Floats({}, 255)};
    const OutputPort quantize =
        Add("opset1", "FakeQuantize", {product, limits[0], limits[1], limits[0], limits[1]}, whole,
            Attributes({{"levels", 256}}));
    const auto functions = FunctionsOfConcat(graph_, Of(concat));
    const std::vector<NodeId> found(functions.begin(), functions.end());
    const std::vector<NodeId> expected = {product.node, quantize.node};
    EXPECT_EQ(found, height == 0 ? std::vector<NodeId>() : expected);
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
