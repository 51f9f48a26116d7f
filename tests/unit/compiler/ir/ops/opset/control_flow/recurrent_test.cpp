// Cases where the shape functions of recurrent operations are stricter than OpenVINO's.

#include "compiler/ir/ops/opset/control_flow/recurrent.h"

#include "fmt/core.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

// Infers a cell. Returns the types of its outputs, or the label of the broken rule.
std::string InferCell(const std::string& op, const std::string& inputs, const std::string& attributes) {
  // Results only determine the number of outputs.
  return InferCase({0, op, inputs, attributes, op.ends_with("LSTMCell") ? "f32[]; f32[]" : "f32[]"});
}

// The inputs X, H and C of a cell with batch size 4, input size 3, hidden size 2.
const char kStates[] = "f32[4,3]; f32[4,2]; f32[4,2]; ";

TEST(RecurrentShapes, BiasMayBeOmittedInOpset1) {
  const std::string inputs = std::string(kStates) + "f32[8,3]; f32[8,2]";
  EXPECT_EQ(InferCell("opset1.LSTMCell", inputs, "hidden_size = 2"), "f32[4,2]; f32[4,2]");
  EXPECT_EQ(InferCell("opset4.LSTMCell", inputs, "hidden_size = 2"), "opset.number-of-inputs");
  EXPECT_EQ(InferCell("opset1.RNNCell", "f32[4,3]; f32[4,2]; f32[2,3]; f32[2,2]", "hidden_size = 2"),
            "opset.number-of-inputs");
}

// Old converters concatenate W and R.
TEST(RecurrentShapes, WeightsMayBeConcatenated) {
  for (const char* op : {"opset1.LSTMCell", "opset4.LSTMCell"}) {
    EXPECT_EQ(InferCell(op, std::string(kStates) + "f32[8,5]; f32[8]", "hidden_size = 2"),
              "f32[4,2]; f32[4,2]");
    EXPECT_EQ(InferCell(op, std::string(kStates) + "f32[8,3]; f32[8]", "hidden_size = 2"), "opset.extent");
    EXPECT_EQ(InferCell(op, std::string(kStates) + "f32[8,5]; f32[2]", "hidden_size = 2"), "opset.extent");
  }
}

TEST(RecurrentShapes, ElementTypesAgree) {
  EXPECT_EQ(
      InferCell("opset4.LSTMCell", std::string(kStates) + "f32[8,3]; f32[8,2]; f64[8]", "hidden_size = 2"),
      "opset.element-type");
  EXPECT_EQ(
      InferCell("opset5.RNNSequence", "f32[4,7,3]; f32[4,1,2]; i32[4]; f32[1,2,3]; f16[1,2,2]; f32[1,2]",
                "hidden_size = 2, direction = \"forward\""),
      "opset.element-type");
}

TEST(RecurrentShapes, WeightsFitInputsAndState) {
  const std::string weights = "f32[8,3]; f32[8,2]; f32[8]";
  EXPECT_EQ(InferCell("opset4.LSTMCell", kStates + weights, "hidden_size = 3"), "opset.extent");
  EXPECT_EQ(InferCell("opset1.RNNCell", "f32[4,3]; f32[4,2]; f32[2,4]; f32[2,2]; f32[2]", "hidden_size = 2"),
            "opset.extent");
}

TEST(RecurrentShapes, AttributesAreChecked) {
  const std::string inputs = std::string(kStates) + "f32[8,3]; f32[8,2]; f32[8]";
  const auto infer = [&](const std::string& activations) {
    return InferCell("opset4.LSTMCell", inputs, "hidden_size = 2, activations = \"" + activations + "\"");
  };
  EXPECT_EQ(infer("Sigmoid, Tanh, relu"), "f32[4,2]; f32[4,2]");
  EXPECT_EQ(infer("sigmoid,tanh"), "opset.attribute-value");
  EXPECT_EQ(infer("sigmoid,tanh,cosh"), "opset.attribute-value");
  EXPECT_EQ(infer(""), "opset.attribute-value");
  for (const char* size : {"0", "-1", "9223372036854775807"}) {
    EXPECT_EQ(InferCell("opset4.LSTMCell", inputs, std::string("hidden_size = ") + size),
              "opset.attribute-value");
  }
  EXPECT_EQ(InferCell("opset4.LSTMCell", inputs, ""), "opset.missing-attribute");
  for (const char* list : {"activations_alpha", "activations_beta"}) {
    const std::string items = std::string("hidden_size = 2, ") + list;
    EXPECT_EQ(InferCell("opset4.LSTMCell", inputs, items + " = [0.1,0.2,0.3]"), "f32[4,2]; f32[4,2]");
    EXPECT_EQ(InferCell("opset4.LSTMCell", inputs, items + " = [0.1,0.2,0.3,0.4]"), "opset.attribute-value");
  }
  EXPECT_EQ(InferCell("opset1.LSTMCell", inputs, "hidden_size = 2, input_forget = true"),
            "opset.attribute-value");
  EXPECT_EQ(InferCell("opset1.LSTMCell", inputs, "hidden_size = 2, weights_format = \"cofi\""),
            "opset.attribute-value");
}

// The list of activations has those of one direction, or of both directions of a bidirectional sequence.
TEST(RecurrentShapes, ActivationsOfOneDirectionOrBoth) {
  struct Kind {
    const char* op;
    const char* states;
    int64_t gates;
    size_t activations;
    const char* more_results;
  };
  for (const Kind& kind :
       {Kind{"opset5.LSTMSequence", "f32[4,D,2]; f32[4,D,2]", 4, 3, "; f32[4,D,2]; f32[4,D,2]"},
        Kind{"opset5.GRUSequence", "f32[4,D,2]", 3, 2, "; f32[4,D,2]"},
        Kind{"opset5.RNNSequence", "f32[4,D,2]", 1, 1, "; f32[4,D,2]"}}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      const bool is_both = std::string_view(direction) == "bidirectional";
      const auto fill = [&](std::string text) {
        for (size_t at; (at = text.find('D')) != std::string::npos;) text[at] = is_both ? '2' : '1';
        return text;
      };
      const std::string results = fill("f32[4,D,7,2]" + std::string(kind.more_results));
      const std::string inputs =
          fill(fmt::format("f32[4,7,3]; {}; i32[4]; f32[D,{},3]; f32[D,{},2]; f32[D,{}]", kind.states,
                           2 * kind.gates, 2 * kind.gates, 2 * kind.gates));
      for (size_t count = 1; count <= 2 * kind.activations + 1; ++count) {
        std::string list = "tanh";
        for (size_t i = 1; i < count; ++i) list += i % 2 == 0 ? ",tanh" : ", Relu";
        const bool fits = count == kind.activations || (is_both && count == 2 * kind.activations);
        const std::string attributes =
            fmt::format("hidden_size = 2, direction = \"{}\", activations = \"{}\"", direction, list);
        EXPECT_EQ(InferCase({0, kind.op, inputs, attributes, results}),
                  fits ? results : "opset.attribute-value")
            << kind.op << " " << attributes;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
