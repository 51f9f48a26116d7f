#pragma once

// The contract of shape functions for partially known shapes. For an interval of extents, a shape function
// returns extents that include those of every value in the interval. It reports no error if one of the values
// is valid.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/text/text_values.h"
#include "compiler/support/context.h"

namespace nnefc::ir::ops {

struct TypedShape {
  ElementType type = ElementType::kDynamic;
  PartialShape shape;

  std::string text() const { return std::string(Name(type)) + ToString(shape); }
};

// "f32[2,?]; i64[3]"
inline std::optional<std::vector<TypedShape>> ParseTypes(const std::string& text) {
  std::vector<TypedShape> types;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("; ", begin), text.size());
    Context context;
    TextScanner scanner(context.sources.AddText("type", text.substr(begin, end - begin)), context);
    const std::optional<TypeText> type = ir::ParseTypeText(scanner);
    if (!type) return std::nullopt;
    types.push_back({type->type, type->shape});
    begin = end + 2;
  }
  return types;
}

inline bool Holds(const TypedShape& outer, const TypedShape& inner) {
  if (outer.type != ElementType::kDynamic && outer.type != inner.type) return false;
  if (!outer.shape.rank_known()) return true;
  if (!inner.shape.rank_known() || outer.shape.rank() != inner.shape.rank()) return false;
  for (int64_t axis = 0; axis < outer.shape.rank(); ++axis) {
    const Dim a = outer.shape[axis];
    const Dim b = inner.shape[axis];
    if (a.min > b.min || a.max < b.max) return false;
  }
  return true;
}

// The results of an operation in the form of ParseTypes, or the label of the rule that the inputs break.
using InferTypes = std::function<std::string(const std::vector<TypedShape>& inputs)>;

// Opens extents of inputs with known extents, and compares the inferred shape with those of the values
// inside.
inline void ExpectWideningIsSound(const std::vector<TypedShape>& inputs, const InferTypes& infer,
                                  std::mt19937& random) {
  const auto below = [&](size_t bound) { return random() % bound; };
  for (int round = 0; round < 6; ++round) {
    std::vector<TypedShape> open = inputs;
    std::vector<std::vector<TypedShape>> inside = {inputs};
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (round == 0 && below(3) == 0) open[i].shape = PartialShape();
      if (!open[i].shape.rank_known()) continue;
      for (int64_t axis = 0; axis < inputs[i].shape.rank(); ++axis) {
        if (below(2) == 0) continue;
        const int64_t extent = inputs[i].shape[axis].min;
        const Dim around{std::max<int64_t>(extent - 1, 0), extent + 1};
        const Dim choices[] = {Dim(), around, {extent, Dim::kUnbounded}, {0, extent}};
        const Dim chosen = choices[below(4)];
        open[i].shape.set(axis, chosen);
        for (int64_t other : {extent - 1, extent + 1}) {
          if (other < chosen.min || other > chosen.max) continue;
          inside.push_back(inputs);
          inside.back()[i].shape.set(axis, Dim(other));
        }
      }
    }
    const std::string wide_text = infer(open);
    const std::optional<std::vector<TypedShape>> wide =
        wide_text.find('[') == std::string::npos ? std::nullopt : ParseTypes(wide_text);
    for (const std::vector<TypedShape>& known : inside) {
      const std::string text = infer(known);
      if (text.find('[') == std::string::npos) continue;  // the label of a rule
      std::string given;
      for (size_t i = 0; i < open.size(); ++i) given += open[i].text() + " of " + known[i].text() + "; ";
      ASSERT_TRUE(wide.has_value()) << given << "gives " << wide_text << ", but " << text;
      const std::optional<std::vector<TypedShape>> narrow = ParseTypes(text);
      ASSERT_TRUE(narrow.has_value() && narrow->size() == wide->size()) << given << text;
      for (size_t i = 0; i < narrow->size(); ++i) {
        EXPECT_TRUE(Holds((*wide)[i], (*narrow)[i])) << given << "gives " << wide_text << ", but " << text;
      }
    }
  }
}

}  // namespace nnefc::ir::ops
