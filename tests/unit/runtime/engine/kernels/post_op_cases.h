// Helpers of the tests of our own microkernels: post-ops, and the comparison with the reference kernels,
// whose sums are in f64.
#pragma once

#include <array>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

// Returns integers of [-4, 4], which bf16 represents and whose sums are exact.
inline TensorValue SmallIntegers(Shape shape, unsigned seed) {
  return TensorValue::Make<float>(ElementType::kF32, std::move(shape), [&](std::span<float> numbers) {
    std::mt19937 random(seed);
    for (float& number : numbers) number = static_cast<float>(static_cast<int>(random() % 9) - 4);
  });
}

// Compares runs with the reference kernels: on one to three threads, twice in a session. `kernel`: a part of
// the plan; empty: any.
inline void ExpectRunsAsReference(const TestGraph& graph, const std::vector<TensorValue>& inputs,
                                  const std::string& kernel, double tolerance, ExecutableOptions options) {
  const std::vector<TensorValue> expected =
      RunGraph(graph.graph, {.backend = kernels::Backend::kReference}, inputs);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    options.threads = threads;
    const auto executable = Compile(graph.graph, options);
    ASSERT_NE(executable, nullptr);
    EXPECT_NE(executable->DescribePlan().find(kernel), std::string::npos) << executable->DescribePlan();
    const auto session = Session::Create(executable);
    for (int run = 0; run < 2; ++run) {
      const kernels::FaultOr<std::vector<TensorValue>> actual = session->Run(inputs);
      ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
      for (size_t i = 0; i < expected.size(); ++i) ExpectClose((*actual)[i], expected[i], tolerance);
    }
  }
}

// Runs kernels that multiply f32 images in bf16.
inline void ExpectInBf16(const TestGraph& graph, const std::vector<TensorValue>& inputs,
                         const std::string& kernel, double tolerance) {
  ExpectRunsAsReference(graph, inputs, kernel, tolerance,
                        {.precision = kernels::Precision::kBf16, .way = "bf16_gemm"});
}

// `kernel`: the name in the plan if a vectorised kernel is available.
inline void ExpectAsReference(const TestGraph& graph, const std::vector<TensorValue>& inputs,
                              const std::string& kernel, double tolerance = 1e-5,
                              kernels::Precision precision = kernels::Precision::kF32) {
  ExpectRunsAsReference(graph, inputs, fast::simd::HasSimd() ? kernel : "", tolerance,
                        {.backend = kernels::Backend::kFast, .precision = precision});
}

// Post-ops after a dot product, each applied to the result before it: `column` is the shape of a per-column
// value.
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
  kGeluTanh,
  kTanh,
  kElu,
  kMish,
  kPRelu,
  kShift
};
inline constexpr std::array kPosts = {Post::kBias,  Post::kScale,    Post::kResidual, Post::kRelu,
                                      Post::kClamp, Post::kSwish,    Post::kHSwish,   Post::kSigmoid,
                                      Post::kGelu,  Post::kGeluTanh, Post::kTanh,     Post::kElu,
                                      Post::kMish,  Post::kPRelu,    Post::kShift};

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
    case Post::kGeluTanh: {
      ir::AttributeMap mode;
      mode.Set("approximation_mode", "TANH");
      return g.Op("opset7", "Gelu", {y}, mode);
    }
    case Post::kTanh:
      return g.Op("Tanh", {y});
    case Post::kElu: {
      ir::AttributeMap alpha;
      alpha.Set("alpha", 0.5);
      return g.Op("Elu", {y}, alpha);
    }
    case Post::kMish:
      return g.Op("opset4", "Mish", {y});
    case Post::kPRelu:
      return g.Op("PReLU", {y, g.Const(TensorValue::FromFloats({1}, {0.125F}))});
    case Post::kShift:
      return g.Op("Add", {y, g.Const(TensorValue::FromFloats({1}, {0.5F}))});
  }
  return y;
}

// The images and windows of a convolution.
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

// Passes numbers on unchanged in the blocked layout. It is a depthwise convolution by 1. For volumes (16
// channels, without infinities) it is a convolution by an identity matrix.
inline ir::OutputPort InBlocks(TestGraph& g, ir::OutputPort x, int64_t channels, size_t axes) {
  const bool is_of_each = axes < 3;
  Shape filter = is_of_each ? Shape{channels, 1, 1} : Shape{channels, channels};
  filter.append(axes, 1);
  std::vector<float> ones(static_cast<size_t>(*Volume(filter)));
  for (size_t i = 0; i < ones.size(); i += is_of_each ? 1 : static_cast<size_t>(channels) + 1) ones[i] = 1;
  return g.Op(is_of_each ? "GroupConvolution" : "Convolution",
              {x, g.Const(TensorValue::FromFloats(filter, ones))}, WindowOf({.window = Shape(axes, 1)}));
}

// A Convolution or ConvolutionBackpropData, its epilogue, and how its results are compared.
struct ConvolutionCase {
  WindowSetting setting;
  int64_t outputs;
  std::vector<Post> posts;
  unsigned seed;
  std::string kernel;
  double tolerance;
  kernels::Precision precision = kernels::Precision::kF32;
  float largest_weight = 1;
  bool is_transposed = false;
  Shape added = {};      // the output padding of a transposed convolution
  std::string way = "";  // the id of an implementation
};

inline void ExpectAsReference(const ConvolutionCase& each) {
  const WindowSetting& setting = each.setting;
  SCOPED_TRACE(Describe(setting) + " to " + std::to_string(each.outputs));
  TestGraph g;
  Shape filter = {each.outputs, setting.input[1]};
  if (each.is_transposed) std::swap(filter[0], filter[1]);
  filter.append(setting.window.begin(), setting.window.end());
  const auto x = g.Parameter("x", setting.input);
  const auto weights = g.Weights(filter, each.seed, -each.largest_weight, each.largest_weight);
  ir::AttributeMap attributes = WindowOf(setting);
  if (!each.added.empty())
    attributes.Set("output_padding", ir::Attribute::Integers(each.added.begin(), each.added.end()));
  auto y = g.Op(each.is_transposed ? "ConvolutionBackpropData" : "Convolution", {x, weights}, attributes);
  const Shape result = g.graph->output(y).shape.known_extents();
  const auto residual = g.Parameter("residual", result);
  Shape column(result.size(), 1);
  column[1] = each.outputs;
  for (size_t i = 0; i < each.posts.size(); ++i)
    y = Follow(g, each.posts[i], y, column, residual, each.seed + 1 + static_cast<unsigned>(i));
  g.Result(y);
  // Readers of whole blocks must not use the padding after the last channel.
  g.Result(g.Op("ReLU", {y}), "next");
  g.Result(residual, "second");
  ExpectRunsAsReference(g,
                        {RandomTensor(setting.input, each.seed + 20), RandomTensor(result, each.seed + 21)},
                        fast::simd::HasSimd() ? each.kernel : "", each.tolerance,
                        {.backend = kernels::Backend::kFast, .precision = each.precision, .way = each.way});
}

// Random numbers for tests.
class Draws {
 public:
  int64_t operator()(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  // Adds spatial axes with windows that read at least part of the image.
  void AddAxes(WindowSetting& setting, int64_t longest_stride, int axes = 2) {
    Draws& draw = *this;
    for (int axis = 0; axis < axes; ++axis) {
      setting.window.push_back(draw(1, 7));
      setting.dilations.push_back(draw(1, 2));
      setting.strides.push_back(draw(1, longest_stride));
      setting.begin.push_back(draw(0, setting.window.back()));
      setting.end.push_back(draw(0, setting.window.back()));
      setting.input.push_back(draw(1, 24) + setting.window.back() * setting.dilations.back());
    }
  }
  std::vector<Post> Posts() {
    std::vector<Post> posts;
    for (int64_t length = (*this)(0, 4); length > 0; --length)
      posts.push_back(kPosts[static_cast<size_t>((*this)(0, kPosts.size() - 1))]);
    return posts;
  }

 private:
  std::mt19937 random_{1};
};

}  // namespace nnefc::runtime::engine
