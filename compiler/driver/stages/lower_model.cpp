// The stages after expansion: lowering to OpenVINO operations, the pipeline of transformations, and the form
// that OpenVINO reads.

#include "compiler/driver/data/variable_data.h"
#include "compiler/driver/rules.h"
#include "compiler/driver/stages.h"
#include "compiler/lower/lower.h"
#include "compiler/transform/configuration/configuration.h"
#include "compiler/transform/pipeline/standard.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::driver {
namespace {

// Passes the configuration file to the transformations. Returns false after an error was emitted.
bool Configure(transform::TransformationList& list, const std::string& path, Context& context,
               bool& environment_failed) {
  ErrorOr<FileId> file = context.sources.Open(path);
  if (!file) {
    environment_failed = true;
    context.emitter.Emit(kFileUnreadable, {}, "{}", file.error().message);
    return false;
  }
  auto configuration = transform::ReadConfiguration(*file, context);
  return configuration &&
         list.Configure(std::make_shared<const transform::Configuration>(std::move(*configuration)),
                        context.emitter);
}

// Makes the transformations and their pipeline. Returns false after an error.
bool MakePipeline(const CompileOptions& options, Context& context, Lowered& lowered) {
  std::optional<transform::TransformationList> list =
      MakeTransformations(options.transform, *options.plugins, context, lowered.environment_failed);
  if (!list) return false;
  lowered.transformations = std::make_shared<const transform::TransformationList>(std::move(*list));
  transform::PipelineOptions pipeline = options.transform.pipeline;
  pipeline.verify |= options.verify;
  pipeline.evaluate = options.evaluate;
  lowered.pipeline =
      transform::Pipeline::Make(*lowered.transformations, std::move(pipeline), context.emitter);
  if (!lowered.pipeline) return false;
  lowered.target = std::make_shared<transform::TargetPipeline>(lowered.transformations, *lowered.pipeline);
  return true;
}

lower::LowerOptions LowerOptionsOf(const CompileOptions& options) {
  return {.find_lowering = [plugins = options.plugins](
                               const std::string& operation) { return plugins->FindLowering(operation); },
          .keeps_exact_operations = options.executes};
}

bool MayHoldNnefOperations(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.set() == ir::kNnefSet || !node.bodies().empty();
  });
}

// Emits an error for a document that was expanded with trial extents.
bool RequireExtents(const Checked& checked, const Expanded& expanded, Context& context) {
  if (!expanded.document.is_trial()) return true;
  if (expanded.document.open_shapes.empty()) {
    context.emitter.Emit(
        kOpenSymbol, checked.document->graph()->name.range,
        "operations depend on a symbol that is the extent of no input; write a number for it");
    return false;
  }
  context.emitter.Emit(
      kOpenSymbol, checked.document->symbols().front().range,
      "operations depend on extents that symbols stand for; set them by the shapes of inputs, "
      "`--input-shape NAME=..`");
  return false;
}

std::unique_ptr<ir::Graph> LowerDocument(const ir::Graph& graph, const Opened& opened, const Checked& checked,
                                         const Expanded& expanded, const CompileOptions& options,
                                         Context& context) {
  lower::LowerOptions lower = LowerOptionsOf(options);
  const QuantizationTable& quantization = expanded.quantization.table;
  const lower::QuantizedTypes types = quantization.Types();
  if (checked.document->dialect().vendor_meanings && !options.quantize && !types.empty())
    lower.quantized = &types;
  VariableStore variables(*opened.model, graph, quantization, options.random_weights, context);
  if (!options.structure_only || opened.model->has_weights() || options.random_weights) {
    lower.variable_data = [&](const std::string& label, ElementType type, const ir::PartialShape& shape,
                              const ir::Origin& origin) {
      return variables.Load(label, type, shape, origin);
    };
  }
  return lower::LowerGraph(graph, lower, context);
}

// Transforms the graph of OpenVINO operations, renames its inputs and outputs, and completes the stage.
Lowered Finish(Lowered lowered, std::shared_ptr<ir::Graph> graph, const Renames& renames, Context& own,
               Context& context) {
  if (graph != nullptr && lowered.pipeline->Run(transform::Side::kAfterLowering, *graph, own.emitter) &&
      RenamePorts(*graph, renames, own.emitter))
    lowered.graph = std::move(graph);
  lowered.complete = lowered.graph != nullptr;
  lowered.diagnostics = own.emitter.diagnostics();
  context.emitter.Take(std::move(own.emitter));
  return lowered;
}

}  // namespace

std::optional<transform::TransformationList> MakeTransformations(const TransformOptions& options,
                                                                 const plugin::Plugins& plugins,
                                                                 Context& context, bool& environment_failed) {
  transform::TransformationList list = transform::StandardTransformations();
  bool ok = plugins.AddTransformations(list, context.emitter);
  if (!options.configuration.empty())
    ok &= Configure(list, options.configuration, context, environment_failed);
  list.SwitchByEnvironment(context.emitter);
  list.Switch(options.enabled, true, "--enable-transformations", context.emitter);
  list.Switch(options.disabled, false, "--disable-transformations", context.emitter);
  if (!ok) return std::nullopt;
  return list;
}

Lowered LowerModel(const Opened& opened, const Checked& checked, const Expanded& expanded,
                   const CompileOptions& options, Context& context) {
  Context own(context, context.emitter.room());
  Lowered lowered;
  std::shared_ptr<ir::Graph> graph;
  if (RequireExtents(checked, expanded, own) && MakePipeline(options, own, lowered)) {
    const std::shared_ptr<const ir::Graph> front =
        lowered.pipeline->RunOnCopy(transform::Side::kBeforeLowering, expanded.document.graph, own.emitter);
    if (front != nullptr) graph = LowerDocument(*front, opened, checked, expanded, options, own);
  }
  return Finish(std::move(lowered), std::move(graph), options.renames, own, context);
}

Lowered LowerOpenedGraph(Opened& opened, ModelFormat format, const CompileOptions& options,
                         Context& context) {
  Context own(context, context.emitter.room());
  Lowered lowered;
  std::shared_ptr<ir::Graph> graph;
  constexpr auto kSide = transform::Side::kBeforeLowering;
  if (!MakePipeline(options, own, lowered)) {
    graph = nullptr;
  } else if (format == ModelFormat::kGraphText && MayHoldNnefOperations(*opened.graph)) {
    const auto front = lowered.pipeline->RunOnCopy(kSide, opened.graph, own.emitter);
    if (front != nullptr) graph = lower::LowerGraph(*front, LowerOptionsOf(options), own);
  } else {
    // Configurations also refer to layers of OpenVINO IR by name.
    graph = std::move(opened.graph);
    if (!lowered.pipeline->Run(kSide, *graph, own.emitter)) graph = nullptr;
  }
  return Finish(std::move(lowered), std::move(graph), options.renames, own, context);
}

std::shared_ptr<const ir::Graph> MakeOpenVinoForm(const Lowered& lowered, const CompileOptions& options,
                                                  Context& context) {
  if (!options.executes || !MayHoldNnefOperations(*lowered.graph)) return lowered.graph;
  lower::LowerOptions lower = LowerOptionsOf(options);
  lower.keeps_exact_operations = false;
  return lower::LowerGraph(*lowered.graph, lower, context);
}

}  // namespace nnefc::driver
