// Reorders between any blocked formats, one element at a time.

#include "runtime/fast/memory/element_reorder.h"

#include <cstring>
#include <utility>
#include <vector>

#include "compiler/support/tensor/element_visitor.h"

namespace nnefc::runtime::fast::memory {

namespace {

// Offsets of the indices along an axis on both sides.
struct AxisPlaces {
  std::vector<int64_t> from, to;
};

template <typename From, typename To>
void CopyFrom(const std::vector<AxisPlaces>& axes, size_t axis, const From* from, To* to) {
  const AxisPlaces& places = axes[axis];
  for (size_t i = 0; i < places.from.size(); ++i) {
    const From* source = from + places.from[i];
    To* target = to + places.to[i];
    if (axis + 1 < axes.size()) {
      CopyFrom(axes, axis + 1, source, target);
    } else {
      *target = To(static_cast<float>(*source));
    }
  }
}

bool IsFloats(const BlockedFormat& format) {
  return format.is_blocked() && format.sum_axes == 0 &&
         (format.type == StorageType::kF32 || format.type == StorageType::kBf16);
}

class ElementReorder final : public kernels::Kernel {
 public:
  ElementReorder(const BlockedFormat& from, const BlockedFormat& to)
      : from_type_(from.type), to_type_(to.type), bytes_(to.byte_size()) {
    for (size_t axis = 0; axis < to.shape().size(); ++axis)
      axes_.push_back({PlacesOfAxis(from, axis), PlacesOfAxis(to, axis)});
  }

  std::string implementation() const override { return "nnefc:elements"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    std::memset(run.output().mutable_bytes(), 0, bytes_);  // the padding
    if (from_type_ == StorageType::kF32) {
      RunFrom<float>(run);
    } else {
      RunFrom<BFloat>(run);
    }
    return Success();
  }

 private:
  template <typename From>
  void RunFrom(const kernels::KernelRun& run) const {
    const auto* from = reinterpret_cast<const From*>(run.input(0).bytes());
    std::byte* to = run.output().mutable_bytes();
    if (to_type_ == StorageType::kF32) {
      CopyFrom(axes_, 0, from, reinterpret_cast<float*>(to));
    } else {
      CopyFrom(axes_, 0, from, reinterpret_cast<BFloat*>(to));
    }
  }

  StorageType from_type_, to_type_;
  size_t bytes_;  // of the result
  std::vector<AxisPlaces> axes_;
};

}  // namespace

std::shared_ptr<const kernels::Kernel> MakeElementReorder(const BlockedFormat& from,
                                                          const BlockedFormat& to) {
  if (!IsFloats(from) || !IsFloats(to) || from.shape() != to.shape()) return nullptr;
  return std::make_shared<ElementReorder>(from, to);
}

}  // namespace nnefc::runtime::fast::memory
