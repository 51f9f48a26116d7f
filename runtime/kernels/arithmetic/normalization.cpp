// LRN, BatchNormInference, NormalizeL2, MVN, GRN and GroupNormalization, with f64 sums.

#include <cmath>

#include "runtime/kernels/arithmetic/reduction.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels {

namespace {

// An axis of an LRN window.
struct SpannedAxis {
  int64_t extent, stride, reach;
};

// Returns the sum of squares of the 2 * reach + 1 elements around `index` along each spanned axis, clipped to
// the tensor.
template <typename T>
double SumOfSquares(const T* x, int64_t index, llvm::ArrayRef<SpannedAxis> axes) {
  llvm::SmallVector<int64_t, 4> first, last, at;
  int64_t offset = index;
  for (const SpannedAxis& axis : axes) {
    const int64_t position = index / axis.stride % axis.extent;
    first.push_back(std::max<int64_t>(0, position - axis.reach) - position);
    last.push_back(std::min(axis.extent - 1, position + axis.reach) - position);
    at.push_back(first.back());
    offset += first.back() * axis.stride;
  }
  double sum = 0;
  for (;;) {
    sum += AsDouble(x[offset]) * AsDouble(x[offset]);
    size_t i = axes.size();
    while (i-- > 0) {
      offset += axes[i].stride;
      if (++at[i] <= last[i]) break;
      offset -= (last[i] - first[i] + 1) * axes[i].stride;
      at[i] = first[i];
    }
    if (i == static_cast<size_t>(-1)) return sum;
  }
}

// out = x / (bias + alpha / size^axes * sum of squares)^beta
template <typename T>
void LrnAs(const ReferenceRun& run, llvm::ArrayRef<int64_t> given) {
  const tensor::TensorView& input = run.input(0);
  const int64_t size = run.node.Int("size");
  const double bias = run.node.Double("bias");
  const double beta = run.node.Double("beta");
  llvm::SmallVector<SpannedAxis, 4> axes;
  double alpha = run.node.Double("alpha");
  for (int64_t axis : given) {
    const auto i = static_cast<size_t>(axis);
    axes.push_back({input.shape()[i], input.strides()[i], (size - 1) / 2});
    alpha /= static_cast<double>(size);
  }
  const T* x = input.data<T>();
  T* out = run.output().mutable_data<T>();
  constexpr int64_t kPart = 1024;
  tensor::ParallelFor((input.volume() + kPart - 1) / kPart, kPart * 16, [&](int64_t part) {
    for (int64_t i = part * kPart; i < std::min(input.volume(), (part + 1) * kPart); ++i) {
      out[i] = ConvertElement<T>(AsDouble(x[i]) / std::pow(bias + alpha * SumOfSquares(x, i, axes), beta));
    }
  });
}

FaultOr<Success> Lrn(const ReferenceRun& run) {
  const auto axes = AxesOf(run.input(1), run.input(0).rank());
  if (!axes) return axes.error();
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { LrnAs<T>(run, *axes); }))
    return UnsupportedType(run);
  return Success();
}

// out = (x - mean[c]) / sqrt(variance[c] + epsilon) * gamma[c] + beta[c]
struct BatchNormInputs {
  size_t data, gamma, beta, mean, variance;
};
template <typename T>
void BatchNormAs(const ReferenceRun& run, const BatchNormInputs& at) {
  const tensor::TensorView& input = run.input(at.data);
  const double epsilon = run.node.Double("epsilon");
  const int64_t channels = input.extent(1);
  const int64_t plane = input.strides()[1];
  const auto parameter = [&](size_t index, int64_t c) { return AsDouble(run.input(index).data<T>()[c]); };
  tensor::ParallelFor(input.extent(0) * channels, plane, [&](int64_t index) {
    const int64_t c = index % channels;
    const double scale = parameter(at.gamma, c) / std::sqrt(parameter(at.variance, c) + epsilon);
    // With an infinite scale, x * scale + (beta - mean * scale) would differ.
    const double mean = parameter(at.mean, c), beta = parameter(at.beta, c);
    const T* x = input.data<T>() + index * plane;
    T* out = run.output().mutable_data<T>() + index * plane;
    for (int64_t i = 0; i < plane; ++i) out[i] = ConvertElement<T>((AsDouble(x[i]) - mean) * scale + beta);
  });
}

FaultOr<Success> BatchNormInference(const ReferenceRun& run) {
  const BatchNormInputs at =
      run.node.set() == "opset1" ? BatchNormInputs{2, 0, 1, 3, 4} : BatchNormInputs{0, 1, 2, 3, 4};
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { BatchNormAs<T>(run, at); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// out = x / sqrt(max(sum, eps)) or x / sqrt(sum + eps), with the sum of x^2 over the axes.
template <typename T>
void NormalizeL2As(const ReferenceRun& run, llvm::ArrayRef<int64_t> axes) {
  const tensor::TensorView& input = run.input(0);
  const double eps = run.node.Double("eps");
  const bool add = run.node.String("eps_mode") == "add";
  const Reduction reduction(input, axes);
  if (reduction.num_terms() == 0) return;
  tensor::ParallelFor(input.volume() / reduction.num_terms(), 2 * reduction.num_terms(), [&](int64_t index) {
    const int64_t first = reduction.FirstTerm(index);
    const T* x = input.data<T>() + first;
    T* out = run.output().mutable_data<T>() + first;
    double sum = 0;
    reduction.ForEachTerm([&](int64_t offset) { sum += AsDouble(x[offset]) * AsDouble(x[offset]); });
    const double norm = std::sqrt(add ? sum + eps : sum > eps ? sum : eps);
    reduction.ForEachTerm(
        [&](int64_t offset) { out[offset] = ConvertElement<T>(AsDouble(x[offset]) / norm); });
  });
}

FaultOr<Success> NormalizeL2(const ReferenceRun& run) {
  const auto axes = AxesOf(run.input(1), run.input(0).rank());
  if (!axes) return axes.error();
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { NormalizeL2As<T>(run, *axes); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// out = (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps), with both moments over the axes.
template <typename T>
void MvnAs(const ReferenceRun& run, llvm::ArrayRef<int64_t> axes) {
  const tensor::TensorView& input = run.input(0);
  const double eps = run.node.Double("eps");
  const bool normalize = run.node.Bool("normalize_variance");
  const std::string mode = run.node.String("eps_mode");
  const bool inside = mode == "inside_sqrt" || mode == "INSIDE_SQRT";
  const Reduction reduction(input, axes);
  if (reduction.num_terms() == 0) return;
  const double count = static_cast<double>(reduction.num_terms());
  tensor::ParallelFor(input.volume() / reduction.num_terms(), 3 * reduction.num_terms(), [&](int64_t index) {
    const int64_t first = reduction.FirstTerm(index);
    const T* x = input.data<T>() + first;
    T* out = run.output().mutable_data<T>() + first;
    double sum = 0;
    reduction.ForEachTerm([&](int64_t offset) { sum += AsDouble(x[offset]); });
    const double mean = sum / count;
    double divisor = 1;
    if (normalize) {
      double squares = 0;
      reduction.ForEachTerm(
          [&](int64_t offset) { squares += (AsDouble(x[offset]) - mean) * (AsDouble(x[offset]) - mean); });
      divisor = inside ? std::sqrt(squares / count + eps) : std::sqrt(squares / count) + eps;
    }
    reduction.ForEachTerm(
        [&](int64_t offset) { out[offset] = ConvertElement<T>((AsDouble(x[offset]) - mean) / divisor); });
  });
}

FaultOr<Success> Mvn(const ReferenceRun& run) {
  llvm::SmallVector<int64_t, 8> axes;
  if (run.num_inputs() > 1) {
    const auto given = AxesOf(run.input(1), run.input(0).rank());
    if (!given) return given.error();
    axes = *given;
  } else {
    const int64_t first = run.node.Bool("across_channels") ? 1 : 2;
    for (int64_t axis = first; axis < run.input(0).rank(); ++axis) axes.push_back(axis);
  }
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { MvnAs<T>(run, axes); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// out = x / sqrt(sum over the channels of x^2 + bias)
template <typename T>
void GrnAs(const ReferenceRun& run) {
  const tensor::TensorView& input = run.input(0);
  const double bias = run.node.Double("bias");
  const Reduction reduction(input, {1});
  if (reduction.num_terms() == 0) return;
  tensor::ParallelFor(input.volume() / reduction.num_terms(), 2 * reduction.num_terms(), [&](int64_t index) {
    const int64_t first = reduction.FirstTerm(index);
    const T* x = input.data<T>() + first;
    T* out = run.output().mutable_data<T>() + first;
    double sum = bias;
    reduction.ForEachTerm([&](int64_t offset) { sum += AsDouble(x[offset]) * AsDouble(x[offset]); });
    reduction.ForEachTerm(
        [&](int64_t offset) { out[offset] = ConvertElement<T>(AsDouble(x[offset]) / std::sqrt(sum)); });
  });
}

FaultOr<Success> Grn(const ReferenceRun& run) {
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { GrnAs<T>(run); }))
    return UnsupportedType(run);
  return Success();
}

// out = (x - mean) / sqrt(variance + epsilon) * scale[c] + bias[c], with the moments of a group of
// consecutive channels.
template <typename T>
void GroupNormalizationAs(const ReferenceRun& run) {
  const tensor::TensorView& input = run.input(0);
  const double epsilon = run.node.Double("epsilon");
  const int64_t groups = run.node.Int("num_groups");
  const int64_t channels = input.extent(1);
  const int64_t plane = input.strides()[1];
  const int64_t count = channels / groups * plane;
  tensor::ParallelFor(input.extent(0) * groups, 3 * count, [&](int64_t group) {
    const T* x = input.data<T>() + group * count;
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += AsDouble(x[i]);
    const double mean = sum / static_cast<double>(count);
    double squares = 0;
    for (int64_t i = 0; i < count; ++i) squares += (AsDouble(x[i]) - mean) * (AsDouble(x[i]) - mean);
    const double divisor = std::sqrt(squares / static_cast<double>(count) + epsilon);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = (group * count + i) / plane % channels;
      const double normal = (AsDouble(x[i]) - mean) / divisor;
      run.output().mutable_data<T>()[group * count + i] = ConvertElement<T>(
          normal * AsDouble(run.input(1).data<T>()[c]) + AsDouble(run.input(2).data<T>()[c]));
    }
  });
}

FaultOr<Success> GroupNormalization(const ReferenceRun& run) {
  if (run.input(0).volume() == 0) return Success();
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { GroupNormalizationAs<T>(run); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterNormalization(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "LRN", Lrn);
  registry.AddReference({"opset1", "opset5"}, "BatchNormInference", BatchNormInference);
  registry.AddReference({"opset1"}, "NormalizeL2", NormalizeL2);
  registry.AddReference({"opset2", "opset6"}, "MVN", Mvn);
  registry.AddReference({"opset1"}, "GRN", Grn);
  registry.AddReference({"opset12"}, "GroupNormalization", GroupNormalization);
}

}  // namespace nnefc::runtime::kernels
