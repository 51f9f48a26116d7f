// Elementwise operations on one input, out[i] = f(x[i]). Functions with parameters are in activation.cpp.

#include <cmath>

#include "runtime/kernels/arithmetic/rounding.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// min(max(x, 0), 1) by comparison, so that NaN becomes 0.
template <typename T>
T ToUnit(T x) {
  const T positive = x > T(0) ? x : T(0);
  return positive < T(1) ? positive : T(1);
}

// The standard library function of that name for floats; T is the arithmetic type.
#define NNEFC_FLOAT_FUNCTION(Name, expression) \
  struct Name {                                \
    template <typename T>                      \
    static T Apply(T x) {                      \
      return static_cast<T>(expression);       \
    }                                          \
  };
NNEFC_FLOAT_FUNCTION(Exp, std::exp(x))
NNEFC_FLOAT_FUNCTION(Log, std::log(x))
NNEFC_FLOAT_FUNCTION(Sin, std::sin(x))
NNEFC_FLOAT_FUNCTION(Cos, std::cos(x))
NNEFC_FLOAT_FUNCTION(Tan, std::tan(x))
NNEFC_FLOAT_FUNCTION(Sinh, std::sinh(x))
NNEFC_FLOAT_FUNCTION(Cosh, std::cosh(x))
NNEFC_FLOAT_FUNCTION(Tanh, std::tanh(x))
NNEFC_FLOAT_FUNCTION(Asin, std::asin(x))
NNEFC_FLOAT_FUNCTION(Acos, std::acos(x))
NNEFC_FLOAT_FUNCTION(Atan, std::atan(x))
NNEFC_FLOAT_FUNCTION(Asinh, std::asinh(x))
NNEFC_FLOAT_FUNCTION(Acosh, std::acosh(x))
NNEFC_FLOAT_FUNCTION(Atanh, std::atanh(x))
NNEFC_FLOAT_FUNCTION(Sqrt, std::sqrt(x))
NNEFC_FLOAT_FUNCTION(Erf, std::erf(x))
NNEFC_FLOAT_FUNCTION(Floor, std::floor(x))
NNEFC_FLOAT_FUNCTION(Ceiling, std::ceil(x))
NNEFC_FLOAT_FUNCTION(RoundHalfAway, std::round(x))
// In the default rounding mode nearbyint rounds halves to even.
NNEFC_FLOAT_FUNCTION(RoundHalfEven, std::nearbyint(x))
NNEFC_FLOAT_FUNCTION(RoundHalfUp, RoundedHalfUp(x))
NNEFC_FLOAT_FUNCTION(Log2, std::log2(x))
NNEFC_FLOAT_FUNCTION(Sigmoid, T(1) / (T(1) + std::exp(-x)))
NNEFC_FLOAT_FUNCTION(HSigmoid, ToUnit((x + T(3)) / T(6)))
NNEFC_FLOAT_FUNCTION(SoftSign, x / (T(1) + std::abs(x)))
// 1 + erf(z) = erfc(-z) and 0.5 * (1 + tanh(z)) = 1 / (1 + exp(-2 * z)) avoid cancellation.
NNEFC_FLOAT_FUNCTION(GeluErf, T(0.5) * x * std::erfc(x * T(-0.70710678118654752440)))
// 2 * sqrt(2 / pi) = 1.59..
NNEFC_FLOAT_FUNCTION(GeluTanh,
                     x / (T(1) + std::exp(T(-1.59576912160573071176) * (x + T(0.044715) * x * x * x))))
NNEFC_FLOAT_FUNCTION(HSwish, x* ToUnit((x + T(3)) / T(6)))
// log(1 + exp(x)) without overflow.
NNEFC_FLOAT_FUNCTION(SoftPlus, std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x))))
NNEFC_FLOAT_FUNCTION(Mish, x* std::tanh(SoftPlus::Apply(x)))
#undef NNEFC_FLOAT_FUNCTION

struct Negative {
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) return -x;
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  }
};

struct Abs {
  template <typename T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    return x < T(0) ? Negative::Apply(x) : x;
  }
};

struct Sign {
  template <typename T>
  static T Apply(T x) {
    if (x > T(0)) return T(1);
    if (x < T(0)) return static_cast<T>(-1);
    return x;  // 0 and NaN
  }
};

struct Relu {
  template <typename T>
  static T Apply(T x) {
    return x > T(0) ? x : T(0);  // max(x, 0): 0 for NaN
  }
};

// Rounding of integers.
struct Identity {
  template <typename T>
  static T Apply(T x) {
    return x;
  }
};

template <typename Function>
FaultOr<Success> FloatUnary(const ReferenceRun& run) {
  return RunUnary(run, VisitFloatTypes(), Function());
}

template <typename Function>
FaultOr<Success> NumericUnary(const ReferenceRun& run) {
  return RunUnary(run, VisitNumericTypes(), Function());
}

template <typename Function>
FaultOr<Success> RoundingUnary(const ReferenceRun& run) {
  if (IsInteger(run.input(0).type())) return RunUnary(run, VisitNumericTypes(), Identity());
  return RunUnary(run, VisitFloatTypes(), Function());
}

FaultOr<Success> Round(const ReferenceRun& run) {
  if (run.node.String("mode") == "half_away_from_zero") return RoundingUnary<RoundHalfAway>(run);
  return RoundingUnary<RoundHalfEven>(run);
}

FaultOr<Success> Gelu(const ReferenceRun& run) {
  const std::string mode = run.node.String("approximation_mode");
  return mode == "TANH" || mode == "tanh" ? FloatUnary<GeluTanh>(run) : FloatUnary<GeluErf>(run);
}

// out = test(x) for floats.
template <typename Test>
FaultOr<Success> Predicate(const ReferenceRun& run, const Test& test) {
  const bool known = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    const T* x = run.input(0).data<T>();
    Boolean* out = run.output().mutable_data<Boolean>();
    for (int64_t i = 0; i < run.output().volume(); ++i)
      out[i] = Boolean(test(static_cast<ComputeType<T>>(x[i])));
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

FaultOr<Success> IsNan(const ReferenceRun& run) {
  return Predicate(run, [](auto x) { return std::isnan(x); });
}

FaultOr<Success> IsFinite(const ReferenceRun& run) {
  return Predicate(run, [](auto x) { return std::isfinite(x); });
}

FaultOr<Success> IsInf(const ReferenceRun& run) {
  const bool negative = run.node.Bool("detect_negative");
  const bool positive = run.node.Bool("detect_positive");
  return Predicate(run, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

FaultOr<Success> LogicalNot(const ReferenceRun& run) {
  if (run.input(0).type() != ElementType::kBoolean) return UnsupportedType(run);
  const Boolean* x = run.input(0).data<Boolean>();
  Boolean* out = run.output().mutable_data<Boolean>();
  for (int64_t i = 0; i < run.output().volume(); ++i) out[i] = Boolean(!x[i]);
  return Success();
}

}  // namespace

void RegisterElementwiseUnary(KernelRegistry& registry) {
  auto add = [&](std::initializer_list<std::string_view> sets, std::string_view name,
                 ReferenceFunction function) {
    registry.AddReference(sets, name, function, Aliasing::kInPlace);
  };
  add({"opset1"}, "Abs", NumericUnary<Abs>);
  add({"opset1"}, "Negative", NumericUnary<Negative>);
  add({"opset1"}, "Sign", NumericUnary<Sign>);
  add({"opset1"}, "ReLU", NumericUnary<Relu>);
  add({"opset1"}, "Exp", FloatUnary<Exp>);
  add({"opset1"}, "Log", FloatUnary<Log>);
  add({"nnef"}, "log2", FloatUnary<Log2>);
  add({"opset1"}, "Sin", FloatUnary<Sin>);
  add({"opset1"}, "Cos", FloatUnary<Cos>);
  add({"opset1"}, "Tan", FloatUnary<Tan>);
  add({"opset1"}, "Sinh", FloatUnary<Sinh>);
  add({"opset1"}, "Cosh", FloatUnary<Cosh>);
  add({"opset1"}, "Tanh", FloatUnary<Tanh>);
  add({"opset1"}, "Asin", FloatUnary<Asin>);
  add({"opset1"}, "Acos", FloatUnary<Acos>);
  add({"opset1"}, "Atan", FloatUnary<Atan>);
  add({"opset4"}, "Asinh", FloatUnary<Asinh>);
  add({"opset4"}, "Acosh", FloatUnary<Acosh>);
  add({"opset4"}, "Atanh", FloatUnary<Atanh>);
  add({"opset1"}, "Sqrt", FloatUnary<Sqrt>);
  add({"opset1"}, "Erf", FloatUnary<Erf>);
  add({"opset1"}, "Floor", RoundingUnary<Floor>);
  add({"opset1"}, "Ceiling", RoundingUnary<Ceiling>);
  add({"opset5"}, "Round", Round);
  add({"nnef"}, "round", RoundingUnary<RoundHalfUp>);
  add({"opset1"}, "Sigmoid", FloatUnary<Sigmoid>);
  add({"opset4"}, "HSwish", FloatUnary<HSwish>);
  add({"opset5"}, "HSigmoid", FloatUnary<HSigmoid>);
  add({"opset9"}, "SoftSign", FloatUnary<SoftSign>);
  add({"opset2", "opset7"}, "Gelu", Gelu);
  registry.AddReference({"opset10"}, "IsNaN", IsNan);
  registry.AddReference({"opset10"}, "IsInf", IsInf);
  registry.AddReference({"opset10"}, "IsFinite", IsFinite);
  add({"opset4"}, "SoftPlus", FloatUnary<SoftPlus>);
  add({"opset4"}, "Mish", FloatUnary<Mish>);
  add({"opset1"}, "LogicalNot", LogicalNot);
}

}  // namespace nnefc::runtime::kernels
