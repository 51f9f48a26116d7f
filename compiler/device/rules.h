#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::device {

// Parts of a model that a device does not accept, by its profile.
// clang-format off
#define NNEFC_DEVICE_RULES(RULE)                                  \
  RULE(kDialect, "device.dialect", kError, "")                    \
  RULE(kExtension, "device.extension", kError, "")                \
  RULE(kFragment, "device.fragment", kError, "")                  \
  RULE(kOperation, "device.operation", kError, "")                \
  RULE(kAttribute, "device.attribute", kError, "")                \
  RULE(kKernel, "device.kernel", kError, "")                      \
  RULE(kType, "device.type", kError, "")                          \
  RULE(kRank, "device.rank", kError, "")                          \
  RULE(kExtent, "device.extent", kError, "")                      \
  RULE(kUnknownExtent, "device.unknown-extent", kError, "")       \
  RULE(kWeights, "device.weights", kError, "")                    \
  RULE(kOperationCount, "device.operation-count", kError, "")     \
  RULE(kActivations, "device.activations", kError, "")
// clang-format on
NNEFC_DEFINE_RULES(kDeviceRules, NNEFC_DEVICE_RULES)

// Mistakes in a profile.
// clang-format off
#define NNEFC_DEVICE_PROFILE_RULES(RULE)                          \
  RULE(kProfileSyntax, "device.profile-syntax", kError, "")       \
  RULE(kProfileTwice, "device.profile-duplicate-key", kError, "") \
  RULE(kProfileKey, "device.profile-unknown-key", kError, "")     \
  RULE(kProfileName, "device.profile-unknown-name", kError, "")   \
  RULE(kProfileValue, "device.profile-value", kError, "")
// clang-format on
NNEFC_DEFINE_RULES(kDeviceProfileRules, NNEFC_DEVICE_PROFILE_RULES)

}  // namespace nnefc::device
