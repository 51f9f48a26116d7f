#include "runtime/fast/register.h"

#include "runtime/fast/families.h"

namespace nnefc::runtime {

namespace {

void Rewrite(ir::Graph& graph, Precision precision, NodeEvaluator evaluate) {
  PutCodeTables(graph, precision, evaluate);
  GatherMovedChannels(graph, precision);
}

}  // namespace

void RegisterOneDnnKernels(KernelRegistry& registry) {
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
  registry.SetHooks(Backend::kOneDnn, {.rewrite = Rewrite,
                                       .find_codes = FindCodes,
                                       .find_fusions = FindFusions,
                                       .make_reorder = MakeDnnReorder,
                                       .join = JoinDnnLayouts,
                                       .reshape = ReshapeCodes});
}

}  // namespace nnefc::runtime
