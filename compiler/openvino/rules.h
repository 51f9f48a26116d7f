#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::openvino {

// Requirements of the reader on files, and of the writer on graphs.
// clang-format off
#define NNEFC_OPENVINO_RULES(RULE)                                                  \
  RULE(kXmlSyntax, "openvino.xml-syntax", kError, "")                               \
  RULE(kXmlDoctype, "openvino.xml-doctype", kError, "")                             \
  RULE(kXmlEntity, "openvino.xml-entity", kError, "")                               \
  RULE(kXmlSize, "openvino.xml-size", kError, "")                                   \
  RULE(kXmlRepeatedAttribute, "openvino.xml-repeated-attribute", kError, "")        \
  RULE(kXmlRepeatedElement, "openvino.xml-repeated-element", kError, "")            \
  RULE(kXmlMissingElement, "openvino.xml-missing-element", kError, "")              \
  RULE(kXmlMissingAttribute, "openvino.xml-missing-attribute", kError, "")          \
  RULE(kXmlAttributeValue, "openvino.xml-attribute-value", kError, "")              \
  RULE(kNetVersion, "openvino.net-version", kError, "")                             \
  RULE(kNetNoResult, "openvino.no-result", kError, "")                              \
  RULE(kNetNesting, "openvino.nesting", kError, "")                                 \
  RULE(kNetCycle, "openvino.cycle", kError, "")                                     \
  RULE(kLayerRepeatedId, "openvino.repeated-layer-id", kError, "")                  \
  RULE(kLayerUnused, "openvino.unused-layer", kWarning, "")                         \
  RULE(kLayerVersion, "openvino.layer-version", kError, "")                         \
  RULE(kLayerUnknownType, "openvino.unknown-operation", kError, "")                 \
  RULE(kCustomPrimitive, "run.custom-primitive", kError, "")                        \
  RULE(kLayerUnknownAttribute, "openvino.unknown-attribute", kWarning, "")          \
  RULE(kLayerInputs, "openvino.number-of-inputs", kError, "")                       \
  RULE(kLayerOutputs, "openvino.number-of-outputs", kError, "")                     \
  RULE(kPortRepeatedId, "openvino.repeated-port-id", kError, "")                    \
  RULE(kPortPrecision, "openvino.port-precision", kWarning, "")                     \
  RULE(kPortDims, "openvino.port-dims", kError, "")                                 \
  RULE(kPortUnconnected, "openvino.unconnected-input", kError, "")                  \
  RULE(kEdgeUnknownLayer, "openvino.edge-layer", kError, "")                        \
  RULE(kEdgeUnknownPort, "openvino.edge-port", kError, "")                          \
  RULE(kEdgeRepeatedInput, "openvino.edge-repeated-input", kError, "")              \
  RULE(kConstRange, "openvino.const-range", kError, "")                             \
  RULE(kConstSize, "openvino.const-size", kError, "")                               \
  RULE(kConstWeights, "openvino.weights", kError, "")                               \
  RULE(kPortMapExternal, "openvino.external-port-id", kError, "")                   \
  RULE(kPortMapInternal, "openvino.internal-layer-id", kError, "")                  \
  RULE(kRtInfo, "openvino.rt-info", kError, "")                                     \
  RULE(kRoundedDivision, "openvino.rounded-division", kWarning, "")                 \
  RULE(kNoOpenVinoForm, "openvino.no-openvino-form", kError, "")                    \
  RULE(kNoVariableData, "openvino.no-variable-data", kError, "")                    \
  RULE(kUnwritableText, "openvino.unwritable-text", kError, "")
NNEFC_DEFINE_RULES(kOpenVinoRules, NNEFC_OPENVINO_RULES)
// clang-format on

}  // namespace nnefc::openvino
