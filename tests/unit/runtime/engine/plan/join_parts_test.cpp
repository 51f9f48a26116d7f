// Parts of a Concat that are computed in place: both sides of each condition.

#include "tests/unit/runtime/engine/plan/planned_graph.h"

namespace nnefc::runtime::engine::plan {

using kernels::Backend;

namespace {

// A Concat of the values that `add` returns; a and b are computed values of `shape`.
struct Join {
  std::string name;
  Shape shape;
  int64_t axis;
  std::function<std::vector<ir::OutputPort>(TestGraph&, ir::OutputPort a, ir::OutputPort b)> parts;
  bool is_joined;
};

TEST(JoinPartsTest, PartsAreComputedInPlace) {
  const auto both = [](TestGraph&, auto a, auto b) { return std::vector{a, b}; };
  const Shape matrix = {4, 16};
  const std::vector<Join> joins = {
      {"outermost axis", matrix, 0, both, true},
      {"outermost axis from the end", matrix, -2, both, true},
      {"second axis", matrix, 1, both, false},
      {"second axis after an extent of 1", {1, 64}, 1, both, true},
      {"last axis after extents of 1", {1, 1, 64}, -1, both, true},
      {"last axis after an extent of 2", {1, 2, 32}, 2, both, false},
      {"last axis, 2 in front", {2, 1, 32}, 2, both, false},
      {"one value twice", matrix, 0,
       [](TestGraph&, auto a, auto) {
         return std::vector{a, a};
       },
       false},
      {"one value", matrix, 0, [](TestGraph&, auto a, auto) { return std::vector{a}; }, true},
      {"an input", matrix, 0,
       [](TestGraph& g, auto a, auto) {
         return std::vector{a, g.Parameter("z", {4, 16})};
       },
       false},
      {"a constant", matrix, 0,
       [](TestGraph& g, auto a, auto) {
         return std::vector{a, g.Weights({4, 16}, 1)};
       },
       false},
      {"a reshaped value", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Reshaped(g, a, {2, 2, 16}), Reshaped(g, b, {2, 2, 16})};
       },
       true},
      {"the first half of a value", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{b, Sliced(g, a, 0, 0, 2)};
       },
       false},
      {"the first half of a value before others", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Sliced(g, a, 0, 0, 2), b};
       },
       false},
      {"the second half of a value", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Sliced(g, a, 0, 2, 4), b};
       },
       false},
      {"both halves of a value", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Sliced(g, a, 0, 0, 2), Sliced(g, a, 0, 2, 4), b};
       },
       true},
      {"halves in the other order", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Sliced(g, a, 0, 2, 4), Sliced(g, a, 0, 0, 2), b};
       },
       false},
      {"halves of two values in turn", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Sliced(g, a, 0, 0, 2), Sliced(g, b, 0, 0, 2), Sliced(g, a, 0, 2, 4),
                            Sliced(g, b, 0, 2, 4)};
       },
       false},
      {"halves of two values", matrix, 0,
       [](TestGraph& g, auto a, auto b) {
         return std::vector{Sliced(g, a, 0, 0, 2), Sliced(g, a, 0, 2, 4), Sliced(g, b, 0, 0, 2),
                            Sliced(g, b, 0, 2, 4)};
       },
       true},
      {"the first half twice", matrix, 0,
       [](TestGraph& g, auto a, auto) {
         return std::vector{Sliced(g, a, 0, 0, 2), Sliced(g, a, 0, 0, 2)};
       },
       false},
  };
  for (const Join& each : joins) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    const auto a = g.Op("Exp", {g.Parameter("x", each.shape)});
    const auto b = g.Op("Abs", {g.Parameter("y", each.shape)});
    g.Result(Concatenated(g, each.parts(g, a, b), each.axis));
    const std::string steps = PlannedGraph(g).Steps();
    EXPECT_EQ(steps.find("Concat") == std::string::npos, each.is_joined) << steps;
    EXPECT_NE(PlannedGraph(g, false).Steps().find("Concat"), std::string::npos);
    // The elements are those of a plan with a step for each node.
    std::vector<TensorValue> inputs;
    for (ir::NodeId id : g.graph->parameters())
      inputs.push_back(RandomTensor(g.graph->node(id).output().shape.known_extents(), 7));
    const auto expected = RunGraph(g.graph, {.backend = Backend::kReference, .fuse = false}, inputs);
    ExpectNear(RunGraph(g.graph, {.backend = Backend::kReference}, inputs)[0], expected[0], 0);
  }
}

// Adds Concats of a, b and c one after the other; returns the steps.
std::string StepsOfConcats(
    const std::function<void(TestGraph&, ir::OutputPort, ir::OutputPort, ir::OutputPort)>& add) {
  TestGraph g;
  const auto computed = [&](const char* name) { return g.Op("Exp", {g.Parameter(name, {2, 16})}); };
  const auto a = computed("a"), b = computed("b"), c = computed("c");
  add(g, a, b, c);
  return PlannedGraph(g).Steps();
}

// As in DenseNet: the parts of a Concat are the first parts of the next one.
TEST(JoinPartsTest, PartsOfEarlierConcats) {
  struct Setting {
    std::string name;
    std::vector<size_t> first, second;  // indices of a, b, c
    int num_concats;
  };
  for (const Setting& each :
       {Setting{"one more at the end", {0, 1}, {0, 1, 2}, 0},
        Setting{"one more in front", {0, 1}, {2, 0, 1}, 0},
        Setting{"one more in the middle", {0, 1}, {0, 2, 1}, 1}, Setting{"the same", {0, 1}, {0, 1}, 0},
        Setting{"another order", {0, 1}, {1, 0}, 1}, Setting{"another order and more", {0, 1}, {1, 0, 2}, 1},
        Setting{"the first alone", {0, 1}, {0, 2}, 1}, Setting{"the second alone", {0, 1}, {1, 2}, 1},
        Setting{"the first at the end", {0, 1}, {2, 0}, 1}, Setting{"others", {0, 1}, {2}, 0},
        Setting{"all and the first again", {0, 1}, {0, 1, 2, 0}, 1}}) {
    SCOPED_TRACE(each.name);
    const std::string steps = StepsOfConcats([&](TestGraph& g, auto a, auto b, auto c) {
      const std::vector<ir::OutputPort> all = {a, b, c};
      for (const std::vector<size_t>& indices : {each.first, each.second}) {
        std::vector<ir::OutputPort> parts;
        for (size_t index : indices) parts.push_back(all[index]);
        g.Result(g.Op("SoftMax", {Concatenated(g, parts, 0)}, With("axis", int64_t{1})));
      }
    });
    int count = 0;
    for (size_t at = steps.find("Concat"); at != std::string::npos; at = steps.find("Concat", at + 1))
      ++count;
    EXPECT_EQ(count, each.num_concats) << steps;
  }
}

TEST(JoinPartsTest, PartsFollowEachOther) {
  TestGraph g;
  const auto a = g.Op("Exp", {g.Parameter("a", {1, 16})});
  const auto b = g.Op("Abs", {g.Parameter("b", {3, 16})});
  const auto c = g.Op("Sin", {g.Parameter("c", {2, 16})});
  g.Result(g.Op("SoftMax", {Concatenated(g, {a, b, c}, 0)}, With("axis", int64_t{1})));
  const PlannedGraph planned(g);
  ASSERT_EQ(planned.Steps(), "Exp Abs Sin SoftMax");
  const ValueId whole = planned.InputOf("SoftMax").root;
  EXPECT_EQ(planned.OutputOf("Exp"), (PlannedGraph::Place{whole, 0}));
  EXPECT_EQ(planned.OutputOf("Abs"), (PlannedGraph::Place{whole, 64}));
  EXPECT_EQ(planned.OutputOf("Sin"), (PlannedGraph::Place{whole, 4 * 64}));
  EXPECT_EQ(planned.plan().arena_bytes, 6U * 64);
}

// Reads of a part are reads of the whole, which has no other reads than its own and theirs.
TEST(JoinPartsTest, TheLastReaderOverwrites) {
  for (const bool is_read_later : {false, true}) {
    TestGraph g;
    const auto a = g.Op("Exp", {g.Parameter("a", {2, 16})});
    const auto b = g.Op("Abs", {g.Parameter("b", {2, 16})});
    g.Result(g.Op("Tanh", {Concatenated(g, {a, b}, 0)}));
    if (is_read_later) g.Result(g.Op("Sin", {a}), "later");
    const PlannedGraph planned(g);
    EXPECT_EQ(planned.Steps(), is_read_later ? "Exp Abs Tanh Sin" : "Exp Abs Tanh");
    EXPECT_EQ(planned.Overwrites("Tanh"), !is_read_later);
    // The part is no complete buffer.
    if (is_read_later) {
      EXPECT_NE(planned.OutputOf("Sin").root, planned.InputOf("Sin").root);
    }
  }
}

// ---- layouts of a backend ----

constexpr size_t kPartBytes = 128;

// Adds HSwish, which writes a layout of the backend, and the function that joins such layouts.
PlannedGraph::AddKernels Blocked(bool has_function, bool joins, size_t whole_bytes) {
  static bool does_join = false;
  static size_t bytes = 0;
  does_join = joins;
  bytes = whole_bytes;
  return [=](kernels::KernelRegistry& kernels) {
    kernels.Add(Backend::kFast, {"opset4"}, "HSwish", [](const kernels::KernelRequest& request) {
      kernels::PreparedKernel prepared = PreparedFor(request);
      prepared.outputs[0] = LayoutNamed("blocked", kPartBytes);
      return prepared;
    });
    kernels::KernelRegistry::BackendHooks hooks{.make_reorder = ReorderAnything};
    if (has_function) {
      hooks.join = [](llvm::ArrayRef<kernels::ValueInfo> parts, const kernels::ValueInfo& whole,
                      int64_t axis) -> std::optional<tensor::Layout> {
        EXPECT_EQ(parts.size(), 2U);
        EXPECT_EQ(parts[0].layout->ToString(), "blocked");
        EXPECT_EQ(ToString(parts[1].shape), "[2,16]");
        EXPECT_EQ(ToString(whole.shape), "[2,32]");
        EXPECT_EQ(whole.layout, nullptr);
        EXPECT_EQ(axis, 1);
        return does_join ? std::optional(LayoutNamed("joined", bytes)) : std::nullopt;
      };
    }
    kernels.SetHooks(Backend::kFast, hooks);
  };
}

TEST(JoinPartsTest, PartsInLayoutsOfABackend) {
  const auto steps = [](bool is_second_blocked, const PlannedGraph::AddKernels& add) {
    TestGraph g;
    const auto a = g.Op("opset4", "HSwish", {g.Parameter("a", {2, 16})});
    const auto y = g.Parameter("b", {2, 16});
    const auto b = is_second_blocked ? g.Op("opset4", "HSwish", {y}) : g.Op("Abs", {y});
    g.Result(g.Op("SoftMax", {Concatenated(g, {a, b}, -1)}, With("axis", int64_t{1})));
    return PlannedGraph(g, add).Steps();
  };
  const std::string copied = "HSwish HSwish reorder reorder Concat SoftMax";
  EXPECT_EQ(steps(true, Blocked(true, true, 2 * kPartBytes)), "HSwish HSwish reorder SoftMax");
  EXPECT_EQ(steps(true, Blocked(true, true, 2 * kPartBytes + 1)), copied);
  EXPECT_EQ(steps(true, Blocked(true, true, 2 * kPartBytes - 1)), copied);
  EXPECT_EQ(steps(true, Blocked(true, false, 2 * kPartBytes)), copied);
  EXPECT_EQ(steps(true, Blocked(false, true, 2 * kPartBytes)), copied);
  // One part with a layout is enough for the function of the backend.
  EXPECT_EQ(steps(false, Blocked(true, true, 2 * kPartBytes)), "HSwish Abs reorder SoftMax");
}

}  // namespace
}  // namespace nnefc::runtime::engine::plan
