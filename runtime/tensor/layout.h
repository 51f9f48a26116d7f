#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::tensor {

// A memory layout other than dense row-major. Only the backend that created it can interpret it, except for
// StridedLayout.
class OpaqueLayout {
 public:
  virtual ~OpaqueLayout() = default;
  // Returns the size of a tensor in this layout, gaps included.
  virtual size_t byte_size() const = 0;
  virtual bool Equals(const OpaqueLayout& other) const = 0;
  // Returns a short description for printed plans.
  virtual std::string ToString() const = 0;
  // Returns a key that is equal for equal layouts only, in all processes of one version. Empty if the layout
  // has none.
  virtual std::string Key() const { return ""; }
  // Returns the bytes of a constant that already has this layout, or null if it must be converted.
  virtual std::shared_ptr<const Buffer> BytesOf(const TensorValue& /*value*/) const { return nullptr; }
};

// A layout; null means dense row-major.
using Layout = std::shared_ptr<const OpaqueLayout>;

// Elements with strides other than those of a dense row-major tensor, possibly with gaps. All parts of the
// engine can interpret it. Strides are in elements and not negative.
class StridedLayout final : public OpaqueLayout {
 public:
  // `bytes` is the distance from the first byte to the end of the last element.
  StridedLayout(Strides strides, size_t bytes) : strides_(std::move(strides)), bytes_(bytes) {}

  const Strides& strides() const { return strides_; }
  size_t byte_size() const override { return bytes_; }
  bool Equals(const OpaqueLayout& other) const override;
  std::string ToString() const override;

 private:
  Strides strides_;
  size_t bytes_;
};

// Returns a StridedLayout with the strides of a view, or null if the view is dense.
Layout LayoutOf(const ElementsView& view, size_t element_bytes);
// Returns the strides of a StridedLayout, or null for other layouts.
const Strides* StridesOf(const Layout& layout);

inline bool SameLayout(const Layout& a, const Layout& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->Equals(*b);
}

}  // namespace nnefc::runtime::tensor
