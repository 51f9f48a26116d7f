// target.TransposePixelRows: images as matrices of pixels, and near misses.

#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

struct Steps {
  std::string input = "[2,6,4]", order = "0, 2, 1", shape = "2, 4, 2, 3";
  bool is_reshaped_first = false;
  std::vector<std::string> more = {};
};

class PixelRowsTest : public TargetTest {
 protected:
  // The nodes after a Transpose `t` and a Reshape `r`, or the reverse.
  std::string Moved(const Steps& of) {
    const auto type = [](const std::string& items) {
      return fmt::format("i64[{}]", std::count(items.begin(), items.end(), ',') + 1);
    };
    std::vector<std::string> text = {
        TargetInput("x", "f32", of.input), TargetConstant("order", type(of.order), of.order),
        TargetConstant("shape", type(of.shape), of.shape),
        of.is_reshaped_first ? TargetStep("r", "opset1.Reshape", "%x, %shape", "special_zero = false") +
                                   TargetStep("t", "opset1.Transpose", "%r, %order")
                             : TargetStep("t", "opset1.Transpose", "%x, %order") +
                                   TargetStep("r", "opset1.Reshape", "%t, %shape", "special_zero = false"),
        TargetResult(of.is_reshaped_first ? "t" : "r")};
    text.insert(text.end(), of.more.begin(), of.more.end());
    return After("TransposePixelRows", text);
  }
};

TEST_F(PixelRowsTest, ImagesOfRows) {
  EXPECT_EQ(Moved({}), "Reshape[2,2,3,4](Parameter Const) Transpose[2,4,2,3](Reshape Const)");
  EXPECT_EQ(InputOf("Reshape", 1), (std::vector<double>{2, 2, 3, 4}));
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{0, 3, 1, 2}));
}

TEST_F(PixelRowsTest, RowsOfImages) {
  EXPECT_EQ(Moved({.input = "[2,4,2,3]", .shape = "2, 4, 6", .is_reshaped_first = true}),
            "Transpose[2,2,3,4](Parameter Const) Reshape[2,6,4](Transpose Const)");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{0, 2, 3, 1}));
  EXPECT_EQ(InputOf("Reshape", 1), (std::vector<double>{2, 6, 4}));
}

TEST_F(PixelRowsTest, NearMisses) {
  const auto stays = [&](const Steps& of) {
    const std::string nodes = Moved(of);
    return (nodes.find("Transpose") < nodes.find("Reshape")) != of.is_reshaped_first;
  };
  EXPECT_TRUE(stays({.order = "0, 1, 2"}));
  EXPECT_TRUE(stays({.order = "1, 0, 2", .shape = "6, 2, 2, 2"}));
  EXPECT_TRUE(stays({.shape = "2, 2, 4, 3"}));     // other channels
  EXPECT_TRUE(stays({.shape = "1, 4, 4, 3"}));     // other images
  EXPECT_TRUE(stays({.shape = "2, 4, 6"}));        // no image
  EXPECT_TRUE(stays({.shape = "2, 4, 1, 2, 3"}));  // a volume
  EXPECT_TRUE(stays({.more = {TargetStep("u", "opset1.ReLU", "%t"), TargetResultOf("u")}}));
  const Steps rows{.input = "[2,4,2,3]", .shape = "2, 4, 6", .is_reshaped_first = true};
  const auto stays_rows = [&](std::string shape, std::vector<std::string> more = {}) {
    Steps of = rows;
    of.shape = std::move(shape);
    of.more = std::move(more);
    return stays(of);
  };
  EXPECT_FALSE(stays_rows("2, 4, 6"));
  EXPECT_TRUE(stays_rows("2, 8, 3"));
  EXPECT_TRUE(stays_rows("4, 4, 3"));
  EXPECT_TRUE(stays_rows("2, 4, 6", {TargetStep("u", "opset1.ReLU", "%r"), TargetResultOf("u")}));
}

}  // namespace
}  // namespace nnefc::transform::target
