#include "compiler/transform/standard.h"

namespace nnefc::transform {

TransformationList StandardTransformations() {
  TransformationList list;
  RegisterAnchors(list);
  RegisterFusions(list);
  RegisterChecks(list);
  RegisterBranches(list);
  RegisterConstants(list);
  RegisterIdentities(list);
  RegisterCommonSubexpressions(list);
  RegisterLinear(list);
  RegisterMiddleFusions(list);
  RegisterAttentionFusion(list);
  RegisterEinsum(list);
  RegisterGeluFusion(list);
  RegisterGroupedConvolutionFusion(list);
  RegisterMvnFusion(list);
  RegisterPadding(list);
  RegisterRecurrentCells(list);
  RegisterRecurrentLoops(list);
  RegisterReorder(list);
  RegisterScales(list);
  RegisterTensorIteratorToSequence(list);
  RegisterUnrollLoops(list);
  return list;
}

}  // namespace nnefc::transform
