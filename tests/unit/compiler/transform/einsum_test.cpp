// Einsum as matrix multiplication, and equations that have no such form.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class EinsumTest : public BuiltInTest {
 protected:
  // Returns the replacement of an equation of a [2,3,4], or `a`, and `b`.
  std::string Of(const std::string& equation, const std::string& a, const std::string& b,
                 const std::string& type = "f32") {
    const auto parameter = [&](int id, const std::string& name, const std::string& shape) {
      return fmt::format("  %{0} = opset1.Parameter \"{1}\" {{element_type = {3}, shape = {2}}} : {3}{2}\n",
                         id, name, shape, type);
    };
    const std::string brief =
        After("middle.EinsumToMatMul",
              parameter(0, "a", a) + parameter(1, "b", b) +
                  fmt::format("  %2 = opset7.Einsum \"e\" (%0, %1) {{equation = \"{}\"}} : {}[...]\n",
                              equation, type) +
                  "  opset1.Result \"y\" (%2)\n");
    return brief.substr(brief.find("Parameter(b) ") + 13);
  }
};

TEST_F(EinsumTest, ProductsWithoutMoves) {
  EXPECT_EQ(Of("bij,bjk->bik", "[2,3,4]", "[2,4,5]"), "MatMul(e: a, b) Result(y: e)");
  EXPECT_EQ(Of("bij,bkj->bik", "[2,3,4]", "[2,5,4]"), "MatMul(e: a, b) Result(y: e)");
  EXPECT_EQ(Of("...ij,...jk->...ik", "[2,7,3,4]", "[2,7,4,5]"), "MatMul(e: a, b) Result(y: e)");
}

TEST_F(EinsumTest, OperandsInTheOrderOfTheResult) {
  EXPECT_EQ(Of("ij,kj->ki", "[3,4]", "[5,4]"), "MatMul(e: b, a) Result(y: e)");
}

TEST_F(EinsumTest, AxesThatLieOtherwise) {
  EXPECT_EQ(Of("bhij,bjhd->bihd", "[2,3,5,6]", "[2,6,3,4]"),
            "Const(e/order) Transpose(e/transposed: b, e/order) MatMul(e/product: a, e/transposed) "
            "Const(e/order_2) Transpose(e: e/product, e/order_2) Result(y: e)");
}

TEST_F(EinsumTest, SeveralLabelsOfAKind) {
  EXPECT_EQ(
      Of("abc,cd->abd", "[2,3,4]", "[4,5]"),
      "Const(e/shape) Reshape(e/matrices: a, e/shape) Const(e/shape_2) Reshape(e/matrices_2: b, e/shape_2) "
      "MatMul(e/product: e/matrices, e/matrices_2) Const(e/shape_3) Reshape(e: e/product, e/shape_3) "
      "Result(y: e)");
}

TEST_F(EinsumTest, WhatIsNoProductOfMatrices) {
  const std::string left = "Einsum(e: a, b) Result(y: e)";
  EXPECT_EQ(Of("ij,ij->ij", "[3,4]", "[3,4]"), left);
  EXPECT_EQ(Of("ij,ik->ijk", "[3,4]", "[3,5]"), left);
  EXPECT_EQ(Of("ii,ij->j", "[3,3]", "[3,5]"), left);
  EXPECT_EQ(Of("ij,jkk->ik", "[3,4]", "[4,5,5]"), left);
  EXPECT_EQ(Of("jkk,ij->ik", "[4,5,5]", "[3,4]"), left);
  EXPECT_EQ(Of("ij,jk->iik", "[3,4]", "[4,5]"), left);
  // m is summed separately.
  EXPECT_EQ(Of("ijm,jk->ik", "[3,4,2]", "[4,5]"), left);
  EXPECT_EQ(Of("ij,jkm->ik", "[3,4]", "[4,5,2]"), left);
  EXPECT_EQ(Of("jk,ijm->ik", "[4,5]", "[3,4,2]"), left);
  EXPECT_EQ(Of("jkm,ij->ik", "[4,5,2]", "[3,4]"), left);
}

// Products of integers remain.
TEST_F(EinsumTest, TypesOfElements) {
  EXPECT_EQ(Of("ij,jk->ik", "[3,4]", "[4,5]", "i32"), "Einsum(e: a, b) Result(y: e)");
  for (const char* type : {"f16", "f32", "f64"})
    EXPECT_EQ(Of("ij,jk->ik", "[3,4]", "[4,5]", type), Of("ij,jk->ik", "[3,4]", "[4,5]")) << type;
}

TEST_F(EinsumTest, EquationsOfOtherThanTwoOperandsRemain) {
  const std::string a = "  %0 = opset1.Parameter \"a\" {element_type = f32, shape = [3,3]} : f32[3,3]\n";
  const auto of = [&](const std::string& inputs, const std::string& equation) {
    return After("middle.EinsumToMatMul", a + "  %1 = opset7.Einsum \"e\" (" + inputs + ") {equation = \"" +
                                              equation + "\"} : f32[...]\n  opset1.Result \"y\" (%1)\n");
  };
  EXPECT_EQ(of("%0, %0", "ij,jk->ik"), "Parameter(a) MatMul(e: a, a) Result(y: e)");
  EXPECT_EQ(of("%0, %0, %0", "ij,jk,kl->il"), "Parameter(a) Einsum(e: a, a, a) Result(y: e)");
  EXPECT_EQ(of("%0", "ij->ji"), "Parameter(a) Einsum(e: a) Result(y: e)");
}

// At most 64 axes at `...` have labels of their own; with more, no axis takes the label of a letter.
TEST_F(EinsumTest, AxesOfAnEllipsis) {
  const std::string left = "Einsum(e: a, b) Result(y: e)";
  const auto with_axes = [](int count, const std::string& extents) {
    std::string shape = "[";
    for (int i = 0; i < count; ++i) shape += "2,";
    return shape + extents + "]";
  };
  for (const int count : {1, 63, 64}) {
    EXPECT_EQ(Of("...ij,...jA->...iA", with_axes(count, "3,4"), with_axes(count, "4,5")),
              "MatMul(e: a, b) Result(y: e)")
        << count;
  }
  EXPECT_EQ(Of("...ij,...jk->...ik", with_axes(65, "3,4"), with_axes(65, "4,5")), left);
  // `A` is summed, next to the axis whose extent is the same.
  for (const int count : {64, 65, 66})
    EXPECT_EQ(Of("...ij,jA->...i", with_axes(count, "3,4"), "[4,2]"), left) << count;
}

// The product of merged extents is a number of 64 bits: 2^59 * 3 * 4 is, 2^60 * 3 * 4 is not.
TEST_F(EinsumTest, ProductsOfMergedExtents) {
  const auto is_replaced = [&](int count) {
    std::string shape = "[";
    for (int i = 0; i < count; ++i) shape += "2,";
    return Of("...ij,jk->...ik", shape + "3,4]", "[4,5]").find("MatMul") != std::string::npos;
  };
  EXPECT_TRUE(is_replaced(59));
  EXPECT_FALSE(is_replaced(60));
}

// An extent of 1 broadcasts in Einsum, and an open one may be 1.
TEST_F(EinsumTest, ExtentsThatMayStretch) {
  const std::string left = "Einsum(e: a, b) Result(y: e)";
  EXPECT_EQ(Of("ij,jk->ik", "[3,1]", "[4,5]"), left);
  EXPECT_EQ(Of("ij,jk->ik", "[3,?]", "[4,5]"), left);
  EXPECT_EQ(Of("abc,cd->abd", "[?,3,4]", "[4,5]"), left);
  EXPECT_EQ(Of("...ij,...jk->...ik", "[7,3,4]", "[2,7,4,5]"), left);
  EXPECT_EQ(Of("...ij,...jk->...ik", "[7,3,4]", "[7,7,4,5]"), left);
  EXPECT_EQ(Of("...ij,...jk->...ik", "[7,7,3,4]", "[7,4,5]"), left);
  EXPECT_EQ(Of("bij,bjk->bik", "[?,?,4]", "[2,4,?]"), "MatMul(e: a, b) Result(y: e)");
  EXPECT_EQ(Of("ij,jk->ik", "[3,4]", "[?,5]"), left);
  // The batch, where rows are of two labels.
  EXPECT_EQ(Of("biuj,bjk->biuk", "[5,3,2,4]", "[5,4,6]").find("Einsum"), std::string::npos);
  EXPECT_EQ(Of("biuj,bjk->biuk", "[1,3,2,4]", "[5,4,6]"), left);
  // Axes at `...` of one operand are rows or columns.
  const std::string made =
      "Const(e/shape) Reshape(e/matrices: a, e/shape) Const(e/shape_2) Reshape(e/matrices_2: b, e/shape_2) "
      "MatMul(e/product: e/matrices, e/matrices_2) Const(e/shape_3) Reshape(e: e/product, e/shape_3) "
      "Result(y: e)";
  EXPECT_EQ(Of("...ij,jk->...ik", "[2,3,4]", "[4,5]"), made);
  EXPECT_EQ(Of("...ij,jk->...ik", "[6,2,3,4]", "[4,5]"), made);
  EXPECT_EQ(Of("ij,...jk->i...k", "[3,4]", "[6,2,4,5]").find("Einsum"), std::string::npos);
  EXPECT_EQ(Of("...ij,...jk->...ik", "[2,3,4]", "[4,5]"), made);
}

}  // namespace
}  // namespace nnefc::transform
