// f32 attention by blocks of queries with GEMM microkernels. Scores of quantized operands are computed in 8
// bits.

#include "runtime/fast/attention/tiled_attention.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/fast/attention/quantized_scores.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/gemm/attention_microkernel.h"
#include "runtime/fast/simd/gemm/gemm_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::attention {

using simd::kBlockColumns;

namespace {

constexpr int64_t kMaxLeftRows = 196608;    // floats of keys and values: 768 KiB
constexpr int64_t kMaxBlockScores = 65536;  // in floats
constexpr int64_t kMinQueries = 28;         // of a block, if there are as many

// Returns the size of a packed key in floats: with 8-bit values a fourth.
int64_t FloatsOfKey(const AttentionSizes& sizes) {
  return sizes.operands ? tensor::CeilDivide(sizes.width, int64_t{sizeof(float)}) : sizes.width;
}

class TiledAttention final : public kernels::Kernel {
 public:
  explicit TiledAttention(const AttentionSizes& sizes) : sizes_(sizes) {
    if (sizes.operands) quantized_.emplace(*sizes.operands, sizes.width);
  }

  std::string implementation() const override {
    return quantized_ ? "nnefc:int8_attention" : "nnefc:attention";
  }
  size_t scratch_bytes() const {
    return static_cast<size_t>(sizes_.threads * ThreadFloats()) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const kernels::FaultOr<AttentionCall> call = AttentionCall::Of(run, sizes_);
    if (!call) return call.error();
    const tensor::ThreadScope scope(sizes_.threads);
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    std::vector<int64_t> packed(static_cast<size_t>(sizes_.threads), -1);
    tensor::RunTasks(sizes_.batches * sizes_.blocks(), sizes_.threads, [&](int64_t task, int member) {
      const Buffers buffers = BuffersAt(scratch + member * ThreadFloats());
      const int64_t index = task / sizes_.blocks();
      // A thread packs keys and values once for the blocks that it computes one after another.
      if (std::exchange(packed[static_cast<size_t>(member)], index) != index) Pack(*call, index, buffers);
      Block(*call, index, task % sizes_.blocks(), buffers);
    });
    return Success();
  }

 private:
  // Parts of a thread's scratch memory.
  struct Buffers {
    float *keys, *values, *queries, *scores, *mask, *sums, *results;
  };

  static int64_t FloatsOfBytes(int64_t bytes) { return bytes / int64_t{sizeof(float)}; }
  int64_t KeyFloats() const {
    return quantized_ ? FloatsOfBytes(quantized_->KeyBytes(sizes_.keys))
                      : tensor::RoundUp(sizes_.keys, simd::kTileColumns) * sizes_.width;
  }
  int64_t ValueFloats() const { return tensor::RoundUp(sizes_.values, simd::kTileColumns) * sizes_.keys; }
  int64_t QueryFloats() const {
    return quantized_ ? FloatsOfBytes(quantized_->QueryBytes(sizes_.rows))
                      : tensor::RoundUp(sizes_.width, kBlockColumns) * sizes_.rows;
  }
  int64_t ScoreFloats() const { return tensor::RoundUp(sizes_.keys, kBlockColumns) * sizes_.rows; }
  int64_t MaskFloats() const { return tensor::RoundUp(sizes_.keys, kBlockColumns); }
  int64_t SumFloats() const { return tensor::RoundUp(sizes_.rows, kBlockColumns); }
  // Results whose rows do not fill blocks are computed in whole blocks first.
  bool fills_blocks() const { return sizes_.values % kBlockColumns == 0; }
  int64_t ResultFloats() const {
    return fills_blocks() ? 0 : tensor::RoundUp(sizes_.values, kBlockColumns) * sizes_.rows;
  }
  int64_t ThreadFloats() const {
    return KeyFloats() + ValueFloats() + QueryFloats() + ScoreFloats() + MaskFloats() + SumFloats() +
           ResultFloats();
  }
  Buffers BuffersAt(float* memory) const {
    const auto take = [&](int64_t floats) { return std::exchange(memory, memory + floats); };
    return {.keys = take(KeyFloats()),
            .values = take(ValueFloats()),
            .queries = take(QueryFloats()),
            .scores = take(ScoreFloats()),
            .mask = take(MaskFloats()),
            .sums = take(SumFloats()),
            .results = take(ResultFloats())};
  }

  // Packs the keys and values of a batch element.
  void Pack(const AttentionCall& call, int64_t index, const Buffers& buffers) const {
    const simd::StridedRows keys = {call.k.At(call.batch, index), call.k.row_stride, sizes_.keys,
                                    sizes_.width};
    if (quantized_) {
      quantized_->PackKeys(keys, reinterpret_cast<std::byte*>(buffers.keys));
    } else {
      simd::PackKeys(keys, buffers.keys);
    }
    simd::PackValues({call.v.At(call.batch, index), call.v.row_stride, sizes_.keys, sizes_.values},
                     buffers.values);
  }

  // Computes the scores of `rows` queries from `first` with all keys.
  void Score(const AttentionCall& call, int64_t index, int64_t first, int64_t rows, const Buffers& buffers,
             const simd::BlockedMatrix<float>& scores) const {
    const simd::StridedRows queries = {call.q.At(call.batch, index, first), call.q.row_stride, rows,
                                       sizes_.width};
    if (quantized_) {
      auto* packed = reinterpret_cast<std::byte*>(buffers.queries);
      quantized_->PackQueries(queries, packed);
      quantized_->Multiply(packed, rows, reinterpret_cast<const std::byte*>(buffers.keys), sizes_.keys,
                           call.scale, scores);
    } else {
      simd::PackQueries(queries, call.scale, buffers.queries);
      Multiply(buffers.queries, rows, sizes_.width, buffers.keys, sizes_.keys, scores);
    }
  }

  void Block(const AttentionCall& call, int64_t index, int64_t block, const Buffers& buffers) const {
    const int64_t first = block * sizes_.rows;
    const int64_t rows = std::min(sizes_.rows, sizes_.queries - first);
    const simd::BlockedMatrix<float> scores = {buffers.scores, kBlockColumns, rows * kBlockColumns};
    Score(call, index, first, rows, buffers, scores);
    Softmax(call.masks.At(call.batch, index), first, {scores, rows, sizes_.keys, nullptr, 0}, buffers.mask,
            buffers.sums);
    float* results = call.out.At(call.batch, index, first);
    const int64_t blocks = tensor::CeilDivide(sizes_.values, kBlockColumns);
    const simd::BlockedMatrix<float> out =
        fills_blocks() ? simd::BlockedMatrix<float>{results, call.out.row_stride, kBlockColumns}
                       : simd::BlockedMatrix<float>{buffers.results, blocks * kBlockColumns, kBlockColumns};
    Multiply(buffers.scores, rows, sizes_.keys, buffers.values, sizes_.values, out);
    simd::DivideRows(out, rows, blocks, buffers.sums);
    if (fills_blocks()) return;
    for (int64_t row = 0; row < rows; ++row)
      std::copy_n(out.At(row, 0), sizes_.values, results + row * call.out.row_stride);
  }

  // Computes the softmax of queries starting at `first`. `line` is a buffer for a mask row that cannot be
  // read in place.
  static void Softmax(const AttentionMask& mask, int64_t first, simd::AttentionScores scores, float* line,
                      float* sums) {
    scores.mask = mask.Floats(first);
    scores.mask_stride = mask.row_stride();
    if (scores.mask != nullptr || !mask.changes_scores()) return simd::SoftmaxOfScores(scores, sums);
    const int64_t rows = scores.rows;
    scores.rows = 1;
    scores.mask = line;
    for (int64_t row = 0; row < rows; ++row, scores.scores.data += scores.scores.row_stride) {
      std::fill_n(line, scores.keys, 0.0f);
      mask.Apply(first + row, line, scores.keys);
      simd::SoftmaxOfScores(scores, sums + row);
    }
  }

  // out = left * right, with left in column blocks and right packed in tiles.
  static void Multiply(const float* left, int64_t rows, int64_t terms, const float* right, int64_t columns,
                       const simd::BlockedMatrix<float>& out) {
    const int64_t panels = (rows + simd::TileRows() - 1) / simd::TileRows();
    const int64_t blocks = (columns + kBlockColumns - 1) / kBlockColumns;
    // The column tile of the right matrix stays in L1 while all rows use it.
    for (int64_t block = 0; block < blocks; block += simd::BlocksPerTile()) {
      for (int64_t panel = 0; panel < panels; ++panel) {
        const int64_t row = tensor::PartBegin(rows, panels, panel),
                      count = tensor::PartBegin(rows, panels, panel + 1) - row;
        simd::BlockedMatrix<float> place = out;
        place.data = out.At(row, block);
        simd::RunTile(count, std::min(simd::BlocksPerTile(), blocks - block),
                      {.left = left + row * kBlockColumns,
                       .left_stride = rows * kBlockColumns,
                       .terms = terms,
                       .weights = right + block / 2 * terms * simd::kTileColumns + block % 2 * kBlockColumns,
                       .out = place});
      }
    }
  }

  const AttentionSizes sizes_;
  std::optional<QuantizedScores> quantized_;
};

}  // namespace

kernels::Reason TiledAttentionApplies(const AttentionSizes& sizes) {
  if (!simd::HasSimd()) return kNeedsSimd;
  if (sizes.type != memory::StorageType::kF32) return kernels::Reason("AMX multiplies bf16");
  const int64_t elements = FloatsOfKey(sizes) + sizes.values;
  if (sizes.keys > kMaxLeftRows / elements)
    return kernels::Reason("{} keys and values of {} floats exceed a core's cache", sizes.keys, elements);
  return kernels::Reason();
}

kernels::PreparedKernel MakeTiledAttention(const kernels::KernelRequest& request,
                                           const AttentionSizes& given) {
  AttentionSizes sizes = given;
  // Enough blocks for all threads, with scores that stay in a core's cache.
  const int64_t parts = sizes.threads == 1 ? 1 : 4 * sizes.threads;
  const int64_t shared = tensor::CeilDivide(sizes.batches * sizes.queries, parts);
  const int64_t most = std::max(kMinQueries, std::min(kMaxBlockScores / sizes.keys, shared));
  sizes.rows = tensor::CeilDivide(sizes.queries, tensor::CeilDivide(sizes.queries, most));
  auto kernel = std::make_shared<TiledAttention>(sizes);
  kernels::PreparedKernel prepared;
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  prepared.inputs.resize(request.inputs.size());
  for (size_t i = 0; i < 3; ++i) {
    if (tensor::StridesOf(request.inputs[i].layout) != nullptr) prepared.inputs[i] = request.inputs[i].layout;
  }
  prepared.outputs.push_back(request.wanted_output);
  return prepared;
}

}  // namespace nnefc::runtime::fast::attention
