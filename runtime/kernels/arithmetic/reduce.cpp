// Reductions over a set of axes.

#include <cmath>
#include <limits>

#include "runtime/kernels/arithmetic/reduction.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// Floats are summed in f64, integers modulo 2^64.
template <typename T>
using SumType = std::conditional_t<kIsFloating<T>, double, uint64_t>;

struct Sum {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    SumType<T> sum = 0;
    reduction.ForEachTerm(
        [&](int64_t offset) { sum += static_cast<SumType<T>>(static_cast<ComputeType<T>>(first[offset])); });
    return T(static_cast<ComputeType<T>>(sum));
  }
};

struct Mean {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    const int64_t count = reduction.num_terms();
    if constexpr (kIsFloating<T>) {
      double sum = 0;
      reduction.ForEachTerm([&](int64_t offset) { sum += static_cast<ComputeType<T>>(first[offset]); });
      return T(static_cast<ComputeType<T>>(sum / static_cast<double>(count)));
    } else {
      int64_t sum = 0;
      reduction.ForEachTerm([&](int64_t offset) {
        sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(first[offset]));
      });
      return count == 0 ? T(0) : static_cast<T>(sum / count);
    }
  }
};

struct Product {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    SumType<T> product = 1;
    reduction.ForEachTerm([&](int64_t offset) {
      product *= static_cast<SumType<T>>(static_cast<ComputeType<T>>(first[offset]));
    });
    return T(static_cast<ComputeType<T>>(product));
  }
};

template <typename T>
T LowestValue() {
  using Limits = std::numeric_limits<ComputeType<T>>;
  return Limits::has_infinity ? T(-Limits::infinity()) : T(Limits::lowest());
}
template <typename T>
T HighestValue() {
  using Limits = std::numeric_limits<ComputeType<T>>;
  return Limits::has_infinity ? T(Limits::infinity()) : T(Limits::max());
}

struct Max {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    T best = LowestValue<T>();
    reduction.ForEachTerm([&](int64_t offset) { best = best < first[offset] ? first[offset] : best; });
    return best;
  }
};

struct Min {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    T best = HighestValue<T>();
    reduction.ForEachTerm([&](int64_t offset) { best = first[offset] < best ? first[offset] : best; });
    return best;
  }
};

struct NormL1 {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    double sum = 0;
    reduction.ForEachTerm([&](int64_t offset) {
      sum += std::abs(static_cast<double>(static_cast<ComputeType<T>>(first[offset])));
    });
    return ConvertElement<T>(sum);
  }
};

struct NormL2 {
  template <typename T>
  static T Reduce(const Reduction& reduction, const T* first) {
    double sum = 0;
    reduction.ForEachTerm([&](int64_t offset) {
      const double x = static_cast<double>(static_cast<ComputeType<T>>(first[offset]));
      sum += x * x;
    });
    return ConvertElement<T>(std::sqrt(sum));
  }
};

struct All {
  static Boolean Reduce(const Reduction& reduction, const Boolean* first) {
    bool all = true;
    reduction.ForEachTerm([&](int64_t offset) { all &= static_cast<bool>(first[offset]); });
    return all;
  }
};

struct Any {
  static Boolean Reduce(const Reduction& reduction, const Boolean* first) {
    bool any = false;
    reduction.ForEachTerm([&](int64_t offset) { any |= static_cast<bool>(first[offset]); });
    return any;
  }
};

template <typename T, typename Reducer>
void ReduceAs(const ReferenceRun& run) {
  const Reduction reduction(run.input(0), tensor::ElementsAsInts(run.input(1)));
  const T* input = run.input(0).data<T>();
  T* output = run.output().mutable_data<T>();
  tensor::ParallelFor(run.output().volume(), reduction.num_terms(), [&](int64_t i) {
    output[i] = Reducer::Reduce(reduction, input + reduction.FirstTerm(i));
  });
}

template <typename Reducer>
FaultOr<Success> ReduceNumeric(const ReferenceRun& run) {
  if (!VisitNumericType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { ReduceAs<T, Reducer>(run); })) {
    return UnsupportedType(run);
  }
  return Success();
}

template <typename Reducer>
FaultOr<Success> ReduceLogical(const ReferenceRun& run) {
  if (run.input(0).type() != ElementType::kBoolean) return UnsupportedType(run);
  ReduceAs<Boolean, Reducer>(run);
  return Success();
}

}  // namespace

void RegisterReduce(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "ReduceSum", ReduceNumeric<Sum>);
  registry.AddReference({"opset1"}, "ReduceMean", ReduceNumeric<Mean>);
  registry.AddReference({"opset1"}, "ReduceProd", ReduceNumeric<Product>);
  registry.AddReference({"opset1"}, "ReduceMax", ReduceNumeric<Max>);
  registry.AddReference({"opset1"}, "ReduceMin", ReduceNumeric<Min>);
  registry.AddReference({"opset4"}, "ReduceL1", ReduceNumeric<NormL1>);
  registry.AddReference({"opset4"}, "ReduceL2", ReduceNumeric<NormL2>);
  registry.AddReference({"opset1"}, "ReduceLogicalAnd", ReduceLogical<All>);
  registry.AddReference({"opset1"}, "ReduceLogicalOr", ReduceLogical<Any>);
}

}  // namespace nnefc::runtime::kernels
