// Shape functions of OpenVINO operations where one attribute, one constant or all shapes are not as in a case
// of shape_cases.txt, and the messages about invalid nodes.

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
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

// Two mistakes of a node, each of them a change of change_cases.txt. Mistakes of the
// row (ranks, element types, attributes) are reported together, those that the shape function finds alone,
// except in operations that check each number or state.
class TwoMistakes {
 public:
  void ReadFile(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.front() == '#') continue;
      if (line.starts_with("opset")) {
        const std::vector<std::string> fields = SplitText(line, " | ");
        ASSERT_EQ(fields.size(), 3u) << line;
        base_ = {0, fields[0], fields[1], fields[2], ""};
        mistakes_.clear();
        counts_.clear();
      } else if (!ChecksEachInput(base_.op) && !line.starts_with("* ")) {
        AddChange(line.substr(0, line.find(" => ")));
      }
    }
  }
  int num_compared() const { return num_compared_; }

 private:
  struct Mistake {
    std::string change;
    bool is_of_the_row;
  };
  static constexpr int kMaxOfATarget = 3;  // mistakes of one rule at one input or attribute

  static bool ChecksEachInput(const std::string& op) {
    return op.ends_with("Cell") || op.ends_with("Sequence") || op.ends_with("STFT") || op == "opset9.Eye" ||
           op == "opset1.RegionYolo";
  }
  // Returns the input or the attribute that a change affects.
  static std::string TargetOf(const std::string& change) {
    const std::string target = change.substr(0, change.find(' '));
    return target.front() == '-' ? target.substr(1) : target;
  }

  void AddChange(const std::string& change) {
    int num_messages = 0;
    const std::string label = InferCase(Changed(base_, change), nullptr, &num_messages);
    if (!label.starts_with("opset.") || ++counts_[TargetOf(change) + label] > kMaxOfATarget) return;
    const bool is_of_the_function = label == "opset.extent" || label == "opset.axis" ||
                                    label == "opset.broadcast" || label == "opset.constant-input";
    const Mistake mistake{change, !is_of_the_function};
    for (const Mistake& other : mistakes_) Compare(other, mistake);
    mistakes_.push_back(mistake);
  }

  void Compare(const Mistake& a, const Mistake& b) {
    if ((a.is_of_the_row && b.is_of_the_row) || TargetOf(a.change) == TargetOf(b.change)) return;
    const ShapeCase both = Changed(Changed(base_, a.change), b.change);
    int num_messages = 0;
    (void)InferCase(both, nullptr, &num_messages);
    ++num_compared_;
    // One change may repair the other.
    EXPECT_LE(num_messages, 1) << base_.op << " | " << both.inputs << " | " << both.attributes;
  }

  ShapeCase base_;
  std::vector<Mistake> mistakes_;
  std::map<std::string, int> counts_;
  int num_compared_ = 0;
};

TEST(OpsetShapes, ReportOneOfTwoMistakes) {
  TwoMistakes mistakes;
  mistakes.ReadFile(kChanges);
  EXPECT_GT(mistakes.num_compared(), 3000);
}

// A value of another kind than that of an attribute of shape_cases.txt, whose kinds are those of OpenVINO.
std::string OfAnotherKind(const std::string& value) {
  if (value.front() == '"') return "7";
  if (value == "true" || value == "false") return "7";
  const bool is_list = value.front() == '[';
  const bool is_number = is_list || std::isdigit(static_cast<unsigned char>(value.back())) != 0;
  const bool is_type = std::isalpha(static_cast<unsigned char>(value.front())) != 0;
  const bool is_integer = value.find_first_of(".e") == std::string::npos;
  if (is_type || !is_number || !is_integer) return is_list ? "[\"seven\"]" : "\"seven\"";
  return is_list ? "[1.5]" : "1.5";
}

TEST(OpsetSchema, KindsOfAttributes) {
  std::set<std::string> compared;
  for (const ShapeCase& shape_case : ReadShapeCases("tests/unit/compiler/ir/ops/opset/shape_cases.txt")) {
    if (shape_case.results == "error" || shape_case.attributes.empty()) continue;
    const std::vector<std::string> attributes = SplitText(shape_case.attributes, ", ");
    for (const std::string& attribute : attributes) {
      const std::string name = attribute.substr(0, attribute.find(" = "));
      if (attribute == name || !compared.insert(fmt::format("{} {}", shape_case.op, name)).second) continue;
      const std::string value = OfAnotherKind(attribute.substr(name.size() + 3));
      EXPECT_EQ(InferCase(Changed(shape_case, fmt::format("{} = {}", name, value))), "opset.attribute-kind")
          << shape_case.op << " " << attribute << " -> " << value;
    }
  }
  EXPECT_GT(compared.size(), 400U);
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
}  // namespace nnefc::ir::ops::opset
