// Shape functions with arguments that no checked document has: any type, any shape, extreme integers, missing
// attributes and attributes of other kinds. They must report an error or return outputs that verify; run this
// test with sanitizers.

#include <random>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "gtest/gtest.h"
#include "stdlib/declarations.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

class Source {
 public:
  explicit Source(uint32_t seed) : random_(seed) {}

  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  int64_t Integer() {
    constexpr int64_t kExtremes[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, int64_t{1} << 32};
    return Below(12) == 0 ? kExtremes[Below(5)] : Below(8) - 2;
  }
  Attribute::Integers Integers() {
    Attribute::Integers items(static_cast<size_t>(Below(5)));
    for (int64_t& item : items) item = Integer();
    return items;
  }
  ir::Dim Dim() {
    const int64_t lowest = Below(12) == 0 ? INT64_MAX - Below(3) : Below(7);
    if (Below(3) > 0) return {lowest};
    return {lowest, Below(2) == 0 ? ir::Dim::kUnbounded : lowest + std::min(Below(4), INT64_MAX - lowest)};
  }
  PartialShape Shape() {
    if (Below(16) == 0) return {};
    PartialShape shape = PartialShape::OfRank(Below(5));
    for (int64_t axis = 0; axis < shape.rank(); ++axis) shape.set(axis, Dim());
    return shape;
  }
  ElementType Type(std::string_view declared) {
    constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kI64, ElementType::kBoolean,
                                      ElementType::kDynamic, ElementType::kString};
    if (Below(16) == 0) return kTypes[Below(5)];
    if (declared.find("integer") != std::string_view::npos) return ElementType::kI64;
    return declared.find("logical") != std::string_view::npos ? ElementType::kBoolean : ElementType::kF32;
  }
  Attribute Value(std::string_view type) {
    constexpr const char* kStrings[] = {"constant",  "ignore",  "replicate", "reflect", "reflect-even",
                                        "symmetric", "aligned", "scalar",    "integer", ""};
    if (Below(24) == 0) return Below(2) == 0 ? Attribute(Integer()) : Attribute(Shape());
    if (type == "integer") return Integer();
    if (type == "scalar") return 0.5;
    if (type == "logical") return Below(2) == 0;
    if (type == "string") return kStrings[Below(10)];
    if (type == "integer[]") return Below(4) == 0 ? Attribute() : Attribute(Integers());
    if (type == "(integer,integer)[]") {
      std::vector<std::pair<int64_t, int64_t>> pairs(static_cast<size_t>(Below(5)));
      for (auto& [first, second] : pairs) {
        first = Integer();
        second = Integer();
      }
      return ir::PairList(pairs);
    }
    return Attribute::Scalars(static_cast<size_t>(Below(3)), 1.0);
  }

 private:
  std::mt19937 random_;
};

TEST(RobustnessTest, AnyArguments) {
  Source source(20261120);
  constexpr std::string_view kTypes[] = {"scalar", "integer", "logical", "string"};
  for (int round = 0; round < 300; ++round) {
    for (const stdlib::Declaration& declaration : stdlib::Declarations()) {
      Graph graph(&StandardOps(), "g");
      AttributeMap attributes;
      std::vector<OutputPort> inputs;
      std::vector<int32_t> segments;
      if (declaration.is_generic && source.Below(16) > 0) attributes.Set("dtype", kTypes[source.Below(4)]);
      for (const stdlib::DeclaredValue& parameter : declaration.parameters) {
        if (!parameter.type.starts_with("tensor")) {
          if (source.Below(24) > 0) attributes.Set(parameter.name, source.Value(parameter.type));
          continue;
        }
        const bool variadic = parameter.type.ends_with("[]");
        segments.push_back(variadic ? static_cast<int32_t>(source.Below(4)) : source.Below(24) > 0);
        for (int32_t i = 0; i < segments.back(); ++i) {
          inputs.push_back({AddParameter(graph, "x", source.Type(parameter.type), source.Shape()), 0});
        }
      }
      const NodeId node = AddNode(graph, "nnef", declaration.name,
                                  {.inputs = inputs,
                                   .segments = segments,
                                   .attributes = std::move(attributes),
                                   .num_outputs = static_cast<int32_t>(1 + source.Below(3))});
      Emitter emitter;
      if (!ir::InferNode(graph, node, emitter)) continue;
      for (const Output& output : graph.node(node).outputs()) {
        EXPECT_NE(output.type, ElementType::kDynamic) << declaration.name;
        if (output.shape.known()) {
          EXPECT_TRUE(output.shape.volume().has_value()) << declaration.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
