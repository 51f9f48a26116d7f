// Shape inference of NNEF's operations on regions of interest.

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// Checks that a list has one positive item for each spatial axis.
bool CheckSpatialList(InferContext& context, const Rule& rule, std::string_view name, int64_t spatial_rank) {
  const Attribute::Integers items = context.attribute(name).AsInts();
  if (items.size() != static_cast<size_t>(spatial_rank)) {
    context.Error(rule, "{} has {} items; expected {}, one for each spatial axis", Describe(context, name),
                  items.size(), spatial_rank);
    return false;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] > 0) continue;
    context.Error(rule, "{} is {}; expected a positive number", Describe(context, name, i), items[i]);
    return false;
  }
  return true;
}

// roi.rois: shape (N, 2 * M); roi.batch-index: shape (N, 1).
std::optional<Dim> NumberOfRois(InferContext& context, int64_t spatial_rank) {
  const PartialShape& rois = context.input(1).shape;
  const PartialShape& batch = context.input(2).shape;
  Dim count;
  if (rois.rank_known()) {
    if (rois.rank() != 2 || !rois[1].Compatible(Dim(2 * spatial_rank))) {
      context.Error(kRoiShape, "{} has shape {}; expected [N,{}]", Describe(context, 1), ToString(rois),
                    2 * spatial_rank);
      return std::nullopt;
    }
    count = rois[0];
  }
  if (!batch.rank_known()) return count;
  const bool column = batch.rank() == 2 && batch[1].Compatible(Dim(1));
  const std::optional<Dim> both = column ? Merge(count, batch[0]) : std::nullopt;
  if (!both) {
    const std::string expected = count.known() ? fmt::format("{}", count.min) : "N";
    context.Error(kRoiBatchIndex, "{} has shape {}; expected [{},1]", Describe(context, 2), ToString(batch),
                  expected);
  }
  return both;
}

// Sets the output to (N, C, p..) with output_size = (p..). Emits roi.*.
void ProduceRois(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  if (input.shape.rank() < 3) {
    context.Error(kRoiInput, "{} has rank {}; expected at least 3", Describe(context, 0), input.shape.rank());
    return;
  }
  const int64_t spatial_rank = input.shape.rank() - 2;
  if (!CheckSpatialList(context, kRoiOutputSize, "output_size", spatial_rank)) return;
  const std::optional<Dim> count = NumberOfRois(context, spatial_rank);
  if (!count) return;
  PartialShape output = input.shape;
  output.set(0, *count);
  const Attribute::Integers size = context.attribute("output_size").AsInts();
  for (int64_t i = 0; i < spatial_rank; ++i) output.set(2 + i, Dim(size[static_cast<size_t>(i)]));
  Produce(context, 0, input.type, std::move(output));
}

// Infers `avg_roi_pool`, `max_roi_pool` (R 4.6.1).
void InferRoiPool(InferContext& context) {
  ProduceRois(context);
}

bool CheckMethod(InferContext& context, std::string_view name) {
  return CheckChoice(context, kRoiMethod, name, kSamplingMethods);
}

// Infers `roi_resample` (R 4.6.2).
void InferRoiResample(InferContext& context) {
  if (CheckMethod(context, "method")) ProduceRois(context);
}

void InferRoiAlign(InferContext& context) {
  if (!CheckMethod(context, "resize_method")) return;
  const PartialShape& input = context.input(0).shape;
  if (input.rank_known() && input.rank() >= 2 &&
      !CheckSpatialList(context, kRoiSamplingRate, "sampling_rate", input.rank() - 2)) {
    return;
  }
  ProduceRois(context);
}

}  // namespace

void RegisterRoi(OpRegistry& registry) {
  ops::AddRows(registry, {"avg_roi_pool", "max_roi_pool"},
               {.section = "R 4.6.1", .infer = ops::InferRoiPool});
  ops::AddRow(registry, {.name = "roi_resample", .section = "R 4.6.2", .infer = ops::InferRoiResample});
  ops::AddRows(registry, {"avg_roi_align", "max_roi_align"},
               {.section = "R 4.6.2", .infer = ops::InferRoiAlign});
}

}  // namespace nnefc::ir::ops
