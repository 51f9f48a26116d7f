// RegionYolo and ReorgYolo.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// Applies the logistic function to `data` viewed as [batch, regions, coords + 1 + classes, height, width]: to
// the centre, the objectness and, without softmax, the classes. Extents stay unchanged.
template <typename T>
void RegionYoloAs(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const bool softmax = run.node.Bool("do_softmax");
  const int64_t coords = run.node.Int("coords"), classes = run.node.Int("classes");
  const int64_t items = coords + 1 + classes;
  const int64_t plane = data.extent(2) * data.extent(3);
  const int64_t first_class = coords + 1;
  tensor::ParallelFor(data.volume() / items, 4 * items, [&](int64_t index) {
    const int64_t start = index / plane * items * plane + index % plane;
    const T* x = data.data<T>() + start;
    T* out = run.output().mutable_data<T>() + start;
    const auto at = [&](int64_t item) { return AsDouble(x[item * plane]); };
    double largest = -HUGE_VAL;
    double sum = 0;
    if (softmax) {
      for (int64_t c = first_class; c < items; ++c) largest = std::max(largest, at(c));
      for (int64_t c = first_class; c < items; ++c) sum += std::exp(at(c) - largest);
    }
    for (int64_t item = 0; item < items; ++item) {
      const bool is_extent = item >= 2 && item < coords;
      const bool by_softmax = softmax && item >= first_class;
      const double value = is_extent    ? at(item)
                           : by_softmax ? std::exp(at(item) - largest) / sum
                                        : 1 / (1 + std::exp(-at(item)));
      out[item * plane] = ConvertElement<T>(value);
    }
  });
}

FaultOr<Success> RegionYolo(const ReferenceRun& run) {
  if (run.input(0).volume() == 0) return Success();
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { RegionYoloAs<T>(run); }))
    return UnsupportedType(run);
  return Success();
}

// Views the result as [n, c, h, w] and the data as [n, c / stride^2, h * stride, w * stride], as in darknet.
FaultOr<Success> ReorgYolo(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const int64_t stride = run.node.Int("stride");
  const int64_t channels = data.extent(1), height = data.extent(2), width = data.extent(3);
  const int64_t deep = channels / (stride * stride);
  const size_t bytes = data.element_bytes();
  tensor::ParallelFor(data.volume(), 2, [&](int64_t index) {
    const int64_t w = index % width, h = index / width % height;
    const int64_t c = index / width / height % channels, n = index / width / height / channels;
    const int64_t place = c / deep;
    const int64_t y = h * stride + place / stride, x = w * stride + place % stride;
    const int64_t source = ((n * deep + c % deep) * height * stride + y) * width * stride + x;
    std::memcpy(run.output().mutable_bytes() + static_cast<size_t>(index) * bytes,
                data.bytes() + static_cast<size_t>(source) * bytes, bytes);
  });
  return Success();
}

}  // namespace

void RegisterYolo(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "RegionYolo", RegionYolo);
  registry.AddReference({"opset2"}, "ReorgYolo", ReorgYolo);
}

}  // namespace nnefc::runtime::kernels
