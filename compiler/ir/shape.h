#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::ir {

// An extent: a known value, or an interval [min, max] of possible values at run time.
struct Dim {
  static constexpr int64_t kUnbounded = INT64_MAX;

  int64_t min = 0;
  int64_t max = kUnbounded;

  constexpr Dim() = default;  // any extent: `?`
  constexpr Dim(int64_t value) : min(value), max(value) {}
  constexpr Dim(int64_t lowest, int64_t highest) : min(lowest), max(highest) {}

  constexpr bool known() const { return min == max; }
  int64_t value() const {
    NNEFC_CHECK(known());
    return min;
  }
  // True if an extent satisfies both.
  constexpr bool Compatible(Dim other) const { return min <= other.max && other.min <= max; }
  friend constexpr bool operator==(Dim, Dim) = default;
};

// A shape whose rank or extents may be unknown.
class PartialShape {
 public:
  PartialShape() = default;  // unknown rank: `...`
  PartialShape(llvm::ArrayRef<int64_t> extents);
  PartialShape(std::initializer_list<int64_t> extents) : PartialShape(llvm::ArrayRef<int64_t>(extents)) {}
  PartialShape(std::initializer_list<Dim> dims) : PartialShape(llvm::ArrayRef<Dim>(dims)) {}
  explicit PartialShape(llvm::ArrayRef<Dim> dims) : rank_known_(true), dims_(dims.begin(), dims.end()) {}

  static PartialShape OfRank(int64_t rank);

  bool rank_known() const { return rank_known_; }
  int64_t rank() const {
    NNEFC_CHECK(rank_known_);
    return static_cast<int64_t>(dims_.size());
  }
  // True if every extent is known.
  bool known() const;
  Dim operator[](int64_t axis) const {
    NNEFC_CHECK(rank_known_ && axis >= 0 && axis < rank());
    return dims_[static_cast<size_t>(axis)];
  }
  void set(int64_t axis, Dim dim) {
    NNEFC_CHECK(rank_known_ && axis >= 0 && axis < rank());
    dims_[static_cast<size_t>(axis)] = dim;
  }
  llvm::ArrayRef<Dim> dims() const { return dims_; }
  // Returns the extents if all are known.
  std::optional<Shape> extents() const;
  Shape known_extents() const;  // checked
  // Returns the number of elements if it is known and fits 63 bits.
  std::optional<int64_t> volume() const;
  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  bool rank_known_ = false;
  llvm::SmallVector<Dim, 4> dims_;
};

// Converts to and from OpenVINO's text form: "[1,3,?,2..8]", "[]" of rank 0, "[...]" of unknown rank.
std::string ToString(const PartialShape& shape);
std::optional<PartialShape> ParsePartialShape(std::string_view text);

}  // namespace nnefc::ir
