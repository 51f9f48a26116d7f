// Reductions of the last axis, against the reference kernels: short rows, which are reduced several at once,
// and longer ones.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

struct Reduction {
  const char* set;
  const char* name;
  bool selects;  // the result is an element
};
constexpr Reduction kReductions[] = {{"opset1", "ReduceSum", false},  {"opset1", "ReduceProd", false},
                                     {"opset1", "ReduceMean", false}, {"opset1", "ReduceMin", true},
                                     {"opset1", "ReduceMax", true},   {"opset4", "ReduceL1", false},
                                     {"opset4", "ReduceL2", false}};

TestGraph Reduced(const Reduction& reduction, const Shape& shape) {
  TestGraph g;
  g.Result(g.Op(reduction.set, reduction.name, {g.Parameter("x", shape), g.Ints({1})}));
  return g;
}

TEST(RowReductionsTest, RowsAndTermsOfEveryNumber) {
  for (const Reduction& reduction : kReductions) {
    SCOPED_TRACE(reduction.name);
    for (const int64_t rows : {1, 2, 127, 128, 129, 300}) {
      for (const int64_t terms : {1, 2, 3, 7, 15, 16, 17, 31, 32, 33}) {
        const Shape shape = {rows, terms};
        ExpectAsReference(Reduced(reduction, shape), {RandomTensor(shape, 1)}, "",
                          reduction.selects ? 0 : 1e-6);
      }
    }
  }
}

// NaN is skipped, of zeros the first one is the result, and sums of infinities are NaN: of three numbers,
// which rows repeat up to their number of terms.
TEST(RowReductionsTest, SpecialNumbers) {
  const std::vector<float> threes = {0.0F,   -0.0F,     -1,     -0.0F,  0.0F,    -3,        kNan,
                                     2,      1,         -kNan,  kNan,   kNan,    kInfinity, -kInfinity,
                                     kNan,   kInfinity, 1,      2,      -0.0F,   -0.0F,     -0.0F,
                                     -1e38F, -3e38F,    -3e38F, 1e-45F, -1e-45F, 0};
  const size_t count = threes.size() / 3;
  for (const int64_t terms : {3, 31, 32, 33, 100}) {
    std::vector<float> rows;
    for (size_t row = 0; row < count; ++row) {
      for (size_t i = 0; i < static_cast<size_t>(terms); ++i) rows.push_back(threes[3 * row + i % 3]);
    }
    const Shape shape = {static_cast<int64_t>(count), terms};
    const TensorValue x = TensorValue::FromFloats(shape, rows);
    for (const Reduction& reduction : kReductions) {
      SCOPED_TRACE(testing::Message() << reduction.name << " of " << terms << " terms");
      const TestGraph g = Reduced(reduction, shape);
      const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {x});
      const auto found = RunGraph(g.graph, {.backend = kernels::Backend::kFast}, {x});
      for (int64_t i = 0; i < shape[0]; ++i) {
        const double a = found[0].ElementAsDouble(i), b = expected[0].ElementAsDouble(i);
        if (std::isnan(b)) {
          EXPECT_TRUE(std::isnan(a)) << "row " << i << ": " << a;
        } else {
          EXPECT_EQ(a, b) << "row " << i;
          EXPECT_EQ(std::signbit(a), std::signbit(b)) << "row " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
