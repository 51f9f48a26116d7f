// What our use of oneDNN's functions and post-operations rests on, with plain
// oneDNN: which of its faults a new version has no more, and which properties it
// must keep.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"

namespace nnefc::runtime::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc Row(size_t count) {
  return {{1, static_cast<int64_t>(count)}, memory::data_type::f32, memory::format_tag::ab};
}

// first(a, b) element by element, then the post-operations.
std::vector<float> RunBinary(algorithm first, std::vector<float> a, std::vector<float> b,
                             const dnnl::post_ops& posts) {
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(posts);
  const memory::desc desc = Row(a.size());
  const dnnl::binary::primitive_desc primitive(
      dnnl::binary::desc(first, desc, b.size() == 1 ? Row(1) : desc, desc), attributes, Engine());
  std::vector<float> out(a.size());
  dnnl::stream stream(Engine());
  dnnl::binary(primitive).execute(
      stream, {{DNNL_ARG_SRC_0, memory(desc, Engine(), a.data())},
               {DNNL_ARG_SRC_1, memory(b.size() == 1 ? Row(1) : desc, Engine(), b.data())},
               {DNNL_ARG_DST, memory(desc, Engine(), out.data())}});
  stream.wait();
  return out;
}

std::vector<float> RunFunction(algorithm function, float alpha, float beta, std::vector<float> x) {
  const memory::desc desc = Row(x.size());
  const dnnl::eltwise_forward::primitive_desc primitive(
      dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_inference, function, desc, alpha, beta), Engine());
  std::vector<float> out(x.size());
  dnnl::stream stream(Engine());
  dnnl::eltwise_forward(primitive).execute(stream, {{DNNL_ARG_SRC, memory(desc, Engine(), x.data())},
                                                    {DNNL_ARG_DST, memory(desc, Engine(), out.data())}});
  stream.wait();
  return out;
}

bool SameBits(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

std::string Version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

// (2 * 2 + 3) * 0.5 is 3.5. With one set of parameters for both linear functions
// it is (2 * 2 + 3) + 3.
TEST(OneDnnPostOpsTest, AnAlgorithmHasOneSetOfParametersInAChain) {
  dnnl::post_ops posts;
  posts.append_eltwise(1, algorithm::eltwise_linear, 1, 3);
  posts.append_eltwise(1, algorithm::eltwise_linear, 0.5f, 0);
  const std::vector<float> out = RunBinary(algorithm::binary_mul, {2, 2}, {2, 2}, posts);
  EXPECT_EQ(out[0], 10) << "oneDNN " << Version()
                        << " has its fault no more: FunctionChain need not keep an algorithm from coming up "
                           "twice with other parameters";
}

TEST(OneDnnPostOpsTest, TheSameParametersTwiceAreRight) {
  dnnl::post_ops posts;
  posts.append_eltwise(1, algorithm::eltwise_linear, 2, 1);
  posts.append_eltwise(1, algorithm::eltwise_abs, 0, 0);
  posts.append_eltwise(1, algorithm::eltwise_linear, 2, 1);
  const std::vector<float> out = RunBinary(algorithm::binary_add, {-3, 1}, {-3, 1}, posts);
  EXPECT_EQ(out[0], 23);
  EXPECT_EQ(out[1], 11);
}

TEST(OneDnnPostOpsTest, ExponentialOfNanIsInfinite) {
  EXPECT_EQ(RunFunction(algorithm::eltwise_exp, 0, 0, {kNan, 1})[0], kInfinity)
      << "oneDNN " << Version() << " keeps NaN: its exponential can be used again";
}

// How many floats a sum with relu writes behind the end of its result.
size_t WrittenBehind(const memory::dims& dims, memory::format_tag tag) {
  const memory::desc desc(dims, memory::data_type::f32, tag);
  const size_t count = desc.get_size() / sizeof(float);
  constexpr size_t kBehind = 4096;
  std::vector<float> a(count, 1.0f), b(count, 2.0f), out(count + kBehind, 5.0f);
  dnnl::post_ops posts;
  posts.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(posts);
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm::binary_add, desc, desc, desc),
                                               attributes, Engine());
  dnnl::stream stream(Engine());
  dnnl::binary(primitive).execute(stream, {{DNNL_ARG_SRC_0, memory(desc, Engine(), a.data())},
                                           {DNNL_ARG_SRC_1, memory(desc, Engine(), b.data())},
                                           {DNNL_ARG_DST, memory(desc, Engine(), out.data())}});
  stream.wait();
  return kBehind -
         static_cast<size_t>(std::count(out.begin() + static_cast<int64_t>(count), out.end(), 5.0f));
}

// Channels that fill no whole number of blocks, or blocks shorter than vectors:
// which sizes are hit depends on the processor.
TEST(OneDnnPostOpsTest, BinaryOfBlocksWritesBehindItsResult) {
  size_t written = 0;
  for (const memory::format_tag tag : {memory::format_tag::nChw8c, memory::format_tag::nChw16c}) {
    for (int64_t channels = 2; channels < 40; channels += 3) {
      for (int64_t width = 1; width < 5; ++width) written += WrittenBehind({2, channels, 3, width}, tag);
    }
  }
  EXPECT_GT(written, 0u) << "oneDNN " << Version() << " has its fault no more: see OverrunsWithPosts";
  // Full blocks of 16 and row-major tensors are right everywhere.
  for (int64_t width = 1; width < 5; ++width) {
    EXPECT_EQ(WrittenBehind({2, 16, 3, width}, memory::format_tag::nChw16c), 0u);
    EXPECT_EQ(WrittenBehind({1, 48, 1, width}, memory::format_tag::nChw16c), 0u);
    EXPECT_EQ(WrittenBehind({2, 7, 3, width}, memory::format_tag::nchw), 0u);
  }
}

// clip replaces NaN by its lower limit, so that NNEF's clamp is binary_min and
// then clip.
TEST(OneDnnPostOpsTest, ClipOfNanIsItsLowerLimit) {
  EXPECT_EQ(RunFunction(algorithm::eltwise_clip, -1, 2, {kNan, 0})[0], -1)
      << "oneDNN " << Version() << " computes another clip: see MinimumStep";
}

struct Property {
  const char* name;
  algorithm function;
  float alpha, beta;
  float (*formula)(float);
};

// The functions of which every bit is relied on.
TEST(OneDnnPostOpsTest, ExactFunctionsOfSpecialValues) {
  const Property properties[] = {
      {"relu", algorithm::eltwise_relu, 0, 0, [](float x) { return x > 0.0f ? x : 0.0f; }},
      {"leaky relu", algorithm::eltwise_relu, 0.5f, 0, [](float x) { return x < 0.0f ? 0.5f * x : x; }},
      {"maximum", algorithm::eltwise_clip, 0.5f, kInfinity, [](float x) { return x > 0.5f ? x : 0.5f; }},
      {"maximum with -0", algorithm::eltwise_clip, -0.0f, kInfinity,
       [](float x) { return x > -0.0f ? x : -0.0f; }},
      {"sum", algorithm::eltwise_linear, 1, 3, [](float x) { return x + 3; }},
      {"product", algorithm::eltwise_linear, -2, -0.0f, [](float x) { return x * -2; }},
      {"abs", algorithm::eltwise_abs, 0, 0, [](float x) { return std::abs(x); }},
      {"sqrt", algorithm::eltwise_sqrt, 0, 0, [](float x) { return std::sqrt(x); }},
  };
  const std::vector<float> x = {kNan,   -kNan,   kInfinity, -kInfinity, 0.0f, -0.0f,
                                1e-40f, -1e-40f, 3.4e38f,   -3.4e38f,   0.5f, -0.5f,
                                0.1f,   -7.0f,   1e-38f,    3.0f,       -3.0f};
  for (const Property& property : properties) {
    dnnl::post_ops posts;
    posts.append_eltwise(1, property.function, property.alpha, property.beta);
    const std::vector<float> alone = RunFunction(property.function, property.alpha, property.beta, x);
    // max(x, x) is x.
    const std::vector<float> behind = RunBinary(algorithm::binary_max, x, x, posts);
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = property.formula(x[i]);
      EXPECT_TRUE(SameBits(alone[i], expected)) << property.name << " of " << x[i] << ": " << alone[i];
      EXPECT_TRUE(SameBits(behind[i], expected)) << property.name << " behind " << x[i] << ": " << behind[i];
    }
  }
}

// The cache of primitives compares parameters by value.
TEST(OneDnnPostOpsTest, ZerosOfBothSignsAreOneParameter) {
  const std::vector<float> x = {-0.0f, 1};
  EXPECT_FALSE(std::signbit(RunFunction(algorithm::eltwise_linear, 1, 0.0f, x)[0]));
  EXPECT_FALSE(std::signbit(RunFunction(algorithm::eltwise_linear, 1, -0.0f, x)[0]))
      << "oneDNN " << Version() << " has its fault no more: see AddStep";
}

// min(x, y) is x < y ? x : y, max(x, y) is x > y ? x : y, of a
// number and of as many elements.
TEST(OneDnnPostOpsTest, MinimumAndMaximumAreSelections) {
  const std::vector<float> values = {kNan, 1, 0.0f, -0.0f, kInfinity, -kInfinity, 2, -1e-40f};
  for (float number : {kNan, 1.0f, 0.0f, -0.0f, kInfinity, -kInfinity}) {
    for (const bool maximum : {false, true}) {
      const algorithm function = maximum ? algorithm::binary_max : algorithm::binary_min;
      std::vector<float> single = {number};
      const std::vector<float> whole =
          RunBinary(function, values, std::vector<float>(values.size(), number), {});
      const std::vector<float> by_number = RunBinary(function, values, single, {});
      for (size_t i = 0; i < values.size(); ++i) {
        const bool first = maximum ? values[i] > number : values[i] < number;
        const float expected = first ? values[i] : number;
        EXPECT_TRUE(SameBits(whole[i], expected)) << values[i] << " and " << number << ": " << whole[i];
        EXPECT_TRUE(SameBits(by_number[i], expected)) << values[i] << " and " << number;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::onednn
