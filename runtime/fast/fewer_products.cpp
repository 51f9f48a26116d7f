#include "runtime/fast/fewer_products.h"

#include <algorithm>
#include <array>

#include "runtime/fast/dense_product.h"
#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kProducts = 7;
constexpr int64_t kRowsAtOnce = 224;  // whose products are made together
constexpr int64_t kMostTerms = 192;   // of a half, between which sums are kept in memory

// A quarter of the weights: which half of the terms, which of the columns.
struct Quarter {
  int64_t terms, columns;
};

// A product of a sum of quarters of the left rows with one of quarters of the weights. With the left quarters
// as MakeFactors adds them the results are
//   first rows:  p0 + p3 - p4 + p6 | p2 + p4
//   second rows: p1 + p3           | p0 - p1 + p2 + p5
struct HalfProduct {
  WeightTerms terms;
  Quarter first, second;
};
constexpr std::array<HalfProduct, kProducts> kHalfProducts = {{
    {WeightTerms::kSum, {0, 0}, {1, 1}},
    {WeightTerms::kOne, {0, 0}, {0, 0}},
    {WeightTerms::kDifference, {0, 1}, {1, 1}},
    {WeightTerms::kDifference, {1, 0}, {0, 0}},
    {WeightTerms::kOne, {1, 1}, {1, 1}},
    {WeightTerms::kSum, {0, 0}, {0, 1}},
    {WeightTerms::kSum, {1, 0}, {1, 1}},
}};

const Lanes& At(const float* place) {
  return *reinterpret_cast<const Lanes*>(place);
}
Lanes& At(float* place) {
  return *reinterpret_cast<Lanes*>(place);
}

// Columns that are done together: those of two tiles, or the two blocks of the last one.
struct ColumnPair {
  int64_t tile;
  int64_t blocks;  // of a half
  int64_t right;   // how far the weights of the right half are
  int64_t first_block() const { return tile * 2; }
};

ColumnPair PairOf(const DenseSizes& sizes, int64_t pair) {
  if (2 * pair + 1 < sizes.tiles())
    return {.tile = 2 * pair, .blocks = 2, .right = sizes.terms * kTileColumns};
  return {.tile = 2 * pair, .blocks = 1, .right = kBlockColumns};
}

// The weights of a pair for some terms of both halves, in the order in which they are fetched before they are
// read: four strips that are contiguous.
class NextWeights {
 public:
  NextWeights(const float* first, int64_t right, int64_t lower, int64_t terms, int64_t calls)
      : first_(first),
        right_(right),
        lower_(lower),
        strip_(terms * kTileColumns / kLineFloats),
        blocks_(std::max<int64_t>(terms / kBlockColumns, 1)),
        lines_((4 * strip_ + calls * blocks_ - 1) / (calls * blocks_)) {}

  // Lets the tile fetch what comes next.
  void Take(TileCall& call) {
    const int64_t strip = line_ / strip_;
    if (first_ == nullptr || strip >= 4) return;
    call.next = first_ + (strip % 2) * lower_ + (strip / 2) * right_ + line_ % strip_ * kLineFloats;
    call.next_lines = lines_;
    line_ += std::min(lines_ * blocks_, strip_ - line_ % strip_);
  }

 private:
  const float* first_;
  int64_t right_, lower_;
  int64_t strip_;   // lines
  int64_t blocks_;  // of terms of a call
  int64_t lines_;   // for each of these
  int64_t line_ = 0;
};

// What is done to sums before they are stored.
struct Ends {
  const float* bias;
  const float* start;  // as the result lies

  template <typename Limit>
  NNEFC_IN_LANES void Store(const LaneSums& given, int64_t column, int64_t offset, const Limit& limit,
                            float* to) const {
    LaneSums sums = given;
    if (bias != nullptr) sums += At(bias + column);
    if (start != nullptr) sums += At(start + offset);
    limit(sums);
    At(to) = sums;
  }
};

}  // namespace

std::optional<FewerProducts> FewerProducts::Make(const DenseSizes& sizes, bool wanted) {
  constexpr int64_t kLeastRows = 64;
  if (sizes.terms % (2 * kBlockColumns) != 0 || sizes.rows < kLeastRows) return std::nullopt;
  // Of an eighth that is saved: what the seven products cost to be kept and added, what sums of the left rows
  // do.
  const double of_products = 10.0 / static_cast<double>(sizes.terms);
  const double of_factors = 7.0 / static_cast<double>(sizes.outputs);
  if (!wanted && of_products + of_factors > 0.075) return std::nullopt;
  return FewerProducts(sizes.images, sizes.rows, sizes.terms);
}

FewerProducts::FewerProducts(int64_t images, int64_t rows, int64_t terms)
    : images_(images), rows_(rows), terms_(terms), row_parts_((rows + kRowsAtOnce - 1) / kRowsAtOnce) {}

int64_t FewerProducts::FactorFloats() const {
  return kProducts * half_blocks() * half_rows() * kBlockColumns;
}

int64_t FewerProducts::ProductFloats() const {
  return kProducts * half_rows() * kTileColumns;
}

int64_t FewerProducts::scratch_floats(int threads) const {
  return (DividesRows(threads) ? threads : 1) * FactorFloats() + threads * ProductFloats();
}

FewerProducts::Rows FewerProducts::RowsOf(const DenseCall& call, int64_t part) const {
  const int64_t begin = PartBegin(call.sizes->rows, row_parts_, part % row_parts_);
  const int64_t end = PartBegin(call.sizes->rows, row_parts_, part % row_parts_ + 1);
  return {.image = part / row_parts_, .first = begin, .count = end - begin};
}

int64_t FewerProducts::Pairs(const DenseCall& call) const {
  return (call.sizes->tiles() + 1) / 2;
}

void FewerProducts::Run(const DenseCall& call, float* scratch) const {
  const int threads = CurrentThreads();
  const bool divides_rows = DividesRows(threads);
  float* products = scratch + (divides_rows ? threads : 1) * FactorFloats();
  if (divides_rows) {
    RunTasks(images_ * row_parts_, threads, [&](int64_t part, int member) {
      float* factors = scratch + member * FactorFloats();
      const Rows rows = RowsOf(call, part);
      for (int64_t block = 0; block < half_blocks(); ++block) MakeFactors(call, rows, block, factors);
      for (int64_t pair = 0; pair < Pairs(call); ++pair)
        RunPair(call, rows, {pair, pair + 1}, factors, products + member * ProductFloats());
    });
    return;
  }
  for (int64_t part = 0; part < images_ * row_parts_; ++part) {
    const Rows rows = RowsOf(call, part);
    RunTasks(half_blocks(), threads, [&](int64_t block, int) { MakeFactors(call, rows, block, scratch); });
    RunTasks(Pairs(call), threads, [&](int64_t pair, int member) {
      RunPair(call, rows, {pair, pair + 1}, scratch, products + member * ProductFloats());
    });
  }
}

// For a block of terms of the first half and its counterpart in the second. A row that the second half of the
// rows has not counts as zeros.
void FewerProducts::MakeFactors(const DenseCall& call, const Rows& rows, int64_t block,
                                float* factors) const {
  const DenseSizes& sizes = *call.sizes;
  const BlockedMatrix<const float> left =
      sizes.is_blocked ? call.Left(rows.image)
                       : BlockedMatrix<const float>{call.left, sizes.terms, kBlockColumns};
  const int64_t half = rows.half();
  const int64_t factor = half_blocks() * half * kBlockColumns;
  Vectorized([&] {
    for (int64_t row = 0; row < half; ++row) {
      const bool has_second = half + row < rows.count;
      const int64_t first_row = rows.first + row, second_row = first_row + half;
      const LaneSums a11 = At(left.At(first_row, block));
      const LaneSums a12 = At(left.At(first_row, block + half_blocks()));
      const LaneSums a21 = has_second ? At(left.At(second_row, block)) : LaneSums{};
      const LaneSums a22 = has_second ? At(left.At(second_row, block + half_blocks())) : LaneSums{};
      float* to = factors + (block * half + row) * kBlockColumns;
      At(to) = a11 + a22;
      At(to + factor) = a21 + a22;
      At(to + 2 * factor) = a11;
      At(to + 3 * factor) = a22;
      At(to + 4 * factor) = a11 + a12;
      At(to + 5 * factor) = a21 - a11;
      At(to + 6 * factor) = a12 - a22;
    }
  });
}

void FewerProducts::RunPair(const DenseCall& call, const Rows& rows, const PairTask& task,
                            const float* factors, float* products) const {
  const ColumnPair pair = PairOf(*call.sizes, task.pair);
  const int64_t half = rows.half(), panels = (half + kTileRows - 1) / kTileRows;
  const int64_t lower = terms_ / 2 * kTileColumns;  // weights of the second half of terms
  const int64_t chunks = (terms_ / 2 + kMostTerms - 1) / kMostTerms;
  const auto place = [&](const Quarter& quarter) {
    return quarter.terms * lower + quarter.columns * pair.right;
  };
  const auto block_of = [&](int64_t chunk) { return PartBegin(half_blocks(), chunks, chunk); };
  const auto weights_of = [&](int64_t index, int64_t chunk) -> const float* {
    if (index >= Pairs(call)) return nullptr;
    return call.Weights(PairOf(*call.sizes, index).tile) + block_of(chunk) * kBlockColumns * kTileColumns;
  };
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t block = block_of(chunk);
    const int64_t terms = (block_of(chunk + 1) - block) * kBlockColumns;
    const float* weights = weights_of(task.pair, chunk);
    const bool is_last = chunk + 1 == chunks;
    NextWeights next(is_last ? weights_of(task.next, 0) : weights_of(task.pair, chunk + 1), pair.right, lower,
                     terms, panels * kProducts);
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t row = PartBegin(half, panels, panel);
      for (int64_t i = 0; i < kProducts; ++i) {
        const HalfProduct& product = kHalfProducts[static_cast<size_t>(i)];
        float* out = products + (i * half + row) * kTileColumns;
        TileCall tile{.left = factors + ((i * half_blocks() + block) * half + row) * kBlockColumns,
                      .left_stride = half * kBlockColumns,
                      .terms = terms,
                      .weights = weights + place(product.first),
                      .second = place(product.second) - place(product.first),
                      .start = chunk == 0 ? nullptr : out,
                      .out = {out, kTileColumns, kBlockColumns}};
        next.Take(tile);
        RunTile(PartBegin(half, panels, panel + 1) - row, pair.blocks, product.terms, tile);
      }
    }
  }
  Combine(call, rows, task.pair, products);
}

void FewerProducts::Combine(const DenseCall& call, const Rows& rows, int64_t index,
                            const float* products) const {
  const ColumnPair pair = PairOf(*call.sizes, index);
  const int64_t half = rows.half(), product = half * kTileColumns;
  const int64_t left = pair.first_block(), right = left + pair.blocks;
  const int64_t last = call.sizes->output_blocks();
  const BlockedMatrix<float> out = call.Out(rows.image);
  const Ends ends{.bias = call.operands.ColumnsOf(call.steps->bias(), 0),
                  .start = call.operands.ElementsOf(call.steps->start(), 0)};
  const auto combine = [&](const auto& limit) NNEFC_IN_LANES {
    const auto store = [&](const LaneSums& sums, int64_t row, int64_t block) NNEFC_IN_LANES {
      float* to = out.At(rows.first + row, block);
      ends.Store(sums, block * kBlockColumns, to - call.out, limit, to);
    };
    for (int64_t row = 0; row < half; ++row) {
      for (int64_t block = 0; block < pair.blocks; ++block) {
        LaneSums p[kProducts];
        for (int64_t i = 0; i < kProducts; ++i)
          p[i] = At(products + i * product + row * kTileColumns + block * kBlockColumns);
        store(p[0] + p[3] - p[4] + p[6], row, left + block);
        if (right + block < last) store(p[2] + p[4], row, right + block);
        if (half + row >= rows.count) continue;
        store(p[1] + p[3], half + row, left + block);
        if (right + block < last) store(p[0] - p[1] + p[2] + p[5], half + row, right + block);
      }
    }
  };
  RunInLanes([&]() NNEFC_IN_LANES { WithLimits(call.steps->limits(), combine); });
  call.Finish(rows.image, rows.first, rows.count, left, std::min(2 * pair.blocks, last - left));
}

}  // namespace nnefc::runtime
