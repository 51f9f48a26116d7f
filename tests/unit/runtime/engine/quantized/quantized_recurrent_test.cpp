// Recurrent layers with 8-bit weights, and 8-bit or f32 data, against the reference backend: the fast one
// multiplies the states in fixed point.

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct QuantizedLayer {
  const char* type = "LSTMSequence";
  int64_t gates = 4;
  std::vector<int64_t> lengths = {3, 5};
  int64_t length = 5, inputs = 9, hidden = 13;
  ir::AttributeMap attributes = {};
  bool has_quantized_data = true, has_quantized_w = true, has_quantized_r = true;
  Quantization data = {};
  // The initial states, and one number of the first one and of f32 data.
  float state = 1;
  float odd = 0.5F;
  bool has_nan = false;  // the first and the last number of the data

  bool is_lstm() const { return gates == 4; }
  bool is_sequence() const { return std::string_view(type).ends_with("Sequence"); }
  int64_t batch() const { return static_cast<int64_t>(lengths.size()); }
  std::string Kernel() const {
    if (!fast::HasVnni() || !fast::simd::HasSimd()) return "panels:f32";
    constexpr int64_t kMinTerms = 4;
    const bool is_w = has_quantized_w && inputs >= kMinTerms, is_r = has_quantized_r && hidden >= kMinTerms;
    if (!is_w) return is_r ? "panels:int8_r" : "panels:f32";
    return is_r ? "panels:int8 " : "panels:int8_w";
  }
  // Returns whether the data are multiplied as codes, of which none is NaN.
  bool has_codes() const {
    return has_quantized_data && (Kernel() == "panels:int8 " || Kernel() == "panels:int8_w");
  }
};

class QuantizedRecurrentTest : public testing::Test {
 protected:
  // Multiples of a scale by -127 to 127 per row, or other numbers; the sums of rows are of similar size.
  static TensorValue Weights(const Shape& shape, bool is_quantized, unsigned seed) {
    const int64_t terms = shape.back(), rows = *Volume(shape) / terms;
    if (!is_quantized) return RandomTensor(shape, seed, -0.3F, 0.3F);
    const std::vector<int64_t> drawn = DrawWeights(rows, terms, seed);
    std::vector<float> numbers;
    for (size_t i = 0; i < drawn.size(); ++i) {
      const float scale = static_cast<float>(1 + i / static_cast<size_t>(terms) % 5) / 350 /
                          std::sqrt(static_cast<float>(terms));
      numbers.push_back(static_cast<float>(drawn[i]) * scale);
    }
    return TensorValue::FromFloats(shape, numbers);
  }

  static void Check(const QuantizedLayer& layer, double tolerance = 3e-5) {
    SCOPED_TRACE(testing::Message() << layer.type << ", a batch of " << layer.batch() << ", " << layer.inputs
                                    << " inputs, " << layer.hidden << " hidden");
    TestGraph g;
    const bool is_sequence = layer.is_sequence();
    const int64_t directions = 2, batch = layer.batch(), rows = layer.gates * layer.hidden;
    const auto shape = [&](std::initializer_list<int64_t> axes) {
      Shape all(axes);
      if (is_sequence) all.insert(all.begin(), directions);
      return all;
    };
    const Shape data = is_sequence ? Shape{batch, layer.length, layer.inputs} : Shape{batch, layer.inputs};
    const Shape state = is_sequence ? Shape{batch, directions, layer.hidden} : Shape{batch, layer.hidden};
    ir::AttributeMap attributes = layer.attributes;
    attributes.Set("hidden_size", layer.hidden);
    if (is_sequence) attributes.Set("direction", "bidirectional");
    const ir::OutputPort x = g.Parameter("x", data);
    std::vector<ir::OutputPort> inputs = {layer.has_quantized_data ? FakeQuantized(g, x, layer.data) : x};
    const auto with_odd = [&](const Shape& numbers_shape, const TensorValue& numbers) {
      std::vector<float> changed(numbers.elements<float>().begin(), numbers.elements<float>().end());
      changed.back() = layer.odd;
      return TensorValue::FromFloats(numbers_shape, changed);
    };
    std::vector<TensorValue> values = {RandomTensor(data, 1, -3, 3)};
    if (!layer.has_quantized_data) values[0] = with_odd(data, values[0]);
    const auto with_ends = [&](float number) {
      std::vector<float> changed(values[0].elements<float>().begin(), values[0].elements<float>().end());
      changed.front() = changed.back() = number;
      return TensorValue::FromFloats(data, changed);
    };
    if (layer.has_nan)
      values[0] = with_ends(layer.has_codes() ? static_cast<float>(layer.data.Number(0)) : kNan);
    for (int i = 0; i < (layer.is_lstm() ? 2 : 1); ++i) {
      inputs.push_back(g.Parameter("s" + std::to_string(i), state));
      const TensorValue numbers = RandomTensor(state, 2, -layer.state, layer.state);
      values.push_back(i == 0 ? with_odd(state, numbers) : numbers);
    }
    if (is_sequence) inputs.push_back(g.Ints(layer.lengths));
    const bool is_linear = layer.attributes.Find("linear_before_reset") != nullptr;
    inputs.push_back(g.Const(Weights(shape({rows, layer.inputs}), layer.has_quantized_w, 3)));
    inputs.push_back(g.Const(Weights(shape({rows, layer.hidden}), layer.has_quantized_r, 4)));
    inputs.push_back(g.Weights(shape({rows + (is_linear ? layer.hidden : 0)}), 5));
    const int outputs = (layer.is_lstm() ? 2 : 1) + (is_sequence ? 1 : 0);
    const char* const set = is_sequence                                 ? "opset5"
                            : layer.is_lstm()                           ? "opset4"
                            : std::string_view(layer.type) == "GRUCell" ? "opset3"
                                                                        : "opset1";
    const ir::OutputPort y = g.Op(set, layer.type, inputs, attributes, outputs);
    for (int32_t i = 0; i < outputs; ++i) g.Result({y.node, i}, "output" + std::to_string(i));
    const std::vector<TensorValue> expected =
        RunGraph(g.graph, {.backend = kernels::Backend::kReference, .threads = 2}, values);
    if (layer.has_nan) values[0] = with_ends(kNan);
    for (int threads : {1, 3}) {
      const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = threads});
      ASSERT_NE(executable, nullptr);
      EXPECT_NE((executable->DescribePlan() + " ").find(layer.Kernel()), std::string::npos)
          << executable->DescribePlan();
      kernels::FaultOr<std::vector<TensorValue>> actual = Session::Create(executable)->Run(values);
      ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
      ASSERT_EQ(actual->size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) ExpectNear((*actual)[i], expected[i], tolerance);
    }
  }
};

constexpr std::pair<const char*, int64_t> kSequences[] = {
    {"LSTMSequence", 4}, {"GRUSequence", 3}, {"RNNSequence", 1}};

// Sizes around those of groups of four terms, panels, and tiles of panels and rows.
TEST_F(QuantizedRecurrentTest, Sizes) {
  for (int64_t batch : {1, 2, 3, 5, 9}) {
    for (int64_t hidden : {1, 3, 4, 5, 6, 15, 16, 17, 31, 64, 65, 131, 256}) {
      const std::vector<int64_t> lengths(static_cast<size_t>(batch), 6);
      for (const auto& [type, gates] : kSequences)
        Check({.type = type,
               .gates = gates,
               .lengths = lengths,
               .length = 6,
               .inputs = hidden / 2 + 1,
               .hidden = hidden});
      Check({.type = "GRUSequence",
             .gates = 3,
             .lengths = lengths,
             .length = 6,
             .inputs = 5,
             .hidden = hidden,
             .attributes = With("linear_before_reset", true)});
      if (HasFailure()) return;
    }
  }
}

TEST_F(QuantizedRecurrentTest, OneQuantizedOperand) {
  for (const auto& [type, gates] : kSequences) {
    for (const auto& [data, w, r] : {std::array{false, true, true},
                                     {true, false, true},
                                     {true, true, false},
                                     {false, true, false},
                                     {true, false, false}})
      Check({.type = type,
             .gates = gates,
             .hidden = 37,
             .has_quantized_data = data,
             .has_quantized_w = w,
             .has_quantized_r = r});
  }
}

TEST_F(QuantizedRecurrentTest, Cells) {
  for (const auto& [type, gates] :
       {std::pair{"LSTMCell", int64_t{4}}, {"GRUCell", int64_t{3}}, {"RNNCell", int64_t{1}}}) {
    for (const size_t batch : {1, 4}) {
      for (const bool is_quantized : {false, true})
        Check({.type = type,
               .gates = gates,
               .lengths = std::vector<int64_t>(batch, 1),
               .inputs = 20,
               .hidden = 37,
               .has_quantized_data = is_quantized});
    }
  }
}

// Several blocks of steps, lengths 0 and 1, and threads with batch elements of their own.
TEST_F(QuantizedRecurrentTest, Lengths) {
  for (const auto& [type, gates] : kSequences) {
    Check(
        {.type = type, .gates = gates, .lengths = {301, 301, 280}, .length = 301, .inputs = 3, .hidden = 100},
        2e-4);
    Check({.type = type, .gates = gates, .lengths = {0, 4, 4, 1, 4}, .length = 4, .hidden = 27});
    Check({.type = type, .gates = gates, .lengths = std::vector<int64_t>(16, 9), .length = 9, .hidden = 70});
  }
}

TEST_F(QuantizedRecurrentTest, ZeroPoints) {
  for (const int zero : {0, 1, 128, 255}) {
    for (const auto& [type, gates] : kSequences)
      Check({.type = type, .gates = gates, .data = {.scale = 0x1p-5F, .zero = zero}});
  }
}

// The unit of states depends on the largest one, infinities and NaN have none.
TEST_F(QuantizedRecurrentTest, StatesOfAllMagnitudes) {
  for (const float odd :
       {0.0F, 1.0F, -1.0F, 0x1.fffffep-1F, 1e-20F, 1e-38F, 1e-42F, 100.0F, kNan, kInfinity, -kInfinity}) {
    SCOPED_TRACE(odd);
    for (const float state : {0.0F, 1e-6F, 1e-30F, 1.0F}) {
      for (const auto& [type, gates] : kSequences) {
        for (const bool is_quantized : {false, true})
          Check({.type = type,
                 .gates = gates,
                 .hidden = 37,
                 .has_quantized_data = is_quantized,
                 .state = state,
                 .odd = odd},
                1e-4);
      }
    }
  }
}

// NaN has no code: where weights are multiplied by codes, FakeQuantize makes it code 0. It stays NaN
// elsewhere.
TEST_F(QuantizedRecurrentTest, NanInData) {
  for (const auto& [type, gates] : kSequences) {
    for (const bool is_quantized : {false, true}) {
      for (const bool has_quantized_w : {false, true})
        Check({.type = type,
               .gates = gates,
               .has_quantized_data = is_quantized,
               .has_quantized_w = has_quantized_w,
               .data = {.zero = 50},
               .has_nan = true});
    }
  }
}

// Functions without bounds.
TEST_F(QuantizedRecurrentTest, OtherFunctions) {
  Check({.attributes = With("activations", "sigmoid,relu,relu")}, 1e-4);
  Check({.type = "GRUSequence", .gates = 3, .attributes = With("activations", "sigmoid,relu")}, 1e-4);
  Check({.type = "RNNSequence", .gates = 1, .attributes = With("activations", "relu")}, 1e-4);
  Check({.attributes = With("clip", 0.3)});
}

}  // namespace
}  // namespace nnefc::runtime::engine
