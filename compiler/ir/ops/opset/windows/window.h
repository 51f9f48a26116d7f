#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

// The attributes that convolutions and poolings share.
struct WindowAttributes {
  Window axes;           // one for each spatial dimension, padded by zeros unless `auto_pad` is "explicit"
  std::string auto_pad;  // "explicit", "same_upper", "same_lower", "valid"
  WindowRounding rounding = WindowRounding::kFloor;
};

// Reads strides, dilations, pads_begin, pads_end, auto_pad and rounding_type for `spatial` dimensions.
// `kernel` may be shorter than `spatial` where it is unknown. Emits kOpsetAttributeValue and returns nothing
// for lists of other lengths and for strides, dilations and kernels below 1.
[[nodiscard]] std::optional<WindowAttributes> ReadWindow(OpContext& op, const std::vector<int64_t>& kernel,
                                                         int64_t spatial);

// Returns the output extent along `axis` of a convolution or pooling. Emits kOpsetExtent and returns nothing
// if the window does not fit.
[[nodiscard]] std::optional<Dim> WindowOutput(OpContext& op, const WindowAttributes& window, int64_t axis,
                                              Dim extent);

// Returns `infos`, the row entries of strides and dilations, with those of pads_begin, pads_end and auto_pad.
std::vector<AttributeInfo> WindowAttributeInfos(std::vector<AttributeInfo> infos);

}  // namespace nnefc::ir::ops::opset
