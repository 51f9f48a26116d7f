// Layouts of values, and strided layouts.

#include "runtime/tensor/layout.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace nnefc::runtime::tensor {

bool StridedLayout::Equals(const OpaqueLayout& other) const {
  const auto* same = dynamic_cast<const StridedLayout*>(&other);
  return same != nullptr && same->strides_ == strides_ && same->bytes_ == bytes_;
}

std::string StridedLayout::ToString() const {
  return fmt::format("strides {}", fmt::join(strides_, ","));
}

Layout LayoutOf(const ElementsView& view, size_t element_bytes) {
  if (IsDense(view)) return nullptr;
  int64_t last = 0;
  for (size_t axis = 0; axis < view.shape.size(); ++axis) last += (view.shape[axis] - 1) * view.strides[axis];
  return std::make_shared<StridedLayout>(view.strides, static_cast<size_t>(last + 1) * element_bytes);
}

const Strides* StridesOf(const Layout& layout) {
  const auto* strided = dynamic_cast<const StridedLayout*>(layout.get());
  return strided == nullptr ? nullptr : &strided->strides();
}

}  // namespace nnefc::runtime::tensor
