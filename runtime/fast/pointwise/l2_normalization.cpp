// Division of rows by their norms.

#include "runtime/fast/pointwise/l2_normalization.h"

#include <algorithm>

#include "runtime/fast/pointwise/reduce_row.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/pointwise/row_statistics_microkernel.h"
#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::pointwise {

namespace {

class L2Normalization final : public kernels::Kernel {
 public:
  explicit L2Normalization(const NormFloor& floor) : floor_(floor) {}

  std::string implementation() const override { return "nnefc:rows"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    constexpr int64_t kRows = 64;  // rows per task
    const tensor::TensorView& x = run.input(0);
    const bool is_dense = x.strides() == tensor::DenseStrides(x.shape());
    const int64_t rank = x.rank(), terms = x.extent(rank - 1);
    const int64_t rows = is_dense || rank < 2 ? x.volume() / terms : x.extent(rank - 2);
    const int64_t stride = is_dense || rank < 2 ? terms : x.strides()[static_cast<size_t>(rank - 2)];
    const auto batch = [&](llvm::ArrayRef<int64_t> of) {
      return is_dense ? of.take_front(0) : of.drop_back(2);
    };
    const int64_t parts = tensor::CeilDivide(rows, kRows);
    tensor::ParallelFor(x.volume() / terms / rows * parts, kRows * terms, [&](int64_t task) {
      const int64_t index = task / parts, first = task % parts * kRows;
      const float* from = x.data<float>() + kernels::BatchOffset(batch(x.strides()), batch(x.shape()), index);
      Rows({.x = from + first * stride,
            .stride = stride,
            .out = run.output().mutable_data<float>() + (index * rows + first) * terms,
            .rows = std::min(kRows, rows - first),
            .terms = terms,
            .eps = static_cast<float>(floor_.eps),
            .adds = floor_.adds});
    });
    return Success();
  }

 private:
  void Rows(simd::NormalizedRows rows) const {
    while (rows.rows > 0) {
      Skip(rows, simd::NormalizeRows(rows));
      const int64_t apart = std::min(rows.rows, simd::RowsPerVector());
      for (int64_t i = 0; i < apart; ++i)
        NormalizeRow(rows.x + i * rows.stride, rows.terms, floor_, rows.out + i * rows.terms);
      Skip(rows, apart);
    }
  }
  static void Skip(simd::NormalizedRows& rows, int64_t count) {
    rows.x += count * rows.stride;
    rows.out += count * rows.terms;
    rows.rows -= count;
  }

  NormFloor floor_;
};

}  // namespace

void NormalizeRow(const float* x, int64_t terms, const NormFloor& floor, float* out) {
  simd::Vectorized([=] {
    const float factor = floor.FactorOf(ReduceRow(x, terms, SumOfSquares()));
    for (int64_t i = 0; i < terms; ++i) out[i] = x[i] * factor;
  });
}

kernels::KernelOrReason MakeL2Normalization(const kernels::KernelRequest& request, const NormFloor& floor) {
  const Shape& shape = request.inputs[0].shape;
  if (shape.empty() || Volume(shape) == 0) return kernels::Reason("no elements");
  if (!simd::FitsFloatSums(shape.back())) return kernels::Reason("rows of {} elements", shape.back());
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<L2Normalization>(floor);
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(1);
  if (tensor::StridesOf(request.inputs[0].layout) != nullptr) {
    prepared.inputs[0] = request.inputs[0].layout;
  } else {
    prepared.in_place = 0;
  }
  return prepared;
}

}  // namespace nnefc::runtime::fast::pointwise
