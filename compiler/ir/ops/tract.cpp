// Primitives of tract's registries (stdlib/tract): what no standard operation says.

#include <array>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/opset/equation.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir {

namespace nnef {
namespace {

constexpr std::string_view kReductions[] = {"none", "add", "mul", "min", "max"};

void InferToInteger(InferContext& context) {
  Produce(context, 0, ElementType::kI64, context.input(0).shape);
}

// tract_einsum.labels: one label an axis, and each label one extent.
void InferTractEinsum(InferContext& context) {
  const std::string& text = context.attribute("expr").AsString();
  const std::optional<Equation> equation = ReadEquation(text);
  if (!equation || equation->operands.size() != static_cast<size_t>(context.num_inputs())) {
    context.Error(kTractEinsum, "{} is `{}`; expected labels for {} tensors", Describe(context, "expr"),
                  text.substr(0, 60), context.num_inputs());
    return;
  }
  std::array<std::optional<Dim>, 128> extents;
  for (int32_t i = 0; i < context.num_inputs(); ++i) {
    const std::string& labels = equation->operands[static_cast<size_t>(i)];
    const PartialShape& shape = context.input(i).shape;
    if (!shape.rank_known()) return Produce(context, 0, context.input(0).type, PartialShape());
    if (shape.rank() != static_cast<int64_t>(labels.size())) {
      context.Error(kTractEinsum, "{} has rank {}; expected {} by `{}`",
                    Describe(context, 0, static_cast<size_t>(i)), shape.rank(), labels.size(), labels);
      return;
    }
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      std::optional<Dim>& extent = extents[static_cast<size_t>(labels[axis])];
      const Dim seen = shape[static_cast<int64_t>(axis)];
      const std::optional<Dim> merged = extent ? Merge(*extent, seen) : seen;
      if (!merged) {
        context.Error(kTractEinsum, "the label `{}` of {} has two extents", labels[axis],
                      Describe(context, "expr"));
        return;
      }
      extent = *merged;
    }
  }
  llvm::SmallVector<Dim, 4> dims;
  for (char label : equation->result) {
    if (!extents[static_cast<size_t>(label)]) {
      context.Error(kTractEinsum, "the result of {} has the label `{}`, which no tensor has",
                    Describe(context, "expr"), label);
      return;
    }
    dims.push_back(*extents[static_cast<size_t>(label)]);
  }
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_gather.shape: as many elements along the other axes.
void InferGatherElements(InferContext& context) {
  const PartialShape &input = context.input(0).shape, &indices = context.input(1).shape;
  const int64_t axis = context.attribute("axis").AsInt();
  if (!input.rank_known() || !indices.rank_known())
    return Produce(context, 0, context.input(0).type, indices);
  if (!CheckAxis(context, "axis", axis, input.rank())) return;
  bool fits = indices.rank() == input.rank();
  for (int64_t i = 0; fits && i < input.rank(); ++i) fits = i == axis || input[i].Compatible(indices[i]);
  if (!fits) {
    context.Error(kTractGather, "{} has shape {}; expected that of {}, {}, but along axis {}",
                  Describe(context, 1), ToString(indices), Describe(context, 0), ToString(input), axis);
    return;
  }
  Produce(context, 0, context.input(0).type, indices);
}

// tract_gather.shape: as many updates as places.
void InferScatterElements(InferContext& context) {
  const PartialShape &input = context.input(0).shape, &indices = context.input(1).shape;
  const PartialShape& updates = context.input(2).shape;
  if (input.rank_known() && !CheckAxis(context, "axis", context.attribute("axis").AsInt(), input.rank()))
    return;
  if (!CheckChoice(context, kTractReduction, "reduction", kReductions)) return;
  if (!Merge(indices, updates) ||
      (input.rank_known() && indices.rank_known() && input.rank() != indices.rank())) {
    context.Error(kTractGather, "{} has shape {} and {} has shape {}; expected one shape, of the rank of {}",
                  Describe(context, 1), ToString(indices), Describe(context, 2), ToString(updates),
                  Describe(context, 0));
    return;
  }
  ProduceLikeInput(context);
}

void InferProductReduce(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (shape.rank_known()) {
    if (!CheckAxes(context, "axes", axes, shape.rank())) return;
    for (int64_t axis : axes) shape.set(axis, Dim(1));
  }
  Produce(context, 0, context.input(0).type, shape);
}

// tract_topk.k: not more than there are.
void InferTractTopK(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt(), k = context.attribute("k").AsInt();
  if (shape.rank_known()) {
    if (!CheckAxis(context, "axis", axis, shape.rank())) return;
    if (k < 1 || k > shape[axis].max) {
      context.Error(kTractTopK, "{} is {}; expected 1 to the extent of axis {} of {}, shape {}",
                    Describe(context, "k"), k, axis, Describe(context, 0), ToString(shape));
      return;
    }
    shape.set(axis, Dim(k));
  }
  Produce(context, 0, context.input(0).type, shape);
  Produce(context, 1, ElementType::kI64, shape);
}

void InferAddedMask(InferContext& context) {
  Produce(context, 0, ElementType::kF32, context.input(0).shape);
}

void InferTractScan(InferContext& context) {
  for (int32_t i = 0; i < context.node().num_outputs(); ++i)
    Produce(context, i, ElementType::kF32, PartialShape());
}

}  // namespace
}  // namespace nnef

void RegisterTract(OpRegistry& registry) {
  nnef::AddRows(registry, {"tract_core_erf", "tract_core_round_even"},
                {.infer = nnef::ProduceLikeInput, .is_elementwise = true});
  nnef::AddRow(registry,
               {.name = "tract_core_to_integer", .infer = nnef::InferToInteger, .is_elementwise = true});
  nnef::AddRow(registry, {.name = "tract_core_einsum", .infer = nnef::InferTractEinsum});
  nnef::AddRow(registry, {.name = "tract_core_gather_elements", .infer = nnef::InferGatherElements});
  nnef::AddRow(registry, {.name = "tract_core_scatter_elements", .infer = nnef::InferScatterElements});
  nnef::AddRow(registry, {.name = "tract_core_product_reduce", .infer = nnef::InferProductReduce});
  nnef::AddRow(registry, {.name = "tract_core_topk", .infer = nnef::InferTractTopK});
  nnef::AddRow(
      registry,
      {.name = "tract_transformers_added_mask", .infer = nnef::InferAddedMask, .is_elementwise = true});
  // Expansion makes a loop of it: no document leaves one in a graph.
  registry.Add({.set = std::string(kNnefSet),
                .name = "tract_core_scan",
                .outputs = {"outputs[]"},
                .infer = nnef::InferTractScan});
}

}  // namespace nnefc::ir
