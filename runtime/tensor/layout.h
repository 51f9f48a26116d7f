#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compiler/support/tensor/tensor_value.h"

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

inline bool SameLayout(const Layout& a, const Layout& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->Equals(*b);
}

}  // namespace nnefc::runtime
