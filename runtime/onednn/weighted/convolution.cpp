// Convolution and GroupConvolution by oneDNN's convolution and inner-product primitives, in f32, bf16 and
// int8.

#include "runtime/fast/convolution.h"

#include <utility>

#include "runtime/onednn/rows.h"
#include "runtime/onednn/weighted/inner_product.h"
#include "runtime/onednn/weighted/merged_groups.h"
#include "runtime/onednn/weighted/split_k_matmul.h"

namespace nnefc::runtime::onednn {

using fast::memory::StorageType;
using kernels::Implementation;
using kernels::KernelRequest;
using kernels::Reason;

namespace {

using Role = library::PrimitiveArgument::Role;
using PrimitiveOrNull = std::shared_ptr<const library::Primitive>;

struct ConvolutionShape {
  llvm::ArrayRef<int64_t> input, output;
  Shape filter;
  int64_t groups;
  const fast::SpatialDims* spatial;
  bool bias;
};

// The post-ops and scales of a convolution.
struct ConvolutionResult {
  std::vector<library::PrimitivePostOp> posts = {};
  std::vector<float> scales = {};
  int32_t source_zero = 0;
};

// Null if oneDNN has no such convolution, or only a portable one.
PrimitiveOrNull TryConvolution(const ConvolutionShape& shape, const ConvolutionResult& options,
                               library::PrimitiveAlgorithm algorithm,
                               const fast::memory::BlockedFormat& source,
                               const fast::memory::BlockedFormat& result) {
  constexpr int kChannels = 1 << 1;
  const bool is_coded = source.type == StorageType::kU8;
  const fast::SpatialDims& spatial = *shape.spatial;
  library::PrimitiveRequest request{
      .kind = library::PrimitiveKind::kConvolution,
      .algorithm = algorithm,
      .sources = {source},
      .weights = fast::memory::AnyFormat(shape.filter, is_coded ? StorageType::kS8 : source.type),
      .result = result,
      .strides = spatial.strides,
      .dilations = spatial.dilations,
      .before = spatial.before,
      .after = spatial.after,
      .posts = options.posts,
      .scales = options.scales,
      .scale_axes = kChannels,
      .source_zero = options.source_zero};
  if (shape.bias) request.bias = fast::memory::RowMajorFormat(shape.output[1]);
  return CreatePrimitive(request);
}

// Returns nChw16c for at least 16 channels; otherwise oneDNN chooses.
fast::memory::BlockedFormat BlockedOrAny(llvm::ArrayRef<int64_t> shape) {
  return shape[1] < fast::memory::kChannelBlock ? fast::memory::AnyFormat(shape)
                                                : fast::memory::ChannelBlockedFormat(shape);
}

// Returns true if groups start at block boundaries.
bool FitsBlocks(const ConvolutionShape& shape) {
  if (shape.groups == 1) return true;
  if (shape.groups == shape.input[1] && shape.groups == shape.output[1])
    return shape.groups % fast::memory::kChannelBlock == 0;
  return shape.input[1] / shape.groups % fast::memory::kChannelBlock == 0 &&
         shape.output[1] / shape.groups % fast::memory::kChannelBlock == 0;
}

// The layouts of a oneDNN convolution. kChosen: blocked, or the preferred ones if there is no such kernel.
enum class ConvolutionLayouts : uint8_t { kBlocked, kPreferred, kChosen, kChannelsLast, kBf16 };

// Returns the primitive for these layouts; null if there is none.
PrimitiveOrNull ConvolutionIn(ConvolutionLayouts layouts, const ConvolutionShape& shape,
                              const ConvolutionResult& options) {
  switch (layouts) {
    case ConvolutionLayouts::kBlocked:
      if (!fast::HasAvx512() || !FitsBlocks(shape)) return nullptr;
      return TryConvolution(shape, options, library::PrimitiveAlgorithm::kDirect, BlockedOrAny(shape.input),
                            BlockedOrAny(shape.output));
    case ConvolutionLayouts::kPreferred:
      return TryConvolution(shape, options, library::PrimitiveAlgorithm::kAuto,
                            fast::memory::AnyFormat(shape.input), fast::memory::AnyFormat(shape.output));
    case ConvolutionLayouts::kChosen: {
      PrimitiveOrNull blocked = ConvolutionIn(ConvolutionLayouts::kBlocked, shape, options);
      return blocked != nullptr ? blocked : ConvolutionIn(ConvolutionLayouts::kPreferred, shape, options);
    }
    case ConvolutionLayouts::kChannelsLast:
      return TryConvolution(shape, options, library::PrimitiveAlgorithm::kAuto,
                            fast::memory::ChannelsLastFormat(shape.input, StorageType::kF32),
                            fast::memory::ChannelsLastFormat(shape.output, StorageType::kF32));
    case ConvolutionLayouts::kBf16:  // bf16 kernels require NHWC
      return TryConvolution(shape, options, library::PrimitiveAlgorithm::kAuto,
                            fast::memory::ChannelsLastFormat(shape.input, StorageType::kBf16),
                            fast::memory::ChannelsLastFormat(shape.output, StorageType::kBf16));
  }
  return nullptr;
}

ConvolutionShape ShapeOf(const KernelRequest& request, const fast::SpatialDims& spatial, bool bias) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  return {.input = request.inputs[0].shape,
          .output = request.outputs[0].shape,
          .filter = Shape(filter.begin(), filter.end()),
          .groups = fast::IsGroupedConvolution(request) ? filter[0] : 1,
          .spatial = &spatial,
          .bias = bias};
}

// Merges narrow groups for AMX. Returns the number of merged groups.
int64_t MergeGroups(const KernelRequest& request, ConvolutionShape& shape, StorageType type) {
  const kernels::ValueInfo& filter = request.inputs[1];
  if (shape.groups == 1 || type != StorageType::kBf16 || !fast::HasAmx() || filter.constant == nullptr)
    return 1;
  const int64_t merged = GroupsToMerge(shape.groups, shape.filter[2], shape.filter[1]);
  if (merged == 1) return 1;
  shape.filter = MergedFilter(shape.filter, merged);
  shape.groups /= merged;
  return merged;
}

// Images of a single column, as one-dimensional convolutions are written with channels last. As images of a
// single row, which have the same memory, they are divided into tiles of pixels.
struct ColumnAsRow {
  Shape input, output;
  fast::SpatialDims spatial;
  bool is_row = false;  // the axes are exchanged

  ColumnAsRow(const KernelRequest& given, fast::SpatialDims dims)
      : input(given.inputs[0].shape), output(given.outputs[0].shape), spatial(std::move(dims)) {
    is_row = Applies(given);
    if (!is_row) return;
    for (Shape* shape : {&input, &output}) std::swap((*shape)[2], (*shape)[3]);
    for (std::vector<int64_t>* numbers :
         {&spatial.strides, &spatial.dilations, &spatial.before, &spatial.after})
      std::swap((*numbers)[0], (*numbers)[1]);
  }
  // Replaces the images of a convolution and exchanges the axes of its filter.
  void Replace(ConvolutionShape& shape) const {
    shape.input = input;
    shape.output = output;
    shape.spatial = &spatial;
    if (is_row) std::swap(shape.filter.back(), *(shape.filter.end() - 2));
  }

 private:
  // Excludes operands of all elements and filters that are no constants, whose layouts would have other
  // extents.
  static bool Applies(const KernelRequest& given) {
    const Shape &image = given.inputs[0].shape, &result = given.outputs[0].shape;
    return image.size() == 4 && image[3] == 1 && image[2] > 1 && result[3] == 1 &&
           given.inputs[1].shape.back() == 1 && given.inputs[1].constant != nullptr &&
           llvm::none_of(given.inputs.drop_front(2),
                         [&](const kernels::ValueInfo& operand) { return operand.shape == result; });
  }
};

constexpr Reason kIsGemm("oneDNN only has im2col");

Reason IsUsable(const PrimitiveOrNull& primitive, const OneDnnPostOps& posts) {
  if (primitive == nullptr) return kNotInOneDnn;
  if (!posts.empty() && IsGemm(*primitive)) return Reason("im2col of oneDNN has no fast fused operations");
  return Reason();
}

// A oneDNN kernel of im2col and GEMM, or another one.
enum class GemmUse : uint8_t { kEither, kExcluded, kRequired };

template <ConvolutionLayouts kLayouts, GemmUse kGemm>
kernels::KernelOrReason MakeOneDnnConvolution(const KernelRequest& request) {
  constexpr StorageType kType =
      kLayouts == ConvolutionLayouts::kBf16 ? StorageType::kBf16 : StorageType::kF32;
  const fast::SpatialDims spatial = fast::SpatialDimsOf(request);
  const kernels::OrReason<OneDnnPostOps> posts =
      OneDnnPostOps::Make(request, 1, kType, spatial.all_see_input);
  if (!posts) return posts.reason();
  ConvolutionShape shape = ShapeOf(request, spatial, posts->bias() >= 0);
  const int64_t merged = MergeGroups(request, shape, kType);
  const ColumnAsRow images(request, spatial);
  const bool is_row = kType == StorageType::kBf16 && merged == 1 && images.is_row;
  if (is_row) images.Replace(shape);
  const PrimitiveOrNull primitive = ConvolutionIn(kLayouts, shape, {.posts = posts->OfPrimitive()});
  if (const Reason reason = IsUsable(primitive, *posts); !reason.empty()) return reason;
  const bool is_gemm = IsGemm(*primitive);
  if (is_gemm && kGemm == GemmUse::kExcluded) return kIsGemm;
  if (!is_gemm && kGemm == GemmUse::kRequired) return Reason("oneDNN has a kernel without im2col");
  if (is_gemm && fast::MakesNanOfBorder(spatial, request.inputs[1].constant)) return fast::kNanOfBorder;
  OneDnnKernelBuilder builder(request, primitive);
  if (is_row) {
    builder.AddInputAs(Role::kSource, 0, fast::memory::ChannelsLastFormat(request.inputs[0].shape, kType));
  } else {
    builder.AddInput(Role::kSource, 0);
  }
  if (merged > 1) {
    builder.AddInputIn(Role::kWeights, 1, {.merged_groups = merged});
  } else {
    builder.AddInput(Role::kWeights, 1);
  }
  if (shape.bias) {
    builder.AddReshapedInput({Role::kBias}, static_cast<size_t>(posts->bias()),
                             fast::memory::RowMajorFormat(shape.output[1]));
  }
  posts->AddArguments(builder);
  if (is_row) {
    builder.AddOutputAs(fast::memory::ChannelsLastFormat(request.outputs[0].shape, kType));
  } else {
    builder.AddOutput();
  }
  return builder.Finish();
}

// With AVX-512 all convolutions use nChw16c. oneDNN's own choice (NHWC, since it prefers brgemm kernels on
// recent processors) is not faster, but prevents our algorithms and in-place concatenation, and mixed layouts
// cost reorders.
Reason BlockedApplies(const KernelRequest& request) {
  if (!fast::HasAvx512()) return Reason("needs AVX-512");
  const fast::SpatialDims none;
  return FitsBlocks(ShapeOf(request, none, false)) ? Reason()
                                                   : Reason("groups that do not start at blocks of channels");
}

kernels::Cost ChannelsLastCost(const KernelRequest&) {
  return kernels::Cost::NotByDefault(Reason("other steps have other layouts"));
}

// Returns true if oneDNN 2.6.3 computes some functions wrongly, such as clip of the last four of 12 channels:
// in depthwise kernels of 256-bit vectors.
bool HasWrongTail(const KernelRequest& given) {
  constexpr int64_t kLanes = 8;
  if (!fast::IsGroupedConvolution(given) || fast::HasAvx512() || given.outputs[0].shape[1] % kLanes == 0)
    return false;
  return llvm::any_of(given.posts, [](const kernels::PostOperation& post) {
    const ir::Node& node = *post.node;
    return node.info().function != ir::ElementFunction::kOther && !node.Is(ir::ElementFunction::kAdd) &&
           !node.Is(ir::ElementFunction::kRelu);
  });
}

// int8 convolution with quantized input and filter, i32 accumulators and an f32 epilogue.
kernels::KernelOrReason MakeOneDnnInt8(const KernelRequest& given) {
  const fast::SpatialDims given_spatial = fast::SpatialDimsOf(given);
  const ColumnAsRow images(given, given_spatial);
  const fast::SpatialDims& spatial = images.spatial;
  const kernels::OrReason<fast::int8::Int8Step> step = fast::Int8ConvolutionStepOf(given, given_spatial);
  if (!step) return step.reason();
  const fast::int8::Int8Request& coded = step->coded;
  const std::optional<fast::int8::FoldedRequantization>& folded = step->folded;
  const StorageType type = coded.range ? StorageType::kU8 : fast::memory::MatmulType(given);
  const StorageType operands = coded.range ? StorageType::kF32 : type;
  const kernels::OrReason<OneDnnPostOps> posts =
      folded
          ? OneDnnPostOps::MakeForRequantization(*folded, given.outputs[0].shape.size())
          : OneDnnPostOps::MakeForQuantized(coded.request, 1, operands, coded.range, spatial.all_see_input);
  if (!posts) return posts.reason();
  if (HasWrongTail(given)) return Reason("oneDNN computes the functions of partial blocks wrongly");
  ConvolutionShape shape = ShapeOf(given, spatial, folded && !folded->bias.empty());
  images.Replace(shape);
  const PrimitiveOrNull primitive = TryConvolution(
      shape,
      {.posts = posts->OfPrimitive(),
       .scales = folded ? folded->scales : step->scales,
       .source_zero = step->source->zero},
      library::PrimitiveAlgorithm::kDirect, fast::memory::ChannelsLastFormat(shape.input, StorageType::kU8),
      fast::memory::ChannelsLastFormat(shape.output, type));
  if (const Reason reason = IsUsable(primitive, *posts); !reason.empty()) return reason;
  // One matrix product per group, of few rows.
  if (fast::IsGroupedConvolution(given) && IsGemm(*primitive)) return kIsGemm;
  OneDnnKernelBuilder builder(given, primitive);
  builder.AddQuantizedInput(Role::kSource, 0, *step->source,
                            fast::memory::ChannelsLastFormat(given.inputs[0].shape, StorageType::kU8));
  builder.AddInputIn(
      Role::kWeights, 1,
      {.filter_codes = fast::memory::FilterScales{.scales = given.filter_scales.vec(),
                                                  .mask = fast::IsGroupedConvolution(given) ? 3 : 1}});
  if (shape.bias)
    builder.AddNumbers({Role::kBias}, folded->bias, fast::memory::RowMajorFormat(shape.output[1]));
  posts->AddArguments(builder);
  const fast::memory::BlockedFormat result = fast::memory::ChannelsLastFormat(given.outputs[0].shape, type);
  if (coded.range) {
    const fast::int8::QuantizationRange& range = coded.sum ? coded.sum->range : *coded.range;
    builder.AddQuantizedOutput(range.codes, result);
  } else {
    builder.AddOutputAs(result);
  }
  return builder.Finish();
}

// --- a window that is the whole image -------------------------------------------------

Reason InnerProductApplies(const KernelRequest& request) {
  return fast::ConvolutionInnerProductOf(request).reason();
}
Reason SplitKConvolutionApplies(const KernelRequest& request) {
  const kernels::OrReason<fast::gemm::InnerProduct> shape = fast::ConvolutionInnerProductOf(request);
  return shape ? SplitKApplies(request, *shape) : shape.reason();
}
template <kernels::Cost (*kCost)(const KernelRequest&, const fast::gemm::InnerProduct&)>
kernels::Cost InnerProductCost(const KernelRequest& request) {
  return kCost(request, *fast::ConvolutionInnerProductOf(request));
}
template <kernels::KernelOrReason (*kMake)(const KernelRequest&, const OneDnnPostOps&,
                                           const fast::gemm::InnerProduct&)>
kernels::KernelOrReason MakeAsInnerProduct(const KernelRequest& request) {
  const kernels::OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, 1);
  return posts ? kMake(request, *posts, *fast::ConvolutionInnerProductOf(request)) : posts.reason();
}

// --- tables ---------------------------------------------------------------------------

// Costs relative to our direct convolution with full blocks. bf16 kernels take less than Winograd in f32,
// whose least cost is 40 / (9.3 * 16) = 0.27, unless f32 images are faster for the whole graph
// (target.StoreImagesInF32). The f32 kernels take about 2, and im2col several times as long
// (processor not recorded).
constexpr int kBf16Cost = 25, kConvolutionCost = 200, kIm2colCost = 400;

constexpr Implementation kInt8ConvolutionRows[] = {
    {"onednn_int8", NeedsVnni, kernels::FixedCost<kConvolutionCost>, MakeOneDnnInt8}};
constexpr Implementation kSplitKRow{"split_k_matmul", SplitKConvolutionApplies, InnerProductCost<SplitKCost>,
                                    MakeAsInnerProduct<MakeSplitKMatmul>};
constexpr Implementation kMatmulRow{"onednn_matmul", InnerProductApplies, InnerProductCost<OneDnnMatmulCost>,
                                    MakeAsInnerProduct<MakeOneDnnMatmul>};
constexpr Implementation kInnerProductRow{"onednn_inner_product", InnerProductApplies,
                                          InnerProductCost<OneDnnInnerProductCost>,
                                          MakeAsInnerProduct<MakeOneDnnInnerProduct>};
Reason Bf16Applies(const KernelRequest& request) {
  return request.has_f32_images ? Reason("its images are stored in f32") : Reason();
}

constexpr Implementation kBf16Row{"onednn_bf16", fast::FusedAnd<Bf16Applies>, kernels::FixedCost<kBf16Cost>,
                                  MakeOneDnnConvolution<ConvolutionLayouts::kBf16, GemmUse::kEither>};
constexpr Implementation kBlockedRow{"onednn_blocked", fast::FusedAnd<BlockedApplies>,
                                     kernels::FixedCost<kConvolutionCost>,
                                     MakeOneDnnConvolution<ConvolutionLayouts::kBlocked, GemmUse::kExcluded>};
constexpr Implementation kPreferredRow{
    "onednn_preferred", fast::FusedAnd<kernels::AlwaysApplies>, kernels::FixedCost<kConvolutionCost>,
    MakeOneDnnConvolution<ConvolutionLayouts::kPreferred, GemmUse::kExcluded>};
constexpr Implementation kIm2colRow{"onednn_im2col", fast::FusedAnd<kernels::AlwaysApplies>,
                                    kernels::FixedCost<kIm2colCost>,
                                    MakeOneDnnConvolution<ConvolutionLayouts::kChosen, GemmUse::kRequired>};
constexpr Implementation kChannelsLastRow{
    "onednn_channels_last", fast::FusedAnd<kernels::AlwaysApplies>, ChannelsLastCost,
    MakeOneDnnConvolution<ConvolutionLayouts::kChannelsLast, GemmUse::kExcluded>};

constexpr Implementation kF32ConvolutionRows[] = {kMatmulRow,    kInnerProductRow, kBlockedRow,
                                                  kPreferredRow, kIm2colRow,       kChannelsLastRow};
constexpr Implementation kBf16ConvolutionRows[] = {kSplitKRow, kMatmulRow,      kInnerProductRow,
                                                   kBf16Row,   kBlockedRow,     kPreferredRow,
                                                   kIm2colRow, kChannelsLastRow};
constexpr Implementation kF32GroupRows[] = {kBlockedRow, kPreferredRow, kIm2colRow, kChannelsLastRow};
constexpr Implementation kBf16GroupRows[] = {kBf16Row, kBlockedRow, kPreferredRow, kIm2colRow,
                                             kChannelsLastRow};

}  // namespace

void AddConvolutionRows(fast::FastTables& tables) {
  tables.Append(
      {"opset1"}, "Convolution",
      {{"int8", kInt8ConvolutionRows}, {"f32", kF32ConvolutionRows}, {"bf16", kBf16ConvolutionRows}});
  tables.Append({"opset1"}, "GroupConvolution",
                {{"int8", kInt8ConvolutionRows}, {"f32", kF32GroupRows}, {"bf16", kBf16GroupRows}});
}

}  // namespace nnefc::runtime::onednn
