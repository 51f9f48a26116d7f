// Concat by oneDNN's concat primitive.

#include "runtime/fast/memory/concat.h"

#include "runtime/onednn/kernel_builder.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime::onednn {

namespace {

kernels::Reason ConcatApplies(const kernels::KernelRequest& request) {
  if (const kernels::Reason reason = fast::memory::JoinsParts(request); !reason.empty()) return reason;
  return fast::memory::CommonConcatFormat(request.inputs, fast::memory::ConcatAxisOf(request))
             ? kernels::Reason()
             : kernels::Reason("no common layout; the reference kernel is as fast for row-major parts");
}

kernels::KernelOrReason MakeConcat(const kernels::KernelRequest& request) {
  using Role = library::PrimitiveArgument::Role;
  const size_t axis = fast::memory::ConcatAxisOf(request);
  const std::optional<fast::memory::ConcatFormat> format =
      fast::memory::CommonConcatFormat(request.inputs, axis);
  library::PrimitiveRequest wanted{.kind = library::PrimitiveKind::kConcat,
                                   .result = format->Of(request.outputs[0].shape),
                                   .axis = static_cast<int>(axis)};
  for (const kernels::ValueInfo& part : request.inputs) wanted.sources.push_back(format->Of(part.shape));
  const std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(wanted);
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  for (size_t i = 0; i < wanted.sources.size(); ++i)
    builder.AddInput({Role::kSource, static_cast<int>(i)}, i, wanted.sources[i]);
  builder.AddOutput(wanted.result);
  return builder.Finish();
}

constexpr int kConcatCost = 100;
constexpr kernels::Implementation kConcatRows[] = {
    {"onednn", ConcatApplies, kernels::FixedCost<kConcatCost>, MakeConcat}};

}  // namespace

void AddConcatRows(fast::FastTables& tables) {
  tables.Append({"opset1"}, "Concat", {{"f32", kConcatRows}});
}

}  // namespace nnefc::runtime::onednn
