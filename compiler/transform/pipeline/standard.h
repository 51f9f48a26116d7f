#pragma once

#include "compiler/transform/pipeline/transformation_list.h"

namespace nnefc::transform {

// Returns the anchors and the built-in transformations.
TransformationList StandardTransformations();

namespace front {
// One registration function per family of transformations.
void RegisterErasers(TransformationList& list);
void RegisterFusions(TransformationList& list);
}  // namespace front
namespace middle {
void RegisterChecks(TransformationList& list);
void RegisterBranches(TransformationList& list);
void RegisterConstants(TransformationList& list);
void RegisterIdentities(TransformationList& list);
void RegisterCommonSubexpressions(TransformationList& list);
void RegisterLinear(TransformationList& list);
void RegisterMiddleFusions(TransformationList& list);
void RegisterAttentionFusion(TransformationList& list);
void RegisterEinsum(TransformationList& list);
void RegisterGeluFusion(TransformationList& list);
void RegisterGroupedConvolutionFusion(TransformationList& list);
void RegisterMvnFusion(TransformationList& list);
void RegisterPadding(TransformationList& list);
void RegisterRecurrentCells(TransformationList& list);
void RegisterRecurrentLoops(TransformationList& list);
}  // namespace middle
namespace back {
void RegisterNormalizers(TransformationList& list);
void RegisterReorder(TransformationList& list);
}  // namespace back
namespace target {
void RegisterSelectedBranches(TransformationList& list);
void RegisterMatrices(TransformationList& list);
void RegisterChannelQuantization(TransformationList& list);
void RegisterRepeatedQuantization(TransformationList& list);
void RegisterQuantizationAfterMoves(TransformationList& list);
void RegisterLookupTables(TransformationList& list);
void RegisterChannelPermutations(TransformationList& list);
void RegisterPlanConstants(TransformationList& list);
void RegisterPartProducts(TransformationList& list);
void RegisterPostponedSqueezes(TransformationList& list);
void RegisterResampledImages(TransformationList& list);
void RegisterConvolutionChannels(TransformationList& list);
void RegisterPixelRows(TransformationList& list);
void RegisterZeroPoints(TransformationList& list);
void RegisterQuantizedProducts(TransformationList& list);
void RegisterQuantizedValues(TransformationList& list);
void RegisterStoredImages(TransformationList& list);
}  // namespace target
namespace middle {
void RegisterScales(TransformationList& list);
void RegisterTensorIteratorToSequence(TransformationList& list);
void RegisterUnrollLoops(TransformationList& list);
}  // namespace middle

}  // namespace nnefc::transform
