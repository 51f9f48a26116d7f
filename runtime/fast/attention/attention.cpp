// f32 ScaledDotProductAttention, with bf16 matmuls if allowed. For each block of queries it computes the
// scores with all keys, the softmax, and the matmul with the values, so that the complete score matrix is
// never stored. runtime/kernels/attention.cpp has the formula and handles all cases declined here.

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_map>

#include "runtime/fast/attention/attention_operands.h"
#include "runtime/fast/attention/tiled_attention.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/unary.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kBlockScores = int64_t{1} << 18;  // floats of a score block that stay in a core's cache
constexpr int64_t kMaxKeys = int64_t{1} << 32;
constexpr int64_t kMinRows = 16;  // minimum rows per block if there are more queries

struct ProductShape {
  int64_t rows, terms, columns;
};

// A batched matmul of consecutive matrices on one thread.
class BlockProduct {
 public:
  // Creates a batch of [rows, terms] x [terms, columns], or with transposed right matrices [columns, terms].
  static std::optional<BlockProduct> Make(int64_t group, const ProductShape& shape, DnnType type,
                                          bool transposed) {
    const auto [rows, terms, columns] = shape;
    const int64_t matrix = terms * columns;
    const dnnl::memory::dims weights =
        transposed ? dnnl::memory::dims{matrix, 1, terms} : dnnl::memory::dims{matrix, columns, 1};
    BlockProduct product;
    product.left_ =
        dnnl::memory::desc({group, rows, terms}, type, dnnl::memory::dims{rows * terms, terms, 1});
    product.right_ = dnnl::memory::desc({group, terms, columns}, type, weights);
    product.out_ = dnnl::memory::desc({group, rows, columns}, DnnType::f32,
                                      dnnl::memory::dims{rows * columns, columns, 1});
    const ThreadScope one(1);
    const dnnl::matmul::desc desc(product.left_, product.right_, product.out_);
    const dnnl::matmul::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
    if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
    product.scratch_ = primitive.scratchpad_desc();
    product.primitive_ = dnnl::matmul(primitive);
    return product;
  }

  size_t scratch_bytes() const { return scratch_.get_size(); }

  using Arguments = std::unordered_map<int, dnnl::memory>;
  Arguments NewArguments() const {
    Arguments made;
    made.emplace(DNNL_ARG_SRC, dnnl::memory(left_, DnnEngine(), nullptr));
    made.emplace(DNNL_ARG_WEIGHTS, dnnl::memory(right_, DnnEngine(), nullptr));
    made.emplace(DNNL_ARG_DST, dnnl::memory(out_, DnnEngine(), nullptr));
    made.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(scratch_, DnnEngine(), nullptr));
    return made;
  }
  // oneDNN has mutable pointers for inputs but does not write to them.
  void Run(Arguments& arguments, const void* left, const void* right, float* out, std::byte* scratch) const {
    thread_local dnnl::stream stream(DnnEngine());
    arguments[DNNL_ARG_SRC].set_data_handle(const_cast<void*>(left));
    arguments[DNNL_ARG_WEIGHTS].set_data_handle(const_cast<void*>(right));
    arguments[DNNL_ARG_DST].set_data_handle(out);
    arguments[DNNL_ARG_SCRATCHPAD].set_data_handle(scratch);
    primitive_.execute(stream, arguments);
    stream.wait();
  }

 private:
  dnnl::memory::desc left_, right_, out_, scratch_;
  dnnl::matmul primitive_;
};

// The matmuls of a block: scores from queries and keys, results from scores and values.
struct BlockProducts {
  BlockProduct scores, results;

  static std::optional<BlockProducts> Make(const AttentionSizes& sizes, int64_t rows) {
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
  const float largest = ReduceRow(scores, count, LargestOf<float>());
  for (int64_t i = 0; i < count; ++i) scores[i] = VectorExp(scores[i] - largest);
  return static_cast<float>(1 / ReduceRow(scores, count, Sum()));
}

// Offsets in a thread's scratch memory: scores and row factors of a block, bf16 operands, and oneDNN's
// scratchpad.
struct BlockMemory {
  size_t factors = 0, left = 0, right = 0, scratch = 0, bytes = 0;

  BlockMemory(const AttentionSizes& sizes, size_t scratch_bytes) {
    const auto place = [&](int64_t elements, size_t size) {
      constexpr size_t kAligned = 64;
      const size_t begin = bytes;
      bytes += (static_cast<size_t>(elements) * size + kAligned - 1) / kAligned * kAligned;
      return begin;
    };
    place(sizes.group * sizes.rows * sizes.keys, sizeof(float));
    factors = place(sizes.group * sizes.rows, sizeof(float));
    if (sizes.type == DnnType::bf16) {
      left = place(sizes.group * sizes.rows * std::max(sizes.width, sizes.keys), sizeof(uint16_t));
      right = place(sizes.group * sizes.keys * std::max(sizes.width, sizes.values), sizeof(uint16_t));
    }
    scratch = place(static_cast<int64_t>(scratch_bytes), 1);
  }
};

// The memory objects of a thread, reused between runs.
struct BlockArguments {
  BlockProduct::Arguments scores, results;
};

class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const AttentionSizes& sizes, const BlockMemory& memory, BlockProducts whole,
                  BlockProducts last)
      : sizes_(sizes), memory_(memory), products_{std::move(whole), std::move(last)} {}

  std::string implementation() const override { return "onednn:attention"; }
  std::unique_ptr<KernelState> NewState() const override {
    auto state = std::make_unique<State>();
    state->threads.resize(static_cast<size_t>(sizes_.threads));
    for (auto& kinds : state->threads) {
      for (size_t kind : {0U, 1U})
        kinds[kind] = {products_[kind].scores.NewArguments(), products_[kind].results.NewArguments()};
    }
    return state;
  }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const FaultOr<AttentionCall> call = AttentionCall::Of(run, sizes_);
    if (!call) return call.error();
    std::unique_ptr<KernelState> temporary;
    if (run.state == nullptr) temporary = NewState();
    State& state = *static_cast<State*>(run.state == nullptr ? temporary.get() : run.state);
    const ThreadScope scope(sizes_.threads);
    const int64_t tasks = sizes_.batches / sizes_.group * sizes_.blocks();
    std::atomic<bool> failed = false;
    RunTasks(tasks, sizes_.threads, [&](int64_t task, int member) {
      std::byte* memory = run.scratch + static_cast<size_t>(member) * memory_.bytes;
      try {
        Block(*call, task, state.threads[static_cast<size_t>(member)], memory);
      } catch (const std::exception&) {
        failed = true;
      }
    });
    if (failed) return KernelFault("oneDNN: a product of matrices fails");
    return Success();
  }

 private:
  struct State final : KernelState {
    std::vector<std::array<BlockArguments, 2>> threads;  // for full blocks, and for the last one
  };
  void Block(const AttentionCall& call, int64_t task, std::array<BlockArguments, 2>& arguments,
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
    products_[kind].scores.Run(arguments[kind].scores, Left(q, rows * sizes_.width, memory),
                               Right(k, sizes_.width, memory), scores, memory + memory_.scratch);
    for (int64_t i = 0; i < sizes_.group; ++i) {
      const AttentionMask mask = call.masks.At(call.batch, index + i);
      Vectorized([&] {
        for (int64_t row = 0; row < rows; ++row) {
          float* line = scores + (i * rows + row) * sizes_.keys;
          for (int64_t s = 0; s < sizes_.keys; ++s) line[s] *= call.scale;
          mask.Apply(first + row, line, sizes_.keys);
          factors[i * rows + row] = Exponentials(line, sizes_.keys);
        }
      });
    }
    float* out = call.out.At(call.batch, index, first);
    products_[kind].results.Run(arguments[kind].results, Left(scores, rows * sizes_.keys, memory),
                                Right(v, sizes_.values, memory), out, memory + memory_.scratch);
    Vectorized([&] {
      for (int64_t row = 0; row < sizes_.group * rows; ++row) {
        for (int64_t i = 0; i < sizes_.values; ++i) out[row * sizes_.values + i] *= factors[row];
      }
    });
  }

  // Returns the operand of a matmul, converted to bf16 if necessary, with `each` elements per batch element
  // of a group.
  const void* Left(const float* factor, int64_t each, std::byte* memory) const {
    return sizes_.type == DnnType::f32 ? factor : Rounded(factor, sizes_.group * each, memory + memory_.left);
  }
  const void* Right(const float* factor, int64_t columns, std::byte* memory) const {
    if (sizes_.type == DnnType::f32) return factor;
    return Rounded(factor, sizes_.group * sizes_.keys * columns, memory + memory_.right);
  }
  static const void* Rounded(const float* from, int64_t count, std::byte* to) {
    auto* rounded = reinterpret_cast<uint16_t*>(to);
    Vectorized([=] {
      for (int64_t i = 0; i < count; ++i) rounded[i] = FloatToBFloat(from[i]);
    });
    return rounded;
  }

  const AttentionSizes sizes_;
  const BlockMemory memory_;
  const std::array<BlockProducts, 2> products_;
};

// Returns how many small batch elements a thread processes per oneDNN call: a divisor of their number.
int64_t GroupOf(const KernelRequest& request, const AttentionSizes& sizes) {
  constexpr int64_t kScores = int64_t{1} << 14;
  const auto batch_of = [](const ValueInfo& value) {
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

// Describes an attention without its division into blocks.
OrReason<AttentionSizes> AttentionSizesOf(const KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  if (request.outputs.size() != 1 || !DnnAccepts(request.outputs[0])) return kNotF32;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const bool is_mask = i == 3 && request.inputs[i].type == ElementType::kBoolean;
    ValueInfo input = request.inputs[i];
    if (i < 3 && StridesOf(input.layout) != nullptr) input.layout = nullptr;
    if (!is_mask && !DnnAccepts(input)) return kNotF32;
  }
  const Shape &q = request.inputs[0].shape, &k = request.inputs[1].shape, &out = request.outputs[0].shape;
  AttentionSizes sizes{.batches = 1,
                       .queries = q[q.size() - 2],
                       .keys = k[k.size() - 2],
                       .width = q.back(),
                       .values = out.back(),
                       .rows = 0,
                       .group = 1,
                       .threads = CurrentThreads(),
                       .causal = request.node->Bool("causal"),
                       .type = HasAmx() ? MatmulType(request) : DnnType::f32};
  for (int64_t extent : llvm::ArrayRef<int64_t>(out).drop_back(2)) sizes.batches *= extent;
  if (sizes.batches == 0 || sizes.queries == 0 || sizes.keys == 0 || sizes.width == 0 || sizes.values == 0)
    return Reason("an empty operand");
  if (sizes.keys > kMaxKeys) return Reason("{} keys, more than {}", sizes.keys, kMaxKeys);
  return sizes;
}

Reason TiledApplies(const KernelRequest& request) {
  const OrReason<AttentionSizes> sizes = AttentionSizesOf(request);
  return sizes ? TiledAttentionApplies(*sizes) : sizes.reason();
}
KernelOrReason MakeTiled(const KernelRequest& request) {
  return MakeTiledAttention(request, *AttentionSizesOf(request));
}

Reason DnnAttentionApplies(const KernelRequest& request) {
  for (size_t i = 0; i < 3; ++i) {
    if (StridesOf(request.inputs[i].layout) != nullptr) return Reason("an operand has strides");
  }
  return AttentionSizesOf(request).reason();
}
KernelOrReason MakeDnnAttention(const KernelRequest& request) {
  AttentionSizes sizes = *AttentionSizesOf(request);
  // Enough blocks for all threads, with enough rows for an efficient matmul.
  const int64_t shared = (sizes.batches * sizes.queries + 2 * sizes.threads - 1) / (2 * sizes.threads);
  const int64_t rows = std::max(kMinRows, std::min(kBlockScores / sizes.keys, shared));
  sizes.rows = std::min(rows, sizes.queries);
  sizes.group = GroupOf(request, sizes);
  std::optional<BlockProducts> whole = BlockProducts::Make(sizes, sizes.rows);
  std::optional<BlockProducts> last = BlockProducts::Make(sizes, sizes.last_rows());
  if (!whole || !last) return kNotInDnn;
  const BlockMemory memory(sizes, std::max(whole->scratch_bytes(), last->scratch_bytes()));
  PreparedKernel prepared;
  prepared.kernel = std::make_shared<AttentionKernel>(sizes, memory, std::move(*whole), std::move(*last));
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(1);
  prepared.scratch_bytes = static_cast<size_t>(sizes.threads) * memory.bytes;
  return prepared;
}

constexpr int kTiledCost = 100, kDnnAttentionCost = 200;
constexpr Implementation kAttention[] = {
    {"tiled", TiledApplies, FixedCost<kTiledCost>, MakeTiled},
    {"onednn", DnnAttentionApplies, FixedCost<kDnnAttentionCost>, MakeDnnAttention}};
const ImplementationTable kAttentionTables[] = {{"f32", AlwaysApplies, kAttention}};

}  // namespace

void RegisterDnnAttention(KernelRegistry& registry) {
  AddDnnTables(registry, {"opset13"}, "ScaledDotProductAttention", kAttentionTables);
  registry.AcceptStrides(Backend::kFast, {"opset13"}, "ScaledDotProductAttention", 3);
}

}  // namespace nnefc::runtime
