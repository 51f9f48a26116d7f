#include "tests/unit/compiler/ir/ops/widening.h"

#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

// The inputs of a line, with the values of the constant ones.
struct Inputs {
  std::vector<TypedShape> types;
  std::vector<std::string> values;  // " = 1 2", or empty
};

std::optional<Inputs> ReadInputs(const std::string& text) {
  Inputs inputs;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("; ", begin), text.size());
    const std::string input = text.substr(begin, end - begin);
    const size_t type_end = std::min(input.find(" ="), input.size());
    const std::optional<std::vector<TypedShape>> type = ParseTypes(input.substr(0, type_end));
    if (!type || type->size() != 1 || !type->front().shape.known()) return std::nullopt;
    inputs.types.push_back(type->front());
    inputs.values.push_back(input.substr(type_end));
    begin = end + 2;
  }
  return inputs;
}

TEST(OpsetShapes, HoldWhatOpenExtentsMayBe) {
  std::mt19937 random(20261122);
  int compared = 0;
  for (ShapeCase shape_case : ReadShapeCases("tests/unit/compiler/ir/ops/opset/shape_cases.txt")) {
    const std::optional<Inputs> inputs = ReadInputs(shape_case.inputs);
    if (!inputs || shape_case.results == "error") continue;
    ++compared;
    SCOPED_TRACE(shape_case.op + " | " + shape_case.attributes);
    const auto infer = [&](const std::vector<TypedShape>& types) {
      shape_case.inputs.clear();
      for (size_t i = 0; i < types.size(); ++i) {
        // A constant keeps its shape.
        const bool is_constant = !inputs->values[i].empty();
        shape_case.inputs +=
            (i == 0 ? "" : "; ") + (is_constant ? inputs->types[i] : types[i]).text() + inputs->values[i];
      }
      return InferCase(shape_case);
    };
    ExpectWideningIsSound(inputs->types, infer, random);
  }
  EXPECT_GT(compared, 150);
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
