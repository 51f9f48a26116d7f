// GEMM with a constant matrix by register-tiled microkernels.

#include "runtime/fast/gemm/gemm.h"

#include <algorithm>
#include <cstring>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/packed_weights.h"
#include "runtime/fast/gemm/row_partitions.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::gemm {

using simd::BlockedMatrix;
using simd::IndexRange;
using simd::kBlockColumns;
using simd::kTileColumns;
using tensor::CeilDivide;

namespace {

constexpr int64_t kMaxRows = 448;

// The partition of rows and columns into tasks. If a cache cannot hold all terms of a task's rows, it
// processes K in parts, each for all columns.
struct Grid {
  int64_t row_parts, column_parts = 1, term_parts = 1;
  bool is_by_columns = false;  // task order: all rows of some columns first

  static Grid Of(const GemmSizes& sizes, int threads) {
    const simd::InstructionSet& set = simd::SelectedInstructionSet();
    const int64_t terms = std::min(sizes.terms, set.gemm_max_terms);
    const int64_t rows = std::clamp<int64_t>(simd::L2Floats() / terms, set.gemm_min_rows, kMaxRows);
    Grid grid{.row_parts = CeilDivide(sizes.rows, rows)};
    grid.Divide(sizes, threads);
    if (!sizes.is_blocked && grid.column_parts > 1) grid.LimitCopies(sizes, threads);
    const int64_t floats = CeilDivide(sizes.rows, grid.row_parts) * sizes.terms;
    grid.term_parts = std::max<int64_t>(1, (floats + simd::L2Floats() / 2) / simd::L2Floats());
    return grid;
  }

 private:
  // Rows first, then columns.
  void Divide(const GemmSizes& sizes, int threads) {
    if (threads == 1) return;
    if (sizes.images == 1) row_parts = tensor::RoundUp(row_parts, RowPartitionsFor(sizes.rows, threads));
    const int64_t wanted = tensor::kTasksPerThread * threads;
    if (sizes.images * row_parts >= wanted) return;
    const int64_t more = CeilDivide(wanted, sizes.images * row_parts);
    if (sizes.tiles() >= more) {
      column_parts = more;
      return;
    }
    const int64_t panels = CeilDivide(sizes.rows, simd::TileRows());
    is_by_columns = sizes.is_blocked && (row_parts == 1 || sizes.images * panels < wanted);
    if (is_by_columns) {
      // Few rows and columns: consecutive row parts of a tile reuse its cached weights.
      column_parts = sizes.tiles();
      row_parts = std::min(panels, CeilDivide(wanted, sizes.images * column_parts));
    } else {
      row_parts = std::min(panels, row_parts * more);
    }
  }

  // Each thread copies the rows of its part, so large thread counts need smaller parts.
  void LimitCopies(const GemmSizes& sizes, int threads) {
    constexpr int64_t kMaxFloats = int64_t{1} << 24;
    const int64_t rows = std::max(simd::TileRows(), kMaxFloats / threads / sizes.terms);
    row_parts = std::max(row_parts, CeilDivide(sizes.rows, rows));
  }
};

// Copies the first columns of row-major rows to column blocks with stride `block_stride`.
void CopyInBlocks(const float* from, int64_t rows, int64_t stride, int64_t columns, int64_t block_stride,
                  float* to) {
  const int64_t rest = columns % kBlockColumns;
  for (int64_t row = 0; row < rows; ++row, from += stride, to += kBlockColumns) {
    float* block = to;
    for (int64_t first = 0; first < columns - rest; first += kBlockColumns, block += block_stride)
      std::memcpy(block, from + first, kBlockColumns * sizeof(float));
    std::copy_n(from + columns - rest, rest, block);
  }
}

// The pointers of a GEMM in a run. Left rows are in the layout of the microkernel.
struct GemmCall {
  const GemmSizes* sizes;
  const Epilogue* steps;
  Epilogue::Operands operands;
  const float* left;
  const float* weights;
  const float* scale = nullptr;
  float* out;

  // Returns the left matrix; for row-major operands its blocked copy.
  BlockedMatrix<const float> Left(int64_t image) const;
  BlockedMatrix<float> Out(int64_t image) const;
  const float* Weights(int64_t tile) const { return weights + tile * sizes->terms * kTileColumns; }
  // Returns the offset of the image in the result.
  int64_t Offset(int64_t image) const;
  // Applies the remaining post-ops to rows of an image, in column blocks starting at `block`.
  void Finish(int64_t image, int64_t row, int64_t rows, int64_t block, int64_t blocks) const;
};

BlockedMatrix<const float> GemmCall::Left(int64_t image) const {
  const int64_t blocks = sizes->term_blocks(), rows = sizes->rows;
  return {left + image * blocks * rows * kBlockColumns, kBlockColumns, rows * kBlockColumns};
}

BlockedMatrix<float> GemmCall::Out(int64_t image) const {
  if (!sizes->is_blocked) return {out, sizes->outputs, kBlockColumns};
  return {out + Offset(image), kBlockColumns, sizes->rows * kBlockColumns};
}

int64_t GemmCall::Offset(int64_t image) const {
  return image * sizes->output_blocks() * sizes->rows * kBlockColumns;
}

void GemmCall::Finish(int64_t image, int64_t row, int64_t rows, int64_t block, int64_t blocks) const {
  BlockedMatrix<float> place = Out(image);
  place.data = place.At(row, block);
  steps->Finish({.out = place,
                 .offset = place.data - out,
                 .column = block * kBlockColumns,
                 .rows = rows,
                 .blocks = blocks},
                sizes->outputs, operands);
}

class Gemm final : public kernels::Kernel {
 public:
  struct Form {
    GemmSizes sizes;
    GemmInputs inputs;
    int threads;
  };
  Gemm(const Form& form, Epilogue steps)
      : form_(form), grid_(Grid::Of(form.sizes, form.threads)), steps_(std::move(steps)) {}

  std::string implementation() const override {
    return form_.inputs.windows ? "nnefc:im2col_gemm" : "nnefc:gemm";
  }

  size_t scratch_bytes() const {
    int64_t floats = steps_.column_floats(form_.sizes.outputs);
    if (form_.inputs.windows) floats += form_.inputs.windows->floats();
    floats += form_.threads * ThreadFloats();
    return static_cast<size_t>(floats) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    GemmCall call{.sizes = &form_.sizes,
                  .steps = &steps_,
                  .operands = steps_.OperandsOf(run, form_.sizes.outputs, scratch),
                  .left = Floats(run, form_.inputs.left),
                  .weights = Floats(run, form_.inputs.weights),
                  .out = reinterpret_cast<float*>(run.output().mutable_bytes())};
    scratch += steps_.column_floats(form_.sizes.outputs);
    if (form_.inputs.windows) {
      form_.inputs.windows->Gather(call.left, scratch);
      call.left = scratch;
      scratch += form_.inputs.windows->floats();
    }
    if (form_.inputs.scale >= 0) call.scale = Floats(run, static_cast<size_t>(form_.inputs.scale));
    RunInTiles(call, scratch);
    return Success();
  }

 private:
  static const float* Floats(const kernels::KernelRun& run, size_t input) {
    return reinterpret_cast<const float*>(run.input(input).bytes());
  }
  // Tiles read rows in column blocks. Each task copies its rows into its core's cache once for all columns.
  bool CopiesRows() const { return !form_.sizes.is_blocked; }
  // A task with all columns copies terms part by part, others copy all terms.
  int64_t CopiedParts() const { return grid_.column_parts == 1 ? grid_.term_parts : 1; }
  // Per-thread buffers: copied rows and terms, and the scaled weights of a tile.
  int64_t CopiedFloats() const {
    if (!CopiesRows()) return 0;
    return CeilDivide(form_.sizes.term_blocks(), CopiedParts()) * kBlockColumns * PartRows();
  }
  int64_t ScaledFloats() const { return form_.inputs.scale < 0 ? 0 : form_.sizes.terms * kTileColumns; }
  int64_t ThreadFloats() const {
    return CopiedFloats() + ScaledFloats() + (HasRest() ? PartRows() * kTileColumns : 0);
  }
  int64_t PartRows() const { return CeilDivide(form_.sizes.rows, grid_.row_parts); }
  // The last partial columns of a row-major result use a temporary tile.
  bool HasRest() const { return !form_.sizes.is_blocked && form_.sizes.outputs % kBlockColumns != 0; }
  bool IsRest(int64_t tile) const { return HasRest() && tile + 1 == form_.sizes.tiles(); }

  void RunInTiles(const GemmCall& call, float* scratch) const {
    const GemmSizes& sizes = form_.sizes;
    const Grid& grid = grid_;
    llvm::SmallVector<int64_t, 16> copied(static_cast<size_t>(form_.threads), -1);  // row part copied by each
                                                                                    // thread
    tensor::RunTasks(
        sizes.images * grid.row_parts * grid.column_parts, form_.threads, [&](int64_t task, int member) {
          const int64_t of_image = grid.row_parts * grid.column_parts;
          const int64_t image = task / of_image, index = task % of_image;
          const int64_t row_part = grid.is_by_columns ? index % grid.row_parts : index / grid.column_parts;
          const int64_t column_part = grid.is_by_columns ? index / grid.row_parts : index % grid.column_parts;
          const Part part{.image = image,
                          .rows = IndexRange{0, sizes.rows}.Part(grid.row_parts, row_part),
                          .tiles = IndexRange{0, sizes.tiles()}.Part(grid.column_parts, column_part)};
          int64_t& last = copied[static_cast<size_t>(member)];
          const bool has_rows = grid.column_parts > 1 && last == row_part;  // only with a single image
          last = row_part;
          RunPart(call, part, has_rows, scratch + member * ThreadFloats());
        });
  }

  struct Part {
    int64_t image;
    IndexRange rows, tiles;
    IndexRange terms = {0, 0};
    BlockedMatrix<const float> left = {};  // its rows and terms
  };

  // `has_rows`: scratch already contains the copied rows.
  void RunPart(const GemmCall& call, Part part, bool has_rows, float* scratch) const {
    const IndexRange blocks{0, form_.sizes.term_blocks()};
    const int64_t parts = grid_.term_parts, copies = CopiesRows() && !has_rows ? CopiedParts() : 0;
    for (int64_t i = 0; i < parts; ++i) {
      if (i < copies) CopyRows(call, part.rows, TermsOf(blocks.Part(copies, i)), scratch);
      const IndexRange own = blocks.Part(parts, i);
      part.terms = TermsOf(own);
      if (CopiesRows()) {
        part.left = CopyOf(part.rows, scratch);
        part.left.data = part.left.At(0, CopiedParts() == 1 ? own.begin : 0);
      } else {
        part.left = call.Left(part.image);
        part.left.data = part.left.At(part.rows.begin, own.begin);
      }
      for (int64_t tile = part.tiles.begin; tile < part.tiles.end; ++tile)
        RunColumns(call, part, tile, scratch + CopiedFloats());
    }
  }
  IndexRange TermsOf(const IndexRange& blocks) const {
    return {blocks.begin * kBlockColumns, std::min(blocks.end * kBlockColumns, form_.sizes.terms)};
  }
  static BlockedMatrix<const float> CopyOf(const IndexRange& rows, const float* scratch) {
    return {scratch, kBlockColumns, rows.count() * kBlockColumns};
  }
  void CopyRows(const GemmCall& call, const IndexRange& rows, const IndexRange& terms, float* scratch) const {
    const int64_t stride = form_.sizes.terms;
    CopyInBlocks(call.left + rows.begin * stride + terms.begin, rows.count(), stride, terms.count(),
                 CopyOf(rows, scratch).block_stride, scratch);
  }

  // A K range of a column tile for all rows of a part.
  struct Pass {
    int64_t tile;
    int64_t first, end;  // range of terms
    const float* weights;
    // Prefetch of later passes, distributed over panels: cache lines per block of terms.
    const float* next;
    int64_t next_lines;
    float* rest;  // see IsRest
  };

  // Multiplies the rows of a part by the columns of a tile.
  void RunColumns(const GemmCall& call, const Part& part, int64_t tile, float* scratch) const {
    constexpr int64_t kLinesOfTerms = kBlockColumns * kTileColumns / simd::kLineFloats;
    const IndexRange& terms = part.terms;
    const int64_t blocks = CeilDivide(terms.count(), kBlockColumns);
    const TilePanels panels(part.rows.count());
    const int64_t passes = CeilDivide(terms.count(), simd::TermsPerPass());
    const auto weights_of = [&](int64_t of) { return call.Weights(of) + terms.begin * kTileColumns; };
    const float* weights = call.scale == nullptr ? weights_of(tile) : Scaled(call, part, tile, scratch);
    Pass pass{.tile = tile, .first = terms.begin, .rest = scratch + ScaledFloats()};
    for (int64_t i = 0; i < passes; ++i, pass.first = pass.end) {
      pass.end = std::min(terms.begin + tensor::PartBegin(blocks, passes, i + 1) * kBlockColumns, terms.end);
      pass.weights = weights + (pass.first - terms.begin) * kTileColumns;
      pass.next = pass.end < terms.end             ? weights + (pass.end - terms.begin) * kTileColumns
                  : tile + 1 < form_.sizes.tiles() ? weights_of(tile + 1)
                                                   : nullptr;
      pass.next_lines = pass.next == nullptr ? 0 : CeilDivide(kLinesOfTerms, panels.count());
      panels.ForEqualPanels([&](int64_t panel, int64_t count) {
        RunPanels(call, part, pass, panels, {panel, panel + count});
      });
    }
  }

  // Computes panels with equal row counts.
  void RunPanels(const GemmCall& call, const Part& part, const Pass& pass, const TilePanels& panels,
                 const IndexRange& some) const {
    const GemmSizes& sizes = form_.sizes;
    const int64_t block = pass.tile * 2, blocks = std::min<int64_t>(2, sizes.output_blocks() - block);
    const int64_t row = part.rows.begin + panels.Begin(some.begin), rows = panels.RowsOf(some.begin);
    const bool is_first = pass.first == 0, is_last = pass.end == sizes.terms;
    BlockedMatrix<float> out = call.Out(part.image);
    out.data = out.At(row, block);
    const BlockedMatrix<float> place = out;
    const int64_t offset = out.data - call.out;
    if (IsRest(pass.tile))
      out = {pass.rest + (row - part.rows.begin) * kTileColumns, kTileColumns, kBlockColumns};
    simd::GemmTile tile{
        .left = part.left.At(row - part.rows.begin, (pass.first - part.terms.begin) / kBlockColumns),
        .left_stride = part.left.block_stride,
        .terms = pass.end - pass.first,
        .weights = pass.weights,
        .start = out.data,
        .out = out,
        .next = pass.next,
        .next_lines = pass.next_lines,
        .tiles = some.count()};
    if (tile.next != nullptr)
      tile.next += some.begin * tile.next_lines * (tile.terms / kBlockColumns) * simd::kLineFloats;
    if (is_first) {
      tile.bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns);
      tile.start = call.operands.ElementsOf(steps_.start(), offset);
    }
    if (is_last) tile.limits = steps_.limits();
    simd::RunTile(rows, blocks, tile);
    if (!is_last) return;
    if (!IsRest(pass.tile)) return call.Finish(part.image, row, some.count() * rows, block, blocks);
    StoreRest(call, {out, offset, block * kBlockColumns, some.count() * rows, blocks}, place);
  }

  void StoreRest(const GemmCall& call, const Epilogue::Tile& tile, const BlockedMatrix<float>& to) const {
    steps_.Finish(tile, form_.sizes.outputs, call.operands);
    const int64_t columns = form_.sizes.outputs - tile.column;
    for (int64_t row = 0; row < tile.rows; ++row) std::copy_n(tile.out.At(row, 0), columns, to.At(row, 0));
  }

  // Returns the weights of a tile with each term multiplied by its scale.
  static const float* Scaled(const GemmCall& call, const Part& part, int64_t tile, float* scratch) {
    const float* weights = call.Weights(tile) + part.terms.begin * kTileColumns;
    const float* scale = call.scale + part.terms.begin;
    simd::Vectorized([&] {
      for (int64_t term = 0; term < part.terms.count(); ++term) {
        for (int64_t i = 0; i < kTileColumns; ++i)
          scratch[term * kTileColumns + i] = weights[term * kTileColumns + i] * scale[term];
      }
    });
    return scratch;
  }

  Form form_;
  Grid grid_;
  Epilogue steps_;
};

}  // namespace

kernels::KernelOrReason MakeGemm(const kernels::KernelRequest& request, const GemmSizes& sizes,
                                 const GemmInputs& inputs, llvm::ArrayRef<kernels::PostOperation> posts) {
  const bool has_rest = !sizes.is_blocked && sizes.outputs % kBlockColumns != 0;
  const size_t rank = request.outputs[0].shape.size();
  const int64_t channel_axis = sizes.is_blocked ? 1 : static_cast<int64_t>(rank) - 1;
  kernels::OrReason<Epilogue> steps = Epilogue::Make(request, posts, channel_axis);
  if (!steps) return steps.reason();
  // Elementwise operands are read in whole blocks.
  if (has_rest && (steps->start() >= 0 || !steps->element_inputs().empty()))
    return kernels::Reason("{} columns with a fused elementwise operand, not whole blocks", sizes.outputs);
  const Gemm::Form form{.sizes = sizes, .inputs = inputs, .threads = tensor::CurrentThreads()};
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[inputs.weights] = inputs.filter != nullptr
                                        ? inputs.filter
                                        : PackedWeightLayout(sizes.terms, sizes.outputs, sizes.inputs_first);
  prepared.outputs.resize(1);
  if (sizes.is_blocked) {
    prepared.inputs[inputs.left] =
        memory::LayoutOf(memory::ChannelBlockedFormat(request.inputs[inputs.left].shape));
    prepared.outputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(request.outputs[0].shape));
    for (int input : steps->element_inputs())
      prepared.inputs[static_cast<size_t>(input)] = prepared.outputs[0];
  }
  auto kernel = std::make_shared<Gemm>(form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::gemm
