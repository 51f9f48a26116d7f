#include "tests/differential/describe.h"

#include <algorithm>
#include <set>

#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "tests/differential/proposals.h"

namespace nnefc::differential {

namespace {

using nlohmann::ordered_json;

ordered_json ToJson(const ir::Attribute& attribute) {
  if (const auto* flag = attribute.get<bool>()) return *flag;
  if (const auto* integer = attribute.get<int64_t>()) return *integer;
  if (const auto* number = attribute.get<double>()) return *number;
  if (const auto* text = attribute.get<std::string>()) return *text;
  if (const auto* type = attribute.get<ElementType>()) return Name(*type);
  if (const auto* integers = attribute.get<ir::Attribute::Integers>()) return *integers;
  if (const auto* numbers = attribute.get<ir::Attribute::Scalars>()) return *numbers;
  if (const auto* shape = attribute.get<ir::PartialShape>()) return ir::ToString(*shape);
  return ordered_json::array();
}

ordered_json ToJson(const InputProposal& input, Random& random) {
  ordered_json json{{"type", Name(input.type)}, {"shape", input.shape}, {"values", nullptr}};
  if (!input.constant) return json;
  const TensorValue value = MakeConstant(input, random);
  json["values"] = ordered_json::array();
  for (int64_t i = 0; i < value.volume(); ++i) json["values"].push_back(value.ElementAsDouble(i));
  return json;
}

void Print(const OperationDescription& operation, const Proposal& proposal, const std::string& message) {
  ordered_json json{{"set", operation.set}, {"name", operation.name}, {"inputs", ordered_json::array()}};
  Random random(1);
  for (const InputProposal& input : proposal.inputs) json["inputs"].push_back(ToJson(input, random));
  json["attributes"] = ordered_json::object();
  for (const auto& [name, value] : proposal.attributes) json["attributes"][name] = ToJson(value);
  json["outputs"] = proposal.outputs;
  json["message"] = message;
  json["results"] = ordered_json::array();
  for (const ValueKind& result : proposal.results)
    json["results"].push_back({{"type", Name(result.type)}, {"shape", result.shape}});
  fmt::print("{}\n", json.dump());
}

std::string_view Word(ir::AttributeKind kind) {
  switch (kind) {
    case ir::AttributeKind::kBool:
      return "bool";
    case ir::AttributeKind::kInt:
      return "int";
    case ir::AttributeKind::kDouble:
      return "double";
    case ir::AttributeKind::kString:
      return "string";
    case ir::AttributeKind::kInts:
      return "ints";
    case ir::AttributeKind::kDoubles:
      return "doubles";
    case ir::AttributeKind::kType:
      return "type";
    case ir::AttributeKind::kShape:
      return "shape";
    case ir::AttributeKind::kPairs:
      return "pairs";
    case ir::AttributeKind::kGeneric:
      return "generic";
  }
  return "";
}

std::string_view Word(ir::AttributeRange range) {
  switch (range) {
    case ir::AttributeRange::kAny:
      return "any";
    case ir::AttributeRange::kPositive:
      return "positive";
    case ir::AttributeRange::kNonNegative:
      return "non-negative";
  }
  return "";
}

}  // namespace

void PrintRows(const ir::OpRegistry& registry) {
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
    ordered_json json{{"set", row.set}, {"name", row.name}, {"section", row.section}};
    json["inputs"] = ordered_json::array();
    for (const ir::InputInfo& input : row.inputs)
      json["inputs"].push_back(
          {{"name", input.name}, {"optional", input.optional}, {"variadic", input.variadic}});
    json["attributes"] = ordered_json::array();
    for (const ir::AttributeInfo& attribute : row.attributes) {
      ordered_json listed{{"name", attribute.name}, {"kind", Word(attribute.kind)}};
      listed["range"] = Word(attribute.range);
      listed["choices"] = attribute.choices;
      listed["has_default"] = attribute.fallback.has_value();
      listed["default"] = attribute.fallback ? ToJson(*attribute.fallback) : ordered_json(nullptr);
      json["attributes"].push_back(listed);
    }
    fmt::print("{}\n", json.dump());
  }
}

void Describe(const ir::OpRegistry& registry, const DescribeOptions& options) {
  const Prober prober(registry, kMaxElements);
  for (const OperationDescription& operation : DescribeOpsets()) {
    const std::string name = fmt::format("{}.{}", operation.set, operation.name);
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), name) == options.only.end())
      continue;
    Random random(options.seed);
    const std::vector<Proposal> accepted = prober.Explore(operation, options.tries, 24, random);
    for (const Proposal& proposal : accepted) Print(operation, proposal, "");
    std::string message;
    for (int64_t i = 0; i < options.near_misses && !accepted.empty(); ++i) {
      Proposal changed = prober.Change(operation, random.Pick(accepted), {}, message, random);
      changed.results.clear();
      message.clear();
      // A node without a verdict is too large for the search, or of unknown shape.
      if (prober.Accept(operation, changed, message) || !IsNoVerdict(message))
        Print(operation, changed, message);
    }
  }
}

}  // namespace nnefc::differential
