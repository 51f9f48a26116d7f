// CTCGreedyDecoder, CTCGreedyDecoderSeqLen and CTCLoss.

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// Returns the first class with the highest score.
template <typename T>
int64_t BestClass(const T* scores, int64_t classes) {
  int64_t best = 0;
  for (int64_t c = 1; c < classes; ++c) {
    if (AsDouble(scores[c]) > AsDouble(scores[best])) best = c;
  }
  return best;
}

// out[n] = the best class at each time before the first 0 of the mask, then -1. Blanks (the last class) are
// removed, and so are repetitions if they are merged.
template <typename T>
void CtcGreedyDecoderAs(const ReferenceRun& run, llvm::ArrayRef<double> mask) {
  const tensor::TensorView& data = run.input(0);
  const int64_t times = data.extent(0), batches = data.extent(1), classes = data.extent(2);
  const bool merge = run.node.Bool("ctc_merge_repeated");
  tensor::ParallelFor(batches, times * classes, [&](int64_t n) {
    T* out = run.output().mutable_data<T>() + n * times;
    T* const end = out + times;
    int64_t before = -1;
    for (int64_t t = 0; t < times && mask[static_cast<size_t>(t * batches + n)] != 0; ++t) {
      const int64_t best = BestClass(data.data<T>() + (t * batches + n) * classes, classes);
      const bool is_repeated = merge && best == before;
      if (best != classes - 1 && !is_repeated) *out++ = ConvertElement<T>(static_cast<double>(best));
      before = best;
    }
    std::fill(out, end, ConvertElement<T>(-1.0));
  });
}

FaultOr<Success> CtcGreedyDecoder(const ReferenceRun& run) {
  const llvm::SmallVector<double, 8> mask = tensor::ElementsAsDoubles(run.input(1));
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { CtcGreedyDecoderAs<T>(run, mask); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// Returns the blank class from an input, or the last class without that input.
FaultOr<int64_t> BlankOf(const ReferenceRun& run, size_t input, int64_t classes) {
  if (run.num_inputs() <= input) return classes - 1;
  const int64_t blank = tensor::ElementsAsInts(run.input(input))[0];
  if (blank < 0 || blank >= classes) return KernelFault("the blank is class {} of {}", blank, classes);
  return blank;
}

void StoreClass(const tensor::MutableTensorView& output, int64_t at, int64_t value) {
  if (output.type() == ElementType::kI32) {
    output.mutable_data<int32_t>()[at] = static_cast<int32_t>(value);
  } else {
    output.mutable_data<int64_t>()[at] = value;
  }
}

// The same for [batch, time, classes], with lengths in place of a mask.
FaultOr<Success> CtcGreedyDecoderSeqLen(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const int64_t batches = data.extent(0), times = data.extent(1), classes = data.extent(2);
  const FaultOr<int64_t> blank = BlankOf(run, 2, classes);
  if (!blank) return blank.error();
  const bool merge = run.node.Bool("merge_repeated");
  const auto lengths = tensor::ElementsAsInts(run.input(1));
  for (int64_t length : lengths) {
    if (length < 0 || length > times)
      return KernelFault("a sequence has the length {}; expected at most {}", length, times);
  }
  const bool known = VisitFloatType(data.type(), [&]<typename T>(TypeTag<T>) {
    for (int64_t n = 0; n < batches; ++n) {
      int64_t count = 0, before = -1;
      for (int64_t t = 0; t < lengths[static_cast<size_t>(n)]; ++t) {
        const int64_t best = BestClass(data.data<T>() + (n * times + t) * classes, classes);
        if (best != *blank && !(merge && best == before)) StoreClass(run.output(), n * times + count++, best);
        before = best;
      }
      if (run.num_outputs() > 1) StoreClass(run.output(1), n, count);
      for (; count < times; ++count) StoreClass(run.output(), n * times + count, -1);
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// log(exp(a) + exp(b)).
double LogSum(double a, double b) {
  const double most = std::max(a, b);
  if (most == -std::numeric_limits<double>::infinity()) return most;
  return most + std::log1p(std::exp(std::min(a, b) - most));
}

// Returns the target labels: distinct ones with `unique`, or without consecutive repetitions with
// `preprocess_collapse_repeated`.
std::vector<int64_t> LabelsOf(const ir::Node& node, llvm::ArrayRef<int64_t> labels) {
  std::vector<int64_t> target;
  std::unordered_set<int64_t> seen;
  for (int64_t label : labels) {
    const bool is_repeated = node.Bool("unique") ? !seen.insert(label).second
                             : node.Bool("preprocess_collapse_repeated")
                                 ? !target.empty() && target.back() == label
                                 : false;
    if (!is_repeated) target.push_back(label);
  }
  return target;
}

// Returns -log of the total probability of all paths, which are the labels separated by optional blanks.
// `log_probability(t, class)` is the input. If repeated classes merge, a label may last several steps, and
// equal neighbours need a blank between them.
template <typename LogProbability>
double PathLoss(llvm::ArrayRef<int64_t> target, int64_t times, int64_t blank, bool merges,
                const LogProbability& log_probability) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  // State 2 * i + 1 is label i; state 2 * i is the blank in front of it.
  std::vector<double> paths(2 * target.size() + 1, kNever), next(paths.size());
  paths[0] = 0;
  for (int64_t t = 0; t < times; ++t) {
    for (size_t s = 0; s < paths.size(); ++s) {
      const bool is_label = s % 2 == 1;
      double sum = is_label && !merges ? kNever : paths[s];
      if (is_label) {
        sum = LogSum(sum, paths[s - 1]);
        const bool skips = s >= 3 && (!merges || target[s / 2] != target[s / 2 - 1]);
        if (skips) sum = LogSum(sum, paths[s - 2]);
      } else if (s > 0) {
        sum = LogSum(sum, paths[s - 1]);
      }
      next[s] = sum + log_probability(t, is_label ? target[s / 2] : blank);
    }
    paths.swap(next);
  }
  return -(target.empty() ? paths[0] : LogSum(paths[paths.size() - 1], paths[paths.size() - 2]));
}

FaultOr<Success> CtcLoss(const ReferenceRun& run) {
  const tensor::TensorView& logits = run.input(0);
  const int64_t batches = logits.extent(0), times = logits.extent(1), classes = logits.extent(2);
  const FaultOr<int64_t> blank = BlankOf(run, 4, classes);
  if (!blank) return blank.error();
  const auto lengths = tensor::ElementsAsInts(run.input(1)), labels = tensor::ElementsAsInts(run.input(2)),
             label_lengths = tensor::ElementsAsInts(run.input(3));
  for (int64_t n = 0; n < batches; ++n) {
    const int64_t length = lengths[static_cast<size_t>(n)], count = label_lengths[static_cast<size_t>(n)];
    if (length < 0 || length > times || count < 0 || count > length)
      return KernelFault("a sequence of {} times has {} labels; expected at most {}, of at most {}", length,
                         count, length, times);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t label = labels[static_cast<size_t>(n * times + i)];
      if (label < 0 || label >= classes) return KernelFault("label {} of {} classes", label, classes);
    }
  }
  const bool known = VisitFloatType(logits.type(), [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(batches, times * times, [&](int64_t n) {
      const auto row = [&](int64_t t) { return logits.data<T>() + (n * times + t) * classes; };
      std::vector<double> log_sums;
      for (int64_t t = 0; t < lengths[static_cast<size_t>(n)]; ++t) {
        double sum = -std::numeric_limits<double>::infinity();
        for (int64_t c = 0; c < classes; ++c) sum = LogSum(sum, AsDouble(row(t)[c]));
        log_sums.push_back(sum);
      }
      const std::vector<int64_t> target = LabelsOf(
          run.node,
          llvm::ArrayRef<int64_t>(labels).slice(static_cast<size_t>(n * times),
                                                static_cast<size_t>(label_lengths[static_cast<size_t>(n)])));
      const double loss = PathLoss(
          target, lengths[static_cast<size_t>(n)], *blank, run.node.Bool("ctc_merge_repeated"),
          [&](int64_t t, int64_t c) { return AsDouble(row(t)[c]) - log_sums[static_cast<size_t>(t)]; });
      run.output().mutable_data<T>()[n] = T(static_cast<ComputeType<T>>(loss));
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterCtc(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "CTCGreedyDecoder", CtcGreedyDecoder);
  registry.AddReference({"opset6"}, "CTCGreedyDecoderSeqLen", CtcGreedyDecoderSeqLen);
  registry.AddReference({"opset4"}, "CTCLoss", CtcLoss);
}

}  // namespace nnefc::runtime::kernels
