#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ir::ops::opset {

// Rules of the shape functions of OpenVINO operations. A graph lowered from NNEF violates only those that
// NNEF does not have (a reflection wider than the tensor, for example); a graph from a file may violate any.
#define NNEFC_OPSET_RULES(RULE)                                         \
  RULE(kOpsetArity, "opset.number-of-inputs", kError, "")               \
  RULE(kOpsetAttributeMissing, "opset.missing-attribute", kError, "")   \
  RULE(kOpsetAttributeKind, "opset.attribute-kind", kError, "")         \
  RULE(kOpsetAttributeValue, "opset.attribute-value", kError, "")       \
  RULE(kOpsetElementType, "opset.element-type", kError, "")             \
  RULE(kOpsetRank, "opset.rank", kError, "")                            \
  RULE(kOpsetExtent, "opset.extent", kError, "")                        \
  RULE(kOpsetAxis, "opset.axis", kError, "")                            \
  RULE(kOpsetBroadcast, "opset.broadcast", kError, "")                  \
  RULE(kOpsetConstantInput, "opset.constant-input", kError, "")         \
  RULE(kPortMap, "body.port-map", kError, "")                           \
  RULE(kBodyType, "body.element-type", kError, "")                      \
  RULE(kBackEdge, "loop.back-edge", kError, "")                         \
  RULE(kIterations, "loop.iterations", kError, "")                      \
  RULE(kIterationsAmbiguous, "loop.ambiguous-iterations", kWarning, "") \
  RULE(kIfCondition, "if.condition", kError, "")                        \
  RULE(kIfBodies, "if.bodies", kError, "")
NNEFC_DEFINE_RULES(kOpsetRules, NNEFC_OPSET_RULES)

}  // namespace nnefc::ir::ops::opset
