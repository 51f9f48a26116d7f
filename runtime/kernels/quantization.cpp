// FakeQuantize: to the nearest of `levels` equidistant values and back.

#include <array>
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
struct Quantizer {
  C il, ih, ol, oh, steps;

  C Inside(C x) const { return std::nearbyint((x - il) / (ih - il) * steps) / steps * (oh - ol) + ol; }
  C Limited(C x, C inside) const {
    const C most = x > std::max(il, ih) ? oh : inside;
    return x <= std::min(il, ih) ? ol : most;
  }
};

// A row with the same limits for all elements. In two loops: compilers make
// vectors of no arithmetic under a condition.
template <typename T, typename C>
void QuantizeRow(const Quantizer<C> quantizer, const T* x, T* out, int64_t length) {
  constexpr int64_t kPart = 256;
  std::array<C, kPart> inside;
  for (int64_t first = 0; first < length; first += kPart) {
    const int64_t count = std::min(kPart, length - first);
    for (int64_t i = 0; i < count; ++i)
      inside[static_cast<size_t>(i)] = quantizer.Inside(static_cast<C>(x[first + i]));
    for (int64_t i = 0; i < count; ++i)
      out[first + i] = T(quantizer.Limited(static_cast<C>(x[first + i]), inside[static_cast<size_t>(i)]));
  }
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
  const C steps = static_cast<C>(run.node.Int("levels") - 1);
  StridedLoop<6> loop(output.shape(),
                      {output.strides(), strides[0], strides[1], strides[2], strides[3], strides[4]});
  const std::array<int64_t, 6> step = loop.row_strides();
  loop.Run([&](const std::array<int64_t, 6>& offsets, int64_t length) {
    T* out = output.mutable_data<T>() + offsets[0];
    const auto at = [&](size_t input, int64_t i) {
      return static_cast<C>(run.input(input).data<T>()[offsets[input + 1] + i * step[input + 1]]);
    };
    const auto quantizer = [&](int64_t i) {
      return Quantizer<C>{.il = at(1, i), .ih = at(2, i), .ol = at(3, i), .oh = at(4, i), .steps = steps};
    };
    if (step == std::array<int64_t, 6>{1, 1, 0, 0, 0, 0}) {
      const T* x = run.input(0).data<T>() + offsets[1];
      const Quantizer<C> common = quantizer(0);
      Wide([=] { QuantizeRow(common, x, out, length); });
      return;
    }
    for (int64_t i = 0; i < length; ++i) {
      const C x = at(0, i);
      out[i * step[0]] = T(quantizer(i).Limited(x, quantizer(i).Inside(x)));
    }
  });
}

FaultOr<Success> FakeQuantize(const ReferenceRun& run) {
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
