// Every operation with an NNEF form against raising_cases.txt.

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/raise/table.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/raise/raising_support.h"

namespace nnefc::raise {
namespace {

struct RaisingCase {
  int line = 0;
  Target target = Target::kRatified;
  std::string set = {}, operation = {}, inputs = {}, attributes = {}, results = {};
  std::vector<std::string> statements = {};  // or a reason that it has none, after "!"
};

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(Trimmed(part));
  return parts;
}

std::vector<RaisingCase> ReadCases() {
  std::vector<RaisingCase> cases;
  std::ifstream file("tests/unit/compiler/raise/raising_cases.txt");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == ' ') {
      cases.back().statements.push_back(Trimmed(line));
      continue;
    }
    const std::vector<std::string> fields = Split(line, '|');
    EXPECT_EQ(fields.size(), 4u) << line;
    const std::vector<std::string> words = Split(fields[0], ' ');
    const auto target = words.size() == 1 ? Target::kRatified : ParseTarget(words.front());
    EXPECT_TRUE(target) << line;
    const size_t dot = words.back().find('.');
    cases.push_back({.line = number,
                     .target = target.value_or(Target::kRatified),
                     .set = words.back().substr(0, dot),
                     .operation = words.back().substr(dot + 1),
                     .inputs = fields[1],
                     .attributes = fields[2],
                     .results = fields[3]});
  }
  return cases;
}

// Returns the text form of a graph of one node: "f32[2,3]" is an input, "i64[2]: 0, 1" a constant.
std::string GraphOf(const RaisingCase& one) {
  std::string text, operands;
  const std::vector<std::string> inputs = Split(one.inputs, ';');
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& input = inputs[i];
    operands += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    const size_t colon = input.find(':');
    const std::string type = input.substr(0, colon);
    const size_t bracket = type.find('[');
    if (colon == std::string::npos) {
      text += fmt::format("%{} = opset1.Parameter \"x{}\" {{element_type = {}, shape = shape{}}} : {}\n", i,
                          i, type.substr(0, bracket), type.substr(bracket), type);
    } else {
      text += fmt::format("%{} = opset1.Const \"c{}\" : {} = dense<{}>\n", i, i, type, input);
    }
  }
  const std::vector<std::string> results = Split(one.results, ';');
  const size_t node = inputs.size();
  std::string types;
  for (const std::string& result : results) types += (types.empty() ? "" : ", ") + result;
  text += results.size() == 1 ? fmt::format("%{} = ", node) : fmt::format("%{}:{} = ", node, results.size());
  text += fmt::format("{}.{} \"y\" ({}) {} : {}\n", one.set, one.operation, operands, one.attributes, types);
  for (size_t i = 0; i < results.size(); ++i)
    text += fmt::format("opset1.Result \"y{}\" (%{}.{})\n", results.size() == 1 ? "" : std::to_string(i),
                        node, i);
  return text;
}

TEST(RaisingCases, HaveTheirStatements) {
  const std::vector<RaisingCase> cases = ReadCases();
  ASSERT_GT(cases.size(), 100u);
  for (const RaisingCase& one : cases) {
    SCOPED_TRACE(fmt::format("line {}: {}", one.line, one.operation));
    const Raising raising(GraphOf(one), false, one.target);
    ASSERT_FALSE(one.statements.empty());
    if (!raising.ok()) {
      ASSERT_FALSE(raising.Messages().empty());
      // structure_test.cpp tests the advice.
      std::string message = raising.Messages().front();
      message.resize(std::min(message.size(), message.find("; `--target ")));
      EXPECT_EQ("! " + message.substr(message.find(": ") + 2), one.statements.front());
      continue;
    }
    std::string expected, actual;
    for (const std::string& statement : one.statements) expected += "  " + statement + "\n";
    for (const std::string& statement : raising.Statements()) actual += "  " + statement + "\n";
    EXPECT_EQ(actual, expected);
  }
}

TEST(RaisingCases, CoverTheRaisedOperations) {
  std::set<std::string> covered{"ReadValue", "Assign"};  // structure_test.cpp
  for (const RaisingCase& one : ReadCases()) covered.insert(one.operation);
  for (std::string_view operation : raise::RaisedOperations())
    EXPECT_TRUE(covered.contains(std::string(operation))) << operation;
}

}  // namespace
}  // namespace nnefc::raise
