#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::print {
namespace {

std::string ReadNetwork(const std::string& name) {
  std::ifstream file("tests/networks/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class NetworkTest : public ::testing::TestWithParam<const char*> {};

// The networks of the repository expand to documents that expand to themselves.
TEST_P(NetworkTest, ExpandsToItself) {
  Expansion expansion(ReadNetwork(GetParam()));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  EXPECT_EQ(expansion.Diagnostics(), "");
  std::string flat = expansion.Flat();
  Expansion again(flat);
  ASSERT_NE(again.graph, nullptr) << again.Diagnostics();
  EXPECT_EQ(again.Diagnostics(), "");
  EXPECT_EQ(again.Flat(), flat);
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkTest,
                         ::testing::Values("alexnet.nnef", "alexnet_provisional.nnef", "googlenet.nnef",
                                           "googlenet_provisional.nnef", "mobilenetv2.nnef", "resnet50.nnef",
                                           "resnet50_provisional.nnef", "resnet101_provisional.nnef",
                                           "resnet18_spp.nnef", "vgg19.nnef", "lstm_scan.nnef"));

TEST(PrintTest, ResNet101HasItsUnits) {
  Expansion expansion(ReadNetwork("resnet101_provisional.nnef"));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  int additions = 0;
  for (ir::NodeId id : expansion.graph->nodes())
    additions += expansion.graph->node(id).Is("nnef", "add") ? 1 : 0;
  EXPECT_EQ(additions, 33);
}

TEST(PrintTest, LiteralsAreShortest) {
  std::string text = R"(version 1.0;

graph g( a, b ) -> ( y, z, n )
{
    a = external(shape = [2, 3]);
    b = external<integer>(shape = [2, 3]);
    c = constant(shape = [2], value = [1e-05, -0.5]);
    d = constant<integer>(shape = [], value = [7]);
    e = constant<string>(shape = [1], value = ['it\'s']);
    y = clamp(a, -1.0, 6.0);
    z = elu(a, alpha = 0.1);
    m, v = moments(a, axes = [1]);
    n = gather(a, b, axis = 1);
}
)";
  Expansion expansion(text);
  EXPECT_EQ(expansion.Flat(), text);
}

}  // namespace
}  // namespace nnefc::expand::print
