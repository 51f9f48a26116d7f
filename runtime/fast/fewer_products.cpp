#include "runtime/fast/fewer_products.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "compiler/support/x86.h"
#include "runtime/fast/dense_product.h"
#include "runtime/fast/lanes/half_products.h"
#include "runtime/fast/vector_math.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kRowsAtOnce = 224;                 // rows of a block whose seven products are computed
                                                     // together
constexpr int64_t kMostTerms = 192;                  // terms of a half per pass; sums stay in memory between
                                                     // passes
constexpr int64_t kOwnRowFloats = 2 * kTileColumns;  // floats of a row that is multiplied separately, for a
                                                     // pair of tiles

// A quarter of the weight matrix: half of the terms and half of the columns.
struct Quarter {
  int64_t terms, columns;
};

// The product of a sum of left quarters (HalfFactors) and a sum of weight quarters (Strassen).
struct HalfProduct {
  float sign;  // sign of the second quarter; 0 if there is only the first one
  Quarter first, second;
};
constexpr std::array<HalfProduct, kHalfProducts> kWaysOfProducts = {{
    {1, {0, 0}, {1, 1}},
    {0, {0, 0}, {0, 0}},
    {-1, {0, 1}, {1, 1}},
    {-1, {1, 0}, {0, 0}},
    {0, {1, 1}, {1, 1}},
    {1, {0, 0}, {0, 1}},
    {1, {1, 0}, {1, 1}},
}};

// Columns processed together: two tiles, or the two blocks of the last tile.
struct ColumnPair {
  int64_t tile;
  int64_t blocks;  // blocks per half
  int64_t right;   // offset of the weights of the right half
  int64_t first_block() const { return tile * 2; }
};

ColumnPair PairOf(const DenseSizes& sizes, int64_t pair) {
  if (2 * pair + 1 < sizes.tiles())
    return {.tile = 2 * pair, .blocks = 2, .right = sizes.terms * kTileColumns};
  return {.tile = 2 * pair, .blocks = 1, .right = kBlockColumns};
}

// The weights of a column pair for some terms of both halves, in prefetch order: four contiguous strips.
class NextWeights {
 public:
  NextWeights(const float* first, int64_t right, int64_t lower, int64_t terms, int64_t calls)
      : first_(first),
        right_(right),
        lower_(lower),
        strip_(terms * kTileColumns / kLineFloats),
        blocks_(std::max<int64_t>(terms / kBlockColumns, 1)),
        lines_((4 * strip_ + calls * blocks_ - 1) / (calls * blocks_)) {}

  // Sets the addresses that the tile prefetches.
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
  int64_t strip_;   // cache lines per strip
  int64_t blocks_;  // blocks of terms per call
  int64_t lines_;   // cache lines prefetched per block
  int64_t line_ = 0;
};

// Returns the maximum magnitude of a row of blocks as float bits; infinities and NaN compare above all other
// values.
uint32_t MagnitudeOf(const BlockedMatrix<const float>& matrix, int64_t row, int64_t terms) {
  using Bits = int32_t __attribute__((vector_size(32), aligned(4), may_alias));
  constexpr int64_t kBits = 8;
  const float* numbers = matrix.At(row, 0);
  int32_t largest = 0;
  Vectorized([&, stride = matrix.block_stride] {
    Bits most[2] = {};
    for (int64_t block = 0; block < terms / kBlockColumns; ++block, numbers += stride) {
      for (int64_t i = 0; i < 2; ++i) {
        const Bits bits = *reinterpret_cast<const Bits*>(numbers + i * kBits) & INT32_MAX;
        most[i] = bits > most[i] ? bits : most[i];
      }
    }
    for (int64_t i = 0; i < 2 * kBits; ++i) largest = std::max(largest, most[i / kBits][i % kBits]);
  });
  return static_cast<uint32_t>(largest);
}

// Returns true if rounding errors of the larger row would dominate or exceed this one.
bool IsLost(uint32_t magnitude, uint32_t other) {
  constexpr uint32_t kInfinity = 0x7F800000;
  constexpr float kMost = 64;
  if (magnitude >= kInfinity || other >= kInfinity) return true;
  return std::bit_cast<float>(magnitude) * kMost < std::bit_cast<float>(other);
}

// Intel server processors execute two 512-bit FMAs per cycle (a few models, and other vendors, one). There
// the additions for the seven products, as slow as elsewhere, take as long as the saved eighth product.
bool MultipliesTwiceACycle() {
#if defined(NNEFC_X86)
  return LaneCount() == kWideLanes && __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

}  // namespace

std::optional<FewerProducts> FewerProducts::Make(const DenseSizes& sizes, bool wanted) {
  if (!wanted && MultipliesTwiceACycle()) return std::nullopt;
  constexpr int64_t kLeastRows = 64;
  if (sizes.terms % (2 * kBlockColumns) != 0 || sizes.rows < kLeastRows) return std::nullopt;
  // Overhead relative to the saved eighth: storing and adding the seven products, and summing the left rows.
  const double of_products = 10.0 / static_cast<double>(sizes.terms);
  const double of_factors = 7.0 / static_cast<double>(sizes.outputs);
  if (!wanted && of_products + of_factors > 0.075) return std::nullopt;
  return FewerProducts(sizes.images, sizes.rows, sizes.terms);
}

FewerProducts::FewerProducts(int64_t images, int64_t rows, int64_t terms)
    : images_(images), rows_(rows), terms_(terms), row_parts_((rows + kRowsAtOnce - 1) / kRowsAtOnce) {}

int64_t FewerProducts::FactorFloats() const {
  return kHalfProducts * half_blocks() * half_rows() * kBlockColumns;
}

int64_t FewerProducts::OwnRowsBegin() const {
  return (kHalfProducts * half_rows() + kMostTerms) * kTileColumns;
}

int64_t FewerProducts::ProductFloats() const {
  return OwnRowsBegin() + 2 * half_rows() * kOwnRowFloats;
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
      const OwnRows own = FindOwnRows(call, rows, 1);
      for (int64_t pair = 0; pair < Pairs(call); ++pair)
        RunPair(call, rows, own, {pair, pair + 1}, factors, products + member * ProductFloats());
    });
    return;
  }
  for (int64_t part = 0; part < images_ * row_parts_; ++part) {
    const Rows rows = RowsOf(call, part);
    RunTasks(half_blocks(), threads, [&](int64_t block, int) { MakeFactors(call, rows, block, scratch); });
    const OwnRows own = FindOwnRows(call, rows, threads);
    RunTasks(Pairs(call), threads, [&](int64_t pair, int member) {
      RunPair(call, rows, own, {pair, pair + 1}, scratch, products + member * ProductFloats());
    });
  }
}

BlockedMatrix<const float> FewerProducts::LeftOf(const DenseCall& call, int64_t image) const {
  if (call.sizes->is_blocked) return call.Left(image);
  return {call.left, call.sizes->terms, kBlockColumns};
}

FewerProducts::OwnRows FewerProducts::FindOwnRows(const DenseCall& call, const Rows& rows,
                                                  int threads) const {
  const BlockedMatrix<const float> left = LeftOf(call, rows.image);
  const int64_t half = rows.half(), parts = std::min<int64_t>(threads, half);
  enum class Made : uint8_t { kWithOthers, kAlone, kOfZeros };
  std::array<Made, kRowsAtOnce + 2> ways = {};
  RunTasks(parts, threads, [&](int64_t part, int) {
    for (int64_t row = PartBegin(half, parts, part); row < PartBegin(half, parts, part + 1); ++row) {
      const int64_t other = row + half;
      if (other >= rows.count) continue;
      const auto magnitude = [&](int64_t of) { return MagnitudeOf(left, rows.first + of, terms_); };
      const uint32_t first = magnitude(row), second = magnitude(other);
      const auto way = [](uint32_t of, uint32_t beside) {
        if (!IsLost(of, beside)) return Made::kWithOthers;
        return of == 0 ? Made::kOfZeros : Made::kAlone;
      };
      ways[static_cast<size_t>(row)] = way(first, second);
      ways[static_cast<size_t>(other)] = way(second, first);
    }
  });
  OwnRows own;
  for (int64_t row = 0; row < rows.count; ++row) {
    const Made way = ways[static_cast<size_t>(row)];
    if (way != Made::kWithOthers) own.push_back({row, way == Made::kOfZeros});
  }
  return own;
}

// Computes the left factors for a block of terms in the first half and its counterpart in the second one.
void FewerProducts::MakeFactors(const DenseCall& call, const Rows& rows, int64_t block,
                                float* factors) const {
  const BlockedMatrix<const float> left = LeftOf(call, rows.image);
  const int64_t half = rows.half();
  MakeHalfFactors({.left = left.At(rows.first, block),
                   .row_stride = left.row_stride,
                   .second_rows = half * left.row_stride,
                   .second_terms = half_blocks() * left.block_stride,
                   .rows = half,
                   .rows_of_second = rows.count - half,
                   .out = factors + block * half * kBlockColumns,
                   .stride = half_blocks() * half * kBlockColumns});
}

void FewerProducts::RunPair(const DenseCall& call, const Rows& rows, const OwnRows& own, const PairTask& task,
                            const float* factors, float* products) const {
  const ColumnPair pair = PairOf(*call.sizes, task.pair);
  const int64_t half = rows.half();
  const TilePanels panels(half);
  const int64_t lower = terms_ / 2 * kTileColumns;  // offset of the weights of the second half of terms
  const int64_t chunks = (terms_ / 2 + kMostTerms - 1) / kMostTerms;
  float* sums = products + kHalfProducts * half_rows() * kTileColumns;
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
                     terms, panels.count() * kHalfProducts);
    for (int64_t i = 0; i < kHalfProducts; ++i) {
      const HalfProduct& product = kWaysOfProducts[static_cast<size_t>(i)];
      const float* factor = weights + place(product.first);
      if (product.sign != 0) {
        MakeWeightSums({.first = factor,
                        .second = weights + place(product.second),
                        .sign = product.sign,
                        .terms = terms,
                        .blocks = pair.blocks,
                        .out = sums});
        factor = sums;
      }
      for (int64_t panel = 0; panel < panels.count(); ++panel) {
        const int64_t row = panels.Begin(panel);
        float* out = products + (i * half + row) * kTileColumns;
        TileCall tile{.left = factors + ((i * half_blocks() + block) * half + row) * kBlockColumns,
                      .left_stride = half * kBlockColumns,
                      .terms = terms,
                      .weights = factor,
                      .start = chunk == 0 ? nullptr : out,
                      .out = {out, kTileColumns, kBlockColumns}};
        next.Take(tile);
        RunTile(panels.RowsOf(panel), pair.blocks, tile);
      }
    }
  }
  Combine(call, rows, own, task.pair, products);
}

// Computes all columns of a pair, in consecutive blocks.
void FewerProducts::MakeOwnRow(const DenseCall& call, const Rows& rows, const OwnRow& own, int64_t index,
                               float* out) const {
  const ColumnPair pair = PairOf(*call.sizes, index);
  const int64_t first = pair.first_block();
  const int64_t blocks = std::min(2 * pair.blocks, call.sizes->output_blocks() - first);
  const BlockedMatrix<const float> left = LeftOf(call, rows.image);
  BlockedMatrix<float> place = call.Out(rows.image);
  place.data = place.At(rows.first + own.row, first);
  const float* start = call.operands.ElementsOf(call.steps->start(), place.data - call.out);
  // Copied before the result may overwrite it.
  for (int64_t block = 0; start != nullptr && block < blocks; ++block)
    std::copy_n(start + block * place.block_stride, kBlockColumns, out + block * kBlockColumns);
  for (int64_t block = 0; block < blocks; block += 2) {
    float* to = out + block * kBlockColumns;
    RunTile(1, std::min<int64_t>(2, blocks - block),
            {.left = left.At(rows.first + own.row, 0),
             .left_stride = left.block_stride,
             .terms = own.is_zero ? 0 : terms_,
             .weights = call.Weights((first + block) / 2),
             .bias = call.operands.ColumnsOf(call.steps->bias(), (first + block) * kBlockColumns),
             .start = start == nullptr ? nullptr : to,
             .out = {to, kTileColumns, kBlockColumns},
             .limits = call.steps->limits()});
  }
}

void FewerProducts::Combine(const DenseCall& call, const Rows& rows, const OwnRows& own, int64_t index,
                            float* products) const {
  const ColumnPair pair = PairOf(*call.sizes, index);
  const int64_t half = rows.half();
  const int64_t left = pair.first_block(), last = call.sizes->output_blocks();
  BlockedMatrix<float> out = call.Out(rows.image);
  out.data = out.At(rows.first, left);
  float* own_row = products + OwnRowsBegin();
  for (const OwnRow& each : own) {
    MakeOwnRow(call, rows, each, index, own_row);
    own_row += kOwnRowFloats;
  }
  CombineProducts({.products = products,
                   .stride = half * kTileColumns,
                   .rows = half,
                   .rows_of_second = rows.count - half,
                   .blocks = pair.blocks,
                   .right_blocks = std::min(pair.blocks, last - left - pair.blocks),
                   .out = out,
                   .second_rows = half * out.row_stride,
                   .bias = call.operands.ColumnsOf(call.steps->bias(), left * kBlockColumns),
                   .start = call.operands.ElementsOf(call.steps->start(), out.data - call.out),
                   .limits = call.steps->limits()});
  const int64_t blocks = std::min(2 * pair.blocks, last - left);
  own_row = products + OwnRowsBegin();
  for (const OwnRow& each : own) {
    for (int64_t block = 0; block < blocks; ++block)
      std::copy_n(own_row + block * kBlockColumns, kBlockColumns, out.At(each.row, block));
    own_row += kOwnRowFloats;
  }
  call.Finish(rows.image, rows.first, rows.count, left, blocks);
}

}  // namespace nnefc::runtime
