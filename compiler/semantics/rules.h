#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::semantics {

// The rules of chapter 3.3 (both specifications) and the dialect rules of chapter 3.2 that the checker
// enforces. R: 1.0.5, P: 1.0 provisional.
#define NNEFC_SEMANTICS_RULES(RULE)                                                         \
  /* the document */                                                                        \
  RULE(kSeveralGraphs, "document.several-graphs", kError, "R 3.2.4, P 3.2.4")               \
  RULE(kUnknownGraph, "document.unknown-graph", kError, "")                                 \
  RULE(kUnknownExtension, "document.unknown-extension", kError, "R 3.2.4")                  \
  /* constructs of the other dialect, or of an extension that is not enabled */             \
  RULE(kDialectType, "dialect.type", kError, "R 3.2.2, P 3.2.1")                            \
  RULE(kDialectBuiltin, "dialect.builtin", kError, "R 3.2.3, P 3.2.3")                      \
  RULE(kDialectComprehension, "dialect.comprehension", kError, "R 3.2.3, P 3.2.3")          \
  RULE(kDialectIn, "dialect.in-operator", kError, "P 3.2.3")                                \
  RULE(kDialectGeneric, "dialect.generic", kError, "P 3.2.1")                               \
  RULE(kDialectBody, "dialect.missing-body", kError, "P 3.2.3")                             \
  RULE(kDialectExtension, "dialect.extension", kError, "P 3.2.4")                           \
  RULE(kDialectTuple, "dialect.tuple-parentheses", kError, "R 3.2.1")                       \
  RULE(kMissingFragmentExtension, "extension.fragment-definitions", kError, "R 3.2.2")      \
  RULE(kMissingOperatorExtension, "extension.operator-expressions", kError, "R 3.2.3")      \
  RULE(kMissingExtension, "extension.not-enabled", kError, "")                              \
  RULE(kGraphNotFlat, "graph.not-flat", kWarning, "P 3.2.4")                                \
  RULE(kKeywordName, "identifier.keyword", kError, "R 3.1, P 3.1")                          \
  /* declarations */                                                                        \
  RULE(kDuplicateFragment, "declaration.duplicate-fragment", kError, "R 3.3.2, P 3.3.1")    \
  RULE(kRedefinedOperation, "declaration.redefined-operation", kError, "R 3.3.2, P 3.3.1")  \
  RULE(kDuplicateName, "declaration.duplicate-name", kError, "R 3.3.2, P 3.3.1")            \
  RULE(kParameterOrder, "declaration.parameter-order", kError, "R 3.3.2")                   \
  RULE(kAttributeResult, "declaration.attribute-result", kError, "R 3.3.2")                 \
  RULE(kUnboundResult, "declaration.unbound-result", kError, "R 3.3.1")                     \
  RULE(kMixedTuple, "declaration.mixed-tuple", kError, "R 3.3.1")                           \
  RULE(kDefaultType, "declaration.default-type", kError, "R 3.3.2, P 3.3.1")                \
  RULE(kTypeTooLarge, "type.too-large", kError, "")                                         \
  /* generics */                                                                            \
  RULE(kGenericUndeclared, "generic.undeclared", kError, "R 3.3.2")                         \
  RULE(kGenericUnused, "generic.unused", kError, "R 3.3.2")                                 \
  RULE(kGenericDefault, "generic.default", kError, "R 3.3.1")                               \
  RULE(kNotGeneric, "generic.not-generic", kError, "R 3.3.2")                               \
  RULE(kGenericOutside, "generic.outside-generic-body", kError, "R 3.3.2")                  \
  RULE(kGenericUndeduced, "generic.undeduced", kError, "R 3.3.2")                           \
  RULE(kGenericContradiction, "generic.contradiction", kError, "R 3.3.2")                   \
  /* invocations */                                                                         \
  RULE(kUndeclaredOperation, "binding.undeclared-operation", kError, "R 3.3.2, P 3.3.1")    \
  RULE(kOldOperationName, "binding.old-name", kWarning, "P 7.1")                            \
  RULE(kTooManyArguments, "binding.too-many-arguments", kError, "R 3.3.2, P 3.3.1")         \
  RULE(kMissingArgument, "binding.missing-argument", kError, "R 3.3.2, P 3.3.1")            \
  RULE(kPositionalAfterNamed, "binding.positional-after-named", kError, "R 3.3.2, P 3.3.1") \
  RULE(kUnknownArgument, "binding.unknown-argument", kError, "R 3.3.2, P 3.3.1")            \
  RULE(kDuplicateArgument, "binding.duplicate-argument", kError, "R 3.3.2, P 3.3.1")        \
  RULE(kPositionalAndNamed, "binding.positional-and-named", kError, "R 3.3.2, P 3.3.1")     \
  RULE(kPositionalAttribute, "binding.positional-attribute", kError, "R 3.3.2")             \
  RULE(kChainedResults, "binding.chained-results", kError, "R 3.3.3")                       \
  /* bodies that operations of an extension run */                                          \
  RULE(kBodyLiteral, "body.literal", kError, "")                                            \
  RULE(kBodyFragment, "body.fragment", kError, "")                                          \
  RULE(kBodyDeclaration, "body.declaration", kError, "")                                    \
  RULE(kBodyParameters, "body.parameters", kError, "")                                      \
  RULE(kBodyParameterType, "body.parameter-type", kError, "")                               \
  RULE(kBodyResults, "body.results", kError, "")                                            \
  RULE(kBodyResultType, "body.result-type", kError, "")                                     \
  /* types */                                                                               \
  RULE(kTypeMismatch, "type.mismatch", kError, "R 3.3.1, P 3.3.2")                          \
  RULE(kOperatorTypes, "type.operator", kError, "R 3.3.3, P 3.3.3")                         \
  RULE(kConditionType, "type.condition", kError, "R 3.3.3, P 3.3.3")                        \
  RULE(kBranchTypes, "type.branches", kError, "R 3.3.1, P 3.3.2")                           \
  RULE(kItemTypes, "type.array-items", kError, "R 3.3.3, P 3.3.3")                          \
  RULE(kIterableType, "type.iterable", kError, "R 3.3.3, P 3.3.3")                          \
  RULE(kSubscriptBase, "type.subscript-base", kError, "R 3.3.3, P 3.3.3")                   \
  RULE(kSubscriptIndex, "type.subscript-index", kError, "R 3.3.3, P 3.3.3")                 \
  RULE(kTupleIndex, "type.tuple-index", kError, "R 3.3.3, P 3.3.3")                         \
  RULE(kBuiltinArgument, "type.builtin-argument", kError, "R 3.3.3, P 3.3.3")               \
  /* assignments and identifiers */                                                         \
  RULE(kAssignmentStructure, "assignment.structure", kError, "R 3.3.2, P 3.3.3")            \
  RULE(kPrimitiveArray, "assignment.primitive-array", kError, "R 3.3.2")                    \
  RULE(kParameterAssigned, "identifier.parameter-assigned", kError, "R 3.3.2, P 3.3.1")     \
  RULE(kReassigned, "identifier.reassigned", kError, "R 3.3.2, P 3.3.1")                    \
  RULE(kUndefined, "identifier.undefined", kError, "R 3.3.2, P 3.3.1")                      \
  RULE(kUsedBeforeAssigned, "identifier.used-before-assigned", kError, "R 3.3.2, P 3.3.1")  \
  RULE(kResultNotAssigned, "identifier.result-not-assigned", kError, "R 3.3.2, P 3.3.1")    \
  RULE(kQuotedName, "identifier.quoted", kError, "R 3.1, P 3.1")                            \
  RULE(kShadowed, "identifier.shadowed", kError, "R 3.3.2, P 3.3.1")                        \
  /* the graph */                                                                           \
  RULE(kGraphIdentifierType, "graph.identifier-not-tensor", kError, "R 3.3.2, P 3.3.1")     \
  RULE(kGraphParameter, "graph.parameter-not-external", kError, "R 3.3.2, P 3.3.1")         \
  RULE(kExternalNotParameter, "graph.external-not-parameter", kError, "R 3.3.2")            \
  RULE(kOnlyInGraph, "graph.operation-in-fragment", kError, "R 3.3.2, P 3.3.1")             \
  RULE(kUpdateTarget, "graph.update-target", kError, "R 4.8, P 4.7")                        \
  /* lenient mode */                                                                        \
  RULE(kLenientFragments, "lenient.fragment-definitions", kWarning, "R 3.2.2")              \
  RULE(kLenientOperators, "lenient.operator-expressions", kWarning, "R 3.2.3")              \
  RULE(kLenientRedefined, "lenient.redefined-operation", kWarning, "R 3.3.2")               \
  RULE(kLenientReassigned, "lenient.reassigned", kWarning, "R 3.3.2")                       \
  RULE(kLenientNonFinite, "lenient.non-finite", kWarning, "R 3.1")                          \
  RULE(kLenientQuoted, "lenient.quoted-name", kWarning, "R 3.1")                            \
  RULE(kLenientSurplus, "lenient.surplus-argument", kWarning, "R 3.3.2")                    \
  RULE(kLenientPosition, "lenient.positional-attribute", kWarning, "R 3.3.2")               \
  /* quantization files */                                                                  \
  RULE(kQuantizationKey, "quantization.unknown-key", kWarning, "R 5.3, P 5.3")              \
  RULE(kQuantizationRepeated, "quantization.repeated-key", kWarning, "R 5.3, P 5.3")        \
  RULE(kQuantizationTensor, "quantization.tensor-argument", kError, "R 5.3, P 5.3")         \
  RULE(kQuantizationPositional, "quantization.positional-argument", kError, "R 5.3, P 5.3") \
  RULE(kQuantizationJagged, "quantization.jagged-array", kError, "R 5.3")                   \
  RULE(kQuantizationOperation, "quantization.operation", kError, "R 5.3, P 5.3")

NNEFC_DEFINE_RULES(kSemanticsRules, NNEFC_SEMANTICS_RULES)

}  // namespace nnefc::semantics
