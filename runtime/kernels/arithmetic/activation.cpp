// Activation functions with parameters.

#include <algorithm>
#include <cmath>

#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime::kernels {

namespace {

// max(min(x, high), low) by comparison, so that NaN becomes `high`.
struct ClampFunction {
  double low, high;

  template <typename T>
  T Apply(T x) const {
    T lowest = static_cast<T>(0);
    T highest = static_cast<T>(0);
    if constexpr (std::is_floating_point_v<T>) {
      lowest = static_cast<T>(low);
      highest = static_cast<T>(high);
    } else {
      // An integer x is compared with the bounds rounded inwards; the upper one decides where they cross.
      highest = ConvertElement<T>(std::floor(high));
      lowest = std::min(ConvertElement<T>(std::ceil(low)), highest);
    }
    const T limited = x < highest ? x : highest;
    return limited > lowest ? limited : lowest;
  }
};

// x < 0 ? alpha * (exp(x) - 1) : x
struct EluFunction {
  double alpha;

  template <typename T>
  T Apply(T x) const {
    return x < T(0) ? static_cast<T>(alpha) * std::expm1(x) : x;
  }
};

// lambda * (x > 0 ? x : alpha * (exp(x) - 1))
struct SeluFunction {
  double alpha, lambda;

  template <typename T>
  T Apply(T x) const {
    return static_cast<T>(lambda) * (x > T(0) ? x : static_cast<T>(alpha) * std::expm1(x));
  }
};

// x * sigmoid(beta * x)
struct SwishFunction {
  double beta;

  template <typename T>
  T Apply(T x) const {
    return x / (T(1) + std::exp(-static_cast<T>(beta) * x));
  }
};

// max(0, min(1, alpha * x + beta))
struct HardSigmoidFunction {
  double alpha, beta;

  template <typename T>
  T Apply(T x) const {
    return std::max(T(0), std::min(T(1), static_cast<T>(alpha) * x + static_cast<T>(beta)));
  }
};

double ScalarInput(const ReferenceRun& run, size_t index, double fallback) {
  if (run.num_inputs() <= index || run.input(index).volume() < 1) return fallback;
  return tensor::ElementsAsDoubles(run.input(index))[0];
}

FaultOr<Success> Clamp(const ReferenceRun& run) {
  return RunUnary(run, VisitNumericTypes(), ClampFunction{run.node.Double("min"), run.node.Double("max")});
}

FaultOr<Success> Elu(const ReferenceRun& run) {
  return RunUnary(run, VisitFloatTypes(), EluFunction{run.node.Double("alpha")});
}

FaultOr<Success> Selu(const ReferenceRun& run) {
  return RunUnary(run, VisitFloatTypes(), SeluFunction{ScalarInput(run, 1, 1), ScalarInput(run, 2, 1)});
}

FaultOr<Success> HardSigmoid(const ReferenceRun& run) {
  return RunUnary(run, VisitFloatTypes(),
                  HardSigmoidFunction{ScalarInput(run, 1, 1), ScalarInput(run, 2, 0)});
}

FaultOr<Success> Swish(const ReferenceRun& run) {
  return RunUnary(run, VisitFloatTypes(), SwishFunction{ScalarInput(run, 1, 1)});
}

// out = x < 0 ? slope * x : x. A slope of rank 1 applies to axis 1 of x; others broadcast as in NumPy.
FaultOr<Success> PRelu(const ReferenceRun& run) {
  const tensor::TensorView& x = run.input(0);
  const tensor::TensorView& slope = run.input(1);
  int64_t first_axis = x.rank() - slope.rank();
  if (slope.rank() == 1 && slope.volume() != 1 && x.rank() > 1 && slope.extent(0) == x.extent(1))
    first_axis = 1;
  const tensor::Strides slope_strides = BroadcastStrides(slope, x.shape(), first_axis);
  const bool known = VisitNumericType(x.type(), [&]<typename T>(TypeTag<T>) {
    tensor::StridedLoop<2> loop(x.shape(), {x.strides(), slope_strides});
    const auto [x_stride, s_stride] = loop.row_strides();
    loop.Run([&](const std::array<int64_t, 2>& offsets, int64_t length) {
      using C = ComputeType<T>;
      const T* xs = x.data<T>() + offsets[0];
      const T* ss = slope.data<T>() + offsets[1];
      T* out = run.output().mutable_data<T>() + offsets[0];
      const auto value = [](T x, C slope) {
        const C value = static_cast<C>(x);
        return T(static_cast<C>(value < C(0) ? value * slope : value));
      };
      if (x_stride == 1 && s_stride == 0) {
        const C slope_of_row = static_cast<C>(*ss);
        for (int64_t i = 0; i < length; ++i) out[i] = value(xs[i], slope_of_row);
      } else {
        for (int64_t i = 0; i < length; ++i)
          out[i * x_stride] = value(xs[i * x_stride], static_cast<C>(ss[i * s_stride]));
      }
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterActivation(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "Clamp", Clamp, Aliasing::kInPlace);
  registry.AddReference({"opset1"}, "Elu", Elu, Aliasing::kInPlace);
  registry.AddReference({"opset1"}, "Selu", Selu);
  registry.AddReference({"opset4"}, "Swish", Swish);
  registry.AddReference({"opset1"}, "HardSigmoid", HardSigmoid);
  registry.AddReference({"opset1"}, "PReLU", PRelu);
}

}  // namespace nnefc::runtime::kernels
