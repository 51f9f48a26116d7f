// Elementwise functions, vectorized, in any layout of the input.

#include <algorithm>
#include <array>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime {

namespace {

template <typename Function>
class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(Function function, int64_t count) : function_(function), count_(count) {}
  std::string implementation() const override { return "nnefc:vectors"; }
  FaultOr<Success> Run(const KernelRun& run) const override {
    constexpr int64_t kPart = 4096;
    const float* x = reinterpret_cast<const float*>(run.input(0).bytes());
    float* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    ParallelFor(CeilDivide(count_, kPart), 4 * kPart, [&](int64_t part) {
      const int64_t end = std::min(count_, (part + 1) * kPart);
      Vectorized([=, function = function_] {
        for (int64_t i = part * kPart; i < end; ++i) out[i] = function.Apply(x[i]);
      });
    });
    return Success();
  }

 private:
  Function function_;
  int64_t count_;
};

struct Exp {
  static constexpr bool kKeepsZero = false;
  [[gnu::always_inline]] static float Apply(float x) { return VectorExpOfAll(x); }
};
struct Erf {
  static constexpr bool kKeepsZero = true;
  [[gnu::always_inline]] static float Apply(float x) { return VectorErf(x); }
};
struct Tanh {
  static constexpr bool kKeepsZero = true;
  [[gnu::always_inline]] static float Apply(float x) { return VectorTanh(x); }
};
struct Sigmoid {
  static constexpr bool kKeepsZero = false;
  [[gnu::always_inline]] static float Apply(float x) { return VectorSigmoid(x); }
};

struct Slope {
  static constexpr bool kKeepsZero = true;
  float slope;
  [[gnu::always_inline]] float Apply(float x) const {
    const float product = slope * x;  // unconditional, for vectorization
    return x < 0.0f ? product : x;
  }
};

Reason IsOfElements(const KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  return IsDenseF32(request.inputs[0]) && IsDenseF32(request.outputs[0]) ? Reason() : kNotF32;
}

// Processes the whole memory of a layout, equal to its elements if it is not padded.
PreparedKernel PrepareInPlace(const KernelRequest& request, std::shared_ptr<const Kernel> kernel,
                              const Layout& layout) {
  PreparedKernel prepared;
  prepared.kernel = std::move(kernel);
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = layout;
  prepared.outputs.push_back(layout);
  prepared.in_place = 0;
  return prepared;
}

// Keeps layout padding at 0.
template <typename Function>
KernelOrReason MakeUnaryOf(const KernelRequest& request, Function function) {
  if (const Reason reason = IsOfElements(request); !reason.empty()) return reason;
  const BlockedFormat format = FormatInF32(request.inputs[0]);
  const bool in_layout = Function::kKeepsZero || !IsPadded(format);
  const int64_t count =
      in_layout ? static_cast<int64_t>(format.byte_size() / sizeof(float)) : *Volume(request.inputs[0].shape);
  return PrepareInPlace(request, std::make_shared<UnaryKernel<Function>>(function, count),
                        in_layout ? LayoutOf(format) : nullptr);
}

// oneDNN handles the others: bf16 functions, and functions that make padding nonzero.
Reason IsInLayoutOfF32(const KernelRequest& request, bool keeps_zero) {
  if (const Reason reason = IsOfElements(request); !reason.empty()) return reason;
  const BlockedFormat format = FormatOf(request.inputs[0]);
  if (format.type == StorageType::kBf16) return Reason("the input is bf16");
  return keeps_zero || !IsPadded(format) ? Reason() : Reason("the layout has padding channels");
}

template <typename Function>
KernelOrReason MakeInLayout(const KernelRequest& request, Function function) {
  const Reason reason = IsInLayoutOfF32(request, Function::kKeepsZero);
  if (!reason.empty()) return reason;
  return MakeUnaryOf(request, function);
}

template <typename Function>
KernelOrReason MakeUnary(const KernelRequest& request) {
  return MakeUnaryOf(request, Function());
}

// The epilogue functions of matmul tiles (gemm/epilogue.h), applied to each element.
class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(Epilogue steps) : steps_(std::move(steps)) {}
  std::string implementation() const override { return "nnefc:function"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    constexpr int64_t kPart = 4096;  // floats that fit L1
    const int64_t volume = run.input(0).volume();
    const float* x = reinterpret_cast<const float*>(run.input(0).bytes());
    float* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    ParallelFor((volume + kPart - 1) / kPart, 8 * kPart, [&](int64_t part) {
      const int64_t begin = part * kPart, count = std::min(volume - begin, kPart);
      if (x != out) std::copy_n(x + begin, count, out + begin);
      const int64_t blocks = count / kBlockColumns, rest = count % kBlockColumns;
      Apply(out + begin, blocks);
      if (rest == 0) return;
      std::array<float, kBlockColumns> last = {};
      float* place = out + begin + blocks * kBlockColumns;
      std::copy_n(place, rest, last.begin());
      Apply(last.data(), 1);
      std::copy_n(last.begin(), rest, place);
    });
    return Success();
  }

 private:
  void Apply(float* numbers, int64_t blocks) const {
    steps_.Finish({.out = {numbers, 0, kBlockColumns}, .offset = 0, .column = 0, .rows = 1, .blocks = blocks},
                  blocks * kBlockColumns, {});
  }

  Epilogue steps_;
};

}  // namespace

KernelOrReason MakeEpilogueFunction(const KernelRequest& request) {
  if (!HasSimd()) return kNeedsSimd;
  if (const Reason reason = IsInLayoutOfF32(request, false); !reason.empty()) return reason;
  const PostOperation itself{.node = request.node, .chained_input = 0, .first_operand = 1};
  OrReason<Epilogue> steps = Epilogue::Make(request, itself, -1);
  if (!steps) return steps.reason();
  const bool is_function = steps->bias() < 0 && steps->start() < 0 && !steps->takes_operands() &&
                           !steps->limits().has_min && !steps->limits().has_max;
  if (!is_function) return Reason("limits alone");
  return PrepareInPlace(request, std::make_shared<FunctionKernel>(std::move(*steps)),
                        LayoutOf(FormatInF32(request.inputs[0])));
}

KernelOrReason MakeVectorizedGate(const KernelRequest& request) {
  const bool is_tanh = request.node->info().function == ir::ElementFunction::kTanh;
  return is_tanh ? MakeInLayout(request, Tanh()) : MakeInLayout(request, Sigmoid());
}

KernelOrReason MakeVectorizedPRelu(const KernelRequest& request) {
  const TensorValue* slope = request.inputs[1].constant;
  if (slope == nullptr || slope->volume() != 1) return Reason("the slope is not one constant");
  return MakeInLayout(request, Slope{static_cast<float>(slope->ElementAsDouble(0))});
}

void RegisterUnaryKernels(KernelRegistry& registry) {
  registry.AddTables(Backend::kFast, {"opset1"}, "Exp", TableOf<MakeUnary<Exp>>("vectorised"));
  registry.AddTables(Backend::kFast, {"opset1"}, "Erf", TableOf<MakeUnary<Erf>>("vectorised"));
}

}  // namespace nnefc::runtime
