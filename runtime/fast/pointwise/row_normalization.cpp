// Normalization of f32 over contiguous axes: MVN, GroupNormalization, NormalizeL2, BatchNormInference. Loops
// are vectorized along the terms if they are contiguous, otherwise along the inner axis.
// runtime/kernels/arithmetic/normalization.cpp has the formulas and handles all cases declined here.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/pointwise/blocked_normalization.h"
#include "runtime/fast/pointwise/folded_rows.h"
#include "runtime/fast/pointwise/l2_normalization.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/pointwise/row_moments.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/index_range.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/pointwise/row_statistics_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::pointwise {

using kernels::KernelOrReason;
using kernels::KernelRequest;
using kernels::KernelRun;
using kernels::OrReason;
using kernels::Reason;
using simd::Vectorized;
using tensor::ParallelFor;

namespace {

// MVN: out = (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps).
struct Normalisation {
  MvnFactor by;
  bool fits_lanes;

  void operator()(const KernelRun& run, const Folded& of) const {
    const float* x = run.input(0).data<float>();
    float* out = run.output().mutable_data<float>();
    if (of.inner == 1 && of.terms > kPart) return LongRows(x, out, of);
    // A negative epsilon may cancel most of the variance: its sum is in f64 then.
    if (of.inner == 1 && fits_lanes && by.normalizes && by.epsilon >= 0) return Rows(x, out, of);
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
  // Processes groups of rows.
  void Rows(const float* x, float* out, const Folded& of) const {
    const int64_t each =
        std::clamp<int64_t>(of.outer / (2 * tensor::CurrentThreads()), 1, simd::RowsPerVector());
    ParallelFor(tensor::CeilDivide(of.outer, each), each * of.terms, [&](int64_t group) {
      const int64_t first = group * each, count = std::min(each, of.outer - first);
      const float* from = x + first * of.terms;
      float* to = out + first * of.terms;
      const int64_t done = simd::CentreRows({.x = from,
                                             .out = to,
                                             .rows = count,
                                             .terms = of.terms,
                                             .eps = static_cast<float>(by.epsilon),
                                             .inside = by.inside});
      for (int64_t row = done; row < count; ++row) Row(from + row * of.terms, to + row * of.terms, of.terms);
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

KernelOrReason MakeMvnOfCodes(const KernelRequest& request) {
  return MakeQuantizedMvn(request, MvnFactorOf(request));
}

constexpr int kInt8Cost = 25, kFastCost = 50, kRowsCost = 100;
constexpr kernels::Implementation kMvn[] = {
    {"int8", BlockedMvnApplies, kernels::FixedCost<kInt8Cost>, MakeMvnOfCodes},
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

void RegisterRowNormalizations(kernels::KernelRegistry& registry) {
  constexpr kernels::Backend kFast = kernels::Backend::kFast;
  registry.AddTables(kFast, {"opset2", "opset6"}, "MVN", kMvnTables);
  registry.AddTables(kFast, {"opset12"}, "GroupNormalization", TableOf<MakeGroupNormalization>("rows"));
  registry.AddTables(kFast, {"opset1"}, "NormalizeL2", kNormalizeL2Tables);
  registry.AcceptStrides(kFast, {"opset1"}, "NormalizeL2", 1);
}

}  // namespace nnefc::runtime::fast::pointwise
