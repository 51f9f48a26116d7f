// The implementations that oneDNN adds to the tables of the fast backend, and what they share.
#pragma once

#include "runtime/fast/factories.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// One function per file of rows in this folder.
void AddConvolutionRows(FastTables& tables);
void AddDeconvolutionRows(FastTables& tables);
void AddMatmulRows(FastTables& tables);
void AddPoolingRows(FastTables& tables);
void AddElementwiseRows(FastTables& tables);
void AddNormalizationRows(FastTables& tables);
void AddConcatRows(FastTables& tables);
void AddRecurrentRows(FastTables& tables);
void AddAttentionRows(FastTables& tables);

inline constexpr Reason kNotInOneDnn("oneDNN has no such kernel, or only a portable one");

// The condition of oneDNN's int8 kernels, which are inexact without VNNI.
inline Reason NeedsVnni(const KernelRequest&) {
  return HasVnni() ? Reason() : Reason("needs VNNI");
}

}  // namespace nnefc::runtime
