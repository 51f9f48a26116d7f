// Kernels with formulas or references that are computed here, for sizes that a table of cases is too small
// for.

#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>

#include "runtime/kernels/signal/fft.h"
#include "tests/unit/runtime/kernels/run_reference.h"

namespace nnefc::runtime::kernels {
namespace {

// Rows are computed in parts of 256 elements, whether an operand is broadcast or not.
TEST(FormulasTest, RemaindersOfLongRows) {
  for (const int64_t length : {255, 256, 257, 600}) {
    for (const bool is_first_broadcast : {false, true}) {
      for (const bool is_second_broadcast : {false, true}) {
        const TensorValue a = RandomTensor({is_first_broadcast ? 1 : length}, 1, -9, 9);
        const TensorValue b = RandomTensor({is_second_broadcast ? 1 : length}, 2, 0.5, 3);
        for (const bool is_floor : {false, true}) {
          const auto made =
              RunReference("opset1", is_floor ? "FloorMod" : "Mod", {a, b}, With("auto_broadcast", "numpy"));
          ASSERT_EQ(made.size(), 1u);
          for (int64_t i = 0; i < made[0].volume(); ++i) {
            const double x = a.ElementAsDouble(is_first_broadcast ? 0 : i);
            const double y = b.ElementAsDouble(is_second_broadcast ? 0 : i);
            const double rest = std::fmod(x, y);
            ASSERT_NEAR(made[0].ElementAsDouble(i), is_floor && rest < 0 ? rest + y : rest, 1e-5) << i;
          }
        }
      }
    }
  }
}

// Rows of which each quotient is too large for the product of its integer part to be exact.
TEST(FormulasTest, RemaindersOfLargeQuotients) {
  for (const int64_t length : {1, 255, 256, 512}) {
    const auto numbers = [&](float first, float step) {
      return TensorValue::Make<float>(ElementType::kF32, {length}, [&](std::span<float> v) {
        for (size_t i = 0; i < v.size(); ++i) v[i] = first + step * static_cast<float>(i % 7);
      });
    };
    const TensorValue a = numbers(1e30F, 3e29F), b = numbers(3, 2);
    for (const char* name : {"Mod", "FloorMod"}) {
      const auto made = RunReference("opset1", name, {a, b}, With("auto_broadcast", "numpy"));
      ASSERT_EQ(made.size(), 1u);
      for (int64_t i = 0; i < length; ++i)
        ASSERT_EQ(made[0].ElementAsDouble(i), std::fmod(a.ElementAsDouble(i), b.ElementAsDouble(i)))
            << name << " " << i;
    }
  }
}

// 64-bit numbers of PyTorch's generator consist of two 32-bit ones, the higher one first.
TEST(FormulasTest, UniformDoublesOfPyTorch) {
  TestGraph g;
  ir::AttributeMap attributes;
  attributes.Set("output_type", ElementType::kF64);
  attributes.Set("alignment", "pytorch");
  attributes.Set("global_seed", int64_t{150});
  attributes.Set("op_seed", int64_t{10});
  const auto low = g.Const(TensorValue::FromFloats({}, {-2}).ConvertedTo(ElementType::kF64));
  const auto high = g.Const(TensorValue::FromFloats({}, {3}).ConvertedTo(ElementType::kF64));
  g.Result(g.Op("opset8", "RandomUniform", {g.Ints({9}), low, high}, attributes));
  const auto made = RunGraph(g.graph, {.backend = Backend::kReference}, {});
  ASSERT_EQ(made.size(), 1u);
  std::mt19937 next(150);
  for (int64_t i = 0; i < 9; ++i) {
    const uint64_t first = next(), second = next();
    const auto bits = static_cast<double>((first << 32 | second) % (uint64_t{1} << 53));
    EXPECT_NEAR(made[0].ElementAsDouble(i), -2 + 5 * std::ldexp(bits, -53), 1e-12) << i;
  }
}

// Draws as many classes as there are probabilities, each at most once.
FaultOr<std::vector<TensorValue>> DrawAll(const std::vector<double>& row, int64_t seed) {
  const auto count = static_cast<int64_t>(row.size());
  ir::AttributeMap attributes;
  attributes.Set("convert_type", ElementType::kI64);
  attributes.Set("with_replacement", false);
  attributes.Set("log_probs", false);
  attributes.Set("global_seed", seed);
  attributes.Set("op_seed", int64_t{7});
  TestGraph g;
  g.Result(
      g.Op("opset13", "Multinomial",
           {g.Parameter("x", {1, count}, ElementType::kF64), g.Const(TensorValue::FromInts({}, {count}))},
           attributes));
  const auto input = TensorValue::Make<double>(ElementType::kF64, {1, count}, [&](std::span<double> numbers) {
    std::copy(row.begin(), row.end(), numbers.begin());
  });
  return engine::Session::Create(Compile(g.graph, {.backend = Backend::kReference}))->Run({input});
}

// Each class with a probability is drawn once, and one without any is never drawn. Sums of these
// probabilities have rounding errors.
TEST(FormulasTest, ClassesAreDrawnOnce) {
  const std::vector<std::vector<double>> rows = {
      {0.1, 0.2, 0.3, 0.7}, {0.1, 0.2, 0.3, 0}, {0, 0.1, 0.2, 0.3}, {1e-20, 1}, {1, 1e-20}, {0, 0}, {5}};
  for (const std::vector<double>& row : rows) {
    const bool has_zero = std::count(row.begin(), row.end(), 0.0) > 0;
    for (int64_t seed = 1; seed <= 40; ++seed) {
      const auto outputs = DrawAll(row, seed);
      ASSERT_EQ(outputs.ok(), !has_zero) << row.size() << " classes, seed " << seed;
      if (has_zero) {
        EXPECT_NE(outputs.error().message.find("no probability left"), std::string::npos);
        continue;
      }
      std::vector<bool> is_drawn(row.size());
      for (size_t i = 0; i < row.size(); ++i)
        is_drawn.at(static_cast<size_t>((*outputs)[0].ElementAsInt(static_cast<int64_t>(i)))) = true;
      EXPECT_EQ(std::count(is_drawn.begin(), is_drawn.end(), true), std::ssize(row));
    }
  }
}

// Classes after the first one are drawn by their shares of the remaining probability.
TEST(FormulasTest, RemainingClassesAreDrawnByTheirShares) {
  constexpr int kSeeds = 1000;
  for (size_t likely = 0; likely < 4; ++likely) {
    std::vector<double> row(4, 1);
    row[likely] = 9;
    std::vector<int> counts(4);
    int first = 0;
    for (int64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto outputs = DrawAll(row, seed);
      ASSERT_TRUE(outputs.ok());
      if ((*outputs)[0].ElementAsInt(0) != static_cast<int64_t>(likely)) continue;
      ++first;
      ++counts.at(static_cast<size_t>((*outputs)[0].ElementAsInt(1)));
    }
    // Five standard deviations of the binomial distribution.
    EXPECT_NEAR(first, kSeeds * 0.75, 5 * std::sqrt(kSeeds * 0.75 * 0.25));
    for (size_t i = 0; i < 4; ++i) {
      if (i == likely) continue;
      EXPECT_NEAR(counts[i], first / 3.0, 5 * std::sqrt(first * 2.0 / 9)) << likely << " before " << i;
    }
  }
}

// A class with nearly all of the probability is drawn first, wherever it is in the row.
TEST(FormulasTest, LikelyClassesAreDrawnFirst) {
  for (size_t count = 1; count <= 20; ++count) {
    for (size_t likely = 0; likely < count; ++likely) {
      std::vector<double> row(count, 1e-13);
      row[likely] = 1;
      const auto outputs = DrawAll(row, 3);
      ASSERT_TRUE(outputs.ok());
      EXPECT_EQ((*outputs)[0].ElementAsInt(0), static_cast<int64_t>(likely)) << count << " classes";
    }
  }
}

// The scale of ScaledDotProductAttention is one number, of any rank; only a run may know its extents.
TEST(FormulasTest, ScalesOfAttention) {
  const auto attend = [](const TensorValue& scale) {
    TestGraph g;
    const ir::OutputPort q = g.Parameter("q", {1, 1, 1}), k = g.Parameter("k", {1, 2, 1}),
                         v = g.Parameter("v", {1, 2, 1}), mask = g.Parameter("mask", {1, 1, 2}),
                         by = g.PartialParameter("scale", ir::PartialShape());
    g.Result(g.Op("opset13", "ScaledDotProductAttention", {q, k, v, mask, by}, With("causal", false)));
    return engine::Session::Create(Compile(g.graph, {.backend = Backend::kReference}))
        ->Run({TensorValue::FromFloats({1, 1, 1}, {1}), TensorValue::FromFloats({1, 2, 1}, {0, 1}),
               TensorValue::FromFloats({1, 2, 1}, {0, 1}), TensorValue::FromFloats({1, 1, 2}, {0, 0}),
               scale});
  };
  for (const Shape& shape : {Shape{}, Shape{1}}) {
    const auto outputs = attend(TensorValue::FromFloats(shape, {std::log(3.0f)}));
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_NEAR((*outputs)[0].ElementAsDouble(0), 0.75, 1e-6);  // of 1 and 3
  }
  EXPECT_FALSE(attend(TensorValue::FromFloats({2}, {1, 1})).ok());
  EXPECT_FALSE(attend(TensorValue::FromFloats({0}, {})).ok());
}

// OneHot has one `on_value` and one `off_value`, of any rank; only a run may know their extents.
TEST(FormulasTest, ValuesOfOneHot) {
  const auto run = [](const TensorValue& on, const TensorValue& off) {
    TestGraph g;
    const ir::OutputPort indices = g.Parameter("indices", {2}, ElementType::kI64),
                         depth = g.Const(TensorValue::FromInts({}, {3})),
                         on_value = g.PartialParameter("on", ir::PartialShape()),
                         off_value = g.PartialParameter("off", ir::PartialShape());
    g.Result(g.Op("OneHot", {indices, depth, on_value, off_value}, With("axis", int64_t{-1})));
    return engine::Session::Create(Compile(g.graph, {.backend = Backend::kReference}))
        ->Run({TensorValue::FromInts({2}, {2, 0}), on, off});
  };
  const TensorValue one = TensorValue::FromFloats({}, {1}), zero = TensorValue::FromFloats({}, {0});
  const auto outputs = run(one, zero);
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({2, 3}, {0, 0, 1, 1, 0, 0}));
  for (const TensorValue& wrong : {TensorValue::FromFloats({2}, {1, 1}), TensorValue::FromFloats({0}, {})}) {
    EXPECT_FALSE(run(wrong, zero).ok());
    EXPECT_FALSE(run(one, wrong).ok());
    EXPECT_FALSE(run(wrong, wrong).ok());
  }
}

// Indices of ScatterElementsUpdate have the rank of the data, and no larger extents but along the axis; only
// a run may know their extents.
TEST(FormulasTest, ShapesOfScatteredIndices) {
  const auto run = [](const Shape& shape) {
    TestGraph g;
    const ir::OutputPort data = g.Parameter("data", {2, 3}),
                         indices = g.PartialParameter("indices", ir::PartialShape(), ElementType::kI64),
                         updates = g.PartialParameter("updates", ir::PartialShape());
    g.Result(g.Op("opset3", "ScatterElementsUpdate",
                  {data, indices, updates, g.Const(TensorValue::FromInts({}, {1}))}));
    const auto count = static_cast<size_t>(*Volume(shape));
    return engine::Session::Create(Compile(g.graph, {.backend = Backend::kReference}))
        ->Run({TensorValue::FromFloats({2, 3}, {1, 2, 3, 4, 5, 6}),
               TensorValue::FromInts(shape, std::vector<int64_t>(count, 2)),
               TensorValue::FromFloats(shape, std::vector<float>(count, 9))});
  };
  for (const auto& [shape, expected] :
       std::vector<std::pair<Shape, std::vector<float>>>{{{1, 1}, {1, 2, 9, 4, 5, 6}},
                                                         {{2, 2}, {1, 2, 9, 4, 5, 9}},
                                                         {{1, 5}, {1, 2, 9, 4, 5, 6}},
                                                         {{2, 0}, {1, 2, 3, 4, 5, 6}}}) {
    const auto outputs = run(shape);
    ASSERT_TRUE(outputs.ok()) << ToString(shape) << outputs.error().message;
    EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({2, 3}, expected)) << ToString(shape);
  }
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2}, Shape{1, 1, 1}, Shape{3, 1}})
    EXPECT_FALSE(run(shape).ok()) << ToString(shape);
}

// `weights_format` is the order of the gates in the rows of W, R and B.
TEST(FormulasTest, OrdersOfGates) {
  constexpr int64_t kHidden = 2, kInputs = 3;
  const std::string standard = "fico";
  const std::vector<TensorValue> inputs = {RandomTensor({1, kInputs}, 1), RandomTensor({1, kHidden}, 2),
                                           RandomTensor({1, kHidden}, 3)};
  for (const Backend backend : kBackends) {
    std::vector<TensorValue> expected;
    for (const std::string format : {"fico", "icof", "ifco", "ifoc", "iofc"}) {
      SCOPED_TRACE(format);
      TestGraph g;
      std::vector<ir::OutputPort> ports;
      ports.reserve(7);
      for (const TensorValue& input : inputs) ports.push_back(g.Parameter("x", input.shape()));
      for (const Shape& shape :
           {Shape{4 * kHidden, kInputs}, Shape{4 * kHidden, kHidden}, Shape{4 * kHidden}}) {
        const TensorValue rows = RandomTensor(shape, 4);
        const int64_t gate_items = *Volume(shape) / 4;
        std::vector<float> ordered;
        for (const char gate : format) {
          const auto first = static_cast<int64_t>(standard.find(gate)) * gate_items;
          for (int64_t i = 0; i < gate_items; ++i)
            ordered.push_back(static_cast<float>(rows.ElementAsDouble(first + i)));
        }
        ports.push_back(g.Const(TensorValue::FromFloats(shape, ordered)));
      }
      ir::AttributeMap attributes = With("hidden_size", kHidden);
      attributes.Set("weights_format", format);
      const ir::OutputPort state = g.Op("opset1", "LSTMCell", ports, attributes, 2);
      g.Result(state);
      g.Result({state.node, 1}, "cell");
      const auto made = RunGraph(g.graph, {.backend = backend}, inputs);
      ASSERT_EQ(made.size(), 2U);
      if (expected.empty()) expected = made;
      for (size_t i = 0; i < 2; ++i) ExpectNear(made[i], expected[i], 1e-6);
    }
  }
}

// Coordinates of regions are numbers of at most 1e9.
TEST(FormulasTest, CoordinatesOfRegions) {
  for (const char* type : {"ROIPooling", "ROIAlign", "PSROIPooling"}) {
    const bool is_align = type == std::string_view("ROIAlign"),
               is_of_bins = type == std::string_view("PSROIPooling");
    for (int64_t item = 1; item < 5; ++item) {
      for (const auto& [coordinate, is_valid] : {std::pair{0.5F, true},
                                                 {1e9F, true},
                                                 {-1e9F, true},
                                                 {1.0001e9F, false},
                                                 {-1.0001e9F, false},
                                                 {kInfinity, false},
                                                 {-kInfinity, false},
                                                 {kNan, false}}) {
        SCOPED_TRACE(std::string(type) + " " + std::to_string(item) + ": " + std::to_string(coordinate));
        std::vector<float> region = {0, 0, 0, 1, 1};
        region[static_cast<size_t>(item)] = coordinate;
        if (is_align) region.erase(region.begin());
        TestGraph g;
        std::vector<TensorValue> inputs = {RandomTensor({1, 4, 3, 3}, 1),
                                           TensorValue::FromFloats({1, is_align ? 4 : 5}, region)};
        std::vector<ir::OutputPort> ports = {g.Parameter("x", {1, 4, 3, 3}),
                                             g.Parameter("regions", inputs[1].shape())};
        ir::AttributeMap attributes = With("spatial_scale", 1.0);
        if (is_align) {
          ports.push_back(g.Ints({0}));
          attributes.Set("pooled_h", int64_t{2});
          attributes.Set("pooled_w", int64_t{2});
          attributes.Set("sampling_ratio", int64_t{2});
          attributes.Set("mode", "max");
        } else if (is_of_bins) {
          attributes.Set("output_dim", int64_t{1});
          attributes.Set("group_size", int64_t{2});
          attributes.Set("mode", "average");
        } else {
          attributes.Set("pooled_h", int64_t{2});
          attributes.Set("pooled_w", int64_t{2});
          attributes.Set("method", "max");
        }
        const char* set = is_align ? "opset3" : is_of_bins ? "opset1" : "opset2";
        g.Result(g.Op(set, type, ports, attributes));
        const auto made =
            engine::Session::Create(Compile(g.graph, {.backend = Backend::kReference}))->Run(inputs);
        ASSERT_EQ(made.ok(), is_valid);
        if (!is_valid) {
          EXPECT_NE(made.error().message.find("a region has the coordinate"), std::string::npos)
              << made.error().message;
        }
      }
    }
  }
}

// Reductions over axes without elements, next to each other or not, of each number of axes in between.
TEST(FormulasTest, ReductionsWithoutTerms) {
  struct Reduced {
    Shape shape;
    std::vector<int64_t> axes;
    Shape result;
  };
  for (const auto& [shape, axes, result] : {Reduced{{0, 2, 3}, {0, 2}, {2}},
                                            {{3, 2, 0}, {0, 2}, {2}},
                                            {{0, 3, 2}, {0, 1}, {2}},
                                            {{2, 3, 0}, {1, 2}, {2}},
                                            {{2, 0, 2, 3}, {1, 3}, {2, 2}},
                                            {{2, 3, 2, 0, 4}, {1, 3}, {2, 2, 4}},
                                            {{2, 0, 3}, {0, 2}, {0}},
                                            {{0}, {0}, {}}}) {
    SCOPED_TRACE(ToString(shape));
    for (const Backend backend : kBackends) {
      for (const auto& [type, expected] : {std::pair{"ReduceSum", 0.0}, {"ReduceProd", 1.0}}) {
        TestGraph g;
        g.Result(g.Op(type, {g.Parameter("x", shape), g.Ints(axes)}, With("keep_dims", false)));
        const auto made = RunGraph(g.graph, {.backend = backend}, {RandomTensor(shape, 1)});
        ASSERT_EQ(made.size(), 1U);
        ASSERT_EQ(ToString(made[0].shape()), ToString(result));
        for (int64_t i = 0; i < made[0].volume(); ++i)
          EXPECT_EQ(made[0].ElementAsDouble(i), expected) << type;
      }
    }
  }
}

// The formula of OpenVINO's LSTMCell-1 has no peepholes: only zeros are accepted.
TEST(FormulasTest, PeepholesMustBeZero) {
  for (const Backend backend : kBackends) {
    for (int64_t other = -1; other < 6; ++other) {
      TestGraph g;
      std::vector<float> peepholes(6);
      if (other >= 0) peepholes[static_cast<size_t>(other)] = 0.5F;
      const std::vector<TensorValue> inputs = {RandomTensor({1, 3}, 1), RandomTensor({1, 2}, 2),
                                               RandomTensor({1, 2}, 3)};
      std::vector<ir::OutputPort> ports;
      ports.reserve(7);
      for (const TensorValue& input : inputs) ports.push_back(g.Parameter("x", input.shape()));
      for (const Shape& shape : {Shape{8, 3}, Shape{8, 2}, Shape{8}}) ports.push_back(g.Weights(shape, 4));
      ports.push_back(g.Const(TensorValue::FromFloats({6}, peepholes)));
      g.Result(g.Op("opset1", "LSTMCell", ports, With("hidden_size", int64_t{2}), 2));
      const auto made = engine::Session::Create(Compile(g.graph, {.backend = backend}))->Run(inputs);
      EXPECT_EQ(made.ok(), other < 0) << other;
      if (!made.ok()) {
        EXPECT_NE(made.error().message.find("peepholes"), std::string::npos) << made.error().message;
      }
    }
  }
}

// Sizes with larger prime factors are transformed by a convolution.
// All lengths up to twice the largest direct factor, the empty transform included, and larger ones: primes,
// powers, and squares of primes.
TEST(FormulasTest, FourierTransforms) {
  std::vector<int64_t> sizes(71);
  std::iota(sizes.begin(), sizes.end(), 0);
  sizes.insert(sizes.end(), {97, 101, 127, 128, 129, 131, 202, 257, 303, 511, 521, 961, 1369});
  for (const int64_t size : sizes) {
    std::mt19937 random(static_cast<unsigned>(size));
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<signal::Complex> data(static_cast<size_t>(size)), expected(data.size()), scratch;
    for (signal::Complex& x : data) x = {number(random), number(random)};
    const std::vector<signal::Complex> original = data;
    for (size_t k = 0; k < data.size(); ++k) {
      for (size_t n = 0; n < data.size(); ++n) {
        const double turn = static_cast<double>(k * n % data.size()) / static_cast<double>(size);
        expected[k] += data[n] * std::polar(1.0, -2 * std::numbers::pi * turn);
      }
    }
    const signal::Fft transform(size);
    transform.Forward(data.data(), scratch);
    const double tolerance = size <= 70 ? 1e-12 : 1e-11;
    for (size_t k = 0; k < data.size(); ++k) ASSERT_LT(std::abs(data[k] - expected[k]), tolerance) << size;
    transform.Inverse(data.data(), scratch);
    for (size_t k = 0; k < data.size(); ++k) ASSERT_LT(std::abs(data[k] - original[k]), tolerance) << size;
  }
}

// The transform of an impulse at 0 is 1 everywhere. Sums over factors of up to 31 add only zeros to it.
TEST(FormulasTest, FourierTransformsOfAnImpulse) {
  for (const int64_t size : {2, 29, 30, 31, 62, 961}) {
    std::vector<signal::Complex> data(static_cast<size_t>(size)), scratch;
    data[0] = 1;
    signal::Fft(size).Forward(data.data(), scratch);
    for (const signal::Complex& x : data) ASSERT_EQ(x, signal::Complex(1)) << size;
  }
}

// Of zeros of either sign, the first one of a row is its maximum, and its minimum.
TEST(FormulasTest, ExtremesOfZeros) {
  ir::AttributeMap pool;
  for (const char* name : {"kernel", "strides", "dilations"}) pool.Set(name, ir::Attribute::Integers{2});
  for (const char* name : {"pads_begin", "pads_end"}) pool.Set(name, ir::Attribute::Integers{0});
  pool.Set("dilations", ir::Attribute::Integers{1});
  struct Extreme {
    std::string_view set, name;
    std::vector<TensorValue> operands;
    ir::AttributeMap attributes;
    Shape shape = {1, 1, 2};
    int outputs = 1;
  };
  const TensorValue last_axis = TensorValue::FromInts({1}, {2});
  for (const Extreme& extreme : std::vector<Extreme>{
           {"opset1", "ReduceMax", {last_axis}, With("keep_dims", false)},
           {"opset1", "ReduceMin", {last_axis}, With("keep_dims", false)},
           {"opset8", "MaxPool", {}, pool, {1, 1, 2}, 2},
           {"opset8", "AdaptiveMaxPool", {TensorValue::FromInts({1}, {1})}, {}, {1, 1, 2}, 2},
           {"opset16",
            "SegmentMax",
            {TensorValue::FromInts({2}, {0, 0}), TensorValue::FromInts({}, {1})},
            With("fill_mode", "zero"),
            {2, 1}}}) {
    for (const float first : {0.0F, -0.0F}) {
      TestGraph g;
      std::vector<ir::OutputPort> inputs = {g.Parameter("x", extreme.shape)};
      for (const TensorValue& operand : extreme.operands) inputs.push_back(g.Const(operand));
      g.Result(g.Op(extreme.set, extreme.name, inputs, extreme.attributes, extreme.outputs));
      const auto made = RunGraph(g.graph, {.backend = Backend::kReference},
                                 {TensorValue::FromFloats(extreme.shape, {first, -first})});
      ASSERT_EQ(made.size(), 1u);
      EXPECT_EQ(made[0].ElementAsDouble(0), 0) << extreme.name;
      EXPECT_EQ(std::signbit(made[0].ElementAsDouble(0)), std::signbit(first)) << extreme.name << first;
    }
  }
}

// Reflects a position until it is inside: about the outermost elements, or about their outer edges.
int64_t Reflected(int64_t position, int64_t extent, bool align) {
  if (extent == 1) return 0;
  while (position < 0 || position >= extent) {
    if (position < 0) position = -position - (align ? 0 : 1);
    if (position >= extent) position = 2 * extent - position - (align ? 2 : 1);
  }
  return position;
}

TEST(FormulasTest, GridsThatReflect) {
  for (const int64_t extent : {1, 2, 3, 5}) {
    for (const bool align : {false, true}) {
      if (align && extent == 1) continue;  // all points are the only element
      std::vector<float> line, grid;
      for (int64_t i = 0; i < extent; ++i) line.push_back(static_cast<float>(i + 1));
      const int64_t reach = 4 * extent + 1;
      for (int64_t at = -reach; at <= reach; ++at) {
        const auto position = static_cast<double>(at), size = static_cast<double>(extent);
        const double point = align ? 2 * position / (size - 1) - 1 : (2 * position + 1) / size - 1;
        grid.insert(grid.end(), {static_cast<float>(point), 0.0F});
      }
      ir::AttributeMap attributes;
      attributes.Set("align_corners", align);
      attributes.Set("mode", "nearest");
      attributes.Set("padding_mode", "reflection");
      const int64_t count = 2 * reach + 1;
      const auto made = RunReference(
          "opset9", "GridSample",
          {TensorValue::FromFloats({1, 1, 1, extent}, line), TensorValue::FromFloats({1, 1, count, 2}, grid)},
          attributes);
      ASSERT_EQ(made.size(), 1u);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(made[0].ElementAsInt(i), Reflected(i - reach, extent, align) + 1)
            << i - reach << " of " << extent << (align ? ", aligned" : "");
    }
  }
}

// A deconvolution of an implied result: the padding is what the windows reach beyond it, per axis.
TEST(FormulasTest, DeconvolutionsWithImpliedPadding) {
  struct Axis {
    int64_t input, size, stride, result;
  };
  const std::vector<Axis> axes = {{2, 3, 2, 4}, {3, 4, 1, 3}, {2, 5, 3, 6}, {4, 2, 2, 8}, {1, 6, 1, 1}};
  for (const bool is_upper : {false, true}) {
    for (const Axis& rows : axes) {
      for (const Axis& columns : axes) {
        const TensorValue x = RandomTensor({1, 1, rows.input, columns.input}, 1);
        const TensorValue w = RandomTensor({1, 1, rows.size, columns.size}, 2);
        ir::AttributeMap attributes;
        attributes.Set("strides", ir::Attribute::Integers{rows.stride, columns.stride});
        attributes.Set("dilations", ir::Attribute::Integers{1, 1});
        attributes.Set("pads_begin", ir::Attribute::Integers{0, 0});
        attributes.Set("pads_end", ir::Attribute::Integers{0, 0});
        attributes.Set("output_padding", ir::Attribute::Integers{0, 0});
        attributes.Set("auto_pad", is_upper ? "same_upper" : "same_lower");
        TestGraph g;
        g.Result(g.Op(
            "opset1", "ConvolutionBackpropData",
            {g.Parameter("x", x.shape()), g.Parameter("w", w.shape()), g.Ints({rows.result, columns.result})},
            attributes));
        const auto before = [&](const Axis& axis) {
          const int64_t total =
              std::max<int64_t>(axis.stride * (axis.input - 1) + axis.size - axis.result, 0);
          return is_upper ? total - total / 2 : total / 2;
        };
        std::vector<double> expected(static_cast<size_t>(rows.result * columns.result));
        for (int64_t i = 0; i < x.volume(); ++i) {
          for (int64_t k = 0; k < w.volume(); ++k) {
            const int64_t row = i / columns.input * rows.stride + k / columns.size - before(rows);
            const int64_t column = i % columns.input * columns.stride + k % columns.size - before(columns);
            if (row < 0 || row >= rows.result || column < 0 || column >= columns.result) continue;
            expected[static_cast<size_t>(row * columns.result + column)] +=
                x.ElementAsDouble(i) * w.ElementAsDouble(k);
          }
        }
        for (const Backend backend : kBackends) {
          const auto made = RunGraph(g.graph, {.backend = backend}, {x, w});
          ASSERT_EQ(made.size(), 1u);
          for (size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), expected[i], 1e-5) << i;
        }
      }
    }
  }
}

// Nearest neighbours keep all bits of integers, which f64 does not have.
TEST(FormulasTest, NearestOfLargeIntegers) {
  const TensorValue x = TensorValue::FromInts({2}, {9007199254740993, -9007199254740993});
  ir::AttributeMap attributes;
  attributes.Set("mode", "nearest");
  attributes.Set("shape_calculation_mode", "sizes");
  attributes.Set("coordinate_transformation_mode", "asymmetric");
  attributes.Set("nearest_mode", "floor");
  attributes.Set("antialias", false);
  attributes.Set("pads_begin", ir::Attribute::Integers{0});
  attributes.Set("pads_end", ir::Attribute::Integers{0});
  attributes.Set("cube_coeff", -0.75);
  TestGraph g;
  g.Result(g.Op("opset11", "Interpolate",
                {g.Parameter("x", {2}, ElementType::kI64), g.Ints({4}), g.Ints({0})}, attributes));
  const auto made = RunGraph(g.graph, {.backend = Backend::kReference}, {x});
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0], TensorValue::FromInts(
                         {4}, {9007199254740993, 9007199254740993, -9007199254740993, -9007199254740993}));
}

// Each level of the pyramid is a constant, so that the result shows the level of a region. Regions of 112
// pixels and more are of level 1, of 224 of level 2, of 448 of level 3; those without area are 0.
TEST(FormulasTest, LevelsOfRegions) {
  struct Region {
    float left, top, width, height;
    float expected;
  };
  const std::vector<Region> regions = {{0, 0, 110, 110, 1},   {0, 0, 113, 113, 2},     {600, 0, 113, 113, 2},
                                       {0, 600, 113, 113, 2}, {600, 0, 110, 110, 1},   {0, 600, 110, 110, 1},
                                       {0, 0, 226, 226, 3},   {400, 300, 222, 222, 2}, {0, 0, 450, 450, 4},
                                       {50, 20, 446, 446, 3}, {0, 0, 4, 784, 1},       {8, 8, 0, 100, 0},
                                       {8, 8, 100, 0, 0},     {300, 8, -20, 20, 0},    {8, 300, 20, -20, 0}};
  std::vector<float> corners;
  for (const Region& region : regions) {
    corners.insert(corners.end(),
                   {region.left, region.top, region.left + region.width, region.top + region.height});
  }
  std::vector<TensorValue> inputs = {
      TensorValue::FromFloats({static_cast<int64_t>(regions.size()), 4}, corners)};
  for (int level = 0; level < 4; ++level) {
    const int64_t extent = 800 >> (level + 2);
    inputs.push_back(TensorValue::FromFloats(
        {1, 1, extent, extent},
        std::vector<float>(static_cast<size_t>(extent * extent), static_cast<float>(level + 1))));
  }
  ir::AttributeMap attributes;
  attributes.Set("output_size", int64_t{1});
  attributes.Set("sampling_ratio", int64_t{1});
  attributes.Set("pyramid_scales", ir::Attribute::Integers{4, 8, 16, 32});
  attributes.Set("aligned", false);
  const auto made = RunReference("opset6", "ExperimentalDetectronROIFeatureExtractor", inputs, attributes);
  ASSERT_EQ(made.size(), 1u);
  for (size_t i = 0; i < regions.size(); ++i)
    EXPECT_EQ(made[0].ElementAsDouble(static_cast<int64_t>(i)), regions[i].expected) << i;
}

}  // namespace
}  // namespace nnefc::runtime::kernels
