// Shape inference and operation counts of OpenVINO's ScaledDotProductAttention and Einsum.

#include <array>

#include "compiler/ir/ops/opset/arithmetic/equation.h"
#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// ScaledDotProductAttention-13: query [.., L, E], key [.., S, E], value [.., S, V]
// give [.., L, V]; what is before the last two axes broadcasts, that of a mask [.., L, S] too. A causal
// attention ignores the mask.
void InferAttention(OpContext& op) {
  const ElementType type = op.CommonType(0, 3);
  for (int32_t i = 3; i < op.num_inputs(); ++i) {
    const ElementType given = op.type(i);
    // A mask may be logical. The row refuses other scales than floats.
    if (type == ElementType::kDynamic || given == ElementType::kDynamic || given == type ||
        given == ElementType::kBoolean)
      continue;
    op.Error(kOpsetElementType, "{} has the element type {}; expected {}{}", op.InputName(i), Name(given),
             Name(type), i == 3 ? " or boolean" : "");
    return;
  }
  PartialShape batch{llvm::ArrayRef<Dim>()};
  for (int32_t i = 0; i < 3; ++i) {
    const PartialShape& shape = op.shape(i);
    if (!shape.rank_known()) return op.Set(type, PartialShape());
    const std::optional<PartialShape> merged = BroadcastNumpy(batch, PartialShape(shape.dims().drop_back(2)));
    if (!merged) {
      op.Error(kOpsetBroadcast, "{} has the shape {}, whose batch extents do not broadcast with {}",
               op.InputName(i), ToString(shape), ToString(batch));
      return;
    }
    batch = *merged;
  }
  const auto dim = [&](int32_t input, int64_t from_end) {
    return op.shape(input)[op.shape(input).rank() - from_end];
  };
  if (!dim(0, 1).Compatible(dim(1, 1)) || !dim(1, 2).Compatible(dim(2, 2))) {
    op.Error(kOpsetExtent, "the query {}, the key {} and the value {} do not fit", ToString(op.shape(0)),
             ToString(op.shape(1)), ToString(op.shape(2)));
    return;
  }
  llvm::SmallVector<Dim, 4> dims(batch.dims().begin(), batch.dims().end());
  if (!op.Bool("causal") && op.has_input(3) && op.shape(3).rank_known() && op.shape(3).rank() > 0) {
    llvm::SmallVector<Dim, 4> scores = dims;
    scores.append({dim(0, 2), dim(1, 2)});
    const PartialShape wanted{llvm::ArrayRef<Dim>(scores)};
    const std::optional<PartialShape> stretched = BroadcastNumpy(wanted, op.shape(3));
    // A mask may add batch axes, but no queries or keys.
    const bool fits =
        op.shape(3).rank() >= 2 && stretched && llvm::all_of(std::array{1, 2}, [&](int64_t last) {
          return (*stretched)[stretched->rank() - last].Compatible(wanted[wanted.rank() - last]);
        });
    if (!fits) {
      op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast to {}", op.InputName(3),
               ToString(op.shape(3)), ToString(wanted));
      return;
    }
    const llvm::ArrayRef<Dim> whole = llvm::ArrayRef<Dim>(stretched->dims()).drop_back(2);
    dims.assign(whole.begin(), whole.end());
  }
  dims.append({dim(0, 2), dim(2, 1)});
  op.Set(type, PartialShape(dims));
}

// Einsum-7: each label has one extent; `...` broadcasts.
void InferEinsum(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  const std::optional<Equation> equation = ReadEquation(op.String("equation"));
  if (!equation || equation->operands.size() != static_cast<size_t>(op.num_inputs())) {
    op.Error(kOpsetAttributeValue, "`equation` of `Einsum` is `{}`; expected labels for {} inputs",
             op.String("equation").substr(0, 60), op.num_inputs());
    return;
  }
  PartialShape free{llvm::ArrayRef<Dim>()};
  std::array<std::optional<Dim>, 128> extents;
  for (int32_t i = 0; i < op.num_inputs(); ++i) {
    const std::string& labels = equation->operands[static_cast<size_t>(i)];
    const PartialShape& shape = op.shape(i);
    if (!shape.rank_known()) return op.Set(type, PartialShape());
    const bool has_ellipsis = labels.find('.') != std::string::npos;
    const auto named = static_cast<int64_t>(labels.size()) - (has_ellipsis ? 1 : 0);
    if (!op.CheckRank(i, named, has_ellipsis ? INT64_MAX : named)) return;
    int64_t axis = 0;
    for (char c : labels) {
      if (c == '.') {
        const auto count = static_cast<size_t>(shape.rank() - named);
        const auto merged =
            BroadcastNumpy(free, PartialShape(shape.dims().slice(static_cast<size_t>(axis), count)));
        if (!merged) {
          op.Error(kOpsetBroadcast, "the axes at `...` of {} do not broadcast", op.InputName(i));
          return;
        }
        free = *merged;
        axis += shape.rank() - named;
        continue;
      }
      std::optional<Dim>& extent = extents[static_cast<size_t>(c)];
      // An extent of 1 broadcasts.
      const std::optional<Dim> merged = BroadcastDim(extent.value_or(Dim(1)), shape[axis++]);
      if (!merged) {
        op.Error(kOpsetExtent, "the label `{}` of `Einsum` has two extents", c);
        return;
      }
      extent = *merged;
    }
  }
  llvm::SmallVector<Dim, 4> dims;
  for (char c : equation->result) {
    if (c == '.') {
      dims.append(free.dims().begin(), free.dims().end());
    } else if (extents[static_cast<size_t>(c)]) {
      dims.push_back(*extents[static_cast<size_t>(c)]);
    } else {
      op.Error(kOpsetAttributeValue, "the result of `Einsum` has the label `{}`, which no input has", c);
      return;
    }
  }
  op.Set(type, PartialShape(dims));
}

// Counts the multiply-adds of queries with keys and of scores with values.
double CountAttention(const Node&, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> outputs) {
  const auto keys = static_cast<double>(inputs[1][inputs[1].size() - 2]);
  return (Elements(inputs[0]) + Elements(outputs[0])) * keys;
}

// Counts the multiply-adds over all labels, and over the axes at `...`.
double CountEinsum(const Node& node, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> /*outputs*/) {
  const std::optional<Equation> equation = ReadEquation(node.String("equation"));
  if (!equation || equation->operands.size() != inputs.size()) return 0;
  // The extent of each label, and of each axis at `...` from the last one. An extent of 1 broadcasts.
  std::array<int64_t, 128> extents;
  extents.fill(1);
  llvm::SmallVector<int64_t, 4> free;
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t axis = 0;
    for (char c : equation->operands[i]) {
      if (c != '.') {
        const int64_t extent = inputs[i][axis++];
        if (extent != 1) extents[static_cast<size_t>(c)] = extent;
        continue;
      }
      const size_t count = inputs[i].size() + 1 - equation->operands[i].size();
      if (free.size() < count) free.resize(count, 1);
      for (size_t k = count; k-- > 0; ++axis)
        if (inputs[i][axis] != 1) free[k] = inputs[i][axis];
    }
  }
  double count = 1;
  for (const int64_t extent : extents) count *= static_cast<double>(extent);
  for (const int64_t extent : free) count *= static_cast<double>(extent);
  return count;
}

}  // namespace

std::vector<OpInfo> AttentionRows() {
  return {
      MakeRow({.set = "opset13",
               .name = "ScaledDotProductAttention",
               .inputs = {"query: float 3..", "key: float 3..", "value: float 3..", "attention_mask?",
                          "scale?: float 0..1 one"},
               .attributes = {{"causal", AttributeKind::kBool, false}},
               .infer = Infer<InferAttention>,
               .products = CountAttention}),
      MakeRow({.set = "opset7",
               .name = "Einsum",
               .inputs = {"inputs[]: number"},
               .attributes = {{"equation", AttributeKind::kString}},
               .infer = Infer<InferEinsum>,
               .products = CountEinsum}),
  };
}

}  // namespace nnefc::ir::ops::opset
