// The implementation table of BatchNormInference.

#include "runtime/fast/normalization.h"

#include <cmath>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/pointwise/blocked_normalization.h"
#include "runtime/fast/reasons.h"

namespace nnefc::runtime::fast {

using kernels::Reason;

namespace {

// Returns true if all parameters are finite: otherwise the order of operations matters. Row kernels keep
// to the order of the formula.
bool HasFiniteParameters(const kernels::KernelRequest& request) {
  const double epsilon = request.node->Double("epsilon");
  for (size_t input = 1; input < 5; ++input) {
    const TensorValue* value = request.inputs[input].constant;
    if (value == nullptr) return false;
    for (int64_t i = 0; i < value->volume(); ++i) {
      const double x = value->ElementAsDouble(i);
      if (!std::isfinite(x) || (input == 4 && !(x + epsilon > 0))) return false;
    }
  }
  return true;
}

Reason RowBatchNormApplies(const kernels::KernelRequest& request) {
  if (!memory::AreDenseF32(request)) return kNotF32;
  return request.inputs[0].shape.size() < 3 ? Reason("no pixels") : Reason();
}

constexpr int kBlockedBatchNormCost = 50, kRowBatchNormCost = 200;
constexpr kernels::Implementation kBatchNorm[] = {
    {"blocked", BatchNormApplies, kernels::FixedCost<kBlockedBatchNormCost>, pointwise::MakeBlockedBatchNorm},
    {"rows", RowBatchNormApplies, kernels::FixedCost<kRowBatchNormCost>, pointwise::MakeRowBatchNorm}};
const kernels::ImplementationTable kBatchNormTables[] = {{"f32", kernels::AlwaysApplies, kBatchNorm}};

}  // namespace

Reason BatchNormApplies(const kernels::KernelRequest& request) {
  if (!memory::AreDenseF32(request)) return kNotF32;
  if (request.inputs[0].shape.size() < 3) return Reason("no pixels");
  return HasFiniteParameters(request) ? Reason() : Reason("a parameter is not a finite constant");
}

void AddFastNormalization(FastTables& tables) {
  tables.Add({"opset5"}, "BatchNormInference", kBatchNormTables);
}

}  // namespace nnefc::runtime::fast
