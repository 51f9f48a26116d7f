#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ast {

#define NNEFC_SYNTAX_RULES(RULE)                                                           \
  /* characters and literals */                                                            \
  RULE(kByteOrderMark, "syntax.byte-order-mark", kWarning, "R 3.1, P 3.1")                 \
  RULE(kInvalidCharacter, "syntax.invalid-character", kError, "R 3.1, P 3.1")              \
  RULE(kMalformedNumber, "syntax.malformed-number", kError, "R 3.1, P 3.1")                \
  RULE(kNumberRange, "syntax.number-range", kError, "R 3.1, P 3.1")                        \
  RULE(kUnterminatedString, "syntax.unterminated-string", kError, "R 3.1, P 3.1")          \
  RULE(kInvalidStringCharacter, "syntax.invalid-string-character", kError, "R 3.1, P 3.1") \
  RULE(kInvalidEscape, "syntax.invalid-escape", kError, "R 3.1, P 3.1")                    \
  /* documents */                                                                          \
  RULE(kOtherFormat, "syntax.other-format", kError, "R 3.2.4, P 3.2.4")                    \
  RULE(kMixedDialects, "dialect.mixed", kWarning, "")                                      \
  RULE(kMissingVersion, "syntax.missing-version", kError, "R 3.2.4, P 3.2.4")              \
  RULE(kUnsupportedVersion, "syntax.unsupported-version", kError, "R 3.2.4, P 3.2.4")      \
  RULE(kVersionSemicolon, "syntax.version-semicolon", kError, "P 3.2.4")                   \
  RULE(kExtensionComma, "syntax.extension-comma", kWarning, "R 3.2.4")                     \
  RULE(kDocumentOrder, "syntax.document-order", kError, "R 3.2.4, P 3.2.4")                \
  RULE(kMissingGraph, "syntax.missing-graph", kError, "R 3.2.4, P 3.2.4")                  \
  RULE(kTrailingText, "syntax.trailing-text", kError, "R 3.2.4, P 3.2.4")                  \
  RULE(kUnclosedBody, "syntax.unclosed-body", kError, "R 3.2.1, P 3.2.2")                  \
  RULE(kEmptyBody, "syntax.empty-body", kError, "R 3.2.1, P 3.2.2")                        \
  /* statements */                                                                         \
  RULE(kMissingSemicolon, "syntax.missing-semicolon", kError, "R 3.2.1")                   \
  RULE(kUnclosedBracket, "syntax.unclosed-bracket", kError, "R 3.2, P 3.2")                \
  RULE(kUnexpectedToken, "syntax.unexpected-token", kError, "R 3.2, P 3.2")                \
  RULE(kKeywordAsName, "syntax.keyword-as-name", kError, "R 3.1, P 3.1")                   \
  RULE(kUnknownTypeName, "syntax.unknown-type", kError, "R 3.2.2, P 3.2.1")                \
  RULE(kEmptyList, "syntax.empty-list", kError, "R 3.2, P 3.2")                            \
  RULE(kArgumentName, "syntax.argument-name", kError, "R 3.2.1, P 3.2.2")                  \
  RULE(kCastArguments, "syntax.cast-arguments", kError, "R 3.2.3, P 3.2.3")                \
  RULE(kComprehensionForm, "syntax.comprehension-form", kError, "P 3.2.3")                 \
  RULE(kQuantizationForm, "syntax.quantization-form", kError, "R 5.3, P 5.3")              \
  RULE(kQuantizationSemicolon, "syntax.quantization-semicolon", kError, "P 5.3")           \
  RULE(kNestingLimit, "syntax.nesting-limit", kError, "")

NNEFC_DEFINE_RULES(kSyntaxRules, NNEFC_SYNTAX_RULES)

}  // namespace nnefc::ast
