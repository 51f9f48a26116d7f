#include "compiler/package/tensors/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <map>

#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace nnefc::package {
namespace {

using nlohmann::json;

// The vectors are valid for every implementation of the rule.
TEST(RandomTensorTest, MatchesVectors) {
  std::ifstream file("tests/networks/weights_vectors.json");
  ASSERT_TRUE(file.good());
  const std::map<std::string, ir::DataRole> roles = {
      {"filter", ir::DataRole::kFilter}, {"bias", ir::DataRole::kBias},
      {"mean", ir::DataRole::kMean},     {"variance", ir::DataRole::kVariance},
      {"offset", ir::DataRole::kOffset}, {"scale", ir::DataRole::kScale},
      {"data", ir::DataRole::kInput}};
  const std::map<std::string, ElementType> types = {
      {"scalar", ElementType::kF32}, {"integer", ElementType::kI64}, {"logical", ElementType::kBoolean}};
  int compared = 0;
  for (const json& row : json::parse(file)) {
    auto extents = row["shape"].get<std::vector<int64_t>>();
    ElementType type = types.at(row["type"]);
    TensorValue value = RandomTensor(roles.at(row["role"]), row["seed"].get<uint64_t>(),
                                     row["name"].get<std::string>(), type, extents);
    ASSERT_TRUE(value.valid());
    EXPECT_EQ(value.type(), type);
    for (size_t i = 0; i < row["first"].size(); ++i, ++compared) {
      if (type == ElementType::kF32) {
        uint32_t bits = std::bit_cast<uint32_t>(value.elements<float>()[i]);
        EXPECT_EQ(fmt::format("{:08x}", bits), row["first"][i].get<std::string>()) << row["name"] << " " << i;
      } else {
        EXPECT_EQ(value.ElementAsInt(static_cast<int64_t>(i)), row["first"][i].get<int64_t>()) << row["name"];
      }
    }
  }
  EXPECT_GE(compared, 40);
}

TEST(RandomTensorTest, KeysIgnoreCaseOfLabelsOnly) {
  Shape shape = {4, 4};
  auto make = [&](ir::DataRole role, std::string_view name) {
    return RandomTensor(role, 3, name, ElementType::kF32, shape);
  };
  EXPECT_EQ(make(ir::DataRole::kFilter, "Conv1/Filter"), make(ir::DataRole::kFilter, "conv1/filter"));
  EXPECT_FALSE(make(ir::DataRole::kInput, "Input") == make(ir::DataRole::kInput, "input"));
  EXPECT_FALSE(make(ir::DataRole::kFilter, "a") == make(ir::DataRole::kFilter, "b"));
}

TEST(RandomTensorTest, HasNoValueWithoutVolumeOrMemory) {
  int64_t large = int64_t{1} << 40;
  EXPECT_FALSE(RandomTensor(ir::DataRole::kFilter, 1, "x", ElementType::kF32, {large, large}).valid());
  EXPECT_FALSE(RandomTensor(ir::DataRole::kFilter, 1, "x", ElementType::kF32, {int64_t{1} << 50}).valid());
  EXPECT_FALSE(RandomTensor(ir::DataRole::kFilter, 1, "x", ElementType::kF32, {-1}).valid());
  EXPECT_EQ(RandomTensor(ir::DataRole::kFilter, 1, "x", ElementType::kF32, {}).volume(), 1);
}

TEST(RandomTensorTest, ShapesWithoutAVolume) {
  for (const ElementType type : {ElementType::kF32, ElementType::kI64, ElementType::kBoolean}) {
    for (const Shape& shape : {Shape{INT64_MAX, 2}, Shape{1, INT64_MAX / 2, 3}, Shape{INT64_MAX / 2}})
      EXPECT_FALSE(RandomTensor(ir::DataRole::kInput, 1, "x", type, shape).valid()) << ToString(shape);
    EXPECT_TRUE(RandomTensor(ir::DataRole::kInput, 1, "x", type, {0, INT64_MAX}).valid());
    EXPECT_EQ(RandomTensor(ir::DataRole::kInput, 1, "x", type, {2, 3}).shape(), (Shape{2, 3}));
  }
}

}  // namespace
}  // namespace nnefc::package
