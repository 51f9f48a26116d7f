#pragma once

// Helpers of the runtime's tests: registries, running a graph, comparing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/graph.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/pipeline/target_pipeline.h"
#include "runtime/engine/executable.h"

namespace nnefc::runtime {

inline constexpr kernels::Backend kBackends[] = {kernels::Backend::kReference, kernels::Backend::kFast};
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns attributes with one explicit value.
inline ir::AttributeMap With(std::string_view name, ir::Attribute value) {
  ir::AttributeMap attributes;
  attributes.Set(name, std::move(value));
  return attributes;
}

inline const ir::OpRegistry& TestRegistry() {
  return ir::StandardOps();
}

inline std::string Messages(const Emitter& emitter) {
  std::string text;
  for (const Diagnostic& diagnostic : emitter.diagnostics()) text += diagnostic.message + "\n";
  return text;
}

// Returns an operation `acme.NAME` without a kernel, whose output has the shape of its input; also its type,
// unless only a run knows that.
inline ir::OpInfo ForeignOp(std::string name, bool has_known_type = true) {
  return {.set = "acme",
          .name = std::move(name),
          .inputs = {{.name = "data"}},
          .outputs = {"output"},
          .infer = [has_known_type](ir::InferContext& context) {
            const ElementType type = has_known_type ? context.input(0).type : ElementType::kDynamic;
            context.SetOutput(0, type, context.input(0).shape);
          }};
}

// Builds graphs of OpenVINO operations, and infers each node.
struct TestGraph {
  std::shared_ptr<ir::Graph> graph = std::make_shared<ir::Graph>(&TestRegistry());

  ir::OutputPort Parameter(std::string name, const Shape& shape, ElementType type = ElementType::kF32) {
    return PartialParameter(std::move(name), ir::PartialShape(llvm::ArrayRef<int64_t>(shape)), type);
  }
  ir::OutputPort PartialParameter(std::string name, ir::PartialShape shape,
                                  ElementType type = ElementType::kF32) {
    const ir::NodeId id = ir::AddParameter(*graph, std::move(name), type, shape);
    graph->SetOutputType({id, 0}, type, shape);
    return {id, 0};
  }
  ir::OutputPort Const(TensorValue value) { return {ir::AddConst(*graph, std::move(value), "c"), 0}; }
  ir::OutputPort Ints(std::vector<int64_t> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return Const(TensorValue::FromInts(shape, values));
  }
  // Random numbers in [low, high), the same ones for the same `seed`.
  ir::OutputPort Weights(Shape shape, unsigned seed, float low = -1, float high = 1);
  ir::OutputPort Op(std::string_view set, std::string_view name, std::vector<ir::OutputPort> inputs,
                    ir::AttributeMap attributes = {}, int outputs = 1) {
    const ir::NodeId id = ir::AddNode(*graph, set, name,
                                      {.name = "n" + std::to_string(graph->node_bound()),
                                       .inputs = inputs,
                                       .attributes = std::move(attributes),
                                       .num_outputs = outputs});
    Emitter emitter;
    EXPECT_TRUE(ir::InferNode(*graph, id, emitter)) << Messages(emitter);
    return {id, 0};
  }
  ir::OutputPort Op(std::string_view name, std::vector<ir::OutputPort> inputs,
                    ir::AttributeMap attributes = {}) {
    return Op("opset1", name, std::move(inputs), std::move(attributes));
  }
  void Result(ir::OutputPort port, std::string name = "output") {
    ir::AddResult(*graph, std::move(name), port);
  }

  ir::OutputPort Convolution(ir::OutputPort x, ir::OutputPort filter, int64_t pad, int64_t stride = 1) {
    ir::AttributeMap attributes;
    attributes.Set("strides", ir::Attribute::Integers{stride, stride});
    attributes.Set("dilations", ir::Attribute::Integers{1, 1});
    attributes.Set("pads_begin", ir::Attribute::Integers{pad, pad});
    attributes.Set("pads_end", ir::Attribute::Integers{pad, pad});
    attributes.Set("auto_pad", "explicit");
    return Op("Convolution", {x, filter}, attributes);
  }
};

inline TensorValue RandomTensor(Shape shape, unsigned seed, float low = -1, float high = 1) {
  return TensorValue::Make<float>(ElementType::kF32, std::move(shape), [&](std::span<float> values) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> distribution(low, high);
    for (float& value : values) value = distribution(random);
  });
}

inline ir::OutputPort TestGraph::Weights(Shape shape, unsigned seed, float low, float high) {
  return Const(RandomTensor(std::move(shape), seed, low, high));
}

// Applies the built-in transformations that a backend requests, and verifies the graph after each. Steps that
// can compute in 8 bits or with bf16 images do so even if they are small, where f32 takes less time.
inline const engine::GraphTransformer& StandardTransformer() {
  static const engine::GraphTransformer kTransformer = [] {
    const auto list =
        std::make_shared<const transform::TransformationList>(transform::StandardTransformations());
    Emitter emitter;
    std::optional<transform::Pipeline> pipeline = transform::Pipeline::Make(*list, {.verify = true}, emitter);
    const auto target = std::make_shared<transform::TargetPipeline>(list, *pipeline);
    return [target](std::vector<std::string> names, const ir::PlanFunctions& functions, ir::Graph& graph,
                    Emitter& reported) {
      std::erase(names, "target.UnmarkSlowRegions");
      std::erase(names, "target.StoreImagesInF32");
      return target->Run(names, functions, graph, reported);
    };
  }();
  return kTransformer;
}

inline std::shared_ptr<const engine::Executable> Compile(std::shared_ptr<const ir::Graph> graph,
                                                         engine::ExecutableOptions options) {
  Emitter emitter;
  options.transform = StandardTransformer();
  std::shared_ptr<const engine::Executable> executable =
      engine::Executable::Create(std::move(graph), options, emitter);
  EXPECT_NE(executable, nullptr) << Messages(emitter);
  return executable;
}

inline std::vector<TensorValue> RunGraph(std::shared_ptr<const ir::Graph> graph,
                                         engine::ExecutableOptions options,
                                         const std::vector<TensorValue>& inputs) {
  std::shared_ptr<const engine::Executable> executable = Compile(std::move(graph), options);
  if (executable == nullptr) return {};
  kernels::FaultOr<std::vector<TensorValue>> outputs = engine::Session::Create(executable)->Run(inputs);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
  return outputs.ok() ? *outputs : std::vector<TensorValue>();
}

// |a - b| <= tolerance * (1 + |b|) element by element; equal where b is not
// finite.
inline void ExpectNear(const TensorValue& actual, const TensorValue& expected, double tolerance) {
  ASSERT_EQ(Name(actual.type()), Name(expected.type()));
  ASSERT_EQ(ToString(actual.shape()), ToString(expected.shape()));
  for (int64_t i = 0; i < expected.volume(); ++i) {
    const double a = actual.ElementAsDouble(i);
    const double b = expected.ElementAsDouble(i);
    if (std::isnan(b)) {
      ASSERT_TRUE(std::isnan(a)) << "element " << i;
    } else if (std::isinf(b)) {
      ASSERT_EQ(a, b) << "element " << i;
    } else {
      ASSERT_LE(std::abs(a - b), tolerance * (1 + std::abs(b)))
          << "element " << i << ": " << a << ", expected " << b;
    }
  }
}

// max |a - b| <= tolerance * max |b|.
inline void ExpectClose(const TensorValue& actual, const TensorValue& expected, double tolerance) {
  ASSERT_EQ(ToString(actual.shape()), ToString(expected.shape()));
  double largest = 0;
  double difference = 0;
  for (int64_t i = 0; i < expected.volume(); ++i) {
    largest = std::max(largest, std::abs(expected.ElementAsDouble(i)));
    difference = std::max(difference, std::abs(actual.ElementAsDouble(i) - expected.ElementAsDouble(i)));
  }
  EXPECT_LE(difference, tolerance * largest);
}

}  // namespace nnefc::runtime
