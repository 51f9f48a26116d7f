// Matmuls of two quantized tensors with VNNI. The left operand is u8 with zero point z; the right one is
// packed as s8, the values minus 128. With their zero point y and the distance d = 128 - y
//   sum((a - z) * (b - y)) = sum(a * (b - 128)) - z * sum(b - 128) + d * sum(a - z),
// where the second term depends on the column and the last one on the row.

#include "runtime/fast/int8/tensor_matmul.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/fast/int8/packed_columns.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"
#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::KernelRequest;
using kernels::Reason;
using memory::ValueQuantization;
using simd::kBlockColumns;
using simd::kQuad;

namespace {

constexpr int64_t kScratchAlignment = 64;  // bytes
// Tiles of a part of the result, whose packed columns stay in the second cache while rows are multiplied, and
// the accumulators of a tile in rows of a panel.
constexpr int64_t kTilesOfPart = 32;
constexpr int64_t kSumsOfTile = kMaxPanelRows * kBlockColumns;

// An operand: matrices of the same size, one after another.
struct TensorOperand {
  ValueQuantization codes;
  bool is_quantized;   // u8 in memory, otherwise f32
  bool is_transposed;  // stored as columns x rows
  int64_t matrices, rows, columns;

  int64_t of_matrix() const { return rows * columns; }
  int64_t count() const { return matrices * of_matrix(); }
  // Returns the scratch bytes of its quantized values.
  int64_t quantized_bytes() const { return is_quantized ? 0 : tensor::RoundUp(count(), kScratchAlignment); }
};

// Returns the quantized values of an operand, in memory or in `scratch`.
const uint8_t* QuantizedValuesOf(const TensorOperand& operand, const std::byte* data, uint8_t* scratch) {
  if (operand.is_quantized) return reinterpret_cast<const uint8_t*>(data);
  const auto* numbers = reinterpret_cast<const float*>(data);
  const simd::QuantizedLevels levels{.low = operand.codes.NumberOf(0), .high = operand.codes.NumberOf(255)};
  tensor::ParallelParts(operand.count(), [&](int64_t begin, int64_t end) {
    simd::QuantizeRow(levels, numbers + begin, end - begin, scratch + begin);
  });
  return scratch;
}

// The operands and the result, with the indices of the matrices of both operands by matrix of the result.
struct TensorProduct {
  TensorOperand left, right;
  std::vector<int64_t> left_of, right_of;

  int64_t rows() const { return left.rows; }
  int64_t terms() const { return left.columns; }
  int64_t columns() const { return right.columns; }
  int64_t batches() const { return static_cast<int64_t>(left_of.size()); }
  int64_t quads() const { return tensor::CeilDivide(terms(), kQuad); }
  int64_t tiles() const { return tensor::CeilDivide(columns(), kBlockColumns); }
  // Rows of the left operand are read in groups of four values.
  int64_t row_bytes() const { return quads() * kQuad; }
  bool CopiesRows() const { return left.is_transposed || row_bytes() != terms(); }

  // Scratch bytes.
  int64_t copied_bytes() const {
    return CopiesRows() ? tensor::RoundUp(left.matrices * rows() * row_bytes(), kScratchAlignment) : 0;
  }
  int64_t tile_bytes() const { return PackedTileBytes(terms()); }
  int64_t packed_bytes() const { return right.matrices * tiles() * tile_bytes(); }
  int64_t start_bytes() const { return right.matrices * tiles() * kBlockColumns * int64_t{sizeof(int32_t)}; }
};

// Copies rows of the left operand, with zeros up to whole groups of four.
void CopyRow(const TensorProduct& product, const uint8_t* matrix, int64_t row, uint8_t* out) {
  const int64_t terms = product.terms();
  if (product.left.is_transposed) {
    for (int64_t k = 0; k < terms; ++k) out[k] = matrix[k * product.rows() + row];
  } else {
    std::copy_n(matrix + row * terms, terms, out);
  }
  std::fill(out + terms, out + product.row_bytes(), uint8_t{0});
}

class TensorMatmul final : public kernels::Kernel {
 public:
  TensorMatmul(TensorProduct product, Int8Epilogue results)
      : product_(std::move(product)), results_(std::move(results)), threads_(tensor::CurrentThreads()) {}

  std::string implementation() const override { return "nnefc:int8_tensors"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(epilogue_bytes() + product_.left.quantized_bytes() + product_.copied_bytes() +
                               product_.right.quantized_bytes() + product_.packed_bytes() +
                               product_.start_bytes());
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(threads_);
    auto* scratch = reinterpret_cast<uint8_t*>(run.scratch);
    const auto take = [&](int64_t bytes) { return std::exchange(scratch, scratch + bytes); };
    const Int8Epilogue::Call results = results_.CallOf(run, reinterpret_cast<float*>(take(epilogue_bytes())));
    Call call{.results = &results};
    call.left = QuantizedValuesOf(product_.left, run.input(0).bytes(), take(product_.left.quantized_bytes()));
    if (product_.CopiesRows()) call.left = CopyRows(call.left, take(product_.copied_bytes()));
    const uint8_t* right =
        QuantizedValuesOf(product_.right, run.input(1).bytes(), take(product_.right.quantized_bytes()));
    auto* packed = reinterpret_cast<int8_t*>(take(product_.packed_bytes()));
    auto* starts = reinterpret_cast<int32_t*>(take(product_.start_bytes()));
    Pack(right, packed, starts);
    call.packed = packed;
    call.starts = starts;
    Multiply(call);
    return Success();
  }

 private:
  struct Call {
    const Int8Epilogue::Call* results;
    const uint8_t* left = nullptr;
    const int8_t* packed = nullptr;
    const int32_t* starts = nullptr;
  };
  // A part of a matrix of the result.
  struct Part {
    int64_t batch;
    simd::IndexRange rows, tiles;
  };

  int64_t epilogue_bytes() const {
    return tensor::RoundUp(results_.scratch_floats() * int64_t{sizeof(float)}, kScratchAlignment);
  }

  const uint8_t* CopyRows(const uint8_t* from, uint8_t* out) const {
    tensor::ParallelFor(product_.left.matrices * product_.rows(), product_.terms(), [&](int64_t row) {
      const int64_t matrix = row / product_.rows();
      CopyRow(product_, from + matrix * product_.left.of_matrix(), row % product_.rows(),
              out + row * product_.row_bytes());
    });
    return out;
  }

  // Packs tiles of columns, and computes their initial accumulators.
  void Pack(const uint8_t* right, int8_t* packed, int32_t* starts) const {
    const TensorOperand& operand = product_.right;
    tensor::ParallelFor(operand.matrices * product_.tiles(), product_.tile_bytes(), [&](int64_t tile) {
      const uint8_t* matrix = right + tile / product_.tiles() * operand.of_matrix();
      const int64_t first = tile % product_.tiles() * kBlockColumns;
      const int64_t columns = std::min(kBlockColumns, operand.columns - first), terms = product_.terms();
      int8_t* out = packed + tile * product_.tile_bytes();
      if (operand.is_transposed) {
        PackStoredColumns(matrix + first * terms, columns, terms, out);
      } else {
        PackStoredRows(matrix + first, operand.columns, columns, terms, out);
      }
      FindColumnStarts(out, terms, product_.left.codes.zero, starts + tile * kBlockColumns);
    });
  }

  void Multiply(const Call& call) const {
    constexpr int64_t kProductsOfElement = 16;
    const int64_t row_parts = tensor::CeilDivide(product_.rows(), kMaxStoredPixels);
    const int64_t tile_parts = tensor::CeilDivide(product_.tiles(), kTilesOfPart);
    const int64_t of_batch = row_parts * tile_parts;
    const simd::IndexRange rows{0, product_.rows()}, tiles{0, product_.tiles()};
    const int64_t cost = product_.rows() * product_.columns() / of_batch * product_.terms();
    tensor::ParallelFor(product_.batches() * of_batch, cost / kProductsOfElement, [&](int64_t task) {
      const int64_t part = task % of_batch;
      MultiplyPart(call, {.batch = task / of_batch,
                          .rows = rows.Part(row_parts, part % row_parts),
                          .tiles = tiles.Part(tile_parts, part / row_parts)});
    });
  }

  void MultiplyPart(const Call& call, const Part& part) const {
    const int64_t count = part.rows.count(), of_tile = product_.tile_bytes();
    const auto batch = static_cast<size_t>(part.batch);
    const uint8_t* left =
        call.left + (product_.left_of[batch] * product_.rows() + part.rows.begin) * product_.row_bytes();
    const int64_t first_tile = product_.right_of[batch] * product_.tiles();
    std::array<int32_t, kMaxStoredPixels> offsets, of_rows;
    for (int64_t row = 0; row < count; ++row)
      offsets[static_cast<size_t>(row)] = static_cast<int32_t>(row * product_.row_bytes());
    const bool has_row_terms = FindRowTerms(left, count, of_rows);
    const gemm::TilePanels panels(count);
    const int32_t strip = 0;
    std::array<int32_t, kTilesOfPart * kSumsOfTile> sums;
    simd::VnniTile products{.products = {.numbers = left,
                                         .seen = nullptr,
                                         .strips = &strip,
                                         .strip_count = 1,
                                         .quads = product_.quads(),
                                         .weights = nullptr,
                                         .sums = nullptr},
                            .weights_stride = of_tile,
                            .sums_stride = kSumsOfTile,
                            .start = nullptr};
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t first = panels.Begin(panel), rows = panels.RowsOf(panel);
      products.products.seen = offsets.data() + first;
      for (int64_t tile = 0, blocks = 0; tile < part.tiles.count(); tile += blocks) {
        blocks = std::min(simd::BlocksPerTile(), part.tiles.count() - tile);
        const int64_t packed = first_tile + part.tiles.begin + tile;
        products.products.weights = call.packed + packed * of_tile;
        products.products.sums = sums.data() + tile * kSumsOfTile;
        products.start = call.starts + packed * kBlockColumns;
        simd::RunVnniMicrokernel(rows, blocks, products);
      }
      for (int64_t tile = 0; has_row_terms && tile < part.tiles.count(); ++tile)
        AddRowTerms(of_rows.data() + first, rows, sums.data() + tile * kSumsOfTile);
      results_.StoreTiles(sums.data(), kSumsOfTile, part.tiles.count(),
                          {part.batch, part.rows.begin + first, rows, part.tiles.begin}, *call.results);
    }
  }

  // Finds the terms of rows, which depend on the zero point of the right operand; false if they are 0.
  bool FindRowTerms(const uint8_t* left, int64_t rows, std::array<int32_t, kMaxStoredPixels>& of_rows) const {
    const int distance = 128 - product_.right.codes.zero;
    if (distance == 0) return false;
    const int64_t terms = product_.terms(), stride = product_.row_bytes();
    const auto zeros = static_cast<int32_t>(terms * product_.left.codes.zero);
    simd::Vectorized([&, terms, stride] {
      for (int64_t row = 0; row < rows; ++row) {
        const uint8_t* from = left + row * stride;
        int32_t sum = 0;
        for (int64_t k = 0; k < terms; ++k) sum += from[k];
        of_rows[static_cast<size_t>(row)] = distance * (sum - zeros);
      }
    });
    return true;
  }
  // Adds modulo 2^32, since only the final sums fit into 32 bits.
  static void AddRowTerms(const int32_t* terms, int64_t rows, int32_t* sums) {
    simd::Vectorized([=] {
      for (int64_t row = 0; row < rows; ++row) {
        const auto term = static_cast<uint32_t>(terms[row]);
        for (int64_t j = 0; j < kBlockColumns; ++j) {
          int32_t& sum = sums[row * kBlockColumns + j];
          sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + term);
        }
      }
    });
  }

  TensorProduct product_;
  Int8Epilogue results_;
  int threads_;
};

// --- factory -------------------------------------------------------------------------

TensorOperand TensorOperandOf(const KernelRequest& request, size_t index,
                              const ir::ops::QuantizedOperands::Operand& quantization, bool is_transposed) {
  const llvm::ArrayRef<int64_t> shape = request.inputs[index].shape;
  const llvm::ArrayRef<int64_t> matrix = shape.take_back(2);
  const ValueQuantization codes{.scale = quantization.scale, .zero = quantization.zero};
  const ValueQuantization* stored = memory::QuantizationOf(request.inputs[index]);
  return {.codes = codes,
          .is_quantized = stored != nullptr && *stored == codes,
          .is_transposed = is_transposed,
          .matrices = *Volume(shape.drop_back(2)),
          .rows = matrix[is_transposed ? 1 : 0],
          .columns = matrix[is_transposed ? 0 : 1]};
}

// Returns the indices of an operand's matrices by matrix of the result.
std::vector<int64_t> MatrixIndicesOf(llvm::ArrayRef<int64_t> operand, llvm::ArrayRef<int64_t> result) {
  std::vector<int64_t> matrices = {0};
  const llvm::ArrayRef<int64_t> axes = result.drop_back(2), own = operand.drop_back(2);
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const size_t missing = axes.size() - own.size();
    const int64_t extent = axis < missing ? 1 : own[axis - missing];
    std::vector<int64_t> next;
    next.reserve(matrices.size() * static_cast<size_t>(axes[axis]));
    for (const int64_t matrix : matrices) {
      for (int64_t i = 0; i < axes[axis]; ++i) next.push_back(matrix * extent + (extent == 1 ? 0 : i));
    }
    matrices = std::move(next);
  }
  return matrices;
}

TensorProduct TensorProductOf(const KernelRequest& request) {
  const ir::ops::QuantizedOperands operands = *ir::ops::QuantizedOperandsOf(*request.node);
  const Shape& result = request.outputs[0].shape;
  return {.left = TensorOperandOf(request, 0, operands.left, request.node->Bool("transpose_a")),
          .right = TensorOperandOf(request, 1, operands.right, request.node->Bool("transpose_b")),
          .left_of = MatrixIndicesOf(request.inputs[0].shape, result),
          .right_of = MatrixIndicesOf(request.inputs[1].shape, result)};
}

tensor::Layout OperandLayoutOf(const KernelRequest& request, size_t index, const TensorOperand& operand) {
  const memory::BlockedFormat format = memory::RowMajorFormat(request.inputs[index].shape);
  return operand.is_quantized ? memory::QuantizedLayout(format, operand.codes) : memory::LayoutOf(format);
}

}  // namespace

Reason MultipliesQuantizedTensors(const KernelRequest& request) {
  const bool accepts = memory::IsDenseF32(request.inputs[0]) && memory::IsDenseF32(request.inputs[1]) &&
                       memory::IsDenseF32(request.outputs[0]);
  if (!accepts) return kNotF32;
  if (!ir::ops::QuantizedOperandsOf(*request.node)) return Reason("an operand is not quantized");
  const bool has_matrices = request.inputs[0].shape.size() >= 2 && request.inputs[1].shape.size() >= 2;
  return has_matrices ? Reason() : Reason("an operand is a vector");
}

Reason TensorMatmulApplies(const KernelRequest& request) {
  constexpr int64_t kMaxMatrices = int64_t{1} << 20;  // the kernel has an index for each
  if (!HasVnni()) return Reason("needs VNNI");
  const Shape& left = request.inputs[0].shape;
  const int64_t terms = left.end()[request.node->Bool("transpose_a") ? -2 : -1];
  if (terms > ir::ops::kMaxQuantizedTerms) return Reason("sums of {} products exceed 32 bits", terms);
  const llvm::ArrayRef<int64_t> result = request.outputs[0].shape;
  const int64_t matrices = Volume(result.drop_back(2)).value_or(kMaxMatrices + 1);
  return matrices > kMaxMatrices ? Reason("{} matrices, more than {}", matrices, kMaxMatrices) : Reason();
}

kernels::KernelOrReason MakeTensorMatmul(const KernelRequest& request) {
  TensorProduct product = TensorProductOf(request);
  const Int8Request coded(request);
  if (coded.sum) return Reason("a fused sum");
  const auto channel_axis = static_cast<int64_t>(request.outputs[0].shape.size()) - 1;
  Int8Epilogue::Form results{
      .outputs = product.columns(),
      .pixels = product.rows(),
      .is_blocked = false,
      .scales = std::vector<float>(static_cast<size_t>(product.columns()),
                                   product.left.codes.scale * product.right.codes.scale)};
  if (coded.range)
    results.folded = FoldRequantization(coded.request, *coded.range, results.scales, channel_axis);
  const bool is_folded = results.folded.has_value();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(
      is_folded ? KernelRequest{} : coded.request,
      is_folded ? llvm::ArrayRef<kernels::PostOperation>() : coded.request.posts, channel_axis);
  if (!steps) return steps.reason();
  const bool has_elements = !steps->element_inputs().empty() || steps->start() >= 0;
  if (has_elements && product.columns() % kBlockColumns != 0)
    return Reason("{} columns with a fused elementwise operand, not whole blocks", product.columns());
  if (has_elements && coded.range) return Reason("the quantization of the result cannot be folded");
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = OperandLayoutOf(request, 0, product.left);
  prepared.inputs[1] = OperandLayoutOf(request, 1, product.right);
  prepared.outputs.resize(1);
  if (coded.range) {
    prepared.outputs[0] =
        memory::QuantizedLayout(memory::RowMajorFormat(request.outputs[0].shape), coded.range->codes);
    if (!is_folded) results.quantization.emplace(*coded.range, product.columns());
  }
  auto kernel =
      std::make_shared<TensorMatmul>(std::move(product), Int8Epilogue(std::move(results), std::move(*steps)));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
