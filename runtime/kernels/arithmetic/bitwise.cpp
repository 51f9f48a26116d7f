// Operations on the bits of integers and on booleans.

#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime::kernels {

namespace {

struct BitAnd {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Returns false for negative amounts and for those of the width or more, which behave like infinite shifts.
template <typename T>
bool IsWithinWidth(T amount) {
  return static_cast<uint64_t>(amount) < sizeof(T) * 8;
}

struct LeftShift {
  template <typename T>
  static T Apply(T a, T b) {
    return IsWithinWidth(b) ? static_cast<T>(static_cast<uint64_t>(a) << static_cast<uint64_t>(b)) : T(0);
  }
};

struct RightShift {
  template <typename T>
  static T Apply(T a, T b) {
    if (IsWithinWidth(b)) return static_cast<T>(a >> b);
    return a < T(0) ? static_cast<T>(-1) : T(0);
  }
};

template <typename Function, typename T>
void RunAs(const ReferenceRun& run) {
  const tensor::TensorView &a = run.input(0), &b = run.input(1);
  const tensor::MutableTensorView& out = run.output();
  const tensor::Strides a_strides = BroadcastStrides(a, out.shape(), BroadcastAxis(run.node, a, out.rank()));
  const tensor::Strides b_strides = BroadcastStrides(b, out.shape(), BroadcastAxis(run.node, b, out.rank()));
  tensor::StridedLoop<3> loop(out.shape(), {out.strides(), a_strides, b_strides});
  const std::array<int64_t, 3> step = loop.row_strides();
  loop.Run([&](const std::array<int64_t, 3>& offsets, int64_t length) {
    T* row = out.mutable_data<T>() + offsets[0];
    for (int64_t i = 0; i < length; ++i) {
      row[i * step[0]] =
          Function::Apply(a.data<T>()[offsets[1] + i * step[1]], b.data<T>()[offsets[2] + i * step[2]]);
    }
  });
}

// Computes booleans as bytes that are 0 or 1.
template <typename Function>
FaultOr<Success> Bitwise(const ReferenceRun& run) {
  const ElementType type = run.input(0).type();
  if (type == ElementType::kBoolean) {
    RunAs<Function, uint8_t>(run);
    return Success();
  }
  if (!VisitIntegerType(type, [&]<typename T>(TypeTag<T>) { RunAs<Function, T>(run); })) {
    return UnsupportedType(run);
  }
  return Success();
}

FaultOr<Success> BitwiseNot(const ReferenceRun& run) {
  const tensor::TensorView& input = run.input(0);
  const auto invert = [&]<typename T>(TypeTag<T>, T mask) {
    for (int64_t i = 0; i < input.volume(); ++i) {
      run.output().mutable_data<T>()[i] = static_cast<T>(input.data<T>()[i] ^ mask);
    }
  };
  if (input.type() == ElementType::kBoolean) {
    invert(TypeTag<uint8_t>(), uint8_t{1});
    return Success();
  }
  const bool known = VisitIntegerType(
      input.type(), [&]<typename T>(TypeTag<T> tag) { invert(tag, static_cast<T>(~uint64_t{0})); });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterBitwise(KernelRegistry& registry) {
  registry.AddReference({"opset13"}, "BitwiseAnd", Bitwise<BitAnd>);
  registry.AddReference({"opset13"}, "BitwiseOr", Bitwise<BitOr>);
  registry.AddReference({"opset13"}, "BitwiseXor", Bitwise<BitXor>);
  registry.AddReference({"opset13"}, "BitwiseNot", BitwiseNot);
  registry.AddReference({"opset15"}, "BitwiseLeftShift", Bitwise<LeftShift>);
  registry.AddReference({"opset15"}, "BitwiseRightShift", Bitwise<RightShift>);
}

}  // namespace nnefc::runtime::kernels
