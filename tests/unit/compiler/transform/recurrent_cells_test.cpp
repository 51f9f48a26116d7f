// Steps of recurrent layers that documents write gate by gate.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class RecurrentCellsTest : public TransformTest {
 protected:
  std::string After(const std::string& text) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(text));
    if (graph_ == nullptr) return "no graph";
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {"middle.RecurrentStepFusion"}}), "");
    return Brief(*graph_);
  }
  // Returns the elements of a constant input of the node with that name.
  std::vector<double> ElementsOf(const std::string& name, int32_t input) {
    for (ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).name() != name) continue;
      const TensorValue& value = *graph_->output(graph_->node(id).input(input)).value;
      std::vector<double> elements;
      for (int64_t i = 0; i < value.volume(); ++i) elements.push_back(value.ElementAsDouble(i));
      return elements;
    }
    ADD_FAILURE() << "there is no `" << name << "`";
    return {};
  }

  std::unique_ptr<ir::Graph> graph_;
};

std::string Constant(const std::string& id, const std::string& shape, const std::string& elements) {
  return "  %" + id + " = opset1.Const \"" + id + "\" : f32" + shape + " = dense<f32" + shape + ": " +
         elements + ">\n";
}
std::string Add(const std::string& id, const std::string& operation, const std::string& inputs,
                const std::string& attributes = "", const std::string& shape = "[1,1]") {
  return "  %" + id + " = opset1." + operation + " \"" + id + "\" (" + inputs + ") " + attributes + " : f32" +
         shape + "\n";
}
std::string Parameter(const std::string& id, const std::string& shape) {
  return "  %" + id + " = opset1.Parameter \"" + id + "\" {element_type = f32, shape = " + shape + "} : f32" +
         shape + "\n";
}

const std::string kTransposed = "{transpose_a = false, transpose_b = true}";

// Gates of one unit of x [1,2] and h [1,1], concatenated in the order i, f, g, o.
std::string Gates() {
  return Parameter("x", "[1,2]") + Parameter("h", "[1,1]") + Parameter("c", "[1,1]") +
         Constant("w", "[4,2]", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0") +
         Constant("r", "[1,4]", "10.0, 20.0, 30.0, 40.0") + Constant("b", "[4]", "0.5, 1.5, 2.5, 3.5") +
         Add("xw", "MatMul", "%x, %w", kTransposed, "[1,4]") +
         Add("hr", "MatMul", "%h, %r", "{transpose_a = false, transpose_b = false}", "[1,4]") +
         Add("sum", "Add", "%hr, %xw", "", "[1,4]") + Add("all", "Add", "%b, %sum", "", "[1,4]") +
         "  %axis = opset1.Const \"axis\" : i64[] = dense<i64[]: -1>\n"
         "  %g:4 = opset1.Split \"g\" (%all, %axis) {num_splits = 4} : f32[1,1], f32[1,1], f32[1,1], "
         "f32[1,1]\n";
}

struct Lstm {
  std::string candidate = "Tanh";
  std::string output = "Tanh";
  std::string kept = "%fs, %c";
  std::string more = "";  // further results
};
std::string TextOf(const Lstm& form) {
  return Gates() + Add("is", "Sigmoid", "%g") + Add("fs", "Sigmoid", "%g.1") +
         Add("gt", form.candidate, "%g.2") + Add("os", "Sigmoid", "%g.3") + Add("fc", "Multiply", form.kept) +
         Add("ig", "Multiply", "%gt, %is") + Add("cn", "Add", "%ig, %fc") + Add("ct", form.output, "%cn") +
         Add("hn", "Multiply", "%ct, %os") + "  opset1.Result \"y\" (%hn)\n  opset1.Result \"z\" (%cn)\n" +
         form.more;
}

TEST_F(RecurrentCellsTest, LstmGatesInAnyOrder) {
  EXPECT_EQ(
      After(TextOf(Lstm{})),
      "Parameter(x) Parameter(h) Parameter(c) Const(hn/w) Const(hn/r) Const(hn/b) LSTMCell(hn: x, h, c, "
      "hn/w, hn/r, hn/b) Result(y: hn) Result(z: hn.1)");
  // The rows of f, i, c and o.
  EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{3, 4, 1, 2, 5, 6, 7, 8}));
  EXPECT_EQ(ElementsOf("hn", 4), (std::vector<double>{20, 10, 30, 40}));
  EXPECT_EQ(ElementsOf("hn", 5), (std::vector<double>{1.5, 0.5, 2.5, 3.5}));
}

// "%a, %b", or the other way round.
std::string InOrder(const std::string& a, const std::string& b, bool is_swapped) {
  return is_swapped ? b + ", " + a : a + ", " + b;
}

TEST_F(RecurrentCellsTest, LstmOperandsInAnyOrder) {
  const std::string cell = After(TextOf(Lstm{}));
  ASSERT_NE(cell.find("LSTMCell"), std::string::npos);
  for (int order = 0; order < 16; ++order) {
    const auto inputs = [&](const char* a, const char* b, int bit) {
      return InOrder(a, b, (order >> bit & 1) != 0);
    };
    const std::string text =
        Gates() + Add("is", "Sigmoid", "%g") + Add("fs", "Sigmoid", "%g.1") + Add("gt", "Tanh", "%g.2") +
        Add("os", "Sigmoid", "%g.3") + Add("fc", "Multiply", inputs("%fs", "%c", 0)) +
        Add("ig", "Multiply", inputs("%is", "%gt", 1)) + Add("cn", "Add", inputs("%fc", "%ig", 2)) +
        Add("ct", "Tanh", "%cn") + Add("hn", "Multiply", inputs("%os", "%ct", 3)) +
        "  opset1.Result \"y\" (%hn)\n  opset1.Result \"z\" (%cn)\n";
    EXPECT_EQ(After(text), cell) << order;
    EXPECT_EQ(ElementsOf("hn", 4), (std::vector<double>{20, 10, 30, 40})) << order;
  }
}

// Sums are read up to a depth of 15 operations above the products. What is deeper is no term that may be
// lost.
TEST_F(RecurrentCellsTest, LstmGatesOfManySums) {
  // The gates are `first` after `count` sums with a bias, and `second`.
  const auto is_cell = [&](const std::string& first, const std::string& second, int count) {
    std::string sums, last = first;
    for (int i = 0; i < count; ++i) {
      const std::string name(static_cast<size_t>(i) + 1, 'm');
      sums += Add(name, "Add", last + ", %b", "", "[1,4]");
      last = "%" + name;
    }
    std::string text = Parameter("e", "[1,4]") + TextOf(Lstm{});
    const std::string all = Add("all", "Add", "%b, %sum", "", "[1,4]");
    text.replace(text.find(all), all.size(), sums + Add("all", "Add", second + ", " + last, "", "[1,4]"));
    return After(text).find("LSTMCell") != std::string::npos;
  };
  for (const int count : {0, 1, 11, 12}) EXPECT_TRUE(is_cell("%sum", "%b", count)) << count;
  for (const int count : {13, 14, 20}) EXPECT_FALSE(is_cell("%sum", "%b", count)) << count;
  for (const int count : {0, 13, 14, 20}) EXPECT_FALSE(is_cell("%e", "%sum", count)) << count;
}

TEST_F(RecurrentCellsTest, WhatIsNoLstmStays) {
  const auto stays = [&](const Lstm& form) { return After(TextOf(form)).find("Cell") == std::string::npos; };
  EXPECT_FALSE(stays({}));
  EXPECT_TRUE(stays({.candidate = "Sigmoid"}));
  EXPECT_TRUE(stays({.output = "Sin"}));
  EXPECT_TRUE(stays({.kept = "%c, %c"}));
  // A gate that is read elsewhere; a sum that is read elsewhere.
  EXPECT_TRUE(stays({.more = Add("other", "Abs", "%is") + "  opset1.Result \"o\" (%other)\n"}));
  EXPECT_TRUE(stays({.more = Add("other", "Abs", "%sum", "", "[1,4]") + "  opset1.Result \"o\" (%other)\n"}));
}

// The cell has one type of numbers, here f32, and known extents.
TEST_F(RecurrentCellsTest, CellsOfOtherTypesStay) {
  const auto cells = [&](const std::string& type, const std::string& extent) {
    std::string text = std::regex_replace(TextOf(Lstm{}), std::regex("f32"), type);
    text = std::regex_replace(text, std::regex("shape = \\[1,"), "shape = [" + extent + ",");
    text = std::regex_replace(text, std::regex(" : " + type + "\\[1,(.)\\]\n"),
                              " : " + type + "[" + extent + ",$1]\n");
    return After(text).find("Cell") != std::string::npos;
  };
  EXPECT_TRUE(cells("f32", "1"));
  EXPECT_FALSE(cells("f64", "1"));
  EXPECT_FALSE(cells("f16", "1"));
  EXPECT_FALSE(cells("f32", "?"));
  EXPECT_FALSE(cells("f32", "1,1"));
}

struct Gru {
  std::string mix = Add("one", "Subtract", "%k, %z") + Add("zh", "Multiply", "%z, %h") +
                    Add("zn", "Multiply", "%one, %n") + Add("hn", "Add", "%zh, %zn");
  std::string reset = "%h, %r";
  std::string other = "%x";  // the data of the candidate
};
// A sum of products of x and a second factor, side by side: `name`a, with the bias 0.N for the first number
// N.
std::string GateOf(const std::string& name, const std::string& h, const std::string& numbers,
                   const std::string& x = "%x") {
  return Constant(name + "w", "[2,1]", numbers) + Constant(name + "b", "[1,1]", "0." + numbers.substr(0, 1)) +
         "  %" + name + "j = opset1.Concat \"" + name + "j\" (" + x + ", " + h + ") {axis = 1} : f32[1,2]\n" +
         Add(name + "p", "MatMul", "%" + name + "j, %" + name + "w",
             "{transpose_a = false, transpose_b = false}") +
         Add(name + "a", "Add", "%" + name + "p, %" + name + "b");
}
// One unit: z, r of x and h, n of x and r * h.
std::string TextOf(const Gru& form) {
  return Parameter("x", "[1,1]") + Parameter("h", "[1,1]") +
         (form.other == "%e" ? Parameter("e", "[1,1]") : "") + Constant("k", "[]", "1.0") +
         GateOf("z", "%h", "1.0, 2.0") + Add("z", "Sigmoid", "%za") + GateOf("r", "%h", "3.0, 4.0") +
         Add("r", "Sigmoid", "%ra") + Add("rh", "Multiply", form.reset) +
         GateOf("n", "%rh", "5.0, 6.0", form.other) + Add("n", "Tanh", "%na") + form.mix +
         "  opset1.Result \"y\" (%hn)\n";
}

TEST_F(RecurrentCellsTest, GruOfDataAndStateSideBySide) {
  const std::string cell =
      "Parameter(x) Parameter(h) Const(hn/w) Const(hn/r) Const(hn/b) GRUCell(hn: x, h, hn/w, hn/r, hn/b) "
      "Result(y: hn)";
  EXPECT_EQ(After(TextOf(Gru{})), cell);
  EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(After(TextOf(Gru{.mix = Add("d", "Subtract", "%h, %n") + Add("zd", "Multiply", "%d, %z") +
                                    Add("hn", "Add", "%n, %zd")})),
            cell);
  EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{1, 3, 5}));
  // z is the weight of the new value: 1 - sigmoid(a) = sigmoid(-a).
  EXPECT_EQ(After(TextOf(Gru{.mix = Add("d", "Subtract", "%n, %h") + Add("zd", "Multiply", "%d, %z") +
                                    Add("hn", "Add", "%h, %zd")})),
            cell);
  EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{-1, 3, 5}));
  EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{-2, 4, 6}));
}

TEST_F(RecurrentCellsTest, GruOperandsInAnyOrder) {
  const std::string cell = After(TextOf(Gru{}));
  ASSERT_NE(cell.find("GRUCell"), std::string::npos);
  for (int order = 0; order < 16; ++order) {
    const auto inputs = [&](const char* a, const char* b, int bit) {
      return InOrder(a, b, (order >> bit & 1) != 0);
    };
    const std::string reset = inputs("%h", "%r", 3);
    const std::string mix = Add("one", "Subtract", "%k, %z") + Add("zh", "Multiply", inputs("%z", "%h", 0)) +
                            Add("zn", "Multiply", inputs("%one", "%n", 1)) +
                            Add("hn", "Add", inputs("%zh", "%zn", 2));
    EXPECT_EQ(After(TextOf(Gru{.mix = mix, .reset = reset})), cell) << order;
    EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{1, 3, 5})) << order;
    const std::string difference = Add("d", "Subtract", "%h, %n") +
                                   Add("zd", "Multiply", inputs("%d", "%z", 0)) +
                                   Add("hn", "Add", inputs("%n", "%zd", 1));
    EXPECT_EQ(After(TextOf(Gru{.mix = difference, .reset = reset})), cell) << order;
    EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{1, 3, 5})) << order;
  }
}

TEST_F(RecurrentCellsTest, WhatIsNoGruStays) {
  const auto stays = [&](const Gru& form) { return After(TextOf(form)).find("Cell") == std::string::npos; };
  EXPECT_FALSE(stays({}));
  EXPECT_TRUE(stays({.reset = "%x, %r"}));
  // The candidate reads other data than the gates, or the state twice.
  EXPECT_TRUE(stays({.other = "%e"}));
  EXPECT_TRUE(stays({.other = "%h"}));
  EXPECT_TRUE(stays({.mix = Add("one", "Subtract", "%k, %r") + Add("zh", "Multiply", "%z, %h") +
                            Add("zn", "Multiply", "%one, %n") + Add("hn", "Add", "%zh, %zn")}));
  EXPECT_TRUE(stays({.mix = Constant("two", "[]", "2.0") + Add("one", "Subtract", "%two, %z") +
                            Add("zh", "Multiply", "%z, %h") + Add("zn", "Multiply", "%one, %n") +
                            Add("hn", "Add", "%zh, %zn")}));
  EXPECT_TRUE(stays({.mix = Add("one", "Add", "%k, %z") + Add("zh", "Multiply", "%z, %h") +
                            Add("zn", "Multiply", "%one, %n") + Add("hn", "Add", "%zh, %zn")}));
  EXPECT_TRUE(stays({.mix = Add("one", "Subtract", "%z, %k") + Add("zh", "Multiply", "%z, %h") +
                            Add("zn", "Multiply", "%one, %n") + Add("hn", "Add", "%zh, %zn")}));
}

// Each gate is a sum of products of the data and the state alone.
TEST_F(RecurrentCellsTest, GatesOfGruWithFurtherTerms) {
  const auto with_term = [&](const std::string& gate, const std::string& state, const std::string& numbers) {
    std::string text = Parameter("e", "[1,1]") + TextOf(Gru{});
    const auto replace = [&](const std::string& before, const std::string& after) {
      const size_t at = text.find(before);
      ASSERT_NE(at, std::string::npos) << before;
      text.replace(at, before.size(), after);
    };
    replace(Constant(gate + "w", "[2,1]", numbers), Constant(gate + "w", "[3,1]", numbers + ", 9.0"));
    replace("\"" + gate + "j\" (%x, " + state + ") {axis = 1} : f32[1,2]",
            "\"" + gate + "j\" (%x, " + state + ", %e) {axis = 1} : f32[1,3]");
    return text;
  };
  EXPECT_NE(After(Parameter("e", "[1,1]") + TextOf(Gru{})).find("GRUCell"), std::string::npos);
  EXPECT_EQ(After(with_term("z", "%h", "1.0, 2.0")).find("Cell"), std::string::npos);
  EXPECT_EQ(After(with_term("r", "%h", "3.0, 4.0")).find("Cell"), std::string::npos);
  EXPECT_EQ(After(with_term("n", "%rh", "5.0, 6.0")).find("Cell"), std::string::npos);
}

// The data of a cell may be a product of the state, too: the gate that resets the state is a sigmoid.
TEST_F(RecurrentCellsTest, GruWhoseDataAreAProductOfTheState) {
  for (const char* product : {"%e, %h", "%h, %e"}) {
    for (const char* reset : {"%r, %h", "%h, %r"}) {
      std::string text = TextOf(Gru{.reset = reset});
      const std::string x = Parameter("x", "[1,1]");
      text.replace(text.find(x), x.size(), Parameter("e", "[1,1]"));
      const std::string h = Parameter("h", "[1,1]");
      text.insert(text.find(h) + h.size(), Add("x", "Multiply", product));
      EXPECT_NE(After(text).find("GRUCell(hn: x, h, hn/w, hn/r, hn/b)"), std::string::npos) << product;
      EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{1, 3, 5}));
      EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{2, 4, 6}));
    }
    EXPECT_EQ(After(Parameter("e", "[1,1]") + TextOf(Gru{.reset = product})).find("Cell"), std::string::npos);
  }
}

// tanh(x * 5 + 0.25 + r * (h * 6 + 0.75)): the state is multiplied before it is reset.
struct ResetAfter {
  std::string input = "%x, %nw", state = "%h, %nr", state_sum = "%nh, %sb";
  std::string reset = "%r, %nhb", data = "%nx, %wb", sum = "%nxb, %rh";
  std::string gate = "Sigmoid", bias = "[1,1]", biases = "0.75";
  std::string more = "";
};
std::string TextOf(const ResetAfter& form) {
  return Parameter("x", "[1,1]") + Parameter("h", "[1,1]") + Parameter("e", "[1,1]") +
         Constant("k", "[]", "1.0") + GateOf("z", "%h", "1.0, 2.0") + Add("z", "Sigmoid", "%za") +
         GateOf("r", "%h", "3.0, 4.0") + Add("r", form.gate, "%ra") + Constant("nw", "[1,1]", "5.0") +
         Constant("nr", "[1,1]", "6.0") + Constant("wb", "[1,1]", "0.25") +
         Constant("sb", form.bias, form.biases) + Add("nx", "MatMul", form.input, kTransposed) +
         Add("nxb", "Add", form.data) + Add("nh", "MatMul", form.state, kTransposed) +
         Add("nhb", "Add", form.state_sum) + Add("rh", "Multiply", form.reset) + Add("na", "Add", form.sum) +
         Add("n", "Tanh", "%na") + Add("one", "Subtract", "%k, %z") + Add("zh", "Multiply", "%z, %h") +
         Add("zn", "Multiply", "%one, %n") + Add("hn", "Add", "%zh, %zn") + form.more +
         "  opset1.Result \"y\" (%hn)\n";
}

TEST_F(RecurrentCellsTest, GruThatResetsProductsOfTheState) {
  const auto is_cell = [&](const ResetAfter& form) {
    const std::string made = After(TextOf(form));
    if (made.find("GRUCell(hn: x, h, hn/w, hn/r, hn/b)") == std::string::npos) return false;
    for (ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).name() == "hn") {
        EXPECT_TRUE(graph_->node(id).Bool("linear_before_reset"));
      }
    }
    EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{1, 3, 5}));
    EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{2, 4, 6}));
    // z, r, the candidate's sum with x, and its sum with h.
    EXPECT_EQ(ElementsOf("hn", 4), (std::vector<double>{0.1F, 0.3F, 0.25, 0.75}));
    return true;
  };
  for (const char* reset : {"%r, %nhb", "%nhb, %r"}) {
    for (const char* sum : {"%nxb, %rh", "%rh, %nxb"}) {
      EXPECT_TRUE(is_cell({.reset = reset, .sum = sum})) << reset << sum;
      EXPECT_TRUE(is_cell({.state_sum = "%sb, %nh", .reset = reset, .data = "%wb, %nx", .sum = sum}));
    }
  }
  EXPECT_TRUE(is_cell({.bias = "[]"}));
  EXPECT_TRUE(is_cell({.bias = "[1]"}));
  // A product of x or of another tensor is reset, of two tensors, or by another function.
  EXPECT_FALSE(is_cell({.input = "%e, %nw"}));
  EXPECT_FALSE(is_cell({.input = "%h, %nw"}));
  EXPECT_FALSE(is_cell({.state = "%x, %nr"}));
  EXPECT_FALSE(is_cell({.state = "%e, %nr"}));
  EXPECT_FALSE(is_cell({.state_sum = "%nh, %nx"}));
  EXPECT_FALSE(is_cell({.state_sum = "%nh, %e"}));
  EXPECT_FALSE(is_cell({.gate = "Tanh"}));
  EXPECT_FALSE(is_cell({.reset = "%r, %r"}));
  EXPECT_FALSE(is_cell({.data = "%nx, %e"}));
  EXPECT_FALSE(is_cell({.sum = "%rh, %rh"}));
  for (const char* read : {"%r", "%nhb", "%rh", "%nxb", "%nh", "%nx", "%n", "%z"}) {
    EXPECT_FALSE(is_cell({.more = Add("other", "Abs", read) + "  opset1.Result \"o\" (%other)\n"})) << read;
  }
}

// Columns of a product of all gates, by Split, VariadicSplit and Slice along the last axis.
TEST_F(RecurrentCellsTest, GatesAreColumns) {
  const auto ints = [](const std::string& name, const std::string& items) {
    const auto count = std::count(items.begin(), items.end(), ',') + 1;
    return fmt::format("  %{} = opset1.Const \"{}\" : i64[{}] = dense<i64[{}]: {}>\n", name, name, count,
                       count, items);
  };
  // `gates` are statements for %ga to %gd, the sums of the gates i, f, c and o.
  const auto cell = [&](const std::string& gates, const std::string& bias = "[4]",
                        const std::string& elements = "0.5, 1.5, 2.5, 3.5", const std::string& batch = "1") {
    const std::string unit = "[" + batch + ",1]", all = "[" + batch + ",4]";
    std::string text = Parameter("x", "[" + batch + ",2]") + Parameter("h", unit) + Parameter("c", unit) +
                       Constant("w", "[4,2]", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0") +
                       Constant("r", "[1,4]", "10.0, 20.0, 30.0, 40.0") + Constant("b", bias, elements) +
                       Add("xw", "MatMul", "%x, %w", kTransposed, all) +
                       Add("hr", "MatMul", "%h, %r", "{transpose_a = false, transpose_b = false}", all) +
                       Add("sum", "Add", "%hr, %xw", "", all) + Add("all", "Add", "%b, %sum", "", "[...]") +
                       gates;
    for (const auto& [name, inputs] :
         {std::pair("is", "Sigmoid|%ga"), std::pair("fs", "Sigmoid|%gb"), std::pair("gt", "Tanh|%gc"),
          std::pair("os", "Sigmoid|%gd"), std::pair("fc", "Multiply|%fs, %c"),
          std::pair("ig", "Multiply|%is, %gt"), std::pair("cn", "Add|%fc, %ig"), std::pair("ct", "Tanh|%cn"),
          std::pair("hn", "Multiply|%os, %ct")}) {
      const std::string_view both = inputs;
      const size_t bar = both.find('|');
      text += Add(name, std::string(both.substr(0, bar)), std::string(both.substr(bar + 1)), "", "[...]");
    }
    const std::string made = After(text + "  opset1.Result \"y\" (%hn)\n");
    if (made.find("LSTMCell(hn: x, h, c, ") == std::string::npos) return false;
    EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{3, 4, 1, 2, 5, 6, 7, 8}));
    EXPECT_EQ(ElementsOf("hn", 4), (std::vector<double>{20, 10, 30, 40}));
    if (elements.find(',') != std::string::npos) {
      EXPECT_EQ(ElementsOf("hn", 5), (std::vector<double>{1.5, 0.5, 2.5, 3.5}));
    } else {
      EXPECT_EQ(ElementsOf("hn", 5), (std::vector<double>{9, 9, 9, 9}));
    }
    return true;
  };
  const auto slices = [&](const std::string& step, const std::string& axis, const std::string& first,
                          bool has_axis = true) {
    std::string text = ints("step", step) + ints("axis", axis);
    for (int i = 0; i < 4; ++i) {
      const std::string number(1, static_cast<char>('a' + i));
      text += ints("s" + number, i == 0 ? first : std::to_string(i)) +
              ints("t" + number, std::to_string(i + 1)) +
              fmt::format("  %g{} = opset8.Slice \"g{}\" (%all, %s{}, %t{}, %step{}) : f32[...]\n", number,
                          number, number, number, has_axis ? ", %axis" : "");
    }
    return text;
  };
  EXPECT_TRUE(cell(slices("1", "1", "0")));
  EXPECT_TRUE(cell(slices("1", "-1", "0")));
  EXPECT_FALSE(cell(slices("2", "1", "0")));
  EXPECT_FALSE(cell(slices("1", "1", "-4")));
  EXPECT_FALSE(cell(slices("1", "0", "0"), "[4]", "0.5, 1.5, 2.5, 3.5", "4"));
  const auto split = [&](const std::string& kind, const std::string& axis) {
    const std::string outputs = " : f32[...], f32[...], f32[...], f32[...]\n";
    std::string text = ints("axis", axis) + ints("lengths", "1, 1, 1, 1");
    text += kind == "Split" ? "  %g:4 = opset1.Split \"g\" (%all, %zero) {num_splits = 4}" + outputs
                            : "  %g:4 = opset1.VariadicSplit \"g\" (%all, %axis, %lengths)" + outputs;
    if (kind == "Split")
      text = "  %zero = opset1.Const \"zero\" : i64[] = dense<i64[]: " + axis + ">\n" + text;
    // Each gate is a sum of its own with zero, which is no constant of another shape.
    const std::string zero = Constant("nought", "[]", "0.0");
    return zero + text + Add("ga", "Add", "%g, %nought", "", "[...]") +
           Add("gb", "Add", "%g.1, %nought", "", "[...]") + Add("gc", "Add", "%g.2, %nought", "", "[...]") +
           Add("gd", "Add", "%nought, %g.3", "", "[...]");
  };
  for (const char* kind : {"Split", "VariadicSplit"}) {
    EXPECT_TRUE(cell(split(kind, "1"))) << kind;
    EXPECT_TRUE(cell(split(kind, "-1"))) << kind;
    EXPECT_FALSE(cell(split(kind, "0"), "[4]", "0.5, 1.5, 2.5, 3.5", "4")) << kind;
  }
  // Shapes of biases: one for all columns, one for each column, but none for each row.
  for (const char* shape : {"[4]", "[1,4]"}) EXPECT_TRUE(cell(slices("1", "1", "0"), shape)) << shape;
  for (const char* shape : {"[]", "[1]", "[1,1]"})
    EXPECT_TRUE(cell(slices("1", "1", "0"), shape, "9.0")) << shape;
  EXPECT_FALSE(cell(slices("1", "1", "0"), "[2,1]", "9.0, 9.0", "2"));
  EXPECT_FALSE(cell(slices("1", "1", "0"), "[2,4]", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0", "2"));
}

// tanh(x W + h R), of two inputs or of a state.
std::string Rnn(const std::string& state, const std::string& end) {
  return Parameter("x", "[1,1]") + state + Constant("w", "[1,1]", "2.0") + Constant("r", "[1,1]", "3.0") +
         Add("xw", "MatMul", "%x, %w", kTransposed) + Add("hr", "MatMul", "%h, %r", kTransposed) +
         Add("sum", "Add", "%xw, %hr") + Add("hn", "Tanh", "%sum") + "  opset1.Result \"y\" (%hn)\n" + end;
}

TEST_F(RecurrentCellsTest, RnnOfAState) {
  const std::string read =
      Constant("zero", "[1,1]", "0.0") +
      "  %h = opset6.ReadValue \"h\" (%zero) {variable_id = \"v\", variable_type = f32, variable_shape = "
      "shape[1,1]} : f32[1,1]\n";
  const std::string assign = "  opset6.Assign \"a\" (%hn) {variable_id = \"v\"}\n";
  EXPECT_NE(After(Rnn(read, assign)).find("RNNCell(hn: x, h, hn/w, hn/r, hn/b)"), std::string::npos);
  EXPECT_EQ(ElementsOf("hn", 2), (std::vector<double>{2}));
  EXPECT_EQ(ElementsOf("hn", 3), (std::vector<double>{3}));
  // An unknown number of columns.
  std::string open = Rnn(read, assign);
  const std::string x = Parameter("x", "[1,1]");
  open.replace(open.find(x), x.size(), Parameter("x", "[1,?]"));
  EXPECT_EQ(After(open).find("Cell"), std::string::npos);
  // Layers that are added; another value is kept.
  EXPECT_EQ(After(Rnn(Parameter("h", "[1,1]"), "")).find("Cell"), std::string::npos);
  EXPECT_EQ(After(Rnn(read, "  opset6.Assign \"a\" (%sum) {variable_id = \"v\"}\n")).find("Cell"),
            std::string::npos);
}

// The data of a cell are rows of a known number, the same as those of the state.
TEST_F(RecurrentCellsTest, DataOfACell) {
  const auto cell = [&](const std::string& x, const std::string& product) {
    return After(Parameter("x", x) + Constant("zero", "[2,2]", "0.0, 0.0, 0.0, 0.0") +
                 "  %h = opset6.ReadValue \"h\" (%zero) {variable_id = \"v\", variable_type = f32, "
                 "variable_shape = shape[2,2]} : f32[2,2]\n" +
                 Constant("w", "[2,2]", "1.0, 2.0, 3.0, 4.0") +
                 Constant("b", "[2,4]", "1, 2, 3, 4, 5, 6, 7, 8") + product +
                 Add("hn", "Tanh", "%sum", "", "[...]") +
                 "  opset1.Result \"y\" (%hn)\n  opset6.Assign \"a\" (%hn) {variable_id = \"v\"}\n")
               .find("RNNCell(hn: x, h, ") != std::string::npos;
  };
  const auto sum = [](const std::string& transposed) {
    return Add("xw", "MatMul", "%x, %w", "{transpose_a = " + transposed + ", transpose_b = true}", "[2,2]") +
           Add("hr", "MatMul", "%h, %w", kTransposed, "[2,2]") + Add("sum", "Add", "%xw, %hr", "", "[2,2]");
  };
  EXPECT_TRUE(cell("[2,2]", sum("false")));
  EXPECT_FALSE(cell("[2,2]", sum("true")));
  // One product of the concatenated rows.
  const std::string both = "  %c = opset1.Concat \"c\" (%x, %h) {axis = 1} : f32[2,4]\n" +
                           Add("sum", "MatMul", "%c, %b", kTransposed, "[2,2]");
  EXPECT_TRUE(cell("[2,2]", both));
  EXPECT_FALSE(cell("[?,2]", both));
}

// The same in a body, whose back edge selects one of two values as the state.
TEST_F(RecurrentCellsTest, RnnOfAnIteration) {
  const auto cells = [&](const std::string& back) {
    const TransformationList list = StandardTransformations();
    const std::string step = Rnn(Parameter("h", "[1,1]"), "");
    graph_ = Parse(
        Numbered(Parameter("a", "[1,4]") + Parameter("b", "[1,1]") +
                 "  %c = opset1.TensorIterator \"loop\" (%a, %b) : f32[...] bodies {\n    \"body\" " + back +
                 " output 0 -> 0 graph \"step\" {\n" + step + "    }\n  }\n  opset1.Result \"y\" (%c)\n"));
    EXPECT_NE(graph_, nullptr);
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {"middle.RecurrentCellFusion"}}), "");
    for (ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).Is(ir::OpRole::kTensorIterator)) return Brief(*graph_->node(id).bodies()[0].graph);
    }
    return std::string("no loop");
  };
  const std::string slice = " slice(axis 1, start 0, end -1, stride 1, part 1)";
  EXPECT_NE(cells("input 0 -> 0" + slice + " input 1 -> 1 back 0 -> 1").find("RNNCell(hn: x, h, "),
            std::string::npos);
  EXPECT_NE(cells("input 0 -> 1" + slice + " input 1 -> 0 back 0 -> 0").find("RNNCell(hn: h, x, "),
            std::string::npos);
  EXPECT_EQ(cells("input 0 -> 0" + slice + " input 1 -> 1").find("Cell"), std::string::npos);
}

}  // namespace
}  // namespace nnefc::transform
