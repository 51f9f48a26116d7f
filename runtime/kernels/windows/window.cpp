// Windows of OpenVINO operations in reference kernels.

#include "runtime/kernels/windows/window.h"

#include <algorithm>

#include "compiler/ir/interval.h"
#include "runtime/kernels/windows/transposed_window.h"

namespace nnefc::runtime::kernels {

Window MakeWindow(const ir::Node& node, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                  llvm::ArrayRef<int64_t> size) {
  const size_t rank = input.size();
  NNEFC_CHECK(rank >= 1 && rank <= 3 && output.size() == rank && size.size() == rank);
  const std::vector<int64_t> strides = node.Ints("strides", rank);
  const std::vector<int64_t> dilations = node.Ints("dilations", rank);
  const std::vector<int64_t> before = node.Ints("pads_begin", rank);
  const std::vector<int64_t> after = node.Ints("pads_end", rank);
  NNEFC_CHECK(strides.size() == rank && dilations.size() == rank && before.size() == rank &&
              after.size() == rank);
  const std::string auto_pad = node.String("auto_pad");

  Window window;
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis& axis = window[3 - rank + i];
    axis = {.input = input[i],
            .output = output[i],
            .size = size[i],
            .stride = strides[i],
            .dilation = dilations[i]};
    if (auto_pad == "explicit") {
      axis.before = before[i];
      axis.after = after[i];
    } else if (auto_pad != "valid") {
      // With rounding_type ceil there may be one more position than the pads account for.
      const int64_t places = static_cast<int64_t>(ir::CeilDiv(input[i], strides[i]));
      const int64_t total = std::max<int64_t>(0, (places - 1) * strides[i] + axis.reach() - input[i]);
      axis.before = auto_pad == "same_lower" ? total - total / 2 : total / 2;
      axis.after = total - axis.before;
    }
  }
  return window;
}

Window MakeTransposedWindow(const ir::Node& node, llvm::ArrayRef<int64_t> result,
                            llvm::ArrayRef<int64_t> data, llvm::ArrayRef<int64_t> size) {
  Window window = MakeWindow(node, result, data, size);
  const bool is_implied = node.num_inputs() > 2;
  const std::string auto_pad = node.String("auto_pad");
  if (!is_implied && auto_pad == "explicit") return window;
  const size_t rank = result.size();
  const std::vector<int64_t> extra = node.Ints("output_padding", rank);
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis& axis = window[3 - rank + i];
    const int64_t total = axis.stride * (axis.output - 1) + axis.reach() - axis.input + extra[i];
    // A result that is larger than what the windows reach has zeros at its end.
    const int64_t cropped = is_implied ? std::max<int64_t>(total, 0) : 0;
    axis.before = auto_pad == "same_upper" ? cropped - cropped / 2 : cropped / 2;
    axis.after = total - axis.before;
  }
  return window;
}

}  // namespace nnefc::runtime::kernels
