// Kernels with formulas or references that are computed here, for sizes that a table of cases is too small for.

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {
namespace {

// Draws as many classes as there are probabilities, each at most once.
FaultOr<std::vector<TensorValue>> DrawAll(const std::vector<double>& row, int64_t seed) {
  const auto count = static_cast<int64_t>(row.size());
  ir::AttributeMap attributes;
  attributes.Set("convert_type", ElementType::kI64);
  attributes.Set("with_replacement", false);
  attributes.Set("log_probs", false);
  attributes.Set("global_seed", seed);
  attributes.Set("op_seed", int64_t{7});
  TestGraph g;
  g.Result(g.Op("opset13", "Multinomial",
                {g.Parameter("x", {1, count}, ElementType::kF64), g.Const(TensorValue::FromInts({}, {count}))},
                attributes));
  const auto input = TensorValue::Make<double>(ElementType::kF64, {1, count}, [&](std::span<double> numbers) {
    std::copy(row.begin(), row.end(), numbers.begin());
  });
  return Session::Create(Compile(g.graph, {.backend = Backend::kReference}))->Run({input});
}

// Each class with a probability is drawn once, and one without any is never drawn. Sums of these probabilities have
// rounding errors.
TEST(FormulasTest, ClassesAreDrawnOnce) {
  const std::vector<std::vector<double>> rows = {
      {0.1, 0.2, 0.3, 0.7}, {0.1, 0.2, 0.3, 0}, {0, 0.1, 0.2, 0.3}, {1e-20, 1}, {1, 1e-20}, {0, 0}, {5}};
  for (const std::vector<double>& row : rows) {
    const bool has_zero = std::count(row.begin(), row.end(), 0.0) > 0;
    for (int64_t seed = 1; seed <= 40; ++seed) {
      const auto outputs = DrawAll(row, seed);
      ASSERT_EQ(outputs.ok(), !has_zero) << row.size() << " classes, seed " << seed;
      if (has_zero) {
        EXPECT_NE(outputs.error().message.find("no probability left"), std::string::npos);
        continue;
      }
      std::vector<bool> is_drawn(row.size());
      for (size_t i = 0; i < row.size(); ++i)
        is_drawn.at(static_cast<size_t>((*outputs)[0].ElementAsInt(static_cast<int64_t>(i)))) = true;
      EXPECT_EQ(std::count(is_drawn.begin(), is_drawn.end(), true), std::ssize(row));
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime
