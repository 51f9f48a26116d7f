// Descriptions of configurations of transformations.

#include "tools/api/facts/configuration_explainer.h"

#include "compiler/driver/stages.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/transform/configuration/subgraph_match.h"
#include "compiler/transform/scoped_names.h"

namespace nnefc::api {
namespace {

using transform::MatchKind;
using transform::ReplacementDescription;

std::string Quoted(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  return text;
}

std::string PortText(const transform::NodePort& port) {
  return fmt::format("port {} of `{}`", port.port, port.node);
}

// Returns a description of the transformation that reads an entry.
std::string ReaderOf(const ReplacementDescription& entry,
                     llvm::ArrayRef<transform::Transformation*> transformations) {
  if (!entry.op.empty()) return fmt::format("each instance becomes one `{}`", entry.op);
  for (const transform::Transformation* item : transformations) {
    if (item->replacement_id() != entry.id) continue;
    return fmt::format("read by `{}`, a {}{}{}", item->name(), item->kind(),
                       item->plugin.empty() ? "" : fmt::format(" of `{}`", item->plugin),
                       item->enabled ? "" : ", which is disabled");
  }
  return "not read: no transformation has this `replacement_id`";
}

// Returns the lines of an entry without the instances in a model.
std::string Selection(const ReplacementDescription& entry) {
  std::string text;
  switch (entry.kind) {
    case MatchKind::kGeneral:
      text += "  runs once, on the whole graph\n";
      break;
    case MatchKind::kScope:
      text += fmt::format("  selects nodes whose names begin with {}\n", Quoted(entry.scopes));
      break;
    case MatchKind::kPoints:
      text += fmt::format("  selects the nodes from {} to {}\n", Quoted(entry.start_points),
                          Quoted(entry.end_points));
      break;
  }
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    std::string ports;
    for (const transform::NodePort& port : entry.inputs[i])
      ports += (ports.empty() ? "" : ", ") + PortText(port);
    text += fmt::format("  input {}: {}\n", i, ports);
  }
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    text += fmt::format("  output {}: {}\n", i, PortText(entry.outputs[i]));
  if (entry.kind == MatchKind::kScope && (entry.inputs.empty() || entry.outputs.empty()))
    text += "  lacks inputs or outputs; `--custom-operations-config-update` adds them\n";
  std::vector<std::string> attributes;
  for (const auto& [name, value] : entry.custom_attributes) attributes.push_back(name);
  if (!attributes.empty()) text += fmt::format("  attributes: {}\n", Quoted(attributes));
  return text;
}

}  // namespace

std::optional<ConfigurationExplainer> ConfigurationExplainer::Make(const driver::TransformOptions& options,
                                                                   const plugin::Plugins& plugins,
                                                                   Context& context,
                                                                   bool& environment_failed) {
  const auto list = driver::MakeTransformations(options, plugins, context, environment_failed);
  const auto order = list ? list->Order(context.emitter) : std::nullopt;
  if (!order) return std::nullopt;
  // The list has reported the mistakes of the file.
  Context again;
  const ErrorOr<FileId> file = again.sources.Open(options.configuration);
  auto configuration = file ? transform::ReadConfiguration(*file, again) : std::nullopt;
  if (!configuration) return std::nullopt;
  ConfigurationExplainer explainer;
  explainer.path_ = options.configuration;
  for (const ReplacementDescription& entry : configuration->entries) {
    explainer.lines_.push_back(again.sources.Position(entry.range.start()).line);
    explainer.readers_.push_back(ReaderOf(entry, *order));
  }
  explainer.configuration_ = std::move(*configuration);
  return explainer;
}

void ConfigurationExplainer::Watch(driver::TransformOptions& options) {
  options.pipeline.before = [this](const transform::Transformation& transformation, const ir::Graph& graph) {
    Visit(transformation, graph);
  };
}

void ConfigurationExplainer::Visit(const transform::Transformation& transformation, const ir::Graph& graph) {
  for (size_t i = 0; i < configuration_.entries.size(); ++i) {
    const ReplacementDescription& entry = configuration_.entries[i];
    const bool is_read = transformation.replacement_id() == entry.id && instances_.count(i) == 0;
    if (!is_read || entry.kind == MatchKind::kGeneral) continue;
    std::string& text = instances_[i];
    const auto log = [&](const std::string& reason) { text += fmt::format("  no instance: {}\n", reason); };
    const std::unique_ptr<ir::Graph> copy = ir::Clone(graph);
    transform::Graph view(*copy);
    const transform::ScopedNames names(*copy);
    try {
      for (const transform::SubgraphMatch& match : FindInstances(view, names, entry, log)) {
        text += fmt::format("  instance{}, nodes: {}, inputs: {}, outputs: {}\n",
                            match.scope().empty() ? "" : fmt::format(" `{}`", match.scope()),
                            match.nodes().size(), match.inputs_count(), match.outputs_count());
      }
    } catch (const transform::Error& error) {
      log(error.what());
    }
  }
}

std::string ConfigurationExplainer::Text() const {
  std::string text;
  for (size_t i = 0; i < configuration_.entries.size(); ++i) {
    const ReplacementDescription& entry = configuration_.entries[i];
    text += fmt::format("{}:{}: `{}`, `match_kind` `{}`\n  {}\n{}", path_, lines_[i], entry.id,
                        transform::Name(entry.kind), readers_[i], Selection(entry));
    if (const auto found = instances_.find(i); found != instances_.end()) text += found->second;
  }
  return text;
}

}  // namespace nnefc::api
