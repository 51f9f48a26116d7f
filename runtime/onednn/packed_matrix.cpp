#include "runtime/onednn/packed_matrix.h"

#include <algorithm>

#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

using dnnl::memory;

namespace {

// Describes the matmul of row-major [rows, terms] with `part`, [terms, outputs]; nullopt if oneDNN has only
// its reference or gemm-based implementation.
std::optional<dnnl::matmul::primitive_desc> Describe(const memory::desc& part, int64_t rows, SumStart start) {
  const int64_t terms = part.dims()[0], outputs = part.dims()[1];
  dnnl::primitive_attr attributes = DnnKernelBuilder::Attributes();
  if (start == SumStart::kOutput) {
    dnnl::post_ops posts;
    posts.append_sum();
    attributes.set_post_ops(posts);
  }
  const memory::desc left = PlainDesc({rows, terms}, TypeOf(part));
  const memory::desc out = PlainDesc({rows, outputs});
  const dnnl::matmul::desc desc = start == SumStart::kBias
                                      ? dnnl::matmul::desc(left, part, PlainDesc({1, outputs}), out)
                                      : dnnl::matmul::desc(left, part, out);
  dnnl::matmul::primitive_desc description(desc, attributes, DnnEngine(), true);
  if (!description || IsDnnReference(description.impl_info_str()) || IsDnnGemm(description.impl_info_str()))
    return std::nullopt;
  return description;
}

}  // namespace

std::optional<PackedMatrix> PackedMatrix::Make(const ValueInfo& value, int64_t rows, DnnType type) {
  const Shape& shape = value.shape;
  if (value.constant == nullptr || !DnnAccepts(value) || shape.size() < 2 || shape.size() > 3)
    return std::nullopt;
  const auto description =
      Describe(AnyDesc({shape[shape.size() - 1], shape[shape.size() - 2]}, type), rows, SumStart::kOutput);
  if (!description) return std::nullopt;
  const memory::desc matrix = description->weights_desc();
  if (matrix.data.format_kind != dnnl_blocked) return std::nullopt;
  const memory::desc all = shape.size() == 3 ? StackedDesc(matrix, shape[0]) : matrix;
  return PackedMatrix(
      matrix,
      std::make_shared<DnnLayout>(
          all, DnnLayout::Form{.order = SwappedOrder(shape.size(), shape.size() - 2, shape.size() - 1)}));
}

int64_t PackedMatrix::BlockOfOutputs() const {
  const dnnl_blocking_desc_t& blocking = matrix_.data.format_desc.blocking;
  int64_t block = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    if (blocking.inner_idxs[i] == 1) block *= blocking.inner_blks[i];
  }
  return block;
}

std::optional<memory::desc> PackedMatrix::Part(int64_t first, int64_t count) const {
  if (first == 0 && count == outputs()) return matrix_;
  const int64_t block = BlockOfOutputs();
  if (first % block != 0 || count % block != 0) return std::nullopt;
  memory::desc part = matrix_;
  part.data.dims[1] = part.data.padded_dims[1] = count;
  return part;
}

int64_t PackedMatrix::Offset(int64_t index, int64_t first) const {
  const dnnl_memory_desc_t& data = matrix_.data;
  const int64_t elements = index * data.padded_dims[0] * data.padded_dims[1] +
                           first / BlockOfOutputs() * data.format_desc.blocking.strides[1];
  return elements * static_cast<int64_t>(memory::data_type_size(TypeOf(matrix_)));
}

std::optional<PackedMatmul> PackedMatmul::Make(const memory::desc& part, int64_t rows, SumStart start) {
  constexpr int64_t kWorthOthers = 8 * kParallelGrain;  // multiply-adds, with many per instruction
  const bool is_small = rows * part.dims()[0] * part.dims()[1] < kWorthOthers;
  const int threads = is_small ? 1 : CurrentThreads();
  const ThreadScope scope(threads);
  const auto description = Describe(part, rows, start);
  if (!description) return std::nullopt;
  return PackedMatmul(*description, start, threads);
}

void PackedMatmul::Call::Bind(int argument, const memory::desc& desc, const void* data) {
  // oneDNN has mutable pointers for inputs but does not write to them.
  void* handle = const_cast<void*>(data);
  const auto [found, is_new] = memories_.try_emplace(argument);
  if (is_new) {
    found->second = memory(desc, DnnEngine(), handle);
  } else if (found->second.get_data_handle() != handle) {
    found->second.set_data_handle(handle);
  }
}

FaultOr<Success> PackedMatmul::Call::Run(const void* left, const std::byte* part, const float* bias,
                                         float* out) {
  const dnnl::matmul::primitive_desc& description = product_.description_;
  return GuardedDnnRun(product_.threads_, [&](dnnl::stream& stream) {
    Bind(DNNL_ARG_SRC, description.src_desc(), left);
    Bind(DNNL_ARG_WEIGHTS, description.weights_desc(), part);
    if (product_.start_ == SumStart::kBias) Bind(DNNL_ARG_BIAS, description.bias_desc(), bias);
    Bind(DNNL_ARG_DST, description.dst_desc(), out);
    if (product_.scratch_bytes() > 0) Bind(DNNL_ARG_SCRATCHPAD, description.scratchpad_desc(), scratch_);
    product_.primitive_.execute(stream, memories_);
  });
}

}  // namespace nnefc::runtime
