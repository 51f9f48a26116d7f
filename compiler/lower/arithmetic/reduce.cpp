// Lowerings of NNEF's reductions to OpenVINO operations.

#include "compiler/lower/arithmetic/reduce.h"

#include <algorithm>

#include "compiler/lower/arithmetic/integer_arithmetic.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

OutputPort Reduce(NodeLowering& n, std::string_view type, OutputPort x, const std::vector<int64_t>& axes,
                  std::string_view suffix) {
  if (axes.empty()) return x;
  return n.Add("opset1", type, {x, n.ConstInts(axes, "axes")}, Attributes({{"keep_dims", true}}), suffix);
}

void LowerReduction(NodeLowering& n) {
  n.SetOutput(Reduce(n, n.node().info().equivalent, n.input(0), n.Ints("axes")));
}

namespace {

// A normalized sum is a mean.
void LowerSumReduce(NodeLowering& n) {
  if (!n.Bool("normalize")) return LowerReduction(n);
  n.SetOutput(Reduce(n, "ReduceMean", n.input(0), n.Ints("axes")));
}

// The permutation and reshape that merge several axes into one, after all other axes.
struct Flattening {
  std::vector<int64_t> order;
  std::vector<int64_t> merged;  // target of a Reshape
};

Flattening Flatten(int64_t rank, const std::vector<int64_t>& axes) {
  Flattening flattening;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), i) != axes.end()) continue;
    flattening.order.push_back(i);
    flattening.merged.push_back(0);  // the extent at this index of the transposed tensor
  }
  flattening.order.insert(flattening.order.end(), axes.begin(), axes.end());
  flattening.merged.push_back(axes.empty() ? 1 : -1);
  return flattening;
}

// argmax_reduce and argmin_reduce: the lowest index wins. Indices over several axes are row-major. Integers
// are compared as integers, since two of them may have the same f32 value.
template <bool kIsMax>
void LowerArgReduce(NodeLowering& n) {
  std::vector<int64_t> axes = n.Ints("axes");
  std::sort(axes.begin(), axes.end());
  const PartialShape& shape = n.input_shape(0);
  OutputPort x = IntegersBefore(n, n.node().input(0)).value_or(n.input(0));
  const int64_t axis = axes.size() == 1 ? axes.front() : shape.rank() - static_cast<int64_t>(axes.size());
  if (axes.size() != 1) {
    const Flattening flattening = Flatten(shape.rank(), axes);
    if (!std::is_sorted(flattening.order.begin(), flattening.order.end())) {
      x = n.Add("opset1", "Transpose", {x, n.ConstInts(flattening.order, "order")});
    }
    x = n.Reshape(x, flattening.merged, "merged");
  }
  const ir::NodeId top = n.AddNode("opset11", "TopK", {x, n.ConstInt(1, "k")},
                                   Attributes({{"axis", axis},
                                               {"mode", kIsMax ? "max" : "min"},
                                               {"sort", "value"},
                                               {"index_element_type", ElementType::kI64},
                                               {"stable", true}}),
                                   2);
  OutputPort index{top, 1};
  if (axes.size() != 1) {
    // [unreduced.., 1] to the input's rank with ones at the axes.
    index = n.Add("opset1", "Squeeze", {index, n.ConstInts({axis}, "merged_axis")});
    if (!axes.empty()) index = n.Add("opset1", "Unsqueeze", {index, n.ConstInts(axes, "axes")});
  }
  n.SetOutput(index);
}

// moments: mean and variance over the axes.
void LowerMoments(NodeLowering& n) {
  const std::vector<int64_t> axes = n.Ints("axes");
  const OutputPort mean = Reduce(n, "ReduceMean", n.input(0), axes, "mean");
  const OutputPort squares = n.Binary("SquaredDifference", n.input(0), mean);
  n.SetOutput(0, mean);
  n.SetOutput(1, Reduce(n, "ReduceMean", squares, axes, "variance"));
}

}  // namespace

void RegisterReduce(LoweringTable& table) {
  table["sum_reduce"] = LowerSumReduce;
  table["mean_reduce"] = LowerReduction;
  table["max_reduce"] = LowerReduction;
  table["min_reduce"] = LowerReduction;
  table["all_reduce"] = LowerReduction;
  table["any_reduce"] = LowerReduction;
  table["argmax_reduce"] = LowerArgReduce<true>;
  table["argmin_reduce"] = LowerArgReduce<false>;
  table["moments"] = LowerMoments;
}

}  // namespace nnefc::lower
