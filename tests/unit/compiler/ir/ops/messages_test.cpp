// The first message about a node of an NNEF operation that breaks a rule, where it points, and its fix.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/text/text_values.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/standard_ops.h"

namespace nnefc::ir::ops {
namespace {

constexpr const char* kMessages = "tests/unit/compiler/ir/ops/message_cases.txt";

// Remembers the argument that is searched last. All arguments are literals.
class LastPlace : public ir::ArgumentPlaces {
 public:
  SourceRange Find(std::string_view argument, int64_t item) const override {
    text_ = item < 0 ? std::string(argument) : fmt::format("{}[{}]", argument, item);
    return {FileId(0), 0, 1};
  }
  bool IsLiteral(std::string_view, int64_t) const override { return true; }
  const std::string& text() const { return text_; }

 private:
  mutable std::string text_;
};

std::vector<std::string> Fields(const std::string& text, const std::string& separator) {
  std::vector<std::string> fields;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    fields.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return fields;
    begin = end + separator.size();
  }
}

// Returns "MESSAGE [RULE] at ARGUMENT, fix TEXT" for the first diagnostic, or the types of the results.
std::string Outcome(const std::string& op, const std::string& inputs, const std::string& attributes,
                    int num_outputs) {
  Context context;
  Graph graph(&StandardOps(), "test");
  std::vector<OutputPort> ports;
  for (const std::string& input : inputs.empty() ? std::vector<std::string>() : Fields(inputs, "; ")) {
    TextScanner scanner(context.sources.AddText("type", input), context);
    const std::optional<TypeText> type = ir::ParseTypeText(scanner);
    EXPECT_TRUE(type.has_value()) << input;
    if (type) ports.push_back({AddParameter(graph, "x", type->type, type->shape), 0});
  }
  const OpId id = StandardOps().Find(kNnefSet, op);
  EXPECT_TRUE(id.valid()) << op;
  if (!id.valid()) return "";
  AttributeMap completed = CompletedAttributes(StandardOps().Info(id), attributes);
  const NodeId node = AddNode(
      graph, kNnefSet, op, {.inputs = ports, .attributes = std::move(completed), .num_outputs = num_outputs});
  Emitter emitter;
  const LastPlace places;
  const bool is_inferred = ir::InferNode(graph, node, emitter, &places);
  EXPECT_EQ(is_inferred, !emitter.has_errors());
  std::string results;
  for (const Output& output : graph.node(node).outputs())
    results += (results.empty() ? "" : "; ") + std::string(Name(output.type)) + ToString(output.shape);
  if (emitter.diagnostics().empty()) return results;
  const Diagnostic& first = emitter.diagnostics().front();
  std::string text = fmt::format("{} [{}]", first.message, first.rule->label);
  if (!places.text().empty()) text += " at " + places.text();
  for (const FixIt& fix : first.fixes) text += ", fix " + fix.text;
  // The first mistake is reported alone.
  EXPECT_EQ(emitter.diagnostics().size(), 1U) << op << " | " << inputs << " | " << attributes;
  return text;
}

TEST(StandardMessages, NameArgumentsAndFixes) {
  std::ifstream file(kMessages);
  std::string updated;
  int number = 0, compared = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') {
      updated += line + "\n";
      continue;
    }
    const std::vector<std::string> fields = Fields(line, " | ");
    ASSERT_EQ(fields.size(), 5u) << line;
    const std::string outcome = Outcome(fields[0], fields[1], fields[2], std::stoi(fields[3]));
    ++compared;
    EXPECT_EQ(outcome, fields[4]) << number << ": " << line;
    updated += fmt::format("{} | {} | {} | {} | {}\n", fields[0], fields[1], fields[2], fields[3], outcome);
  }
  EXPECT_GT(compared, 300);
  if (std::getenv("NNEFC_UPDATE_MESSAGES") != nullptr) std::ofstream(kMessages) << updated;
}

}  // namespace
}  // namespace nnefc::ir::ops
