#include "runtime/fast/register.h"

#include "runtime/fast/families.h"

namespace nnefc::runtime {

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
  registry.SetHooks(Backend::kOneDnn, {.rewrite = GatherMovedChannels,
                                       .find_codes = FindCodes,
                                       .find_fusions = FindFusions,
                                       .make_reorder = MakeDnnReorder,
                                       .join = JoinDnnLayouts});
}

}  // namespace nnefc::runtime
