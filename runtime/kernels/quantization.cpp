// FakeQuantize: to the nearest of `levels` equidistant values and back.

#include <cmath>

#include "runtime/kernels/attributes.h"
#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/unary.h"
#include "runtime/tensor/strided_loop.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime {

namespace {

// x <= min(il, ih) -> ol;  x > max(il, ih) -> oh;  otherwise
// round((x - il) / (ih - il) * (levels - 1)) / (levels - 1) * (oh - ol) + ol,
// halves to even.
template <typename C>
C Quantize(C x, C il, C ih, C ol, C oh, C steps) {
  // Without branches, for loops in vectors.
  const C inside = std::nearbyint((x - il) / (ih - il) * steps) / steps * (oh - ol) + ol;
  const C most = x > std::max(il, ih) ? oh : inside;
  return x <= std::min(il, ih) ? ol : most;
}

template <typename T>
void FakeQuantizeAs(const ReferenceRun& run) {
  using C = ComputeType<T>;
  const MutableTensorView& output = run.output();
  std::array<Strides, 5> strides;
  for (size_t i = 0; i < 5; ++i) {
    strides[i] =
        BroadcastStrides(run.input(i), output.shape(), BroadcastAxis(run.node, run.input(i), output.rank()));
  }
  const C steps = static_cast<C>(IntOr(run.node, "levels", 256) - 1);
  StridedLoop<6> loop(output.shape(),
                      {output.strides(), strides[0], strides[1], strides[2], strides[3], strides[4]});
  const std::array<int64_t, 6> step = loop.row_strides();
  loop.Run([&](const std::array<int64_t, 6>& offsets, int64_t length) {
    T* out = output.mutable_data<T>() + offsets[0];
    const auto at = [&](size_t input, int64_t i) {
      return static_cast<C>(run.input(input).data<T>()[offsets[input + 1] + i * step[input + 1]]);
    };
    if (step == std::array<int64_t, 6>{1, 1, 0, 0, 0, 0}) {  // limits that a row has in common
      const C il = at(1, 0), ih = at(2, 0), ol = at(3, 0), oh = at(4, 0);
      const T* x = run.input(0).data<T>() + offsets[1];
      Wide([&] {
        for (int64_t i = 0; i < length; ++i)
          out[i] = T(Quantize(static_cast<C>(x[i]), il, ih, ol, oh, steps));
      });
      return;
    }
    for (int64_t i = 0; i < length; ++i) {
      out[i * step[0]] = T(Quantize(at(0, i), at(1, i), at(2, i), at(3, i), at(4, i), steps));
    }
  });
}

ErrorOr<Success> FakeQuantize(const ReferenceRun& run) {
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { FakeQuantizeAs<T>(run); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterQuantization(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "FakeQuantize", FakeQuantize);
}

}  // namespace nnefc::runtime
