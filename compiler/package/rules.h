#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::package {

// clang-format off
#define NNEFC_PACKAGE_RULES(RULE)                                                   \
  RULE(kDatMagic, "dat.magic", kError, "R 5.2, P 5.2")                              \
  RULE(kDatVersion, "dat.version", kError, "R 5.2, P 5.2")                          \
  RULE(kDatTruncated, "dat.truncated", kError, "R 5.2, P 5.2")                      \
  RULE(kDatSize, "dat.size", kError, "R 5.2, P 5.2")                                \
  RULE(kDatRank, "dat.rank", kError, "R 5.2, P 5.2")                                \
  RULE(kDatExtents, "dat.extents", kError, "R 5.2, P 5.2")                          \
  RULE(kDatItemType, "dat.item-type", kError, "R 5.2, P 5.2")                       \
  RULE(kDatVendorType, "dat.vendor-type", kError, "R 5.2")                          \
  RULE(kDatBits, "dat.bits", kError, "R 5.2, P 5.2")                                \
  RULE(kDatRange, "dat.range", kError, "R 5.2, P 5.3")                              \
  RULE(kDatAlgorithm, "dat.algorithm", kError, "P 5.2, P 5.3")                      \
  RULE(kDatIndex, "dat.index", kError, "R 5.3, P 5.3")                              \
  RULE(kDatTypeMismatch, "dat.type-mismatch", kError, "R 5.2.1")                    \
  RULE(kDatValue, "dat.value", kError, "R 5.2.1")                                   \
  RULE(kDatNoQuantization, "dat.no-quantization", kError, "R 5.2, R 5.3")           \
  RULE(kDatStrayBytes, "dat.stray-bytes", kWarning, "R 5.2")                        \
  RULE(kDatStrayExtents, "dat.stray-extents", kWarning, "R 5.2")                    \
  RULE(kSafetensorsHeader, "safetensors.header", kError, "")                        \
  RULE(kSafetensorsType, "safetensors.type", kError, "")                            \
  RULE(kSafetensorsSize, "safetensors.size", kError, "")                            \
  RULE(kSafetensorsValue, "safetensors.value", kError, "")                          \
  RULE(kContainerUnreadable, "container.unreadable", kError, "")                    \
  RULE(kContainerNoGraph, "container.no-graph", kError, "R 5.1, P 5.1")             \
  RULE(kContainerForeignFormat, "container.foreign-format", kError, "")             \
  RULE(kContainerSeveralGraphs, "container.several-graphs", kError, "R 5.1, P 5.1") \
  RULE(kContainerLabel, "container.label", kError, "internal")                  \
  RULE(kContainerNoVariable, "container.no-variable", kError, "internal")       \
  RULE(kContainerTwoTensors, "container.two-tensors", kError, "")                   \
  RULE(kArchiveFormat, "archive.format", kError, "R 5, P 5")                        \
  RULE(kArchiveDamaged, "archive.damaged", kError, "R 5, P 5")                      \
  RULE(kArchiveName, "archive.name", kError, "")                                    \
  RULE(kArchiveOutside, "archive.outside", kError, "R 5, P 5")                      \
  RULE(kArchiveLink, "archive.link", kError, "R 5, P 5")                            \
  RULE(kArchiveDevice, "archive.device", kError, "R 5, P 5")                        \
  RULE(kArchiveDuplicate, "archive.duplicate", kError, "R 5, P 5")                  \
  RULE(kArchiveSize, "archive.size", kError, "R 5, P 5")                            \
  RULE(kArchiveTooLarge, "archive.too-large", kError, "")                           \
  RULE(kNpyMagic, "npy.magic", kError, "")                                          \
  RULE(kNpyVersion, "npy.version", kError, "")                                      \
  RULE(kNpyHeader, "npy.header", kError, "")                                        \
  RULE(kNpyType, "npy.type", kError, "")                                            \
  RULE(kNpySize, "npy.size", kError, "")                                            \
  RULE(kDataTooLarge, "data.too-large", kError, "environment")
// clang-format on
NNEFC_DEFINE_RULES(kPackageRules, NNEFC_PACKAGE_RULES)

}  // namespace nnefc::package
