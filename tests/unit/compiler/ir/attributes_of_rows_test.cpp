// Defaults of attributes that a node omits: values from OpenVINO's documentation of its sets.

#include <map>

#include "compiler/ir/graph.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

class AttributesOfRowsTest : public ::testing::Test {
 protected:
  AttributesOfRowsTest() { RegisterStandardOps(registry_); }

  const Node& Add(std::string_view set, std::string_view name, AttributeMap attributes = {}) {
    return graph_.node(AddNode(graph_, set, name, {.name = "n", .attributes = std::move(attributes)}));
  }

  OpRegistry registry_;
  Graph graph_{&registry_, "g"};
};

TEST_F(AttributesOfRowsTest, AnAbsentOneHasItsDefault) {
  EXPECT_TRUE(Add("opset1", "Divide").Bool("m_pythondiv"));
  EXPECT_EQ(Add("opset1", "SoftMax").Int("axis"), 1);
  EXPECT_EQ(Add("opset5", "Round").String("mode"), "half_to_even");
  EXPECT_EQ(Add("opset4", "Interpolate").Double("cube_coeff"), -0.75);
  AttributeMap given;
  given.Set("axis", -2);
  EXPECT_EQ(Add("opset8", "SoftMax", given).Int("axis"), -2);
}

TEST_F(AttributesOfRowsTest, AnIntegerIsANumber) {
  AttributeMap given;
  given.Set("cube_coeff", -1);
  EXPECT_EQ(Add("opset4", "Interpolate", given).Double("cube_coeff"), -1.0);
}

TEST_F(AttributesOfRowsTest, AnEmptyListIsOneOfNumbersToo) {
  AttributeMap given;
  given.Set("activations_alpha", Attribute::Integers{});
  EXPECT_TRUE(Add("opset1", "RNNCell", given).Doubles("activations_alpha").empty());
}

TEST_F(AttributesOfRowsTest, AnEmptyListHasTheSameOnEachAxis) {
  const Node& plain = Add("opset1", "Convolution");
  EXPECT_EQ(plain.Ints("strides", 2), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(plain.Ints("dilations", 3), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(plain.Ints("pads_end", 2), (std::vector<int64_t>{0, 0}));
  AttributeMap given;
  given.Set("strides", Attribute::Integers{2, 3});
  EXPECT_EQ(Add("opset1", "Convolution", given).Ints("strides", 2), (std::vector<int64_t>{2, 3}));
}

// An attribute of a later version is not required in an earlier one.
TEST_F(AttributesOfRowsTest, WhatAVersionImpliesCannotBeGiven) {
  AttributeMap given;
  given.Set("approximation_mode", "TANH");
  EXPECT_EQ(Add("opset2", "Gelu", given).String("approximation_mode"), "ERF");
  EXPECT_EQ(Add("opset7", "Gelu", given).String("approximation_mode"), "TANH");
  AttributeMap dilated;
  dilated.Set("dilations", Attribute::Integers{2, 2});
  EXPECT_EQ(Add("opset1", "AvgPool", dilated).Ints("dilations", 2), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(Add("opset16", "AvgPool", dilated).Ints("dilations", 2), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(Add("opset3", "ScatterElementsUpdate").String("reduction"), "none");
  EXPECT_EQ(registry_.Info(registry_.Find("opset2", "Gelu")).FindAttribute("approximation_mode"), nullptr);
}

// Versions of an operation differ in attributes and inputs, not in role, function, work and other traits.
TEST_F(AttributesOfRowsTest, VersionsShareTheirTraits) {
  std::map<std::string, const OpInfo*> first;
  for (size_t i = 0; i < registry_.size(); ++i) {
    const OpInfo& info = registry_.Info(OpId(static_cast<int32_t>(i)));
    if (info.set == kNnefSet) continue;
    const OpInfo& known = *first.try_emplace(info.name, &info).first->second;
    EXPECT_EQ(info.role, known.role) << info.section;
    EXPECT_EQ(info.function, known.function) << info.section;
    EXPECT_EQ(info.work, known.work) << info.section;
    EXPECT_EQ(info.contraction, known.contraction) << info.section;
    EXPECT_EQ(info.pooling, known.pooling) << info.section;
    EXPECT_EQ(info.rearrangement, known.rearrangement) << info.section;
    EXPECT_EQ(info.quantizer, known.quantizer) << info.section;
    EXPECT_EQ(info.function_cost, known.function_cost) << info.section;
    EXPECT_EQ(info.is_batch_normalization, known.is_batch_normalization) << info.section;
  }
  EXPECT_TRUE(Add("opset7", "Gelu").Is(ElementFunction::kGelu));
  EXPECT_FALSE(Add("opset1", "Power").Is(ElementFunction::kMultiply));
}

// A table next to the rows is valid for each version of an operation.
TEST_F(AttributesOfRowsTest, ATableNamesAllVersions) {
  const OpTable<int> table(registry_, kOpsets, {{"AvgPool", 1}, {"MaxPool", 2}});
  for (std::string_view set : {"opset1", "opset14", "opset16"}) {
    const int* value = table.Find(registry_.Find(set, "AvgPool"));
    ASSERT_NE(value, nullptr) << set;
    EXPECT_EQ(*value, 1);
  }
  EXPECT_EQ(*table.Find(registry_.Find("opset8", "MaxPool")), 2);
  EXPECT_EQ(table.Find(registry_.Find("opset1", "Add")), nullptr);
}

// The table excludes operations of other sets, whatever their names.
TEST_F(AttributesOfRowsTest, ATableIsOfItsSets) {
  const auto infer = [](InferContext&) {};
  const OpId pool = registry_.Add({.set = "acme", .name = "AvgPool", .infer = infer});
  const OpId add = registry_.Add({.set = "acme", .name = "add", .infer = infer});
  OpTable<int> table(registry_, kOpsets, {{"AvgPool", 1}});
  EXPECT_EQ(table.Find(pool), nullptr);
  EXPECT_EQ(table.Find(registry_.Find(kNnefSet, "add")), nullptr);
  table.Add(registry_, kNnefSet, {{"add", 2}});
  EXPECT_EQ(table.Find(add), nullptr);
  ASSERT_NE(table.Find(registry_.Find(kNnefSet, "add")), nullptr);
  EXPECT_NE(table.Find(registry_.Find("opset14", "AvgPool")), nullptr);
}

// A name without a set means operations of any set, as in Model Optimizer's patterns.
TEST_F(AttributesOfRowsTest, NamesOfUsers) {
  const OpId split = registry_.Add({.set = "acme", .name = "Split"});
  const OpId own = registry_.Add({.set = "acme", .name = "Whisper"});
  const auto found = [&](std::string_view name) { return registry_.FindNamed(name); };
  EXPECT_EQ(found("Split"), (std::vector{registry_.Find("opset1", "Split"), split}));
  EXPECT_EQ(found("opset1.Split"), std::vector{registry_.Find("opset1", "Split")});
  EXPECT_EQ(found("acme.Split"), std::vector{split});
  EXPECT_EQ(found("Whisper"), std::vector{own});
  EXPECT_EQ(found("split"), std::vector{registry_.Find(kNnefSet, "split")});
  EXPECT_EQ(found("opset8.MaxPool"), std::vector{registry_.Find("opset8", "MaxPool")});
  EXPECT_EQ(found("MaxPool").size(), 3U);  // opset1, opset8, opset14
  EXPECT_TRUE(found("Nonesuch").empty());
}

}  // namespace
}  // namespace nnefc::ir
