// The command `nnefc inspect`: prints an overview of a model.

#include <algorithm>
#include <map>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/paint.h"
#include "tools/api/facts/document_facts.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/commands/costs.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

bool IsVariable(const ir::Node& node) {
  return node.Is(ir::OpRole::kVariable) || node.Is(ir::OpRole::kConst);
}
bool IsLayer(const ir::Node& node) {
  return !node.info().is_source && !node.Is(ir::OpRole::kResult);
}

// The summary of a graph of NNEF operations.
struct Overview {
  std::map<std::string, int64_t> kinds;  // number of operations by name
  int64_t operations = 0;
  int64_t variables = 0;
  int64_t values = 0;  // elements of all variables
  std::vector<ir::NodeId> layers;
};

Overview Survey(const ir::Graph& graph) {
  Overview overview;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (IsVariable(node)) {
      ++overview.variables;
      overview.values += node.output().shape.volume().value_or(0);
    }
    if (!IsLayer(node)) continue;
    ++overview.operations;
    ++overview.kinds[node.type()];
    overview.layers.push_back(id);
  }
  return overview;
}

std::string LanguageOf(const driver::Compilation& compilation) {
  if (compilation.format() == driver::ModelFormat::kOpenVino) return "OpenVINO IR";
  if (compilation.format() == driver::ModelFormat::kGraphText) return "text of a graph";
  return std::string(compilation.checked()->dialect().title);
}

std::string OutputName(const ir::Node& node, int32_t index) {
  const ir::Output& output = node.output(index);
  if (!output.names.empty()) return output.names.front();
  return node.num_outputs() == 1 ? node.name() : fmt::format("{}.{}", node.name(), index);
}

std::string NameOf(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Node& producer = graph.node(port.node);
  bool literal = producer.Is(ir::OpRole::kConstant) && producer.output().names.empty();
  return literal ? "literal" : OutputName(producer, port.index);
}

std::vector<std::pair<std::string, int64_t>> ByCount(const std::map<std::string, int64_t>& kinds) {
  std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

// Returns the shape of a node's output; one of unknown rank if it is computed from trial extents of symbols.
ir::PartialShape ShownShape(const driver::Compilation& compilation, const ir::Node& node, int32_t index) {
  const expand::ExpandedDocument& expansion = compilation.expansion();
  if (!expansion.is_trial() || IsVariable(node)) return node.output(index).shape;
  const auto open = expansion.open_shapes.find(OutputName(node, index));
  if (!node.Is(ir::OpRole::kExternal)) return {};
  return open == expansion.open_shapes.end() ? node.output(index).shape : open->second;
}

// Returns the type of an input, with symbols in open extents: `f32[2*S,4]`.
std::string InputType(const driver::Compilation& compilation, const ir::Node& node) {
  const auto& texts = compilation.expansion().open_extents;
  const auto found = texts.find(node.name());
  if (found == texts.end()) return FormatType(node.output().type, node.output().shape);
  return fmt::format("{}[{}]", Name(node.output().type), fmt::join(found->second, ","));
}

// Lists the first `layers` operations, or all if negative.
Json ToJson(const driver::Compilation& compilation, const Overview& overview, int64_t layers) {
  const ir::Graph& graph = compilation.graph();
  auto port = [&](const std::string& name, const ir::Node& node, int32_t index) -> Json {
    return {{"name", name},
            {"type", Name(node.output(index).type)},
            {"shape", ShapeToJson(ShownShape(compilation, node, index))}};
  };
  Json json = {{"model", compilation.path()},         {"graph", graph.name()},
               {"language", LanguageOf(compilation)}, {"operations", overview.operations},
               {"variables", overview.variables},     {"parameters", overview.values}};
  for (ir::NodeId id : graph.parameters())
    json["inputs"].push_back(port(graph.node(id).name(), graph.node(id), 0));
  for (ir::NodeId id : graph.results()) {
    const ir::OutputPort result = graph.node(id).input(0);
    json["outputs"].push_back(port(graph.node(id).name(), graph.node(result.node), result.index));
  }
  for (const auto& [kind, count] : ByCount(overview.kinds)) json["kinds"][kind] = count;
  const api::DocumentFacts facts = api::FactsOf(compilation);
  for (const auto& [key, value] : facts.properties) json["properties"][key] = value;
  if (!facts.symbols.empty()) json["symbols"] = facts.symbols;
  if (!facts.assertions.empty()) json["assertions"] = facts.assertions;
  json["layers"] = Json::array();
  for (ir::NodeId id : overview.layers) {
    if (layers >= 0 && static_cast<int64_t>(json["layers"].size()) == layers) break;
    const ir::Node& node = graph.node(id);
    Json layer = {{"operation", node.type()}, {"inputs", Json::array()}, {"outputs", Json::array()}};
    for (ir::OutputPort input : node.inputs()) layer["inputs"].push_back(NameOf(graph, input));
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      layer["outputs"].push_back(port(OutputName(node, i), node, i));
    }
    json["layers"].push_back(std::move(layer));
  }
  return json;
}

struct InspectCommand : CommonOptions {
  int64_t layers = -1;
  bool shows_costs = false;
  bool prints_csv = false;

  int Run() {
    RequireReportName(output, output_format());
    int exit_code = kSuccess;
    Json all = Json::array();
    Reporter reporter(*this);
    for (const std::string& model : models) {
      driver::CompileOptions model_options = compile_options(model);
      model_options.structure_only = shows_costs || prints_csv;
      driver::Compilation compilation(ShownModel(model), std::move(model_options));
      const bool ok =
          RunStages(compilation, shows_costs || prints_csv ? driver::Stage::kLower : driver::Stage::kExpand);
      exit_code = std::max(exit_code, reporter.Report(compilation));
      if (!ok) continue;
      if (shows_costs || prints_csv) {
        const std::optional<ir::ops::GraphCosts> costs = api::CostsOf(compilation);
        if (!costs) {
          PrintError(fmt::format("{}: the costs depend on unknown extents or numbers of iterations", model),
                     compilation.format() == driver::ModelFormat::kNnef
                         ? "set them by --input-shape NAME=EXTENTS"
                         : "set them where the model is converted");
          exit_code = kInvalid;
        } else if (prints_csv) {
          PrintCostsAsCsv(*compilation.lowered(), *costs);
        } else if (prints_text()) {
          PrintCosts(*compilation.lowered(), *costs, layers, api::Painter(UseColorFor(color, output)));
        } else {
          all.push_back(CostsToJson(compilation.path(), *compilation.lowered(), *costs));
        }
        continue;
      }
      Overview overview = Survey(compilation.graph());
      if (prints_text()) {
        PrintOverview(compilation, overview);
      } else {
        all.push_back(ToJson(compilation, overview, layers));
      }
    }
    if (!prints_text() && !prints_csv) Print("{}\n", Json({{"models", all}}).dump(2));
    return exit_code;
  }

  void PrintOverview(const driver::Compilation& compilation, const Overview& overview) const {
    const ir::Graph& graph = compilation.graph();
    const api::Painter paint(UseColorFor(color, output));
    const auto head = [&](std::string_view text) { return paint.Head(fmt::format("{:<12}", text)); };
    Print("{}{} ({})\n", head("graph"), graph.name(), LanguageOf(compilation));
    const api::DocumentFacts facts = api::FactsOf(compilation);
    for (const auto& [key, value] : facts.properties) Print("{}{}: {}\n", head("property"), key, value);
    if (!facts.symbols.empty()) Print("{}{}\n", head("symbols"), fmt::join(facts.symbols, ", "));
    for (const std::string& assertion : facts.assertions) Print("{}{}\n", head("assertion"), assertion);
    for (ir::NodeId id : graph.parameters()) {
      Print("{}{} {}\n", head("input"), graph.node(id).name(), InputType(compilation, graph.node(id)));
    }
    for (ir::NodeId id : graph.results()) {
      const ir::OutputPort result = graph.node(id).input(0);
      Print("{}{} {}\n", head("output"), graph.node(id).name(),
            FormatType(graph.output(result).type,
                       ShownShape(compilation, graph.node(result.node), result.index)));
    }
    Print("{}{}, {:.2f} million values\n", head("variables"), overview.variables,
          static_cast<double>(overview.values) / 1e6);
    Print("{}{}:", head("operations"), overview.operations);
    for (const auto& [kind, count] : ByCount(overview.kinds)) Print(" {} {}", count, paint.Name(kind));
    Print("\n");
    if (layers != 0) PrintLayers(compilation, overview, paint);
  }

  void PrintLayers(const driver::Compilation& compilation, const Overview& overview,
                   const api::Painter& paint) const {
    const ir::Graph& graph = compilation.graph();
    int64_t shown = 0;
    for (ir::NodeId id : overview.layers) {
      if (layers >= 0 && shown++ == layers) {
        Print("  ... and {} more\n", static_cast<int64_t>(overview.layers.size()) - layers);
        return;
      }
      const ir::Node& node = graph.node(id);
      std::vector<std::string> inputs;
      std::vector<std::string> outputs;
      outputs.reserve(static_cast<size_t>(node.num_outputs()));
      for (ir::OutputPort input : node.inputs()) inputs.push_back(NameOf(graph, input));
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        outputs.push_back(fmt::format("{} {}", OutputName(node, i),
                                      FormatType(node.output(i).type, ShownShape(compilation, node, i))));
      }
      Print("  {:<42} = {}( {} )\n", fmt::format("{}", fmt::join(outputs, ", ")), paint.Name(node.type()),
            fmt::join(inputs, ", "));
    }
  }
};

}  // namespace

void AddInspect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InspectCommand>();
  CLI::App* command = app.add_subcommand("inspect", "show a model's inputs, outputs, operations and shapes");
  AddCommonOptions(*command, *options, 0, ModelKind::kAny, ReportForms::kResult);
  AddQuantize(*command, *options);
  command->add_option("--layers", options->layers, "list only the first N operations")
      ->type_name("N")
      ->check(Between(0, 1'000'000'000));
  command->add_flag("--costs", options->shows_costs,
                    "show the parameters, multiply-accumulates and bytes of each operation of the lowered "
                    "graph, and their totals");
  command->add_flag("--csv", options->prints_csv, "print these costs as comma-separated values");
  command->footer("Examples:\n  nnefc inspect model.nnef --layers 8\n  nnefc inspect model.nnef --costs");
  AddOutput(*command, options->output, "the file to write; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli
