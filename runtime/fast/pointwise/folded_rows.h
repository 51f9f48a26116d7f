// Kernels over contiguous axes of f32 tensors, which are viewed as [outer, terms, inner].
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::pointwise {

// A tensor with three axes, of which a kernel reduces or normalizes the middle one.
struct Folded {
  int64_t outer = 1, terms = 1, inner = 1;

  int64_t block() const { return terms * inner; }
};

// Folds the axes of a reduction to three.
kernels::OrReason<Folded> Fold(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes);

// Returns the axes from a constant input.
kernels::OrReason<llvm::SmallVector<int64_t, 8>> ConstantAxes(const kernels::KernelRequest& request,
                                                              size_t input);

// Returns no reason for dense f32 values without fused operations.
kernels::Reason IsPlain(const kernels::KernelRequest& request);

inline constexpr int64_t kColumns = 128;  // elements of the inner axis reduced at once
using Columns = std::array<double, kColumns>;

// `columns` adjacent rows, with terms `stride` apart.
struct ColumnPart {
  const float* x;
  int64_t terms, stride, columns;
};
// Reduces each row, as ReduceRow does.
template <typename Reducer>
[[gnu::always_inline]] inline void ReduceColumns(const ColumnPart& part, const Reducer& reducer,
                                                 Columns& totals) {
  totals.fill(reducer.first());
  for (int64_t k = 0; k < part.terms; ++k) {
    const float* row = part.x + k * part.stride;
    for (int64_t i = 0; i < part.columns; ++i)
      totals[i] = reducer.Combine(totals[i], reducer.Map(static_cast<double>(row[i])));
  }
}

// Rows with fewer terms are reduced several at once.
inline constexpr int64_t kShortRow = 32;
// Reduces each of `columns` rows of adjacent terms; a row starts `terms` after the one before.
template <typename Reducer>
[[gnu::always_inline]] inline void ReduceShortRows(const float* x, int64_t terms, int64_t columns,
                                                   const Reducer& reducer, Columns& totals) {
  totals.fill(reducer.first());
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t i = 0; i < columns; ++i)
      totals[i] = reducer.Combine(totals[i], reducer.Map(static_cast<double>(x[i * terms + k])));
  }
}

// Calls rows(outer) if terms are contiguous, otherwise columns(outer, first column, number of columns), on
// all threads.
template <typename Rows, typename Parts>
void ForEachLine(const Folded& of, const Rows& rows, const Parts& parts) {
  if (of.inner == 1) return tensor::ParallelFor(of.outer, of.terms, rows);
  const int64_t count = (of.inner + kColumns - 1) / kColumns;
  tensor::ParallelFor(of.outer * count, of.terms * std::min(of.inner, kColumns), [&](int64_t task) {
    const int64_t first = task % count * kColumns;
    parts(task / count, first, std::min(kColumns, of.inner - first));
  });
}

// A function of a call's views, with parameters found at planning time.
template <typename Function>
class RowKernel final : public kernels::Kernel {
 public:
  RowKernel(const Folded& folded, const Function& function) : folded_(folded), function_(function) {}

  std::string implementation() const override { return "nnefc:rows"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    function_(run, folded_);
    return Success();
  }

 private:
  const Folded folded_;
  const Function function_;
};

template <typename Function>
kernels::PreparedKernel Prepare(const kernels::KernelRequest& request, const Folded& folded,
                                const Function& function, bool in_place) {
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<RowKernel<Function>>(folded, function);
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  if (in_place) prepared.in_place = 0;
  return prepared;
}

}  // namespace nnefc::runtime::fast::pointwise
