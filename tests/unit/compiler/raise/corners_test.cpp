// Corners of raising that the statements of raising_cases.txt do not show: data of variables, limits, and
// nodes that are a part of others.

#include <cmath>
#include <limits>

#include "compiler/ir/text/text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/raise/raising_support.h"

namespace nnefc::raise {
namespace {

using Lines = std::vector<std::string>;

std::string Input(int id, const std::string& name, const std::string& type) {
  const size_t bracket = type.find('[');
  return fmt::format("%{} = opset1.Parameter \"{}\" {{element_type = {}, shape = shape{}}} : {}\n", id, name,
                     type.substr(0, bracket), type.substr(bracket), type);
}

std::string Constant(int id, const std::string& name, const std::string& type, const std::string& items) {
  return fmt::format("%{0} = opset1.Const \"{1}\" : {2} = dense<{2}: {3}>\n", id, name, type, items);
}

// Returns "1, 2, .." of `count` numbers, or `count` times the same one.
std::string Numbers(int count, bool is_repeated = false) {
  std::string items;
  for (int i = 1; i <= count; ++i) items += fmt::format("{}{}", i == 1 ? "" : ", ", is_repeated ? 7 : i);
  return items;
}

std::vector<double> DataOf(const Raising& raising, const std::string& label) {
  const auto found = raising.raised().data.find(label);
  if (found == raising.raised().data.end()) return {};
  std::vector<double> items;
  for (int64_t i = 0; i < found->second.volume(); ++i) items.push_back(found->second.ElementAsDouble(i));
  return items;
}

// A causal mask adds minus infinity to the scores of later keys.
TEST(RaiseCorners, CausalMasks) {
  const Raising raising(Input(0, "q", "f32[1,2,4]") + Input(1, "k", "f32[1,3,4]") +
                        Input(2, "v", "f32[1,3,4]") +
                        "%3 = opset13.ScaledDotProductAttention \"y\" (%0, %1, %2) {causal = true} : "
                        "f32[1,2,4]\nopset1.Result \"y\" (%3)\n");
  ASSERT_TRUE(raising.ok());
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(DataOf(raising, "y/mask"), (std::vector<double>{0, -inf, -inf, 0, 0, -inf}));
}

// tract has no `clamp` of integers: the limits are rounded inward, and fit 64 bits.
TEST(RaiseCorners, LimitsOfIntegersInTract) {
  const auto limits = [](const std::string& min, const std::string& max) {
    const Raising raising(
        Input(0, "x", "i64[2]") +
            fmt::format("%1 = opset1.Clamp \"y\" (%0) {{min = {}, max = {}}} : i64[2]\n", min, max) +
            "opset1.Result \"y\" (%1)\n",
        false, Target::kTract);
    EXPECT_EQ(raising.Statements(),
              (Lines{"y_lowest = variable<integer>(shape = [1], label = 'y/lowest');",
                     "y_highest = variable<integer>(shape = [1], label = 'y/highest');",
                     "y_bounded = max(x, y_lowest);", "y = min(y_bounded, y_highest);"}));
    return std::pair(DataOf(raising, "y/lowest"), DataOf(raising, "y/highest"));
  };
  using Limits = std::pair<std::vector<double>, std::vector<double>>;
  EXPECT_EQ(limits("-1.5", "2.5"), (Limits{{-1}, {2}}));
  EXPECT_EQ(limits("1.5", "4.0"), (Limits{{2}, {4}}));
  EXPECT_EQ(limits("-1e30", "1e30"), (Limits{{-0x1p62}, {0x1p62}}));
}

TEST(RaiseCorners, TablesOfTract) {
  const Raising classes(Input(0, "x", "i64[2]") + Constant(1, "n", "i64[]", "3") +
                            Constant(2, "on", "f32[]", "5") + Constant(3, "off", "f32[]", "-1") +
                            "%4 = opset1.OneHot \"y\" (%0, %1, %2, %3) {axis = -1} : f32[2,3]\n"
                            "opset1.Result \"y\" (%4)\n",
                        false, Target::kTract);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(DataOf(classes, "y/classes"), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(DataOf(classes, "on"), std::vector<double>{5});
  EXPECT_EQ(DataOf(classes, "off"), std::vector<double>{-1});
  // One axis is picked by a table, another one sliced.
  const Raising picked(Input(0, "x", "f32[5,6]") + Constant(1, "b", "i64[2]", "4, 1") +
                           Constant(2, "e", "i64[2]", "-100, 5") + Constant(3, "s", "i64[2]", "-2, 2") +
                           "%4 = opset8.Slice \"y\" (%0, %1, %2, %3) : f32[3,2]\nopset1.Result \"y\" (%4)\n",
                       false, Target::kTract);
  ASSERT_TRUE(picked.ok());
  EXPECT_EQ(DataOf(picked, "y/indices_0"), (std::vector<double>{4, 2, 0}));
}

// The exact form of `sigmoid` in tract is that of a result of the graph, perhaps after up to eight
// rearrangements.
TEST(RaiseCorners, SigmoidsOfResultsInTract) {
  const auto is_exact = [](int rearrangements, const std::string& last, const std::string& more = "") {
    std::string body = Input(0, "x", "f32[2,3]") + "%1 = opset1.Sigmoid \"s\" (%0) : f32[2,3]\n";
    std::string shape = "[2,3]";
    int id = 2;
    for (int i = 0; i < rearrangements; ++i, id += 2) {
      shape = i % 2 == 0 ? "[3,2]" : "[2,3]";
      body += Constant(id - 1 + 50, "o", "i64[2]", "1, 0") +
              fmt::format("%{} = opset1.Transpose \"t\" (%{}, %{}) : f32{}\n", id, i == 0 ? 1 : id - 2,
                          id - 1 + 50, shape);
    }
    const int end = rearrangements == 0 ? 1 : id - 2;
    body += last.empty() ? fmt::format("opset1.Result \"y\" (%{})\n", end)
                         : fmt::format("%99 = opset1.{} \"l\" (%{}) : f32{}\nopset1.Result \"y\" (%99)\n",
                                       last, end, shape);
    const Raising raising(body + more, false, Target::kTract);
    EXPECT_TRUE(raising.ok());
    return raising.Document().find("= sigmoid(") == std::string::npos;
  };
  EXPECT_TRUE(is_exact(0, ""));
  EXPECT_FALSE(is_exact(0, "Exp"));
  EXPECT_TRUE(is_exact(0, "Exp", "opset1.Result \"z\" (%1)\n"));
  EXPECT_TRUE(is_exact(1, ""));
  EXPECT_FALSE(is_exact(1, "Exp"));
  EXPECT_TRUE(is_exact(1, "Exp", "opset1.Result \"z\" (%2)\n"));
  EXPECT_TRUE(is_exact(8, ""));
  EXPECT_FALSE(is_exact(9, ""));
}

// Up to 8 elements, or any number of equal ones, are written in the document; other constants are variables.
// NNEFC_opset needs the values of shapes: up to 256 integers of at most one axis are written.
TEST(RaiseCorners, ConstantsInTheDocument) {
  const auto is_listed = [](const std::string& type, const std::string& items, Target target,
                            const std::string& table = "f32[9]") {
    // The indices of a `gather`, or a summand.
    const bool is_integer = type.starts_with("i64");
    const std::string shape = type.substr(type.find('['));
    const Raising raising(
        Input(0, "x", is_integer ? table : "f32" + shape) + Constant(1, "c", type, items) +
            (is_integer ? Constant(2, "a", "i64[]", "0") +
                              fmt::format("%3 = opset8.Gather \"y\" (%0, %1, %2) : f32{}\n", shape)
                        : fmt::format("%3 = opset1.Multiply \"y\" (%0, %1) : f32{}\n", shape)) +
            "opset1.Result \"y\" (%3)\n",
        false, target);
    EXPECT_TRUE(raising.ok()) << type;
    const std::string document = raising.ok() ? raising.Document() : "";
    EXPECT_NE(document.find("constant") != std::string::npos, document.find("variable") != std::string::npos)
        << document;
    return document.find("constant") != std::string::npos;
  };
  for (const Target target : {Target::kRatified, Target::kNnefc}) {
    EXPECT_TRUE(is_listed("f32[8]", Numbers(8), target));
    EXPECT_FALSE(is_listed("f32[9]", Numbers(9), target));
    EXPECT_TRUE(is_listed("f32[9]", Numbers(9, /*is_repeated=*/true), target));
    EXPECT_FALSE(is_listed("f32[2]", "1.0, inf", target));
    EXPECT_FALSE(is_listed("f32[2]", "1.0, nan", target));
    EXPECT_TRUE(is_listed("i64[2,4]", "0, 2, 1, 2, 3, 4, 5, 6", target));
    EXPECT_FALSE(is_listed("i64[1,9]", "0, 2, 1, 2, 3, 4, 5, 6, 7", target));
  }
  EXPECT_FALSE(is_listed("f32[2]", "1.0, 2.0", Target::kTract));
  std::string indices = "1";
  for (int i = 1; i < 256; ++i) indices += i % 2 == 0 ? ", 1" : ", 0";
  EXPECT_TRUE(is_listed("i64[256]", indices, Target::kNnefc));
  EXPECT_FALSE(is_listed("i64[257]", indices + ", 1", Target::kNnefc));
  EXPECT_FALSE(is_listed("i64[256]", indices, Target::kRatified));
}

// The steps of all recurrent layers together are limited; each direction has its own.
TEST(RaiseCorners, StepsOfAllRecurrentLayers) {
  const auto sequence = [](int id, int steps, bool is_bidirectional, bool has_lengths = true) {
    const int directions = is_bidirectional ? 2 : 1;
    std::string body = Input(id, fmt::format("x{}", id), fmt::format("f32[1,{},1]", steps)) +
                       Input(id + 1, fmt::format("h{}", id), fmt::format("f32[1,{},1]", directions)) +
                       (has_lengths ? Constant(id + 2, "n", "i64[1]", std::to_string(steps))
                                    : Input(id + 2, fmt::format("n{}", id), "i64[1]"));
    for (int i = 3; i < 5; ++i)
      body += Input(id + i, fmt::format("w{}", id + i), fmt::format("f32[{},1,1]", directions));
    body += Input(id + 5, fmt::format("b{}", id), fmt::format("f32[{},1]", directions));
    return body + fmt::format(
                      "%{0}:2 = opset5.RNNSequence \"s{1}\" (%{1}, %{2}, %{3}, %{4}, %{5}, %{6}) "
                      "{{hidden_size = 1, direction = \"{7}\"}} : f32[1,{8},{9},1], f32[1,{8},1]\n"
                      "opset1.Result \"y{1}\" (%{0}.1)\n",
                      id + 6, id, id + 1, id + 2, id + 3, id + 4, id + 5,
                      is_bidirectional ? "bidirectional" : "forward", directions, steps);
  };
  const auto message = [](const std::string& body) {
    const Raising raising(body, {.unrolls = true});
    const std::string first = raising.ok() ? "" : raising.Messages().front();
    return first.empty() ? ""
                         : first.substr(first.find("its "), first.find(" of a model") - first.find("its "));
  };
  EXPECT_EQ(message(sequence(0, 4096, true)), "");
  EXPECT_EQ(message(sequence(0, 4097, true)), "its 4097 steps exceed the 8192");
  EXPECT_EQ(message(sequence(0, 2048, true) + sequence(10, 4096, false)), "");
  EXPECT_EQ(message(sequence(0, 2048, true) + sequence(10, 4097, false)), "its 4097 steps exceed the 8192");
  EXPECT_EQ(message(sequence(0, 8192, false) + sequence(10, 1, false)), "its 1 steps exceed the 8192");
  // The steps of a layer that remains, since its lengths depend on data, do not count.
  const Raising raising(sequence(0, 8192, false, false) + sequence(10, 1, false),
                        {.target = Target::kNnefc, .unrolls = true});
  ASSERT_TRUE(raising.ok());
  int left = 0;
  for (const std::string& statement : raising.Statements())
    left += statement.find("opset5_RNNSequence(") != std::string::npos ? 1 : 0;
  EXPECT_EQ(left, 1);
}

// Only a convolution or a matrix multiplication has a bias: an addition after another operation remains.
TEST(RaiseCorners, AdditionsAfterOtherOperations) {
  for (const auto& [operation, name] : {std::pair("opset1.ReLU", "relu"), {"opset1.Exp", "exp"}}) {
    const Raising raising(Input(0, "x", "f32[1,3,4]") + Constant(1, "c", "f32[1,3,1]", "1.0, 2.0, 3.0") +
                          fmt::format("%2 = {} \"r\" (%0) : f32[1,3,4]\n", operation) +
                          "%3 = opset1.Add \"y\" (%2, %1) : f32[1,3,4]\nopset1.Result \"y\" (%3)\n");
    EXPECT_EQ(raising.Statements(),
              (Lines{fmt::format("r = {}(x);", name),
                     "c = constant(shape = [1, 3], value = [1.0, 2.0, 3.0]);", "y = add(r, c);"}));
  }
}

// An operation of NNEFC_opset has no bias: additions and normalizations after it remain.
TEST(RaiseCorners, OperationsOfNnefcOpsetAbsorbNothing) {
  const std::string bias = Constant(10, "b", "f32[1,2,1]", "0.25, 0.5") +
                           "%11 = opset1.Add \"y\" (%2, %10) : f32[1,2,6]\nopset1.Result \"y\" (%11)\n";
  const auto last = [](const std::string& body, bool folds = false) {
    const Raising raising(body, {.target = Target::kNnefc, .folds_batch_normalization = folds});
    EXPECT_TRUE(raising.ok());
    return raising.ok() ? raising.Statements().back() : "";
  };
  const auto convolution = [](const std::string& input, const std::string& filter) {
    return Input(0, "x", input) + filter +
           "%2 = opset1.Convolution \"conv\" (%0, %1) {strides = [1], dilations = [1], pads_begin = [0], "
           "pads_end = [0]} : f32[1,2,6]\n";
  };
  EXPECT_EQ(last(convolution("f32[1,3,8]", Input(1, "w", "f32[2,3,3]")) + bias),
            "y = conv(x, w, b, padding = [(0, 0)]);");
  EXPECT_EQ(last(convolution("f32[1,3,8]", Input(1, "w", "f32[2,?,3]")) + bias), "y = add(conv, b);");
  EXPECT_EQ(last(convolution("f32[1,?,8]", Input(1, "w", "f32[2,3,3]")) + bias), "y = add(conv, b);");
  // A form of the standard that declines.
  EXPECT_EQ(last(Input(0, "x", "f32[1,1,3]") + Input(1, "w", "f32[1,2,3]") + Constant(3, "n", "i64[1]", "6") +
                 "%2 = opset1.ConvolutionBackpropData \"conv\" (%0, %1, %3) {strides = [2], dilations = [1], "
                 "pads_begin = [1], pads_end = [0], auto_pad = \"explicit\", output_padding = [0]} : "
                 "f32[1,2,6]\n" +
                 bias),
            "y = add(conv, b);");
  EXPECT_EQ(last(Input(0, "x", "f32[2,?]") + Constant(1, "w", "f32[3,2]", "1, 2, 3, 4, 5, 6") +
                 "%2 = opset1.MatMul \"p\" (%0, %1) {transpose_b = false} : f32[2,2]\n" +
                 Constant(3, "b", "f32[2]", "0.25, 0.5") +
                 "%4 = opset1.Add \"y\" (%2, %3) : f32[2,2]\nopset1.Result \"y\" (%4)\n"),
            "y = add(p, b);");
  const std::string norm = Constant(10, "g", "f32[2]", "1, 2") + Constant(11, "s", "f32[2]", "3, 4") +
                           Constant(12, "m", "f32[2]", "5, 6") + Constant(13, "v", "f32[2]", "7, 8") +
                           "%14 = opset5.BatchNormInference \"y\" (%2, %10, %11, %12, %13) {epsilon = 1.0} : "
                           "f32[1,2,6]\nopset1.Result \"y\" (%14)\n";
  const std::string filter = Constant(1, "w", "f32[2,3,3]", Numbers(18));
  EXPECT_EQ(last(convolution("f32[1,3,8]", filter) + norm, true),
            "y = conv(x, w, y_bias, padding = [(0, 0)]);");
  EXPECT_EQ(last(convolution("f32[1,?,8]", filter) + norm, true), "y = add(y_scaled, y_shift);");
}

// A number is no value for each channel, and scales of a filter that is an input are unknown.
TEST(RaiseCorners, AdditionsAndNormalizationsThatRemain) {
  const auto statements = [](const std::string& filter, const std::string& more) {
    const Raising raising(Input(0, "x", "f32[1,3,8]") + filter +
                              "%2 = opset1.Convolution \"conv\" (%0, %1) {strides = [1], dilations = [1], "
                              "pads_begin = [1], pads_end = [1]} : f32[1,2,8]\n" +
                              more,
                          {.folds_batch_normalization = true});
    EXPECT_TRUE(raising.ok());
    return raising.ok() ? raising.Statements() : Lines{""};
  };
  for (const char* shape : {"[]", "[1]", "[1,1]", "[1,1,1]"}) {
    EXPECT_EQ(statements(Input(1, "w", "f32[2,3,3]"),
                         Constant(3, "b", fmt::format("f32{}", shape), "0.5") +
                             "%4 = opset1.Add \"y\" (%2, %3) : f32[1,2,8]\nopset1.Result \"y\" (%4)\n")
                  .back(),
              "y = add(conv, 0.5);")
        << shape;
  }
  const std::string norm = Constant(10, "g", "f32[2]", "1, 2") + Constant(11, "s", "f32[2]", "3, 4") +
                           Constant(12, "m", "f32[2]", "5, 6") + Constant(13, "v", "f32[2]", "7, 8") +
                           "%14 = opset5.BatchNormInference \"y\" (%2, %10, %11, %12, %13) {epsilon = 1.0} : "
                           "f32[1,2,8]\nopset1.Result \"y\" (%14)\n";
  EXPECT_EQ(statements(Input(1, "w", "f32[2,3,3]"), norm).back(), "y = add(y_scaled, y_shift);");
  EXPECT_EQ(statements(Constant(1, "w", "f32[2,3,3]", Numbers(18)), norm).back(), "y = conv(x, w, y_bias);");
}

// The steps of a sequence end at its own length; a reverse one begins with its last step.
TEST(RaiseCorners, StepsOfSequences) {
  const auto statements = [](const std::string& lengths, const std::string& direction) {
    const Raising raising(
        Input(0, "x", "f32[2,3,1]") + Input(1, "h", "f32[2,1,1]") + Constant(2, "n", "i64[2]", lengths) +
            Input(3, "w", "f32[1,1,1]") + Input(4, "r", "f32[1,1,1]") + Input(5, "b", "f32[1,1]") +
            "%6:2 = opset5.RNNSequence \"s\" (%0, %1, %2, %3, %4, %5) {hidden_size = 1, direction = \"" +
            direction +
            "\"} : f32[2,1,3,1], f32[2,1,1]\nopset1.Result \"all\" (%6.0)\n"
            "opset1.Result \"last\" (%6.1)\n",
        {.unrolls = true});
    EXPECT_TRUE(raising.ok());
    std::string text;
    for (const std::string& statement : raising.ok() ? raising.Statements() : Lines())
      text += statement + "\n";
    return text.substr(text.find("s_recurrent_"));
  };
  EXPECT_EQ(statements("3, 3", "forward"),
            "s_recurrent_0 = matmul(s_shaped_1, s_shaped_4, transposeB = true);\n"
            "s_sums_0 = add(s_inputs_of, s_recurrent_0);\ns_state_0 = tanh(s_sums_0);\n"
            "s_recurrent_1 = matmul(s_state_0, s_shaped_4, transposeB = true);\n"
            "s_sums_1 = add(s_inputs_of_1, s_recurrent_1);\ns_state_1 = tanh(s_sums_1);\n"
            "s_recurrent_2 = matmul(s_state_1, s_shaped_4, transposeB = true);\n"
            "s_sums_2 = add(s_inputs_of_2, s_recurrent_2);\ns_state_2 = tanh(s_sums_2);\n"
            "s_sequence = stack([s_state_0, s_state_1, s_state_2], axis = 1);\n"
            "all = unsqueeze(s_sequence, axes = [1]);\nlast = unsqueeze(s_state_2, axes = [1]);\n");
  EXPECT_EQ(statements("3, 3", "reverse"),
            "s_recurrent_2 = matmul(s_shaped_1, s_shaped_4, transposeB = true);\n"
            "s_sums_2 = add(s_inputs_of_2, s_recurrent_2);\ns_state_2 = tanh(s_sums_2);\n"
            "s_recurrent_1 = matmul(s_state_2, s_shaped_4, transposeB = true);\n"
            "s_sums_1 = add(s_inputs_of_1, s_recurrent_1);\ns_state_1 = tanh(s_sums_1);\n"
            "s_recurrent_0 = matmul(s_state_1, s_shaped_4, transposeB = true);\n"
            "s_sums_0 = add(s_inputs_of, s_recurrent_0);\ns_state_0 = tanh(s_sums_0);\n"
            "s_sequence = stack([s_state_0, s_state_1, s_state_2], axis = 1);\n"
            "all = unsqueeze(s_sequence, axes = [1]);\nlast = unsqueeze(s_state_0, axes = [1]);\n");
  EXPECT_EQ(statements("3, 1", "forward"),
            "s_recurrent_0 = matmul(s_shaped_1, s_shaped_4, transposeB = true);\n"
            "s_sums_0 = add(s_inputs_of, s_recurrent_0);\n"
            "s_state_0 = tanh(s_sums_0);\n"
            "s_recurrent_1 = matmul(s_state_0, s_shaped_4, transposeB = true);\n"
            "s_sums_1 = add(s_inputs_of_1, s_recurrent_1);\n"
            "s_state_1 = tanh(s_sums_1);\n"
            "s_is_within_1 = constant<logical>(shape = [2, 1], value = [true, false]);\n"
            "s_result_1 = select(s_is_within_1, s_state_1, s_zeros);\n"
            "s_is_within_1_2 = constant<logical>(shape = [2, 1], value = [true, false]);\n"
            "s_last_state_1 = select(s_is_within_1_2, s_state_1, s_state_0);\n"
            "s_recurrent_2 = matmul(s_last_state_1, s_shaped_4, transposeB = true);\n"
            "s_sums_2 = add(s_inputs_of_2, s_recurrent_2);\n"
            "s_state_2 = tanh(s_sums_2);\n"
            "s_is_within_2 = constant<logical>(shape = [2, 1], value = [true, false]);\n"
            "s_result_2 = select(s_is_within_2, s_state_2, s_zeros);\n"
            "s_is_within_2_2 = constant<logical>(shape = [2, 1], value = [true, false]);\n"
            "s_last_state_2 = select(s_is_within_2_2, s_state_2, s_last_state_1);\n"
            "s_sequence = stack([s_state_0, s_result_1, s_result_2], axis = 1);\n"
            "all = unsqueeze(s_sequence, axes = [1]);\n"
            "last = unsqueeze(s_last_state_2, axes = [1]);\n");
  EXPECT_EQ(statements("1, 2", "reverse"),
            "s_recurrent_1 = matmul(s_shaped_1, s_shaped_4, transposeB = true);\n"
            "s_sums_1 = add(s_inputs_of_1, s_recurrent_1);\n"
            "s_state_1 = tanh(s_sums_1);\n"
            "s_is_within_1 = constant<logical>(shape = [2, 1], value = [false, true]);\n"
            "s_result_1 = select(s_is_within_1, s_state_1, s_zeros);\n"
            "s_is_within_1_2 = constant<logical>(shape = [2, 1], value = [false, true]);\n"
            "s_last_state_1 = select(s_is_within_1_2, s_state_1, s_shaped_1);\n"
            "s_recurrent_0 = matmul(s_last_state_1, s_shaped_4, transposeB = true);\n"
            "s_sums_0 = add(s_inputs_of, s_recurrent_0);\n"
            "s_state_0 = tanh(s_sums_0);\n"
            "s_sequence = stack([s_state_0, s_result_1, s_zeros], axis = 1);\n"
            "all = unsqueeze(s_sequence, axes = [1]);\n"
            "last = unsqueeze(s_state_0, axes = [1]);\n");
}

// Repetitions are not computed if their extents are samples of open ones.
TEST(RaiseCorners, RepetitionsThatRemain) {
  const auto last = [](bool keeps_repetition) {
    Context context(semantics::StandardLibrary::Shared().base());
    const std::string text = "graph \"g\" {\n" + Input(0, "x", "f32[5]") + Constant(1, "c", "f32[1]", "2.5") +
                             Constant(2, "n", "i64[1]", "5") +
                             "%3 = opset3.Broadcast \"b\" (%1, %2) {mode = \"numpy\"} : f32[5]\n"
                             "%4 = opset1.Add \"y\" (%3, %0) : f32[5]\nopset1.Result \"y\" (%4)\n}\n";
    const auto graph = ir::ParseGraph(context.sources.AddText("graph", text), ir::StandardOps(), context);
    EXPECT_NE(graph, nullptr);
    int evaluated = 0;
    const auto evaluate = [&](const ir::Node&, llvm::ArrayRef<ir::Output>, llvm::ArrayRef<TensorValue>) {
      ++evaluated;
      return std::optional(std::vector{TensorValue::Filled(ElementType::kF32, {5}, 2.5)});
    };
    const auto raised =
        RaiseGraph(*graph, {.evaluate = evaluate, .keeps_repetition = keeps_repetition}, context);
    EXPECT_TRUE(raised.has_value());
    std::string operations;
    for (ir::NodeId id : raised->graph->nodes()) operations += raised->graph->node(id).type() + " ";
    return fmt::format("{}: {}", evaluated, operations);
  };
  EXPECT_EQ(last(false), "1: external constant add Result ");
  EXPECT_EQ(last(true), "0: external constant tile add Result ");
}

// A graph may omit the last outputs of a node.
TEST(RaiseCorners, OmittedOutputs) {
  const auto statement = [](const std::string& body, Target target) {
    const Raising raising(body + "opset1.Result \"y\" (%9)\n", false, target);
    EXPECT_TRUE(raising.ok());
    return raising.ok() ? raising.Statements().back() : "";
  };
  const auto top = [](int count) {
    return Input(0, "x", "f32[2,3]") + Constant(1, "k", "i64[]", std::to_string(count)) +
           fmt::format(
               "%9 = opset11.TopK \"t\" (%0, %1) {{axis = 1, mode = \"max\", sort = \"value\", "
               "index_element_type = i64}} : f32[2,{}]\n",
               count);
  };
  EXPECT_EQ(statement(top(1), Target::kRatified), "y = max_reduce(x, axes = [1]);");
  EXPECT_EQ(statement(top(2), Target::kTract),
            "y, t_tract_core_topk_1 = tract_core_topk(x, k = 2, axis = 1);");
  EXPECT_EQ(statement(Input(0, "x", "f32[1,3,8]") + Constant(1, "n", "i64[1]", "4") +
                          "%9 = opset8.AdaptiveMaxPool \"p\" (%0, %1) {index_element_type = i64} : "
                          "f32[1,3,4]\n",
                      Target::kRatified),
            "y = max_pool(x, size = [1, 1, 2], stride = [1, 1, 2]);");
  EXPECT_EQ(statement(Input(0, "x", "f32[1,3]") + Input(1, "h", "f32[1,2]") + Input(2, "c", "f32[1,2]") +
                          Input(3, "w", "f32[8,3]") + Input(4, "r", "f32[8,2]") +
                          "%9 = opset1.LSTMCell \"l\" (%0, %1, %2, %3, %4) {hidden_size = 2} : f32[1,2]\n",
                      Target::kRatified),
            "y = mul(l_output, l_active);");
}

// A constant with a name of a framework is named after its operand, those of a list after their numbers.
TEST(RaiseCorners, NamesOfConstantOperands) {
  const Raising raising(
      "%0 = opset1.Const \"Constant_1\" : f32[2] = dense<f32[2]: 0.5, 0.25>\n"
      "%1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "%2 = opset1.Const \"Constant_2\" : f32[2] = dense<f32[2]: 0.5, 0.125>\n"
      "%3 = opset1.Concat \"y\" (%0, %1, %2) {axis = 0} : f32[6]\nopset1.Result \"y\" (%3)\n");
  ASSERT_TRUE(raising.ok());
  const std::vector<std::string> expected = {"y_value_0 = constant(shape = [2], value = [0.5, 0.25]);",
                                             "y_value_2 = constant(shape = [2], value = [0.5, 0.125]);",
                                             "y = concat([y_value_0, x, y_value_2], axis = 0);"};
  EXPECT_EQ(raising.Statements(), expected);
}

// A selection of one element is a reduction for each output that is used.
TEST(RaiseCorners, OutputsOfOneElement) {
  const auto statements = [](int output) {
    const Raising raising(Input(0, "x", "f32[2,3]") + Constant(1, "k", "i64[]", "1") +
                          fmt::format("%2:2 = opset11.TopK \"t\" (%0, %1) {{axis = 1, mode = \"max\", sort = "
                                      "\"value\", index_element_type = i64}} : f32[2,1], i64[2,1]\n"
                                      "opset1.Result \"y\" (%2.{})\n",
                                      output));
    EXPECT_TRUE(raising.ok());
    return raising.ok() ? raising.Statements() : Lines();
  };
  EXPECT_EQ(statements(0), Lines{"y = max_reduce(x, axes = [1]);"});
  EXPECT_EQ(statements(1), Lines{"y = argmax_reduce(x, axes = [1]);"});
}

// The steps of both directions have their names; the forward direction is written first. An operation of
// NNEFC_opset remains unless it is unrolled.
TEST(RaiseCorners, DirectionsOfSequences) {
  const auto text = [](Target target, bool unrolls) {
    std::string body = Input(0, "x", "f32[2,3,1]") + Input(1, "h", "f32[2,2,1]") +
                       Constant(2, "n", "i64[2]", "3, 3") + Input(3, "w", "f32[2,1,1]") +
                       Input(4, "r", "f32[2,1,1]") + Input(5, "b", "f32[2,1]");
    body +=
        "%6:2 = opset5.RNNSequence \"s\" (%0, %1, %2, %3, %4, %5) {hidden_size = 1, direction = "
        "\"bidirectional\"} : f32[2,2,3,1], f32[2,2,1]\nopset1.Result \"y\" (%6.0)\n";
    const Raising raising(body, {.target = target, .unrolls = unrolls});
    EXPECT_TRUE(raising.ok());
    std::string text;
    for (const std::string& statement : raising.ok() ? raising.Statements() : Lines())
      text += statement + "\n";
    return text;
  };
  for (const Target target : {Target::kRatified, Target::kNnefc}) {
    const std::string unrolled = text(target, true);
    EXPECT_EQ(unrolled.find("RNNSequence"), std::string::npos);
    for (const char* what : {"recurrent_0", "sums_1", "state_2", "sequence"}) {
      const size_t forward = unrolled.find(fmt::format("s_forward_{} = ", what));
      const size_t backward = unrolled.find(fmt::format("s_backward_{} = ", what));
      EXPECT_NE(backward, std::string::npos) << what;
      EXPECT_LT(forward, backward) << what;
    }
  }
  EXPECT_NE(text(Target::kNnefc, false).find("opset5_RNNSequence("), std::string::npos);
}

std::string Read(int id, const std::string& name, const std::string& initial, const std::string& type) {
  return fmt::format(
      "%{} = opset6.ReadValue \"{}\" ({}) {{variable_id = \"sum\", variable_type = f32, variable_shape = "
      "shape{}}} : {}\n",
      id, name, initial, type.substr(type.find('[')), type);
}

// All readers of a state see one value: in the first cycle the one that the first of them has.
TEST(RaiseCorners, StatesThatAreReadTwice) {
  const std::string begin = Input(0, "x", "f32[2]") + Constant(1, "a", "f32[2]", "1.0, 2.0") +
                            Constant(2, "b", "f32[2]", "3.0, 4.0") + Read(3, "r", "%1", "f32[2]");
  const std::string end =
      "%6 = opset6.Assign \"w\" (%5) {variable_id = \"sum\"} : f32[2]\nopset1.Result \"y\" (%5)\n";
  const Raising twice(begin + Read(4, "s", "%2", "f32[2]") +
                      "%5 = opset1.Multiply \"m\" (%3, %4) {} : f32[2]\n" + end + "sinks (%6)\n");
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice.Statements(),
            (Lines{"r = variable(shape = [2], label = 'sum');", "y = mul(r, r);", "w = update(r, y);"}));
  EXPECT_EQ(twice.raised().data.size(), 1u);
  EXPECT_EQ(DataOf(twice, "sum"), (std::vector<double>{1, 2}));
  const auto refused = [](const Raising& raising, const std::string& reason) {
    EXPECT_FALSE(raising.ok());
    ASSERT_EQ(raising.Messages().size(), 1u);
    EXPECT_NE(raising.Messages().front().find(reason), std::string::npos) << raising.Messages().front();
  };
  refused(Raising(begin + Constant(7, "c", "f32[1]", "5.0") + Read(4, "s", "%7", "f32[1]") +
                  "%5 = opset1.Multiply \"m\" (%3, %4) {} : f32[2]\n" + end + "sinks (%6)\n"),
          "another ReadValue of its variable has another shape");
  refused(Raising(begin + "%5 = opset1.Multiply \"m\" (%3, %0) {} : f32[2]\n" + end +
                  "%8 = opset6.Assign \"v\" (%0) {variable_id = \"sum\"} : f32[2]\nsinks (%6, %8)\n"),
          "its variable has another Assign");
}

// tract pads what negative padding leaves.
TEST(RaiseCorners, NegativePaddingInTract) {
  const auto raised = [](int begin, int end) {
    return Raising(
        Input(0, "x", "f32[4]") + Constant(1, "b", "i64[1]", std::to_string(begin)) +
            Constant(2, "e", "i64[1]", std::to_string(end)) +
            fmt::format("%3 = opset12.Pad \"y\" (%0, %1, %2) {{pad_mode = \"constant\"}} : f32[{}]\n",
                        4 + begin + end) +
            "opset1.Result \"y\" (%3)\n",
        {.target = Target::kTract});
  };
  const Raising one = raised(-3, 2);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.Statements(), (Lines{"y_slice = slice(x, axes = [0], begin = [3], end = [4]);",
                                     "y = pad(y_slice, padding = [(0, 2)]);"}));
  // Padding alone is left.
  for (const auto& [begin, end] : {std::pair(-4, 3), {-5, 3}, {3, -4}, {3, -5}, {-2, -2}}) {
    const Raising none = raised(begin, end);
    EXPECT_FALSE(none.ok()) << begin << end;
    ASSERT_EQ(none.Messages().size(), 1u);
    EXPECT_NE(none.Messages().front().find("removes all elements of axis 0"), std::string::npos)
        << none.Messages().front();
  }
}

// Integers in files are those of NNEF, whatever type they had.
TEST(RaiseCorners, IntegersInFiles) {
  std::string items = "0";
  for (int i = 1; i < 300; ++i) items += fmt::format(", {}", i % 100);
  for (const char* type : {"i8", "u8", "i32", "i64"}) {
    const Raising raising(
        Constant(0, "c", fmt::format("{}[300]", type), items) + "opset1.Result \"y\" (%0)\n",
        {.target = Target::kNnefc});
    ASSERT_TRUE(raising.ok()) << type;
    ASSERT_EQ(raising.raised().data.size(), 1u) << type;
    EXPECT_EQ(raising.raised().data.begin()->second.type(), ElementType::kI64) << type;
  }
}

}  // namespace
}  // namespace nnefc::raise
