#include "tests/unit/compiler/ir/ops/widening.h"

#include <fstream>
#include <sstream>

#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

// A line of tests/unit/compiler/lower/lowering_cases.txt, which has each operation of the standard library in
// several settings.
struct Line {
  std::string op;
  std::vector<TypedShape> inputs;
  std::string attributes;
  int num_outputs = 1;
};

std::optional<Line> ReadLine(const std::string& text) {
  std::vector<std::string> fields;
  std::istringstream stream(text);
  for (std::string field; std::getline(stream, field, '|');) {
    const size_t begin = field.find_first_not_of(' ');
    fields.push_back(
        begin == std::string::npos ? "" : field.substr(begin, field.find_last_not_of(' ') + 1 - begin));
  }
  if (text.empty() || text.front() == '#' || fields.size() < 4) return std::nullopt;
  Line line{.op = fields[0], .inputs = {}, .attributes = fields[2]};
  std::istringstream inputs(fields[1]);
  for (std::string input; inputs >> input;) {
    const std::optional<std::vector<TypedShape>> type =
        ParseTypes(input.front() == '=' ? "f32[]" : input.substr(input.find(':') + 1));
    if (!type || type->size() != 1 || !type->front().shape.known()) return std::nullopt;
    line.inputs.push_back(type->front());
  }
  std::istringstream results(fields[3]);
  line.num_outputs = 0;
  for (std::string result; results >> result;) ++line.num_outputs;
  return line;
}

TEST(StandardShapes, HoldWhatOpenExtentsMayBe) {
  std::mt19937 random(20261122);
  std::ifstream file("tests/unit/compiler/lower/lowering_cases.txt");
  int compared = 0;
  for (std::string text; std::getline(file, text);) {
    const std::optional<Line> line = ReadLine(text);
    if (!line || line->inputs.empty()) continue;
    SCOPED_TRACE(text);
    const auto infer = [&](const std::vector<TypedShape>& types) {
      std::vector<std::string> texts;
      texts.reserve(types.size());
      for (const TypedShape& type : types) texts.push_back(type.text());
      Inference inference{.op = line->op, .attributes = line->attributes, .num_outputs = line->num_outputs};
      inference.inputs.assign(texts.begin(), texts.end());
      return Infer(inference);
    };
    if (infer(line->inputs).find('[') == std::string::npos) continue;
    ++compared;
    ExpectWideningIsSound(line->inputs, infer, random);
  }
  EXPECT_GT(compared, 150);
}

}  // namespace
}  // namespace nnefc::ir::ops
