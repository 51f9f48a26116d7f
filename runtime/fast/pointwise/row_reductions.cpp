// Reductions of f32 over contiguous axes. Loops are vectorized along the terms if they are contiguous,
// otherwise along the inner axis. runtime/kernels/arithmetic/reduce.cpp has the formulas and handles all
// cases declined here.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/fast/factories.h"
#include "runtime/fast/pointwise/folded_rows.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::pointwise {

using kernels::KernelOrReason;
using kernels::KernelRequest;
using kernels::KernelRun;
using kernels::OrReason;
using kernels::Reason;
using simd::Vectorized;
using tensor::ParallelFor;

namespace {

struct SumOfMagnitudes : Sum {
  static double Map(double x) { return x < 0 ? -x : x; }
};
struct Product {
  using Term = double;
  static constexpr double first() { return 1; }
  static double Map(double x) { return x; }
  static double Combine(double a, double b) { return a * b; }
};
template <typename T>
struct SmallestOf {
  using Term = T;
  static constexpr T first() { return std::numeric_limits<T>::infinity(); }
  static T Map(T x) { return x; }
  static T Combine(T a, T b) { return b < a ? b : a; }
};
using Largest = LargestOf<double>;
using Smallest = SmallestOf<double>;

// The reducer for rows: minimum and maximum of f32 do not need f64.
template <typename Reducer>
struct OfRows {
  using Type = Reducer;
};
template <>
struct OfRows<Largest> {
  using Type = LargestOf<float>;
};
template <>
struct OfRows<Smallest> {
  using Type = SmallestOf<float>;
};

// Reduces a row; threads divide a long one.
template <typename Reducer>
typename Reducer::Term CombineRow(const float* row, int64_t terms, const Reducer& reducer) {
  constexpr int64_t kPart = 16384;
  using Term = typename Reducer::Term;
  const auto combine = [&](int64_t first, int64_t count) {
    Term total = reducer.first();
    Vectorized([&] { total = ReduceRow(row + first, count, reducer); });
    return total;
  };
  if (terms <= kPart) return combine(0, terms);
  std::vector<Term> totals(static_cast<size_t>(tensor::CeilDivide(terms, kPart)));
  ParallelFor(static_cast<int64_t>(totals.size()), kPart, [&](int64_t part) {
    totals[static_cast<size_t>(part)] = combine(part * kPart, std::min(kPart, terms - part * kPart));
  });
  Term total = reducer.first();
  for (const Term& of_part : totals) total = reducer.Combine(total, of_part);
  return total;
}

// Returns the first of 0.0 and -0.0, which compare equal, like the reference kernels.
float FirstZero(const float* x, int64_t count) {
  return *std::find(x, x + count, 0.0f);
}

// The reducers that return an element.
template <typename Reducer>
constexpr bool kSelects = std::is_same_v<Reducer, Largest> || std::is_same_v<Reducer, Smallest>;

// Reduces rows of adjacent terms, fewer than kShortRow.
template <typename Reducer, typename Finish>
void ReduceShort(const float* x, const Folded& of, const Reducer& reducer, const Finish& finish, float* out) {
  ParallelFor(tensor::CeilDivide(of.outer, kColumns), of.terms * kColumns, [&](int64_t part) {
    const int64_t first = part * kColumns, rows = std::min(kColumns, of.outer - first);
    Columns totals;
    Vectorized([&] {
      ReduceShortRows(x + first * of.terms, of.terms, rows, reducer, totals);
      for (int64_t i = 0; i < rows; ++i) out[first + i] = static_cast<float>(finish(totals[i]));
    });
    if constexpr (kSelects<Reducer>) {
      for (int64_t i = first; i < first + rows; ++i) {
        if (out[i] == 0) out[i] = FirstZero(x + i * of.terms, of.terms);
      }
    }
  });
}

// out = finish(reduction of the terms)
template <typename Reducer, typename Finish>
void Reduce(const KernelRun& run, const Folded& of, const Reducer& reducer, const Finish& finish) {
  const float* x = run.input(0).data<float>();
  float* out = run.output().mutable_data<float>();
  if (of.inner == 1 && of.terms < kShortRow) return ReduceShort(x, of, reducer, finish, out);
  ForEachLine(
      of,
      [&](int64_t line) {
        const float* row = x + line * of.terms;
        const auto total = CombineRow(row, of.terms, typename OfRows<Reducer>::Type());
        out[line] = static_cast<float>(finish(static_cast<double>(total)));
        if constexpr (kSelects<Reducer>) {
          if (out[line] == 0) out[line] = FirstZero(row, of.terms);
        }
      },
      [&](int64_t outer, int64_t first, int64_t columns) {
        Columns totals;
        Vectorized([&] {
          ReduceColumns({x + outer * of.block() + first, of.terms, of.inner, columns}, reducer, totals);
          for (int64_t i = 0; i < columns; ++i)
            out[outer * of.inner + first + i] = static_cast<float>(finish(totals[i]));
        });
      });
}

// The final step of a reduction.
enum class Finish : uint8_t { kNothing, kMean, kRoot };

template <typename Reducer, Finish kFinish>
KernelOrReason MakeReduce(const KernelRequest& request) {
  const auto axes = ConstantAxes(request, 1);
  if (!axes) return axes.reason();
  if (const Reason reason = IsPlain(request); !reason.empty()) return reason;
  const OrReason<Folded> folded = Fold(request.inputs[0].shape, *axes);
  if (!folded) return folded.reason();
  const auto run = [](const KernelRun& run, const Folded& of) {
    const auto count = static_cast<double>(of.terms);
    Reduce(run, of, Reducer(), [=](double total) {
      if (kFinish == Finish::kMean) return total / count;
      return kFinish == Finish::kRoot ? std::sqrt(total) : total;
    });
  };
  return Prepare(request, *folded, run, false);
}

}  // namespace

KernelOrReason MakeRowMean(const KernelRequest& request) {
  return MakeReduce<Sum, Finish::kMean>(request);
}

KernelOrReason MakeRowMaximum(const KernelRequest& request) {
  return MakeReduce<Largest, Finish::kNothing>(request);
}

void RegisterRowReductions(kernels::KernelRegistry& registry) {
  const auto add = [&](std::string_view set, std::string_view name,
                       llvm::ArrayRef<kernels::ImplementationTable> tables) {
    registry.AddTables(kernels::Backend::kFast, {set}, name, tables);
  };
  add("opset1", "ReduceSum", TableOf<MakeReduce<Sum, Finish::kNothing>>("rows"));
  add("opset1", "ReduceProd", TableOf<MakeReduce<Product, Finish::kNothing>>("rows"));
  add("opset1", "ReduceMin", TableOf<MakeReduce<Smallest, Finish::kNothing>>("rows"));
  add("opset4", "ReduceL1", TableOf<MakeReduce<SumOfMagnitudes, Finish::kNothing>>("rows"));
  add("opset4", "ReduceL2", TableOf<MakeReduce<SumOfSquares, Finish::kRoot>>("rows"));
}

}  // namespace nnefc::runtime::fast::pointwise
