// The list of built-in transformations.

#include "compiler/transform/pipeline/standard.h"

namespace nnefc::transform {

TransformationList StandardTransformations() {
  TransformationList list;
  RegisterAnchors(list);
  front::RegisterErasers(list);
  front::RegisterFusions(list);
  middle::RegisterChecks(list);
  middle::RegisterBranches(list);
  middle::RegisterConstants(list);
  middle::RegisterIdentities(list);
  middle::RegisterCommonSubexpressions(list);
  middle::RegisterLinear(list);
  middle::RegisterMiddleFusions(list);
  middle::RegisterAttentionFusion(list);
  middle::RegisterEinsum(list);
  middle::RegisterGeluFusion(list);
  middle::RegisterGroupedConvolutionFusion(list);
  middle::RegisterMvnFusion(list);
  middle::RegisterPadding(list);
  middle::RegisterRecurrentCells(list);
  middle::RegisterRecurrentLoops(list);
  back::RegisterNormalizers(list);
  back::RegisterReorder(list);
  middle::RegisterScales(list);
  middle::RegisterTensorIteratorToSequence(list);
  middle::RegisterUnrollLoops(list);
  target::RegisterPlanConstants(list);
  target::RegisterSelectedBranches(list);
  target::RegisterMatrices(list);
  target::RegisterRepeatedQuantization(list);
  target::RegisterQuantizationAfterMoves(list);
  target::RegisterLookupTables(list);
  target::RegisterChannelQuantization(list);
  target::RegisterZeroPoints(list);
  target::RegisterChannelPermutations(list);
  target::RegisterQuantizedProducts(list);
  target::RegisterQuantizedValues(list);
  target::RegisterStoredImages(list);
  target::RegisterPartProducts(list);
  target::RegisterPostponedSqueezes(list);
  target::RegisterResampledImages(list);
  target::RegisterConvolutionChannels(list);
  target::RegisterPixelRows(list);
  return list;
}

}  // namespace nnefc::transform
