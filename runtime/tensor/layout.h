#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// How the elements of a value lie in memory where that is not row-major: a
// form that only the kernels of one backend understand.
class OpaqueLayout {
 public:
  virtual ~OpaqueLayout() = default;
  virtual size_t byte_size() const = 0;
  virtual bool Equals(const OpaqueLayout& other) const = 0;
  // For plans.
  virtual std::string ToString() const = 0;
  // Equal layouts, and no others, have equal keys, in every process of a version; empty where there is none.
  virtual std::string Key() const { return ""; }
  // The bytes of a constant that lies so already; null of one that has to be laid out.
  virtual std::shared_ptr<const Buffer> BytesOf(const TensorValue& /*value*/) const { return nullptr; }
};

// Null is the dense row-major layout.
using Layout = std::shared_ptr<const OpaqueLayout>;

// Elements with other strides than a dense row-major tensor has, some of which may be of no element: what
// the rest of the engine understands, too. No stride is negative.
class StridedLayout final : public OpaqueLayout {
 public:
  // From the first element to the last one there are so many bytes.
  StridedLayout(Strides strides, size_t bytes) : strides_(std::move(strides)), bytes_(bytes) {}

  const Strides& strides() const { return strides_; }
  size_t byte_size() const override { return bytes_; }
  bool Equals(const OpaqueLayout& other) const override;
  std::string ToString() const override;

 private:
  Strides strides_;
  size_t bytes_;
};

// Null where elements of that size lie behind one another.
Layout LayoutOf(const ElementsView& view, size_t element_bytes);
// Its strides; null of a layout that has none.
const Strides* StridesOf(const Layout& layout);

inline bool SameLayout(const Layout& a, const Layout& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->Equals(*b);
}

}  // namespace nnefc::runtime
