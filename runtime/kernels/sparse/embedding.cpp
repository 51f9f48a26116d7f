// EmbeddingBagOffsets, EmbeddingBagPacked and EmbeddingSegmentsSum: sums of rows of a table.

#include <algorithm>
#include <vector>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels::sparse {

namespace {

// The rows of a bag: a range in the lists of indices and weights.
struct Bag {
  int64_t first = 0;
  int64_t count = 0;
};

// Returns the row used for empty bags, or nothing if they are zeros.
FaultOr<std::optional<int64_t>> DefaultRow(const ReferenceRun& run, size_t input, int64_t rows) {
  if (run.num_inputs() <= input) return std::optional<int64_t>();
  const int64_t index = tensor::ElementsAsInts(run.input(input))[0];
  if (index < -1 || index >= rows)
    return KernelFault("the default index is {}; expected -1 or a row of {}", index, rows);
  return index < 0 ? std::optional<int64_t>() : index;
}

// out[bag] = sum over its rows of weight * table[row], or their mean.
struct BagSums {
  const ReferenceRun& run;
  llvm::ArrayRef<int64_t> rows;       // indexed by list position
  const tensor::TensorView* weights;  // indexed by list position; null: 1
  std::optional<int64_t> default_row;
  bool mean = false;

  FaultOr<Success> Run(llvm::ArrayRef<Bag> bags, llvm::ArrayRef<int64_t> places) const {
    const tensor::TensorView& table = run.input(0);
    const int64_t length = VolumeOf(llvm::ArrayRef<int64_t>(table.shape()).drop_front());
    const bool known = VisitNumericType(table.type(), [&]<typename T>(TypeTag<T>) {
      using Sum = std::conditional_t<kIsFloating<T>, double, int64_t>;
      const auto row_at = [&](int64_t row) { return table.data<T>() + row * length; };
      tensor::ParallelFor(static_cast<int64_t>(bags.size()), length * 4, [&](int64_t index) {
        const Bag bag = bags[static_cast<size_t>(index)];
        T* out = run.output().mutable_data<T>() + index * length;
        if (bag.count == 0) {
          if (default_row) {
            std::copy_n(row_at(*default_row), length, out);
          } else {
            std::fill_n(out, length, T());
          }
          return;
        }
        std::vector<Sum> sums(static_cast<size_t>(length));
        for (int64_t i = bag.first; i < bag.first + bag.count; ++i) {
          const auto place = places.empty() ? i : places[static_cast<size_t>(i)];
          const T* row = row_at(rows[static_cast<size_t>(place)]);
          const Sum weight = weights == nullptr
                                 ? Sum(1)
                                 : static_cast<Sum>(static_cast<ComputeType<T>>(weights->data<T>()[place]));
          for (int64_t k = 0; k < length; ++k)
            sums[static_cast<size_t>(k)] += weight * static_cast<Sum>(static_cast<ComputeType<T>>(row[k]));
        }
        for (int64_t k = 0; k < length; ++k) {
          Sum sum = sums[static_cast<size_t>(k)];
          if (mean) sum /= static_cast<Sum>(bag.count);
          out[k] = T(static_cast<ComputeType<T>>(sum));
        }
      });
    });
    if (!known) return UnsupportedType(run);
    return Success();
  }
};

FaultOr<std::vector<int64_t>> RowsOf(const ReferenceRun& run) {
  FaultOr<std::vector<int64_t>> rows = IndexElements(run.input(1));
  if (!rows) return rows;
  const int64_t count = run.input(0).extent(0);
  for (int64_t row : *rows) {
    if (row < 0 || row >= count) return KernelFault("index {} is outside a table of {} rows", row, count);
  }
  return rows;
}

const tensor::TensorView* WeightsOf(const ReferenceRun& run, size_t input) {
  return run.num_inputs() > input ? &run.input(input) : nullptr;
}

FaultOr<Success> BagOffsets(const ReferenceRun& run) {
  const FaultOr<std::vector<int64_t>> rows = RowsOf(run);
  if (!rows) return rows.error();
  const FaultOr<std::vector<int64_t>> offsets = IndexElements(run.input(2));
  if (!offsets) return offsets.error();
  const auto default_row = DefaultRow(run, 3, run.input(0).extent(0));
  if (!default_row) return default_row.error();
  const auto count = static_cast<int64_t>(rows->size());
  std::vector<Bag> bags;
  for (size_t i = 0; i < offsets->size(); ++i) {
    const int64_t first = (*offsets)[i];
    const int64_t end = i + 1 < offsets->size() ? (*offsets)[i + 1] : count;
    if (first < 0 || first > end || end > count)
      return KernelFault("the bag {} reaches from index {} to {}, of {}", i, first, end, count);
    bags.push_back({first, end - first});
  }
  return BagSums{run, *rows, WeightsOf(run, 4), *default_row, run.node.String("reduction") == "mean"}.Run(
      bags, {});
}

FaultOr<Success> BagPacked(const ReferenceRun& run) {
  const FaultOr<std::vector<int64_t>> rows = RowsOf(run);
  if (!rows) return rows.error();
  const int64_t length = run.input(1).extent(1);
  std::vector<Bag> bags;
  for (int64_t i = 0; i < run.input(1).extent(0); ++i) bags.push_back({i * length, length});
  return BagSums{run, *rows, WeightsOf(run, 2), std::nullopt, run.node.String("reduction") == "mean"}.Run(
      bags, {});
}

FaultOr<Success> SegmentsSum(const ReferenceRun& run) {
  const FaultOr<std::vector<int64_t>> rows = RowsOf(run);
  if (!rows) return rows.error();
  const FaultOr<std::vector<int64_t>> segments = IndexElements(run.input(2));
  if (!segments) return segments.error();
  const auto default_row = DefaultRow(run, 4, run.input(0).extent(0));
  if (!default_row) return default_row.error();
  const int64_t count = run.output().extent(0);
  std::vector<Bag> bags(static_cast<size_t>(count));
  for (int64_t segment : *segments) {
    if (segment < 0 || segment >= count)
      return KernelFault("segment {} is outside {} segments", segment, count);
    ++bags[static_cast<size_t>(segment)].count;
  }
  for (size_t i = 1; i < bags.size(); ++i) bags[i].first = bags[i - 1].first + bags[i - 1].count;
  // The list positions of each segment, in ascending order.
  std::vector<int64_t> places(segments->size()), next;
  for (const Bag& bag : bags) next.push_back(bag.first);
  for (size_t i = 0; i < segments->size(); ++i)
    places[static_cast<size_t>(next[static_cast<size_t>((*segments)[i])]++)] = static_cast<int64_t>(i);
  return BagSums{run, *rows, WeightsOf(run, 5), *default_row}.Run(bags, places);
}

}  // namespace

void RegisterEmbedding(KernelRegistry& registry) {
  registry.AddReference({"opset3"}, "EmbeddingBagOffsetsSum", BagOffsets);
  registry.AddReference({"opset15"}, "EmbeddingBagOffsets", BagOffsets);
  registry.AddReference({"opset3"}, "EmbeddingBagPackedSum", BagPacked);
  registry.AddReference({"opset15"}, "EmbeddingBagPacked", BagPacked);
  registry.AddReference({"opset3"}, "EmbeddingSegmentsSum", SegmentsSum);
}

}  // namespace nnefc::runtime::kernels::sparse
