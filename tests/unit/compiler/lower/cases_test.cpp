// Every operation of the standard library against lowering_cases.txt.

#include <fstream>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "stdlib/declarations.h"
#include "tests/unit/compiler/lower/lowering_support.h"

namespace nnefc::lower {
namespace {

struct LoweringCase {
  int line = 0;
  std::string op = {}, inputs = {}, attributes = {}, shapes = {}, operations = {};
};

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<LoweringCase> ReadCases() {
  std::vector<LoweringCase> cases;
  std::ifstream file("tests/unit/compiler/lower/lowering_cases.txt");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    LoweringCase one{.line = number};
    for (std::string* field : {&one.op, &one.inputs, &one.attributes, &one.shapes, &one.operations}) {
      EXPECT_TRUE(std::getline(fields, *field, '|')) << line;
      *field = Trimmed(*field);
    }
    cases.push_back(one);
  }
  return cases;
}

std::vector<ir::OutputPort> AddInputs(NnefGraph& graph, const std::string& text) {
  std::vector<ir::OutputPort> inputs;
  std::istringstream stream(text);
  for (std::string item; stream >> item;) {
    const std::string name = "i" + std::to_string(inputs.size());
    if (item.front() == '=') {
      inputs.push_back(graph.Literal(std::stod(item.substr(1))));
    } else if (item.front() == 'v') {
      Shape shape;
      std::istringstream extents(item.substr(item.find('[') + 1));
      for (int64_t extent; extents >> extent; extents.ignore()) shape.push_back(extent);
      inputs.push_back(graph.Variable(name, shape));
    } else {
      inputs.push_back(graph.External(name, item.substr(2)));
    }
  }
  return inputs;
}

std::string Shapes(const ir::Graph& graph) {
  std::string shapes;
  for (ir::NodeId result : graph.results()) {
    if (!shapes.empty()) shapes += "; ";
    shapes += ir::ToString(graph.output(graph.node(result).input(0)).shape);
  }
  return shapes;
}

TEST(LoweringCases, HaveTheirOperations) {
  const std::vector<LoweringCase> cases = ReadCases();
  ASSERT_GT(cases.size(), 200u);
  for (const LoweringCase& one : cases) {
    SCOPED_TRACE("line " + std::to_string(one.line) + ": " + one.op);
    NnefGraph graph;
    const auto outputs = static_cast<int>(std::count(one.shapes.begin(), one.shapes.end(), ';')) + 1;
    const ir::NodeId node = graph.Node(one.op, "y", AddInputs(graph, one.inputs), one.attributes, outputs);
    for (int i = 0; i < outputs; ++i) graph.Result("y" + std::to_string(i), {node, i});
    const ir::Graph* lowered = graph.Lower();
    ASSERT_NE(lowered, nullptr) << graph.FirstMessage();
    EXPECT_EQ(Shapes(*lowered), one.shapes);
    EXPECT_EQ(graph.Operations(), one.operations);
  }
}

TEST(LoweringCases, CoverTheStandardLibrary) {
  std::set<std::string> covered{"external", "constant", "variable", "update", "if_else", "tensor_iterator",
                                "while_loop",           // control_flow_test.cpp
                                "tract_core_scan",      // becomes one
                                "tract_core_submodel",  // becomes its operations
                                "tract_onnx_trees",     // reads data: interop/test_tract_trees.py
                                // Expansion replaces these.
                                "tract_core_of_width", "tract_core_to_width_of", "tract_core_aligned",
                                "tract_core_products", "tract_core_matmul"};
  for (const LoweringCase& one : ReadCases()) covered.insert(one.op);
  for (const stdlib::Declaration& declaration : stdlib::Declarations()) {
    EXPECT_TRUE(covered.contains(std::string(declaration.name))) << declaration.name;
  }
}

}  // namespace
}  // namespace nnefc::lower
