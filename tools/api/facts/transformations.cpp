// Lists of transformations and their effects on a graph.

#include "tools/api/facts/transformations.h"

#include <memory>
#include <utility>

#include "compiler/driver/stages.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/text/text.h"
#include "compiler/support/text/text_diff.h"
#include "compiler/transform/pipeline/standard.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/differences/model_difference.h"
#include "tools/api/facts/profile.h"

namespace nnefc::api {

using transform::Transformation;

std::optional<std::vector<ListedTransformation>> ListTransformations(const driver::TransformOptions& options,
                                                                     const plugin::Plugins& plugins,
                                                                     Context& context,
                                                                     bool& environment_failed) {
  const std::optional<transform::TransformationList> list =
      driver::MakeTransformations(options, plugins, context, environment_failed);
  const auto order = list ? list->Order(context.emitter) : std::nullopt;
  if (!order) return std::nullopt;
  std::vector<ListedTransformation> listed;
  for (const Transformation* item : *order) {
    listed.push_back({.name = item->name(),
                      .phase = std::string(transform::Name(item->phase())),
                      .kind = std::string(item->kind()),
                      .is_anchor = item->is_anchor(),
                      .is_enabled = item->enabled,
                      .switched_by = item->switched_by});
  }
  return listed;
}

namespace {

std::string TimeLine(const std::string& name, const transform::TransformationReport& report) {
  return fmt::format("{:<48} {:>10} {:>8} -> {} nodes\n", name, TimeText(report.milliseconds),
                     report.nodes_before, report.nodes_after);
}

// Returns a copy without the nodes that reach no result. Those that a transformation replaces remain in its
// graph.
std::shared_ptr<const ir::Graph> LiveCopy(const ir::Graph& graph) {
  std::unique_ptr<ir::Graph> copy = ir::Clone(graph);
  copy->EraseDeadNodes();
  return copy;
}

}  // namespace

std::string TransformationTimes(const driver::Compilation& compilation) {
  const transform::Pipeline* pipeline = compilation.pipeline();
  if (pipeline == nullptr || pipeline->reports().empty()) return "";
  std::string text;
  transform::TransformationReport all;
  for (const transform::TransformationReport& report : pipeline->reports()) {
    text += TimeLine(report.transformation->name(), report);
    all.milliseconds += report.milliseconds;
  }
  all.nodes_before = pipeline->reports().front().nodes_before;
  all.nodes_after = pipeline->reports().back().nodes_after;
  return text + TimeLine("all", all);
}

void KeepTensors(driver::TransformOptions& options) {
  Emitter unheard;
  const transform::TransformationList list = transform::StandardTransformations();
  const std::optional<std::vector<Transformation*>> order = list.Order(unheard);
  NNEFC_CHECK(order.has_value());
  for (const Transformation* item : *order) {
    const bool is_enabled =
        llvm::any_of(options.enabled, [&](const std::string& name) { return list.Find(name) == item; });
    // Those of the target phase change graphs whose tensors are results already.
    if (item->phase() == transform::Phase::kTarget) continue;
    if (!item->is_anchor() && !is_enabled) options.disabled.push_back(item->name());
  }
}

bool ResolveNames(GraphTrace& trace, const driver::TransformOptions& options, const plugin::Plugins& plugins,
                  Emitter& emitter) {
  Context context;
  bool environment_failed = false;
  const std::optional<transform::TransformationList> known =
      driver::MakeTransformations(options, plugins, context, environment_failed);
  if (!known) return true;
  bool found_all = true;
  const auto find = [&](const std::string& name) {
    const Transformation* found = known->FindOrReport(name, emitter);
    found_all &= found != nullptr;
    return found;
  };
  for (std::vector<std::string>* names : {&trace.before, &trace.after, &trace.diff, &trace.difference}) {
    for (std::string& name : *names) {
      if (name == "all") continue;
      if (const Transformation* found = find(name)) name = found->name();
    }
  }
  for (const std::string& name : options.pipeline.only) find(name);
  if (!options.pipeline.stop_after.empty()) find(options.pipeline.stop_after);
  return found_all;
}

void TraceGraphs(const GraphTrace& trace, driver::TransformOptions& options,
                 std::function<void(const std::string&)> print) {
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return llvm::is_contained(names, "all") || llvm::is_contained(names, name);
  };
  const auto text_before = std::make_shared<std::string>();
  const auto copy_before = std::make_shared<std::shared_ptr<const ir::Graph>>();
  options.pipeline.before = [=, &trace](const Transformation& item, const ir::Graph& graph) {
    const std::string name = item.name();
    if (contains(trace.before, name)) print(fmt::format("// before {}\n{}", name, ir::PrintGraph(graph)));
    if (contains(trace.diff, name)) *text_before = ir::PrintGraph(graph);
    if (contains(trace.difference, name)) *copy_before = LiveCopy(graph);
  };
  options.pipeline.after = [=, &trace](const Transformation& item, const ir::Graph& graph) {
    const std::string name = item.name();
    if (contains(trace.after, name)) print(fmt::format("// after {}\n{}", name, ir::PrintGraph(graph)));
    if (contains(trace.diff, name))
      print(UnifiedDiff(*text_before, ir::PrintGraph(graph), "before " + name, "after " + name));
    if (!contains(trace.difference, name)) return;
    const std::shared_ptr<const ir::Graph> copy_after = LiveCopy(graph);
    if (trace.record) return trace.record(name, std::move(*copy_before), copy_after);
    const ComparedGraph before = {.name = "before " + name, .outline = OutlineOf(**copy_before)};
    const ComparedGraph after = {.name = "after " + name, .outline = OutlineOf(*copy_after)};
    const std::string text =
        DifferenceText(CompareGraphs(before, after, /*compares_data=*/true), before, after);
    if (!text.empty()) print(fmt::format("--- before {0}\n+++ after {0}\n{1}", name, text));
  };
}

}  // namespace nnefc::api
