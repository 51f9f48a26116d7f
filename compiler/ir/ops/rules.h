#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ir::ops {

// Rules that apply to every node, checked before the rules of its operation.
#define NNEFC_NODE_RULES(RULE)                                          \
  RULE(kInputType, "node.input-type", kError, "P 3.3.2")                \
  RULE(kInputTypesDiffer, "node.input-types-differ", kError, "P 3.3.2") \
  RULE(kArity, "node.arity", kError, "")                                \
  RULE(kMissingAttribute, "node.missing-attribute", kError, "")         \
  RULE(kAttributeKind, "node.attribute-kind", kError, "")               \
  RULE(kDataType, "node.data-type", kError, "")                         \
  RULE(kShapeOverflow, "shape.overflow", kError, "")                    \
  RULE(kAxisRange, "axis.range", kError, "R 4.4, R 4.5, P 4.4, P 4.5")  \
  RULE(kAxisRepeated, "axis.repeated", kError, "R 4.4, R 4.5, P 4.4")   \
  RULE(kBroadcast, "binary.broadcast", kError, "R 4.2.2, P 4.2.2")

// R 4.1
#define NNEFC_TENSOR_INTRODUCING_RULES(RULE)                                 \
  RULE(kExternalShape, "external.shape", kError, "R 4.1.1, P 4.1.1")         \
  RULE(kConstantShape, "constant.shape", kError, "R 4.1.2, P 4.1.2")         \
  RULE(kConstantValue, "constant.value", kError, "R 4.1.2, P 4.1.2")         \
  RULE(kVariableShape, "variable.shape", kError, "R 4.1.3, P 4.1.3")         \
  RULE(kVariableLabel, "variable.label", kError, "R 4.1.3, P 4.1.3")         \
  RULE(kVariableShared, "variable.shared-label", kError, "R 4.1.3, P 4.1.3") \
  RULE(kVariableFile, "variable.file", kError, "R 5.1, P 5.1")               \
  RULE(kUpdateTarget, "update.variable", kError, "R 4.8, P 4.7")             \
  RULE(kUpdateShape, "update.shape", kError, "R 4.8, P 4.7")                 \
  RULE(kUpdateOnce, "update.once", kError, "R 4.8, P 4.7")

// R 4.3
#define NNEFC_SLIDING_WINDOW_RULES(RULE)                               \
  RULE(kWindowSize, "window.size", kError, "R 4.3, P 4.3")             \
  RULE(kWindowPadding, "window.padding", kError, "R 4.3")              \
  RULE(kWindowStride, "window.stride", kError, "R 4.3, P 4.3")         \
  RULE(kWindowDilation, "window.dilation", kError, "R 4.3, P 4.3")     \
  RULE(kWindowBorder, "window.border", kError, "R 4.3, P 4.3")         \
  RULE(kWindowReach, "window.border-reach", kError, "R 4.3, P 4.3")    \
  RULE(kWindowFit, "window.fit", kError, "R 4.3, P 4.3")               \
  RULE(kWindowOutputShape, "window.output-shape", kError, "R 4.3")     \
  RULE(kConvRank, "conv.rank", kError, "R 4.3.1")                      \
  RULE(kConvGroups, "conv.groups", kError, "R 4.3.1, P 4.3.1")         \
  RULE(kConvChannels, "conv.channels", kError, "R 4.3.1, P 4.3.1")     \
  RULE(kConvBias, "conv.bias", kError, "R 4.3.1, P 4.3.1")             \
  RULE(kSampleIndex, "sample.index", kError, "R 4.3.3, P 4.3.3")       \
  RULE(kSamplingRank, "sampling.rank", kError, "R 4.3.4")              \
  RULE(kSamplingFactor, "sampling.factor", kError, "R 4.3.4, P 4.3.4") \
  RULE(kSamplingMethod, "sampling.method", kError, "R 4.3.4, P 4.3.4") \
  RULE(kSamplingBorder, "sampling.border", kError, "R 4.3.4, P 4.3.4")

// R 4.5
#define NNEFC_SHAPE_RULES(RULE)                                      \
  RULE(kReshapeRange, "reshape.axis-range", kError, "R 4.5.1")       \
  RULE(kReshapeItems, "reshape.items", kError, "R 4.5.1, P 4.5.1")   \
  RULE(kReshapeInherit, "reshape.inherit", kError, "R 4.5.1")        \
  RULE(kReshapeVolume, "reshape.volume", kError, "R 4.5.1, P 4.5.1") \
  RULE(kSqueezeSingular, "squeeze.singular", kError, "R 4.5.1")      \
  RULE(kTransposeAxes, "transpose.axes", kError, "R 4.5.2, P 4.5.2") \
  RULE(kSplitRatios, "split.ratios", kError, "R 4.5.3, P 4.5.3")     \
  RULE(kConcatEmpty, "concat.empty", kError, "R 4.5.3, P 4.5.3")     \
  RULE(kConcatRank, "concat.rank", kError, "R 4.5.3")                \
  RULE(kConcatExtents, "concat.extents", kError, "R 4.5.3, P 4.5.3") \
  RULE(kStackShapes, "stack.shapes", kError, "R 4.5.3")              \
  RULE(kUnstackCount, "unstack.count", kError, "R 4.5.3")            \
  RULE(kSliceLengths, "slice.lengths", kError, "R 4.5.4")            \
  RULE(kSliceStride, "slice.stride", kError, "R 4.5.4")              \
  RULE(kSliceRange, "slice.range", kError, "R 4.5.4")                \
  RULE(kPadLength, "pad.length", kError, "R 4.5.5")                  \
  RULE(kPadBorder, "pad.border", kError, "R 4.5.5")                  \
  RULE(kPadReach, "pad.border-reach", kError, "R 4.5.5")             \
  RULE(kPadExtent, "pad.extent", kError, "R 4.5.5")                  \
  RULE(kTileRepeats, "tile.repeats", kError, "R 4.5.6")              \
  RULE(kGatherIndex, "gather.index", kError, "R 4.5.7")

// R 4.6, R 4.7, R 4.9
#define NNEFC_OTHER_OPERATION_RULES(RULE)                                    \
  RULE(kRoiInput, "roi.input", kError, "R 4.6")                              \
  RULE(kRoiShape, "roi.rois", kError, "R 4.6")                               \
  RULE(kRoiBatchIndex, "roi.batch-index", kError, "R 4.6")                   \
  RULE(kRoiOutputSize, "roi.output-size", kError, "R 4.6")                   \
  RULE(kRoiSamplingRate, "roi.sampling-rate", kError, "R 4.6.2")             \
  RULE(kRoiMethod, "roi.method", kError, "R 4.6.2")                          \
  RULE(kMatmulRank, "matmul.rank", kError, "R 4.7")                          \
  RULE(kMatmulInner, "matmul.inner-extents", kError, "R 4.7, P 4.6")         \
  RULE(kNormalizationSize, "normalization.size", kError, "R 4.9.4, P 4.8.4") \
  RULE(kQuantizeBits, "quantize.bits", kError, "R 4.9.5")                    \
  RULE(kEnlargesResult, "operand.enlarges-result", kWarning, "R 4.9, P 4.8") \
  RULE(kCopyTimes, "copy_n.times", kError, "R 4.9.6, P 4.8.6")

// Rules of if_else, tensor_iterator and while_loop (extension NNEFC_control_flow).
#define NNEFC_CONTROL_FLOW_RULES(RULE)                                \
  RULE(kIfCondition, "if_else.condition", kError, "")                 \
  RULE(kIfResults, "if_else.results", kError, "")                     \
  RULE(kBodies, "body.interface", kError, "")                         \
  RULE(kLoopLists, "tensor_iterator.lists", kError, "")               \
  RULE(kLoopAxis, "tensor_iterator.axis", kError, "")                 \
  RULE(kLoopParts, "tensor_iterator.parts", kError, "")               \
  RULE(kLoopMerged, "tensor_iterator.merged", kError, "")             \
  RULE(kLoopConcatenated, "tensor_iterator.concatenated", kError, "") \
  RULE(kWhileCondition, "while_loop.condition", kError, "")           \
  RULE(kWhileTripCount, "while_loop.trip-count", kError, "")          \
  /* tract's registries */                                            \
  RULE(kTractEinsum, "tract_einsum.labels", kError, "")               \
  RULE(kTractGather, "tract_gather.shape", kError, "")                \
  RULE(kTractReduction, "tract_scatter.reduction", kError, "")        \
  RULE(kTractTopK, "tract_topk.k", kError, "")                        \
  RULE(kTractGru, "tract_gru.shape", kError, "")                      \
  RULE(kTractWidth, "tract_type.width", kError, "")                   \
  RULE(kTractTuples, "tract_nd.tuples", kError, "")                   \
  RULE(kTractSampling, "tract_sampling.choice", kError, "")           \
  RULE(kTractTrees, "tract_trees.data", kError, "")                   \
  RULE(kTractGrid, "tract_sampling.grid", kError, "")                 \
  RULE(kTractSpectrum, "tract_fft.shape", kError, "")                 \
  RULE(kTractState, "tract_state.length", kError, "")                 \
  RULE(kTractBoxes, "tract_boxes.shape", kError, "")                  \
  RULE(kTractRandom, "tract_random.settings", kError, "")

NNEFC_DEFINE_RULES(kNodeRules, NNEFC_NODE_RULES)
NNEFC_DEFINE_RULES(kTensorIntroducingRules, NNEFC_TENSOR_INTRODUCING_RULES)
NNEFC_DEFINE_RULES(kSlidingWindowRules, NNEFC_SLIDING_WINDOW_RULES)
NNEFC_DEFINE_RULES(kShapeRules, NNEFC_SHAPE_RULES)
NNEFC_DEFINE_RULES(kOtherOperationRules, NNEFC_OTHER_OPERATION_RULES)
NNEFC_DEFINE_RULES(kControlFlowRules, NNEFC_CONTROL_FLOW_RULES)

}  // namespace nnefc::ir::ops
