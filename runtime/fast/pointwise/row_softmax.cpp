// SoftMax and LogSoftmax of f32, vectorized along the terms if they are contiguous, otherwise along the inner
// axis. runtime/kernels/arithmetic/softmax.cpp has the formulas and handles all cases declined here.

#include <array>
#include <cmath>

#include "runtime/fast/factories.h"
#include "runtime/fast/pointwise/folded_rows.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/pointwise/row_softmax_microkernel.h"

namespace nnefc::runtime::fast::pointwise {

using kernels::KernelOrReason;
using kernels::KernelRequest;
using kernels::KernelRun;
using kernels::OrReason;
using kernels::Reason;
using simd::Vectorized;

namespace {

template <bool kLogarithm>
struct Softmax {
  void operator()(const KernelRun& run, const Folded& of) const {
    const float* x = run.input(0).data<float>();
    float* out = run.output().mutable_data<float>();
    if (!kLogarithm && of.inner == 1 && simd::HasSimd()) {
      return tensor::RunRanges(of.outer, of.terms, [&](int64_t begin, int64_t end) {
        simd::ComputeSoftmaxRows({x + begin * of.terms, out + begin * of.terms, end - begin, of.terms});
      });
    }
    ForEachLine(
        of,
        [&](int64_t line) { Vectorized([&] { Row(x + line * of.terms, out + line * of.terms, of.terms); }); },
        [&](int64_t outer, int64_t first, int64_t columns) {
          const int64_t begin = outer * of.block() + first;
          Vectorized([&] { Part({x + begin, of.terms, of.inner, columns}, out + begin); });
        });
  }

 private:
  [[gnu::always_inline]] static void Row(const float* x, float* out, int64_t terms) {
    const float largest = ReduceRow(x, terms, LargestOf<float>());
    for (int64_t i = 0; i < terms; ++i) out[i] = simd::VectorExp(x[i] - largest);
    const double sum = ReduceRow(out, terms, Sum());
    const auto shift = largest + static_cast<float>(std::log(sum));
    const auto factor = static_cast<float>(1 / sum);
    for (int64_t i = 0; i < terms; ++i) out[i] = kLogarithm ? x[i] - shift : out[i] * factor;
  }
  [[gnu::always_inline]] static void Part(const ColumnPart& part, float* out) {
    Columns totals;
    std::array<float, kColumns> largest, factors;
    ReduceColumns(part, LargestOf<double>(), totals);
    for (int64_t i = 0; i < part.columns; ++i) largest[i] = static_cast<float>(totals[i]);
    for (int64_t k = 0; k < part.terms; ++k) {
      const float* x = part.x + k * part.stride;
      for (int64_t i = 0; i < part.columns; ++i)
        out[k * part.stride + i] = simd::VectorExp(x[i] - largest[i]);
    }
    ReduceColumns({out, part.terms, part.stride, part.columns}, Sum(), totals);
    for (int64_t i = 0; i < part.columns; ++i) {
      factors[i] = kLogarithm ? largest[i] + static_cast<float>(std::log(totals[i]))
                              : static_cast<float>(1 / totals[i]);
    }
    for (int64_t k = 0; k < part.terms; ++k) {
      const float* x = part.x + k * part.stride;
      float* row = out + k * part.stride;
      for (int64_t i = 0; i < part.columns; ++i)
        row[i] = kLogarithm ? x[i] - factors[i] : row[i] * factors[i];
    }
  }
};

template <bool kLogarithm>
KernelOrReason MakeSoftmaxOfRows(const KernelRequest& request) {
  if (const Reason reason = IsPlain(request); !reason.empty()) return reason;
  if (request.inputs[0].shape.empty()) return Reason("a scalar");
  const int64_t axis = request.node->Int("axis");
  const OrReason<Folded> folded = Fold(request.inputs[0].shape, llvm::ArrayRef<int64_t>(axis));
  if (!folded) return folded.reason();
  return Prepare(request, *folded, Softmax<kLogarithm>(), !kLogarithm);
}

}  // namespace

void RegisterRowSoftmax(kernels::KernelRegistry& registry) {
  registry.AddTables(kernels::Backend::kFast, {"opset1", "opset8"}, "SoftMax",
                     TableOf<MakeSoftmaxOfRows<false>>("rows"));
  registry.AddTables(kernels::Backend::kFast, {"opset5"}, "LogSoftmax",
                     TableOf<MakeSoftmaxOfRows<true>>("rows"));
}

}  // namespace nnefc::runtime::fast::pointwise
