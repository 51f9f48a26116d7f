#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::expand {

// Rules that depend on values, and rules for provisional constructs without a ratified form. Messages of
// limits name the flag that raises them.
#define NNEFC_EXPAND_RULES(RULE)                                                      \
  RULE(kLimitRecursion, "limit.recursion", kError, "")                                \
  RULE(kLimitSteps, "limit.steps", kError, "")                                        \
  RULE(kLimitOperations, "limit.operations", kError, "")                              \
  RULE(kLimitItems, "limit.items", kError, "")                                        \
  RULE(kLimitBodies, "limit.body-nesting", kError, "")                                \
  RULE(kDivisionByZero, "arithmetic.division-by-zero", kError, "R 3.3.3, P 3.3.3")    \
  RULE(kIntegerOverflow, "arithmetic.overflow", kError, "R 3.3.3, P 3.3.3")           \
  RULE(kNegativeExponent, "arithmetic.negative-exponent", kError, "R 3.3.3, P 3.3.3") \
  RULE(kNotFinite, "arithmetic.not-finite", kError, "R 3.3.3, P 3.3.3")               \
  RULE(kNegativeRepeat, "array.negative-repeat", kError, "R 3.3.3, P 3.3.3")          \
  RULE(kSubscriptOutOfRange, "subscript.out-of-range", kError, "R 3.3.3, P 3.3.3")    \
  RULE(kUnequalLengths, "comprehension.unequal-lengths", kError, "R 3.3.3")           \
  RULE(kUnpackLength, "assignment.length-mismatch", kError, "R 3.3.2, P 3.3.1")       \
  RULE(kCastOutOfRange, "cast.out-of-range", kError, "R 3.3.3, P 3.3.3")              \
  RULE(kCastNotLiteral, "cast.not-a-literal", kError, "R 3.3.3, P 3.3.3")             \
  RULE(kShapeUnknown, "shape-of.unspecified-extent", kError, "P 3.3.4")               \
  /* what the checker leaves open */                                                  \
  RULE(kValueType, "value.type", kError, "R 3.3.1")                                   \
  RULE(kResultLength, "result.undetermined-length", kError, "R 3.3.2")                \
  RULE(kUnspecifiedExtent, "external.unspecified-extent", kError, "P 4.1.1")          \
  RULE(kSymbolExtent, "external.symbol", kError, "")                                  \
  RULE(kAssertionFails, "assertion.fails", kError, "")                                \
  RULE(kAssertionUnread, "assertion.unread", kWarning, "")                            \
  RULE(kLoopLists, "scan.lists", kError, "")                                          \
  RULE(kTractType, "tract_type.name", kError, "")                                     \
  RULE(kSubmodelInput, "submodel.input", kError, "")                                  \
  RULE(kUnknownExternal, "input-shape.unknown-external", kError, "")                  \
  RULE(kInputShapeRank, "input-shape.rank", kError, "")                               \
  RULE(kUnknownLower, "lower.unknown-operation", kError, "")                          \
  RULE(kCoordinate, "provisional.coordinate-index", kError, "P 4.3.3")                \
  RULE(kProvisionalArgument, "provisional.argument", kError, "P 4.2.1, P 4.3")        \
  RULE(kPrintedLabel, "variable.printed-label", kWarning, "R 4.1.3")                  \
  RULE(kMatrixRank, "provisional.matrix-rank", kError, "P 4.6")                       \
  RULE(kSelectShapes, "provisional.select-shapes", kError, "P 4.2.3, P 4.2.4")        \
  /* lenient mode */                                                                  \
  RULE(kLenientArray, "lenient.array-for-tensor", kWarning, "R 3.3.2")                \
  RULE(kLenientTensor, "lenient.tensor-for-attribute", kWarning, "R 3.3.2")           \
  RULE(kLenientNumber, "lenient.number-type", kWarning, "R 3.3.2")                    \
  RULE(kLenientType, "lenient.data-type", kWarning, "R 3.3.2")                        \
  RULE(kLenientItem, "lenient.single-item", kWarning, "R 3.3.2")                      \
  RULE(kLenientNested, "lenient.nested-array", kWarning, "R 3.3.2")                   \
  RULE(kLenientPair, "lenient.array-for-tuple", kWarning, "R 3.3.1")                  \
  RULE(kLenientAxis, "lenient.negative-axis", kWarning, "R 4.5.1")                    \
  RULE(kLenientIndex, "lenient.negative-index", kWarning, "R 4.5.7")                  \
  RULE(kLenientVector, "lenient.vector-operand", kWarning, "R 4.3.1")                 \
  RULE(kLenientMatrix, "lenient.matrix-rank", kWarning, "R 4.6, R 4.9.2")
NNEFC_DEFINE_RULES(kExpandRules, NNEFC_EXPAND_RULES)

}  // namespace nnefc::expand
