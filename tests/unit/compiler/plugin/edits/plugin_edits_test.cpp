// Random sequences of graph edits by a plug-in, a shared library built with the public headers. Each sequence
// leaves a valid graph or one error.

#include <cstdlib>

#include "compiler/ir/algorithms/copy.h"
#include "compiler/plugin/plugins.h"
#include "tests/unit/compiler/transform/random_edits.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::plugin::edits {
namespace {

using transform::Side;

constexpr const char* kNnef =
    R"(  %0 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3]
  %1 = nnef.external "k" {shape = [1,3], dtype = "scalar"} : f32[1,3]
  %2 = nnef.add "a" (%0, %1) : f32[2,3]
  %3:3 = nnef.split "s" (%2) {axis = 1, ratios = [1, 1, 1]} : f32[2,1], f32[2,1], f32[2,1]
  %4 = nnef.concat "c" (%3, %3.2, %3.1) {axis = 1} : f32[2,3]
  %5 = nnef.mul "m" (%4, %0) : f32[2,3]
  %6 = nnef.relu "unread" (%4) : f32[2,3]
  opset1.Result "y" (%5)
  opset1.Result "z" (%3.1)
)";
class PluginEditsTest : public transform::TransformTest {};

TEST_F(PluginEditsTest, LeaveAValidGraphOrOneError) {
  const auto plugins = Plugins::Load({NNEFC_TEST_PLUGIN});
  ASSERT_TRUE(plugins->ok());
  const auto nnef = Parse(kNnef), lowered = Parse(transform::kLoweredGraph);
  ASSERT_TRUE(nnef != nullptr && lowered != nullptr);
  int num_valid[3] = {}, num_failed[3] = {}, num_thrown = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    ::setenv("NNEFC_EDITS_SEED", std::to_string(seed).c_str(), 1);
    const bool is_front = seed % 3 == 0;
    const std::unique_ptr<ir::Graph> graph = ir::Clone(is_front ? *nnef : *lowered);
    transform::TransformationList list = transform::StandardTransformations();
    Emitter emitter;
    ASSERT_TRUE(plugins->AddTransformations(list, emitter));
    std::optional<transform::Pipeline> pipeline = transform::Pipeline::Make(list, {.verify = true}, emitter);
    ASSERT_TRUE(pipeline.has_value());
    const bool is_done =
        pipeline->Run(is_front ? Side::kBeforeLowering : Side::kAfterLowering, *graph, emitter);
    ASSERT_EQ(emitter.diagnostics().size(), is_done ? 0U : 1U);
    if (is_done) {
      ++num_valid[seed % 3];
      EXPECT_EQ(ir::Verify(*graph), std::vector<std::string>());
      EXPECT_TRUE(ir::TopologicalOrder(*graph).has_value());
      continue;
    }
    ++num_failed[seed % 3];
    const std::string& message = emitter.diagnostics()[0].message;
    EXPECT_EQ(message.find("broke the graph"), std::string::npos) << message;
    if (seed % 50 == 7) {
      ++num_thrown;
      EXPECT_NE(message.find("an exception of the plug-in"), std::string::npos) << message;
    }
  }
  ::unsetenv("NNEFC_EDITS_SEED");
  // Each kind of end occurs in each phase.
  for (int phase = 0; phase < 3; ++phase) {
    EXPECT_GT(num_valid[phase], 50) << phase;
    EXPECT_GT(num_failed[phase], 50) << phase;
  }
  EXPECT_EQ(num_thrown, 20);
}

}  // namespace
}  // namespace nnefc::plugin::edits
