#include "runtime/fast/packed_matrix.h"

#include <algorithm>

#include "runtime/fast/dots.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

using dnnl::memory;

namespace {

// Of row-major matrices [rows, terms] with `part`, [terms, outputs]; nothing where oneDNN has none that is
// fast.
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

constexpr int64_t kColumns = 64;  // of a block
constexpr int64_t kRegisters = kColumns / kSumLanes;

// sums += x * block, where the block has a row of kColumns for each term.
[[gnu::always_inline]] inline void AddTerms(const float* x, const float* block, int64_t terms,
                                            LaneSums (&sums)[kRegisters]) {
  LaneSums others[kRegisters] = {};  // chains of additions that do not wait for each other
  const auto add = [&](int64_t k, LaneSums(&to)[kRegisters]) __attribute__((always_inline)) {
    for (int64_t i = 0; i < kRegisters; ++i)
      to[i] += x[k] * *reinterpret_cast<const Lanes*>(block + k * kColumns + i * kSumLanes);
  };
  int64_t k = 0;
  for (; k + 2 <= terms; k += 2) {
    add(k, sums);
    add(k + 1, others);
  }
  if (k < terms) add(k, sums);
  for (int64_t i = 0; i < kRegisters; ++i) sums[i] += others[i];
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

std::optional<RowProduct> RowProduct::Make(const memory::desc& part) {
  const dnnl_memory_desc_t& data = part.data;
  if (TypeOf(part) != DnnType::f32 || data.format_kind != dnnl_blocked || data.ndims != 2 ||
      data.offset0 != 0)
    return std::nullopt;
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  if (blocking.inner_nblks != 2 || blocking.inner_idxs[0] != 0 || blocking.inner_idxs[1] != 1 ||
      blocking.inner_blks[1] != kColumns || blocking.strides[0] != blocking.inner_blks[0] * kColumns)
    return std::nullopt;
  return RowProduct(data.dims[0], data.dims[1], blocking.strides[1]);
}

void RowProduct::RunBlock(int64_t block, const float* x, const float* part, const float* start,
                          float* out) const {
  const int64_t first = block * kColumns, count = std::min(kColumns, outputs_ - first);
  Vectorized([&] {
    LaneSums sums[kRegisters] = {};
    auto* lanes = reinterpret_cast<float*>(sums);
    if (start != nullptr) std::copy_n(start + first, count, lanes);
    AddTerms(x, part + block * stride_, terms_, sums);
    std::copy_n(lanes, count, out + first);
  });
}

void RowProduct::Run(const float* x, const float* part, SumStart start, const float* bias, float* out,
                     bool backward) const {
  const float* from = start == SumStart::kBias ? bias : start == SumStart::kOutput ? out : nullptr;
  const int64_t blocks = (outputs_ + kColumns - 1) / kColumns;
  const int members = static_cast<int>(std::min<int64_t>(CurrentThreads(), blocks));
  // Always the same columns to the same thread, whose cache may hold them.
  RunOnTeam(members, [&](int member) {
    const int64_t begin = blocks * member / members, end = blocks * (member + 1) / members;
    for (int64_t i = 0; i < end - begin; ++i)
      RunBlock(backward ? end - 1 - i : begin + i, x, part, from, out);
  });
}

std::optional<PackedProduct> PackedProduct::Make(const memory::desc& part, int64_t rows, SumStart start) {
  // Multiplications, many in one instruction; of one row, as many as weights that come from a farther cache.
  const int64_t worth_others = (rows == 1 ? 3 : 8) * kParallelGrain;
  const bool is_small = rows * part.dims()[0] * part.dims()[1] < worth_others;
  const int threads = is_small ? 1 : CurrentThreads();
  if (rows == 1) {
    if (const std::optional<RowProduct> row = RowProduct::Make(part))
      return PackedProduct(*row, start, threads);
  }
  const ThreadScope scope(threads);
  const auto description = Describe(part, rows, start);
  if (!description) return std::nullopt;
  return PackedProduct(*description, start, threads);
}

void PackedProduct::Call::Bind(int argument, const memory::desc& desc, const void* data) {
  // oneDNN takes inputs as mutable pointers and does not write to them.
  void* handle = const_cast<void*>(data);
  const auto [found, is_new] = memories_.try_emplace(argument);
  if (is_new) {
    found->second = memory(desc, DnnEngine(), handle);
  } else if (found->second.get_data_handle() != handle) {
    found->second.set_data_handle(handle);
  }
}

FaultOr<Success> PackedProduct::Call::Run(const void* left, const std::byte* part, const float* bias,
                                          float* out) {
  if (product_.row_) {
    const ThreadScope scope(product_.threads_);
    const auto* weights = reinterpret_cast<const float*>(part);
    product_.row_->Run(static_cast<const float*>(left), weights, product_.start_, bias, out, backward_);
    backward_ = !backward_;
    return Success();
  }
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
