// Shape functions of OpenVINO operations where one attribute, one constant or all shapes are not as in a case
// of shape_cases.txt, and the messages about invalid nodes.

#include <cctype>
#include <cstdlib>
#include <fstream>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::testing {
namespace {

constexpr const char* kChanges = "tests/unit/compiler/ir/ops/opset/change_cases.txt";
constexpr const char* kMessages = "tests/unit/compiler/ir/ops/opset/message_cases.txt";

// Returns the case with a change as make_change_cases.py writes it.
ShapeCase Changed(ShapeCase shape_case, const std::string& change) {
  if (change.starts_with("* ")) {
    shape_case.inputs = change.substr(2);
    return shape_case;
  }
  if (std::isdigit(static_cast<unsigned char>(change.front())) != 0) {
    std::vector<std::string> inputs = SplitText(shape_case.inputs, "; ");
    inputs.at(static_cast<size_t>(std::stoi(change))) = change.substr(change.find(' ') + 1);
    shape_case.inputs = fmt::format("{}", fmt::join(inputs, "; "));
    return shape_case;
  }
  const bool is_omitted = change.front() == '-';
  const std::string name = is_omitted ? change.substr(1) : change.substr(0, change.find(" = "));
  std::vector<std::string> attributes;
  for (const std::string& attribute : SplitText(shape_case.attributes, ", ")) {
    const bool is_changed = attribute.starts_with(name + " = ");
    if (!is_changed || !is_omitted) attributes.push_back(is_changed ? change : attribute);
  }
  shape_case.attributes = fmt::format("{}", fmt::join(attributes, ", "));
  return shape_case;
}

// Returns the results, or the rule and the message of an invalid node.
std::string Outcome(const ShapeCase& shape_case) {
  std::string message;
  const std::string results = InferCase(shape_case, &message);
  return message.empty() ? results : message + " [" + results + "]";
}

bool IsUpdating() {
  return std::getenv("NNEFC_UPDATE_MESSAGES") != nullptr;
}

// A result after ` | ` is not OpenVINO's. Invalid nodes have a message there. nnefc accepts inputs of unknown
// element type, pads below 0 and padding that a window never reads; it refuses attributes that OpenVINO never
// reads, or reads only when it compiles a model. Its extents may be less or more precise.
TEST(OpsetShapes, FollowChanges) {
  std::ifstream file(kChanges);
  std::string updated;
  ShapeCase base;
  int number = 0, compared = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#' || line.starts_with("opset")) {
      updated += line + "\n";
      if (!line.starts_with("opset")) continue;
      const std::vector<std::string> fields = SplitText(line, " | ");
      ASSERT_EQ(fields.size(), 3u) << line;
      base = {number, fields[0], fields[1], fields[2], ""};
      continue;
    }
    const size_t arrow = line.find(" => ");
    ASSERT_NE(arrow, std::string::npos) << line;
    const std::vector<std::string> fields = SplitText(line.substr(arrow + 4), " | ");
    ShapeCase shape_case = Changed(base, line.substr(0, arrow));
    shape_case.results = fields.front();
    const std::string outcome = Outcome(shape_case);
    ++compared;
    EXPECT_EQ(outcome, fields.back())
        << number << ": " << shape_case.op << " | " << shape_case.inputs << " | " << shape_case.attributes;
    updated += line.substr(0, arrow + 4) + fields.front();
    if (outcome != fields.front()) updated += " | " + outcome;
    updated += "\n";
  }
  EXPECT_GT(compared, 6000);
  if (IsUpdating()) std::ofstream(kChanges) << updated;
}

TEST(OpsetShapes, ReportTheFirstMistake) {
  std::ifstream file(kMessages);
  std::string updated;
  int number = 0, compared = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') {
      updated += line + "\n";
      continue;
    }
    const std::vector<std::string> fields = SplitText(line, " | ");
    ASSERT_GE(fields.size(), 3u) << line;
    const ShapeCase shape_case{number, fields[0], fields[1], fields[2], ""};
    const std::string outcome = Outcome(shape_case);
    ++compared;
    EXPECT_EQ(outcome, fields.back()) << number << ": " << line;
    updated += fields[0] + " | " + fields[1] + " | " + fields[2] + " | " + outcome + "\n";
  }
  EXPECT_GT(compared, 500);
  if (IsUpdating()) std::ofstream(kMessages) << updated;
}

}  // namespace
}  // namespace nnefc::testing
