// Conversions between our formats and oneDNN's memory descriptors.
#pragma once

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/fast/memory/blocked_format.h"

namespace nnefc::runtime::onednn::library {

dnnl::memory::desc DescOf(const fast::memory::BlockedFormat& format);
fast::memory::BlockedFormat FormatOfDesc(const dnnl::memory::desc& desc);

}  // namespace nnefc::runtime::onednn::library
