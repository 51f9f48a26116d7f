#pragma once

#include "compiler/support/tensor/element_visitor.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime::kernels {

// The element types supported by a kernel.
struct VisitFloatTypes {
  template <typename Visit>
  bool operator()(ElementType type, Visit&& visit) const {
    return VisitFloatType(type, visit);
  }
};
struct VisitNumericTypes {
  template <typename Visit>
  bool operator()(ElementType type, Visit&& visit) const {
    return VisitNumericType(type, visit);
  }
};

inline Fault UnsupportedType(const ReferenceRun& run) {
  return KernelFault("`{}` has no kernel for elements of type {}", run.node.type(),
                     run.num_inputs() > 0 ? Name(run.input(0).type()) : "?");
}

// out[i] = function.Apply(x[i]) in ComputeType of the element.
template <typename Types, typename Function>
FaultOr<Success> RunUnary(const ReferenceRun& run, Types types, const Function& function) {
  const tensor::TensorView& input = run.input(0);
  const bool known = types(input.type(), [&]<typename T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T* x = input.template data<T>();
    T* out = run.output().template mutable_data<T>();
    constexpr int64_t kPart = 8192;
    const int64_t volume = input.volume();
    tensor::ParallelFor((volume + kPart - 1) / kPart, kPart, [&](int64_t part) {
      const int64_t end = std::min(volume, (part + 1) * kPart);
      tensor::Wide([&] {
        for (int64_t i = part * kPart; i < end; ++i) out[i] = T(function.Apply(static_cast<C>(x[i])));
      });
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace nnefc::runtime::kernels
