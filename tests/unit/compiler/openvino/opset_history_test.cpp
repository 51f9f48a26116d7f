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

}  // namespace
}  // namespace nnefc::openvino
