#include "runtime/fast/register.h"

#include "compiler/ir/infer.h"
#include "runtime/fast/factories.h"

namespace nnefc::runtime {

namespace {

void Rewrite(ir::Graph& graph, Precision precision, NodeEvaluator evaluate) {
  ConvertVectorsToMatrices(graph);
  TransposeLeftOperands(graph);
  InsertLookupTables(graph, precision, evaluate);
  FuseChannelPermutations(graph, precision);
}

}  // namespace

ir::OutputPort AddInferred(ir::Graph& graph, std::string_view set, std::string_view name,
                           const ir::NodeSpec& spec) {
  const ir::NodeId id = graph.AddNode(set, name, spec);
  Emitter silent;
  NNEFC_CHECK(ir::InferNode(graph, id, silent));
  return {id, 0};
}

void RegisterFastKernels(KernelRegistry& registry) {
  RegisterDnnConvolution(registry);
  RegisterDnnDeconvolution(registry);
  RegisterDnnPooling(registry);
  RegisterDnnMatMul(registry);
  RegisterDnnElementwise(registry);
  RegisterDnnNormalization(registry);
  RegisterDnnConcat(registry);
  RegisterDnnQuantization(registry);
  RegisterDnnRecurrent(registry);
  RegisterDnnAttention(registry);
  RegisterCompressedKernels(registry);
  RegisterRowKernels(registry);
  RegisterUnaryKernels(registry);
  RegisterImageTransposes(registry);
  RegisterImageResampling(registry);
  registry.SetHooks(Backend::kFast, {.rewrite = Rewrite,
                                     .find_codes = FindQuantizedNodes,
                                     .find_fusions = FindFusions,
                                     .make_reorder = MakeDnnReorder,
                                     .join = JoinDnnLayouts,
                                     .part = PartOfDnnLayout,
                                     .reshape = ReshapeQuantized});
}

}  // namespace nnefc::runtime
