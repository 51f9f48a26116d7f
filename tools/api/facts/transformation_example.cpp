#include "tools/api/facts/transformation_example.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/text/text.h"
#include "compiler/transform/pipeline/pipeline.h"
#include "runtime/engine/evaluate.h"

namespace nnefc::api {

TransformationExample RunExample(const transform::Transformation& transformation,
                                 const transform::TransformationList& list, const plugin::Plugins& plugins) {
  if (transformation.Example().empty()) return {};
  Context context;
  ir::OpRegistry registry(&ir::StandardOps());
  plugins.AddOperations(registry);
  for (ir::OpInfo& row : transformation.ExampleOperations()) {
    if (!registry.Find(row.set, row.name).valid()) registry.Add(std::move(row));
  }
  const FileId file =
      context.sources.AddText("example", fmt::format("graph \"net\" {{\n{}}}\n", transformation.Example()));
  const std::unique_ptr<ir::Graph> graph = ir::ParseGraph(file, registry, context);
  if (graph == nullptr || !ir::InferGraph(*graph, context.emitter)) return {};
  TransformationExample example{.before = ir::PrintGraph(*graph)};
  transform::PipelineOptions options{.only = {transformation.name()}};
  options.evaluate = runtime::engine::ReferenceEvaluator(
      [&](runtime::kernels::KernelRegistry& kernels) { plugins.AddKernels(kernels); });
  auto pipeline = transform::Pipeline::Make(list, std::move(options), context.emitter);
  if (!pipeline || !pipeline->Run(transform::SideOf(transformation.phase()), *graph, context.emitter))
    return {};
  graph->EraseDeadNodes();
  example.after = ir::PrintGraph(*graph);
  return example;
}

}  // namespace nnefc::api
