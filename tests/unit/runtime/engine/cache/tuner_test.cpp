#include "runtime/engine/cache/tuner.h"

#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/engine/cache/plan_cache.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/register.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/onednn/register.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::cache {

using kernels::KernelRegistry;

namespace {

constexpr std::string_view kSlow = "slow", kFast = "fast", kFailing = "failing", kOther = "other",
                           kFastInput = "fast input", kFastResult = "fast result", kFastLater = "fast later";

// A kernel with the run time of its algorithm, without copies.
class Sleeper final : public kernels::Kernel {
 public:
  explicit Sleeper(std::string_view way) : way_(way) {}
  std::string implementation() const override { return way_; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& /*run*/) const override {
    if (way_ == kFailing) return kernels::KernelFault("it fails");
    // The second run is the first one after the warm-up.
    const bool is_late = way_ == kFastLater && ++runs_ == 2;
    ::usleep(is_late ? 200'000 : way_.starts_with(kFast) ? 500 : 20'000);
    return Success();
  }

 private:
  std::string way_;
  mutable int runs_ = 0;
};

using MakeKernel = kernels::KernelOrReason (*)(const kernels::KernelRequest&);

kernels::KernelOrReason MakeSleeper(const kernels::KernelRequest& request) {
  if (request.way == kOther) return kernels::Reason("cannot be made");
  kernels::PreparedKernel prepared{.kernel = std::make_shared<Sleeper>(request.way)};
  prepared.inputs.resize(1);
  prepared.outputs.resize(1);
  // Layouts for which the registries below have no reorder.
  const tensor::Layout other = fast::memory::LayoutOf(fast::memory::AxisBlockedFormat({16}, 0, 32));
  if (request.way == kFastInput) prepared.inputs[0] = other;
  if (request.way == kFastResult) prepared.outputs[0] = other;
  return prepared;
}

class TunerTest : public testing::Test {
 protected:
  TunerTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tuner.XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    g_.Result(g_.Op("ReLU", {g_.Parameter("x", {16})}));
  }
  ~TunerTest() override { std::filesystem::remove_all(folder_); }

  // Returns a registry with these implementations, which are valid during the lifetime of the fixture. The
  // factory's own choice is a kernel without an id.
  KernelRegistry Registry(std::initializer_list<std::string_view> ids, std::string_view operation = "ReLU",
                          MakeKernel make = MakeSleeper) {
    std::vector<kernels::Implementation>& rows = rows_.emplace_back();
    for (std::string_view id : ids)
      rows.push_back({.id = id,
                      .is_applicable = [](const kernels::KernelRequest&) { return kernels::Reason(); },
                      .cost = kernels::FixedCost<100>,
                      .make = make});
    tables_.push_back({.type = "f32",
                       .serves = [](const kernels::KernelRequest&) { return kernels::Reason(); },
                       .implementations = rows});
    const llvm::ArrayRef<kernels::ImplementationTable> tables = tables_.back();
    KernelRegistry kernels;
    kernels.AddTables(
        kernels::Backend::kFast, {"opset1"}, operation, tables,
        [tables, make](const kernels::KernelRequest& request) -> std::optional<kernels::PreparedKernel> {
          return request.way.empty() ? std::optional(*make(request))
                                     : kernels::ChooseImplementation(tables, request);
        });
    return kernels;
  }
  std::string Choice(Tuner& tuner) {
    const kernels::ValueInfo value{.type = ElementType::kF32, .shape = {16}};
    const ir::Node& node = g_.graph->node(g_.graph->node(g_.graph->results()[0]).input(0).node);
    const auto kernel = tuner.Prepare({.node = &node, .inputs = value, .outputs = value});
    EXPECT_TRUE(kernel.has_value());
    return kernel ? kernel->kernel->implementation() : "none";
  }

  std::filesystem::path folder_;
  TestGraph g_;
  std::deque<std::vector<kernels::Implementation>> rows_;
  std::deque<kernels::ImplementationTable> tables_;
};

TEST_F(TunerTest, TheFastestWayIsTaken) {
  const KernelRegistry kernels = Registry({kSlow, kOther, kFailing, kFast});
  Tuner tuner(kernels, nullptr, {.measures = true});
  EXPECT_EQ(Choice(tuner), kFast);
  EXPECT_EQ(Choice(tuner), kFast);
  EXPECT_EQ(tuner.num_measured(), 1);
}

TEST_F(TunerTest, WhatIsNotFasterLeavesTheFactoryItsChoice) {
  const KernelRegistry kernels = Registry({kSlow, kOther, kFailing});
  Tuner tuner(kernels, nullptr, {.measures = true});
  EXPECT_EQ(Choice(tuner), "");
}

// A kernel is rejected if its first timed run takes much longer than the fastest one.
TEST_F(TunerTest, TheFirstTimedRunMayReject) {
  const KernelRegistry kernels = Registry({kFastLater});
  Tuner tuner(kernels, nullptr, {.measures = true});
  EXPECT_EQ(Choice(tuner), "");
  EXPECT_EQ(tuner.num_measured(), 1);
}

// The time of a kernel includes the reorders of its operands and its result.
TEST_F(TunerTest, ReordersAreMeasured) {
  for (const std::string_view way : {kFastInput, kFastResult}) {
    const KernelRegistry kernels = Registry({way});
    Tuner tuner(kernels, nullptr, {.measures = true});
    EXPECT_EQ(Choice(tuner), "") << way;
    EXPECT_EQ(tuner.num_measured(), 1) << way;
  }
}

TEST_F(TunerTest, NothingIsMeasuredWithoutAnotherImplementation) {
  // One that cannot be made, and the factory's own choice once more.
  for (const std::string_view way : {kOther, std::string_view("")}) {
    const KernelRegistry kernels = Registry({way});
    Tuner tuner(kernels, nullptr, {.measures = true});
    EXPECT_EQ(Choice(tuner), "");
    EXPECT_EQ(tuner.num_measured(), 0) << way;
  }
}

// Two nodes that differ in an attribute alone are measured separately, each once.
TEST_F(TunerTest, EachNodeIsMeasured) {
  const KernelRegistry kernels = Registry({kFast}, "Elu");
  TestGraph graph;
  const auto x = graph.Parameter("x", {16});
  std::vector<ir::NodeId> nodes;
  for (const double alpha : {1.0, 2.0}) {
    ir::AttributeMap attributes;
    attributes.Set("alpha", alpha);
    const auto y = graph.Op("Elu", {x}, attributes);
    nodes.push_back(y.node);
    graph.Result(y);
  }
  const kernels::ValueInfo value{.type = ElementType::kF32, .shape = {16}};
  Tuner tuner(kernels, nullptr, {.measures = true});
  int measured = 0;
  for (const ir::NodeId node : nodes) {
    for (int time = 0; time < 2; ++time) {
      EXPECT_TRUE(
          tuner.Prepare({.node = &graph.graph->node(node), .inputs = value, .outputs = value}).has_value());
      EXPECT_EQ(tuner.num_measured(), measured + 1);
    }
    ++measured;
  }
}

// Each property of a step that may affect the time of its kernels.
TEST_F(TunerTest, StepsAreMeasuredSeparately) {
  const KernelRegistry kernels = Registry({kFast}, "Elu");
  TestGraph graph;
  const auto x = graph.Parameter("x", {16});
  const auto node_of = [&](double alpha) {
    ir::AttributeMap attributes;
    attributes.Set("alpha", alpha);
    const auto y = graph.Op("Elu", {x}, attributes);
    graph.Result(y);
    return y.node;
  };
  const ir::NodeId plain = node_of(1), operands = node_of(1), data = node_of(1), other = node_of(2);
  const auto relu = graph.Op("ReLU", {x}), tanh = graph.Op("Tanh", {x});
  ir::ops::MarkQuantizedOperands(*graph.graph, operands, {.left = {.scale = 1}, .right = {.scale = 1}});
  ir::ops::MarkQuantizedData(*graph.graph, data, {.scale = 1});
  const auto node = [&](ir::NodeId id) { return &graph.graph->node(id); };
  const kernels::ValueInfo value{.type = ElementType::kF32, .shape = {16}};
  const kernels::PostOperation post{.node = node(relu.node), .first_operand = 1};
  const TensorValue number = TensorValue::Filled(ElementType::kF32, {16}, 1);
  const std::vector<float> scales = {1};
  const kernels::KernelRequest base{.node = node(plain), .inputs = value, .outputs = value};

  Tuner tuner(kernels, nullptr, {.measures = true});
  int count = 0;
  const auto expect_other = [&](std::string_view what, auto change) {
    kernels::KernelRequest request = base;
    change(request);
    ++count;
    for (int time = 0; time < 2; ++time) {
      EXPECT_TRUE(tuner.Prepare(request).has_value()) << what;
      EXPECT_EQ(tuner.num_measured(), count) << what;
    }
    count = static_cast<int>(tuner.num_measured());
  };
  using Request = kernels::KernelRequest;
  expect_other("itself", [](Request&) {});
  expect_other("attribute", [&](Request& r) { r.node = node(other); });
  expect_other("quantized operands", [&](Request& r) { r.node = node(operands); });
  expect_other("quantized data", [&](Request& r) { r.node = node(data); });
  expect_other("precision", [](Request& r) { r.precision = kernels::Precision::kBf16; });
  expect_other("f32 images", [](Request& r) { r.has_f32_images = true; });
  expect_other("quantized result", [](Request& r) { r.as_codes = true; });
  expect_other("quantized filter", [&](Request& r) { r.filter_scales = scales; });
  kernels::PostOperation posts[] = {post, post, post, post};
  posts[1].node = node(tanh.node);
  posts[2].chained_input = 1;
  posts[3].first_operand = 2;
  for (const kernels::PostOperation& each : posts)
    expect_other("post-operation", [&](Request& r) { r.posts = each; });
  const tensor::Layout layout = fast::memory::LayoutOf(fast::memory::AxisBlockedFormat({16}, 0, 32));
  kernels::ValueInfo infos[] = {value, value, value, value};
  infos[0].type = ElementType::kI32;
  infos[1].shape = {4, 4};
  infos[2].layout = layout;
  infos[3].constant = &number;
  for (const kernels::ValueInfo& each : infos) {
    // A kernel has no reorder from this layout: the other implementation is not faster.
    expect_other("input", [&](Request& r) { r.inputs = each; });
    if (each.constant == nullptr) expect_other("output", [&](Request& r) { r.outputs = each; });
  }
  const tensor::ThreadScope scope(3);
  expect_other("threads", [](Request&) {});
}

// The kernel of a reorder between two layouts, which counts its measurements.
class CountedReorder final : public kernels::Kernel {
 public:
  static int& measurements() {
    static int count = 0;
    return count;
  }
  std::string implementation() const override { return "reorder"; }
  std::unique_ptr<kernels::KernelState> NewState() const override {
    ++measurements();
    return nullptr;
  }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& /*run*/) const override { return Success(); }
};

// Each pair of layouts is measured once.
TEST_F(TunerTest, ReordersAreMeasuredOnce) {
  KernelRegistry kernels = Registry({kFastInput});
  kernels.SetHooks(kernels::Backend::kFast,
                   {.make_reorder = [](ElementType, llvm::ArrayRef<int64_t>, const tensor::Layout&,
                                       const tensor::Layout&) -> std::shared_ptr<const kernels::Kernel> {
                     return std::make_shared<CountedReorder>();
                   }});
  const ir::Node& node = g_.graph->node(g_.graph->node(g_.graph->results()[0]).input(0).node);
  Tuner tuner(kernels, nullptr, {.measures = true});
  CountedReorder::measurements() = 0;
  const auto prepare = [&](const tensor::Layout& layout, const Shape& shape, kernels::Precision precision) {
    const kernels::ValueInfo input{.type = ElementType::kF32, .shape = shape, .layout = layout},
        output{.type = ElementType::kF32, .shape = shape};
    EXPECT_TRUE(tuner.Prepare({.node = &node, .inputs = input, .outputs = output, .precision = precision})
                    .has_value());
    return CountedReorder::measurements();
  };
  const auto layout = [](int64_t block) {
    return fast::memory::LayoutOf(fast::memory::AxisBlockedFormat({16}, 0, block));
  };
  using kernels::Precision;
  EXPECT_EQ(prepare(nullptr, {16}, Precision::kF32), 1);     // to the layout of the kernel
  EXPECT_EQ(prepare(nullptr, {16}, Precision::kExact), 1);   // known
  EXPECT_EQ(prepare(layout(48), {16}, Precision::kF32), 3);  // to row-major elements, too
  EXPECT_EQ(prepare(layout(64), {16}, Precision::kF32), 5);  // from another layout
  EXPECT_EQ(prepare(layout(32), {16}, Precision::kF32), 6);  // from the layout of the kernel
  EXPECT_EQ(prepare(layout(64), {16}, Precision::kExact), 5 + 1);
  EXPECT_EQ(prepare(nullptr, {4, 4}, Precision::kF32), 7);  // of another shape
}

// A reorder that takes as long as the slower kernel outweighs the faster one.
TEST_F(TunerTest, TimesOfReorders) {
  using Reorder = std::shared_ptr<const kernels::Kernel> (*)(ElementType, llvm::ArrayRef<int64_t>,
                                                             const tensor::Layout&, const tensor::Layout&);
  const auto choice = [&](std::string_view way, Reorder reorder) {
    KernelRegistry kernels = Registry({way});
    kernels.SetHooks(kernels::Backend::kFast, {.make_reorder = reorder});
    Tuner tuner(kernels, nullptr, {.measures = true});
    return Choice(tuner);
  };
  for (const std::string_view way : {kFastInput, kFastResult}) {
    EXPECT_EQ(choice(way,
                     [](auto, auto, auto&, auto&) -> std::shared_ptr<const kernels::Kernel> {
                       return std::make_shared<Sleeper>(kSlow);
                     }),
              "");
    EXPECT_EQ(choice(way,
                     [](auto, auto, auto&, auto&) -> std::shared_ptr<const kernels::Kernel> {
                       return std::make_shared<Sleeper>(kFast);
                     }),
              way);
  }
}

// A kernel that overwrites its input with its first result, and notes what it is measured with.
class OverwritingKernel final : public kernels::Kernel {
 public:
  struct Operands {
    bool are_small_numbers = true;
    bool has_first_result_in_place = true;
    bool has_second_result_elsewhere = true;
    int runs = 0;
  };
  static Operands& operands() {
    static Operands noted;
    return noted;
  }
  explicit OverwritingKernel(std::string_view way) : way_(way) {}
  std::string implementation() const override { return way_; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const std::span<const float> numbers(run.input(0).data<float>(), 16);
    Operands& noted = operands();
    ++noted.runs;
    noted.are_small_numbers &=
        std::all_of(numbers.begin(), numbers.end(), [](float x) { return x > 0 && x < 1; });
    noted.has_first_result_in_place &= run.outputs[0]->bytes() == run.input(0).bytes();
    noted.has_second_result_elsewhere &= run.outputs[1]->bytes() != run.input(0).bytes();
    return Success();
  }

 private:
  std::string way_;
};

TEST_F(TunerTest, OperandsOfMeasuredKernels) {
  const KernelRegistry kernels = Registry({kFast}, "ReLU", [](const kernels::KernelRequest& request) {
    kernels::PreparedKernel prepared{.kernel = std::make_shared<OverwritingKernel>(request.way)};
    prepared.inputs.resize(1);
    prepared.outputs.resize(2);
    prepared.in_place = 0;
    prepared.in_place_required = true;
    return kernels::KernelOrReason(prepared);
  });
  const kernels::ValueInfo values[] = {{.type = ElementType::kF32, .shape = {16}},
                                       {.type = ElementType::kF32, .shape = {16}}};
  const ir::Node& node = g_.graph->node(g_.graph->node(g_.graph->results()[0]).input(0).node);
  Tuner tuner(kernels, nullptr, {.measures = true});
  OverwritingKernel::operands() = {};
  EXPECT_TRUE(tuner.Prepare({.node = &node, .inputs = values[0], .outputs = values}).has_value());
  const OverwritingKernel::Operands& noted = OverwritingKernel::operands();
  EXPECT_GT(noted.runs, 2);
  EXPECT_TRUE(noted.are_small_numbers);
  EXPECT_TRUE(noted.has_first_result_in_place);
  EXPECT_TRUE(noted.has_second_result_elsewhere);
}

// Nothing is measured or stored for an operation without a table of implementations.
TEST_F(TunerTest, OperationsWithoutImplementations) {
  KernelRegistry kernels;
  kernels.Add(kernels::Backend::kFast, {"opset1"}, "ReLU",
              [](const kernels::KernelRequest& request) -> std::optional<kernels::PreparedKernel> {
                return *MakeSleeper(request);
              });
  PlanCache cache(folder_.string());
  cache.Open({});
  for (const std::string only : {"", "fast"}) {
    Tuner tuner(kernels, &cache, {.measures = true, .only = only});
    EXPECT_EQ(Choice(tuner), "");
    EXPECT_EQ(tuner.num_measured(), 0);
  }
  EXPECT_EQ(cache.use().made, 0);
  // Nor is there a kernel of an operation without any.
  const KernelRegistry none;
  Tuner tuner(none, nullptr, {.measures = true});
  const kernels::ValueInfo value{.type = ElementType::kF32, .shape = {16}};
  const ir::Node& node = g_.graph->node(g_.graph->node(g_.graph->results()[0]).input(0).node);
  EXPECT_FALSE(tuner.Prepare({.node = &node, .inputs = value, .outputs = value}).has_value());
}

TEST_F(TunerTest, NothingIsMeasuredUnasked) {
  const KernelRegistry kernels = Registry({kFast});
  Tuner tuner(kernels, nullptr, {.measures = false});
  EXPECT_EQ(Choice(tuner), "");
  Tuner late(kernels, nullptr, {.measures = true, .most = std::chrono::seconds(0)});
  EXPECT_EQ(Choice(late), "");
  EXPECT_EQ(tuner.num_measured() + late.num_measured(), 0);
}

TEST_F(TunerTest, APlanCacheKeepsChoices) {
  const KernelRegistry kernels = Registry({kSlow, kFast});
  PlanCache first(folder_.string());
  first.Open({});
  Tuner measuring(kernels, &first, {.measures = true});
  EXPECT_EQ(Choice(measuring), kFast);
  first.Save();
  PlanCache second(folder_.string());
  second.Open({});
  for (bool measures : {false, true}) {
    Tuner tuner(kernels, &second, {.measures = measures});
    EXPECT_EQ(Choice(tuner), kFast);
    EXPECT_EQ(tuner.num_measured(), 0);
  }
  // A version with another algorithm of this name.
  KernelRegistry others = Registry({kSlow});
  PlanCache odd(folder_.string());
  odd.Open({.low = 1, .high = 1});
  Tuner tuner(others, &odd, {.measures = true});
  EXPECT_EQ(Choice(tuner), "");
}

// A plan cache has names of at most 32 bytes; others are measured again.
TEST_F(TunerTest, APlanCacheHasShortNames) {
  for (const size_t size : {31, 32, 33, 64}) {
    const std::string name = std::string(kFast) + std::string(size - kFast.size(), 'x');
    const KernelRegistry kernels = Registry({kSlow, name});
    const std::string folder = (folder_ / std::to_string(size)).string();
    for (const bool is_second : {false, true}) {
      PlanCache cache(folder);
      cache.Open({});
      Tuner tuner(kernels, &cache, {.measures = true});
      EXPECT_EQ(Choice(tuner), name);
      EXPECT_EQ(tuner.num_measured(), is_second && size <= 32 ? 0 : 1) << size;
      EXPECT_EQ(cache.use().made, !is_second && size <= 32 ? 1 : 0) << size;
      cache.Save();
    }
  }
}

// An executable measures only if it is asked to, and uses the choices of its plan cache in any case.
TEST_F(TunerTest, ExecutablesUseEarlierChoices) {
  ir::OpRegistry operations(&TestRegistry());
  operations.Add(ForeignOp("Rest"));
  static constexpr kernels::Implementation kRows[] = {
      {kSlow, kernels::AlwaysApplies, kernels::FixedCost<1>, MakeSleeper},
      {kFast, kernels::AlwaysApplies, kernels::FixedCost<2>, MakeSleeper}};
  static const kernels::ImplementationTable kTables[] = {{"f32", kernels::AlwaysApplies, kRows}};
  TestGraph g;
  g.graph = std::make_shared<ir::Graph>(&operations);
  g.Result(g.Op("acme", "Rest", {g.Parameter("x", {16})}));
  ExecutableOptions options{.add_kernels = [](KernelRegistry& kernels) {
    kernels.AddReference({"acme"}, "Rest",
                         [](const kernels::ReferenceRun&) -> kernels::FaultOr<Success> { return Success(); });
    kernels.AddTables(kernels::Backend::kFast, {"acme"}, "Rest", kTables);
  }};
  const auto has_fast_kernel = [&] {
    return Compile(g.graph, options)->DescribePlan().find(kFast) != std::string::npos;
  };
  EXPECT_FALSE(has_fast_kernel());
  options.plan_cache = folder_.string();
  EXPECT_FALSE(has_fast_kernel());
  options.tune = true;
  EXPECT_TRUE(has_fast_kernel());
  options.tune = false;
  EXPECT_TRUE(has_fast_kernel());
  options.plan_cache = "";
  EXPECT_FALSE(has_fast_kernel());
}

// Convolutions and matrix multiplications with several algorithms.
struct TunedNetwork {
  TestGraph graph;
  std::vector<TensorValue> inputs;
};
TunedNetwork Convolutions() {
  TunedNetwork made;
  TestGraph& g = made.graph;
  auto x = g.Parameter("x", {1, 32, 28, 28});
  x = g.Op("ReLU", {g.Convolution(x, g.Weights({64, 32, 3, 3}, 1), 1)});
  x = g.Op("ReLU", {g.Convolution(x, g.Weights({48, 64, 1, 1}, 2), 0)});
  x = g.Convolution(x, g.Weights({40, 48, 3, 3}, 3), 1, 2);
  g.Result(g.Convolution(x, g.Weights({24, 40, 14, 14}, 4), 0));
  made.inputs = {RandomTensor({1, 32, 28, 28}, 5)};
  return made;
}
TunedNetwork Products(int64_t rows) {
  TunedNetwork made;
  TestGraph& g = made.graph;
  ir::AttributeMap attributes;
  attributes.Set("transpose_a", false);
  attributes.Set("transpose_b", true);
  const auto x = g.Parameter("x", {rows, 300});
  const auto y = g.Op("MatMul", {x, g.Weights({200, 300}, 1)}, attributes);
  attributes.Set("transpose_b", false);
  g.Result(g.Op("MatMul", {g.Op("Add", {y, g.Weights({200}, 3)}), g.Weights({200, 64}, 2)}, attributes));
  made.inputs = {RandomTensor({rows, 300}, 5)};
  return made;
}

TEST_F(TunerTest, TunedPlansComputeTheSame) {
  for (const TunedNetwork& c : {Convolutions(), Products(1), Products(20)}) {
    const auto expected = RunGraph(c.graph.graph, {.backend = kernels::Backend::kReference}, c.inputs);
    for (kernels::Precision precision : {kernels::Precision::kExact, kernels::Precision::kF32}) {
      ExecutableOptions options{.precision = precision, .plan_cache = folder_.string(), .tune = true};
      const auto tuned = Compile(c.graph.graph, options);
      EXPECT_GT(tuned->plan_cache_use().measured, 0);
      options.tune = false;
      const auto kept = Compile(c.graph.graph, options);
      EXPECT_EQ(kept->plan_cache_use().made, 0);
      EXPECT_EQ(kept->plan_cache_use().measured, 0);
      EXPECT_EQ(kept->DescribePlan(), tuned->DescribePlan());
      const bool has_winograd = kept->DescribePlan().find("wino") != std::string::npos;
      EXPECT_FALSE(precision == kernels::Precision::kExact && has_winograd);
      const auto first = Session::Create(tuned)->Run(c.inputs), second = Session::Create(kept)->Run(c.inputs);
      ASSERT_TRUE(first.ok() && second.ok());
      EXPECT_EQ(*first, *second);
      ExpectClose((*first)[0], expected[0], precision == kernels::Precision::kExact ? 2e-5 : 5e-5);
    }
  }
}

// Steps are measured on request, with and without a plan cache.
TEST_F(TunerTest, MeasuredStepsOfPlans) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "there is one implementation";
  const TunedNetwork network = Products(20);
  for (const bool is_tuned : {false, true}) {
    for (const bool has_cache : {false, true}) {
      const auto plan =
          Compile(network.graph.graph, {.plan_cache = has_cache ? folder_.string() : "", .tune = is_tuned});
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(plan->plan_cache_use().measured > 0, is_tuned) << has_cache;
    }
  }
}

// Each algorithm of a step, independent of its speed here.
TEST_F(TunerTest, EachWayComputesTheSame) {
  KernelRegistry names;
  fast::RegisterFastKernels(names, onednn::OneDnnExtension());
  for (const TunedNetwork& c : {Convolutions(), Products(1), Products(20)}) {
    const auto expected = RunGraph(c.graph.graph, {.backend = kernels::Backend::kReference}, c.inputs);
    for (const char* operation : {"Convolution", "MatMul"}) {
      for (std::string_view id : names.Ways(kernels::Backend::kFast, "opset1", operation)) {
        SCOPED_TRACE(id);
        const auto outputs = RunGraph(c.graph.graph, {.way = std::string(id)}, c.inputs);
        ExpectClose(outputs[0], expected[0], 5e-5);
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::cache
