#include "runtime/fast/attention_tiles.h"

#include <algorithm>
#include <array>

#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"
#include "runtime/fast/product_tile.h"
#include "runtime/fast/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kMostFactors = 98304;      // floats of keys and values
constexpr int64_t kMostBlockScores = 65536;  // floats
constexpr int64_t kFewestQueries = 64;       // of a block, for which keys and values are laid out

constexpr int64_t kQueriesAtOnce = 4;  // queries whose softmax is made

using Shuffle = int32_t __attribute__((vector_size(64)));

// Of rows of 16 floats in 16 registers, columns.
NNEFC_IN_LANES inline void TransposeLanes(LaneSums (&rows)[kSumLanes]) {
  // Halves of pairs of rows that are 8, 4, 2 and 1 apart change places.
  const auto swap = [&](int64_t distance, const Shuffle& first, const Shuffle& second) NNEFC_IN_LANES {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSumLanes; ++i) {
      if ((i & distance) != 0) continue;
      const LaneSums a = rows[i], b = rows[i + distance];
      rows[i] = __builtin_shuffle(a, b, first);
      rows[i + distance] = __builtin_shuffle(a, b, second);
    }
  };
  swap(8, Shuffle{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
       Shuffle{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31});
  swap(4, Shuffle{0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27},
       Shuffle{4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31});
  swap(2, Shuffle{0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
       Shuffle{2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31});
  swap(1, Shuffle{0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30},
       Shuffle{1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31});
}

// A matrix whose rows lie `stride` apart.
struct Rows {
  const float* data;
  int64_t stride;

  const float* At(int64_t row) const { return data + row * stride; }
};

// Keys [keys, width] as tiles of their transposes: [keys / 32, width, 32], zeros behind the last key.
void LayOutKeys(const Rows& keys, const AttentionSizes& sizes, float* to) {
  RunInLanes([&]() NNEFC_IN_LANES {
    for (int64_t first = 0; first < RoundUp(sizes.keys, kTileColumns); first += kBlockColumns) {
      float* tile = to + first / kTileColumns * sizes.width * kTileColumns + first % kTileColumns;
      for (int64_t column = 0; column < sizes.width; column += kBlockColumns) {
        const int64_t width = std::min(kBlockColumns, sizes.width - column);
        LaneSums rows[kSumLanes];
        for (int64_t i = 0; i < kSumLanes; ++i) {
          rows[i] = LaneSums{};
          if (first + i >= sizes.keys) continue;
          const float* from = keys.At(first + i) + column;
          if (width == kBlockColumns) {
            rows[i] = *reinterpret_cast<const Lanes*>(from);
          } else {
            for (int64_t lane = 0; lane < width; ++lane) rows[i][lane] = from[lane];
          }
        }
        TransposeLanes(rows);
        for (int64_t i = 0; i < width; ++i)
          *reinterpret_cast<Lanes*>(tile + (column + i) * kTileColumns) = rows[i];
      }
    }
  });
}

// Values [keys, values] as tiles of columns: [values / 32, keys, 32].
void LayOutValues(const Rows& values, const AttentionSizes& sizes, float* to) {
  const int64_t columns = sizes.values, count = sizes.keys;
  RunInLanes([=]() NNEFC_IN_LANES {
    for (int64_t first = 0; first < columns; first += kTileColumns) {
      const bool is_whole = columns - first >= kTileColumns;
      float* tile = to + first * count;
      for (int64_t key = 0; key < count; ++key, tile += kTileColumns) {
        const float* from = values.At(key) + first;
        *reinterpret_cast<Lanes*>(tile) = *reinterpret_cast<const Lanes*>(from);
        if (!is_whole) continue;
        *reinterpret_cast<Lanes*>(tile + kBlockColumns) =
            *reinterpret_cast<const Lanes*>(from + kBlockColumns);
      }
    }
  });
}

// Queries [rows, width] times `scale`, in blocks of columns.
void LayOutQueries(const Rows& queries, int64_t rows, int64_t width, float scale, float* to) {
  RunInLanes([=]() NNEFC_IN_LANES {
    for (int64_t row = 0; row < rows; ++row) {
      const float* from = queries.At(row);
      float* block = to + row * kBlockColumns;
      int64_t column = 0;
      for (; column + kBlockColumns <= width; column += kBlockColumns, block += rows * kBlockColumns)
        *reinterpret_cast<Lanes*>(block) = *reinterpret_cast<const Lanes*>(from + column) * scale;
      for (int64_t i = 0; column + i < width; ++i) block[i] = from[column + i] * scale;
    }
  });
}

// Of several queries, whose scores lie behind one another in blocks that are `stride` apart.
struct ScoredQueries {
  float* scores;
  int64_t stride;
  int64_t keys;
  const float* const* masks;  // by query: what is added, or null

  float* At(int64_t block, int64_t query) const { return scores + block * stride + query * kBlockColumns; }
};

// Makes exponentials of the scores of `kCount` queries, after masks are added; `sums` are theirs. What fills
// the last block counts for nothing.
template <int64_t kCount>
NNEFC_IN_LANES inline void SoftmaxOf(const ScoredQueries& queries, float* sums) {
  constexpr float kLog2E = 1.44269504f;
  const int64_t blocks = (queries.keys + kBlockColumns - 1) / kBlockColumns;
  std::array<LaneSums, kCount> largest, totals;
  largest.fill(LaneSums{} - __builtin_inff());
  totals.fill(LaneSums{});
  const auto count_of = [&](int64_t block) NNEFC_IN_LANES {
    return std::min(kBlockColumns, queries.keys - block * kBlockColumns);
  };
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t count = count_of(block);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kCount; ++i) {
      LaneSums x = *reinterpret_cast<const Lanes*>(queries.At(block, i));
      if (queries.masks[i] != nullptr) AddLanes(x, queries.masks[i] + block * kBlockColumns, count);
      KeepLanes(x, count, -__builtin_inff());
      *reinterpret_cast<Lanes*>(queries.At(block, i)) = x;
      LimitFromBelow(x, largest[i]);
      largest[i] = x;
    }
  }
  std::array<float, kCount> most;
#pragma GCC unroll 4
  for (int64_t i = 0; i < kCount; ++i) most[i] = LargestLane(largest[i]);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t count = count_of(block);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kCount; ++i) {
      LaneSums x = *reinterpret_cast<const Lanes*>(queries.At(block, i));
      x = (x - most[i]) * kLog2E;
      PowerOf2Lanes(x);
      KeepLanes(x, count, 0);
      *reinterpret_cast<Lanes*>(queries.At(block, i)) = x;
      totals[i] += x;
    }
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < kCount; ++i) sums[i] = SumOfLanes(totals[i]);
}

class TiledAttention final : public Kernel {
 public:
  explicit TiledAttention(const AttentionSizes& sizes) : sizes_(sizes) {}

  std::string implementation() const override { return "nnefc:attention"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(sizes_.threads * MemberFloats()) * sizeof(float);
  }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const FaultOr<AttentionCall> call = AttentionCall::Of(run, sizes_);
    if (!call) return call.error();
    const ThreadScope scope(sizes_.threads);
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    RunTasks(sizes_.batches * sizes_.blocks(), sizes_.threads, [&](int64_t task, int member) {
      Block(*call, task / sizes_.blocks(), task % sizes_.blocks(), scratch + member * MemberFloats());
    });
    return Success();
  }

 private:
  int64_t KeyFloats() const { return RoundUp(sizes_.keys, kTileColumns) * sizes_.width; }
  int64_t ValueFloats() const { return RoundUp(sizes_.values, kTileColumns) * sizes_.keys; }
  int64_t QueryFloats() const { return RoundUp(sizes_.width, kBlockColumns) * sizes_.rows; }
  int64_t ScoreFloats() const { return RoundUp(sizes_.keys, kBlockColumns) * sizes_.rows; }
  int64_t MaskFloats() const { return kQueriesAtOnce * RoundUp(sizes_.keys, kBlockColumns); }
  int64_t MemberFloats() const {
    const int64_t rows = RoundUp(sizes_.rows, kBlockColumns);
    return KeyFloats() + ValueFloats() + QueryFloats() + ScoreFloats() + MaskFloats() + rows;
  }

  void Block(const AttentionCall& call, int64_t index, int64_t block, float* memory) const {
    float* keys = memory;
    float* values = keys + KeyFloats();
    float* queries = values + ValueFloats();
    float* scores = queries + QueryFloats();
    float* mask = scores + ScoreFloats();
    float* sums = mask + MaskFloats();
    const int64_t first = block * sizes_.rows;
    const int64_t rows = std::min(sizes_.rows, sizes_.queries - first);
    LayOutKeys({call.k.At(call.batch, index), call.k.row_stride}, sizes_, keys);
    LayOutValues({call.v.At(call.batch, index), call.v.row_stride}, sizes_, values);
    LayOutQueries({call.q.At(call.batch, index, first), call.q.row_stride}, rows, sizes_.width, call.scale,
                  queries);
    const BlockedMatrix<float> score_blocks = {scores, kBlockColumns, rows * kBlockColumns};
    Multiply(queries, rows, sizes_.width, keys, sizes_.keys, score_blocks);
    Softmax(call.masks.At(call.batch, index), first, rows, scores, mask, sums);
    const BlockedMatrix<float> out = {call.out.At(call.batch, index, first), call.out.row_stride,
                                      kBlockColumns};
    Multiply(scores, rows, sizes_.keys, values, sizes_.values, out);
    RunInLanes([&]() NNEFC_IN_LANES {
      for (int64_t row = 0; row < rows; ++row) {
        const float factor = 1 / sums[row];
        for (int64_t block = 0; block * kBlockColumns < sizes_.values; ++block)
          *reinterpret_cast<Lanes*>(out.At(row, block)) *= factor;
      }
    });
  }

  // `masks` holds those of so many queries.
  void Softmax(const AttentionMask& mask, int64_t first, int64_t rows, float* scores, float* masks,
               float* sums) const {
    std::array<const float*, kQueriesAtOnce> added = {};
    for (int64_t row = 0; row < rows; row += kQueriesAtOnce) {
      const int64_t count = std::min(kQueriesAtOnce, rows - row);
      for (int64_t i = 0; i < count; ++i) {
        added[i] = mask.Floats(first + row + i);
        if (added[i] != nullptr || !mask.changes_scores()) continue;
        float* own = masks + i * RoundUp(sizes_.keys, kBlockColumns);
        std::fill_n(own, sizes_.keys, 0.0f);
        mask.Apply(first + row + i, own, sizes_.keys);
        added[i] = own;
      }
      const ScoredQueries queries{.scores = scores + row * kBlockColumns,
                                  .stride = rows * kBlockColumns,
                                  .keys = sizes_.keys,
                                  .masks = added.data()};
      RunInLanes([&]() NNEFC_IN_LANES {
        if (count == kQueriesAtOnce) return SoftmaxOf<kQueriesAtOnce>(queries, sums + row);
        for (int64_t i = 0; i < count; ++i) {
          ScoredQueries one = queries;
          one.scores += i * kBlockColumns;
          one.masks += i;
          SoftmaxOf<1>(one, sums + row + i);
        }
      });
    }
  }

  // out = left * right, of which left lies in blocks of columns and right in tiles.
  static void Multiply(const float* left, int64_t rows, int64_t terms, const float* right, int64_t columns,
                       const BlockedMatrix<float>& out) {
    const int64_t panels = (rows + kTileRows - 1) / kTileRows;
    const int64_t blocks = (columns + kBlockColumns - 1) / kBlockColumns;
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t row = PartBegin(rows, panels, panel), count = PartBegin(rows, panels, panel + 1) - row;
      for (int64_t block = 0; block < blocks; block += 2) {
        BlockedMatrix<float> place = out;
        place.data = out.At(row, block);
        RunTile(count, std::min<int64_t>(2, blocks - block), WeightTerms::kOne,
                {.left = left + row * kBlockColumns,
                 .left_stride = rows * kBlockColumns,
                 .terms = terms,
                 .weights = right + block / 2 * terms * kTileColumns,
                 .out = place});
      }
    }
  }

  const AttentionSizes sizes_;
};

}  // namespace

std::optional<PreparedKernel> MakeTiledAttention(const KernelRequest& request, const AttentionSizes& given) {
  if (!HasLanes() || given.type != DnnType::f32) return std::nullopt;
  AttentionSizes sizes = given;
  if (sizes.values % kBlockColumns != 0) return std::nullopt;
  if (sizes.keys > kMostFactors / (sizes.width + sizes.values)) return std::nullopt;
  // Enough blocks for all threads, whose scores stay in a core's cache.
  const int64_t shared = (sizes.batches * sizes.queries + 4 * sizes.threads - 1) / (4 * sizes.threads);
  const int64_t most = std::max(kFewestQueries, std::min(kMostBlockScores / sizes.keys, shared));
  const int64_t blocks = (sizes.queries + most - 1) / most;
  sizes.rows = (sizes.queries + blocks - 1) / blocks;
  auto kernel = std::make_shared<TiledAttention>(sizes);
  PreparedKernel prepared;
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  prepared.inputs.resize(request.inputs.size());
  for (size_t i = 0; i < 3; ++i) {
    if (StridesOf(request.inputs[i].layout) != nullptr) prepared.inputs[i] = request.inputs[i].layout;
  }
  prepared.outputs.push_back(request.wanted_output);
  return prepared;
}

}  // namespace nnefc::runtime
