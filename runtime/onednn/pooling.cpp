// MaxPool and AvgPool, and ReduceMean over all pixels of blocked channels,
// which is one.

#include "runtime/kernels/attributes.h"
#include "runtime/kernels/window.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/families.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using dnnl::memory;

struct PoolingDims {
  memory::dims strides, kernel, before, after;
};

std::optional<PreparedKernel> MakePooling(const KernelRequest& request, algorithm algorithm,
                                          const PoolingDims& dims) {
  using dnnl::pooling_forward;
  const pooling_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, DescOf(request.inputs[0]),
                                   AnyDesc(request.outputs[0].shape), dims.strides, dims.kernel, dims.before,
                                   dims.after);
  const pooling_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, primitive.src_desc());
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(pooling_forward(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakePool(const KernelRequest& request) {
  if (!request.posts.empty() || !DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0]))
    return std::nullopt;
  // The positions of maxima are left to the reference kernel.
  if (request.outputs.size() > 1 && !request.node->uses(1).empty()) return std::nullopt;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const bool average = request.node->type() == "AvgPool";
  const bool exclude_pad = BoolOr(*request.node, "exclude-pad", false);
  const Window window = MakeWindow(*request.node, input.drop_front(2), output.drop_front(2),
                                   IntsOr(*request.node, "kernel", input.size() - 2, 1));
  PoolingDims dims;
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    const WindowAxis& axis = window[i];
    // Reached by the last window beyond the input: may be less than the
    // padding asked for, or, where extents are rounded up, more. An average
    // that counts padding does not count what lies beyond it.
    const int64_t after = (axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before;
    if (axis.dilation != 1 || (average && !exclude_pad && after > axis.after)) return std::nullopt;
    dims.strides.push_back(axis.stride);
    dims.kernel.push_back(axis.size);
    dims.before.push_back(axis.before);
    dims.after.push_back(after);
  }
  const algorithm kind = !average      ? algorithm::pooling_max
                         : exclude_pad ? algorithm::pooling_avg_exclude_padding
                                       : algorithm::pooling_avg_include_padding;
  return MakePooling(request, kind, dims);
}

std::optional<PreparedKernel> MakeMeanOfPixels(const KernelRequest& request) {
  if (!request.posts.empty() || request.inputs[1].constant == nullptr) return std::nullopt;
  const ValueInfo& input = request.inputs[0];
  if (!DnnAccepts(input) || !DnnAccepts(request.outputs[0])) return std::nullopt;
  if (input.layout == nullptr) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(input.shape.size());
  if (rank < 3 || rank > 5 || !BoolOr(*request.node, "keep_dims", false)) return std::nullopt;
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  const TensorValue axes = request.inputs[1].constant->Aligned(8);
  for (int64_t i = 0; i < axes.volume(); ++i)
    reduced[static_cast<size_t>(NormalAxis(axes.ElementAsInt(i), rank))] = true;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (reduced[static_cast<size_t>(axis)] != (axis >= 2)) return std::nullopt;
  }
  const memory::dims zeros(static_cast<size_t>(rank) - 2, 0);
  const memory::dims ones(static_cast<size_t>(rank) - 2, 1);
  const memory::dims kernel(input.shape.begin() + 2, input.shape.end());
  return MakePooling(request, algorithm::pooling_avg_exclude_padding,
                     {.strides = ones, .kernel = kernel, .before = zeros, .after = zeros});
}

std::optional<PreparedKernel> MakeReduceMean(const KernelRequest& request) {
  if (std::optional<PreparedKernel> kernel = GuardedDnnFactory<MakeMeanOfPixels>(request)) return kernel;
  return MakeMeanOfRows(request);
}

}  // namespace

void RegisterDnnPooling(KernelRegistry& registry) {
  registry.Add(Backend::kOneDnn, {"opset1", "opset8"}, "MaxPool", GuardedDnnFactory<MakePool>);
  registry.Add(Backend::kOneDnn, {"opset1"}, "AvgPool", GuardedDnnFactory<MakePool>);
  registry.Add(Backend::kOneDnn, {"opset1"}, "ReduceMean", MakeReduceMean);
}

}  // namespace nnefc::runtime
