// Constant matrices in oneDNN's packed layouts.

#include "runtime/onednn/weighted/packed_matrix.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {

using fast::memory::BlockedFormat;
using fast::rnn::SumStart;

namespace {

using Role = library::PrimitiveArgument::Role;

// Creates the matmul of row-major [rows, terms] with `part`, [terms, outputs]; null if oneDNN has only its
// reference or gemm-based implementation.
std::shared_ptr<const library::Primitive> CreateProduct(const BlockedFormat& part, int64_t rows,
                                                        SumStart start) {
  const int64_t terms = part.extents[0], outputs = part.extents[1];
  library::PrimitiveRequest request{.kind = library::PrimitiveKind::kMatmul,
                                    .sources = {fast::memory::RowMajorFormat({rows, terms}, part.type)},
                                    .weights = part,
                                    .result = fast::memory::RowMajorFormat({rows, outputs})};
  if (start == SumStart::kOutput) request.posts = {{.kind = library::PrimitivePostOp::Kind::kSum}};
  if (start == SumStart::kBias) request.bias = fast::memory::RowMajorFormat({1, outputs});
  std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(request);
  return primitive == nullptr || IsGemm(*primitive) ? nullptr : primitive;
}

}  // namespace

std::optional<PackedMatrix> PackedMatrix::Make(const kernels::ValueInfo& value, int64_t rows,
                                               fast::memory::StorageType type) {
  const Shape& shape = value.shape;
  if (value.constant == nullptr || !fast::memory::IsDenseF32(value) || shape.size() < 2 || shape.size() > 3)
    return std::nullopt;
  const std::shared_ptr<const library::Primitive> primitive =
      CreateProduct(fast::memory::AnyFormat({shape[shape.size() - 1], shape[shape.size() - 2]}, type), rows,
                    SumStart::kOutput);
  if (primitive == nullptr) return std::nullopt;
  const BlockedFormat matrix = primitive->format({Role::kWeights});
  if (!matrix.is_blocked()) return std::nullopt;
  const BlockedFormat all = shape.size() == 3 ? fast::memory::StackedFormat(matrix, shape[0]) : matrix;
  return PackedMatrix(
      matrix,
      std::make_shared<fast::memory::BlockedLayout>(
          all, fast::memory::BlockedLayout::Form{
                   .order = fast::memory::SwappedOrder(shape.size(), shape.size() - 2, shape.size() - 1)}));
}

int64_t PackedMatrix::BlockOfOutputs() const {
  int64_t block = 1;
  for (int i = 0; i < matrix_.num_blocks; ++i) {
    const BlockedFormat::Block& each = matrix_.blocks[static_cast<size_t>(i)];
    if (each.axis == 1) block *= each.size;
  }
  return block;
}

std::optional<BlockedFormat> PackedMatrix::Part(int64_t first, int64_t count) const {
  if (first == 0 && count == outputs()) return matrix_;
  const int64_t block = BlockOfOutputs();
  if (first % block != 0 || count % block != 0) return std::nullopt;
  BlockedFormat part = matrix_;
  part.extents[1] = part.padded_extents[1] = count;
  return part;
}

int64_t PackedMatrix::Offset(int64_t index, int64_t first) const {
  const int64_t elements = index * matrix_.padded_extents[0] * matrix_.padded_extents[1] +
                           first / BlockOfOutputs() * matrix_.strides[1];
  return elements * static_cast<int64_t>(fast::memory::BytesOf(matrix_.type));
}

std::optional<PackedMatmul> PackedMatmul::Make(const BlockedFormat& part, int64_t rows, SumStart start) {
  constexpr int64_t kWorthOthers = 8 * tensor::kParallelGrain;  // multiply-adds, with many per instruction
  const bool is_small = rows * part.extents[0] * part.extents[1] < kWorthOthers;
  const int threads = is_small ? 1 : tensor::CurrentThreads();
  const tensor::ThreadScope scope(threads);
  std::shared_ptr<const library::Primitive> primitive = CreateProduct(part, rows, start);
  if (primitive == nullptr) return std::nullopt;
  return PackedMatmul(std::move(primitive), start, threads);
}

PackedMatmul::Call::Call(const PackedMatmul& product, std::byte* scratch)
    : product_(product), scratch_(scratch) {
  const library::Primitive& primitive = *product.primitive_;
  std::vector<library::Primitive::BoundArgument> arguments;
  const auto add = [&](Role role) { arguments.push_back({{role}, primitive.format({role})}); };
  add(Role::kSource);
  add(Role::kWeights);
  add(Role::kResult);
  if (product.start_ == SumStart::kBias) add(Role::kBias);
  if (product.scratch_bytes() > 0) add(Role::kScratch);
  call_ = primitive.NewCall(arguments);
}

kernels::FaultOr<Success> PackedMatmul::Call::Run(const void* left, const std::byte* part, const float* bias,
                                                  float* out) {
  // oneDNN has mutable pointers for inputs but does not write to them.
  llvm::SmallVector<void*, 5> addresses = {const_cast<void*>(left), const_cast<std::byte*>(part), out};
  if (product_.start_ == SumStart::kBias) addresses.push_back(const_cast<float*>(bias));
  if (product_.scratch_bytes() > 0) addresses.push_back(scratch_);
  const tensor::ThreadScope scope(product_.threads_);
  const std::string error = call_->Run(addresses);
  if (!error.empty()) return kernels::KernelFault("oneDNN: {}", error);
  return Success();
}

}  // namespace nnefc::runtime::onednn
