// Conversions between our formats and oneDNN's memory descriptors.
#pragma once

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/fast/memory/blocked_format.h"

namespace nnefc::runtime {

dnnl::memory::desc DescOf(const BlockedFormat& format);
BlockedFormat FormatOfDesc(const dnnl::memory::desc& desc);

}  // namespace nnefc::runtime
