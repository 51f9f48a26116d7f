// Reductions and normalisations of f32 over contiguous axes (a tensor is viewed as [outer, terms, inner]).
// Loops are vectorized along the terms if they are contiguous, otherwise along the inner axis.
// runtime/kernels (reduce.cpp, normalization.cpp, softmax.cpp) has the formulas and handles all cases
// declined here.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/pointwise/blocked_normalization.h"
#include "runtime/fast/pointwise/l2_normalization.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/pointwise/row_moments.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/index_range.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/row_statistics_microkernel.h"
#include "runtime/kernels/attributes.h"
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

struct Folded {
  int64_t outer = 1, terms = 1, inner = 1;

  int64_t block() const { return terms * inner; }
};

// Folds the axes of a reduction to three.
OrReason<Folded> Fold(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  std::vector<bool> reduced(shape.size(), false);
  for (int64_t axis : axes) {
    axis = kernels::NormalAxis(axis, static_cast<int64_t>(shape.size()));
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return Reason("axis {}", axis);
    reduced[static_cast<size_t>(axis)] = true;
  }
  Folded folded;
  bool inside = false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    if (reduced[axis]) {
      if (folded.inner != 1) return Reason("the reduced axes are not adjacent");
      inside = true;
      folded.terms *= shape[axis];
    } else {
      (inside ? folded.inner : folded.outer) *= shape[axis];
    }
  }
  if (folded.terms == 1) std::swap(folded.outer, folded.inner);
  return folded;
}

// ---- sums ----

constexpr int64_t kColumns = 128;  // elements of the inner axis reduced at once
using Columns = std::array<double, kColumns>;

// The same as ReduceRow for `columns` adjacent rows, with terms `stride` apart.
struct ColumnPart {
  const float* x;
  int64_t terms, stride, columns;
};
template <typename Reducer>
[[gnu::always_inline]] inline void ReduceColumns(const ColumnPart& part, const Reducer& reducer,
                                                 Columns& totals) {
  totals.fill(reducer.first());
  for (int64_t k = 0; k < part.terms; ++k) {
    const float* row = part.x + k * part.stride;
    for (int64_t i = 0; i < part.columns; ++i)
      totals[i] = reducer.Combine(totals[i], reducer.Map(static_cast<double>(row[i])));
  }
}

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

// Calls rows(outer) if terms are contiguous, otherwise columns(outer, first column, number of columns), on
// all threads.
template <typename Rows, typename Parts>
void ForEachLine(const Folded& of, const Rows& rows, const Parts& parts) {
  if (of.inner == 1) return ParallelFor(of.outer, of.terms, rows);
  const int64_t count = (of.inner + kColumns - 1) / kColumns;
  ParallelFor(of.outer * count, of.terms * std::min(of.inner, kColumns), [&](int64_t task) {
    const int64_t first = task % count * kColumns;
    parts(task / count, first, std::min(kColumns, of.inner - first));
  });
}

// ---- kernels ----

// A function of a call's views, with parameters found at planning time.
template <typename Function>
class RowKernel final : public kernels::Kernel {
 public:
  RowKernel(const Folded& folded, const Function& function) : folded_(folded), function_(function) {}

  std::string implementation() const override { return "nnefc:rows"; }
  kernels::FaultOr<Success> Run(const KernelRun& run) const override {
    function_(run, folded_);
    return Success();
  }

 private:
  const Folded folded_;
  const Function function_;
};

template <typename Function>
kernels::PreparedKernel Prepare(const KernelRequest& request, const Folded& folded, const Function& function,
                                bool in_place) {
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<RowKernel<Function>>(folded, function);
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  if (in_place) prepared.in_place = 0;
  return prepared;
}

// Returns the axes from a constant input.
OrReason<llvm::SmallVector<int64_t, 8>> ConstantAxes(const KernelRequest& request, size_t input) {
  if (request.inputs.size() <= input || request.inputs[input].constant == nullptr)
    return Reason("the axes are not constant");
  llvm::SmallVector<int64_t, 8> axes;
  for (int64_t i = 0; i < request.inputs[input].constant->volume(); ++i)
    axes.push_back(request.inputs[input].constant->ElementAsInt(i));
  return axes;
}

Reason IsPlain(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  return request.outputs.size() == 1 && memory::IsDenseF32(request.inputs[0]) &&
                 memory::IsDenseF32(request.outputs[0])
             ? Reason()
             : kNotF32;
}

// Returns the first of 0.0 and -0.0, which compare equal, like the reference kernels.
float FirstZero(const float* x, int64_t count) {
  return *std::find(x, x + count, 0.0f);
}

// out = finish(reduction of the terms)
template <typename Reducer, typename Finish>
void Reduce(const KernelRun& run, const Folded& of, const Reducer& reducer, const Finish& finish) {
  const float* x = run.input(0).data<float>();
  float* out = run.output().mutable_data<float>();
  ForEachLine(
      of,
      [&](int64_t line) {
        const float* row = x + line * of.terms;
        const auto total = CombineRow(row, of.terms, typename OfRows<Reducer>::Type());
        out[line] = static_cast<float>(finish(static_cast<double>(total)));
        if constexpr (std::is_same_v<Reducer, Largest> || std::is_same_v<Reducer, Smallest>) {
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

// MVN: out = (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps).
struct Normalisation {
  MvnFactor by;
  bool fits_lanes;

  void operator()(const KernelRun& run, const Folded& of) const {
    const float* x = run.input(0).data<float>();
    float* out = run.output().mutable_data<float>();
    if (of.inner == 1 && of.terms > kPart) return LongRows(x, out, of);
    ForEachLine(
        of, [&](int64_t line) { Row(x + line * of.terms, out + line * of.terms, of.terms); },
        [&](int64_t outer, int64_t first, int64_t columns) {
          const int64_t begin = outer * of.block() + first;
          Vectorized([&] { Block({x + begin, of.terms, of.inner, columns}, out + begin); });
        });
  }

 private:
  // Terms per part of a long row, few enough for f32 sums.
  static constexpr int64_t kPart = 4096;

  static Moments MomentsOfPart(const float* x, int64_t terms) {
    if (simd::FitsFloatSums(terms)) {
      if (const std::optional<simd::FloatMoments> found = simd::ComputeFloatMoments(x, terms))
        return {static_cast<double>(found->mean) + static_cast<double>(found->rest), found->variance};
    }
    Moments moments{};
    Vectorized([&] { moments = MomentsOf(x, terms); });
    return moments;
  }
  // Processes few rows with many terms each: threads divide rows.
  void LongRows(const float* x, float* out, const Folded& of) const {
    const int64_t parts = (of.terms + kPart - 1) / kPart;
    const auto part_of = [&](int64_t task) {
      const simd::IndexRange part = simd::IndexRange{0, of.terms}.Part(parts, task % parts);
      const int64_t begin = task / parts * of.terms;
      return simd::IndexRange{begin + part.begin, begin + part.end};
    };
    std::vector<Moments> moments(static_cast<size_t>(of.outer * parts));
    ParallelFor(of.outer * parts, 2 * kPart, [&](int64_t task) {
      const simd::IndexRange part = part_of(task);
      moments[static_cast<size_t>(task)] = MomentsOfPart(x + part.begin, part.count());
    });
    std::vector<Moments> rows(static_cast<size_t>(of.outer));
    for (int64_t row = 0; row < of.outer; ++row) {
      rows[static_cast<size_t>(row)] = MomentsOfParts(moments.data() + row * parts, parts,
                                                      [&](int64_t part) { return part_of(part).count(); });
    }
    ParallelFor(of.outer * parts, kPart, [&](int64_t task) {
      const simd::IndexRange part = part_of(task);
      const auto [mean, variance] = rows[static_cast<size_t>(task / parts)];
      const double factor = by.Of(variance);
      if (!simd::HasSimd() || !std::isfinite(mean) || !std::isfinite(static_cast<float>(factor))) {
        return Vectorized(
            [&] { ShiftAndScale(x + part.begin, part.count(), mean, factor, out + part.begin); });
      }
      const auto rounded = static_cast<float>(mean);
      const auto rest = static_cast<float>(mean - static_cast<double>(rounded));
      simd::ShiftAndScaleFloats(x + part.begin, part.count(), {rounded, rest, variance},
                                static_cast<float>(factor), out + part.begin);
    });
  }
  void Row(const float* x, float* out, int64_t terms) const {
    const std::optional<simd::FloatMoments> found =
        fits_lanes ? simd::ComputeFloatMoments(x, terms) : std::nullopt;
    if (found) {
      const double factor = by.Of(found->variance);
      return simd::ShiftAndScaleFloats(x, terms, *found, static_cast<float>(factor), out);
    }
    Vectorized([&] {
      const auto [mean, variance] = MomentsOf(x, terms);
      const double factor = by.Of(variance);
      ShiftAndScale(x, terms, mean, factor, out);
    });
  }
  // Processes adjacent rows.
  [[gnu::always_inline]] void Block(const ColumnPart& part, float* out) const {
    const auto count = static_cast<double>(part.terms);
    Columns mean;
    ReduceColumns(part, Sum(), mean);
    for (int64_t i = 0; i < part.columns; ++i) mean[i] /= count;
    Columns factor;
    factor.fill(by.normalizes ? 0 : 1);
    if (by.normalizes) {
      for (int64_t k = 0; k < part.terms; ++k) {
        const float* row = part.x + k * part.stride;
        for (int64_t i = 0; i < part.columns; ++i) {
          const double deviation = static_cast<double>(row[i]) - mean[i];
          factor[i] += deviation * deviation;
        }
      }
      for (int64_t i = 0; i < part.columns; ++i) factor[i] = by.Of(factor[i] / count);
    }
    for (int64_t k = 0; k < part.terms; ++k) {
      const float* row = part.x + k * part.stride;
      float* to = out + k * part.stride;
      for (int64_t i = 0; i < part.columns; ++i)
        to[i] = static_cast<float>((static_cast<double>(row[i]) - mean[i]) * factor[i]);
    }
  }
};

MvnFactor MvnFactorOf(const KernelRequest& request) {
  const std::string mode = request.node->String("eps_mode");
  return {.epsilon = request.node->Double("eps"),
          .normalizes = request.node->Bool("normalize_variance"),
          .inside = mode == "inside_sqrt" || mode == "INSIDE_SQRT"};
}

// Returns the rows of an MVN.
OrReason<Folded> MvnRowsOf(const KernelRequest& request) {
  llvm::SmallVector<int64_t, 8> axes;
  if (request.inputs.size() > 1) {
    const auto given = ConstantAxes(request, 1);
    if (!given) return given.reason();
    axes = *given;
  } else {
    const int64_t first = request.node->Bool("across_channels") ? 1 : 2;
    const auto rank = static_cast<int64_t>(request.inputs[0].shape.size());
    for (int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  }
  if (const Reason reason = IsPlain(request); !reason.empty()) return reason;
  return Fold(request.inputs[0].shape, axes);
}

Reason MvnApplies(const KernelRequest& request) {
  return MvnRowsOf(request).reason();
}
KernelOrReason MakeMvn(const KernelRequest& request) {
  const OrReason<Folded> folded = MvnRowsOf(request);
  return Prepare(request, *folded, Normalisation{MvnFactorOf(request), simd::FitsFloatSums(folded->terms)},
                 true);
}

Reason BlockedMvnApplies(const KernelRequest& request) {
  const OrReason<Folded> folded = MvnRowsOf(request);
  if (!folded) return folded.reason();
  const llvm::ArrayRef<int64_t> shape = request.inputs[0].shape;
  if (shape.size() <= 2 || folded->inner != 1 || folded->terms != Volume(shape.drop_front(2)))
    return Reason("other axes than those of the pixels");
  return Reason();
}
KernelOrReason MakeMvnOfBlocks(const KernelRequest& request) {
  return MakeBlockedMvn(request, MvnFactorOf(request));
}

constexpr int kFastCost = 50, kRowsCost = 100;
constexpr kernels::Implementation kMvn[] = {
    {"blocked", BlockedMvnApplies, kernels::FixedCost<kFastCost>, MakeMvnOfBlocks},
    {"rows", MvnApplies, kernels::FixedCost<kRowsCost>, MakeMvn}};
const kernels::ImplementationTable kMvnTables[] = {{"f32", kernels::AlwaysApplies, kMvn}};

// GroupNormalization: MVN over a group of channels, with a scale and shift per channel; `folded.terms` is the
// size of a group.
struct GroupNormalisation {
  double epsilon;
  int64_t channels, plane;

  void operator()(const KernelRun& run, const Folded& of) const {
    ParallelFor(of.outer, 4 * of.terms, [&](int64_t group) { Vectorized([&] { Group(run, of, group); }); });
  }

 private:
  [[gnu::always_inline]] void Group(const KernelRun& run, const Folded& of, int64_t group) const {
    const float* x = run.input(0).data<float>() + group * of.terms;
    float* out = run.output().mutable_data<float>() + group * of.terms;
    const auto [mean, variance] = MomentsOf(x, of.terms);
    const double factor = 1 / std::sqrt(variance + epsilon);
    for (int64_t first = 0; first < of.terms; first += plane) {
      const int64_t c = (group * of.terms + first) / plane % channels;
      const double scale = factor * static_cast<double>(run.input(1).data<float>()[c]);
      const double shift = static_cast<double>(run.input(2).data<float>()[c]);
      for (int64_t i = first; i < first + plane; ++i)
        out[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * scale + shift);
    }
  }
};

KernelOrReason MakeGroupNormalization(const KernelRequest& request) {
  if (!memory::AreDenseF32(request)) return kNotF32;
  if (const Reason reason = IsPlain(request); !reason.empty()) return reason;
  if (request.inputs[0].shape.size() < 2) return Reason("a vector");
  const Shape& shape = request.inputs[0].shape;
  const int64_t groups = request.node->Int("num_groups");
  if (groups < 1 || shape[1] % groups != 0) return Reason("{} channels in {} groups", shape[1], groups);
  int64_t plane = 1;
  for (int64_t extent : llvm::ArrayRef<int64_t>(shape).drop_front(2)) plane *= extent;
  const Folded folded{.outer = shape[0] * groups, .terms = shape[1] / groups * plane};
  const GroupNormalisation function{request.node->Double("epsilon"), shape[1], plane};
  return Prepare(request, folded, function, true);
}

// NormalizeL2: out = x / sqrt(sum of x^2, plus or at least eps).
struct L2Normalisation {
  NormFloor floor;

  void operator()(const KernelRun& run, const Folded& of) const {
    const float* x = run.input(0).data<float>();
    float* out = run.output().mutable_data<float>();
    ForEachLine(
        of, [&](int64_t line) { NormalizeRow(x + line * of.terms, of.terms, floor, out + line * of.terms); },
        [&](int64_t outer, int64_t first, int64_t columns) {
          const int64_t begin = outer * of.block() + first;
          Columns sums;
          std::array<float, kColumns> factors;
          Vectorized([&] {
            ReduceColumns({x + begin, of.terms, of.inner, columns}, SumOfSquares(), sums);
            for (int64_t i = 0; i < columns; ++i) factors[i] = floor.FactorOf(sums[i]);
            for (int64_t k = 0; k < of.terms; ++k) {
              const float* row = x + begin + k * of.inner;
              for (int64_t i = 0; i < columns; ++i) out[begin + k * of.inner + i] = row[i] * factors[i];
            }
          });
        });
  }
};

NormFloor NormFloorOf(const KernelRequest& request) {
  return {request.node->Double("eps"), request.node->String("eps_mode") == "add"};
}

// Returns the rows of a NormalizeL2 whose input may have strides.
OrReason<Folded> L2RowsOf(const KernelRequest& given) {
  KernelRequest request = given;
  llvm::SmallVector<kernels::ValueInfo, 4> inputs(given.inputs.begin(), given.inputs.end());
  if (tensor::StridesOf(given.inputs[0].layout) != nullptr) inputs[0].layout = nullptr;
  request.inputs = inputs;
  const auto axes = ConstantAxes(request, 1);
  if (!axes) return axes.reason();
  if (const Reason reason = IsPlain(request); !reason.empty()) return reason;
  return Fold(request.inputs[0].shape, *axes);
}

Reason L2OfLastAxisApplies(const KernelRequest& request) {
  const OrReason<Folded> folded = L2RowsOf(request);
  if (!folded) return folded.reason();
  return folded->inner == 1 && folded->terms == request.inputs[0].shape.back()
             ? Reason()
             : Reason("other axes than the last");
}
KernelOrReason MakeL2OfLastAxis(const KernelRequest& request) {
  return MakeL2Normalization(request, NormFloorOf(request));
}

Reason L2Applies(const KernelRequest& request) {
  if (tensor::StridesOf(request.inputs[0].layout) != nullptr) return Reason("the input has strides");
  return L2RowsOf(request).reason();
}
KernelOrReason MakeL2(const KernelRequest& request) {
  return Prepare(request, *L2RowsOf(request), L2Normalisation{NormFloorOf(request)}, true);
}

constexpr kernels::Implementation kNormalizeL2[] = {
    {"last_axis", L2OfLastAxisApplies, kernels::FixedCost<kFastCost>, MakeL2OfLastAxis},
    {"rows", L2Applies, kernels::FixedCost<kRowsCost>, MakeL2}};
const kernels::ImplementationTable kNormalizeL2Tables[] = {{"f32", kernels::AlwaysApplies, kNormalizeL2}};

// LogSoftmax, and SoftMax for few numbers or along an axis other than the last.
template <bool kLogarithm>
struct Softmax {
  void operator()(const KernelRun& run, const Folded& of) const {
    const float* x = run.input(0).data<float>();
    float* out = run.output().mutable_data<float>();
    ForEachLine(
        of, [&](int64_t line) { Row(x + line * of.terms, out + line * of.terms, of.terms); },
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
    ReduceColumns(part, Largest(), totals);
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
  return Prepare(request, *folded, Softmax<kLogarithm>(), false);
}

// BatchNormInference of a row-major tensor: `terms` is the plane of a channel.
struct BatchNormalisation {
  double epsilon;
  int64_t channels;

  void operator()(const KernelRun& run, const Folded& of) const {
    const auto vector = [&](size_t input, int64_t c) {
      return static_cast<double>(run.input(input).data<float>()[c]);
    };
    ParallelFor(of.outer, of.terms, [&](int64_t row) {
      const int64_t c = row % channels;
      const auto factor = static_cast<float>(vector(1, c) / std::sqrt(vector(4, c) + epsilon));
      const auto shift = static_cast<float>(vector(2, c));
      const auto mean = static_cast<float>(vector(3, c));
      const float* x = run.input(0).data<float>() + row * of.terms;
      float* out = run.output().mutable_data<float>() + row * of.terms;
      const int64_t terms = of.terms;
      Vectorized([=] {
        for (int64_t i = 0; i < terms; ++i) out[i] = (x[i] - mean) * factor + shift;
      });
    });
  }
};

}  // namespace

KernelOrReason MakeRowBatchNorm(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  if (!memory::AreDenseF32(request)) return kNotF32;
  if (const Reason reason = IsPlain(request); !reason.empty()) return reason;
  if (shape.size() < 2) return Reason("a vector");
  if (request.inputs[0].layout != nullptr) return Reason("the input is not row-major");
  int64_t plane = 1;
  for (int64_t extent : llvm::ArrayRef<int64_t>(shape).drop_front(2)) plane *= extent;
  const BatchNormalisation function{request.node->Double("epsilon"), shape[1]};
  return Prepare(request, {.outer = shape[0] * shape[1], .terms = plane}, function, true);
}

KernelOrReason MakeRowMean(const KernelRequest& request) {
  return MakeReduce<Sum, Finish::kMean>(request);
}

KernelOrReason MakeRowMaximum(const KernelRequest& request) {
  return MakeReduce<Largest, Finish::kNothing>(request);
}

KernelOrReason MakeVectorizedSoftmax(const KernelRequest& request) {
  return MakeSoftmaxOfRows<false>(request);
}

void RegisterRowKernels(kernels::KernelRegistry& registry) {
  const auto add = [&](std::initializer_list<std::string_view> sets, std::string_view name,
                       llvm::ArrayRef<kernels::ImplementationTable> tables) {
    registry.AddTables(kernels::Backend::kFast, sets, name, tables);
  };
  add({"opset1"}, "ReduceSum", TableOf<MakeReduce<Sum, Finish::kNothing>>("rows"));
  add({"opset1"}, "ReduceProd", TableOf<MakeReduce<Product, Finish::kNothing>>("rows"));
  add({"opset1"}, "ReduceMin", TableOf<MakeReduce<Smallest, Finish::kNothing>>("rows"));
  add({"opset4"}, "ReduceL1", TableOf<MakeReduce<SumOfMagnitudes, Finish::kNothing>>("rows"));
  add({"opset4"}, "ReduceL2", TableOf<MakeReduce<SumOfSquares, Finish::kRoot>>("rows"));
  add({"opset2", "opset6"}, "MVN", kMvnTables);
  add({"opset12"}, "GroupNormalization", TableOf<MakeGroupNormalization>("rows"));
  add({"opset1"}, "NormalizeL2", kNormalizeL2Tables);
  registry.AcceptStrides(kernels::Backend::kFast, {"opset1"}, "NormalizeL2", 1);
  add({"opset5"}, "LogSoftmax", TableOf<MakeSoftmaxOfRows<true>>("rows"));
}

}  // namespace nnefc::runtime::fast::pointwise
