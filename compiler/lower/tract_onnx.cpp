// Lowerings of the primitives of tract's registry tract_onnx.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "compiler/ir/ops/rules.h"
#include "compiler/ir/wording.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// The largest number of boxes: no limit for OpenVINO.
constexpr int64_t kNoLimit = std::numeric_limits<int32_t>::max();

void LowerNonZero(NodeLowering& n) {
  n.SetOutput(n.Add("opset3", "NonZero", {n.input(0)}, Attributes({{"output_type", ElementType::kI64}})));
}

// Returns the maximum number of boxes of a class, where 0 is no limit.
OutputPort MaxBoxes(NodeLowering& n) {
  const OutputPort given = n.input(2);
  if (const std::optional<double> known = n.ScalarValue(given))
    return n.ConstInt(*known == 0 ? kNoLimit : static_cast<int64_t>(*known), "limit");
  const OutputPort is_zero = n.Binary("Equal", given, n.ConstInt(0, "zero"));
  return n.Add("opset1", "Select", {is_zero, n.ConstInt(kNoLimit, "none"), given}, {}, "limit");
}

void LowerNonMaxSuppression(NodeLowering& n) {
  const bool is_center = n.Int("center_point_box") == 1;
  const ir::NodeId selected =
      n.AddNode("opset9", "NonMaxSuppression", {n.input(0), n.input(1), MaxBoxes(n), n.input(3), n.input(4)},
                Attributes({{"box_encoding", is_center ? "center" : "corner"},
                            {"sort_result_descending", false},
                            {"output_type", ElementType::kI64}}),
                3);
  n.SetOutput({selected, 0});
}

// Returns a non-negative seed of the attribute, not 0: OpenVINO draws other numbers in each run for that.
int64_t SeedOf(NodeLowering& n) {
  const double seed = std::fmod(std::abs(n.Double("seed")), static_cast<double>(kNoLimit));
  return static_cast<int64_t>(seed) + 1;
}

void LowerUniform(NodeLowering& n) {
  n.SetOutput(
      n.Add("opset8", "RandomUniform",
            {n.ConstInts(n.Ints("shape"), "shape"), n.ConstFloat(0, "low"), n.ConstFloat(1, "high")},
            Attributes({{"output_type", ElementType::kF32}, {"global_seed", 1}, {"op_seed", SeedOf(n)}})));
}

void LowerMultinomial(NodeLowering& n) {
  n.SetOutput(n.Add("opset13", "Multinomial", {n.input(0), n.ConstInts({n.Int("sample_size")}, "samples")},
                    Attributes({{"convert_type", ElementType::kI64},
                                {"with_replacement", true},
                                {"log_probs", true},
                                {"global_seed", 1},
                                {"op_seed", SeedOf(n)}})));
}

// ---- tract_onnx_resample ----

// The settings of a resampling along one axis of ONNX's Resize.
struct AxisResampling {
  std::string coordinates, interpolator, nearest;
  double scale = 1;
  int64_t before = 0, after = 0;  // extents
  double begin = 0, end = 1;      // the region of `tf_crop_and_resize`, in shares of the axis
  double sharpness = -0.75;       // of cubic weights
  bool excludes_outside = false, antialiases = false;
};

// Returns the position in the input of an output element. As in ONNX, the scaled extent counts, not the whole
// one that is left of it, but for symmetric positions.
double PositionOf(int64_t index, const AxisResampling& axis) {
  const auto x = static_cast<double>(index), before = static_cast<double>(axis.before);
  const double last = before - 1, reach = axis.scale * before - 1;
  if (axis.coordinates == "asymmetric") return x / axis.scale;
  if (axis.coordinates == "align_corners") return reach == 0 ? 0 : x * last / reach;
  if (axis.coordinates == "tf_crop_and_resize")
    return reach > 0 ? axis.begin * last + x * (axis.end - axis.begin) * last / reach
                     : 0.5 * (axis.begin + axis.end) * last;
  const double centered = (x + 0.5) / axis.scale - 0.5;
  if (axis.coordinates == "half_pixel_symmetric")
    return before / 2 * (1 - static_cast<double>(axis.after) / (axis.scale * before)) + centered;
  return axis.coordinates == "pytorch_half_pixel" && axis.after <= 1 ? 0 : centered;
}

// Returns the weight of an element at a distance, in elements of the narrower of input and output.
double WeightAt(double distance, const AxisResampling& axis) {
  const double s = std::abs(distance), a = axis.sharpness;
  if (axis.interpolator == "linear") return std::max(0.0, 1 - s);
  if (s <= 1) return ((a + 2) * s - (a + 3)) * s * s + 1;
  return s <= 2 ? ((a * s - 5 * a) * s + 8 * a) * s - 4 * a : 0;
}

int64_t NearestOf(double position, const std::string& mode) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(position));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(position));
  return static_cast<int64_t>(mode == "round_prefer_floor" ? std::ceil(position - 0.5)
                                                           : std::floor(position + 0.5));
}

// Returns the weights [after, before] of a resampling. Elements before the first one and after the last one
// have the values of these.
std::vector<float> ResamplingWeights(const AxisResampling& axis) {
  std::vector<float> matrix(static_cast<size_t>(axis.after * axis.before), 0.0F);
  const bool is_nearest = axis.interpolator == "nearest";
  // With anti-aliasing, the weights of a smaller output extend over more input elements.
  const double stretch = axis.antialiases ? std::min(axis.scale, 1.0) : 1.0;
  const auto reach = static_cast<int64_t>(std::ceil((axis.interpolator == "cubic" ? 2.0 : 1.0) / stretch));
  for (int64_t index = 0; index < axis.after; ++index) {
    const double position = PositionOf(index, axis);
    const auto cell = static_cast<int64_t>(std::floor(position));
    std::map<int64_t, double> weights;  // key: an element, possibly outside
    if (is_nearest) weights[NearestOf(position, axis.nearest)] = 1;
    for (int64_t i = cell - reach; !is_nearest && i <= cell + reach + 1; ++i) {
      const bool is_outside = i < 0 || i >= axis.before;
      if (axis.excludes_outside && is_outside) continue;
      weights[i] = WeightAt((static_cast<double>(i) - position) * stretch, axis);
    }
    double sum = 0;
    for (const auto& [element, weight] : weights) sum += weight;
    for (const auto& [element, weight] : weights) {
      const int64_t column = std::clamp<int64_t>(element, 0, axis.before - 1);
      matrix[static_cast<size_t>(index * axis.before + column)] += static_cast<float>(weight / sum);
    }
  }
  return matrix;
}

// Multiplies an axis by a matrix [after, before].
OutputPort MultiplyAxis(NodeLowering& n, OutputPort x, int64_t index, const AxisResampling& axis) {
  const int64_t rank = n.input_rank(0);
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(index)], order.back());
  const bool is_last = index == rank - 1;
  const auto transposed = [&](OutputPort port, std::string_view suffix) {
    if (is_last) return port;
    return n.Add("opset1", "Transpose", {port, n.ConstInts(order, "order")}, {}, suffix);
  };
  const OutputPort weights =
      n.Constant(TensorValue::FromFloats({axis.after, axis.before}, ResamplingWeights(axis)), "weights");
  const OutputPort product = n.Add("opset1", "MatMul", {transposed(x, "columns"), weights},
                                   Attributes({{"transpose_a", false}, {"transpose_b", true}}), "resampled");
  return transposed(product, "rows");
}

// Replaces elements at positions outside the input by a value.
OutputPort ReplaceOutside(NodeLowering& n, OutputPort x, int64_t index, const AxisResampling& axis) {
  nnefc::Shape shape(static_cast<size_t>(n.input_rank(0)), 1);
  shape[static_cast<size_t>(index)] = axis.after;
  bool is_any = false;
  TensorValue outside =
      TensorValue::Make<uint8_t>(ElementType::kBoolean, shape, [&](std::span<uint8_t> items) {
        for (int64_t i = 0; i < axis.after; ++i) {
          const double position = PositionOf(i, axis);
          const bool is_outside = position < 0 || position > static_cast<double>(axis.before - 1);
          items[static_cast<size_t>(i)] = is_outside;
          is_any |= is_outside;
        }
      });
  if (!is_any) return x;
  return n.Add(
      "opset1", "Select",
      {n.Constant(std::move(outside), "outside"), n.ConstFloat(n.Double("extrapolation_value"), "value"), x},
      {}, "extrapolated");
}

void LowerResample(NodeLowering& n) {
  constexpr int64_t kMaxWeights = int64_t{1} << 28;
  const std::vector<double> scales = n.node().Doubles("scales"), region = n.node().Doubles("roi");
  const std::string coordinates = n.String("coord_transformer");
  const bool has_region = coordinates == "tf_crop_and_resize";
  OutputPort x = n.input(0);
  std::vector<std::pair<int64_t, AxisResampling>> axes;
  for (size_t i = 0; i < scales.size(); ++i) {
    const double begin = has_region ? region[i] : 0, end = has_region ? region[scales.size() + i] : 1;
    if (scales[i] == 1 && begin == 0 && end == 1) continue;
    const ir::Dim before = n.input_shape(0)[static_cast<int64_t>(i)];
    if (!before.known()) return n.UnknownExtent("`input` of `tract_onnx_resize`", static_cast<int64_t>(i));
    const int64_t after = n.output_shape()[static_cast<int64_t>(i)].value();
    if (before.value() > kMaxWeights / after)
      return n.Error(kWindowTooLarge,
                     "`{}` weighs {} by {} elements along axis {}; expected at most {} weights",
                     ir::OperationName(n.node()), after, before.value(), i, kMaxWeights);
    axes.push_back({static_cast<int64_t>(i),
                    {.coordinates = coordinates,
                     .interpolator = n.String("interpolator"),
                     .nearest = n.String("nearest_mode"),
                     .scale = static_cast<double>(static_cast<float>(scales[i])),
                     .before = before.value(),
                     .after = after,
                     .begin = begin,
                     .end = end,
                     .sharpness = n.Double("cubic_coeff_a"),
                     .excludes_outside = n.Bool("exclude_outside"),
                     .antialiases = n.Bool("antialias")}});
  }
  for (const auto& [index, axis] : axes) x = MultiplyAxis(n, x, index, axis);
  for (const auto& [index, axis] : axes) {
    if (has_region) x = ReplaceOutside(n, x, index, axis);
  }
  n.SetOutput(x);
}

// ---- tract_onnx_trees ----

// Comparisons of a feature with a threshold, with tract's numbers in the last column of `nodes`.
constexpr std::pair<int64_t, const char*> kComparisons[] = {
    {1, "Equal"}, {2, "NotEqual"}, {3, "Less"}, {4, "Greater"}, {5, "LessEqual"}, {6, "GreaterEqual"}};

// The largest number of votes, of each node for each class.
constexpr int64_t kMaxVotes = int64_t{1} << 28;

// The nodes of decision trees as columns. A leaf is its own child.
struct Forest {
  std::vector<int64_t> roots, feature, when_true, when_false, comparison, nan_is_true;
  std::vector<float> threshold;
  std::vector<std::map<int64_t, std::vector<float>>> votes;  // key: class
  int64_t depth = 0;
};

float FloatOf(int64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

// Reads the data of trees: `trees` has the roots; a row of `nodes` has a feature, the children if the
// comparison is true and false, a threshold, and the comparison (with 256 if NaN is true), or for a leaf the
// range of its rows in `leaves`; these have a class and a weight. Reports data without that meaning.
class ForestReader {
 public:
  explicit ForestReader(NodeLowering& n) : n_(n) {}

  std::optional<Forest> Read() {
    const auto trees = Integers(1), nodes = Integers(2), leaves = Integers(3);
    if (!trees || !nodes || !leaves) return std::nullopt;
    if (nodes->size() % 5 != 0 || leaves->size() % 2 != 0 || trees->empty())
      return Fail("`nodes` has {} items and `leaves` {}; expected rows of 5 and of 2", nodes->size(),
                  leaves->size());
    Forest forest{.roots = *trees};
    const auto count = static_cast<int64_t>(nodes->size() / 5);
    if (n_.Int("n_classes") > kMaxVotes / std::max<int64_t>(count, 1))
      return Fail("{} nodes have votes for {} classes; expected at most {} in all", count,
                  n_.Int("n_classes"), kMaxVotes);
    forest.votes.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* row = nodes->data() + 5 * i;
      const int64_t comparison = row[4] & 0xff;
      const bool is_leaf = comparison == 0;
      if (comparison > 6) return Fail("node {} has the comparison {}; expected at most 6", i, comparison);
      const auto is_node = [&](int64_t child) { return child >= 0 && child < count; };
      const bool has_feature = row[0] >= 0 && row[0] <= n_.Int("max_used_feature");
      if (!is_leaf && (!is_node(row[1]) || !is_node(row[2]) || !has_feature))
        return Fail("node {} compares feature {} and leads to the nodes {} and {} of {}", i, row[0], row[1],
                    row[2], count);
      if (is_leaf && !AddVotes(row[0], row[1], *leaves, forest.votes[static_cast<size_t>(i)]))
        return std::nullopt;
      forest.feature.push_back(is_leaf ? 0 : row[0]);
      forest.when_true.push_back(is_leaf ? i : row[1]);
      forest.when_false.push_back(is_leaf ? i : row[2]);
      forest.threshold.push_back(is_leaf ? 0 : FloatOf(row[3]));
      forest.comparison.push_back(comparison);
      forest.nan_is_true.push_back((row[4] >> 8) & 1);
    }
    return ReadDepth(forest) ? std::optional(std::move(forest)) : std::nullopt;
  }

 private:
  template <typename... Args>
  std::nullopt_t Fail(fmt::format_string<Args...> format, Args&&... args) {
    n_.Error(ir::ops::kTractTrees, "{}", fmt::format(format, std::forward<Args>(args)...));
    return std::nullopt;
  }

  // Returns the items of an input that is known during compilation.
  std::optional<std::vector<int64_t>> Integers(int32_t index) {
    const TensorValue* value = n_.Value(n_.input(index));
    if (value == nullptr)
      return Fail("`{}` of `tract_onnx_ml_tree_ensemble_classifier` is not known during compilation",
                  n_.node().info().inputs[static_cast<size_t>(index)].name);
    std::vector<int64_t> items;
    for (int64_t i = 0; i < value->volume(); ++i) items.push_back(value->ElementAsInt(i));
    return items;
  }

  bool AddVotes(int64_t begin, int64_t end, const std::vector<int64_t>& leaves,
                std::map<int64_t, std::vector<float>>& votes) {
    const auto rows = static_cast<int64_t>(leaves.size() / 2);
    if (begin < 0 || begin > end || end > rows) {
      Fail("a leaf has the rows {} to {} of {}", begin, end, rows);
      return false;
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t category = leaves[static_cast<size_t>(2 * i)];
      if (category < 0 || category >= n_.Int("n_classes")) {
        Fail("row {} of `leaves` names the class {} of {}", i, category, n_.Int("n_classes"));
        return false;
      }
      votes[category].push_back(FloatOf(leaves[static_cast<size_t>(2 * i + 1)]));
    }
    return true;
  }

  // Computes the number of comparisons on the longest path.
  bool ReadDepth(Forest& forest) {
    std::set<int64_t> level(forest.roots.begin(), forest.roots.end());
    const auto count = static_cast<int64_t>(forest.feature.size());
    if (*level.rbegin() >= count || *level.begin() < 0) {
      Fail("a tree begins at node {} of {}", *level.begin() < 0 ? *level.begin() : *level.rbegin(), count);
      return false;
    }
    for (;; ++forest.depth) {
      std::set<int64_t> next;
      for (int64_t node : level) {
        const auto i = static_cast<size_t>(node);
        if (forest.comparison[i] != 0) next.insert({forest.when_true[i], forest.when_false[i]});
      }
      if (next.empty()) return true;
      if (forest.depth > count) {
        Fail("the nodes of a tree lead back to themselves");
        return false;
      }
      level = std::move(next);
    }
  }

  NodeLowering& n_;
};

// The nodes that evaluate trees for rows of features [rows, features].
class ForestLowering {
 public:
  ForestLowering(NodeLowering& n, const Forest& forest, OutputPort rows)
      : n_(n), forest_(forest), rows_(rows) {}

  // Returns the aggregated votes [rows, classes].
  OutputPort Votes() {
    const OutputPort leaves = Leaves();
    const std::string aggregate = n_.String("aggregate_fn");
    const bool is_max = aggregate == "MAX", is_min = aggregate == "MIN";
    const auto sum = [](const std::vector<float>& votes) {
      return std::accumulate(votes.begin(), votes.end(), 0.0F);
    };
    // As in tract, the largest and the least vote are those of 0 and all votes.
    const auto largest = [](const std::vector<float>& votes) {
      return std::max(0.0F, *std::max_element(votes.begin(), votes.end()));
    };
    const auto least = [](const std::vector<float>& votes) {
      return std::min(0.0F, *std::min_element(votes.begin(), votes.end()));
    };
    const OutputPort votes = is_max   ? Gathered(Table(largest), leaves)
                             : is_min ? Gathered(Table(least), leaves)
                                      : Gathered(Table(sum), leaves);
    const OutputPort total = Reduced(is_max ? "ReduceMax" : is_min ? "ReduceMin" : "ReduceSum", votes);
    if (aggregate != "AVERAGE") return total;
    const auto count = [](const std::vector<float>& votes) { return static_cast<float>(votes.size()); };
    const OutputPort counts = Reduced("ReduceSum", Gathered(Table(count), leaves));
    return n_.Binary("Divide", total, n_.Binary("Maximum", counts, n_.ConstFloat(1, "one")), "average");
  }

 private:
  // Returns the numbers of the leaves that the rows reach [rows, trees].
  OutputPort Leaves() {
    const OutputPort roots = n_.ConstInts(forest_.roots, "roots");
    OutputPort nodes = roots;
    for (int64_t level = 0; level < std::max<int64_t>(forest_.depth, 1); ++level) {
      const OutputPort features = Gathered(n_.ConstInts(forest_.feature, "features"), nodes);
      const OutputPort values =
          level == 0
              ? n_.Add("opset8", "Gather", {rows_, features, n_.ConstInt(1, "axis")},
                       Attributes({{"batch_dims", 0}}), "values")
              : n_.Add("opset6", "GatherElements", {rows_, features}, Attributes({{"axis", 1}}), "values");
      const OutputPort when_true = Gathered(n_.ConstInts(forest_.when_true, "when_true"), nodes);
      const OutputPort when_false = Gathered(n_.ConstInts(forest_.when_false, "when_false"), nodes);
      nodes = n_.Add("opset1", "Select", {Compared(values, nodes), when_true, when_false}, {}, "nodes");
    }
    return nodes;
  }

  // Returns the results of the comparisons of nodes.
  OutputPort Compared(OutputPort values, OutputPort nodes) {
    const OutputPort thresholds = Gathered(
        n_.Constant(
            TensorValue::FromFloats({static_cast<int64_t>(forest_.threshold.size())}, forest_.threshold),
            "thresholds"),
        nodes);
    const OutputPort comparisons = Gathered(n_.ConstInts(forest_.comparison, "comparisons"), nodes);
    std::optional<OutputPort> result;
    for (const auto& [number, type] : kComparisons) {
      if (std::find(forest_.comparison.begin(), forest_.comparison.end(), number) == forest_.comparison.end())
        continue;
      const OutputPort compared = n_.Add("opset1", type, {values, thresholds}, {}, "compared");
      const OutputPort is_it =
          n_.Add("opset1", "Equal", {comparisons, n_.ConstInt(number, "number")}, {}, "is_it");
      result = result ? n_.Add("opset1", "Select", {is_it, compared, *result}, {}, "chosen") : compared;
    }
    // Trees of leaves alone: any result will do.
    if (!result) result = n_.Add("opset1", "Equal", {values, thresholds}, {}, "compared");
    const OutputPort is_number = n_.Add("opset1", "Equal", {values, values}, {}, "is_number");
    const OutputPort for_nan =
        n_.Add("opset1", "Equal",
               {Gathered(n_.ConstInts(forest_.nan_is_true, "nan_is_true"), nodes), n_.ConstInt(1, "true")},
               {}, "for_nan");
    return n_.Add("opset1", "Select", {is_number, *result, for_nan}, {}, "is_true");
  }

  // Returns a value for each node and class [nodes, classes], 0 for a class without votes.
  template <typename Function>
  OutputPort Table(Function value) {
    const auto classes = static_cast<size_t>(n_.Int("n_classes"));
    std::vector<float> table(forest_.votes.size() * classes, 0.0F);
    for (size_t i = 0; i < forest_.votes.size(); ++i) {
      for (const auto& [category, votes] : forest_.votes[i])
        table[i * classes + static_cast<size_t>(category)] = value(votes);
    }
    return n_.Constant(
        TensorValue::FromFloats({static_cast<int64_t>(forest_.votes.size()), n_.Int("n_classes")}, table),
        "votes");
  }

  OutputPort Gathered(OutputPort table, OutputPort indices) {
    return n_.Add("opset8", "Gather", {table, indices, n_.ConstInt(0, "axis")},
                  Attributes({{"batch_dims", 0}}), "gathered");
  }
  OutputPort Reduced(std::string_view type, OutputPort votes) {
    return n_.Add("opset1", type, {votes, n_.ConstInts({1}, "axes")}, Attributes({{"keep_dims", false}}),
                  "aggregated");
  }

  NodeLowering& n_;
  const Forest& forest_;
  OutputPort rows_;
};

void LowerTrees(NodeLowering& n) {
  const std::optional<Forest> forest = ForestReader(n).Read();
  if (!forest) return;
  const bool is_row = n.input_rank(0) == 1;
  const OutputPort rows = is_row ? n.Reshape(n.input(0), {1, -1}, "row") : n.input(0);
  const OutputPort votes = ForestLowering(n, *forest, rows).Votes();
  n.SetOutput(is_row ? n.Reshape(votes, {-1}, "votes") : votes);
}

}  // namespace

void RegisterTractOnnx(LoweringTable& table) {
  table["tract_onnx_non_zero"] = LowerNonZero;
  table["tract_onnx_non_max_suppression"] = LowerNonMaxSuppression;
  table["tract_onnx_uniform"] = LowerUniform;
  table["tract_onnx_multinomial"] = LowerMultinomial;
  table["tract_onnx_resample"] = LowerResample;
  table["tract_onnx_trees"] = LowerTrees;
}

}  // namespace nnefc::lower
