// ConvolutionBackpropData.

#include "runtime/fast/deconvolution.h"

#include "runtime/fast/conv/bf16_deconvolution.h"
#include "runtime/fast/conv/col2im_deconvolution.h"
#include "runtime/fast/conv/winograd/winograd_convolution.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"

namespace nnefc::runtime::fast {

using kernels::Reason;

namespace {

constexpr int kCol2imCost = 50;
constexpr kernels::Implementation kCol2imRow{"col2im", conv::Col2imApplies, kernels::FixedCost<kCol2imCost>,
                                             conv::MakeCol2imDeconvolution};
constexpr kernels::Implementation kFewOutputCol2imRow{"col2im_few_outputs", conv::FewOutputCol2imApplies,
                                                      kernels::FixedCost<kCol2imCost>,
                                                      conv::MakeFewOutputCol2im};
constexpr kernels::Implementation kTransposedWinogradRow{
    "winograd", conv::TransposedWinogradApplies, conv::TransposedWinogradCost, conv::MakeTransposedWinograd};
constexpr kernels::Implementation kF32Deconvolution[] = {kCol2imRow, kFewOutputCol2imRow,
                                                         kTransposedWinogradRow};
constexpr kernels::Implementation kBf16Deconvolution[] = {
    {"bf16_gemm", conv::Bf16DeconvolutionApplies, conv::Bf16DeconvolutionCost, conv::MakeBf16Deconvolution},
    kCol2imRow,
    kFewOutputCol2imRow,
    kTransposedWinogradRow};

Reason DeconvolutionAccepts(const kernels::KernelRequest& request) {
  // The reference kernel handles the padding of an output shape.
  if (request.node->num_inputs() != 2) return Reason("an output shape is an input");
  return memory::AreDenseF32(request) ? Reason() : kNotF32;
}

// Only oneDNN has 8-bit kernels.
Reason ServesInt8(const kernels::KernelRequest& request) {
  if (request.node->num_inputs() != 2) return Reason("an output shape is an input");
  if (!memory::IsDenseF32(request.inputs[0]) || !memory::IsDenseF32(request.outputs[0])) return kNotF32;
  return int8::IsQuantized(request);
}

const kernels::ImplementationTable kDeconvolutionTables[] = {
    {"int8", ServesInt8, {}},
    {"f32", DeconvolutionServesF32, kF32Deconvolution},
    {"bf16", DeconvolutionServesBf16, kBf16Deconvolution}};

}  // namespace

Reason DeconvolutionServesF32(const kernels::KernelRequest& request) {
  return request.precision == kernels::Precision::kBf16 ? Reason("precision bf16")
                                                        : DeconvolutionAccepts(request);
}
Reason DeconvolutionServesBf16(const kernels::KernelRequest& request) {
  return request.precision == kernels::Precision::kBf16 ? DeconvolutionAccepts(request)
                                                        : Reason("precision f32");
}

void AddFastDeconvolution(FastTables& tables) {
  tables.Add({"opset1"}, "ConvolutionBackpropData", kDeconvolutionTables);
}

}  // namespace nnefc::runtime::fast
