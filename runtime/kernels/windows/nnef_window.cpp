// Windows of NNEF operations in reference kernels.

#include "runtime/kernels/windows/nnef_window.h"

#include "compiler/ir/ops/windows/sliding_window_shape.h"

namespace nnefc::runtime::kernels {

std::optional<NnefWindow> ReadNnefWindow(const ir::Node& node, llvm::ArrayRef<int64_t> size,
                                         llvm::ArrayRef<int64_t> upscaled) {
  const ir::ops::Window axes = ir::ops::WindowOf(node, size);
  const auto padding = ir::ops::ResolvedPaddings(axes, upscaled);
  if (!padding) return std::nullopt;
  NnefWindow window;
  window.border = node.attribute("border").AsString();
  for (size_t i = 0; i < axes.size(); ++i) {
    window.size.push_back(axes[i].size);
    window.stride.push_back(axes[i].stride);
    window.dilation.push_back(axes[i].dilation);
    window.pad_begin.push_back((*padding)[i].first);
    window.pad_end.push_back((*padding)[i].second);
    if (__builtin_mul_overflow(window.volume, axes[i].size, &window.volume)) return std::nullopt;
  }
  return window;
}

std::optional<int64_t> BorderPosition(int64_t at, int64_t extent, std::string_view border) {
  if (at >= 0 && at < extent) return at;
  int64_t source = at;
  if (border == "replicate") source = at < 0 ? 0 : extent - 1;
  if (border == "reflect") source = at < 0 ? -at : 2 * (extent - 1) - at;
  if (border == "reflect-even") source = at < 0 ? -at - 1 : 2 * extent - 1 - at;
  if (source < 0 || source >= extent) return std::nullopt;
  return source;
}

}  // namespace nnefc::runtime::kernels
