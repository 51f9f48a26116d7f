// bf16 matmul split into chunks of the inputs.

#include "runtime/onednn/weighted/split_k_matmul.h"

#include <algorithm>
#include <cstring>

#include "runtime/fast/simd/loop_math.h"
#include "runtime/onednn/rows.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::onednn {

using kernels::Reason;

namespace {

// Returns the best number of chunks, or 1 for no chunking: measured on a processor with AMX.
int64_t ChunksOf(int64_t inputs) {
  constexpr int64_t kWorthChunks = 1536, kMaxInputs = 1024, kTileInputs = 32;
  if (inputs < kWorthChunks) return 1;
  for (int64_t chunks = 2; inputs / chunks >= kMaxInputs / 2; ++chunks) {
    if (inputs % (chunks * kTileInputs) == 0 && inputs / chunks <= kMaxInputs) return chunks;
  }
  return 1;
}

struct Rows {
  int64_t rows, inputs, chunks;

  int64_t inputs_of_chunk() const { return inputs / chunks; }
};

class SplitKMatmul final : public kernels::Kernel {
 public:
  struct Parts {
    std::vector<std::shared_ptr<const kernels::Kernel>> products;  // one per chunk
    size_t chunk_bytes;                                            // weight bytes
    size_t scratch_offset;                                         // offset after the rows of a chunk
  };
  SplitKMatmul(const Rows& rows, bool from_f32, Parts parts)
      : rows_(rows), from_f32_(from_f32), parts_(std::move(parts)) {}

  std::string implementation() const override { return parts_.products.back()->implementation() + ":chunks"; }

  std::unique_ptr<kernels::KernelState> NewState() const override {
    auto state = std::make_unique<State>();
    for (const auto& product : parts_.products) state->of_chunks.push_back(product->NewState());
    return state;
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    auto* state = static_cast<State*>(run.state);
    auto* chunk_rows = reinterpret_cast<uint16_t*>(run.scratch);
    tensor::TensorView left = run.input(0), weights = run.input(1);
    llvm::SmallVector<const tensor::TensorView*, 4> inputs(run.inputs.begin(), run.inputs.end());
    inputs[0] = &left;
    inputs[1] = &weights;
    left.set_bytes(run.scratch);
    for (size_t chunk = 0; chunk < parts_.products.size(); ++chunk) {
      Gather(run.input(0).bytes(), static_cast<int64_t>(chunk), chunk_rows);
      weights.set_bytes(run.input(1).bytes() + chunk * parts_.chunk_bytes);
      kernels::FaultOr<Success> done =
          parts_.products[chunk]->Run({.inputs = inputs,
                                       .outputs = run.outputs,
                                       .scratch = run.scratch + parts_.scratch_offset,
                                       .state = state == nullptr ? nullptr : state->of_chunks[chunk].get()});
      if (!done) return done;
    }
    return Success();
  }

 private:
  class State final : public kernels::KernelState {
   public:
    std::vector<std::unique_ptr<kernels::KernelState>> of_chunks;
  };

  // Copies the inputs of a chunk as bf16.
  void Gather(const std::byte* from, int64_t chunk, uint16_t* to) const {
    const int64_t count = rows_.inputs_of_chunk();
    tensor::ParallelFor(rows_.rows, count, [&](int64_t row) {
      const int64_t first = row * rows_.inputs + chunk * count;
      uint16_t* out = to + row * count;
      if (!from_f32_) {
        std::memcpy(out, reinterpret_cast<const uint16_t*>(from) + first,
                    static_cast<size_t>(count) * sizeof(uint16_t));
        return;
      }
      const float* numbers = reinterpret_cast<const float*>(from) + first;
      fast::simd::Vectorized([=] {
        for (int64_t i = 0; i < count; ++i) out[i] = FloatToBFloat(numbers[i]);
      });
    });
  }

  Rows rows_;
  bool from_f32_;
  Parts parts_;
};

// The matmul of one chunk, accumulated into the result.
struct KChunk {
  kernels::PreparedKernel prepared;
  fast::memory::BlockedFormat weights;
};
kernels::OrReason<KChunk> MakePart(const kernels::KernelRequest& request, const OneDnnPostOps& posts,
                                   const fast::gemm::InnerProduct& shape, int64_t inputs, bool has_bias) {
  using Role = library::PrimitiveArgument::Role;
  const fast::memory::BlockedFormat bias = fast::memory::RowMajorFormat({1, shape.outputs});
  const fast::memory::BlockedFormat result = fast::memory::RowMajorFormat({shape.rows, shape.outputs});
  library::PrimitiveRequest wanted{
      .kind = library::PrimitiveKind::kMatmul,
      .sources = {fast::memory::RowMajorFormat({shape.rows, inputs}, fast::memory::StorageType::kBf16)},
      .weights = fast::memory::AnyFormat({inputs, shape.outputs}, fast::memory::StorageType::kBf16),
      .result = result,
      .posts = posts.OfPrimitive()};
  if (has_bias) wanted.bias = bias;
  const std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(wanted);
  if (primitive == nullptr || primitive->implementation().find("amx") == std::string::npos)
    return Reason("oneDNN has no AMX kernel for a part");
  const fast::memory::BlockedFormat weights = primitive->format({Role::kWeights});
  if (!weights.is_blocked()) return Reason("oneDNN packs the matrix in an unknown layout");
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddReshapedInput({Role::kSource}, 0, primitive->format({Role::kSource}));
  builder.AddInput(Role::kWeights, 1);
  if (has_bias) builder.AddReshapedInput({Role::kBias}, static_cast<size_t>(posts.bias()), bias);
  posts.AddArguments(result, builder);
  builder.AddReshapedOutput(result);
  return KChunk{builder.Finish(), weights};
}

}  // namespace

Reason SplitKApplies(const kernels::KernelRequest& request, const fast::gemm::InnerProduct& shape) {
  if (!fast::HasAmx()) return Reason("needs AMX");
  if (fast::memory::MatmulType(request) != fast::memory::StorageType::kBf16) return Reason("precision f32");
  return ChunksOf(shape.inputs) == 1 ? Reason("{} inputs do not divide into parts", shape.inputs) : Reason();
}

// Faster than oneDNN's matmul where that is faster than its inner product.
kernels::Cost SplitKCost(const kernels::KernelRequest& request, const fast::gemm::InnerProduct& shape) {
  constexpr double kOfMatmul = 0.7;
  kernels::Cost cost = OneDnnMatmulCost(request, shape);
  cost.time *= kOfMatmul;
  return cost;
}

kernels::KernelOrReason MakeSplitKMatmul(const kernels::KernelRequest& request, const OneDnnPostOps& posts,
                                         const fast::gemm::InnerProduct& shape) {
  constexpr size_t kAligned = 64;
  const int64_t chunks = ChunksOf(shape.inputs);
  // A sum with an operand in the result's memory must come first.
  if (posts.has_sum() && !posts.begins_with_sum()) return Reason("a fused sum after another operation");
  const Rows rows{.rows = shape.rows, .inputs = shape.inputs, .chunks = chunks};
  const int64_t inputs = rows.inputs_of_chunk();
  const OneDnnPostOps nothing;
  kernels::OrReason<KChunk> first =
      MakePart(request, posts.has_sum() ? nothing.AfterSum() : nothing, shape, inputs, false);
  kernels::OrReason<KChunk> middle = MakePart(request, nothing.AfterSum(), shape, inputs, false);
  kernels::OrReason<KChunk> last =
      MakePart(request, posts.has_sum() ? posts : posts.AfterSum(), shape, inputs, posts.bias() >= 0);
  for (const kernels::OrReason<KChunk>* part : {&first, &middle, &last}) {
    if (!*part) return part->reason();
  }
  if (first->weights != last->weights || middle->weights != last->weights)
    return Reason("the parts need the matrix in different layouts");
  SplitKMatmul::Parts parts{.products = {first->prepared.kernel},
                            .chunk_bytes = last->weights.byte_size(),
                            .scratch_offset = static_cast<size_t>(shape.rows * inputs) * sizeof(uint16_t)};
  parts.scratch_offset = (parts.scratch_offset + kAligned - 1) / kAligned * kAligned;
  for (int64_t chunk = 2; chunk < chunks; ++chunk) parts.products.push_back(middle->prepared.kernel);
  parts.products.push_back(last->prepared.kernel);
  kernels::PreparedKernel prepared = std::move(last->prepared);
  const bool from_f32 = fast::memory::FormatOf(request.inputs[0]).type == fast::memory::StorageType::kF32;
  if (from_f32) prepared.inputs[0] = nullptr;
  const fast::memory::AxisOrder order =
      shape.inputs_first ? fast::memory::AxisOrder() : fast::memory::AxisOrder({2, 0, 1});
  prepared.inputs[1] = std::make_shared<fast::memory::BlockedLayout>(
      fast::memory::StackedFormat(last->weights, chunks), fast::memory::BlockedLayout::Form{.order = order});
  prepared.scratch_bytes =
      parts.scratch_offset +
      std::max({first->prepared.scratch_bytes, middle->prepared.scratch_bytes, prepared.scratch_bytes});
  prepared.kernel = std::make_shared<SplitKMatmul>(rows, from_f32, std::move(parts));
  return prepared;
}

}  // namespace nnefc::runtime::onednn
