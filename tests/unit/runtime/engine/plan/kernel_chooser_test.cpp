// Steps with kernels: results in place of operands, reorders, chains, work and scratch memory.

#include "runtime/engine/plan/fused_nodes.h"
#include "tests/unit/runtime/engine/plan/planned_graph.h"

namespace nnefc::runtime::engine::plan {

using kernels::Backend;

namespace {

constexpr size_t kBytes = 4 * 16 * sizeof(float);  // of the values below

ir::OutputPort Input(TestGraph& g, const char* name = "x") {
  return g.Parameter(name, {4, 16});
}
// Reads x without overwriting it.
ir::OutputPort Read(TestGraph& g, ir::OutputPort x) {
  return g.Op("SoftMax", {x}, With("axis", int64_t{1}));
}

// y = Exp(x) is an operand of Tanh or Add. `input`: the operand that the result overwrites, or -1.
struct Operand {
  std::string name;
  std::function<void(TestGraph&, ir::OutputPort y)> add;
  std::string operation;
  int input;
};

TEST(KernelChooserTest, ResultsInPlaceOfOperands) {
  const auto other = [](TestGraph& g) { return Input(g, "other"); };
  const std::vector<Operand> operands = {
      {"the only reader", [](TestGraph& g, auto y) { g.Result(Read(g, g.Op("Tanh", {y}))); }, "Tanh", 0},
      {"read before",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, y));
         g.Result(Read(g, g.Op("Tanh", {y})), "second");
       },
       "Tanh", 0},
      {"read later",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Tanh", {y})));
         g.Result(Read(g, y), "second");
       },
       "Tanh", -1},
      {"a result",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Tanh", {y})));
         g.Result(y, "second");
       },
       "Tanh", -1},
      {"an input of the graph",
       [=](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Tanh", {other(g)})));
         g.Result(y, "second");
       },
       "Tanh", -1},
      {"reshaped",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Tanh", {Reshaped(g, y, {16, 4})})));
       },
       "Tanh", 0},
      {"the first rows",
       [](TestGraph& g, auto y) { g.Result(Read(g, g.Op("Tanh", {Sliced(g, y, 0, 0, 2)}))); }, "Tanh", -1},
      {"the last rows",
       [](TestGraph& g, auto y) { g.Result(Read(g, g.Op("Tanh", {Sliced(g, y, 0, 2, 4)}))); }, "Tanh", -1},
      {"the first of two operands",
       [=](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {y, other(g)})));
       },
       "Add", 0},
      // Reference kernels propose the first operand of the result's shape.
      {"the second of two operands",
       [=](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {other(g), y})));
       },
       "Add", -1},
      {"both operands",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {y, y})));
       },
       "Add", -1},
      {"both operands, one reshaped",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {y, Reshaped(g, y, {4, 16})})));
       },
       "Add", -1},
      {"the first of a value and a constant",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {y, g.Weights({4, 16}, 1)})));
       },
       "Add", 0},
      {"a constant",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {g.Weights({4, 16}, 1), y})));
       },
       "Add", -1},
      {"stretched",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {y, g.Parameter("o", {2, 4, 16})})));
       },
       "Add", -1},
      {"next to a stretched one",
       [](TestGraph& g, auto y) {
         g.Result(Read(g, g.Op("Add", {g.Parameter("o", {16}), y})));
       },
       "Add", 1},
      {"another type",
       [](TestGraph& g, auto y) {
         g.Result(
             Read(g, g.Op("Convert", {g.Op("Less", {y, y})}, With("destination_type", ElementType::kF32))));
       },
       "Less", -1},
  };
  for (const Operand& each : operands) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    each.add(g, g.Op("Exp", {Input(g)}));
    const PlannedGraph planned(g);
    for (int i = 0; i < static_cast<int>(planned.StepOf(each.operation).inputs.size()); ++i)
      EXPECT_EQ(planned.Overwrites(each.operation, static_cast<size_t>(i)), i == each.input)
          << planned.Steps();
    const PlannedGraph unfused(g, false);
    for (size_t i = 0; i < unfused.StepOf(each.operation).inputs.size(); ++i)
      EXPECT_NE(unfused.OutputOf(each.operation).root, unfused.InputOf(each.operation, i).root);
  }
}

TEST(KernelChooserTest, MemoryOfAChain) {
  TestGraph g;
  auto x = Input(g);
  for (const char* name : {"Exp", "Tanh", "Abs", "Sin"}) x = g.Op(name, {x});
  g.Result(x);
  EXPECT_EQ(PlannedGraph(g).plan().arena_bytes, 0U);
  EXPECT_EQ(PlannedGraph(g).plan().run_bytes(), kBytes);
  // Two buffers in turn, and the result.
  EXPECT_EQ(PlannedGraph(g, false).plan().arena_bytes, 2 * kBytes);
  EXPECT_EQ(PlannedGraph(g, false).plan().run_bytes(), 3 * kBytes);
}

TEST(KernelChooserTest, Work) {
  TestGraph g;
  const auto a = g.Op("Exp", {g.Parameter("a", {2, 3})});
  g.Result(g.Op("MatMul", {a, g.Parameter("b", {3, 4})}));
  const PlannedGraph planned(g);
  EXPECT_EQ(planned.StepOf("Exp").work.operations, 6);
  EXPECT_EQ(planned.StepOf("Exp").work.bytes, (6 + 6) * 4);
  EXPECT_EQ(planned.StepOf("MatMul").work.operations, 2 * 2 * 3 * 4);
  EXPECT_EQ(planned.StepOf("MatMul").work.bytes, (6 + 12 + 8) * 4);
}

// ---- kernels of a backend ----

using Factory = std::function<void(const kernels::KernelRequest&, kernels::PreparedKernel&)>;

// Adds a kernel of HSwish, whose properties `set` sets.
PlannedGraph::AddKernels HSwish(const Factory& set) {
  return [=](kernels::KernelRegistry& kernels) {
    kernels.Add(Backend::kFast, {"opset4"}, "HSwish", [=](const kernels::KernelRequest& request) {
      kernels::PreparedKernel prepared = PreparedFor(request);
      set(request, prepared);
      return prepared;
    });
    kernels.SetHooks(Backend::kFast, {.make_reorder = ReorderAnything});
  };
}

TestGraph TwoReadersOfExp() {
  TestGraph g;
  const auto y = g.Op("Exp", {Input(g)});
  g.Result(Read(g, g.Op("opset4", "HSwish", {y})));
  g.Result(Read(g, g.Op("opset4", "HSwish", {y})), "second");
  return g;
}

TEST(KernelChooserTest, ReordersAreShared) {
  const auto reads_blocked = [](const auto&, kernels::PreparedKernel& prepared) {
    prepared.inputs[0] = LayoutNamed("blocked", kBytes);
  };
  const PlannedGraph planned(TwoReadersOfExp(), HSwish(reads_blocked));
  EXPECT_EQ(planned.Steps(), "Exp reorder HSwish SoftMax HSwish SoftMax");
}

TEST(KernelChooserTest, AccumulatorsArePrivate) {
  const auto accumulates = [](const auto&, kernels::PreparedKernel& prepared) {
    prepared.inputs[0] = LayoutNamed("blocked", kBytes);
    prepared.in_place = 0;
    prepared.in_place_required = true;
  };
  const PlannedGraph planned(TwoReadersOfExp(), HSwish(accumulates));
  EXPECT_EQ(planned.Steps(), "Exp reorder HSwish SoftMax reorder HSwish SoftMax");
  EXPECT_TRUE(planned.Overwrites("HSwish"));
}

TEST(KernelChooserTest, InPlaceKernels) {
  struct Setting {
    std::string name;
    Factory set;
    bool overwrites;
  };
  const auto in_place = [](const auto&, kernels::PreparedKernel& prepared) { prepared.in_place = 0; };
  for (const Setting& each :
       {Setting{"in place", in_place, true}, Setting{"never", [](const auto&, auto&) {}, false},
        Setting{"another layout of the result",
                [&](const auto& request, auto& prepared) {
                  in_place(request, prepared);
                  prepared.outputs[0] = LayoutNamed("blocked", kBytes);
                },
                false},
        Setting{"a larger result",
                [&](const auto& request, auto& prepared) {
                  in_place(request, prepared);
                  prepared.inputs[0] = LayoutNamed("blocked", kBytes);
                  prepared.outputs[0] = LayoutNamed("blocked", kBytes + 64);
                },
                false},
        Setting{"a reordered operand",
                [&](const auto& request, auto& prepared) {
                  in_place(request, prepared);
                  prepared.inputs[0] = prepared.outputs[0] = LayoutNamed("blocked", kBytes);
                },
                false}}) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    g.Result(Read(g, g.Op("opset4", "HSwish", {g.Op("Exp", {Input(g)})})));
    const PlannedGraph planned(g, HSwish([&](const auto& request, auto& prepared) {
                                 EXPECT_TRUE(request.inputs[0].overwritable);
                                 each.set(request, prepared);
                               }));
    EXPECT_EQ(planned.Overwrites("HSwish"), each.overwrites);
  }
}

// A later output has memory of its own.
TEST(KernelChooserTest, OnlyTheFirstOutputOverwrites) {
  TestGraph g;
  ir::AttributeMap attributes = With("axis", int64_t{1});
  attributes.Set("mode", "max");
  attributes.Set("sort", "value");
  const auto y = g.Op("Exp", {Input(g)});
  const auto top = g.Op("opset1", "TopK", {y, Number(g, 16)}, attributes, 2);
  g.Result(Read(g, top));
  g.Result({top.node, 1}, "indices");
  const PlannedGraph::AddKernels add = [](kernels::KernelRegistry& kernels) {
    kernels.Add(Backend::kFast, {"opset1"}, "TopK", [](const kernels::KernelRequest& request) {
      kernels::PreparedKernel prepared = PreparedFor(request);
      prepared.in_place = 0;
      return prepared;
    });
  };
  const PlannedGraph planned(g, add);
  EXPECT_EQ(planned.OutputOf("TopK", 0), planned.InputOf("TopK"));
  EXPECT_NE(planned.OutputOf("TopK", 1).root, planned.InputOf("TopK").root);
}

TEST(KernelChooserTest, ScratchMemory) {
  for (const size_t bytes : {0, 1, 128}) {
    TestGraph g;
    g.Result(g.Op("opset4", "HSwish", {Input(g)}));
    const PlannedGraph planned(g,
                               HSwish([=](const auto&, auto& prepared) { prepared.scratch_bytes = bytes; }));
    EXPECT_EQ(planned.StepOf("HSwish").scratch >= 0, bytes > 0);
    EXPECT_EQ(planned.plan().arena_bytes, bytes == 1 ? 64 : bytes);  // cache lines
  }
}

// ---- chains ----

// Plans Exp, Tanh, Abs, Sin as a chain of which kernels take at most `most` post-operations.
std::string StepsOfChain(size_t most, std::optional<size_t> second, bool fuse = true) {
  static std::optional<size_t> second_group;
  second_group = second;
  TestGraph g;
  auto x = Input(g);
  for (const char* name : {"Exp", "Tanh", "Abs", "Sin"}) x = g.Op(name, {x});
  g.Result(x);
  const PlannedGraph planned(
      g,
      [=](kernels::KernelRegistry& kernels) {
        for (const char* name : {"Exp", "Abs"}) {
          kernels.Add(Backend::kFast, {"opset1"}, name,
                      [=](const kernels::KernelRequest& request) -> std::optional<kernels::PreparedKernel> {
                        if (request.posts.size() > most) return std::nullopt;
                        return PreparedFor(request);
                      });
        }
        kernels.SetHooks(Backend::kFast, {.find_fusions = [](const ir::Graph& graph) {
                           kernels::FusionGroup group{.second = second_group};
                           const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph);
                           for (ir::NodeId id : *order) {
                             const ir::Node& node = graph.node(id);
                             if (node.type() == "Exp") {
                               group.main = id;
                             } else if (node.num_inputs() == 1 && node.num_outputs() == 1) {
                               group.posts.push_back(id);
                             }
                           }
                           return std::vector{group};
                         }});
      },
      fuse);
  return planned.Steps();
}

TEST(KernelChooserTest, ChainsBecomeTheirLongestPrefix) {
  EXPECT_EQ(StepsOfChain(3, std::nullopt), "Exp+Tanh+Abs+Sin");
  EXPECT_EQ(StepsOfChain(3, std::nullopt, false), "Exp Tanh Abs Sin");
  EXPECT_EQ(StepsOfChain(2, std::nullopt), "Exp+Tanh+Abs Sin");
  EXPECT_EQ(StepsOfChain(1, std::nullopt), "Exp+Tanh Abs Sin");
  EXPECT_EQ(StepsOfChain(0, std::nullopt), "Exp Tanh Abs Sin");
  // Abs starts a second chain, unless a step contains it.
  EXPECT_EQ(StepsOfChain(1, 1), "Exp+Tanh Abs+Sin");
  EXPECT_EQ(StepsOfChain(0, 1), "Exp Tanh Abs Sin");
  EXPECT_EQ(StepsOfChain(2, 1), "Exp+Tanh+Abs Sin");
  EXPECT_EQ(StepsOfChain(3, 1), "Exp+Tanh+Abs+Sin");
}

TEST(KernelChooserTest, OperandsOfPostOperations) {
  static size_t chained_input = 0;
  for (const size_t chained : {0U, 1U}) {
    chained_input = chained;
    TestGraph g;
    const auto y = g.Op("Exp", {Input(g)});
    const auto other = g.Op("Sin", {Input(g, "other")});
    g.Result(chained == 0 ? g.Op("Add", {y, other}) : g.Op("Add", {other, y}));
    const PlannedGraph::AddKernels add = [](kernels::KernelRegistry& kernels) {
      kernels.Add(Backend::kFast, {"opset1"}, "Exp",
                  [](const kernels::KernelRequest& request) -> std::optional<kernels::PreparedKernel> {
                    EXPECT_EQ(request.posts.size(), 1U);
                    EXPECT_EQ(request.inputs.size(), 2U);
                    EXPECT_EQ(static_cast<size_t>(request.posts[0].chained_input), chained_input);
                    EXPECT_EQ(request.posts[0].first_operand, 1);
                    // The input of the graph belongs to the caller; nothing else reads the operand of Add.
                    EXPECT_FALSE(request.inputs[0].overwritable);
                    EXPECT_TRUE(request.inputs[1].overwritable);
                    kernels::PreparedKernel prepared = PreparedFor(request);
                    prepared.in_place = 1;
                    return prepared;
                  });
      kernels.SetHooks(Backend::kFast, {.find_fusions = [](const ir::Graph& graph) {
                         kernels::FusionGroup group;
                         for (ir::NodeId id : graph.nodes()) {
                           if (graph.node(id).type() == "Exp") group.main = id;
                           if (graph.node(id).type() == "Add") group.posts = {id};
                         }
                         return std::vector{group};
                       }});
    };
    const PlannedGraph planned(g, add);
    EXPECT_EQ(planned.Steps(), "Sin Exp+Add");
    EXPECT_EQ(planned.StepOf("Exp+Add").work.operations, 2 * 64);
    EXPECT_EQ(planned.StepOf("Exp+Add").work.bytes, 3 * kBytes);
    EXPECT_TRUE(planned.Overwrites("Exp+Add", 1));
  }
}

// Kernels of a chain read no strides, so a view that only its members read is copied.
TEST(KernelChooserTest, MembersOfChainsReadNoStrides) {
  for (const bool is_member : {false, true}) {
    TestGraph g;
    const auto part = Sliced(g, g.Op("Exp", {Input(g)}), 1, 2, 10);
    const auto joined = Concatenated(g, {part, g.Op("Abs", {g.Parameter("other", {4, 8})})}, 1);
    g.Result(g.Op("Tanh", {joined}));
    const PlannedGraph planned(g, [=](kernels::KernelRegistry& kernels) {
      if (!is_member) return;
      kernels.SetHooks(Backend::kFast, {.find_fusions = [](const ir::Graph& graph) {
                         kernels::FusionGroup group;
                         for (ir::NodeId id : graph.nodes()) {
                           if (graph.node(id).type() == "Concat") group.main = id;
                           if (graph.node(id).type() == "Tanh") group.posts = {id};
                         }
                         return std::vector{group};
                       }});
    });
    EXPECT_EQ(planned.Steps(), is_member ? "Exp Slice Abs Concat Tanh" : "Exp Abs Concat Tanh");
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::plan
