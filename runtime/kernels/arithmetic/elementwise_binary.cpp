// Elementwise operations on two broadcast inputs, out[i] = f(a[i], b[i]), and Select on three.

#include <array>
#include <cmath>
#include <limits>

#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/strided_loop.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime::kernels {

namespace {

// Integer arithmetic wraps around, so that the signs of the operands do not affect the bits of the result.
#define NNEFC_WRAPPING_FUNCTION(Name, op)                                          \
  struct Name {                                                                    \
    static constexpr bool kIgnoresSign = true;                                     \
    template <typename T>                                                          \
    static T Apply(T a, T b) {                                                     \
      if constexpr (std::is_floating_point_v<T>) return a op b;                    \
      return static_cast<T>(static_cast<uint64_t>(a) op static_cast<uint64_t>(b)); \
    }                                                                              \
  };
NNEFC_WRAPPING_FUNCTION(Add, +)
NNEFC_WRAPPING_FUNCTION(Subtract, -)
NNEFC_WRAPPING_FUNCTION(Multiply, *)
#undef NNEFC_WRAPPING_FUNCTION

struct SquaredDifference {
  static constexpr bool kIgnoresSign = true;
  template <typename T>
  static T Apply(T a, T b) {
    const T difference = Subtract::Apply(a, b);
    return Multiply::Apply(difference, difference);
  }
};

// NaN in the first operand selects the second, as in NNEF's definition `select(x < y, x, y)`.
struct Minimum {
  template <typename T>
  static T Apply(T a, T b) {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <typename T>
  static T Apply(T a, T b) {
    return a > b ? a : b;
  }
};

// The quotient and remainder of an integer division by zero, as in OpenVINO's CPU plug-in: it converts an
// infinity to the smallest 32-bit integer, saturates that to 8 bits, or keeps its low 16 bits.
template <typename T>
constexpr T kByZero =
    sizeof(T) == 1 ? std::numeric_limits<T>::min() : static_cast<T>(std::numeric_limits<int32_t>::min());

// Integer powers are computed modulo 2^bits, as in NumPy and ONNX. A negative exponent yields 1 divided by
// the power, rounded toward zero.
struct Power {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (b == T(2)) return a * a;
      // The cube in f64, which is rounded once to f32 like the power.
      if constexpr (sizeof(T) == sizeof(float)) {
        if (b == T(3)) return static_cast<T>(double{a} * a * a);
      }
      return std::pow(a, b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b < T(0)) return OfNegativeExponent(a, b);
      }
      uint64_t power = 1, square = static_cast<uint64_t>(a);
      for (auto exponent = static_cast<uint64_t>(b); exponent != 0; exponent >>= 1, square *= square) {
        if ((exponent & 1) != 0) power *= square;
      }
      return static_cast<T>(power);
    }
  }

 private:
  template <typename T>
  static T OfNegativeExponent(T a, T b) {
    if (a == T(0)) return kByZero<T>;
    if (a == T(1) || (a == T(-1) && b % T(2) == T(0))) return T(1);
    return a == T(-1) ? T(-1) : T(0);
  }
};

// Integers are rounded toward zero. Division of the smallest integer by -1 overflows, so -1 is a separate
// case that wraps around.
struct TruncatedDivide {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a / b;
    if (b == T(0)) return kByZero<T>;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return Subtract::Apply(T(0), a);
    }
    return static_cast<T>(a / b);
  }
};

// The remainder with the sign of the dividend.
struct TruncatedMod {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == T(0)) return kByZero<T>;
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return T(0);
      }
      return static_cast<T>(a % b);
    }
  }
  template <typename T>
  static T OfRest(T rest, T /*b*/) {
    return rest;
  }
};

// The remainder with the sign of the divisor.
struct FloorMod {
  template <typename T>
  static T Apply(T a, T b) {
    return OfRest(TruncatedMod::Apply(a, b), b);
  }
  template <typename T>
  static T OfRest(T rest, T b) {
    return rest != T(0) && ((rest < T(0)) != (b < T(0))) ? static_cast<T>(rest + b) : rest;
  }
};

#define NNEFC_COMPARISON(Name, op, ignores_sign)                          \
  struct Name {                                                           \
    [[maybe_unused]] static constexpr bool kIgnoresSign = (ignores_sign); \
    template <typename T>                                                 \
    static Boolean Apply(T a, T b) {                                      \
      return Boolean(a op b);                                             \
    }                                                                     \
  };
NNEFC_COMPARISON(Less, <, false)
NNEFC_COMPARISON(LessEqual, <=, false)
NNEFC_COMPARISON(Equal, ==, true)
NNEFC_COMPARISON(NotEqual, !=, true)
NNEFC_COMPARISON(And, &, true)
NNEFC_COMPARISON(Or, |, true)
#undef NNEFC_COMPARISON

// Strides of the output, a and b along a row.
using RowStrides = std::array<int64_t, 3>;

// Functions that derive their result from the remainder of an f32 division.
template <typename Function>
concept TakesRest = requires { Function::OfRest(0.0f, 0.0f); };

template <typename T>
void ReadRow(const T* from, int64_t stride, int64_t count, float* to) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i * stride]);
  }
}

// Divides in f64. For quotients below 2^29 the integer part and the product are exact; other cases,
// infinities and NaN call the function itself.
template <typename T, typename Function>
void RestsOfRow(const T* a, const T* b, T* out, const RowStrides& step, int64_t length) {
  constexpr int64_t kPart = 256;
  constexpr float kEnd = 536870912, kMost = std::numeric_limits<float>::max();
  std::array<float, kPart> x, y, rests;
  y.fill(1);
  x.fill(0);
  for (int64_t first = 0; first < length; first += kPart) {
    const int64_t count = std::min(kPart, length - first);
    ReadRow(a + first * step[1], step[1], count, x.data());
    ReadRow(b + first * step[2], step[2], count, y.data());
    int32_t left = 0;
    for (size_t i = 0; i < kPart; ++i) {
      const double divisor = y[i], quotient = x[i] / divisor;
      const auto rest = static_cast<float>(x[i] - std::trunc(quotient) * divisor);
      const bool is_exact = std::abs(static_cast<float>(quotient)) < kEnd && std::abs(rest) <= kMost;
      left |= is_exact ? 0 : 1;
      rests[i] = Function::OfRest(std::copysign(rest, x[i]), y[i]);
    }
    for (size_t i = 0; left != 0 && i < kPart; ++i) rests[i] = Function::Apply(x[i], y[i]);
    for (int64_t i = 0; i < count; ++i) out[(first + i) * step[0]] = T(rests[static_cast<size_t>(i)]);
  }
}

template <typename T, typename Out, typename Function>
void BinaryRow(const T* a, const T* b, Out* out, const RowStrides& step, int64_t length) {
  using C = ComputeType<T>;
  if constexpr (TakesRest<Function> && std::is_same_v<C, float>)
    return RestsOfRow<T, Function>(a, b, out, step, length);
  auto apply = [](T x, T y) { return Out(Function::Apply(static_cast<C>(x), static_cast<C>(y))); };
  // Common strides are separate cases, so that the compiler sees contiguous loops.
  if constexpr (tensor::kHasLoopVariants) {
    if (step == RowStrides{1, 1, 1}) {
      for (int64_t i = 0; i < length; ++i) out[i] = apply(a[i], b[i]);
      return;
    }
    if (step == RowStrides{1, 1, 0}) {
      const T y = b[0];
      for (int64_t i = 0; i < length; ++i) out[i] = apply(a[i], y);
      return;
    }
    if (step == RowStrides{1, 0, 1}) {
      const T x = a[0];
      for (int64_t i = 0; i < length; ++i) out[i] = apply(x, b[i]);
      return;
    }
  }
  for (int64_t i = 0; i < length; ++i) out[i * step[0]] = apply(a[i * step[1]], b[i * step[2]]);
}

// A function that computes a row of `length` elements of certain types.
using RowFunction = void (*)(const std::byte* a, const std::byte* b, std::byte* out, const RowStrides& step,
                             int64_t length);

template <typename T, typename Out, typename Function>
void WideBinaryRow(const std::byte* a, const std::byte* b, std::byte* out, const RowStrides& step,
                   int64_t length) {
  const T* x = reinterpret_cast<const T*>(a);
  const T* y = reinterpret_cast<const T*>(b);
  Out* row = reinterpret_cast<Out*>(out);
  tensor::Wide([&] { BinaryRow<T, Out, Function>(x, y, row, step, length); });
}

template <typename Function>
concept IgnoresSign = requires { requires Function::kIgnoresSign; };

// The type of the operands of Function for elements of type T. Types with the same results are one type, so
// that fewer rows are compiled. Booleans are not bytes here: any byte except 0 is true.
template <typename T, typename Function>
auto OperandTag() {
  if constexpr (std::is_integral_v<T> && IgnoresSign<Function>) {
    return TypeTag<std::make_unsigned_t<T>>();
  } else {
    return TypeTag<T>();
  }
}
template <typename T, typename Function>
using OperandType = typename decltype(OperandTag<T, Function>())::Type;

// Returns the function for operands of that type and results of that type as well, or null.
template <typename Function>
RowFunction ArithmeticRow(ElementType type) {
  RowFunction row = nullptr;
  VisitNumericType(type, [&]<typename T>(TypeTag<T>) {
    using U = OperandType<T, Function>;
    row = WideBinaryRow<U, U, Function>;
  });
  return row;
}

// Returns the function for operands of that type and boolean results, or null.
template <typename Function>
RowFunction ComparisonRow(ElementType type) {
  RowFunction row = nullptr;
  VisitAnyType(type, [&]<typename T>(TypeTag<T>) {
    row = WideBinaryRow<OperandType<T, Function>, Boolean, Function>;
  });
  return row;
}

// Runs `row_function` on the operands `a` and `b`, broadcast to the shape of the output.
FaultOr<Success> RunRows(const ReferenceRun& run, const tensor::TensorView& a, const tensor::TensorView& b,
                         RowFunction row_function) {
  if (row_function == nullptr) return UnsupportedType(run);
  const tensor::MutableTensorView& out = run.output();
  const tensor::Strides a_strides = BroadcastStrides(a, out.shape(), BroadcastAxis(run.node, a, out.rank()));
  const tensor::Strides b_strides = BroadcastStrides(b, out.shape(), BroadcastAxis(run.node, b, out.rank()));
  const auto a_bytes = static_cast<int64_t>(a.element_bytes()),
             b_bytes = static_cast<int64_t>(b.element_bytes()),
             out_bytes = static_cast<int64_t>(out.element_bytes());
  tensor::StridedLoop<3> loop(out.shape(), {out.strides(), a_strides, b_strides});
  loop.Run([&](const RowStrides& offsets, int64_t length) {
    row_function(a.bytes() + offsets[1] * a_bytes, b.bytes() + offsets[2] * b_bytes,
                 out.mutable_bytes() + offsets[0] * out_bytes, loop.row_strides(), length);
  });
  return Success();
}

template <typename Function>
FaultOr<Success> Arithmetic(const ReferenceRun& run) {
  return RunRows(run, run.input(0), run.input(1), ArithmeticRow<Function>(run.input(0).type()));
}

template <typename Function>
FaultOr<Success> Comparison(const ReferenceRun& run) {
  return RunRows(run, run.input(0), run.input(1), ComparisonRow<Function>(run.input(0).type()));
}

// The comparison with its operands exchanged: a > b is b < a, for NaN as well.
template <typename Function>
FaultOr<Success> ExchangedComparison(const ReferenceRun& run) {
  return RunRows(run, run.input(1), run.input(0), ComparisonRow<Function>(run.input(0).type()));
}

template <typename Function>
FaultOr<Success> Logical(const ReferenceRun& run) {
  if (run.input(0).type() != ElementType::kBoolean) return UnsupportedType(run);
  return RunRows(run, run.input(0), run.input(1), WideBinaryRow<Boolean, Boolean, Function>);
}

// Visits an unsigned type of the element width, because selection ignores the meaning of the bits.
template <typename Visit>
void VisitWidth(size_t bytes, Visit&& visit) {
  if (bytes == 1) visit(TypeTag<uint8_t>());
  if (bytes == 2) visit(TypeTag<uint16_t>());
  if (bytes == 4) visit(TypeTag<uint32_t>());
  if (bytes == 8) visit(TypeTag<uint64_t>());
}

// Strides of the output, the condition, a and b along a row.
template <typename T>
void SelectRow(const Boolean* condition, const T* a, const T* b, T* out, const std::array<int64_t, 4>& step,
               int64_t length) {
  const auto select = [](const Boolean& c, T x, T y) { return c ? x : y; };
  if (step == std::array<int64_t, 4>{1, 1, 1, 1}) {
    for (int64_t i = 0; i < length; ++i) out[i] = select(condition[i], a[i], b[i]);
  } else if (step == std::array<int64_t, 4>{1, 1, 1, 0}) {
    const T y = b[0];
    for (int64_t i = 0; i < length; ++i) out[i] = select(condition[i], a[i], y);
  } else if (step == std::array<int64_t, 4>{1, 1, 0, 1}) {
    const T x = a[0];
    for (int64_t i = 0; i < length; ++i) out[i] = select(condition[i], x, b[i]);
  } else {
    for (int64_t i = 0; i < length; ++i)
      out[i * step[0]] = select(condition[i * step[1]], a[i * step[2]], b[i * step[3]]);
  }
}

// out = condition ? a : b
FaultOr<Success> Select(const ReferenceRun& run) {
  const tensor::MutableTensorView& out = run.output();
  std::array<tensor::Strides, 3> strides;
  for (size_t i = 0; i < 3; ++i) {
    strides[i] =
        BroadcastStrides(run.input(i), out.shape(), BroadcastAxis(run.node, run.input(i), out.rank()));
  }
  tensor::StridedLoop<4> loop(out.shape(), {out.strides(), strides[0], strides[1], strides[2]});
  const std::array<int64_t, 4> step = loop.row_strides();
  VisitWidth(out.element_bytes(), [&]<typename T>(TypeTag<T>) {
    loop.Run([&](const std::array<int64_t, 4>& offsets, int64_t length) {
      const Boolean* condition = run.input(0).data<Boolean>() + offsets[1];
      const T* a = run.input(1).data<T>() + offsets[2];
      const T* b = run.input(2).data<T>() + offsets[3];
      T* row = out.mutable_data<T>() + offsets[0];
      tensor::Wide([&] { SelectRow(condition, a, b, row, step, length); });
    });
  });
  return Success();
}

}  // namespace

void RegisterElementwiseBinary(KernelRegistry& registry) {
  auto add = [&](std::string_view name, ReferenceFunction function) {
    registry.AddReference({"opset1"}, name, function, Aliasing::kInPlace);
  };
  add("Add", Arithmetic<Add>);
  add("Subtract", Arithmetic<Subtract>);
  add("Multiply", Arithmetic<Multiply>);
  add("Divide", Arithmetic<TruncatedDivide>);  // ignores `m_pythondiv`: see README.md
  add("Power", Arithmetic<Power>);
  add("Minimum", Arithmetic<Minimum>);
  add("Maximum", Arithmetic<Maximum>);
  add("SquaredDifference", Arithmetic<SquaredDifference>);
  add("Mod", Arithmetic<TruncatedMod>);
  add("FloorMod", Arithmetic<FloorMod>);
  add("Less", Comparison<Less>);
  add("LessEqual", Comparison<LessEqual>);
  add("Greater", ExchangedComparison<Less>);
  add("GreaterEqual", ExchangedComparison<LessEqual>);
  add("Equal", Comparison<Equal>);
  add("NotEqual", Comparison<NotEqual>);
  add("LogicalAnd", Logical<And>);
  add("LogicalOr", Logical<Or>);
  add("LogicalXor", Logical<NotEqual>);
  add("Xor", Logical<NotEqual>);
  add("Select", Select);
}

}  // namespace nnefc::runtime::kernels
