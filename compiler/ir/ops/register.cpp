#include "compiler/ir/ops/register.h"

#include "compiler/ir/ops/opset/register.h"

namespace nnefc::ir {

void RegisterStandardOps(OpRegistry& registry) {
  RegisterTensorIntroducing(registry);
  RegisterElementwise(registry);
  RegisterSlidingWindow(registry);
  RegisterSampling(registry);
  RegisterReduce(registry);
  RegisterShapeOps(registry);
  RegisterSections(registry);
  RegisterRoi(registry);
  RegisterMatmul(registry);
  RegisterUpdate(registry);
  RegisterActivation(registry);
  RegisterNormalization(registry);
  RegisterQuantization(registry);
  RegisterMiscellaneous(registry);
  RegisterControlFlow(registry);
  RegisterTract(registry);
  RegisterOpsets(registry);
}

const OpRegistry& StandardOps() {
  static const OpRegistry* registry = [] {
    auto* made = new OpRegistry();  // never destroyed, since threads may use it until the process exits
    RegisterStandardOps(*made);
    return made;
  }();
  return *registry;
}

}  // namespace nnefc::ir
