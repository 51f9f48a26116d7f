// The oneDNN library, loaded on first use: it costs 3 MB and a millisecond per process, 5 MB more when used,
// and most networks only run our own kernels.
#pragma once

#include <string>

#include "runtime/onednn/library/interface.h"

namespace nnefc::runtime::onednn {

// Returns the library, loaded by the first call, or null if it cannot be loaded.
const library::OneDnnLibrary* LoadOneDnn();

// Returns the reason if oneDNN was needed but could not be loaded; otherwise empty.
std::string OneDnnLoadError();

// Returns the version of the library and the instructions that it uses, or the reason if it cannot be loaded.
std::string DescribeOneDnn();

// Returns the version that this build uses; empty in a build without oneDNN. Does not load the library.
std::string OneDnnVersion();

// Creates a primitive for the threads of the current scope. Returns null if oneDNN has none, or only a
// portable one, which is slower than our kernels.
std::shared_ptr<const library::Primitive> CreatePrimitive(const library::PrimitiveRequest& request);

// Returns true for GEMM-based primitives. The post-ops of such convolutions run in slow portable code, with
// relu(NaN) = NaN, and NaN for infinities.
bool IsGemm(const library::Primitive& primitive);

}  // namespace nnefc::runtime::onednn
