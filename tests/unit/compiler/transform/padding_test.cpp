// Padding and slices that windows absorb: each condition alone, on both sides of each bound.

#include "fmt/ranges.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

using Ints = std::vector<int64_t>;

class PaddingTest : public TransformTest {
 protected:
  // Returns the pads of the window "c" after the transformation: "[1, 0] [0, 2]"; "stays" if it still reads
  // the Pad. The shape of the result does not change.
  std::string After(const std::string& name, const std::string& text) {
    const ir::Node* window = Transform(name, text);
    if (window == nullptr) return "no graph";
    if (graph_->node(window->input(0).node).type() == "Pad") return "stays";
    EXPECT_EQ(window->String("auto_pad"), "explicit");
    return fmt::format("{} {}", window->Ints("pads_begin"), window->Ints("pads_end"));
  }
  // Returns the node "c".
  const ir::Node* Transform(const std::string& name, const std::string& text) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(text));
    if (graph_ == nullptr) return nullptr;
    const auto shape = [&] { return graph_->output(graph_->node(graph_->results()[0]).input(0)).shape; };
    const ir::PartialShape before = shape();
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {name}}), "");
    EXPECT_EQ(shape(), before);
    for (ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).name() == "c") return &graph_->node(id);
    }
    return nullptr;
  }

  std::unique_ptr<ir::Graph> graph_;
};

std::string TextOfInts(const Ints& items) {
  return fmt::format("i64[{}] = dense<i64[{}]: {}>", items.size(), items.size(), fmt::join(items, ", "));
}

// A Pad of `x`, and its window.
struct PaddedWindow {
  std::string data = "[1,2,8,9]";
  std::string before = "";  // between the Parameter %a and %x
  Ints begin = {0, 0, 1, 0}, end = {0, 0, 0, 2};
  std::string pad = "opset1.Pad";
  std::string mode = "constant";
  std::string value = "";  // a statement that defines %v
  std::string free = "";   // "b" or "e", if these pads are computed at run time
  std::string filter = "[3,2,3,4]";
  std::string window = "opset1.Convolution";
  std::string attributes = "dilations = [1, 1], pads_begin = [0, 1], pads_end = [1, 0]";
  std::string more = "";

  std::string Text() const {
    const auto pads = [&](const std::string& name, const Ints& items) {
      if (free == name)
        return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = i64, shape = [4]}} : i64[4]\n",
                           name, name);
      return fmt::format("  %{} = opset1.Const \"{}\" : {}\n", name, name, TextOfInts(items));
    };
    const std::string strides = attributes.find("strides") == std::string::npos ? ", strides = [1, 1]" : "";
    std::string text =
        fmt::format("  %{} = opset1.Parameter \"x\" {{element_type = f32, shape = {}}} : f32{}\n",
                    before.empty() ? "x" : "a", data, data);
    text += before + pads("b", begin) + pads("e", end) + value;
    text += fmt::format("  %p = {} \"p\" (%x, %b, %e{}) {{pad_mode = \"{}\"}} : f32[...]\n", pad,
                        value.empty() ? "" : ", %v", mode);
    if (!filter.empty()) {
      text += fmt::format("  %w = opset1.Parameter \"w\" {{element_type = f32, shape = {}}} : f32{}\n",
                          filter, filter);
    }
    text += fmt::format("  %c = {} \"c\" (%p{}) {{{}{}}} : f32[...]\n", window, filter.empty() ? "" : ", %w",
                        attributes, strides);
    return text + "  opset1.Result \"y\" (%c)\n" + more;
  }
};

// Pads at each end of each spatial axis, one after the other.
void ForEachEnd(const std::function<void(size_t axis, bool is_end)>& check) {
  for (size_t axis : {0, 1}) {
    for (bool is_end : {false, true}) {
      SCOPED_TRACE(fmt::format("axis {}, {}", axis, is_end ? "end" : "begin"));
      check(axis, is_end);
    }
  }
}

// Zeros, except for one item.
Ints WithOneItem(size_t size, size_t index, int64_t value) {
  Ints items(size, 0);
  items[index] = value;
  return items;
}

// ---- convolutions ----

class ConvolutionPaddingTest : public PaddingTest {
 protected:
  std::string After(const PaddedWindow& form) {
    return PaddingTest::After("middle.FusePadIntoConvolution", form.Text());
  }
};

TEST_F(ConvolutionPaddingTest, PadsAreAdded) {
  EXPECT_EQ(After({}), "[1, 1] [1, 2]");
  EXPECT_EQ(After({.pad = "opset12.Pad"}), "[1, 1] [1, 2]");
  EXPECT_EQ(After({.data = "[1,4,8,9]", .filter = "[2,3,2,3,4]", .window = "opset1.GroupConvolution"}),
            "[1, 1] [1, 2]");
  const std::string one = "strides = [2], dilations = [1], pads_begin = [0], pads_end = [1]";
  EXPECT_EQ(
      After(
          {.data = "[1,2,8]", .begin = {0, 0, 2}, .end = {0, 0, 1}, .filter = "[3,2,3]", .attributes = one}),
      "[2] [2]");
  // Another reader of the Pad.
  EXPECT_EQ(After({.more = "  opset1.Result \"z\" (%p)\n"}), "[1, 1] [1, 2]");
  EXPECT_NE(Brief(*graph_).find("Pad(p: x, b, e)"), std::string::npos);
}

TEST_F(ConvolutionPaddingTest, NoWindowIsInThePaddingAlone) {
  for (const auto& [dilations, reach] :
       {std::pair("[1, 1]", Ints{3, 4}), std::pair("[2, 1]", Ints{5, 4}), std::pair("[1, 2]", Ints{3, 7})}) {
    SCOPED_TRACE(dilations);
    ForEachEnd([&](size_t axis, bool is_end) {
      for (const int64_t count : {reach[axis] - 1, reach[axis]}) {
        PaddedWindow form{
            .begin = Ints(4, 0),
            .end = Ints(4, 0),
            .attributes = fmt::format("dilations = {}, pads_begin = [0, 1], pads_end = [1, 0]", dilations)};
        (is_end ? form.end : form.begin)[axis + 2] = count;
        Ints begin = {0, 1}, end = {1, 0};
        (is_end ? end : begin)[axis] += count;
        EXPECT_EQ(After(form), count < reach[axis] ? fmt::format("{} {}", begin, end) : "stays") << count;
      }
    });
  }
}

TEST_F(ConvolutionPaddingTest, OtherPadsStay) {
  for (size_t axis = 0; axis < 4; ++axis) {
    SCOPED_TRACE(axis);
    const std::string filter = axis == 1 ? "[3,3,3,4]" : "[3,2,3,4]";
    const int64_t count = axis < 2 ? 1 : -1;
    EXPECT_EQ(After({.begin = WithOneItem(4, axis, count),
                     .end = Ints(4, 0),
                     .pad = "opset12.Pad",
                     .filter = filter}),
              "stays");
    EXPECT_EQ(After({.begin = Ints(4, 0),
                     .end = WithOneItem(4, axis, count),
                     .pad = "opset12.Pad",
                     .filter = filter}),
              "stays");
  }
  for (const char* mode : {"edge", "reflect", "symmetric"}) EXPECT_EQ(After({.mode = mode}), "stays") << mode;
  EXPECT_EQ(After({.free = "b"}), "stays");
  EXPECT_EQ(After({.free = "e"}), "stays");
  const auto constant = [](const char* value) {
    return fmt::format("  %v = opset1.Const \"v\" : f32[] = dense<f32[]: {}>\n", value);
  };
  EXPECT_EQ(After({.value = constant("0.0")}), "[1, 1] [1, 2]");
  EXPECT_EQ(After({.value = constant("1.0")}), "stays");
  EXPECT_EQ(After({.value = "  %v = opset1.Parameter \"v\" {element_type = f32, shape = []} : f32[]\n"}),
            "stays");
}

TEST_F(ConvolutionPaddingTest, AutomaticPadding) {
  const std::string own = "dilations = [1, 1], pads_begin = [7, 6], pads_end = [5, 4]";
  EXPECT_EQ(After({.attributes = own + ", auto_pad = \"valid\""}), "[1, 0] [0, 2]");
  for (const char* mode : {"same_upper", "same_lower"})
    EXPECT_EQ(After({.attributes = fmt::format("{}, auto_pad = \"{}\"", own, mode)}), "stays") << mode;
}

TEST_F(ConvolutionPaddingTest, FiltersOfUnknownExtents) {
  EXPECT_EQ(After({.filter = "[?,?,3,4]"}), "[1, 1] [1, 2]");
  for (const char* filter : {"[3,2,?,4]", "[3,2,3,?]", "[...]"})
    EXPECT_EQ(After({.filter = filter}), "stays");
}

// ---- pools ----

TEST_F(PaddingTest, AveragesOverThePadding) {
  const auto after = [&](const std::string& own, bool excludes, const Ints& begin, const Ints& end,
                         const std::string& rounding = "floor") {
    const std::string fused =
        After("middle.FusePadIntoAvgPool",
              PaddedWindow{
                  .begin = begin,
                  .end = end,
                  .filter = "",
                  .window = "opset1.AvgPool",
                  .attributes = fmt::format("kernel = [3, 4], exclude-pad = {}, rounding_type = \"{}\", {}",
                                            excludes, rounding, own)}
                  .Text());
    if (fused != "stays") {
      for (ir::NodeId id : graph_->nodes()) {
        if (graph_->node(id).name() == "c") {
          EXPECT_FALSE(graph_->node(id).Bool("exclude-pad"));
        }
      }
    }
    return fused;
  };
  const Ints begin = {0, 0, 1, 0}, end = {0, 0, 0, 2}, none(4, 0);
  const std::string bare = "pads_begin = [0, 0], pads_end = [0, 0]";
  EXPECT_EQ(after(bare, true, begin, end), "[1, 0] [0, 2]");
  EXPECT_EQ(after(bare, false, begin, end), "[1, 0] [0, 2]");
  EXPECT_EQ(after(bare, true, begin, end, "ceil"), "stays");
  EXPECT_EQ(after(bare, false, begin, end, "ceil"), "stays");
  const std::string unread = "pads_begin = [2, 1], pads_end = [1, 2], auto_pad = \"valid\"";
  EXPECT_EQ(after(unread, true, begin, end), "[1, 0] [0, 2]");
  EXPECT_EQ(after(unread, false, begin, end), "[1, 0] [0, 2]");
  ForEachEnd([&](size_t axis, bool is_end) {
    Ints own_begin = {0, 0}, own_end = {0, 0};
    (is_end ? own_end : own_begin)[axis] = 1;
    const std::string own = fmt::format("pads_begin = {}, pads_end = {}", own_begin, own_end);
    EXPECT_EQ(after(own, true, begin, end), "stays");
    const int64_t size = axis == 0 ? 3 : 4;
    for (const int64_t count : {size - 2, size - 1}) {
      (is_end ? own_end : own_begin)[axis] = 1 + count;
      const Ints more = WithOneItem(4, axis + 2, count);
      EXPECT_EQ(after(own, false, is_end ? none : more, is_end ? more : none),
                1 + count < size ? fmt::format("{} {}", own_begin, own_end) : "stays")
          << count;
    }
  });
}

class MaximumPaddingTest : public PaddingTest {
 protected:
  // `before` are statements between the Parameter %a and %x.
  std::string After(const std::string& before,
                    const std::string& attributes = "pads_begin = [0, 0], pads_end = [0, 0]",
                    const std::string& rounding = "floor", const std::string& set = "opset1") {
    return PaddingTest::After(
        "middle.FusePadIntoMaxPool",
        PaddedWindow{
            .before = before,
            .filter = "",
            .window = set + ".MaxPool",
            .attributes = fmt::format("kernel = [3, 4], rounding_type = \"{}\", {}", rounding, attributes)}
            .Text());
  }
  static std::string Pool(const std::string& operation, const std::string& to, const std::string& from,
                          const std::string& attributes) {
    return fmt::format(
        "  %{} = opset1.{} \"{}\" (%{}) {{strides = [1, 1], kernel = [3, 3], rounding_type = \"floor\", {}}} "
        ": f32[...]\n",
        to, operation, to, from, attributes);
  }
  const std::string relu_ = "  %x = opset1.ReLU \"r\" (%a) : f32[...]\n";
  const std::string fused_ = "[1, 0] [0, 2]";
};

TEST_F(MaximumPaddingTest, OfNumbersThatAreNotNegative) {
  EXPECT_EQ(After(relu_), fused_);
  for (const auto& [low, expected] :
       {std::pair("0.0", fused_), std::pair("0.5", fused_), std::pair("-0.5", std::string("stays"))}) {
    EXPECT_EQ(After(fmt::format("  %x = opset1.Clamp \"r\" (%a) {{min = {}, max = 6.0}} : f32[...]\n", low)),
              expected)
        << low;
  }
  for (const char* operation : {"Tanh", "Abs", "Sigmoid"})
    EXPECT_EQ(After(fmt::format("  %x = opset1.{} \"r\" (%a) : f32[...]\n", operation)), "stays");
  EXPECT_EQ(After(""), "stays");
}

TEST_F(MaximumPaddingTest, AfterPoolsOfSuchNumbers) {
  const std::string relu = "  %r = opset1.ReLU \"r\" (%a) : f32[...]\n";
  const std::string none = "pads_begin = [0, 0], pads_end = [0, 0]";
  const std::string average = ", exclude-pad = true";
  EXPECT_EQ(After(relu + Pool("MaxPool", "x", "r", none)), fused_);
  EXPECT_EQ(After(relu + Pool("AvgPool", "x", "r", none + average)), fused_);
  EXPECT_EQ(After(Pool("MaxPool", "x", "a", none)), "stays");
  EXPECT_EQ(After(Pool("AvgPool", "x", "a", none + average)), "stays");
  // The maximum of padding alone is negative; the mean is not.
  for (const char* pads : {"pads_begin = [1, 0], pads_end = [0, 0]", "pads_begin = [0, 1], pads_end = [0, 0]",
                           "pads_begin = [0, 0], pads_end = [1, 0]", "pads_begin = [0, 0], pads_end = [0, 1]",
                           "pads_begin = [0, 0], pads_end = [0, 0], auto_pad = \"same_upper\"",
                           "pads_begin = [0, 0], pads_end = [0, 0], auto_pad = \"same_lower\""}) {
    EXPECT_EQ(After(relu + Pool("MaxPool", "x", "r", pads)), "stays") << pads;
    EXPECT_EQ(After(relu + Pool("AvgPool", "x", "r", fmt::format("{}{}", pads, average))), fused_) << pads;
  }
  EXPECT_EQ(
      After(relu + Pool("MaxPool", "x", "r", "pads_begin = [1, 1], pads_end = [1, 1], auto_pad = \"valid\"")),
      fused_);
}

// The search ends after eight nodes.
TEST_F(MaximumPaddingTest, AfterRowsOfPools) {
  const auto after = [&](int pools) {
    std::string text = "  %r = opset1.ReLU \"r\" (%a) : f32[...]\n", from = "r";
    for (int i = 1; i <= pools; ++i) {
      const std::string to = i == pools ? "x" : std::string("p") + static_cast<char>('a' + i);
      text += Pool("AvgPool", to, from, "pads_begin = [1, 1], pads_end = [1, 1], exclude-pad = true");
      from = to;
    }
    return After(text);
  };
  EXPECT_EQ(after(7), fused_);
  EXPECT_EQ(after(8), "stays");
}

TEST_F(MaximumPaddingTest, WindowsWithTheirOwnPadding) {
  for (const char* pads :
       {"pads_begin = [1, 0], pads_end = [0, 0]", "pads_begin = [0, 1], pads_end = [0, 0]",
        "pads_begin = [0, 0], pads_end = [1, 0]", "pads_begin = [0, 0], pads_end = [0, 1]"})
    EXPECT_EQ(After(relu_, pads), "stays") << pads;
  EXPECT_EQ(After(relu_, "pads_begin = [1, 1], pads_end = [1, 1], auto_pad = \"valid\""), fused_);
  EXPECT_EQ(After(relu_, "pads_begin = [0, 0], pads_end = [0, 0]", "ceil"), "stays");
  // Indices in the padded tensor are others.
  PaddedWindow indices{.before = relu_,
                       .filter = "",
                       .window = "opset8.MaxPool",
                       .attributes =
                           "kernel = [3, 4], rounding_type = \"floor\", pads_begin = [0, 0], pads_end = "
                           "[0, 0], dilations = [1, 1], axis = 0"};
  EXPECT_EQ(PaddingTest::After("middle.FusePadIntoMaxPool", indices.Text()), fused_);
  std::string both = indices.Text();
  both.replace(both.find("%c = "), 5, "%c:2 = ")
      .replace(both.find("f32[...]\n  opset1.Result"), 8, "f32[...], i64[...]");
  EXPECT_EQ(PaddingTest::After("middle.FusePadIntoMaxPool", both), "stays");
}

// ---- slices ----

// A Slice of a convolution of `x` [1,2,8], by default of its positions 0 to 8 of 11.
struct SlicedWindow {
  std::string data = "[1,2,8]", filter = "[3,2,3]";
  std::string window = "opset1.Convolution";
  std::string attributes = "strides = [1], dilations = [1], pads_begin = [2], pads_end = [3]";
  std::string between = "";  // statements between %c and %s
  std::string of = "%c";
  Ints start = {0}, stop = {8}, step = {1}, axes = {2};
  std::string more = "";

  std::string Text() const {
    std::string text;
    for (const auto& [name, shape] : {std::pair("x", data), std::pair("w", filter)}) {
      text += fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = f32, shape = {}}} : f32{}\n",
                          name, name, shape, shape);
    }
    text += fmt::format("  %c = {} \"c\" (%x, %w) {{{}}} : f32[...]\n", window, attributes) + between;
    const std::vector<std::pair<char, const Ints*>> inputs = {
        {'i', &start}, {'j', &stop}, {'k', &step}, {'l', &axes}};
    std::string list;
    for (const auto& [name, items] : inputs) {
      if (items->empty()) continue;
      text += fmt::format("  %{} = opset1.Const \"{}\" : {}\n", name, name, TextOfInts(*items));
      list += fmt::format(", %{}", name);
    }
    return text + fmt::format("  %s = opset8.Slice \"s\" ({}{}) : f32[...]\n", of, list) +
           "  opset1.Result \"y\" (%s)\n" + more;
  }
};

class SliceTest : public PaddingTest {
 protected:
  // Returns the nodes other than constants and parameters, and the pads of the convolution.
  std::string After(const SlicedWindow& form) {
    (void)Transform("middle.FuseSliceIntoConvolution", form.Text());
    graph_->EraseDeadNodes();
    std::string text, pads;
    const auto order = ir::TopologicalOrder(*graph_);
    for (ir::NodeId id : *order) {
      const ir::Node& node = graph_->node(id);
      if (node.type() == "Const" || node.type() == "Parameter" || node.type() == "Result") continue;
      text += fmt::format("{}({}) ", node.type(), node.name());
      if (node.type().find("Convolution") != std::string::npos)
        pads = fmt::format("{} {}", node.Ints("pads_begin"), node.Ints("pads_end"));
    }
    return text + pads;
  }
  std::string stays_ = "Convolution(c) Slice(s) [2] [3]";
};

// Windows are those of the selected results if the padding can be that: it must not be negative, and no
// further window may follow.
TEST_F(SliceTest, OfEachSpan) {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t dilation : {1, 2}) {
      const int64_t reach = 2 * dilation + 1;
      const int64_t extent = (8 + 2 + 3 - reach) / stride + 1;
      for (int64_t first = 0; first < extent; ++first) {
        for (int64_t end = first + 1; end <= extent; ++end) {
          const std::string made = After(
              {.attributes = fmt::format("strides = [{}], dilations = [{}], pads_begin = [2], pads_end = [3]",
                                         stride, dilation),
               .start = {first},
               .stop = {end}});
          const int64_t begin = 2 - first * stride, count = end - first;
          std::string expected = stays_;
          for (int64_t pad = 8; pad >= 0 && begin >= 0 && count < extent; --pad) {
            const int64_t room = 8 + begin + pad - reach;
            if (room >= 0 && room / stride + 1 == count)
              expected = fmt::format("Convolution(s) [{}] [{}]", begin, pad);
          }
          EXPECT_EQ(made, expected) << stride << " " << dilation << " " << first << " " << end;
        }
      }
    }
  }
}

TEST_F(SliceTest, OfOneAxis) {
  EXPECT_EQ(After({}), "Convolution(s) [2] [0]");
  EXPECT_EQ(After({.axes = {-1}}), "Convolution(s) [2] [0]");
  EXPECT_EQ(After({.start = {-10}}), "Convolution(s) [1] [0]");
  EXPECT_EQ(After({.start = {-99}}), "Convolution(s) [2] [0]");
  EXPECT_EQ(After({.stop = {-3}}), "Convolution(s) [2] [0]");
  EXPECT_EQ(After({.start = {1}, .stop = {99}}), "Convolution(s) [1] [3]");
  EXPECT_EQ(After({.step = {2}}), stays_);
  EXPECT_EQ(After({.start = {7}, .stop = {-99}, .step = {-1}}), stays_);
  EXPECT_EQ(After({.stop = {0}}), stays_);
  EXPECT_EQ(After({.start = {0}, .stop = {2}, .axes = {1}}), stays_);
  EXPECT_EQ(After({.data = "[2,2,8]", .start = {0}, .stop = {1}, .axes = {0}}), stays_);
  EXPECT_EQ(After({.start = {0, 0}, .stop = {8, 2}, .step = {1, 1}, .axes = {2, 1}}), stays_);
  // Without axes, those are the first ones.
  EXPECT_EQ(After({.start = {0, 0, 0}, .stop = {1, 3, 8}, .step = {1, 1, 1}, .axes = {}}), stays_);
}

TEST_F(SliceTest, OfEachAxisOfTwo) {
  const std::string attributes =
      "strides = [1, 1], dilations = [1, 1], pads_begin = [2, 1], pads_end = [1, 2]";
  const SlicedWindow form{.data = "[1,2,8,9]", .filter = "[3,2,3,3]", .attributes = attributes};
  SlicedWindow rows = form, columns = form;
  rows.axes = {2};
  rows.start = {1};
  EXPECT_EQ(After(rows), "Convolution(s) [1, 1] [0, 2]");
  columns.axes = {3};
  EXPECT_EQ(After(columns), "Convolution(s) [2, 1] [1, 0]");
}

TEST_F(SliceTest, Groups) {
  EXPECT_EQ(After({.filter = "[2,3,1,3]", .window = "opset1.GroupConvolution"}),
            "GroupConvolution(s) [2] [0]");
}

TEST_F(SliceTest, ConvolutionsThatCannotMakeLess) {
  const std::string own = "strides = [1], dilations = [1], pads_begin = [2], pads_end = [3]";
  for (const char* mode : {"same_upper", "same_lower"}) {
    EXPECT_EQ(After({.attributes = fmt::format("{}, auto_pad = \"{}\"", own, mode), .stop = {4}}), stays_);
  }
  // 6 results without padding.
  EXPECT_EQ(After({.attributes = own + ", auto_pad = \"valid\"", .stop = {5}}), stays_);
  EXPECT_EQ(After({.data = "[1,2,?]"}), stays_);
  EXPECT_EQ(After({.filter = "[3,2,?]"}), stays_);
  // Other readers.
  EXPECT_EQ(After({.more = "  opset1.Result \"z\" (%c)\n"}), stays_);
  // Another operation.
  EXPECT_EQ(After({.between = "  %d = opset1.ReLU \"d\" (%c) : f32[...]\n", .of = "%d"}),
            "Convolution(c) ReLU(d) Slice(s) [2] [3]");
}

// The convolution has 6 results for both extents of the data, but the padding after them differs.
TEST_F(SliceTest, DataOfOpenExtents) {
  SlicedWindow form{.attributes = "strides = [2], dilations = [1], pads_begin = [2], pads_end = [3]",
                    .stop = {5}};
  EXPECT_EQ(After(form), "Convolution(s) [2] [1]");
  form.data = "[1,2,8..9]";
  EXPECT_EQ(After(form), stays_);
}

TEST_F(SliceTest, OfASum) {
  const auto after = [&](const std::string& shape, bool is_first, const std::string& more = "",
                         int64_t stop = 8, int64_t axis = 2) {
    return After(
        {.between = fmt::format(
             "  %b = opset1.Parameter \"b\" {{element_type = f32, shape = {}}} : f32{}\n  %d = opset1.Add "
             "\"d\" ({}) : f32[...]\n",
             shape, shape, is_first ? "%b, %c" : "%c, %b"),
         .of = "%d",
         .stop = {stop},
         .axes = {axis},
         .more = more});
  };
  const std::string stays = "Convolution(c) Add(d) Slice(s) [2] [3]";
  for (const bool is_first : {false, true}) {
    for (const char* shape : {"[]", "[1]", "[3,1]", "[1,3,1]", "[?,?,1]"})
      EXPECT_EQ(after(shape, is_first), "Convolution(c) Add(s) [2] [0]") << shape;
    for (const char* shape : {"[11]", "[3,11]", "[1,1,11]", "[?]", "[...]"})
      EXPECT_EQ(after(shape, is_first), stays) << shape;
    // More axes than the convolution has: those of the sum are other ones.
    for (const char* shape : {"[2,1,1,1]", "[1,1,1,1]", "[2,1,3,1]"}) {
      EXPECT_EQ(after(shape, is_first, "", 2, 2), stays) << shape;
      EXPECT_EQ(after(shape, is_first, "", 8, 3), stays) << shape;
    }
    EXPECT_EQ(after("[1]", is_first, "  opset1.Result \"z\" (%d)\n"), stays);
    EXPECT_EQ(after("[1]", is_first, "  opset1.Result \"z\" (%c)\n"), stays);
  }
  EXPECT_EQ(After({.between = "  %d = opset1.Add \"d\" (%c, %c) : f32[...]\n", .of = "%d"}), stays);
}

}  // namespace
}  // namespace nnefc::transform
