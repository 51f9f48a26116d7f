// What the tests of kernels in our own tiles share: what may follow a product in its step, and the
// comparison with the reference kernels, whose sums are of f64.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "runtime/fast/dnnl_layout.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {

// On one to three threads, twice in a session. `kernel`: what the plan names where the processor has AVX-512.
inline void ExpectAsReference(const TestGraph& graph, const std::vector<TensorValue>& inputs,
                              const std::string& kernel, double tolerance = 1e-5,
                              Precision precision = Precision::kF32) {
  const std::vector<TensorValue> expected = RunGraph(graph.graph, {.backend = Backend::kReference}, inputs);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    const auto executable =
        Compile(graph.graph, {.backend = Backend::kOneDnn, .precision = precision, .threads = threads});
    ASSERT_NE(executable, nullptr);
    if (HasAvx512()) {
      EXPECT_NE(executable->DescribePlan().find(kernel), std::string::npos) << executable->DescribePlan();
    }
    const auto session = Session::Create(executable);
    for (int run = 0; run < 2; ++run) {
      const FaultOr<std::vector<TensorValue>> actual = session->Run(inputs);
      ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
      for (size_t i = 0; i < expected.size(); ++i) ExpectClose((*actual)[i], expected[i], tolerance);
    }
  }
}

// What may follow a product, each on the result before: `column` is the shape of a number for each column.
enum class Post : uint8_t {
  kBias,
  kScale,
  kResidual,
  kRelu,
  kClamp,
  kSwish,
  kHSwish,
  kSigmoid,
  kGelu,
  kPRelu,
  kShift
};
inline constexpr std::array kPosts = {Post::kBias,  Post::kScale, Post::kResidual, Post::kRelu,
                                      Post::kClamp, Post::kSwish, Post::kHSwish,   Post::kSigmoid,
                                      Post::kGelu,  Post::kPRelu, Post::kShift};

inline ir::OutputPort Follow(TestGraph& g, Post post, ir::OutputPort y, const Shape& column,
                             ir::OutputPort residual, unsigned seed) {
  switch (post) {
    case Post::kBias:
      return g.Op("Add", {y, g.Weights(column, seed)});
    case Post::kScale:
      return g.Op("Multiply", {y, g.Weights(column, seed)});
    case Post::kResidual:
      return g.Op("Add", {residual, y});
    case Post::kRelu:
      return g.Op("ReLU", {y});
    case Post::kClamp: {
      ir::AttributeMap limits;
      limits.Set("min", 0.25);
      limits.Set("max", 6.0);
      return g.Op("Clamp", {y}, limits);
    }
    case Post::kSwish:
      return g.Op("opset4", "Swish", {y});
    case Post::kHSwish:
      return g.Op("opset4", "HSwish", {y});
    case Post::kSigmoid:
      return g.Op("Sigmoid", {y});
    case Post::kGelu:
      return g.Op("opset7", "Gelu", {y});
    case Post::kPRelu:
      return g.Op("PReLU", {y, g.Const(TensorValue::FromFloats({1}, {0.125F}))});
    case Post::kShift:
      return g.Op("Add", {y, g.Const(TensorValue::FromFloats({1}, {0.5F}))});
  }
  return y;
}

// A convolution by its images and its windows.
struct WindowSetting {
  Shape input;  // [images, channels, spatial..]
  Shape window;
  Shape strides, dilations, begin, end;
};

inline ir::AttributeMap WindowOf(const WindowSetting& setting) {
  ir::AttributeMap window;
  const auto set = [&](const char* name, const Shape& numbers, int64_t otherwise) {
    const Shape given = numbers.empty() ? Shape(setting.window.size(), otherwise) : numbers;
    window.Set(name, ir::Attribute::Integers(given.begin(), given.end()));
  };
  set("strides", setting.strides, 1);
  set("dilations", setting.dilations, 1);
  set("pads_begin", setting.begin, 0);
  set("pads_end", setting.end, 0);
  return window;
}

inline std::string Describe(const WindowSetting& setting) {
  return ToString(setting.input) + " in windows " + ToString(setting.window) + " strides " +
         ToString(setting.strides) + " dilations " + ToString(setting.dilations) + " pads " +
         ToString(setting.begin) + " " + ToString(setting.end);
}

}  // namespace nnefc::runtime
