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

namespace nnefc::runtime::fast::pointwise {

using kernels::KernelRequest;
using kernels::Reason;

namespace {

template <typename Function>
class UnaryKernel final : public kernels::Kernel {
 public:
  UnaryKernel(Function function, int64_t count) : function_(function), count_(count) {}
  std::string implementation() const override { return "nnefc:vectors"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    constexpr int64_t kPart = 4096;
    const float* x = reinterpret_cast<const float*>(run.input(0).bytes());
    float* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    tensor::ParallelFor(tensor::CeilDivide(count_, kPart), 4 * kPart, [&](int64_t part) {
      const int64_t end = std::min(count_, (part + 1) * kPart);
      simd::Vectorized([=, function = function_] {
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
  [[gnu::always_inline]] static float Apply(float x) { return simd::VectorExpOfAll(x); }
};
struct Erf {
  static constexpr bool kKeepsZero = true;
  [[gnu::always_inline]] static float Apply(float x) { return simd::VectorErf(x); }
};
struct Tanh {
  static constexpr bool kKeepsZero = true;
  [[gnu::always_inline]] static float Apply(float x) { return simd::VectorTanh(x); }
};
struct Sigmoid {
  static constexpr bool kKeepsZero = false;
  [[gnu::always_inline]] static float Apply(float x) { return simd::VectorSigmoid(x); }
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
  return memory::IsDenseF32(request.inputs[0]) && memory::IsDenseF32(request.outputs[0]) ? Reason() : kNotF32;
}

// Processes the whole memory of a layout, equal to its elements if it is not padded.
kernels::PreparedKernel PrepareInPlace(const KernelRequest& request,
                                       std::shared_ptr<const kernels::Kernel> kernel,
                                       const tensor::Layout& layout) {
  kernels::PreparedKernel prepared;
  prepared.kernel = std::move(kernel);
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = layout;
  prepared.outputs.push_back(layout);
  prepared.in_place = 0;
  return prepared;
}

// Keeps layout padding at 0.
template <typename Function>
kernels::KernelOrReason MakeUnaryOf(const KernelRequest& request, Function function) {
  if (const Reason reason = IsOfElements(request); !reason.empty()) return reason;
  const memory::BlockedFormat format = memory::FormatInF32(request.inputs[0]);
  const bool in_layout = Function::kKeepsZero || !memory::IsPadded(format);
  const int64_t count =
      in_layout ? static_cast<int64_t>(format.byte_size() / sizeof(float)) : *Volume(request.inputs[0].shape);
  return PrepareInPlace(request, std::make_shared<UnaryKernel<Function>>(function, count),
                        in_layout ? memory::LayoutOf(format) : nullptr);
}

// oneDNN handles the others: bf16 functions, and functions that make padding nonzero.
Reason IsInLayoutOfF32(const KernelRequest& request, bool keeps_zero) {
  if (const Reason reason = IsOfElements(request); !reason.empty()) return reason;
  const memory::BlockedFormat format = memory::FormatOf(request.inputs[0]);
  if (format.type == memory::StorageType::kBf16) return Reason("the input is bf16");
  return keeps_zero || !memory::IsPadded(format) ? Reason() : Reason("the layout has padding channels");
}

template <typename Function>
kernels::KernelOrReason MakeInLayout(const KernelRequest& request, Function function) {
  const Reason reason = IsInLayoutOfF32(request, Function::kKeepsZero);
  if (!reason.empty()) return reason;
  return MakeUnaryOf(request, function);
}

template <typename Function>
kernels::KernelOrReason MakeUnary(const KernelRequest& request) {
  return MakeUnaryOf(request, Function());
}

// The epilogue functions of matmul tiles (gemm/epilogue.h), applied to each element.
class FunctionKernel final : public kernels::Kernel {
 public:
  explicit FunctionKernel(gemm::Epilogue steps) : steps_(std::move(steps)) {}
  std::string implementation() const override { return "nnefc:function"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    constexpr int64_t kPart = 4096;  // floats that fit L1
    const int64_t volume = run.input(0).volume();
    const float* x = reinterpret_cast<const float*>(run.input(0).bytes());
    float* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    tensor::ParallelFor((volume + kPart - 1) / kPart, 8 * kPart, [&](int64_t part) {
      const int64_t begin = part * kPart, count = std::min(volume - begin, kPart);
      if (x != out) std::copy_n(x + begin, count, out + begin);
      const int64_t blocks = count / simd::kBlockColumns, rest = count % simd::kBlockColumns;
      Apply(out + begin, blocks);
      if (rest == 0) return;
      std::array<float, simd::kBlockColumns> last = {};
      float* place = out + begin + blocks * simd::kBlockColumns;
      std::copy_n(place, rest, last.begin());
      Apply(last.data(), 1);
      std::copy_n(last.begin(), rest, place);
    });
    return Success();
  }

 private:
  void Apply(float* numbers, int64_t blocks) const {
    steps_.Finish(
        {.out = {numbers, 0, simd::kBlockColumns}, .offset = 0, .column = 0, .rows = 1, .blocks = blocks},
        blocks * simd::kBlockColumns, {});
  }

  gemm::Epilogue steps_;
};

}  // namespace

kernels::KernelOrReason MakeEpilogueFunction(const KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  if (const Reason reason = IsInLayoutOfF32(request, false); !reason.empty()) return reason;
  const kernels::PostOperation itself{.node = request.node, .chained_input = 0, .first_operand = 1};
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, itself, -1);
  if (!steps) return steps.reason();
  const bool is_function = steps->bias() < 0 && steps->start() < 0 && !steps->takes_operands() &&
                           !steps->limits().has_min && !steps->limits().has_max;
  if (!is_function) return Reason("limits alone");
  return PrepareInPlace(request, std::make_shared<FunctionKernel>(std::move(*steps)),
                        memory::LayoutOf(memory::FormatInF32(request.inputs[0])));
}

kernels::KernelOrReason MakeVectorizedGate(const KernelRequest& request) {
  const bool is_tanh = request.node->info().function == ir::ElementFunction::kTanh;
  return is_tanh ? MakeInLayout(request, Tanh()) : MakeInLayout(request, Sigmoid());
}

kernels::KernelOrReason MakeVectorizedPRelu(const KernelRequest& request) {
  const TensorValue* slope = request.inputs[1].constant;
  if (slope == nullptr || slope->volume() != 1) return Reason("the slope is not one constant");
  return MakeInLayout(request, Slope{static_cast<float>(slope->ElementAsDouble(0))});
}

void RegisterUnaryKernels(kernels::KernelRegistry& registry) {
  registry.AddTables(kernels::Backend::kFast, {"opset1"}, "Exp", TableOf<MakeUnary<Exp>>("vectorised"));
  registry.AddTables(kernels::Backend::kFast, {"opset1"}, "Erf", TableOf<MakeUnary<Erf>>("vectorised"));
}

}  // namespace nnefc::runtime::fast::pointwise
