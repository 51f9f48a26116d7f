#include "runtime/fast/dense_product.h"

#include <algorithm>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/fewer_products.h"
#include "runtime/fast/tiled_weights.h"
#include "runtime/fast/ways.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kMostRows = 448;

// How rows and columns are cut into tasks.
struct Grid {
  int64_t row_parts, column_parts;

  static Grid Of(const DenseSizes& sizes, int threads) {
    const int64_t rows = std::clamp<int64_t>(CacheFloats() / sizes.terms, 2 * TileRows(), kMostRows);
    Grid grid{.row_parts = (sizes.rows + rows - 1) / rows, .column_parts = 1};
    const int64_t wanted = 4 * threads;  // tasks
    if (threads == 1 || sizes.images * grid.row_parts >= wanted) return grid;
    const int64_t more = (wanted + sizes.images * grid.row_parts - 1) / (sizes.images * grid.row_parts);
    if (sizes.tiles() >= more) {
      grid.column_parts = more;
    } else {
      const int64_t panels = (sizes.rows + TileRows() - 1) / TileRows();
      grid.row_parts = std::min(panels, grid.row_parts * more);
    }
    return grid;
  }
};

// Rows of a row-major matrix of `terms` columns to blocks of columns, `block_stride` apart.
void CopyInBlocks(const float* from, int64_t rows, int64_t terms, int64_t block_stride, float* to) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t block = 0; block * kBlockColumns < terms; ++block) {
      const int64_t first = block * kBlockColumns;
      std::copy_n(from + row * terms + first, std::min(kBlockColumns, terms - first),
                  to + block * block_stride + row * kBlockColumns);
    }
  }
}

class DenseProduct final : public Kernel {
 public:
  struct Form {
    DenseSizes sizes;
    DenseInputs inputs;
    std::optional<FewerProducts> fewer;
    int threads;
  };
  DenseProduct(const Form& form, ProductSteps steps) : form_(form), steps_(std::move(steps)) {}

  std::string implementation() const override {
    return form_.fewer ? "nnefc:fewer_products" : "nnefc:product";
  }

  size_t scratch_bytes() const {
    int64_t floats = steps_.column_floats(form_.sizes.outputs);
    if (form_.fewer) {
      floats += form_.fewer->scratch_floats(form_.threads);
    } else {
      floats += LeftFloats() + form_.threads * MemberFloats();
    }
    return static_cast<size_t>(floats) * sizeof(float);
  }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    DenseCall call{.sizes = &form_.sizes,
                   .steps = &steps_,
                   .operands = steps_.OperandsOf(run, form_.sizes.outputs, scratch),
                   .left = Floats(run, form_.inputs.left),
                   .weights = Floats(run, form_.inputs.weights),
                   .out = reinterpret_cast<float*>(run.output().mutable_bytes())};
    scratch += steps_.column_floats(form_.sizes.outputs);
    if (form_.fewer) {
      form_.fewer->Run(call, scratch);
      return Success();
    }
    if (form_.inputs.scale >= 0) call.scale = Floats(run, static_cast<size_t>(form_.inputs.scale));
    if (CopiesAll()) {
      CopyAll(call.left, scratch);
      call.left = scratch;
      scratch += LeftFloats();
    }
    RunInTiles(call, scratch);
    return Success();
  }

 private:
  static const float* Floats(const KernelRun& run, size_t input) {
    return reinterpret_cast<const float*>(run.input(input).bytes());
  }
  // Tiles want rows of a matrix in blocks of columns. Where a task has all columns of the result it copies
  // its rows itself, into its core's cache.
  Grid GridOf() const { return Grid::Of(form_.sizes, form_.threads); }
  bool CopiesAll() const { return !form_.sizes.is_blocked && GridOf().column_parts > 1; }
  bool CopiesParts() const { return !form_.sizes.is_blocked && GridOf().column_parts == 1; }
  int64_t PaddedTerms() const { return form_.sizes.term_blocks() * kBlockColumns; }
  int64_t LeftFloats() const { return CopiesAll() ? PaddedTerms() * form_.sizes.rows : 0; }
  // Of a thread: the rows of a part, and the weights of a tile multiplied by numbers.
  int64_t PartFloats() const {
    const int64_t parts = GridOf().row_parts;
    return CopiesParts() ? PaddedTerms() * ((form_.sizes.rows + parts - 1) / parts) : 0;
  }
  int64_t MemberFloats() const {
    return PartFloats() + (form_.inputs.scale < 0 ? 0 : form_.sizes.terms * kTileColumns);
  }

  void CopyAll(const float* from, float* to) const {
    constexpr int64_t kRows = 16;
    const int64_t rows = form_.sizes.rows, terms = form_.sizes.terms;
    ParallelFor((rows + kRows - 1) / kRows, kRows * terms, [&](int64_t part) {
      const int64_t row = part * kRows;
      CopyInBlocks(from + row * terms, std::min(kRows, rows - row), terms, rows * kBlockColumns,
                   to + row * kBlockColumns);
    });
  }

  void RunInTiles(const DenseCall& call, float* scratch) const {
    const DenseSizes& sizes = form_.sizes;
    const Grid grid = GridOf();
    RunTasks(sizes.images * grid.row_parts * grid.column_parts, form_.threads, [&](int64_t task, int member) {
      float* own = scratch + member * MemberFloats();
      const int64_t column_part = task % grid.column_parts;
      const int64_t row_part = task / grid.column_parts % grid.row_parts;
      Part part{.image = task / grid.column_parts / grid.row_parts,
                .row = PartBegin(sizes.rows, grid.row_parts, row_part),
                .end_row = PartBegin(sizes.rows, grid.row_parts, row_part + 1)};
      part.left = call.Left(part.image);
      part.left.data = part.left.At(part.row, 0);
      if (CopiesParts()) {
        const int64_t rows = part.end_row - part.row;
        part.left = {own, kBlockColumns, rows * kBlockColumns};
        CopyInBlocks(call.left + part.row * sizes.terms, rows, sizes.terms, rows * kBlockColumns, own);
      }
      part.end_tile = PartBegin(sizes.tiles(), grid.column_parts, column_part + 1);
      for (int64_t tile = PartBegin(sizes.tiles(), grid.column_parts, column_part); tile < part.end_tile;
           ++tile)
        RunColumns(call, part, tile, own + PartFloats());
    });
  }

  struct Part {
    int64_t image, row, end_row;
    int64_t end_tile = 0;
    BlockedMatrix<const float> left = {};  // of its rows
  };

  // Terms that are added for the columns of a tile before others, for all rows of a part.
  struct Pass {
    int64_t tile, panels;
    int64_t first, end;  // terms
    const float* weights;
    // What later passes read, some with each panel: lines of a cache for each block of terms.
    const float* next;
    int64_t next_lines;
  };

  // The rows of a part by the columns of a tile.
  void RunColumns(const DenseCall& call, const Part& part, int64_t tile, float* scratch) const {
    constexpr int64_t kLinesOfTerms = kBlockColumns * kTileColumns / kLineFloats;
    const int64_t terms = form_.sizes.terms, blocks = form_.sizes.term_blocks();
    const int64_t panels = (part.end_row - part.row + TileRows() - 1) / TileRows();
    const int64_t passes = (terms + TermsAtATime() - 1) / TermsAtATime();
    const float* weights = call.scale == nullptr ? call.Weights(tile) : Scaled(call, tile, scratch);
    Pass pass{.tile = tile, .panels = panels, .first = 0};
    for (int64_t i = 0; i < passes; ++i, pass.first = pass.end) {
      pass.end = std::min(PartBegin(blocks, passes, i + 1) * kBlockColumns, terms);
      pass.weights = weights + pass.first * kTileColumns;
      pass.next = pass.end < terms           ? weights + pass.end * kTileColumns
                  : tile + 1 < part.end_tile ? call.Weights(tile + 1)
                                             : nullptr;
      pass.next_lines = pass.next == nullptr ? 0 : (kLinesOfTerms + panels - 1) / panels;
      for (int64_t panel = 0; panel < panels; ++panel) RunPanel(call, part, pass, panel);
    }
  }

  void RunPanel(const DenseCall& call, const Part& part, const Pass& pass, int64_t panel) const {
    const DenseSizes& sizes = form_.sizes;
    const int64_t block = pass.tile * 2, blocks = std::min<int64_t>(2, sizes.output_blocks() - block);
    const int64_t count = part.end_row - part.row;
    const int64_t row = part.row + PartBegin(count, pass.panels, panel);
    const int64_t rows = part.row + PartBegin(count, pass.panels, panel + 1) - row;
    const bool is_first = pass.first == 0, is_last = pass.end == sizes.terms;
    BlockedMatrix<float> out = call.Out(part.image);
    out.data = out.At(row, block);
    const int64_t offset = out.data - call.out;
    TileCall tile{.left = part.left.At(row - part.row, pass.first / kBlockColumns),
                  .left_stride = part.left.block_stride,
                  .terms = pass.end - pass.first,
                  .weights = pass.weights,
                  .start = out.data,
                  .out = out,
                  .next = pass.next,
                  .next_lines = pass.next_lines};
    if (tile.next != nullptr)
      tile.next += panel * tile.next_lines * (tile.terms / kBlockColumns) * kLineFloats;
    if (is_first) {
      tile.bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns);
      tile.start = call.operands.ElementsOf(steps_.start(), offset);
    }
    if (is_last) tile.limits = steps_.limits();
    RunTile(rows, blocks, tile);
    if (is_last) call.Finish(part.image, row, rows, block, blocks);
  }

  // The weights of a tile, each term multiplied by its number.
  static const float* Scaled(const DenseCall& call, int64_t tile, float* scratch) {
    const float* weights = call.Weights(tile);
    Vectorized([&] {
      for (int64_t term = 0; term < call.sizes->terms; ++term) {
        for (int64_t i = 0; i < kTileColumns; ++i)
          scratch[term * kTileColumns + i] = weights[term * kTileColumns + i] * call.scale[term];
      }
    });
    return scratch;
  }

  Form form_;
  ProductSteps steps_;
};

}  // namespace

BlockedMatrix<const float> DenseCall::Left(int64_t image) const {
  const int64_t blocks = sizes->term_blocks(), rows = sizes->rows;
  return {left + image * blocks * rows * kBlockColumns, kBlockColumns, rows * kBlockColumns};
}

BlockedMatrix<float> DenseCall::Out(int64_t image) const {
  if (!sizes->is_blocked) return {out, sizes->outputs, kBlockColumns};
  return {out + Offset(image), kBlockColumns, sizes->rows * kBlockColumns};
}

int64_t DenseCall::Offset(int64_t image) const {
  return image * sizes->output_blocks() * sizes->rows * kBlockColumns;
}

void DenseCall::Finish(int64_t image, int64_t row, int64_t rows, int64_t block, int64_t blocks) const {
  BlockedMatrix<float> place = Out(image);
  place.data = place.At(row, block);
  steps->Finish({.out = place,
                 .offset = place.data - out,
                 .column = block * kBlockColumns,
                 .rows = rows,
                 .blocks = blocks},
                sizes->outputs, operands);
}

std::optional<PreparedKernel> MakeDenseProduct(const KernelRequest& request, const DenseSizes& sizes,
                                               const DenseInputs& inputs,
                                               llvm::ArrayRef<PostOperation> posts) {
  if (!request.way.empty() && request.way != kTiles && request.way != kFewer) return std::nullopt;
  if (!HasLanes()) return std::nullopt;
  // Rows of a matrix are written in whole blocks.
  if (!sizes.is_blocked && sizes.outputs % kBlockColumns != 0) return std::nullopt;
  const size_t rank = request.outputs[0].shape.size();
  const int64_t channel_axis = sizes.is_blocked ? 1 : static_cast<int64_t>(rank) - 1;
  std::optional<ProductSteps> steps = ProductSteps::Make(request, posts, channel_axis);
  if (!steps) return std::nullopt;
  DenseProduct::Form form{
      .sizes = sizes, .inputs = inputs, .fewer = std::nullopt, .threads = CurrentThreads()};
  if (request.precision != Precision::kExact && inputs.scale < 0 && request.way != kTiles)
    form.fewer = FewerProducts::Make(sizes, request.way == kFewer);
  if (request.way == kFewer && !form.fewer) return std::nullopt;
  PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[inputs.weights] = TiledWeights(sizes.terms, sizes.outputs, sizes.inputs_first);
  prepared.outputs.resize(1);
  if (sizes.is_blocked) {
    prepared.inputs[inputs.left] = LayoutOf(ChannelBlockedDesc(request.inputs[inputs.left].shape));
    prepared.outputs[0] = LayoutOf(ChannelBlockedDesc(request.outputs[0].shape));
    for (int input : steps->element_inputs())
      prepared.inputs[static_cast<size_t>(input)] = prepared.outputs[0];
  }
  auto kernel = std::make_shared<DenseProduct>(form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime
