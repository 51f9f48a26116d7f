// Raising of OpenVINO's ScaledDotProductAttention to NNEF operations.

#include <cmath>
#include <limits>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

// Returns the mask of causal attention, a summand of the scores [queries, keys]: minus infinity for later
// keys.
OutputPort CausalMask(NodeRaising& n, const nnefc::Shape& scores) {
  const int64_t queries = scores[scores.size() - 2];
  const int64_t keys = scores.back();
  std::vector<double> mask;
  for (int64_t query = 0; query < queries; ++query) {
    for (int64_t key = 0; key < keys; ++key) mask.push_back(key <= query ? 0.0 : kMasked);
  }
  Integers shape(scores.size() - 2, 1);
  shape.insert(shape.end(), {queries, keys});
  return n.Floats(mask, shape, "mask");
}

// Applies the mask: adds reals to the scores; logicals select the scores that count.
OutputPort Masked(NodeRaising& n, OutputPort scores) {
  const nnefc::Shape shape = n.Shape(scores);
  if (n.node().Bool("causal")) return n.Binary("add", scores, CausalMask(n, shape), "masked");
  // A mask of rank 0 only precedes a scale.
  if (!n.has_input(3) || n.input_rank(3) == 0) return scores;
  const OutputPort mask = n.Aligned(3, static_cast<int64_t>(shape.size()), /*may_shrink=*/false);
  if (n.input_type(3) != ElementType::kBoolean) return n.Binary("add", scores, mask, "masked");
  const OutputPort ignored = n.Floats({kMasked}, Integers(shape.size(), 1), "ignored");
  return n.Add("select", {mask, scores, ignored}, Attributes({{"dtype", "scalar"}}), "masked");
}

// softmax(query * key^T * scale + mask) * value
void RaiseAttention(NodeRaising& n) {
  n.RequireScalars();
  if (n.num_inputs() > 5) n.Decline("it has a sink");
  const int64_t rank = n.output_rank();
  const OutputPort query = n.Aligned(0, rank, /*may_shrink=*/false);
  const OutputPort key = n.Aligned(1, rank, /*may_shrink=*/false);
  const OutputPort value = n.Aligned(2, rank, /*may_shrink=*/false);
  const auto width = static_cast<double>(n.input_shape(0).back());
  const std::optional<double> scale = n.has_input(4) ? n.ScalarValue(4) : 1 / std::sqrt(width);
  if (!scale) n.Decline("its `scale` depends on data");
  const OutputPort products = n.Add("matmul", {query, key}, Attributes({{"transposeB", true}}), "products");
  const OutputPort scores = n.Binary("mul", products, n.Literal(*scale), "scores");
  const OutputPort weights =
      n.Add("softmax", Masked(n, scores), Attributes({{"axes", Integers{rank - 1}}}), "weights");
  n.SetOutput(n.Binary("matmul", weights, value));
}

}  // namespace

std::vector<RaiseEntry> AttentionEntries() {
  return {{"ScaledDotProductAttention", RaiseAttention}};
}

}  // namespace nnefc::raise
