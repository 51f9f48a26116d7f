// The implementations that oneDNN adds to the tables of the fast backend, and what they share.
#pragma once

#include "runtime/fast/factories.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::onednn {

// Append oneDNN's implementations to the tables of the fast backend; one function per file in this folder.
void AddConvolutionRows(fast::FastTables& tables);
void AddDeconvolutionRows(fast::FastTables& tables);
void AddMatmulRows(fast::FastTables& tables);
void AddPoolingRows(fast::FastTables& tables);
void AddElementwiseRows(fast::FastTables& tables);
void AddNormalizationRows(fast::FastTables& tables);
void AddRecurrentRows(fast::FastTables& tables);
void AddAttentionRows(fast::FastTables& tables);

inline constexpr kernels::Reason kNotInOneDnn("oneDNN has no such kernel, or only a portable one");

// The condition of oneDNN's int8 kernels, which are inexact without VNNI.
inline kernels::Reason NeedsVnni(const kernels::KernelRequest&) {
  return fast::HasVnni() ? kernels::Reason() : kernels::Reason("needs VNNI");
}

}  // namespace nnefc::runtime::onednn
