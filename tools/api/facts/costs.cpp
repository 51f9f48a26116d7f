// The costs of models, and their tables.

#include "tools/api/facts/costs.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace nnefc::api {
namespace {

// Returns a number with a prefix of powers of 1000: 25.6 M.
std::string Scaled(double number) {
  constexpr std::string_view kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  size_t prefix = 0;
  // 999.95 is printed as 1000.0.
  while (number >= (prefix == 0 ? 1000 : 999.95) && prefix + 1 < std::size(kPrefixes)) {
    number /= 1000;
    ++prefix;
  }
  return prefix == 0 ? fmt::format("{:.0f}", number) : fmt::format("{:.1f}{}", number, kPrefixes[prefix]);
}

// Returns a number of bytes: 25.6 MB.
std::string Bytes(int64_t number) {
  const std::string scaled = Scaled(static_cast<double>(number));
  return scaled + (number < 1000 ? " B" : "B");
}

std::string ShapesOf(const ir::Node& node) {
  std::vector<std::string> shapes;
  for (const ir::Output& output : node.outputs()) shapes.push_back(TypeText(output.type, output.shape));
  return fmt::format("{}", fmt::join(shapes, ", "));
}

// Returns a value with quotes if it has a separator, a quote or a line end.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char each : text) {
    if (each == '"') quoted += '"';
    quoted += each;
  }
  return quoted + "\"";
}

}  // namespace

std::optional<ModelCosts> CostsOf(const driver::Compilation& compilation) {
  std::optional<ir::ops::GraphCosts> costs = ir::ops::FindCosts(*compilation.lowered());
  if (!costs) return std::nullopt;
  return ModelCosts{*compilation.lowered(), std::move(*costs)};
}

std::string TypeText(ElementType type, const ir::PartialShape& shape) {
  return fmt::format("{}{}", Name(type), ir::ToString(shape));
}

std::string CostsText(const ModelCosts& model, int64_t limit, const Painter& paint) {
  const auto& [graph, costs] = model;
  std::string text;
  const auto head = [&](std::string_view name) { return paint.Head(fmt::format("{:<12}", name)); };
  text += fmt::format("{}{}\n", head("graph"), graph.name());
  text += fmt::format("{}{}, {}\n", head("parameters"), Scaled(static_cast<double>(costs.parameters)),
                      Bytes(costs.parameter_bytes));
  text += fmt::format("{}{}\n", head("MACs"), Scaled(costs.macs));
  text += fmt::format("{}{}", head("activations"), Bytes(costs.output_bytes));
  if (costs.peak_node.valid())
    text += fmt::format(", at most {} at once, in {}", Bytes(costs.peak_bytes),
                        paint.Name(graph.node(costs.peak_node).name()));
  text += "\n";
  if (limit == 0) return text;
  text += fmt::format("{:>12} {:>10} {:>6} {:>10}  {:<24} {:<36} {}\n", "parameters", "MACs", "%", "bytes",
                      "operation", "name", "output");
  int64_t shown = 0;
  for (const ir::ops::OperationCosts& each : costs.operations) {
    if (limit >= 0 && shown++ == limit) {
      text += fmt::format("  ... and {} more\n", static_cast<int64_t>(costs.operations.size()) - limit);
      return text;
    }
    const ir::Node& node = graph.node(each.node);
    text += fmt::format("{:>12} {:>10} {:>6.1f} {:>10}  {} {:<36} {}\n",
                        Scaled(static_cast<double>(each.parameters)), Scaled(each.macs),
                        costs.macs == 0 ? 0 : 100 * each.macs / costs.macs,
                        Scaled(static_cast<double>(each.output_bytes)),
                        paint.Name(fmt::format("{:<24}", node.type())), node.name(), ShapesOf(node));
  }
  return text;
}

std::string CostsCsv(const ModelCosts& model) {
  const auto& [graph, costs] = model;
  std::string text = "name,operation,output,parameters,parameter_bytes,macs,output_bytes\n";
  for (const ir::ops::OperationCosts& each : costs.operations) {
    const ir::Node& node = graph.node(each.node);
    text += fmt::format("{},{},{},{},{},{:.0f},{}\n", CsvField(node.name()), CsvField(node.type()),
                        CsvField(ShapesOf(node)), each.parameters, each.parameter_bytes, each.macs,
                        each.output_bytes);
  }
  return text;
}

nlohmann::ordered_json TotalsJson(const ModelCosts& model) {
  const auto& [graph, costs] = model;
  nlohmann::ordered_json json = {{"parameters", costs.parameters},
                                 {"parameter_bytes", costs.parameter_bytes},
                                 {"macs", costs.macs},
                                 {"output_bytes", costs.output_bytes},
                                 {"peak_bytes", costs.peak_bytes}};
  if (costs.peak_node.valid()) json["peak_operation"] = graph.node(costs.peak_node).name();
  return json;
}

nlohmann::ordered_json CostsJson(const ModelCosts& model, const std::string& name) {
  const auto& [graph, costs] = model;
  nlohmann::ordered_json json = {{"model", name}, {"graph", graph.name()}};
  json.update(TotalsJson(model));
  json["operations"] = nlohmann::ordered_json::array();
  for (const ir::ops::OperationCosts& each : costs.operations) {
    const ir::Node& node = graph.node(each.node);
    json["operations"].push_back({{"name", node.name()},
                                  {"operation", node.type()},
                                  {"parameters", each.parameters},
                                  {"parameter_bytes", each.parameter_bytes},
                                  {"macs", each.macs},
                                  {"output_bytes", each.output_bytes}});
  }
  return json;
}

}  // namespace nnefc::api
