// Registration of the NNEF operations.

#include "compiler/ir/ops/register.h"

#include "compiler/ir/ops/opset/register.h"

namespace nnefc::ir {

void RegisterStandardOps(OpRegistry& registry) {
  ops::RegisterTensorIntroducing(registry);
  ops::RegisterElementwise(registry);
  ops::RegisterSlidingWindow(registry);
  ops::RegisterSampling(registry);
  ops::RegisterReduce(registry);
  ops::RegisterShapeOps(registry);
  ops::RegisterSections(registry);
  ops::RegisterRoi(registry);
  ops::RegisterMatmul(registry);
  ops::RegisterUpdate(registry);
  ops::RegisterActivation(registry);
  ops::RegisterNormalization(registry);
  ops::RegisterQuantization(registry);
  ops::RegisterMiscellaneous(registry);
  ops::RegisterControlFlow(registry);
  ops::RegisterTract(registry);
  ops::RegisterTractOnnx(registry);
  ops::RegisterTractStates(registry);
  ops::opset::RegisterOpsets(registry);
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
