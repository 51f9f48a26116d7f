// f32 ScaledDotProductAttention, with bf16 matmuls if allowed. For each block of queries it computes the
// scores with all keys, the softmax, and the matmul with the values, so that the complete score matrix is
// never stored. runtime/kernels/arithmetic/attention.cpp has the formula and handles all cases declined here.

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "runtime/fast/attention/attention_operands.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/onednn/onednn.h"
#include "runtime/onednn/rows.h"
#include "runtime/tensor/tasks.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {

namespace {

constexpr int64_t kBlockScores = int64_t{1} << 18;  // floats of a score block that stay in a core's cache
constexpr int64_t kMinRows = 16;                    // minimum rows per block if there are more queries

struct ProductShape {
  int64_t rows, terms, columns;
};

// A batched matmul of consecutive matrices on one thread.
class BlockProduct {
 public:
  // Creates a batch of [rows, terms] x [terms, columns], or with transposed right matrices [columns, terms].
  static std::optional<BlockProduct> Make(int64_t group, const ProductShape& shape,
                                          fast::memory::StorageType type, bool transposed) {
    const auto [rows, terms, columns] = shape;
    const int64_t matrix = terms * columns;
    BlockProduct product;
    product.left_ = fast::memory::RowMajorFormat({group, rows, terms}, type);
    product.right_ = transposed
                         ? fast::memory::StridedFormat({group, terms, columns}, {matrix, 1, terms}, type)
                         : fast::memory::RowMajorFormat({group, terms, columns}, type);
    product.out_ = fast::memory::RowMajorFormat({group, rows, columns});
    const tensor::ThreadScope one(1);
    product.primitive_ = CreatePrimitive({.kind = library::PrimitiveKind::kMatmul,
                                          .sources = {product.left_},
                                          .weights = product.right_,
                                          .result = product.out_});
    return product.primitive_ == nullptr ? std::nullopt : std::optional(std::move(product));
  }

  size_t scratch_bytes() const { return primitive_->scratch_bytes(); }

  std::unique_ptr<library::PrimitiveCall> NewCall() const {
    using Role = library::PrimitiveArgument::Role;
    return primitive_->NewCall({{{Role::kSource}, left_},
                                {{Role::kWeights}, right_},
                                {{Role::kResult}, out_},
                                {{Role::kScratch}, {}}});
  }

 private:
  fast::memory::BlockedFormat left_, right_, out_;
  std::shared_ptr<const library::Primitive> primitive_;
};

// The matmuls of a block: scores from queries and keys, results from scores and values.
struct BlockProducts {
  BlockProduct scores, results;

  static std::optional<BlockProducts> Make(const fast::attention::AttentionSizes& sizes, int64_t rows) {
    std::optional<BlockProduct> scores =
        BlockProduct::Make(sizes.group, {rows, sizes.width, sizes.keys}, sizes.type, true);
    std::optional<BlockProduct> results =
        BlockProduct::Make(sizes.group, {rows, sizes.keys, sizes.values}, sizes.type, false);
    if (!scores || !results) return std::nullopt;
    return BlockProducts{std::move(*scores), std::move(*results)};
  }
  size_t scratch_bytes() const { return std::max(scores.scratch_bytes(), results.scratch_bytes()); }
};

// Replaces a row of scores by their exponentials. Returns the reciprocal of their sum.
[[gnu::always_inline]] inline float Exponentials(float* scores, int64_t count) {
  const float largest = fast::pointwise::ReduceRow(scores, count, fast::pointwise::LargestOf<float>());
  for (int64_t i = 0; i < count; ++i) scores[i] = fast::simd::VectorExp(scores[i] - largest);
  return static_cast<float>(1 / fast::pointwise::ReduceRow(scores, count, fast::pointwise::Sum()));
}

// Offsets in a thread's scratch memory: scores and row factors of a block, bf16 operands, and oneDNN's
// scratchpad.
struct BlockMemory {
  size_t factors = 0, left = 0, right = 0, scratch = 0, bytes = 0;

  BlockMemory(const fast::attention::AttentionSizes& sizes, size_t scratch_bytes) {
    const auto place = [&](int64_t elements, size_t size) {
      constexpr size_t kAligned = 64;
      const size_t begin = bytes;
      bytes += (static_cast<size_t>(elements) * size + kAligned - 1) / kAligned * kAligned;
      return begin;
    };
    place(sizes.group * sizes.rows * sizes.keys, sizeof(float));
    factors = place(sizes.group * sizes.rows, sizeof(float));
    if (sizes.type == fast::memory::StorageType::kBf16) {
      left = place(sizes.group * sizes.rows * std::max(sizes.width, sizes.keys), sizeof(uint16_t));
      right = place(sizes.group * sizes.keys * std::max(sizes.width, sizes.values), sizeof(uint16_t));
    }
    scratch = place(static_cast<int64_t>(scratch_bytes), 1);
  }
};

// The matmuls of a thread, reused between runs.
struct BlockCalls {
  std::unique_ptr<library::PrimitiveCall> scores, results;
};

class AttentionKernel final : public kernels::Kernel {
 public:
  AttentionKernel(const fast::attention::AttentionSizes& sizes, const BlockMemory& memory,
                  BlockProducts whole, BlockProducts last)
      : sizes_(sizes), memory_(memory), products_{std::move(whole), std::move(last)} {}

  std::string implementation() const override { return "onednn:attention"; }
  std::unique_ptr<kernels::KernelState> NewState() const override {
    auto state = std::make_unique<State>();
    state->threads.resize(static_cast<size_t>(sizes_.threads));
    for (auto& kinds : state->threads) {
      for (size_t kind : {0U, 1U})
        kinds[kind] = {products_[kind].scores.NewCall(), products_[kind].results.NewCall()};
    }
    return state;
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const kernels::FaultOr<fast::attention::AttentionCall> call =
        fast::attention::AttentionCall::Of(run, sizes_);
    if (!call) return call.error();
    std::unique_ptr<kernels::KernelState> temporary;
    if (run.state == nullptr) temporary = NewState();
    State& state = *static_cast<State*>(run.state == nullptr ? temporary.get() : run.state);
    const tensor::ThreadScope scope(sizes_.threads);
    const int64_t tasks = sizes_.batches / sizes_.group * sizes_.blocks();
    std::atomic<bool> failed = false;
    tensor::RunTasks(tasks, sizes_.threads, [&](int64_t task, int member) {
      std::byte* memory = run.scratch + static_cast<size_t>(member) * memory_.bytes;
      if (!Block(*call, task, state.threads[static_cast<size_t>(member)], memory)) failed = true;
    });
    if (failed) return kernels::KernelFault("oneDNN: a product of matrices fails");
    return Success();
  }

 private:
  struct State final : kernels::KernelState {
    std::vector<std::array<BlockCalls, 2>> threads;  // for full blocks, and for the last one
  };
  // Returns false if a matmul fails.
  bool Block(const fast::attention::AttentionCall& call, int64_t task, std::array<BlockCalls, 2>& calls,
             std::byte* memory) const {
    const int64_t index = task / sizes_.blocks() * sizes_.group, block = task % sizes_.blocks();
    const size_t kind = block + 1 == sizes_.blocks() ? 1 : 0;
    const int64_t first = block * sizes_.rows;
    const int64_t rows = kind == 0 ? sizes_.rows : sizes_.last_rows();
    auto* scores = reinterpret_cast<float*>(memory);
    auto* factors = reinterpret_cast<float*>(memory + memory_.factors);
    const float* q = call.q.At(call.batch, index, first);
    const float* k = call.k.At(call.batch, index);
    const float* v = call.v.At(call.batch, index);
    if (!Multiply(*calls[kind].scores, Left(q, rows * sizes_.width, memory), Right(k, sizes_.width, memory),
                  scores, memory))
      return false;
    for (int64_t i = 0; i < sizes_.group; ++i) {
      const fast::attention::AttentionMask mask = call.masks.At(call.batch, index + i);
      fast::simd::Vectorized([&] {
        for (int64_t row = 0; row < rows; ++row) {
          float* line = scores + (i * rows + row) * sizes_.keys;
          for (int64_t s = 0; s < sizes_.keys; ++s) line[s] *= call.scale;
          mask.Apply(first + row, line, sizes_.keys);
          factors[i * rows + row] = Exponentials(line, sizes_.keys);
        }
      });
    }
    float* out = call.out.At(call.batch, index, first);
    if (!Multiply(*calls[kind].results, Left(scores, rows * sizes_.keys, memory),
                  Right(v, sizes_.values, memory), out, memory))
      return false;
    fast::simd::Vectorized([&] {
      for (int64_t row = 0; row < sizes_.group * rows; ++row) {
        for (int64_t i = 0; i < sizes_.values; ++i) out[row * sizes_.values + i] *= factors[row];
      }
    });
    return true;
  }

  // oneDNN has mutable pointers for inputs but does not write to them.
  bool Multiply(library::PrimitiveCall& call, const void* left, const void* right, float* out,
                std::byte* memory) const {
    return call.Run({const_cast<void*>(left), const_cast<void*>(right), out, memory + memory_.scratch})
        .empty();
  }

  // Returns the operand of a matmul, converted to bf16 if necessary, with `each` elements per batch element
  // of a group.
  const void* Left(const float* factor, int64_t each, std::byte* memory) const {
    return sizes_.type == fast::memory::StorageType::kF32
               ? factor
               : Rounded(factor, sizes_.group * each, memory + memory_.left);
  }
  const void* Right(const float* factor, int64_t columns, std::byte* memory) const {
    if (sizes_.type == fast::memory::StorageType::kF32) return factor;
    return Rounded(factor, sizes_.group * sizes_.keys * columns, memory + memory_.right);
  }
  static const void* Rounded(const float* from, int64_t count, std::byte* to) {
    auto* rounded = reinterpret_cast<uint16_t*>(to);
    fast::simd::Vectorized([=] {
      for (int64_t i = 0; i < count; ++i) rounded[i] = FloatToBFloat(from[i]);
    });
    return rounded;
  }

  const fast::attention::AttentionSizes sizes_;
  const BlockMemory memory_;
  const std::array<BlockProducts, 2> products_;
};

// Returns how many small batch elements a thread processes per oneDNN call: a divisor of their number.
int64_t GroupOf(const kernels::KernelRequest& request, const fast::attention::AttentionSizes& sizes) {
  constexpr int64_t kScores = int64_t{1} << 14;
  const auto batch_of = [](const kernels::ValueInfo& value) {
    return llvm::ArrayRef<int64_t>(value.shape).drop_back(2);
  };
  for (size_t i = 0; i < 3; ++i) {
    if (batch_of(request.inputs[i]) != batch_of(request.outputs[0])) return 1;
  }
  if (sizes.blocks() > 1) return 1;
  const int64_t most = std::min(sizes.batches / sizes.threads, kScores / (sizes.rows * sizes.keys));
  int64_t group = std::max<int64_t>(most, 1);
  while (sizes.batches % group != 0) --group;
  return group;
}

kernels::Reason AttentionApplies(const kernels::KernelRequest& request) {
  for (size_t i = 0; i < 3; ++i) {
    if (tensor::StridesOf(request.inputs[i].layout) != nullptr)
      return kernels::Reason("an operand has strides");
  }
  return fast::attention::AttentionSizesOf(request).reason();
}
kernels::KernelOrReason MakeAttention(const kernels::KernelRequest& request) {
  fast::attention::AttentionSizes sizes = *fast::attention::AttentionSizesOf(request);
  // Enough blocks for all threads, with enough rows for an efficient matmul.
  const int64_t shared = (sizes.batches * sizes.queries + 2 * sizes.threads - 1) / (2 * sizes.threads);
  const int64_t rows = std::max(kMinRows, std::min(kBlockScores / sizes.keys, shared));
  sizes.rows = std::min(rows, sizes.queries);
  sizes.group = GroupOf(request, sizes);
  std::optional<BlockProducts> whole = BlockProducts::Make(sizes, sizes.rows);
  std::optional<BlockProducts> last = BlockProducts::Make(sizes, sizes.last_rows());
  if (!whole || !last) return kNotInOneDnn;
  const BlockMemory memory(sizes, std::max(whole->scratch_bytes(), last->scratch_bytes()));
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<AttentionKernel>(sizes, memory, std::move(*whole), std::move(*last));
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(1);
  prepared.scratch_bytes = static_cast<size_t>(sizes.threads) * memory.bytes;
  return prepared;
}

constexpr int kAttentionCost = 200;
constexpr kernels::Implementation kAttentionRows[] = {
    {"onednn", AttentionApplies, kernels::FixedCost<kAttentionCost>, MakeAttention}};

}  // namespace

void AddAttentionRows(fast::FastTables& tables) {
  tables.Append({"opset13"}, "ScaledDotProductAttention", {{"f32", kAttentionRows}});
}

}  // namespace nnefc::runtime::onednn
