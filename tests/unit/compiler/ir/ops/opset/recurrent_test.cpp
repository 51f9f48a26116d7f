// Where the shape functions of recurrent operations know more than OpenVINO's.

#include "compiler/ir/ops/opset/recurrent.h"

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::testing {
namespace {

std::string Cell(const std::string& op, const std::string& inputs, const std::string& attributes) {
  // The last item tells how many outputs there are.
  return InferCase({0, op, inputs, attributes, op.ends_with("LSTMCell") ? "f32[]; f32[]" : "f32[]"});
}

const char kStates[] = "f32[4,3]; f32[4,2]; f32[4,2]; ";

TEST(RecurrentShapes, BiasMayBeLeftOut) {
  const std::string weights = std::string(kStates) + "f32[8,3]; f32[8,2]";
  EXPECT_EQ(Cell("opset1.LSTMCell", weights, "hidden_size = 2"), "f32[4,2]; f32[4,2]");
  EXPECT_EQ(Cell("opset4.LSTMCell", weights, "hidden_size = 2"), "opset.number-of-inputs");
  EXPECT_EQ(Cell("opset1.RNNCell", "f32[4,3]; f32[4,2]; f32[2,3]; f32[2,2]", "hidden_size = 2"),
            "opset.number-of-inputs");
}

// Old converters put W and R side by side.
TEST(RecurrentShapes, WeightsMayBeJoined) {
  for (const char* op : {"opset1.LSTMCell", "opset4.LSTMCell"}) {
    EXPECT_EQ(Cell(op, std::string(kStates) + "f32[8,5]; f32[8]", "hidden_size = 2"), "f32[4,2]; f32[4,2]");
    EXPECT_EQ(Cell(op, std::string(kStates) + "f32[8,3]; f32[8]", "hidden_size = 2"), "opset.extent");
    EXPECT_EQ(Cell(op, std::string(kStates) + "f32[8,5]; f32[2]", "hidden_size = 2"), "opset.extent");
  }
}

TEST(RecurrentShapes, ElementTypesAgree) {
  EXPECT_EQ(Cell("opset4.LSTMCell", std::string(kStates) + "f32[8,3]; f32[8,2]; f64[8]", "hidden_size = 2"),
            "opset.element-type");
  EXPECT_EQ(Cell("opset5.RNNSequence", "f32[4,7,3]; f32[4,1,2]; i32[4]; f32[1,2,3]; f16[1,2,2]; f32[1,2]",
                 "hidden_size = 2, direction = \"forward\""),
            "opset.element-type");
}

TEST(RecurrentShapes, WeightsFitInputsAndState) {
  const std::string weights = "f32[8,3]; f32[8,2]; f32[8]";
  EXPECT_EQ(Cell("opset4.LSTMCell", kStates + weights, "hidden_size = 3"), "opset.extent");
  EXPECT_EQ(Cell("opset1.RNNCell", "f32[4,3]; f32[4,2]; f32[2,4]; f32[2,2]; f32[2]", "hidden_size = 2"),
            "opset.extent");
}

TEST(RecurrentShapes, AttributesAreChecked) {
  const std::string inputs = std::string(kStates) + "f32[8,3]; f32[8,2]; f32[8]";
  const auto infer = [&](const std::string& more) {
    return Cell("opset4.LSTMCell", inputs, "hidden_size = 2, activations = \"" + more + "\"");
  };
  EXPECT_EQ(infer("Sigmoid, Tanh, relu"), "f32[4,2]; f32[4,2]");
  EXPECT_EQ(infer("sigmoid,tanh"), "opset.attribute-value");
  EXPECT_EQ(infer("sigmoid,tanh,cosh"), "opset.attribute-value");
  EXPECT_EQ(infer(""), "opset.attribute-value");
  for (const char* size : {"0", "-1", "9223372036854775807"}) {
    EXPECT_EQ(Cell("opset4.LSTMCell", inputs, std::string("hidden_size = ") + size), "opset.attribute-value");
  }
  EXPECT_EQ(Cell("opset4.LSTMCell", inputs, ""), "opset.missing-attribute");
  EXPECT_EQ(Cell("opset1.LSTMCell", inputs, "hidden_size = 2, input_forget = true"), "opset.attribute-value");
  EXPECT_EQ(Cell("opset1.LSTMCell", inputs, "hidden_size = 2, weights_format = \"cofi\""),
            "opset.attribute-value");
}

}  // namespace
}  // namespace nnefc::testing
