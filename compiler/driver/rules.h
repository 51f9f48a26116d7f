#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::driver {

// clang-format off
#define NNEFC_DRIVER_RULES(RULE)                                                                \
  RULE(kVariableWithoutData, "variable.no-data", kError, "R 5, P 5")                            \
  RULE(kNoTensorFiles, "variable.no-files", kWarning, "")                                       \
  RULE(kVariableDataShape, "variable.data-shape", kError, "R 5, P 5")                           \
  RULE(kQuantizationShape, "quantization.shape", kError, "R 5.3")                               \
  RULE(kQuantizationCustom, "quantization.custom", kError, "R 5.2, R 5.3")                      \
  RULE(kQuantizationMissing, "quantization.missing", kError, "R 5, P 5")                        \
  RULE(kResourceMissing, "resource.missing", kError, "")                                        \
  RULE(kResourceJson, "resource.json", kError, "")                                              \
  RULE(kResourceKey, "resource.key", kError, "")                                                \
  RULE(kSubmodelMissing, "submodel.missing", kError, "")                                        \
  RULE(kFileUnreadable, "file.unreadable", kError, "")                                          \
  RULE(kOpenSymbol, "external.open-symbol", kError, "")                                         \
  RULE(kInputMissing, "input.missing", kError, "")                                              \
  RULE(kInputUnknown, "input.unknown", kError, "")                                              \
  RULE(kInputShape, "input.shape", kError, "")                                                  \
  RULE(kInputType, "input.type", kError, "")                                                    \
  RULE(kRenameUnknown, "rename.unknown", kError, "")                                            \
  RULE(kRenameClash, "rename.clash", kError, "")                                                \
  RULE(kNoRuntime, "driver.no-runtime", kError, "build")                                        \
  RULE(kConversionDiffers, "driver.conversion-differs", kError, "internal")                     \
  RULE(kGraphInvalid, "driver.invalid-graph", kError, "internal")
// clang-format on
NNEFC_DEFINE_RULES(kDriverRules, NNEFC_DRIVER_RULES)

}  // namespace nnefc::driver
