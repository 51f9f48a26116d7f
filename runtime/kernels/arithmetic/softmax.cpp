// SoftMax and LogSoftmax along one axis.

#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// out[i] = exp(x[i] - m) / sum over j of exp(x[j] - m), with the maximum m, or the logarithm of that.
template <typename T, bool kLogarithm>
void SoftmaxAs(const ReferenceRun& run, size_t axis) {
  using C = ComputeType<T>;
  const tensor::TensorView& input = run.input(0);
  const int64_t extent = input.shape()[axis];
  const int64_t stride = input.strides()[axis];
  if (extent == 0) return;
  tensor::ParallelFor(input.volume() / extent, extent * 16, [&](int64_t line) {
    const int64_t first = line / stride * extent * stride + line % stride;
    const T* x = input.data<T>() + first;
    T* out = run.output().mutable_data<T>() + first;
    C largest = static_cast<C>(x[0]);
    for (int64_t i = 1; i < extent; ++i) largest = std::max(largest, static_cast<C>(x[i * stride]));
    double sum = 0;
    for (int64_t i = 0; i < extent; ++i) sum += std::exp(static_cast<C>(x[i * stride]) - largest);
    for (int64_t i = 0; i < extent; ++i) {
      const C shifted = static_cast<C>(x[i * stride]) - largest;
      out[i * stride] = T(static_cast<C>(kLogarithm ? shifted - std::log(sum) : std::exp(shifted) / sum));
    }
  });
}

template <bool kLogarithm>
FaultOr<Success> Softmax(const ReferenceRun& run) {
  if (run.input(0).rank() == 0) return KernelFault("`{}` of a tensor without axes", run.node.type());
  const size_t axis = static_cast<size_t>(NormalAxis(run.node.Int("axis"), run.input(0).rank()));
  const bool known = VisitFloatType(run.input(0).type(),
                                    [&]<typename T>(TypeTag<T>) { SoftmaxAs<T, kLogarithm>(run, axis); });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterSoftmax(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset8"}, "SoftMax", Softmax<false>);
  registry.AddReference({"opset5"}, "LogSoftmax", Softmax<true>);
}

}  // namespace nnefc::runtime::kernels
