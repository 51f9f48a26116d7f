// Windows of the provisional dialect in their ratified form: automatic padding by the formula of P 4.3, and
// lists of full length.

#include <gtest/gtest.h>

#include <cmath>

#include "fmt/format.h"
#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::provisional {
namespace {

struct WindowCase {
  std::string_view operation;
  int64_t extent, size, stride, dilation;

  bool is_reverse() const { return operation.starts_with("de"); }
  bool is_convolution() const { return operation.ends_with("conv"); }
  // P 4.3: t = (x - 1) * s + f_d - X, padded by floor(t / 2) before and the rest after.
  std::pair<int64_t, int64_t> Padding() const {
    const int64_t x = is_reverse() ? extent : (extent + stride - 1) / stride;
    const int64_t upscaled = is_reverse() ? extent * stride : extent;
    const int64_t t = (x - 1) * stride + (size - 1) * dilation + 1 - upscaled;
    const auto before = static_cast<int64_t>(std::floor(static_cast<double>(t) / 2));
    return {before, t - before};
  }
  // The operation along the last of two axes, the first of which has the extent 5.
  std::string Document(std::string_view padding) const {
    const std::string lists = fmt::format("stride = [1,{}], dilation = [1,{}]{}", stride, dilation, padding);
    if (is_convolution()) {
      return fmt::format(
          "version 1.0\n"
          "graph g( x ) -> ( y )\n"
          "{{\n"
          "    x = external(shape = [1,1,5,{}])\n"
          "    f = variable(shape = [1,1,1,{}], label = 'f')\n"
          "    y = {}(x, f, {})\n"
          "}}\n",
          extent, size, operation, lists);
    }
    return fmt::format(
        "version 1.0\n"
        "graph g( x ) -> ( y )\n"
        "{{\n"
        "    x = external(shape = [5,{}])\n"
        "    y = {}(x, size = [1,{}], {})\n"
        "}}\n",
        extent, operation, size, lists);
  }
};

TEST(ProvisionalWindowTest, AutomaticPadding) {
  for (std::string_view operation : {"box", "max_pool", "debox", "conv", "deconv"}) {
    for (int64_t size = 1; size <= 4; ++size) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t dilation = 1; dilation <= 2; ++dilation) {
          for (const int64_t extent : {1, 2, 5, 6, 7}) {
            const WindowCase each{operation, extent, size, stride, dilation};
            const auto [before, after] = each.Padding();
            SCOPED_TRACE(each.Document(""));
            // The first pair is explicit, and the other one automatic.
            const std::string partial = Expansion(each.Document(", padding = [(0,0)]")).Body();
            EXPECT_NE(partial.find(fmt::format("padding = [(0, 0), ({}, {})]", before, after)),
                      std::string::npos)
                << partial;
            // A list without items stays empty unless the ratified padding, which is not negative, differs.
            const std::string automatic = Expansion(each.Document("")).Body();
            const bool is_empty = automatic.find("padding = ") == std::string::npos;
            EXPECT_EQ(is_empty, before >= 0 && after >= 0) << automatic;
            if (!is_empty) {
              EXPECT_NE(automatic.find(fmt::format("padding = [(0, 0), ({}, {})]", before, after)),
                        std::string::npos)
                  << automatic;
            }
          }
        }
      }
    }
  }
}

// Returns the statements of the ratified document, then the messages.
std::string Ratify(std::string_view statements, std::string_view shape = "[1,2,8,8]") {
  Expansion expansion(
      fmt::format("version 1.0\n"
                  "graph g( x ) -> ( y )\n"
                  "{{\n"
                  "    x = external(shape = {})\n"
                  "{}\n"
                  "}}\n",
                  shape, statements));
  return StatementsOf(expansion);
}

void ExpectRatified(llvm::ArrayRef<StatementRow> rows) {
  ExpectRows(rows, [](std::string_view statements) { return Ratify(statements); });
}

TEST(ProvisionalWindowTest, ListsHaveTheRankOfTheInput) {
  ExpectRatified(
      {{"y = box(x, size = [1,1,3])", "y = box(x, size = [1, 1, 3, 1]);\n"},
       {"y = box(x, size = [1,1,3,3,1])", "y = box(x, size = [1, 1, 3, 3]);\n"},
       {"y = box(x, size = [1,1,1,1,3])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = box(y_unsqueeze, size = [1, 1, 1, 1, 3]);\n"},
       {"y = box(x, size = [1], stride = [1,1,1,1,2])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = box(y_unsqueeze, size = [1, 1, 1, 1, 1], stride = [1, 1, 1, 1, 2]);\n"},
       {"y = box(x, size = [1], stride = [1,1,1,1,1], dilation = [1,1,1,1,3])",
        "y = box(x, size = [1, 1, 1, 1], stride = [1, 1, 1, 1], dilation = [1, 1, 1, 1]);\n"},
       {"y = box(x, size = [1], padding = [(0,0),(0,0),(0,0),(0,0),(0,1)])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = box(y_unsqueeze, size = [1, 1, 1, 1, 1], padding = [(0, 0), (0, 0), (0, 0), (0, 0), (0, "
        "1)]);\n"},
       {"y = box(x, size = [1], padding = [(0,0),(0,0),(0,0),(0,0),(1,0)])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = box(y_unsqueeze, size = [1, 1, 1, 1, 1], padding = [(0, 0), (0, 0), (0, 0), (0, 0), (1, "
        "0)]);\n"},
       {"y = box(x, size = [1], padding = [(0,0),(0,0),(0,0),(0,0),(0,0)])",
        "y = box(x, size = [1, 1, 1, 1], padding = [(0, 0), (0, 0), (0, 0), (0, 0)]);\n"},
       {"y = box(x, size = [1,1,2], stride = [1,1,2])",
        "y = box(x, size = [1, 1, 2, 1], stride = [1, 1, 2, 1]);\n"},
       {"y = box(x, size = [1,1,2], stride = [1,1,2,1])",
        "y = box(x, size = [1, 1, 2, 1], stride = [1, 1, 2, 1]);\n"},
       {"y = box(x, size = [1,1,2], dilation = [1,1,2])",
        "y = box(x, size = [1, 1, 2, 1], dilation = [1, 1, 2, 1]);\n"},
       {"y = box(1.0, size = [2])",
        "y_constant = constant(shape = [1], value = [1.0]);\n"
        "y = box(y_constant, size = [2]);\n"},
       {"y = box(1.0, size = [])", "y = box(1.0, size = []);\n"},
       {"y = box(x, size = [])", "y = box(x, size = [1, 1, 1, 1]);\n"},
       {"a, i = max_pool_with_index(x, size = [1,1,2,2], stride = [1,1,2,2], border = 'ignore')\n"
        "y = desample(a, i, size = [1,1,2,2,2])",
        "the window of `max_pool_with_index` has the size [1,1,2,2], but its indices meet those of windows "
        "of the size [1,1,2,2,2]; expected windows of one rank [provisional.coordinate-index]\n"},
       {"a, i = max_pool_with_index(x, size = [1,1,2,2], stride = [1,1,2,2], border = 'ignore')\n"
        "y = desample(a, i, size = [1,1,2,2], stride = [1,1,2,2], padding = [(0,0),(0,0)])",
        "a, i = max_pool_with_index(x, size = [1, 1, 2, 2], border = 'ignore', stride = [1, 1, 2, 2]);\n"
        "y = desample(a, i, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)], stride = [1, 1, "
        "2, 2]);\n"},
       {"i = argmax_pool(x, size = [1,1,2,2])\ny = sample(x, i, size = [1,1,2,2], padding = [(0,0),(0,0)])",
        "i = argmax_pool(x, size = [1, 1, 2, 2]);\n"
        "y = sample(x, i, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 1), (0, 1)]);\n"}});
}

TEST(ProvisionalWindowTest, ListsOfConvolutions) {
  ExpectRatified(
      {{"f = variable(shape = [4,2,3,3], label = 'f')\ny = conv(x, f, stride = [2])",
        "y = conv(x, f, stride = [2, 1]);\n"},
       {"f = variable(shape = [4,2,3,3], label = 'f')\ny = conv(x, f, stride = [2,1,1])",
        "y = conv(x, f, stride = [2, 1]);\n"},
       {"f = variable(shape = [4,2,3,3], label = 'f')\ny = conv(x, f, padding = [(1,1)])",
        "y = conv(x, f, padding = [(1, 1), (1, 1)]);\n"},
       {"f = variable(shape = [4,2,3,3], label = 'f')\ny = conv(x, f, dilation = [2])",
        "y = conv(x, f, dilation = [2, 1]);\n"},
       {"f = variable(shape = [4,2,3], label = 'f')\ny = conv(x, f)",
        "y_unsqueeze = unsqueeze(f, axes = [3]);\n"
        "y = conv(x, y_unsqueeze);\n"},
       {"f = variable(shape = [4,2,3,3,3], label = 'f')\ny = conv(x, f)",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = conv(y_unsqueeze, f);\n"},
       {"f = variable(shape = [4,2], label = 'f')\ny = conv(x, f, stride = [2], padding = [(0,0)])",
        "y_unsqueeze = unsqueeze(f, axes = [2, 3]);\n"
        "y = conv(x, y_unsqueeze, padding = [(0, 0), (0, 0)], stride = [2, 1]);\n"},
       {"f = variable(shape = [4], label = 'f')\ny = conv(x, f)",
        "`filter` of `conv` has 1 channel; expected 2, as `input` of `conv` has; `groups = 0` convolves each "
        "channel by itself [conv.channels]\n"},
       {"y = conv(x, 0.5)",
        "`filter` of `conv` has 1 channel; expected 2, as `input` of `conv` has [conv.channels]\n"},
       {"y = conv(0.5, 0.25)",
        "y_constant = constant(shape = [1, 1], value = [0.5]);\n"
        "y_constant_2 = constant(shape = [1, 1], value = [0.25]);\n"
        "y = conv(y_constant, y_constant_2);\n"},
       {"f = variable(shape = [4,2,3,3], label = 'f')\nb = variable(shape = [1,4,1], label = 'b')\ny = "
        "conv(x, f, b)",
        "y = conv(x, f, b);\n"},
       {"f = variable(shape = [4,2,3,3], label = 'f')\nb = variable(shape = [1,4,1,1,2], label = 'b')\ny = "
        "conv(x, f, b)",
        "`bias` of `conv` has shape [1,4,1,1,2]; expected [1,4], the channels at axis 1 [conv.bias]\n"},
       {"f = variable(shape = [2,2,3,3], label = 'f')\ny = planewise_conv(x, f)",
        "`filter` of `planewise_conv` has 2 channels for each of 2 groups; expected 2 channels in all, as "
        "`input` of `planewise_conv` has [conv.channels]\n"},
       {"f = variable(shape = [2,1,3,3], label = 'f')\ny = deconv(x, f, stride = [2], padding = [(1,0)])",
        "y = deconv(x, f, padding = [(1, 0), (1, 1)], stride = [2, 1]);\n"},
       {"f = variable(shape = [2,3,3,3], label = 'f')\ny = planewise_deconv(x, f)",
        "y = deconv(x, f, groups = 2);\n"},
       {"f = variable(shape = [2,2,3,3], label = 'f')\ny = deconv(x, f)", "y = deconv(x, f);\n"},
       {"p = variable(shape = [2,1,3,3], label = 'p')\nq = variable(shape = [4,2], label = 'q')\ny = "
        "separable_conv(x, p, q)",
        "y_unsqueeze = unsqueeze(q, axes = [2, 3]);\n"
        "y = separable_conv(x, p, y_unsqueeze);\n"},
       {"p = variable(shape = [4,1,3,3], label = 'p')\n"
        "q = variable(shape = [2,4], label = 'q')\n"
        "y = separable_deconv(x, p, q, stride = [2], padding = [(1,0)])",
        "y_unsqueeze = unsqueeze(q, axes = [2, 3]);\n"
        "y = separable_deconv(x, p, y_unsqueeze, padding = [(1, 0), (1, 1)], stride = [2, 1]);\n"}});
}

TEST(ProvisionalWindowTest, ItemsHave31Bits) {
  for (const char* name : {"size", "stride", "dilation"}) {
    for (int place = 0; place < 4; ++place) {
      std::vector<int64_t> items(4, 1);
      items[static_cast<size_t>(place)] = int64_t{1} << 31;
      const std::string sizes = std::string_view(name) == "size" ? "" : "size = [1,1,1,1], ";
      EXPECT_EQ(Ratify(fmt::format("y = box(x, {}{} = [{}])", sizes, name, fmt::join(items, ","))),
                fmt::format(
                    "`{0}[{1}]` of `box` is 2147483648; expected at most 2147483647 [provisional.argument]\n",
                    name, place));
    }
  }
  for (const char* name : {"stride", "dilation"}) {
    const std::string filter = "f = variable(shape = [2,2,1,1], label = 'f')\n";
    EXPECT_EQ(
        Ratify(fmt::format("{}y = conv(x, f, {} = [1,2147483648])", filter, name)),
        fmt::format("`{}[1]` of `conv` is 2147483648; expected at most 2147483647 [provisional.argument]\n",
                    name));
    EXPECT_NE(
        Ratify(fmt::format("{}y = conv(x, f, {} = [1,2147483647])", filter, name)).find(" = [1, 2147483647]"),
        std::string::npos);
  }
}

TEST(ProvisionalWindowTest, OpenExtents) {
  const auto translate = [](std::string_view body, std::string_view shape) { return Ratify(body, shape); };
  EXPECT_EQ(
      translate("f = variable(shape = [2,3,3,3], label = 'f')\ny = planewise_deconv(x, f)", "[1,0,8,8]"),
      "`input` of `planewise_deconv` has channels that an external leaves open; give them with "
      "`--input-shape` "
      "[shape-of.unspecified-extent]\n");
  EXPECT_EQ(
      translate("f = variable(shape = [2,1,3,3], label = 'f')\ny = planewise_deconv(x, f)", "[1,0,8,8]"),
      "y = deconv(x, f, groups = 0);\n");
}

TEST(ProvisionalWindowTest, RangesOfThisDialect) {
  const std::string filter = "f = variable(shape = [2,2,3,3], label = 'f')\n";
  for (const char* operation : {"conv", "deconv"}) {
    for (const int groups : {0, -1}) {
      EXPECT_EQ(Ratify(fmt::format("{}y = {}(x, f, groups = {})", filter, operation, groups)),
                fmt::format("`groups` of `{}` is {}; expected a positive number [provisional.argument]\n",
                            operation, groups));
    }
    EXPECT_NE(Ratify(fmt::format("{}y = {}(x, f, groups = 1)", filter, operation)).find("y = "),
              std::string::npos);
    for (const char* padding : {"[(-2,0)]", "[(0,-2)]", "[(0,0),(-2,0)]", "[(0,0),(0,-2)]"}) {
      EXPECT_EQ(
          Ratify(fmt::format("{}y = {}(x, f, padding = {})", filter, operation, padding)),
          fmt::format("an item of `padding` of `{}` is -2; expected none below 0 [provisional.argument]\n",
                      operation));
    }
  }
}

TEST(ProvisionalWindowTest, RanksOfOperands) {
  ExpectRatified(
      {{"y = nearest_upsample(x, factor = [])", "y = nearest_upsample(x, factor = [1, 1]);\n"},
       {"y = nearest_upsample(x, factor = [2,1,1])", "y = nearest_upsample(x, factor = [2, 1]);\n"},
       {"y = nearest_upsample(x, factor = [2,1,2])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = nearest_upsample(y_unsqueeze, factor = [2, 1, 2]);\n"},
       {"y = nearest_upsample(1.0, factor = [])",
        "y_constant = constant(shape = [1, 1], value = [1.0]);\n"
        "y = nearest_upsample(y_constant, factor = []);\n"},
       {"y = nearest_downsample(x, factor = [2])", "y = nearest_downsample(x, factor = [2, 1]);\n"},
       {"y = sum_reduce(x, axes = [3])", "y = sum_reduce(x, axes = [3]);\n"},
       {"y = sum_reduce(x, axes = [4])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = sum_reduce(y_unsqueeze, axes = [4]);\n"},
       {"y = sum_reduce(x, axes = [4,0])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = sum_reduce(y_unsqueeze, axes = [4, 0]);\n"},
       {"y = sum_reduce(x, axes = [])", "y = sum_reduce(x, axes = []);\n"},
       {"y = sum_reduce(x, axes = [63])",
        "y_unsqueeze = unsqueeze(x, axes = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
        "21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, "
        "46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]);\n"
        "y = sum_reduce(y_unsqueeze, axes = [63]);\n"},
       {"y = sum_reduce(x, axes = [64])",
        "`axes[0]` of `sum_reduce` is 64; expected at least 0 [axis.range]\n"},
       {"y = sum_reduce(x, axes = [-1])",
        "`axes[0]` of `sum_reduce` is -1; expected at least 0 [axis.range]\n"},
       {"y = softmax(x, axes = [5])",
        "y_unsqueeze = unsqueeze(x, axes = [4, 5]);\n"
        "y = softmax(y_unsqueeze, axes = [5]);\n"},
       {"y = transpose(x, perm = [1,0,2,3])", "y = transpose(x, axes = [1, 0, 2, 3]);\n"},
       {"y = transpose(x, perm = [1,0,2,4,3])",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y = transpose(y_unsqueeze, axes = [1, 0, 2, 4, 3]);\n"},
       {"y = concat([x,x], axis = 4)",
        "y_unsqueeze = unsqueeze(x, axes = [4]);\n"
        "y_unsqueeze_2 = unsqueeze(x, axes = [4]);\n"
        "y = concat([y_unsqueeze, y_unsqueeze_2], axis = 4);\n"},
       {"y = concat([x,1.0], axis = 3)",
        "`values[1]` of `concat` has shape [1,1,1,1]; expected the extents of [1,2,8,8] but for axis 3 "
        "[concat.extents]\n"},
       {"y = reshape(x, shape = [1,2,64])", "y = reshape(x, shape = [1, 2, 64]);\n"},
       {"y = reshape(x, shape = [0,2,8,8])", "y = reshape(x, shape = [0, 2, 8, 8]);\n"},
       {"y = reshape(x, shape = [0,0,0,0,0])", "y = reshape(x, shape = [0, 0, 0, 0, 1]);\n"},
       {"a = reshape(x, shape = [16,8,1,1])\ny = matmul(a, a, trB = true)",
        "a = reshape(x, shape = [16, 8, 1, 1]);\n"
        "y_squeeze = squeeze(a, axes = [2, 3]);\n"
        "y_squeeze_2 = squeeze(a, axes = [2, 3]);\n"
        "y = matmul(y_squeeze, y_squeeze_2, transposeB = true);\n"},
       {"a = reshape(x, shape = [128])\ny = matmul(a, 2.0)",
        "a = reshape(x, shape = [128]);\n"
        "y_unsqueeze = unsqueeze(a, axes = [1]);\n"
        "y_constant = constant(shape = [1, 1], value = [2.0]);\n"
        "y = matmul(y_unsqueeze, y_constant);\n"},
       {"a = reshape(x, shape = [1,16,8])\ny = matmul(a, a, trB = true)",
        "`A` of `matmul` has shape [1,16,8]; expected at most 2 extents that are not singular "
        "[provisional.matrix-rank]\n"},
       {"a = reshape(x, shape = [16,8])\nb = reshape(x, shape = [16,4,2])\ny = matmul(a, b)",
        "`B` of `matmul` has shape [16,4,2]; expected at most 2 extents that are not singular "
        "[provisional.matrix-rank]\n"},
       {"a = reshape(x, shape = [16,8])\nb = reshape(x, shape = [16,4,2])\ny = linear(a, b)",
        "`filter` of `linear` has shape [16,4,2]; expected at most 2 extents that are not singular "
        "[provisional.matrix-rank]\n"},
       {"v = variable(shape = [1,2,8,8], label = 'v')\ny = update(v, x)", "y = update(v, x);\n"},
       {"v = variable(shape = [1,2,1], label = 'v')\na = sum_reduce(x, axes = [2,3])\ny = update(v, a)",
        "a = sum_reduce(x, axes = [2, 3]);\n"
        "y_squeeze = squeeze(a, axes = [3]);\n"
        "y = update(v, y_squeeze);\n"},
       {"v = variable(shape = [], label = 'v')\ns = variable(shape = [1,1], label = 's')\ny = update(v, s)",
        "y_squeeze = squeeze(s, axes = [0, 1]);\ny = update(v, y_squeeze);\n"},
       {"v = variable(shape = [1,1], label = 'v')\ny = update(v, 2.0)",
        "y_constant = constant(shape = [1, 1], value = [2.0]);\n"
        "y = update(v, y_constant);\n"}});
}

TEST(ProvisionalWindowTest, OperandsOfChoices) {
  constexpr std::string_view kOperands =
      "c = gt(x, 0.0)\n"
      "v = variable(shape = [1,2], label = 'v')\n"
      "s = variable(shape = [1,1,1], label = 's')\n"
      "w = variable(shape = [1,2,1,1], label = 'w')\n";
  const auto translate = [&](std::string_view statement) {
    std::string statements = Ratify(std::string(kOperands) + std::string(statement));
    return statements.starts_with("c = ") ? statements.substr(statements.find('\n') + 1) : statements;
  };
  const std::vector<StatementRow> rows = {
      {"y = select(c, x, x)", "y = select(c, x, x);\n"},
      {"y = select(c, x, 1.0)", "y = select(c, x, 1.0);\n"},
      {"y = select(c, 1.0, x)", "y = select(c, 1.0, x);\n"},
      {"y = select(c, x, v)",
       "`true_value` of `select` has shape [1,2,8,8], `false_value` [1,2]; expected one shape, or one of "
       "them to be singular in all dimensions [provisional.select-shapes]\n"},
      {"y = select(c, v, x)",
       "`true_value` of `select` has shape [1,2], `false_value` [1,2,8,8]; expected one shape, or one of "
       "them to be singular in all dimensions [provisional.select-shapes]\n"},
      {"y = select(c, v, w)", "y = select(c, v, w);\n"},
      {"y = select(c, s, v)", "y = select(c, s, v);\n"},
      {"y = select(c, v, s)", "y = select(c, v, s);\n"},
      {"y = min(x, v)",
       "`x` of `min` has shape [1,2,8,8], `y` [1,2]; expected one shape, or one of them to be singular in "
       "all dimensions [provisional.select-shapes]\n"},
      {"y = max(v, x)",
       "`x` of `max` has shape [1,2], `y` [1,2,8,8]; expected one shape, or one of them to be singular in "
       "all dimensions [provisional.select-shapes]\n"},
      {"y = max(v, w)", "y = max(v, w);\n"},
      {"y = max(s, x)", "y = max(s, x);\n"},
      {"y = max(x, s)", "y = max(x, s);\n"},
      {"y = clamp(x, 0.0, 1.0)", "y = clamp(x, 0.0, 1.0);\n"},
      {"y = clamp(x, v, 1.0)",
       "`x` of `clamp` has shape [1,2,8,8], `a` [1,2]; expected one shape, or one of them to be singular in "
       "all dimensions [provisional.select-shapes]\n"},
      {"y = clamp(x, 0.0, v)",
       "`x` of `clamp` has shape [1,2,8,8], `b` [1,2]; expected one shape, or one of them to be singular in "
       "all dimensions [provisional.select-shapes]\n"},
      {"y = clamp(0.5, v, x)",
       "`b` of `clamp` has shape [1,2,8,8], `a` [1,2]; expected one shape, or one of them to be singular in "
       "all dimensions [provisional.select-shapes]\n"},
      {"y = clamp(0.5, v, w)", "y = clamp(0.5, v, w);\n"},
      {"y = clamp(0.5, x, 1.0)", "y = clamp(0.5, x, 1.0);\n"},
      {"y = clamp(x, s, s)", "y = clamp(x, s, s);\n"}};
  ExpectRows(rows, translate);
}

}  // namespace
}  // namespace nnefc::expand::provisional
