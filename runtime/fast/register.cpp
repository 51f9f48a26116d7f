// Registration of the fast backend's tables and reorders.

#include "runtime/fast/register.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/conv/subnormal_operands.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/convolution/filter_quantization.h"
#include "runtime/fast/int8/step_times.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast {

namespace {

// Kernels of table lookups and of gathered channels need vector instructions; bf16 images have other layouts.
std::vector<std::string> RequestTransformations(kernels::Precision precision, bool rewrites) {
  std::vector<std::string> names;
  if (precision != kernels::Precision::kExact && (HasVnni() || simd::HasSimd()))
    names.insert(names.end(), {"target.MarkQuantizedProducts", "target.MarkQuantizedValues"});
  if (precision == kernels::Precision::kBf16) names.emplace_back("target.StoreImagesInF32");
  if (!rewrites) return names;
  names.insert(names.end(),
               {"target.ConvertVectorsToMatrices", "target.TransposeLeftOperands", "target.PostponeSqueezes",
                "target.ResampleImages", "target.MultiplyBeforeGathers", "target.RepeatGroupChannels",
                "target.ConvolveSubpixelPhases", "target.TransposePixelRows"});
  if (!simd::HasSimd()) return names;
  if (precision != kernels::Precision::kExact) {
    names.insert(
        names.end(),
        {"target.QuantizeConcatParts", "target.RemoveRepeatedQuantization", "target.InsertLookupTables",
         "target.RemoveQuantizationAfterMoves", "target.QuantizeAfterMaxPool", "target.QuantizeAfterMoves",
         "target.QuantizeChannelsEqually", "target.RoundZeroPoints", "target.UnmarkSlowRegions"});
  }
  // With AVX2 the steps by themselves take less time.
  if (precision != kernels::Precision::kExact && HasVnni() && HasAvx512())
    names.emplace_back("target.ConvolveQuantizedScales");
  if (precision != kernels::Precision::kBf16) names.emplace_back("target.FuseChannelPermutations");
  return names;
}

// Returns the multiply-adds of a convolution, or the elements accessed by another operation.
int64_t WorkOf(const kernels::KernelRequest& request) {
  constexpr int64_t kEnough = int64_t{1} << 30;  // saturation bound; a sum of a few of these does not
                                                 // overflow
  const auto volume = [&](const Shape& shape) {
    return std::min<int64_t>(kEnough, Volume(shape).value_or(kEnough));
  };
  int64_t work = 0;
  for (const kernels::ValueInfo& input : request.inputs) work += volume(input.shape);
  for (const kernels::ValueInfo& output : request.outputs) work += volume(output.shape);
  const std::string& type = request.node->type();
  if (type.find("Convolution") != std::string::npos && request.inputs.size() > 1 &&
      !request.outputs.empty()) {
    const int64_t filter = volume(request.inputs[1].shape);
    const int64_t channels = request.outputs[0].shape.size() > 1 ? request.outputs[0].shape[1] : 1;
    work += volume(request.outputs[0].shape) * (filter / std::max<int64_t>(channels, 1));
  }
  return work;
}

// Kernels keep the thread count for which they are created: one if waking threads takes longer than the work,
// as in most loop bodies.
std::optional<kernels::PreparedKernel> ChooseForThreads(llvm::ArrayRef<kernels::ImplementationTable> tables,
                                                        const kernels::KernelRequest& request) {
  const tensor::ThreadScope scope(WorkOf(request) < tensor::kParallelGrain ? 1 : tensor::CurrentThreads());
  std::optional<kernels::PreparedKernel> prepared = kernels::ChooseImplementation(tables, request);
  if (prepared) conv::FlushSubnormals(request, *prepared);
  return prepared;
}

}  // namespace

void FastTables::Add(std::initializer_list<std::string_view> sets, std::string_view name,
                     llvm::ArrayRef<kernels::ImplementationTable> tables) {
  for (std::string_view set : sets) {
    auto operation = std::make_shared<Operation>();
    operation->set = set;
    operation->name = name;
    operation->tables = tables.vec();
    operation->rows.resize(tables.size());
    operations_.push_back(std::move(operation));
  }
}

FastTables::Operation& FastTables::Find(std::string_view set, std::string_view name) {
  const auto found = llvm::find_if(operations_, [&](const std::shared_ptr<Operation>& operation) {
    return operation->set == set && operation->name == name;
  });
  NNEFC_CHECK(found != operations_.end());
  return **found;
}

void FastTables::Append(std::initializer_list<std::string_view> sets, std::string_view name,
                        llvm::ArrayRef<Rows> appended) {
  for (std::string_view set : sets) {
    Operation& operation = Find(set, name);
    for (const Rows& each : appended) {
      const auto table = llvm::find_if(operation.tables, [&](const kernels::ImplementationTable& candidate) {
        return candidate.type == each.type;
      });
      NNEFC_CHECK(table != operation.tables.end());
      std::vector<kernels::Implementation>& rows =
          operation.rows[static_cast<size_t>(table - operation.tables.begin())];
      rows = table->implementations.vec();
      rows.insert(rows.end(), each.rows.begin(), each.rows.end());
      table->implementations = rows;
    }
  }
}

void FastTables::RegisterIn(kernels::KernelRegistry& registry) const {
  for (const std::shared_ptr<Operation>& operation : operations_) {
    // The factory keeps the tables alive.
    registry.AddTables(kernels::Backend::kFast, {operation->set}, operation->name, operation->tables,
                       [operation](const kernels::KernelRequest& request) {
                         return ChooseForThreads(operation->tables, request);
                       });
  }
}

void RegisterFastKernels(kernels::KernelRegistry& registry, const FastExtension& extension) {
  FastTables tables;
  AddFastConvolution(tables);
  AddFastDeconvolution(tables);
  AddFastPooling(tables);
  AddFastMatMul(tables);
  AddFastElementwise(tables);
  AddFastNormalization(tables);
  memory::AddFastConcat(tables);
  memory::AddFastSplit(tables);
  int8::AddFastQuantization(tables);
  rnn::AddFastRecurrent(tables);
  attention::AddFastAttention(tables);
  memory::AddImageTransposes(tables);
  pointwise::AddImageResampling(tables);
  int8::AddChannelPadding(tables);
  int8::AddNearestPixels(tables);
  int8::AddLinearConcat(tables);
  if (extension.add != nullptr) extension.add(tables);
  tables.RegisterIn(registry);
  registry.AcceptStrides(kernels::Backend::kFast, {"opset13"}, "ScaledDotProductAttention", 3);
  gemm::RegisterCompressedKernels(registry);
  pointwise::RegisterRowReductions(registry);
  pointwise::RegisterRowNormalizations(registry);
  pointwise::RegisterRowSoftmax(registry);
  pointwise::RegisterUnaryKernels(registry);
  registry.SetHooks(
      kernels::Backend::kFast,
      {.request_transformations = RequestTransformations,
       .quantize_filter = int8::QuantizeFilterOf,
       .times = int8::StepTimesOfProcessor,
       .find_fusions = FindFusions,
       .make_reorder = extension.make_reorder != nullptr ? extension.make_reorder : memory::MakeFastReorder,
       .join = memory::JoinBlockedLayouts,
       .part = memory::PartOfBlockedLayout,
       .reshape = int8::ReshapeQuantized,
       .transpose = memory::TransposeToChannelsLast});
}

}  // namespace nnefc::runtime::fast
