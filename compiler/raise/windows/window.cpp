// Windows of OpenVINO operations, resolved for raising.

#include "compiler/raise/windows/window.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

// Returns a list of one item per axis without those of windows of one element in front, or an empty list if
// all items are 1.
Integers Completed(const Integers& items, size_t leading) {
  if (llvm::all_of(items, [](int64_t item) { return item == 1; })) return {};
  Integers list(leading, 1);
  list.insert(list.end(), items.begin(), items.end());
  return list;
}

// True if the padding is p = floor(t / 2), q = ceil(t / 2) with t = max((x - 1) * s + reach - X, 0) and the
// output extent is x = ceil(X / s).
bool IsAutomatic(const Window& window, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output) {
  for (size_t i = 0; i < window.rank(); ++i) {
    if (output[i] != (input[i] + window.stride[i] - 1) / window.stride[i]) return false;
    const int64_t total =
        std::max<int64_t>((output[i] - 1) * window.stride[i] + window.reach(i) - input[i], 0);
    if (window.pad_begin[i] != total / 2 || window.pad_end[i] != total - total / 2) return false;
  }
  return true;
}

}  // namespace

Integers Spatial(const nnefc::Shape& shape) {
  return {shape.begin() + 2, shape.end()};
}

Window ReadWindow(const NodeRaising& n, Integers size, llvm::ArrayRef<int64_t> input,
                  llvm::ArrayRef<int64_t> output) {
  Window window{.size = std::move(size)};
  const size_t rank = window.rank();
  const bool has_dilations = n.node().info().FindAttribute("dilations") != nullptr;
  window.stride = n.node().Ints("strides", rank);
  window.dilation = has_dilations ? n.node().Ints("dilations", rank) : Integers(rank, 1);
  if (window.stride.empty()) window.stride.assign(rank, 1);
  window.pad_begin.assign(rank, 0);
  window.pad_end.assign(rank, 0);
  const std::string& mode = n.node().String("auto_pad");
  if (mode == "explicit") {
    window.pad_begin = n.node().Ints("pads_begin", rank);
    window.pad_end = n.node().Ints("pads_end", rank);
  } else if (mode != "valid") {
    for (size_t i = 0; i < rank; ++i) {
      // A pooling that rounds up may have one more position, for which there is no padding.
      const int64_t positions = std::min(output[i], (input[i] + window.stride[i] - 1) / window.stride[i]);
      const int64_t total =
          std::max<int64_t>((positions - 1) * window.stride[i] + window.reach(i) - input[i], 0);
      window.pad_begin[i] = mode == "same_upper" ? total / 2 : total - total / 2;
      window.pad_end[i] = total - window.pad_begin[i];
    }
  }
  return window;
}

ir::AttributeMap WindowAttributes(const Window& window, llvm::ArrayRef<int64_t> input,
                                  llvm::ArrayRef<int64_t> output, size_t leading) {
  std::vector<std::pair<int64_t, int64_t>> padding;
  if (!IsAutomatic(window, input, output)) {
    padding.assign(leading, {0, 0});
    for (size_t i = 0; i < window.rank(); ++i) padding.emplace_back(window.pad_begin[i], window.pad_end[i]);
  }
  ir::AttributeMap attributes;
  attributes.Set("padding", ir::PairList(padding));
  attributes.Set("stride", Completed(window.stride, leading));
  attributes.Set("dilation", Completed(window.dilation, leading));
  return attributes;
}

}  // namespace nnefc::raise
