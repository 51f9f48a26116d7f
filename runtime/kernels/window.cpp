#include "runtime/kernels/window.h"

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/opset/schema.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

Window MakeWindow(const ir::Node& node, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                  llvm::ArrayRef<int64_t> size) {
  const size_t rank = input.size();
  NNEFC_CHECK(rank >= 1 && rank <= 3 && output.size() == rank && size.size() == rank);
  const std::vector<int64_t> strides = IntsOr(node, "strides", rank, 1);
  // A node may have attributes that its operation does not know: `dilations` of
  // an AvgPool of opset1 has no effect.
  const ir::OpRow* row = ir::FindOpRow(node.set(), node.type());
  const bool is_dilated = row != nullptr && row->Find("dilations") != nullptr;
  const std::vector<int64_t> dilations =
      is_dilated ? IntsOr(node, "dilations", rank, 1) : std::vector<int64_t>(rank, 1);
  const std::vector<int64_t> before = IntsOr(node, "pads_begin", rank, 0);
  const std::vector<int64_t> after = IntsOr(node, "pads_end", rank, 0);
  NNEFC_CHECK(strides.size() == rank && dilations.size() == rank && before.size() == rank &&
              after.size() == rank);
  const std::string auto_pad = StringOr(node, "auto_pad", "explicit");

  Window window;
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis& axis = window[3 - rank + i];
    axis = {.input = input[i],
            .output = output[i],
            .size = size[i],
            .stride = strides[i],
            .dilation = dilations[i]};
    if (auto_pad == "explicit" || auto_pad == "notset") {
      axis.before = before[i];
      axis.after = after[i];
    } else if (auto_pad != "valid") {
      // Rounding up may add a place behind those that the pads are for.
      const int64_t places = ir::CeilDivide(input[i], strides[i]);
      const int64_t total = std::max<int64_t>(0, (places - 1) * strides[i] + axis.reach() - input[i]);
      axis.before = auto_pad == "same_lower" ? total - total / 2 : total / 2;
      axis.after = total - axis.before;
    }
  }
  return window;
}

}  // namespace nnefc::runtime
