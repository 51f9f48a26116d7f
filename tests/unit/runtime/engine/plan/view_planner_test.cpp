// Nodes that only move elements: both sides of each condition under which they need no step.

#include <stdexcept>

#include "tests/unit/runtime/engine/plan/planned_graph.h"

namespace nnefc::runtime::engine::plan {

using kernels::Backend;

namespace {

using Values = std::vector<ir::OutputPort>;

// Adds the nodes after y = Exp(x), where x has the shape.
struct MovingCase {
  std::string name;
  Shape shape;
  std::function<void(TestGraph&, ir::OutputPort y)> add;
  std::string steps;         // of a plan
  std::string unfused = "";  // with a step for each node, if that is checked
};

TestGraph GraphOf(const MovingCase& each) {
  TestGraph g;
  each.add(g, g.Op("Exp", {g.Parameter("x", each.shape)}));
  return g;
}

void Finish(TestGraph& g, ir::OutputPort x) {
  g.Result(g.Op("Tanh", {x}));
}

// A value of the shape that is computed, so that a Concat may read it or join it.
ir::OutputPort Other(TestGraph& g, const Shape& shape) {
  return g.Op("Abs", {g.Parameter("other", shape)});
}

ir::OutputPort Split(TestGraph& g, ir::OutputPort x, int64_t axis, int64_t parts) {
  return g.Op("opset1", "Split", {x, Number(g, axis)}, With("num_splits", parts), static_cast<int>(parts));
}

// Transposes y, changes the rank `reshapes` times, and transposes back.
void MoveThroughReshapes(TestGraph& g, ir::OutputPort y, int reshapes) {
  ir::OutputPort x = Transposed(g, y, {1, 0});
  for (int i = 0; i < reshapes; ++i)
    x = Reshaped(g, x, i % 2 == 0 ? std::vector<int64_t>{16, 1, 4} : std::vector<int64_t>{16, 4});
  Finish(g, Transposed(g, x, reshapes % 2 == 0 ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{2, 1, 0}));
}

// Splits a transposed value into `parts` along axis 0. Only one part has a reader.
void SplitColumns(TestGraph& g, ir::OutputPort y, int64_t parts) {
  const ir::OutputPort part = Split(g, Transposed(g, y, {1, 0}), 0, parts);
  Finish(g, Sliced(g, {part.node, 3}, 1, 0, 1));
}

std::vector<MovingCase> MovingCases() {
  const Shape matrix = {4, 16};
  std::vector<MovingCase> cases;
  const auto add = [&](std::string name, const Shape& shape, auto build, std::string steps,
                       std::string unfused = "") {
    cases.push_back({std::move(name), shape, build, std::move(steps), std::move(unfused)});
  };
  add(
      "rows", matrix, [](TestGraph& g, auto y) { Finish(g, Sliced(g, y, 0, 1, 3)); }, "Exp Tanh",
      "Exp Slice Tanh");
  add(
      "reshape", matrix, [](TestGraph& g, auto y) { Finish(g, Reshaped(g, y, {64})); }, "Exp Tanh",
      "Exp Tanh");
  add(
      "part as a result", matrix,
      [](TestGraph& g, auto y) {
        const auto part = Sliced(g, y, 0, 1, 3);
        Finish(g, part);
        g.Result(part, "part");
      },
      "Exp Slice Tanh");
  add(
      "second output as a result", matrix,
      [](TestGraph& g, auto y) {
        const auto part = Split(g, y, 0, 2);
        Finish(g, part);
        g.Result({part.node, 1}, "part");
      },
      "Exp Split Tanh");
  add(
      "both outputs read", matrix,
      [](TestGraph& g, auto y) {
        const auto part = Split(g, y, 0, 2);
        Finish(g, part);
        g.Result(g.Op("Tanh", {{part.node, 1}}), "second");
      },
      "Exp Tanh Tanh");
  // The reader of strided elements decides.
  add(
      "columns for a kernel without strides", matrix,
      [](TestGraph& g, auto y) { Finish(g, Sliced(g, y, 1, 2, 10)); }, "Exp Slice Tanh");
  add(
      "columns for a Concat", matrix,
      [](TestGraph& g, auto y) {
        g.Result(Concatenated(g, {Sliced(g, y, 1, 2, 10), Other(g, {4, 8})}, 1));
      },
      "Exp Abs Concat", "Exp Slice Abs Concat");
  add(
      "columns for the second input of a Concat", matrix,
      [](TestGraph& g, auto y) {
        g.Result(Concatenated(g, {Other(g, {4, 8}), Sliced(g, y, 1, 2, 10)}, 1));
      },
      "Exp Abs Concat");
  add(
      "columns for two readers, one without strides", matrix,
      [](TestGraph& g, auto y) {
        const auto part = Sliced(g, y, 1, 2, 10);
        g.Result(Concatenated(g, {Other(g, {4, 8}), part}, 1));
        Finish(g, part);
      },
      "Exp Slice Abs Concat Tanh");
  add(
      "every second column for a Concat", matrix,
      [](TestGraph& g, auto y) {
        g.Result(Concatenated(g, {Sliced(g, y, 1, 0, 16, 2), Other(g, {4, 8})}, 1));
      },
      "Exp Slice Abs Concat");
  add(
      "transposed for a Concat", matrix,
      [](TestGraph& g, auto y) {
        g.Result(Concatenated(g, {Transposed(g, y, {1, 0}), Other(g, {16, 2})}, 1));
      },
      "Exp Transpose Abs Concat");
  add(
      "rows in reverse order", matrix,
      [](TestGraph& g, auto y) {
        g.Result(Concatenated(g, {Sliced(g, y, 0, 3, -5, -1), Other(g, {4, 8})}, 1));
      },
      "Exp Slice Abs Concat");
  // The number of readers of strided elements; contiguous ones have any number.
  for (const int64_t count : {8, 9}) {
    add(
        std::to_string(count) + " readers of columns", matrix,
        [=](TestGraph& g, auto y) {
          g.Result(Concatenated(g, Values(static_cast<size_t>(count), Sliced(g, y, 1, 2, 10)), 1));
        },
        count == 8 ? "Exp Concat" : "Exp Slice Concat");
  }
  add(
      "9 readers of rows", matrix,
      [](TestGraph& g, auto y) { g.Result(Concatenated(g, Values(9, Sliced(g, y, 0, 1, 3)), 1)); },
      "Exp Concat");
  // Views of views.
  add(
      "one row of columns", matrix,
      [](TestGraph& g, auto y) { Finish(g, Gathered(g, Sliced(g, y, 1, 2, 10), Number(g, 1), 0)); },
      "Exp Tanh", "Exp Slice Gather Tanh");
  add(
      "an index that is not constant", matrix,
      [](TestGraph& g, auto y) { Finish(g, Gathered(g, y, g.Parameter("index", {}, ElementType::kI64), 0)); },
      "Exp Gather Tanh");
  add(
      "columns split into axes", matrix,
      [](TestGraph& g, auto y) {
        g.Result(Concatenated(g, {Reshaped(g, Sliced(g, y, 1, 0, 8), {4, 2, 4}), Other(g, {4, 2, 4})}, 1));
      },
      "Exp Abs Concat");
  add(
      "columns merged with rows", matrix,
      [](TestGraph& g, auto y) { Finish(g, Reshaped(g, Sliced(g, y, 1, 0, 8), {32})); }, "Exp Slice Tanh");
  add(
      "six views after the first", matrix, [](TestGraph& g, auto y) { MoveThroughReshapes(g, y, 5); },
      "Exp Tanh");
  add(
      "seven views after the first", matrix, [](TestGraph& g, auto y) { MoveThroughReshapes(g, y, 6); },
      "Exp Transpose Transpose Tanh");
  // The number of outputs.
  for (const int64_t parts : {256, 257}) {
    add(
        std::to_string(parts) + " parts", {parts, 4},
        [=](TestGraph& g, auto y) {
          Finish(g, {Split(g, y, 0, parts).node, 3});
        },
        parts == 256 ? "Exp Tanh" : "Exp Split Tanh");
    add(
        std::to_string(parts) + " parts of a view", {2, parts},
        [=](TestGraph& g, auto y) { SplitColumns(g, y, parts); },
        parts == 256 ? "Exp Tanh" : "Exp Transpose Split Tanh");
  }
  return cases;
}

TEST(ViewPlannerTest, NodesWithoutSteps) {
  for (const MovingCase& each : MovingCases()) {
    SCOPED_TRACE(each.name);
    const TestGraph g = GraphOf(each);
    EXPECT_EQ(PlannedGraph(g).Steps(), each.steps);
    if (!each.unfused.empty()) {
      EXPECT_EQ(PlannedGraph(g, false).Steps(), each.unfused);
    }
  }
}

// Indices in another value's strided elements are not the viewed input of a Gather.
TEST(ViewPlannerTest, StridedIndicesAreCopied) {
  TestGraph g;
  const auto indices = Sliced(g, g.Parameter("x", {4, 16}, ElementType::kI64), 1, 2, 10);
  g.Result(Gathered(g, g.Parameter("data", {32}), indices, 0));
  EXPECT_EQ(PlannedGraph(g).Steps(), "Slice Gather");
}

// Constants of one byte per element are read as others are.
TEST(ViewPlannerTest, OrdersOfAnyWidth) {
  for (const ElementType type : {ElementType::kI8, ElementType::kI64}) {
    TestGraph g;
    const auto order = g.Const(TensorValue::FromInts({3}, {1, 0, 2}).ConvertedTo(type));
    const auto y = g.Op("Exp", {g.Parameter("x", {1, 4, 8})});
    Finish(g, g.Op("Transpose", {y, order}));
    EXPECT_EQ(PlannedGraph(g).Steps(), "Exp Tanh") << Name(type);
  }
}

TEST(ViewPlannerTest, PartsAreAtTheirOffsets) {
  TestGraph g;
  const auto y = g.Op("Exp", {g.Parameter("x", {4, 16})});
  Finish(g, Sliced(g, y, 0, 1, 3));
  g.Result(Concatenated(g, {Sliced(g, y, 1, 2, 10), Sliced(g, y, 1, 3, 11)}, 0), "columns");
  const PlannedGraph planned(g);
  ASSERT_EQ(planned.Steps(), "Exp Tanh Concat");
  const ValueId root = planned.OutputOf("Exp").root;
  EXPECT_EQ(planned.InputOf("Tanh"), (PlannedGraph::Place{root, 16 * sizeof(float)}));
  EXPECT_EQ(planned.InputOf("Concat", 0), (PlannedGraph::Place{root, 2 * sizeof(float)}));
  EXPECT_EQ(planned.InputOf("Concat", 1), (PlannedGraph::Place{root, 3 * sizeof(float)}));
  // From the first to the last element: 3 rows of 16 and 8 more.
  EXPECT_EQ(planned.value(planned.StepOf("Concat").inputs[0]).bytes, (3 * 16 + 8) * sizeof(float));
  EXPECT_EQ(planned.plan().arena_bytes, 4 * 16 * sizeof(float));
  const TensorValue x = RandomTensor({4, 16}, 1);
  const auto actual = RunGraph(g.graph, {.backend = Backend::kReference}, {x});
  for (int64_t i = 0; i < 32; ++i)
    EXPECT_NEAR(actual[0].ElementAsDouble(i), std::tanh(std::exp(x.ElementAsDouble(16 + i))), 1e-6);
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t element = row % 4 * 16 + (row < 4 ? 2 : 3) + i;
      EXPECT_NEAR(actual[1].ElementAsDouble(row * 8 + i), std::exp(x.ElementAsDouble(element)), 1e-6);
    }
  }
}

// Reads of views are reads of their buffer, and are over after the step.
TEST(ViewPlannerTest, TheLastReaderOverwrites) {
  struct Reader {
    std::string name;
    std::function<ir::OutputPort(TestGraph&, ir::OutputPort)> view;
  };
  for (const Reader& each : {Reader{"reshape", [](TestGraph& g, auto y) { return Reshaped(g, y, {64}); }},
                             Reader{"slice", [](TestGraph& g, auto y) { return Sliced(g, y, 0, 0, 2); }}}) {
    SCOPED_TRACE(each.name);
    TestGraph before, after;
    {
      const auto y = before.Op("Exp", {before.Parameter("x", {4, 16})});
      before.Result(before.Op("opset8", "SoftMax", {each.view(before, y)}, With("axis", int64_t{0})));
      Finish(before, y);
    }
    {
      const auto y = after.Op("Exp", {after.Parameter("x", {4, 16})});
      const auto view = each.view(after, y);
      Finish(after, y);
      after.Result(after.Op("opset8", "SoftMax", {view}, With("axis", int64_t{0})));
    }
    EXPECT_EQ(PlannedGraph(before).Steps(), "Exp SoftMax Tanh");
    EXPECT_TRUE(PlannedGraph(before).Overwrites("Tanh"));
    EXPECT_EQ(PlannedGraph(after).Steps(), "Exp Tanh SoftMax");
    EXPECT_FALSE(PlannedGraph(after).Overwrites("Tanh"));
  }
}

// ---- view functions of plug-ins ----

kernels::FaultOr<tensor::ElementsView> Whole(const kernels::ViewRequest& request) {
  return request.source;
}
template <int64_t kStride>
kernels::FaultOr<tensor::ElementsView> WithStride(const kernels::ViewRequest& request) {
  tensor::ElementsView view = request.source;
  view.strides.front() = kStride;
  return view;
}
kernels::FaultOr<tensor::ElementsView> OtherShape(const kernels::ViewRequest& request) {
  tensor::ElementsView view = request.source;
  view.shape.front() = 1;
  return view;
}
kernels::FaultOr<tensor::ElementsView> Faulty(const kernels::ViewRequest& /*request*/) {
  return kernels::KernelFault("no view");
}
kernels::FaultOr<tensor::ElementsView> ThrowsError(const kernels::ViewRequest& /*request*/) {
  throw std::runtime_error("no view");
}
kernels::FaultOr<tensor::ElementsView> ThrowsNumber(const kernels::ViewRequest& /*request*/) {
  throw 1;
}

TEST(ViewPlannerTest, ViewFunctions) {
  struct Function {
    std::string name;
    kernels::ViewFunction view;
    bool is_view;
  };
  for (const Function& each :
       {Function{"whole", Whole, true}, Function{"stride 1", WithStride<1>, true},
        Function{"stride 0", WithStride<0>, false}, Function{"stride -1", WithStride<-1>, false},
        Function{"another shape", OtherShape, false}, Function{"fault", Faulty, false},
        Function{"error", ThrowsError, false}, Function{"number", ThrowsNumber, false}}) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    const auto y = g.Op("Exp", {g.Parameter("x", {4, 16})});
    const auto seen = g.Op("opset4", "HSwish", {y});
    g.Result(Concatenated(g, {seen, Other(g, {4, 8})}, 1));
    const PlannedGraph planned(
        g, [&](kernels::KernelRegistry& kernels) { kernels.AddView({"opset4"}, "HSwish", each.view); });
    EXPECT_EQ(planned.Steps(), each.is_view ? "Exp Abs Concat" : "Exp HSwish Abs Concat");
  }
}

// ---- layouts of a backend ----

// Describes the layout that a kernel of HSwish is requested to write.
std::string WantedOf(const Shape& shape, const std::function<void(TestGraph&, ir::OutputPort)>& add,
                     bool fuse = true) {
  TestGraph g;
  add(g, g.Op("opset4", "HSwish", {g.Parameter("x", shape)}));
  std::string wanted = "not requested";
  const PlannedGraph planned(
      g,
      [&](kernels::KernelRegistry& kernels) {
        kernels.Add(Backend::kFast, {"opset4"}, "HSwish", [&](const kernels::KernelRequest& request) {
          const tensor::Strides* strides = tensor::StridesOf(request.wanted_output);
          wanted = strides == nullptr ? "none" : "";
          for (size_t i = 0; strides != nullptr && i < strides->size(); ++i)
            wanted += (i == 0 ? "" : " ") + std::to_string((*strides)[i]);
          return PreparedFor(request);
        });
      },
      fuse);
  return wanted;
}

TEST(ViewPlannerTest, OutputLayoutsWantedByReaders) {
  const Shape shape = {2, 3, 4};
  const auto transpose = [](std::vector<int64_t> order) {
    return [=](TestGraph& g, ir::OutputPort y) { Finish(g, Transposed(g, y, order)); };
  };
  // Rows of [3, 2, 4] have strides 8, 4, 1.
  EXPECT_EQ(WantedOf(shape, transpose({1, 0, 2})), "4 8 1");
  EXPECT_EQ(WantedOf(shape, transpose({1, 0, 2}), false), "none");
  EXPECT_EQ(WantedOf(shape, transpose({0, 1, 2})), "none");
  EXPECT_EQ(WantedOf(shape, transpose({0, 2, 1})), "none");
  EXPECT_EQ(WantedOf({2, 3, 4, 5}, transpose({2, 0, 1, 3})), "15 5 30 1");
  EXPECT_EQ(WantedOf(shape,
                     [](TestGraph& g, auto y) {
                       Finish(g, Transposed(g, y, {1, 0, 2}));
                       g.Result(g.Op("Abs", {y}), "second");
                     }),
            "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { Finish(g, Reshaped(g, y, {3, 2, 4})); }), "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { Finish(g, Sliced(g, y, 0, 1, 2)); }), "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { Finish(g, Sliced(g, y, 0, 0, 1)); }), "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { Finish(g, Gathered(g, y, Number(g, 0), 0)); }),
            "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { Finish(g, {Split(g, y, 0, 2).node, 1}); }), "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { Finish(g, y); }), "none");
  EXPECT_EQ(WantedOf(shape, [](TestGraph& g, auto y) { g.Result(y); }), "none");
}

// A kernel that writes the wanted layout makes the Transpose a contiguous view.
TEST(ViewPlannerTest, TransposesOfWantedLayouts) {
  for (const bool writes_wanted : {false, true}) {
    TestGraph g;
    Finish(g, Transposed(g, g.Op("opset4", "HSwish", {g.Parameter("x", {2, 3, 4})}), {1, 0, 2}));
    const PlannedGraph planned(g, [&](kernels::KernelRegistry& kernels) {
      kernels.Add(Backend::kFast, {"opset4"}, "HSwish", [&](const kernels::KernelRequest& request) {
        kernels::PreparedKernel prepared = PreparedFor(request);
        if (writes_wanted) prepared.outputs[0] = request.wanted_output;
        return prepared;
      });
    });
    EXPECT_EQ(planned.Steps(), writes_wanted ? "HSwish Tanh" : "HSwish Transpose Tanh");
  }
}

// HSwish writes a layout of the backend.
void AddBlockedKernel(kernels::KernelRegistry& kernels, const kernels::KernelRegistry::BackendHooks& hooks,
                      size_t bytes) {
  kernels.Add(Backend::kFast, {"opset4"}, "HSwish", [=](const kernels::KernelRequest& request) {
    kernels::PreparedKernel prepared = PreparedFor(request);
    prepared.outputs[0] = LayoutNamed("blocked", bytes);
    return prepared;
  });
  kernels.SetHooks(Backend::kFast, hooks);
}

kernels::KernelRegistry::BackendHooks WithReorder() {
  return {.make_reorder = ReorderAnything};
}

std::optional<tensor::Layout> Kept(const tensor::Layout& layout, llvm::ArrayRef<int64_t> /*from*/,
                                   llvm::ArrayRef<int64_t> to) {
  return to.size() == 3 ? std::optional(layout) : std::nullopt;
}

TEST(ViewPlannerTest, ReshapesOfBackendLayouts) {
  struct Setting {
    std::string name;
    std::vector<int64_t> shape;
    ElementType type = ElementType::kF32;
    bool has_hook = true;
  };
  for (const Setting& each : {Setting{"same order", {4, 4, 4}}, Setting{"another order", {8, 8}},
                              Setting{"another type", {4, 4, 4}, ElementType::kF16},
                              Setting{"no function", {4, 4, 4}, ElementType::kF32, false}}) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    g.Result(Reshaped(g, g.Op("opset4", "HSwish", {g.Parameter("x", {4, 16}, each.type)}), each.shape));
    const PlannedGraph planned(g, [&](kernels::KernelRegistry& kernels) {
      kernels::KernelRegistry::BackendHooks hooks = WithReorder();
      if (each.has_hook) hooks.reshape = Kept;
      AddBlockedKernel(kernels, hooks, 256);
    });
    EXPECT_EQ(planned.Steps(), "HSwish reorder");
    // The reorder follows the view of the layout, or precedes a view of its row-major result.
    const PlanValue& reordered = planned.value(planned.StepOf("reorder").inputs[0]);
    EXPECT_EQ(reordered.shape == Shape({4, 4, 4}), each.name == "same order");
  }
}

// Transposes by {0, 2, 1} have a layout.
std::optional<tensor::Layout> LastAxisFirst(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> order) {
  EXPECT_EQ(Volume(shape), 4 * 5 * 3);
  return order.equals({0, 2, 1}) ? std::optional(LayoutNamed("transposed", 240)) : std::nullopt;
}

// A Transpose needs no step if its only reader is a FakeQuantize, and its input is row-major.
TEST(ViewPlannerTest, TransposesBeforeQuantizations) {
  struct Setting {
    std::string name, steps;
    std::vector<int64_t> order = {0, 2, 1};
    ElementType type = ElementType::kF32;
    bool has_hook = true, fuses = true, is_read_twice = false, reads_limits = false;
    const char* reader = "FakeQuantize";
  };
  const std::string own = "Exp Transpose FakeQuantize";
  for (const Setting& each : {
           Setting{.name = "its layout", .steps = "Exp reorder FakeQuantize"},
           Setting{.name = "another order", .steps = own, .order = {1, 2, 0}},
           Setting{.name = "another type", .steps = own, .type = ElementType::kF16},
           Setting{.name = "no function", .steps = own, .has_hook = false},
           Setting{.name = "a step for each node", .steps = own, .fuses = false},
           Setting{.name = "two readers", .steps = own + " FakeQuantize", .is_read_twice = true},
           Setting{.name = "limits", .steps = own, .reads_limits = true},
           Setting{.name = "another reader", .steps = "Exp Transpose Tanh", .reader = "Tanh"},
       }) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    const auto x = Transposed(g, g.Op("Exp", {g.Parameter("x", {4, 5, 3}, each.type)}), each.order);
    const auto limit = [&](float number) {
      return g.Const(TensorValue::FromFloats({}, {number}).ConvertedTo(each.type));
    };
    const auto quantized = [&] {
      const auto data = each.reads_limits ? g.Parameter("data", g.graph->output(x).shape.known_extents()) : x;
      const auto last = each.reads_limits ? x : limit(1);
      return g.Op("FakeQuantize", {data, limit(0), last, limit(0), limit(1)}, With("levels", int64_t{256}));
    };
    g.Result(std::string_view(each.reader) == "Tanh" ? g.Op("Tanh", {x}) : quantized());
    if (each.is_read_twice) g.Result(quantized(), "second");
    const PlannedGraph planned(
        g,
        [&](kernels::KernelRegistry& kernels) {
          kernels::KernelRegistry::BackendHooks hooks = WithReorder();
          if (each.has_hook) hooks.transpose = LastAxisFirst;
          kernels.SetHooks(Backend::kFast, hooks);
        },
        each.fuses);
    EXPECT_EQ(planned.Steps(), each.steps);
    if (each.name == "its layout") {
      EXPECT_EQ(planned.InputOf("reorder"), planned.OutputOf("Exp"));
    }
  }
}

// Rows of a matrix are parts of the layout; a part at an odd row is not.
std::optional<kernels::LayoutPart> Row(const kernels::ValueInfo& whole, const tensor::ElementsView& part) {
  if (part.offset % 32 != 0) return std::nullopt;
  const auto bytes = static_cast<size_t>(*Volume(part.shape)) * sizeof(float);
  EXPECT_EQ(whole.layout->ToString(), "blocked");
  return kernels::LayoutPart{part.offset == 0 ? LayoutNamed("blocked", bytes) : nullptr,
                             static_cast<size_t>(part.offset) * sizeof(float)};
}

TEST(ViewPlannerTest, PartsOfBackendLayouts) {
  struct Setting {
    std::string name;
    int64_t parts;
    ElementType type = ElementType::kF32;
    bool has_hook = true;
  };
  for (const Setting& each :
       {Setting{"each is a part", 2}, Setting{"one is not", 4}, Setting{"another type", 2, ElementType::kF16},
        Setting{"no function", 2, ElementType::kF32, false}}) {
    SCOPED_TRACE(each.name);
    TestGraph g;
    const auto part =
        Split(g, g.Op("opset4", "HSwish", {g.Parameter("x", {4, 16}, each.type)}), 0, each.parts);
    g.Result(g.Op("Tanh", {part}));
    g.Result(g.Op("Abs", {{part.node, 1}}), "second");
    const PlannedGraph planned(g, [&](kernels::KernelRegistry& kernels) {
      kernels::KernelRegistry::BackendHooks hooks = WithReorder();
      if (each.has_hook) hooks.part = Row;
      AddBlockedKernel(kernels, hooks, 256);
    });
    const bool are_parts = each.name == "each is a part";
    EXPECT_EQ(planned.Steps(), are_parts ? "HSwish reorder Tanh Abs" : "HSwish reorder Split Tanh Abs");
    if (!are_parts) continue;
    // The first part has the layout of the whole, the second is row-major.
    const ValueId root = planned.OutputOf("HSwish").root;
    EXPECT_EQ(planned.InputOf("reorder"), (PlannedGraph::Place{root, 0}));
    EXPECT_EQ(planned.InputOf("Abs"), (PlannedGraph::Place{root, 128}));
    EXPECT_EQ(planned.value(planned.StepOf("reorder").inputs[0]).bytes, 128U);
    EXPECT_EQ(planned.value(planned.StepOf("Abs").inputs[0]).bytes, 128U);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::plan
