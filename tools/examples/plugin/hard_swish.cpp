// A plug-in that adds the operation `hard_swish` and its kernel:
//
//   nnefc run net.nnef --extensions hard_swish.so --random-inputs 1

#include <nnefc/extension.h>

#include <algorithm>

namespace {

using nnefc::ElementType;
using nnefc::Success;
using nnefc::runtime::kernels::FaultOr;
using nnefc::runtime::kernels::ReferenceRun;

// The declaration that documents use. A body instead of the `;` would make it a fragment without a kernel.
constexpr char kLibrary[] = R"(version 1.0;
extension KHR_enable_fragment_definitions;

# x * min(max(x + 3, 0), 6) / 6
fragment hard_swish( x: tensor<scalar> ) -> ( y: tensor<scalar> );
)";

// The output has the type and the shape of the input.
void InferHardSwish(nnefc::ir::InferContext& context) {
  context.SetOutput(0, context.input(0).type, context.input(0).shape);
}

FaultOr<Success> HardSwish(const ReferenceRun& run) {
  if (run.input(0).type() != ElementType::kF32)
    return nnefc::runtime::kernels::KernelFault("`hard_swish` computes f32, not {}",
                                                Name(run.input(0).type()));
  const auto* x = run.input(0).data<float>();
  auto* y = run.output().mutable_data<float>();
  for (int64_t i = 0; i < run.output().volume(); ++i)
    y[i] = x[i] * std::min(std::max(x[i] + 3.0F, 0.0F), 6.0F) / 6.0F;
  return Success();
}

}  // namespace

NNEFC_EXTENSION(registrar) {
  registrar.AddLibrary("hard_swish", kLibrary);
  registrar.AddOperation({.set = "nnef", .name = "hard_swish", .infer = InferHardSwish});
  nnefc::AddKernel(registrar, "nnef", "hard_swish", HardSwish);
}
