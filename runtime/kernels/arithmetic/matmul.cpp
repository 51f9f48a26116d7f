// MatMul: C[i,j] = sum over k of A[i,k] * B[k,j] for all broadcast leading coordinates.

#include <array>
#include <cmath>
#include <vector>

#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// A matrix operand: strides of its leading axes in the result, and strides of rows and columns.
struct Operand {
  tensor::Strides leading;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
};

// Creates an operand. A vector is a row on the left and a column on the right.
Operand MakeOperand(const tensor::TensorView& view, bool transpose, bool left,
                    llvm::ArrayRef<int64_t> leading) {
  Operand operand;
  if (view.rank() == 1) {
    operand.rows = left ? 1 : view.extent(0);
    operand.columns = left ? view.extent(0) : 1;
    operand.row_stride = left ? 0 : 1;
    operand.column_stride = left ? 1 : 0;
    operand.leading.assign(leading.size(), 0);
    return operand;
  }
  const int64_t row_axis = view.rank() - (transpose ? 1 : 2);
  const int64_t column_axis = view.rank() - (transpose ? 2 : 1);
  operand.rows = view.extent(row_axis);
  operand.columns = view.extent(column_axis);
  operand.row_stride = view.strides()[static_cast<size_t>(row_axis)];
  operand.column_stride = view.strides()[static_cast<size_t>(column_axis)];
  const size_t batch_rank = static_cast<size_t>(view.rank()) - 2;
  const tensor::TensorView batch(view.type(), Shape(view.shape().begin(), view.shape().begin() + batch_rank),
                                 tensor::Strides(view.strides().begin(), view.strides().begin() + batch_rank),
                                 view.bytes());
  operand.leading = BroadcastStrides(batch, leading);
  return operand;
}

template <typename T>
void MatMulAs(const ReferenceRun& run, const Operand& a, const Operand& b, llvm::ArrayRef<int64_t> leading) {
  using C = ComputeType<T>;
  // Floats are summed in f64, integers modulo 2^64.
  using SumType = std::conditional_t<kIsFloating<T>, double, uint64_t>;
  constexpr int64_t kColumns = 64;  // columns of C per call
  const int64_t blocks = (b.columns + kColumns - 1) / kColumns;
  int64_t batches = 1;
  for (int64_t extent : leading) batches *= extent;
  T* output = run.output().mutable_data<T>();
  tensor::ParallelFor(batches * a.rows * blocks, kColumns * a.columns, [&](int64_t task) {
    const int64_t j0 = task % blocks * kColumns;
    const int64_t i = task / blocks % a.rows;
    const int64_t batch = task / blocks / a.rows;
    const int64_t count = std::min(kColumns, b.columns - j0);
    const T* a_row = run.input(0).data<T>() + BatchOffset(a.leading, leading, batch) + i * a.row_stride;
    const T* b_block = run.input(1).data<T>() + BatchOffset(b.leading, leading, batch) + j0 * b.column_stride;
    std::array<SumType, kColumns> sums{};
    const auto term = [&](int64_t k, int64_t j) {
      return static_cast<SumType>(static_cast<C>(a_row[k * a.column_stride])) *
             static_cast<SumType>(static_cast<C>(b_block[k * b.row_stride + j * b.column_stride]));
    };
    if (b.row_stride == 1) {
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t k = 0; k < a.columns; ++k) sums[static_cast<size_t>(j)] += term(k, j);
      }
    } else {
      for (int64_t k = 0; k < a.columns; ++k) {
        for (int64_t j = 0; j < count; ++j) sums[static_cast<size_t>(j)] += term(k, j);
      }
    }
    T* out = output + (batch * a.rows + i) * b.columns + j0;
    for (int64_t j = 0; j < count; ++j) out[j] = T(static_cast<C>(sums[static_cast<size_t>(j)]));
  });
}

FaultOr<Success> MatMul(const ReferenceRun& run) {
  const tensor::TensorView& a = run.input(0);
  const tensor::TensorView& b = run.input(1);
  llvm::ArrayRef<int64_t> leading = run.output().shape();
  leading = leading.drop_back((a.rank() > 1 ? 1 : 0) + (b.rank() > 1 ? 1 : 0));
  const Operand left = MakeOperand(a, run.node.Bool("transpose_a"), true, leading);
  const Operand right = MakeOperand(b, run.node.Bool("transpose_b"), false, leading);
  if (left.columns != right.rows) return KernelFault("{} columns meet {} rows", left.columns, right.rows);
  if (!VisitNumericType(a.type(), [&]<typename T>(TypeTag<T>) { MatMulAs<T>(run, left, right, leading); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// Inverts `a` into `b`, initially the unit matrix, by Gauss-Jordan elimination with row pivoting. Singular
// matrices yield infinities and NaN.
void Invert(std::vector<double>& a, std::vector<double>& b, int64_t size) {
  const auto at = [size](int64_t row, int64_t column) { return static_cast<size_t>(row * size + column); };
  for (int64_t k = 0; k < size; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < size; ++i) {
      if (std::abs(a[at(i, k)]) > std::abs(a[at(pivot, k)])) pivot = i;
    }
    for (int64_t j = 0; pivot != k && j < size; ++j) {
      std::swap(a[at(k, j)], a[at(pivot, j)]);
      std::swap(b[at(k, j)], b[at(pivot, j)]);
    }
    const double head = a[at(k, k)];
    for (int64_t j = 0; j < size; ++j) {
      a[at(k, j)] /= head;
      b[at(k, j)] /= head;
    }
    for (int64_t i = 0; i < size; ++i) {
      const double factor = a[at(i, k)];
      if (i == k || factor == 0) continue;
      for (int64_t j = 0; j < size; ++j) {
        a[at(i, j)] -= factor * a[at(k, j)];
        b[at(i, j)] -= factor * b[at(k, j)];
      }
    }
  }
}

// Inverse-14; `adjoint`: inverse of the transposed matrix.
FaultOr<Success> Inverse(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const int64_t size = data.extent(data.rank() - 1);
  const bool is_transposed = run.node.Bool("adjoint");
  if (data.volume() == 0) return Success();
  const bool known = VisitFloatType(data.type(), [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(data.volume() / (size * size), size * size * size, [&](int64_t matrix) {
      const T* x = data.data<T>() + matrix * size * size;
      T* out = run.output().mutable_data<T>() + matrix * size * size;
      std::vector<double> a(static_cast<size_t>(size * size)), b(a.size());
      for (int64_t i = 0; i < size * size; ++i) {
        const int64_t from = is_transposed ? i % size * size + i / size : i;
        a[static_cast<size_t>(i)] = AsDouble(x[from]);
      }
      for (int64_t k = 0; k < size; ++k) b[static_cast<size_t>(k * size + k)] = 1;
      Invert(a, b, size);
      for (size_t i = 0; i < b.size(); ++i) out[i] = T(static_cast<ComputeType<T>>(b[i]));
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterMatMul(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "MatMul", MatMul);
  registry.AddReference({"opset14"}, "Inverse", Inverse);
}

}  // namespace nnefc::runtime::kernels
