#include "runtime/fast/memory/concat.h"

#include "runtime/onednn/kernel_builder.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime {

namespace {

Reason ConcatApplies(const KernelRequest& request) {
  if (const Reason reason = JoinsParts(request); !reason.empty()) return reason;
  return CommonConcatFormat(request.inputs, ConcatAxisOf(request))
             ? Reason()
             : Reason("no common layout; the reference kernel is as fast for row-major parts");
}

KernelOrReason MakeConcat(const KernelRequest& request) {
  using Role = PrimitiveArgument::Role;
  const size_t axis = ConcatAxisOf(request);
  const std::optional<ConcatFormat> format = CommonConcatFormat(request.inputs, axis);
  PrimitiveRequest wanted{.kind = PrimitiveKind::kConcat,
                          .result = format->Of(request.outputs[0].shape),
                          .axis = static_cast<int>(axis)};
  for (const ValueInfo& part : request.inputs) wanted.sources.push_back(format->Of(part.shape));
  const std::shared_ptr<const Primitive> primitive = CreatePrimitive(wanted);
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  for (size_t i = 0; i < wanted.sources.size(); ++i)
    builder.AddInput({Role::kSource, static_cast<int>(i)}, i, wanted.sources[i]);
  builder.AddOutput(wanted.result);
  return builder.Finish();
}

constexpr int kConcatCost = 100;
constexpr Implementation kConcatRows[] = {{"onednn", ConcatApplies, FixedCost<kConcatCost>, MakeConcat}};

}  // namespace

void AddConcatRows(FastTables& tables) {
  tables.Append({"opset1"}, "Concat", {{"f32", kConcatRows}});
}

}  // namespace nnefc::runtime
