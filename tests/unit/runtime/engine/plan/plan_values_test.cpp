// Buffers of a plan: parts and views, pending reads, and offsets by lifetime.

#include "runtime/engine/plan/plan_values.h"

#include <unistd.h>

#include "tests/unit/runtime/engine/plan/planned_graph.h"

namespace nnefc::runtime::engine::plan {
namespace {

constexpr size_t kLine = 64;  // bytes

TEST(PlanValuesTest, PartsOfParts) {
  std::vector<PlanValue> all;
  PlanValues values(&all);
  const ValueId inner = values.Add({.bytes = 10}), middle = values.Add({.bytes = 30}),
                whole = values.Add({.bytes = 100});
  EXPECT_EQ(values.Find(inner).root, inner);
  EXPECT_EQ(values.Find(inner).offset, 0U);
  values.Join(inner, middle, 5);
  values.Join(middle, whole, 50);
  for (int i = 0; i < 2; ++i) {  // the second search starts at the root
    EXPECT_EQ(values.Find(inner).root, whole);
    EXPECT_EQ(values.Find(inner).offset, 55U);
    EXPECT_EQ(values.Find(middle).offset, 50U);
  }
  const ValueId view = values.Add({.bytes = 4, .root = inner, .offset = 2});
  EXPECT_EQ(values.Find(view).root, whole);
  EXPECT_EQ(values.Find(view).offset, 57U);
}

TEST(PlanValuesTest, DeadValues) {
  std::vector<PlanValue> all;
  PlanValues values(&all);
  const ValueId id = values.Add({.bytes = 16});
  EXPECT_TRUE(values.IsDead(id));
  values.ExpectReads(id, 2);
  values.CountRead(id);
  EXPECT_FALSE(values.IsDead(id));
  values.CountRead(id);
  EXPECT_TRUE(values.IsDead(id));
  // A view of all bytes is the same buffer; parts are not complete.
  const ValueId view = values.Add({.bytes = 16, .root = id});
  EXPECT_TRUE(values.IsDead(view));
  EXPECT_FALSE(values.IsDead(values.Add({.bytes = 15, .root = id})));
  EXPECT_FALSE(values.IsDead(values.Add({.bytes = 16, .root = id, .offset = 1})));
  values.ExpectReads(view, 1);
  EXPECT_FALSE(values.IsDead(id));
  values.CountRead(id);
  EXPECT_TRUE(values.IsDead(view));
  for (const auto storage : {PlanValue::Storage::kConstant, PlanValue::Storage::kInput,
                             PlanValue::Storage::kOutput, PlanValue::Storage::kHeap})
    EXPECT_FALSE(values.IsDead(values.Add({.storage = storage, .bytes = 16})));
  // A joined value brings its reads along.
  const ValueId whole = values.Add({.bytes = 32}), part = values.Add({.bytes = 16});
  values.ExpectReads(part, 1);
  values.Join(part, whole, 16);
  EXPECT_FALSE(values.IsDead(whole));
  values.CountRead(part);
  EXPECT_TRUE(values.IsDead(whole));
}

// Steps and values of one cache line, or as many as stated.
class Draft {
 public:
  ValueId Add(size_t lines = 1, ValueId root = -1, size_t offset = 0) {
    plan_.values.push_back({.bytes = lines * kLine,
                            .root = root < 0 ? static_cast<ValueId>(plan_.values.size()) : root,
                            .offset = offset * kLine});
    return static_cast<ValueId>(plan_.values.size()) - 1;
  }
  void Run(llvm::SmallVector<ValueId, 4> inputs, llvm::SmallVector<ValueId, 1> outputs,
           ValueId scratch = -1) {
    plan_.steps.push_back({.inputs = std::move(inputs), .outputs = std::move(outputs), .scratch = scratch});
  }
  Plan& plan() { return plan_; }
  // Returns the lines of the arena.
  size_t Place() {
    EXPECT_TRUE(PlaceInArena(plan_));
    EXPECT_EQ(plan_.arena_bytes % kLine, 0U);
    return plan_.arena_bytes / kLine;
  }

 private:
  Plan plan_;
};

TEST(PlaceInArenaTest, ValuesOfDifferentSteps) {
  Draft draft;
  const ValueId a = draft.Add(), b = draft.Add(), c = draft.Add(), d = draft.Add();
  draft.Run({}, {a});
  draft.Run({a}, {b});
  draft.Run({b}, {c});
  draft.Run({c}, {d});
  EXPECT_EQ(draft.Place(), 2U);
}

TEST(PlaceInArenaTest, ReadsKeepValues) {
  for (const bool is_read_last : {false, true}) {
    Draft draft;
    const ValueId a = draft.Add(), b = draft.Add(), c = draft.Add();
    draft.Run({}, {a});
    draft.Run({a}, {b});
    is_read_last ? draft.Run({b, a}, {c}) : draft.Run({b}, {c});
    EXPECT_EQ(draft.Place(), is_read_last ? 3U : 2U);
  }
}

TEST(PlaceInArenaTest, ResultsLiveToTheEnd) {
  for (const bool is_result : {false, true}) {
    Draft draft;
    const ValueId a = draft.Add(), b = draft.Add(), c = draft.Add();
    draft.Run({}, {a});
    draft.Run({}, {b});
    draft.Run({}, {c});
    if (is_result) draft.plan().results.push_back({.value = a});
    EXPECT_EQ(draft.Place(), is_result ? 2U : 1U);
  }
}

TEST(PlaceInArenaTest, ScratchIsNeededInItsStep) {
  Draft draft;
  const ValueId a = draft.Add(), b = draft.Add(), first = draft.Add(2), second = draft.Add(3);
  draft.Run({}, {a}, first);
  draft.Run({a}, {b}, second);
  EXPECT_EQ(draft.Place(), 5U);
}

TEST(PlaceInArenaTest, OnlyUsedArenaValues) {
  Draft draft;
  const ValueId a = draft.Add(2), unused = draft.Add(8);
  for (const auto storage : {PlanValue::Storage::kConstant, PlanValue::Storage::kInput,
                             PlanValue::Storage::kOutput, PlanValue::Storage::kHeap}) {
    const ValueId id = draft.Add(8);
    draft.plan().values[static_cast<size_t>(id)].storage = storage;
    draft.Run({id}, {a});
  }
  EXPECT_EQ(draft.plan().values[static_cast<size_t>(unused)].arena_offset, 0U);
  EXPECT_EQ(draft.Place(), 2U);
}

// The first half of a buffer is written first, the second half last. Between them, `t` needs memory.
// `more_views`: views of the first half that are read, too.
size_t LinesOfHalves(size_t more_views) {
  Draft draft;
  const ValueId whole = draft.Add(4), first = draft.Add(2, whole), second = draft.Add(2, whole, 2);
  const ValueId t = draft.Add(2), result = draft.Add(1);
  draft.Run({}, {first});
  draft.Run({first}, {t});
  for (size_t i = 0; i < more_views; ++i) draft.Run({draft.Add(2, whole)}, {});
  draft.Run({}, {second});
  draft.Run({first, second}, {});
  (void)result;
  return draft.Place();
}

TEST(PlaceInArenaTest, PartsHaveTheirOwnLifetimes) {
  EXPECT_EQ(LinesOfHalves(0), 4U);
  // With more than 200 members, a buffer has one lifetime: the two halves and 198 or 199 views.
  EXPECT_EQ(LinesOfHalves(198), 4U);
  EXPECT_EQ(LinesOfHalves(199), 6U);
}

// A step that writes the second half while `t` is read cannot use its memory.
TEST(PlaceInArenaTest, PartsOfTheSameStepAreApart) {
  Draft draft;
  const ValueId whole = draft.Add(4), first = draft.Add(2, whole), second = draft.Add(2, whole, 2);
  const ValueId t = draft.Add(2);
  draft.Run({}, {first});
  draft.Run({first}, {t});
  draft.Run({t}, {second});
  draft.Run({first, second}, {});
  EXPECT_EQ(draft.Place(), 6U);
}

// A reader of the whole buffer needs each byte of it.
TEST(PlaceInArenaTest, TheWholeIsAMember) {
  for (const bool is_read : {false, true}) {
    Draft draft;
    const ValueId whole = draft.Add(4), first = draft.Add(2, whole), second = draft.Add(2, whole, 2);
    const ValueId t = draft.Add(2);
    draft.Run({}, {is_read ? whole : first});
    draft.Run({first}, {t});
    draft.Run({}, {second});
    draft.Run({first, second}, {});
    EXPECT_EQ(draft.Place(), is_read ? 6U : 4U);
  }
}

TEST(PlaceInArenaTest, SizesThatOverflow) {
  Draft draft;
  const ValueId a = draft.Add(), b = draft.Add();
  for (const ValueId id : {a, b}) draft.plan().values[static_cast<size_t>(id)].bytes = SIZE_MAX - 4096;
  draft.Run({a}, {b});
  EXPECT_FALSE(PlaceInArena(draft.plan()));
}

TEST(PlanTest, BytesOfARun) {
  Plan plan{.arena_bytes = 10};
  EXPECT_EQ(plan.run_bytes(), 10U);
  plan.values = {{.bytes = 100}, {.bytes = 7}};
  plan.outputs = {1};
  EXPECT_EQ(plan.run_bytes(), 17U);
  plan.values[1].bytes = SIZE_MAX - 10;
  EXPECT_EQ(plan.run_bytes(), SIZE_MAX);
  plan.values[1].bytes = SIZE_MAX - 9;
  EXPECT_EQ(plan.run_bytes(), SIZE_MAX);
}

// `--max-memory` is the largest number of bytes that is allowed.
TEST(PlanTest, LimitOfMemory) {
  TestGraph g;
  g.Result(g.Op("Exp", {g.Parameter("x", {4, 16})}));
  for (const size_t limit : {255, 256}) {
    Emitter emitter;
    const auto executable = Executable::Create(
        g.graph, {.backend = kernels::Backend::kReference, .limits = {.bytes = limit}}, emitter);
    EXPECT_EQ(executable != nullptr, limit == 256) << Messages(emitter);
  }
}

// By default it is the memory of the machine.
TEST(PlanTest, MemoryOfTheMachine) {
  const int64_t bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
  for (const int64_t more : {0, 1}) {
    TestGraph g;
    g.Result(g.Op("opset13", "BitwiseNot", {g.Parameter("x", {bytes + more}, ElementType::kU8)}));
    Emitter emitter;
    const auto executable = Executable::Create(g.graph, {.backend = kernels::Backend::kReference}, emitter);
    EXPECT_EQ(executable != nullptr, more == 0) << Messages(emitter);
  }
}

// ---- results ----

TEST(PlanTest, BuffersOfResults) {
  TestGraph g;
  const auto x = g.Parameter("x", {4, 16});
  const auto y = g.Op("Exp", {x});
  g.Result(y, "computed");
  g.Result(y, "again");
  g.Result(Reshaped(g, y, {64}), "reshaped");
  g.Result(x, "input");
  g.Result(g.Weights({4}, 1), "constant");
  g.Result(g.Op("Abs", {x}), "second");
  const PlannedGraph planned(g);
  const Plan& plan = planned.plan();
  ASSERT_EQ(plan.results.size(), 6U);
  ASSERT_EQ(plan.outputs.size(), 2U);
  EXPECT_EQ(plan.outputs[0], planned.OutputOf("Exp").root);
  EXPECT_EQ(plan.outputs[1], planned.OutputOf("Abs").root);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(plan.results[i].root, plan.outputs[0]);
  for (size_t i = 0; i < 2; ++i) {
    const PlanValue& output = planned.value(plan.outputs[i]);
    EXPECT_EQ(output.storage, PlanValue::Storage::kOutput);
    EXPECT_EQ(output.output, static_cast<int32_t>(i));
  }
  EXPECT_EQ(planned.value(plan.results[3].root).storage, PlanValue::Storage::kInput);
  EXPECT_EQ(planned.value(plan.results[4].root).storage, PlanValue::Storage::kConstant);
  EXPECT_EQ(plan.arena_bytes, 0U);
}

// The bytes of a parameter count as none if their number does not fit into 64 bits: no run can have it.
TEST(PlannedValuesTest, BytesOfParameters) {
  constexpr int64_t kMany = int64_t{1} << 40;
  for (const auto& [extents, bytes] : {std::pair(Shape{3, 5}, size_t{60}),
                                       {Shape{kMany, 1 << 10}, size_t{1} << 52},
                                       {Shape{kMany, 1 << 22}, size_t{0}},
                                       {Shape{kMany, kMany}, size_t{0}},
                                       {Shape{kMany, 0}, size_t{0}}}) {
    TestGraph g;
    g.Result(g.Op("ReduceMax", {g.Parameter("x", extents), g.Ints({0, 1})}, With("keep_dims", false)));
    const PlannedGraph planned(g);
    EXPECT_EQ(planned.value(planned.StepOf("ReduceMax").inputs[0]).bytes, bytes) << ToString(extents);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::plan
