// The implementation tables of Convolution and GroupConvolution.

#include "runtime/fast/convolution.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/conv/bf16_convolution.h"
#include "runtime/fast/conv/depthwise_convolution.h"
#include "runtime/fast/conv/depthwise_rows.h"
#include "runtime/fast/conv/direct_convolution.h"
#include "runtime/fast/conv/few_output_convolution.h"
#include "runtime/fast/conv/grouped_convolution.h"
#include "runtime/fast/conv/im2col_convolution.h"
#include "runtime/fast/conv/winograd/winograd_convolution.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/function_chain.h"
#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/inner_product.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/fast/int8/convolution/mixed_depthwise.h"
#include "runtime/fast/int8/integer_gemm.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast {

using int8::Int8Algorithm;
using kernels::Implementation;
using kernels::KernelOrReason;
using kernels::KernelRequest;
using kernels::OrReason;
using kernels::Reason;

namespace {

// Returns whether the only window along the axis contains each input pixel once.
bool CoversInput(const kernels::WindowAxis& axis) {
  return axis.before == 0 && axis.output == 1 && axis.size == axis.input &&
         (axis.dilation == 1 || axis.size == 1);
}

// Returns whether each window along the axis contains an input pixel.
bool AllWindowsTouchInput(const kernels::WindowAxis& axis) {
  if (axis.before == 0 && axis.after <= 0) return true;
  for (int64_t place = 0; place < axis.output; ++place) {
    if (gemm::ValidTaps(axis, place).count() == 0) return false;
  }
  return true;
}

SpatialDims MakeSpatial(const kernels::Window& window, size_t rank) {
  SpatialDims dims;
  for (size_t i = 3 - rank; i < 3; ++i) {
    const kernels::WindowAxis& axis = window[i];
    dims.strides.push_back(axis.stride);
    dims.dilations.push_back(axis.dilation - 1);
    dims.before.push_back(axis.before);
    // Input after the last window is not read.
    dims.after.push_back((axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before);
    dims.all_see_input &= AllWindowsTouchInput(axis);
  }
  return dims;
}

bool IsFinite(const TensorValue& constant) {
  const TensorValue value = constant.Loaded().Aligned(alignof(float));
  if (value.type() == ElementType::kF32) {
    constexpr uint32_t kExponent = 0x7F800000;  // all bits set only in infinities and NaN
    uint32_t largest = 0;
    simd::Vectorized([&] {
      for (float number : value.elements<float>())
        largest = std::max(largest, std::bit_cast<uint32_t>(number) & kExponent);
    });
    return largest < kExponent;
  }
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (!std::isfinite(value.ElementAsDouble(i))) return false;
  }
  return true;
}

// --- int8 convolutions ----------------------------------------------------------------

template <Int8Algorithm kAlgorithm>
Reason Int8Applies(const KernelRequest& request) {
  return int8::Int8ConvolutionApplies(request, kAlgorithm);
}
template <Int8Algorithm kAlgorithm>
kernels::Cost Int8Cost(const KernelRequest& request) {
  return int8::Int8ConvolutionCost(request, kAlgorithm);
}
template <Int8Algorithm kAlgorithm>
KernelOrReason MakeInt8(const KernelRequest& request) {
  const OrReason<int8::Int8Step> step = Int8ConvolutionStepOf(request, SpatialDimsOf(request));
  return step ? int8::MakeInt8Convolution(request, *step, kAlgorithm) : step.reason();
}

// --- convolutions as matrix multiplications -------------------------------------------

KernelOrReason MakeGemvConvolution(const KernelRequest& request) {
  return MakeGemv(request, *ConvolutionInnerProductOf(request), 1);
}

template <Reason (*kApplies)(const KernelRequest&, const gemm::InnerProduct&)>
Reason AppliesAsInnerProduct(const KernelRequest& request) {
  const OrReason<gemm::InnerProduct> shape = ConvolutionInnerProductOf(request);
  return shape ? kApplies(request, *shape) : shape.reason();
}
template <kernels::Cost (*kCost)(const KernelRequest&, const gemm::InnerProduct&)>
kernels::Cost CostAsInnerProduct(const KernelRequest& request) {
  return kCost(request, *ConvolutionInnerProductOf(request));
}

// Returns the GEMM sizes of a 1x1 convolution with stride 1.
OrReason<gemm::GemmSizes> PointwiseConvolutionSizes(const ir::Node& convolution,
                                                    llvm::ArrayRef<int64_t> input,
                                                    const kernels::ValueInfo& filter,
                                                    llvm::ArrayRef<int64_t> output) {
  const llvm::ArrayRef<int64_t> window = llvm::ArrayRef<int64_t>(filter.shape).drop_front(2);
  if (Volume(window) != 1) return Reason("a filter of {} taps", Volume(window).value_or(0));
  if (filter.constant == nullptr) return kNeedsConstantFilter;
  if (std::min(filter.shape[0], filter.shape[1]) < memory::kChannelBlock)
    return Reason("{} input and {} output channels, fewer than a block", filter.shape[1], filter.shape[0]);
  const SpatialDims spatial = MakeSpatial(
      kernels::MakeWindow(convolution, input.drop_front(2), output.drop_front(2), window), input.size() - 2);
  const auto is = [](int64_t wanted) { return [=](int64_t number) { return number == wanted; }; };
  if (!llvm::all_of(spatial.strides, is(1))) return Reason("a stride");
  if (!llvm::all_of(spatial.before, is(0)) || !llvm::all_of(spatial.after, is(0))) return Reason("a border");
  return gemm::GemmSizes{.images = input[0],
                         .rows = *Volume(input.drop_front(2)),
                         .terms = filter.shape[1],
                         .outputs = filter.shape[0],
                         .is_blocked = true,
                         .inputs_first = false};
}

OrReason<gemm::GemmSizes> PointwiseConvolutionSizes(const KernelRequest& request) {
  return PointwiseConvolutionSizes(*request.node, request.inputs[0].shape, request.inputs[1],
                                   request.outputs[0].shape);
}
Reason PointwiseApplies(const KernelRequest& request) {
  return simd::HasSimd() ? PointwiseConvolutionSizes(request).reason() : kNeedsSimd;
}
KernelOrReason MakePointwiseConvolution(const KernelRequest& request) {
  return gemm::MakeGemm(request, *PointwiseConvolutionSizes(request), {}, request.posts);
}

// --- direct convolution, and algorithms with zeros in the border ----------------------

template <KernelOrReason (*kMake)(const KernelRequest&)>
KernelOrReason MakeWithoutNan(const KernelRequest& request) {
  KernelOrReason kernel = kMake(request);
  if (kernel && MakesNanOfBorder(SpatialDimsOf(request), request.inputs[1].constant)) return kNanOfBorder;
  return kernel;
}

Reason DirectConvolutionApplies(const KernelRequest& request) {
  return conv::DirectApplies(request, IsGroupedConvolution(request));
}
KernelOrReason MakeDirect(const KernelRequest& request) {
  return conv::MakeDirectConvolution(request, IsGroupedConvolution(request));
}

// Costs relative to direct convolution with full blocks. Matrix multiplications take less (inner_product.h).
constexpr int kPointwiseCost = 50, kDepthwiseCost = 50;

// With less than a block of channels, padding enlarges the images, which then may not fit in the second-level
// cache (Emerald Rapids).
kernels::Cost DepthwiseCost(const KernelRequest& request) {
  constexpr int64_t kMaxPixels = 16'384;  // a mebibyte
  const llvm::ArrayRef<int64_t> images = request.inputs[0].shape;
  const int64_t pixels = Volume(images.drop_front(2)).value_or(0);
  if (images[1] < memory::kChannelBlock && pixels > kMaxPixels)
    return kernels::Cost::NotByDefault(
        Reason("less than a block of channels, and {} pixels, more than {}", pixels, kMaxPixels));
  return kernels::FixedCost<kDepthwiseCost>(request);
}

kernels::Cost DepthwiseRowsCost(const KernelRequest& request) {
  constexpr double kOfTiles = 0.8;
  if (conv::HasLargeBorder(request))
    return kernels::Cost::NotByDefault(Reason("a quarter of the taps are border"));
  kernels::Cost cost = DepthwiseCost(request);
  cost.time *= kOfTiles;
  return cost;
}

// With few outputs most of a block is wasted, but im2col of oneDNN is still slower. A filter that is not
// constant is packed in each run.
kernels::Cost DirectCost(const KernelRequest& request) {
  constexpr double kFullBlocks = 1, kPartOfBlock = 3;
  if (request.inputs[1].constant == nullptr) return kernels::Cost::NotByDefault(kNeedsConstantFilter);
  const int64_t outputs = request.outputs[0].shape[1];
  if (outputs >= memory::kChannelBlock) return {kFullBlocks};
  return {kPartOfBlock, Reason("{} output channels, fewer than a block", outputs)};
}

// --- tables ---------------------------------------------------------------------------

template <Int8Algorithm kAlgorithm>
constexpr Implementation Int8Row(std::string_view id) {
  return {id, Int8Applies<kAlgorithm>, Int8Cost<kAlgorithm>, MakeInt8<kAlgorithm>};
}
constexpr Implementation kInt8Convolution[] = {Int8Row<Int8Algorithm::kWinograd>("int8_winograd"),
                                               Int8Row<Int8Algorithm::kFewOutputs>("int8_few_outputs"),
                                               Int8Row<Int8Algorithm::kDot4>("int8_dot4"),
                                               Int8Row<Int8Algorithm::kDot2>("int8_dot2")};
constexpr Implementation kInt8GroupConvolution[] = {
    Int8Row<Int8Algorithm::kDot4Depthwise>("int8_depthwise_dot4"),
    Int8Row<Int8Algorithm::kDepthwise>("int8_depthwise"),
    Int8Row<Int8Algorithm::kGrouped>("int8_grouped"),
    {"mixed_depthwise", int8::MixedDepthwiseRowsApply, int8::MixedDepthwiseRowsCost,
     MakeWithoutNan<int8::MakeMixedDepthwiseRows>}};

constexpr Implementation kMixedGroupConvolution[] = {{"mixed_depthwise", int8::MixedDepthwiseApplies,
                                                      kernels::FixedCost<100>,
                                                      MakeWithoutNan<int8::MakeMixedDepthwise>}};

constexpr Implementation kI32Convolution[] = {
    {"integer", int8::IntegerConvolutionApplies, kernels::FixedCost<100>, int8::MakeIntegerConvolution}};

constexpr Implementation kGemvRow{"gemv", AppliesAsInnerProduct<GemvApplies>, CostAsInnerProduct<GemvCost>,
                                  MakeGemvConvolution};
constexpr Implementation kWinogradRow{"winograd", FusedAnd<conv::WinogradApplies>, conv::WinogradCost,
                                      conv::MakeWinograd};
constexpr Implementation kFewOutputsRow{"few_outputs", FusedAnd<conv::FewOutputsApply>, conv::FewOutputsCost,
                                        MakeWithoutNan<conv::MakeFewOutputConvolution>};
constexpr Implementation kIm2colRow{"im2col", FusedAnd<conv::Im2colApplies>, conv::Im2colCost,
                                    MakeWithoutNan<conv::MakeIm2colConvolution>};
constexpr Implementation kDirectRow{"direct", FusedAnd<DirectConvolutionApplies>, DirectCost, MakeDirect};
constexpr Implementation kPointwiseRow{"pointwise", FusedAnd<PointwiseApplies>,
                                       kernels::FixedCost<kPointwiseCost>, MakePointwiseConvolution};
constexpr Implementation kF32Convolution[] = {kGemvRow,       kPointwiseRow, kWinogradRow,
                                              kFewOutputsRow, kIm2colRow,    kDirectRow};
constexpr Implementation kBf16Row{"bf16_gemm", FusedAnd<conv::Bf16ConvolutionApplies>,
                                  conv::Bf16ConvolutionCost, MakeWithoutNan<conv::MakeBf16Convolution>};
constexpr Implementation kBf16Convolution[] = {kBf16Row,       kPointwiseRow, kWinogradRow,
                                               kFewOutputsRow, kIm2colRow,    kDirectRow};

constexpr Implementation kGroupedRow{"grouped", conv::GroupedApplies, conv::GroupedCost,
                                     conv::MakeGroupedConvolution};
constexpr Implementation kDepthwiseInRows{"depthwise_rows", conv::DepthwiseRowsApply, DepthwiseRowsCost,
                                          MakeWithoutNan<conv::MakeDepthwiseRows>};
constexpr Implementation kDepthwiseRow{"depthwise", conv::DepthwiseApplies, DepthwiseCost,
                                       conv::MakeDepthwise};
constexpr Implementation kF32GroupConvolution[] = {kDepthwiseInRows, kDepthwiseRow, kGroupedRow, kDirectRow};
constexpr Implementation kBf16GroupConvolution[] = {kDepthwiseInRows, kDepthwiseRow, kGroupedRow, kDirectRow};

// Quantized steps may have inputs of other types.
Reason ServesInt8Images(const KernelRequest& request) {
  if (!memory::IsDenseF32(request.inputs[0]) || !memory::IsDenseF32(request.outputs[0])) return kNotF32;
  return int8::IsQuantized(request);
}
const kernels::ImplementationTable kConvolution[] = {{"i32", ServesI32, kI32Convolution},
                                                     {"int8", ServesInt8Images, kInt8Convolution},
                                                     {"f32", ServesF32, kF32Convolution},
                                                     {"bf16", ServesBf16, kBf16Convolution}};
const kernels::ImplementationTable kGroupConvolution[] = {
    {"int8", ServesInt8Images, kInt8GroupConvolution},
    {"mixed", int8::ServesMixedDepthwise, kMixedGroupConvolution},
    {"f32", ServesF32, kF32GroupConvolution},
    {"bf16", ServesBf16, kBf16GroupConvolution}};

}  // namespace

bool IsGroupedConvolution(const KernelRequest& request) {
  return request.inputs[1].shape.size() > request.inputs[0].shape.size();
}

SpatialDims SpatialDimsOf(const KernelRequest& request) {
  return MakeSpatial(gemm::WindowOfConvolution(request), request.inputs[0].shape.size() - 2);
}

bool MakesNanOfBorder(const SpatialDims& spatial, const TensorValue* filter) {
  const auto is_padded = [](int64_t pad) { return pad > 0; };
  if (llvm::none_of(spatial.before, is_padded) && llvm::none_of(spatial.after, is_padded)) return false;
  return filter == nullptr || !IsFinite(*filter);
}

OrReason<int8::Int8Step> Int8ConvolutionStepOf(const KernelRequest& given, const SpatialDims& spatial) {
  int8::Int8Step step(given, 1);
  if (!step.coded.sum) return step;
  if (!step.folded) return Reason("the quantization of the result cannot be folded");
  if (!spatial.all_see_input) return Reason("a sum, and windows inside the border");
  step.folded->sum = int8::FoldSum(given, *step.coded.range, *step.coded.sum);
  if (!step.folded->sum) return Reason("the sum cannot be folded");
  return step;
}

OrReason<gemm::InnerProduct> ConvolutionInnerProductOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (IsGroupedConvolution(request)) return Reason("{} groups", request.inputs[1].shape[0]);
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  const kernels::Window window = gemm::WindowOfConvolution(request);
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    if (!CoversInput(window[i])) return Reason("the window is not the whole image");
  }
  return gemm::InnerProduct{
      .rows = input[0], .inputs = *Volume(input.drop_front(1)), .outputs = request.outputs[0].shape[1]};
}

Reason FusesAsInnerProduct(const KernelRequest& request) {
  if (!ConvolutionInnerProductOf(request)) return Reason();
  gemm::FunctionChain chain;
  const bool fuses = llvm::all_of(request.posts, [&](const kernels::PostOperation& post) {
    return gemm::ClassifyPostOp(request, post, 1, chain) != gemm::PostOpKind::kOther;
  });
  return fuses ? Reason() : kNotFusedByOneDnn;
}

KernelOrReason MakeScaledPointwiseConvolution(const KernelRequest& request) {
  if (request.posts.empty()) return Reason("no convolution follows");
  if (!memory::AreDenseF32(request)) return kNotF32;
  if (request.precision != kernels::Precision::kF32) return Reason("precision exact or bf16");
  const kernels::PostOperation& post = request.posts[0];
  if (post.node->info().products == nullptr || post.chained_input != 0)
    return Reason("no convolution follows");
  const kernels::ValueInfo& filter = request.inputs[static_cast<size_t>(post.first_operand)];
  const size_t numbers = Volume(request.inputs[1].shape) < Volume(request.inputs[0].shape) ? 1 : 0;
  const kernels::ValueInfo& images = request.inputs[1 - numbers];
  const Shape& scale = request.inputs[numbers].shape;
  if (images.shape.size() != request.outputs[0].shape.size() || images.shape[0] != 1)
    return Reason("several images");
  if (gemm::ClassifyOperand(*request.node, scale, images.shape, 1) != gemm::OperandShape::kPerChannel)
    return Reason("the scale is not per channel");
  if (!simd::HasSimd()) return kNeedsSimd;
  const OrReason<gemm::GemmSizes> sizes =
      PointwiseConvolutionSizes(*post.node, images.shape, filter, request.outputs[0].shape);
  if (!sizes) return sizes.reason();
  const gemm::GemmInputs inputs{.left = 1 - numbers,
                                .weights = static_cast<size_t>(post.first_operand),
                                .scale = static_cast<int>(numbers)};
  return gemm::MakeGemm(request, *sizes, inputs, request.posts.drop_front());
}

namespace {

// Runs a kernel with inputs 1 and 2 exchanged.
class SwappedInputs final : public kernels::Kernel {
 public:
  explicit SwappedInputs(std::shared_ptr<const kernels::Kernel> kernel) : kernel_(std::move(kernel)) {}

  std::string implementation() const override { return kernel_->implementation(); }
  std::unique_ptr<kernels::KernelState> NewState() const override { return kernel_->NewState(); }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    llvm::SmallVector<const tensor::TensorView*, 8> inputs(run.inputs.begin(), run.inputs.end());
    std::swap(inputs[1], inputs[2]);
    kernels::KernelRun swapped = run;
    swapped.inputs = inputs;
    return kernel_->Run(swapped);
  }

 private:
  std::shared_ptr<const kernels::Kernel> kernel_;
};

// Returns the quantized values of the zero points of each channel after the subtraction of constants; nothing
// if they are no 8-bit values.
std::optional<std::vector<int32_t>> ZeroPointsOf(const memory::ValueQuantization& codes,
                                                 const TensorValue& subtracted) {
  std::vector<int32_t> zeros;
  zeros.reserve(static_cast<size_t>(subtracted.volume()));
  for (int64_t i = 0; i < subtracted.volume(); ++i) {
    constexpr double kWhole = 1e-3, kMax = 255;
    const double zero = codes.zero + subtracted.ElementAsDouble(i) / static_cast<double>(codes.scale);
    if (!(zero > -kWhole && zero < kMax + kWhole) || std::abs(zero - std::nearbyint(zero)) > kWhole)
      return std::nullopt;
    zeros.push_back(static_cast<int32_t>(std::lround(zero)));
  }
  return zeros;
}

}  // namespace

KernelOrReason MakeZeroPointConvolution(const KernelRequest& given) {
  if (given.posts.empty()) return Reason("no convolution follows");
  const kernels::PostOperation& post = given.posts[0];
  const kernels::ValueInfo& zeros = given.inputs[1];
  if (!post.node->Is(ir::Contraction::kGroupConvolution) || post.chained_input != 0 ||
      post.first_operand != 2 || zeros.constant == nullptr)
    return Reason("no convolution follows");
  // The request without the subtraction: the filter is input 1 again.
  llvm::SmallVector<kernels::ValueInfo, 8> inputs(given.inputs.begin(), given.inputs.end());
  std::swap(inputs[1], inputs[2]);
  KernelRequest request = given;
  request.node = post.node;
  request.posts = given.posts.drop_front();
  request.inputs = inputs;
  if (const Reason reason = int8::IsQuantized(request); !reason.empty()) return reason;
  const bool has_dot4 = Int8Applies<Int8Algorithm::kDot4Depthwise>(request).empty();
  const Int8Algorithm algorithm = has_dot4 ? Int8Algorithm::kDot4Depthwise : Int8Algorithm::kDepthwise;
  if (const Reason reason = int8::Int8ConvolutionApplies(request, algorithm); !reason.empty()) return reason;
  const int64_t channels = inputs[0].shape[1];
  std::optional<std::vector<int32_t>> values =
      ZeroPointsOf(*memory::QuantizationOf(inputs[0]), *zeros.constant);
  if (!values || static_cast<int64_t>(values->size()) != channels) return Reason("no 8-bit zero points");
  OrReason<int8::Int8Step> step = Int8ConvolutionStepOf(request, SpatialDimsOf(request));
  if (!step) return step.reason();
  step->zeros = std::move(*values);
  KernelOrReason prepared = int8::MakeInt8Convolution(request, *step, algorithm);
  if (!prepared) return prepared;
  std::swap(prepared->inputs[1], prepared->inputs[2]);
  prepared->kernel = std::make_shared<SwappedInputs>(std::move(prepared->kernel));
  return prepared;
}

void AddFastConvolution(FastTables& tables) {
  tables.Add({"opset1"}, "Convolution", kConvolution);
  tables.Add({"opset1"}, "GroupConvolution", kGroupConvolution);
}

}  // namespace nnefc::runtime::fast
