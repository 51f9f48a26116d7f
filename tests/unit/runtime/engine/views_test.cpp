// Nodes that move elements, with outputs as views of their inputs and without.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/kernels/post_op_cases.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

using kernels::Backend;

namespace {

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Makes nodes that move elements of earlier ones, and some that compute and may overwrite their inputs.
class RandomMoves {
 public:
  explicit RandomMoves(unsigned seed) : random_(seed) {
    inputs_.push_back(RandomTensor({2, 3, 4, 5}, seed));
    values_.push_back(graph_.Parameter("x", {2, 3, 4, 5}));
    for (int i = 0; i < 12; ++i) Add();
    for (size_t i = 0; i < 4; ++i) graph_.Result(graph_.Op("Tanh", {Pick()}), "tanh" + std::to_string(i));
    graph_.Result(graph_.Op("Abs", {values_.back()}));
  }

  const TestGraph& graph() const { return graph_; }
  const std::vector<TensorValue>& inputs() const { return inputs_; }

 private:
  size_t Draw(size_t count) { return static_cast<size_t>(random_() % count); }
  ir::OutputPort Pick() { return values_[Draw(values_.size())]; }
  Shape ShapeOf(ir::OutputPort port) const { return graph_.graph->output(port).shape.known_extents(); }
  ir::OutputPort Number(int64_t value) { return graph_.Const(TensorValue::FromInts({}, {value})); }

  void Add() {
    const ir::OutputPort x = Pick();
    const Shape shape = ShapeOf(x);
    const auto rank = static_cast<int64_t>(shape.size());
    const auto axis = static_cast<int64_t>(Draw(shape.size()));
    const int64_t extent = shape[static_cast<size_t>(axis)];
    switch (Draw(9)) {
      case 0:
      case 1: {
        std::vector<int64_t> order;
        for (int64_t i = 0; i < rank; ++i) order.push_back(i);
        std::shuffle(order.begin(), order.end(), random_);
        return Keep(graph_.Op("Transpose", {x, graph_.Ints(order)}));
      }
      case 2: {
        const auto first = static_cast<int64_t>(Draw(static_cast<size_t>(extent)));
        const auto step = static_cast<int64_t>(Draw(3)) - 1;
        return Keep(graph_.Op(
            "opset8", "Slice",
            {x, graph_.Ints({step < 0 ? extent - 1 : first}), graph_.Ints({step < 0 ? -extent - 1 : extent}),
             graph_.Ints({step == 0 ? 2 : step}), graph_.Ints({axis})}));
      }
      case 3: {
        if (extent < 2) return;
        const auto first = static_cast<int64_t>(Draw(static_cast<size_t>(extent - 1))) + 1;
        const ir::OutputPort made = graph_.Op("opset1", "VariadicSplit",
                                              {x, Number(axis), graph_.Ints({first, extent - first})}, {}, 2);
        Keep(made);
        return Keep({made.node, 1});
      }
      case 4:
        if (rank < 2) return;
        return Keep(
            graph_.Op("opset8", "Gather",
                      {x, Number(static_cast<int64_t>(Draw(static_cast<size_t>(extent)))), Number(axis)},
                      With("batch_dims", int64_t{0})));
      case 5: {
        const ir::OutputPort y = Pick();
        Shape other = ShapeOf(y);
        if (other.size() != shape.size()) return;
        other[static_cast<size_t>(axis)] = extent;
        if (other != shape || *Volume(shape) > 400) return;
        return Keep(graph_.Op("Concat", {x, y}, With("axis", axis)));
      }
      case 6: {
        Shape merged = shape;
        if (rank < 2 || Draw(2) == 0) {
          merged.insert(merged.begin() + axis, 1);
        } else if (axis + 1 < rank) {
          merged[static_cast<size_t>(axis)] *= merged[static_cast<size_t>(axis) + 1];
          merged.erase(merged.begin() + axis + 1);
        }
        if (merged.size() > 6) return;
        return Keep(graph_.Op("Reshape", {x, graph_.Ints({merged.begin(), merged.end()})},
                              With("special_zero", false)));
      }
      case 7:
        return Keep(graph_.Op("ReLU", {x}));
      default:
        return Keep(graph_.Op("Add", {x, x}));
    }
  }
  void Keep(ir::OutputPort port) { values_.push_back(port); }

  std::mt19937 random_;
  TestGraph graph_;
  std::vector<ir::OutputPort> values_;
  std::vector<TensorValue> inputs_;
};

TEST(ViewsTest, RandomMovesAreAsWhereEachIsCopied) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const RandomMoves moves(seed);
    const auto expected =
        RunGraph(moves.graph().graph, {.backend = Backend::kReference, .fuse = false}, moves.inputs());
    for (const Backend backend : kBackends) {
      const auto executable = Compile(moves.graph().graph, {.backend = backend, .threads = 2});
      ASSERT_NE(executable, nullptr);
      const auto session = Session::Create(executable);
      for (int run = 0; run < 2; ++run) {
        const auto actual = session->Run(moves.inputs());
        ASSERT_TRUE(actual.ok()) << actual.error().message;
        for (size_t i = 0; i < expected.size(); ++i) ExpectClose((*actual)[i], expected[i], 1e-6);
      }
    }
  }
}

struct Attended {
  int64_t batch, rows, heads, width;
  bool has_mask = false, is_causal = false;
};

// Heads of queries, keys and values from one matrix multiplication, as exporters write them; converted back
// to rows afterwards.
TestGraph Attend(const Attended& of) {
  TestGraph g;
  const int64_t all = of.heads * of.width;
  const auto x = g.Parameter("x", {of.batch, of.rows, all});
  const auto product = g.Op("MatMul", {x, g.Weights({all, 3 * all}, 2)});
  const auto parted = g.Op("Reshape", {product, g.Ints({of.batch, of.rows, 3, of.heads, of.width})},
                           With("special_zero", false));
  const auto moved = g.Op("Transpose", {parted, g.Ints({2, 0, 3, 1, 4})});
  std::vector<ir::OutputPort> inputs;
  for (int64_t i = 0; i < 3; ++i) {
    inputs.push_back(
        g.Op("opset8", "Gather",
             {moved, g.Const(TensorValue::FromInts({}, {i})), g.Const(TensorValue::FromInts({}, {0}))},
             With("batch_dims", int64_t{0})));
  }
  if (of.has_mask) inputs.push_back(g.Parameter("mask", {of.heads, of.rows, of.rows}));
  const auto attended = g.Op("opset13", "ScaledDotProductAttention", inputs, With("causal", of.is_causal));
  const auto back = g.Op("Transpose", {attended, g.Ints({0, 2, 1, 3})});
  const auto joined = g.Op("Reshape", {back, g.Ints({of.batch, of.rows, all})}, With("special_zero", false));
  g.Result(g.Op("MatMul", {joined, g.Weights({all, all}, 3)}));
  return g;
}

TEST(ViewsTest, AttentionReadsAndWritesRowsWhereTheyAre) {
  unsigned seed = 1;
  for (const Attended& of : {Attended{2, 49, 3, 32}, Attended{1, 197, 2, 64}, Attended{3, 16, 1, 16},
                             Attended{1, 5, 4, 48}, Attended{2, 9, 3, 20}, Attended{2, 33, 2, 32, true},
                             Attended{1, 64, 3, 16, true}, Attended{2, 21, 2, 32, false, true}}) {
    SCOPED_TRACE(seed);
    const TestGraph g = Attend(of);
    std::vector<TensorValue> inputs = {RandomTensor({of.batch, of.rows, of.heads * of.width}, ++seed)};
    if (of.has_mask) inputs.push_back(RandomTensor({of.heads, of.rows, of.rows}, ++seed));
    ExpectAsReference(g, inputs, "nnefc:attention", 1e-5);
    const auto executable = Compile(g.graph, {.backend = Backend::kFast});
    if (!fast::simd::HasSimd()) continue;
    const std::string plan = executable->DescribePlan();
    EXPECT_EQ(Count(plan, "Transpose"), 0U) << plan;
    EXPECT_EQ(Count(plan, "Gather"), 0U) << plan;
    EXPECT_EQ(Count(plan, "reorder"), 0U) << plan;
  }
}

// More keys than a cache has room for.
TEST(ViewsTest, AttentionThatTilesDoNotTakeGetsCopies) {
  ExpectAsReference(Attend({1, 200, 1, 512}), {RandomTensor({1, 200, 512}, 8, -0.1F, 0.1F)},
                    "onednn:attention", 1e-5);
}

// Attention of operands that are moved from other tensors, which have other readers and may be overwritten.
class RandomAttention {
 public:
  explicit RandomAttention(unsigned seed) : random_(seed) {
    const int64_t b = Pick({1, 2, 3}), h = Pick({1, 2}), l = Pick({1, 2, 5, 17}), s = Pick({1, 3, 16, 33});
    const int64_t width = Pick({1, 8, 16, 20}), values = Pick({16, 16, 32, 48, 20});
    const bool shares_heads = Draw(4) == 0;
    std::vector<ir::OutputPort> operands = {Seen({b, h, l, width}), Seen({shares_heads ? 1 : b, h, s, width}),
                                            Seen({b, shares_heads ? 1 : h, s, values})};
    const size_t form = Draw(4);
    if (form > 0) {
      operands.push_back(form == 1 ? Seen({1, h, l, s}) : form == 2 ? Seen({l, s}) : Allowed({b, 1, 1, s}));
    }
    if (form > 0 && Draw(2) == 0) operands.push_back(graph_.Const(TensorValue::FromFloats({}, {0.5F})));
    const auto attended =
        graph_.Op("opset13", "ScaledDotProductAttention", operands, With("causal", Draw(4) == 0));
    std::vector<int64_t> order = {0, 1, 2, 3};
    if (Draw(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    if (Draw(2) == 0) order = {0, 2, 1, 3};
    auto out = graph_.Op("Transpose", {attended, graph_.Ints(order)});
    if (Draw(2) == 0) out = graph_.Op("ReLU", {out});
    graph_.Result(out);
    if (Draw(3) == 0) graph_.Result(graph_.Op("Abs", {attended}));
    for (ir::OutputPort source : sources_) graph_.Result(graph_.Op("Tanh", {graph_.Op("ReLU", {source})}));
  }

  const TestGraph& graph() const { return graph_; }
  const std::vector<TensorValue>& inputs() const { return inputs_; }

 private:
  size_t Draw(size_t count) { return static_cast<size_t>(random_() % count); }
  int64_t Pick(std::vector<int64_t> of) { return of[Draw(of.size())]; }

  // Returns a tensor of the shape as a view of another one.
  ir::OutputPort Seen(const Shape& shape) {
    const size_t rank = shape.size();
    std::vector<int64_t> order;
    for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
    const size_t fixed = Draw(4) == 0 ? 0 : 1;  // usually the last axis
    std::shuffle(order.begin(), order.end() - static_cast<int64_t>(fixed), random_);
    Shape whole(rank);  // axis order[i] is axis i of the result
    for (size_t i = 0; i < rank; ++i) whole[static_cast<size_t>(order[i])] = shape[i];
    const auto sliced = static_cast<int64_t>(Draw(rank));
    const int64_t step = Pick({1, 1, 2}), first = Pick({0, 1}), extent = whole[static_cast<size_t>(sliced)];
    const int64_t end = first + (extent - 1) * step + 1;
    Shape lying = whole;
    lying[static_cast<size_t>(sliced)] = end + Pick({0, 1});
    const bool gathers = Draw(2) == 0;
    if (gathers) lying.insert(lying.begin(), 3);
    auto x = graph_.Parameter("x" + std::to_string(inputs_.size()), lying);
    inputs_.push_back(RandomTensor(lying, static_cast<unsigned>(random_())));
    if (Draw(2) == 0) x = graph_.Op("Abs", {x});
    sources_.push_back(x);
    if (gathers) {
      const auto of = [&](int64_t i) { return graph_.Const(TensorValue::FromInts({}, {i})); };
      x = graph_.Op("opset8", "Gather", {x, of(Pick({0, 1, 2, -1})), of(0)}, With("batch_dims", int64_t{0}));
    }
    x = graph_.Op("opset8", "Slice",
                  {x, graph_.Ints({first}), graph_.Ints({end}), graph_.Ints({step}), graph_.Ints({sliced})});
    return graph_.Op("Transpose", {x, graph_.Ints(order)});
  }
  ir::OutputPort Allowed(const Shape& shape) {
    inputs_.push_back(TensorValue::Filled(ElementType::kBoolean, shape, 1));
    return graph_.Parameter("allowed", shape, ElementType::kBoolean);
  }

  std::mt19937 random_;
  TestGraph graph_;
  std::vector<ir::OutputPort> sources_;
  std::vector<TensorValue> inputs_;
};

TEST(ViewsTest, AttentionOfOperandsFromAnywhere) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomAttention attention(seed);
    const auto expected = RunGraph(attention.graph().graph, {.backend = Backend::kReference, .fuse = false},
                                   attention.inputs());
    for (const Backend backend : kBackends) {
      const auto executable = Compile(attention.graph().graph, {.backend = backend, .threads = 2});
      ASSERT_NE(executable, nullptr);
      const auto session = Session::Create(executable);
      for (int run = 0; run < 2; ++run) {
        const auto actual = session->Run(attention.inputs());
        ASSERT_TRUE(actual.ok()) << actual.error().message;
        for (size_t i = 0; i < expected.size(); ++i) ExpectNear((*actual)[i], expected[i], 1e-5);
      }
    }
  }
}

// A step as large as integers allow selects one element, and its view needs no stride.
// Rows of a part are normalized in place.
TEST(ViewsTest, RowsThatAreNormalizedAreReadInPlace) {
  TestGraph g;
  const auto x = g.Op("Sigmoid", {g.Parameter("x", {6, 40})});
  const auto parts =
      g.Op("opset1", "VariadicSplit", {x, g.Const(TensorValue::FromInts({}, {1})), g.Ints({16, 24})}, {}, 2);
  ir::AttributeMap attributes = With("eps", 1e-6);
  attributes.Set("eps_mode", "add");
  for (int32_t i = 0; i < 2; ++i)
    g.Result(g.Op("NormalizeL2", {{parts.node, i}, g.Ints({1})}, attributes), "output" + std::to_string(i));
  const std::vector<TensorValue> inputs = {RandomTensor({6, 40}, 1)};
  const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  const auto executable = Compile(g.graph, {.threads = 2});
  ASSERT_NE(executable, nullptr);
  const std::string plan = executable->DescribePlan();
  if (fast::simd::HasSimd()) {
    EXPECT_NE(plan.find("\n3 steps"), std::string::npos) << plan;
  }
  const auto made = Session::Create(executable)->Run(inputs);
  ASSERT_TRUE(made.ok());
  for (size_t i = 0; i < 2; ++i) ExpectNear((*made)[i], expected[i], 1e-6);
}

TEST(ViewsTest, StepsBeyondAllExtents) {
  TestGraph g;
  const auto x = g.Op("Abs", {g.Parameter("x", {4, 16})});
  const auto row =
      g.Op("opset8", "Slice", {x, g.Ints({2}), g.Ints({INT64_MAX}), g.Ints({INT64_MAX}), g.Ints({0})});
  ir::AttributeMap masks;
  for (const char* name : {"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"})
    masks.Set(name, ir::Attribute::Integers{0, 0});
  const auto element =
      g.Op("StridedSlice", {row, g.Ints({0, 3}), g.Ints({1, 16}), g.Ints({1, INT64_MAX})}, masks);
  g.Result(g.Op("Tanh", {row}));
  g.Result(g.Op("Tanh", {element}));
  const TensorValue input = RandomTensor({4, 16}, 1);
  for (const Backend backend : kBackends) {
    const auto made = RunGraph(g.graph, {.backend = backend}, {input});
    for (int64_t i = 0; i < 16; ++i)
      EXPECT_NEAR(made[0].ElementAsDouble(i), std::tanh(std::abs(input.ElementAsDouble(32 + i))), 1e-6);
    EXPECT_NEAR(made[1].ElementAsDouble(0), std::tanh(std::abs(input.ElementAsDouble(35))), 1e-6);
  }
}

// A result owns no more than its elements.
TEST(ViewsTest, AResultIsNoView) {
  TestGraph g;
  const auto x = g.Parameter("x", {64, 8});
  const auto y = g.Op("Exp", {x});
  g.Result(g.Op("opset8", "Slice", {y, g.Ints({3}), g.Ints({5}), g.Ints({1}), g.Ints({0})}));
  const std::vector<TensorValue> inputs = {RandomTensor({64, 8}, 1)};
  const auto made = RunGraph(g.graph, {.backend = Backend::kFast}, inputs);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(made[0].ElementAsDouble(i), std::exp(inputs[0].ElementAsDouble(24 + i)), 1e-5);
}

// A Pad is a view of its input if it adds nothing, but not if it shifts the elements.
TEST(ViewsTest, PadsThatAddNothing) {
  constexpr int64_t kColumns = 4;
  const TensorValue x = TensorValue::FromFloats({2, kColumns}, {1, 2, 3, 4, 5, 6, 7, 8});
  for (Backend backend : kBackends) {
    for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {1, -1}, {-1, 1}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}}) {
      TestGraph g;
      const auto padded = g.Op("opset12", "Pad",
                               {g.Op("Negative", {g.Parameter("x", x.shape())}), g.Ints({0, begin}),
                                g.Ints({0, end}), g.Const(TensorValue::Scalar(9))},
                               With("pad_mode", "constant"));
      g.Result(g.Op("Negative", {padded}));
      const auto executable = Compile(g.graph, {.backend = backend});
      ASSERT_NE(executable, nullptr);
      EXPECT_EQ(Count(executable->DescribePlan(), "Pad") == 0, begin == 0 && end == 0)
          << executable->DescribePlan();
      const auto outputs = Session::Create(executable)->Run({x});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      const int64_t columns = kColumns + begin + end;
      ASSERT_EQ((*outputs)[0].shape(), (Shape{2, columns}));
      for (int64_t i = 0; i < 2 * columns; ++i) {
        const int64_t column = i % columns - begin;
        const bool is_inside = column >= 0 && column < kColumns;
        EXPECT_EQ((*outputs)[0].ElementAsDouble(i),
                  is_inside ? x.ElementAsDouble(i / columns * kColumns + column) : -9)
            << begin << " " << end << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
