#include "runtime/fast/winograd_scratch.h"

#include <string_view>

namespace nnefc::runtime {

// The memory has the transformed filter, input and output one behind the other, each with room to begin at a
// large page; `tests/unit/runtime/fast/winograd_scratch_test.cpp` looks at what is touched.
ScratchUse WinogradScratchUse(const dnnl::convolution_forward::primitive_desc& primitive) {
  constexpr size_t kPage = size_t{2} << 20;
  const dnnl_version_t* version = dnnl_version();
  if (version->major != 2 || version->minor != 6) return {};
  if (std::string_view(primitive.impl_info_str()).find("wino_4x3") == std::string_view::npos) return {};
  const dnnl::memory::desc weights = primitive.weights_desc();
  const dnnl_wino_desc_t& filter = weights.data.format_desc.wino_desc;
  if (weights.data.format_kind != dnnl_format_kind_wino || filter.ic <= 0 || filter.oc <= 0) return {};
  const size_t scratch = primitive.scratchpad_desc().get_size();
  const auto inputs = static_cast<size_t>(filter.ic), outputs = static_cast<size_t>(filter.oc);
  const size_t of_filter = 36 * inputs * outputs * sizeof(float);
  if (filter.alpha != 6 || filter.size != of_filter || scratch <= of_filter + 3 * kPage) return {};
  const size_t images = scratch - of_filter - 3 * kPage;
  if (images * inputs % (inputs + outputs) != 0) return {};
  const size_t input = images * inputs / (inputs + outputs);
  const auto at_page = [](size_t offset) { return (offset + kPage - 1) / kPage * kPage; };
  return {.alignment = kPage,
          .parts = {{.offset = at_page(of_filter + kPage), .bytes = input},
                    {.offset = at_page(of_filter + input + 2 * kPage), .bytes = images - input}}};
}

}  // namespace nnefc::runtime
