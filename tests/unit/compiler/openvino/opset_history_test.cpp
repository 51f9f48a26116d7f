// The versions of operations that sets have, which OpenVINO states in opset_versions.txt.

#include "compiler/openvino/opset_history.h"

#include <fstream>
#include <sstream>

#include "compiler/ir/graph.h"
#include "gtest/gtest.h"

namespace nnefc::openvino {
namespace {

TEST(OpsetIndex, FindsTheVersionsOfOpenVino) {
  ir::OpRegistry registry;
  ir::RegisterStandardOps(registry);
  OpsetIndex index(registry);
  std::ifstream file("tests/unit/compiler/openvino/opset_versions.txt");
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (name == "LogicalXor") continue;  // of opset1, though its class has another number
    for (std::string field; fields >> field; ++compared) {
      const size_t equals = field.find('=');
      const std::string set = "opset" + field.substr(0, equals);
      const ir::OpId op = index.Find(name, set);
      const std::string found = op.valid() ? registry.Info(op).set : "none";
      EXPECT_EQ(found, "opset" + field.substr(equals + 1)) << name << " of " << set;
    }
  }
  EXPECT_GT(compared, 1000);
  for (const char* set : {"opset", "opset0", "opset18", "opset-1", "opset1x", "Opset1", "experimental", ""})
    EXPECT_FALSE(index.Find("Add", set).valid()) << set;
  EXPECT_TRUE(index.Find("add", "opset17").valid());
  EXPECT_TRUE(index.Find("CONSTANT", "opset1").valid());
}

// States have versions of opset3 and opset6. Old converters named the set before that of three operations.
TEST(OpsetIndex, StatesAndNamesOfOldConverters) {
  ir::OpRegistry registry;
  ir::RegisterStandardOps(registry);
  OpsetIndex index(registry);
  const auto set_of = [&](std::string_view name, std::string_view set) {
    const ir::OpId op = index.Find(name, set);
    return op.valid() ? registry.Info(op).set : "none";
  };
  for (const char* name : {"ReadValue", "Assign"}) {
    for (const char* set : {"opset1", "opset2"}) EXPECT_EQ(set_of(name, set), "none") << name << set;
    for (const char* set : {"opset3", "opset4", "opset5"})
      EXPECT_EQ(set_of(name, set), "opset3") << name << set;
    for (const char* set : {"opset6", "opset7", "opset16"})
      EXPECT_EQ(set_of(name, set), "opset6") << name << set;
  }
  for (const char* name : {"MVN", "ROIPooling", "ReorgYolo"})
    EXPECT_EQ(set_of(name, "opset1"), "opset2") << name;
  for (const char* name : {"Gelu", "SpaceToBatch", "BatchToSpace"})
    EXPECT_EQ(set_of(name, "opset1"), "none") << name;
  EXPECT_EQ(set_of("Add", "opset1"), "opset1");
}

// The version of a set is found or none, never an older version.
TEST(OpsetIndex, VersionsThatAreNotRegistered) {
  ir::OpRegistry registry;
  for (const char* name : {"MaxPool", "ReLU"})
    registry.Add({.set = "opset1", .name = name, .infer = [](ir::InferContext&) { return true; }});
  OpsetIndex index(registry);
  for (const char* set : {"opset1", "opset7"}) EXPECT_TRUE(index.Find("MaxPool", set).valid()) << set;
  for (const char* set : {"opset8", "opset13", "opset14", "opset17"})
    EXPECT_FALSE(index.Find("MaxPool", set).valid()) << set;
  EXPECT_TRUE(index.Find("ReLU", "opset17").valid());
}

}  // namespace
}  // namespace nnefc::openvino
