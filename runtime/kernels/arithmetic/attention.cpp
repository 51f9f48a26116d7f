// ScaledDotProductAttention and Einsum, with f64 sums.

#include <algorithm>
#include <cmath>

#include "compiler/ir/ops/opset/arithmetic/equation.h"
#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// What is added to the score of query `l` and key `s` in a batch: the mask, or
// minus infinity where it is false. A causal attention has no mask.
class Mask {
 public:
  Mask(const ReferenceRun& run, llvm::ArrayRef<int64_t> scores) : scores_(scores) {
    if (run.node.Bool("causal") || run.num_inputs() <= 3 || run.input(3).volume() == 0) return;
    const bool ignored = run.input(3).rank() == 0;  // a placeholder where only `scale` is given
    if (ignored) return;
    mask_ = &run.input(3);
    strides_ = BroadcastStrides(*mask_, scores);
  }

  double At(int64_t batch, int64_t l, int64_t s) const {
    if (mask_ == nullptr) return 0;
    const size_t rank = scores_.size();
    const int64_t offset =
        BatchOffset(llvm::ArrayRef<int64_t>(strides_).drop_back(2), scores_.drop_back(2), batch) +
        l * strides_[rank - 2] + s * strides_[rank - 1];
    if (mask_->type() == ElementType::kBoolean) return mask_->data<Boolean>()[offset] ? 0 : -INFINITY;
    double value = 0;
    VisitFloatType(mask_->type(),
                   [&]<typename T>(TypeTag<T>) { value = AsDouble(mask_->data<T>()[offset]); });
    return value;
  }

 private:
  llvm::ArrayRef<int64_t> scores_;
  const tensor::TensorView* mask_ = nullptr;
  tensor::Strides strides_;
};

// out[l] = softmax over s of (q[l] . k[s] * scale + mask[l, s]), times v[s]
template <typename T>
void AttentionAs(const ReferenceRun& run) {
  const tensor::TensorView &q = run.input(0), &k = run.input(1), &v = run.input(2);
  const tensor::MutableTensorView& out = run.output();
  const int64_t width = q.shape().back(), values = v.shape().back();
  const int64_t queries = q.extent(q.rank() - 2), keys = k.extent(k.rank() - 2);
  const llvm::ArrayRef<int64_t> batch_shape = llvm::ArrayRef<int64_t>(out.shape()).drop_back(2);
  Shape scores(batch_shape.begin(), batch_shape.end());
  scores.append({queries, keys});
  const Mask mask(run, scores);
  const bool causal = run.node.Bool("causal");
  const double scale = run.num_inputs() > 4 ? tensor::ElementsAsDoubles(run.input(4))[0]
                                            : 1 / std::sqrt(static_cast<double>(width));
  const tensor::Strides q_strides = BatchStrides(q, batch_shape), k_strides = BatchStrides(k, batch_shape),
                        v_strides = BatchStrides(v, batch_shape);
  const int64_t rows = values == 0 ? 0 : out.volume() / values;
  tensor::ParallelFor(rows, keys * (width + values), [&](int64_t row) {
    const int64_t batch = row / queries, l = row % queries;
    const T* query = q.data<T>() + BatchOffset(q_strides, batch_shape, batch) + l * width;
    const T* key = k.data<T>() + BatchOffset(k_strides, batch_shape, batch);
    const T* value = v.data<T>() + BatchOffset(v_strides, batch_shape, batch);
    std::vector<double> weights(static_cast<size_t>(keys));
    double largest = -INFINITY;
    for (int64_t s = 0; s < keys; ++s) {
      double dot = 0;
      for (int64_t e = 0; e < width; ++e) dot += AsDouble(query[e]) * AsDouble(key[s * width + e]);
      const double added = causal ? (s > l ? -INFINITY : 0) : mask.At(batch, l, s);
      weights[static_cast<size_t>(s)] = dot * scale + added;
      largest = std::max(largest, weights[static_cast<size_t>(s)]);
    }
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (int64_t e = 0; e < values; ++e) {
      double total = 0;
      for (int64_t s = 0; s < keys; ++s)
        total += weights[static_cast<size_t>(s)] * AsDouble(value[s * values + e]);
      // Without keys the weighted sum has no terms.
      out.mutable_data<T>()[row * values + e] = ConvertElement<T>(keys == 0 ? 0 : total / sum);
    }
  });
}

FaultOr<Success> Attention(const ReferenceRun& run) {
  if (run.num_inputs() > 4 && run.input(4).volume() != 1)
    return KernelFault("{} scales; expected 1", run.input(4).volume());
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { AttentionAs<T>(run); }))
    return UnsupportedType(run);
  return Success();
}

// A label with its extent and its stride in each operand. Each axis of `...` is a separate label.
struct Label {
  int64_t extent = 1;
  std::vector<int64_t> strides;
};

// The labels of an equation: those of the result in order, and those that are summed over.
struct Labels {
  std::vector<Label> kept, summed;
};

Labels ReadLabels(const ReferenceRun& run, const ir::ops::opset::Equation& equation) {
  std::vector<std::pair<int, Label>> all;  // keyed by character, or 256 + index of an axis of `...` from its
                                           // end
  const auto label = [&](int key) -> Label& {
    for (auto& [known, entry] : all) {
      if (known == key) return entry;
    }
    all.emplace_back(key, Label{.strides = std::vector<int64_t>(run.num_inputs(), 0)});
    return all.back().second;
  };
  int free_axes = 0;
  for (size_t i = 0; i < run.num_inputs(); ++i) {
    const tensor::TensorView& input = run.input(i);
    const std::string& text = equation.operands[i];
    const bool has_ellipsis = text.find('.') != std::string::npos;
    const int free = has_ellipsis ? static_cast<int>(input.rank()) - static_cast<int>(text.size()) + 1 : 0;
    free_axes = std::max(free_axes, free);
    size_t axis = 0;
    const auto use = [&](int key) {
      Label& entry = label(key);
      if (input.shape()[axis] != 1) {
        entry.extent = input.shape()[axis];
        entry.strides[i] += input.strides()[axis];
      }
      ++axis;
    };
    for (char c : text) {
      if (c != '.') use(c);
      for (int rest = free; c == '.' && rest > 0; --rest) use(256 + rest);
    }
  }
  Labels labels;
  std::vector<int> kept;
  for (char c : equation.result) {
    if (c != '.') kept.push_back(c);
    for (int rest = free_axes; c == '.' && rest > 0; --rest) kept.push_back(256 + rest);
  }
  for (int key : kept) labels.kept.push_back(label(key));
  for (const auto& [key, entry] : all) {
    if (std::find(kept.begin(), kept.end(), key) == kept.end()) labels.summed.push_back(entry);
  }
  return labels;
}

// out[kept..] = sum over the summed labels of the product of the operands.
template <typename T>
void EinsumAs(const ReferenceRun& run, const Labels& labels) {
  int64_t terms = 1;
  for (const Label& label : labels.summed) terms *= label.extent;
  const size_t operands = run.num_inputs();
  tensor::ParallelFor(run.output().volume(), terms * static_cast<int64_t>(operands), [&](int64_t index) {
    llvm::SmallVector<int64_t, 4> offsets(operands, 0);
    const auto move = [&](llvm::SmallVector<int64_t, 4>& at, const std::vector<Label>& list, int64_t rest) {
      for (size_t i = list.size(); i-- > 0;) {
        for (size_t operand = 0; operand < operands; ++operand)
          at[operand] += rest % list[i].extent * list[i].strides[operand];
        rest /= list[i].extent;
      }
    };
    move(offsets, labels.kept, index);
    double sum = 0;
    for (int64_t term = 0; term < terms; ++term) {
      llvm::SmallVector<int64_t, 4> at = offsets;
      move(at, labels.summed, term);
      double product = 1;
      for (size_t operand = 0; operand < operands; ++operand)
        product *= AsDouble(run.input(operand).data<T>()[at[operand]]);
      sum += product;
    }
    run.output().mutable_data<T>()[index] = ConvertElement<T>(sum);
  });
}

FaultOr<Success> Einsum(const ReferenceRun& run) {
  const std::optional<ir::ops::opset::Equation> equation =
      ir::ops::opset::ReadEquation(run.node.String("equation"));
  if (!equation || equation->operands.size() != run.num_inputs()) return KernelFault("a wrong equation");
  const Labels labels = ReadLabels(run, *equation);
  const bool known =
      VisitNumericType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { EinsumAs<T>(run, labels); });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterAttention(KernelRegistry& registry) {
  registry.AddReference({"opset13"}, "ScaledDotProductAttention", Attention);
  registry.AddReference({"opset7"}, "Einsum", Einsum);
}

}  // namespace nnefc::runtime::kernels
