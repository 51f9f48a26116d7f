#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "compiler/transform/pipeline/pipeline.h"
#include "compiler/transform/pipeline/standard.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::transform {

// x * tanh(softplus(x))
inline constexpr const char* kMish =
    R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3] as ["x"]
  %1 = opset4.SoftPlus "s" (%0) : f32[2,3]
  %2 = opset1.Tanh "t" (%1) : f32[2,3]
  %3 = opset1.Multiply "m" (%0, %2) : f32[2,3] as ["out"]
  opset1.Result "y" (%3)
)";

// OpenVINO's formula of FakeQuantize, in f32.
inline float FakeQuantize(float x, float low, float high, float first, float last, float levels) {
  if (x <= std::min(low, high)) return first;
  if (x > std::max(low, high)) return last;
  return std::nearbyintf((x - low) / (high - low) * (levels - 1)) / (levels - 1) * (last - first) + first;
}

// An evaluator for a few functions of f32 tensors.
inline std::optional<std::vector<TensorValue>> EvaluateFunction(const ir::Node& node,
                                                                llvm::ArrayRef<ir::Output> known,
                                                                llvm::ArrayRef<TensorValue> inputs) {
  const std::map<std::string, std::function<float(float)>> functions = {
      {"Sqrt", [](float x) { return std::sqrt(x); }},
      {"Floor", [](float x) { return std::floor(x); }},
      {"Abs", [](float x) { return std::abs(x); }},
      {"Subtract", [&](float x) { return x - static_cast<float>(inputs[1].ElementAsDouble(0)); }},
      {"FakeQuantize", [&](float x) {
         const auto limit = [&](size_t i) { return static_cast<float>(inputs[i].ElementAsDouble(0)); };
         return FakeQuantize(x, limit(1), limit(2), limit(3), limit(4),
                             static_cast<float>(node.Int("levels")));
       }}};
  const auto found = functions.find(node.type());
  if (found == functions.end()) return std::nullopt;
  std::vector<float> numbers;
  for (int64_t i = 0; i < inputs[0].volume(); ++i)
    numbers.push_back(found->second(static_cast<float>(inputs[0].ElementAsDouble(i))));
  return std::vector{TensorValue::FromFloats(*known[0].shape.extents(), numbers)};
}

// A transformation that calls a function.
class Calls : public MiddleReplacementPattern {
 public:
  Calls(std::string name, std::function<void(Graph&)> function) : function_(std::move(function)) {
    id = std::move(name);
  }
  void FindAndReplacePattern(Graph& graph) override { function_(graph); }

 private:
  std::function<void(Graph&)> function_;
};

// Graphs in text form, and the results of transformations.
class TransformTest : public ::testing::Test {
 protected:
  // `body` is the text between the brackets of a graph; `rows` are its operations that are not standard.
  std::unique_ptr<ir::Graph> Parse(const std::string& body, std::vector<ir::OpInfo> rows = {}) {
    for (ir::OpInfo& row : rows) {
      if (!registry_.Find(row.set, row.name).valid()) registry_.Add(std::move(row));
    }
    auto graph = ir::ParseGraph(context_.sources.AddText("graph", "graph \"g\" {\n" + body + "}\n"),
                                registry_, context_);
    if (graph == nullptr || !ir::InferGraph(*graph, context_.emitter)) {
      ADD_FAILURE() << context_.emitter.diagnostics().front().message;
      return nullptr;
    }
    return graph;
  }

  // Returns the text with its word labels replaced by numbers.
  static std::string Numbered(const std::string& text) {
    const std::regex label("%([a-z]+)");
    std::map<std::string, size_t> numbers;
    std::string numbered;
    auto from = text.cbegin();
    for (std::sregex_iterator match(text.begin(), text.end(), label), end; match != end; ++match) {
      const size_t number = numbers.try_emplace((*match)[1].str(), numbers.size()).first->second;
      numbered.append(from, (*match)[0].first).append("%" + std::to_string(number));
      from = (*match)[0].second;
    }
    return numbered.append(from, text.cend());
  }

  // Returns "Parameter(a) Add(b: a, a) Result(y: b)": nodes in order, each with its name and the names of its
  // sources.
  static std::string Brief(const ir::Graph& graph) {
    std::string text;
    const auto order = ir::TopologicalOrder(graph);
    for (ir::NodeId id : *order) {
      const ir::Node& node = graph.node(id);
      text += (text.empty() ? "" : " ") + node.type() + "(" + node.name();
      for (int32_t i = 0; i < node.num_inputs(); ++i) {
        text += (i == 0 ? ": " : ", ") + graph.node(node.input(i).node).name();
        if (node.input(i).index > 0) text += "." + std::to_string(node.input(i).index);
      }
      text += ")";
    }
    return text;
  }

  // Runs the list on a graph as if it were lowered; returns the first error, or "".
  std::string Run(const TransformationList& list, ir::Graph& graph, Side side = Side::kAfterLowering,
                  PipelineOptions options = {}) {
    Emitter emitter;
    options.verify = true;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, std::move(options), emitter);
    if (pipeline) (void)pipeline->Run(side, graph, emitter);  // emits errors
    if (emitter.diagnostics().empty()) return "";
    const Diagnostic& first = emitter.diagnostics().front();
    return std::string(first.rule->label) + ": " + first.message;
  }

  // Runs one transformation that calls a function; as Run.
  std::string RunFunction(ir::Graph& graph, std::string name, std::function<void(Graph&)> function) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>(std::move(name), std::move(function));
    return Run(list, graph);
  }

  Context context_;
  ir::OpRegistry registry_{&ir::StandardOps()};
};

// Graphs after the built-in transformations.
class BuiltInTest : public TransformTest {
 protected:
  // Returns the graph after one transformation and the removal of dead nodes.
  std::string After(const std::string& name, const std::string& text, Side side = Side::kAfterLowering) {
    const TransformationList list = StandardTransformations();
    const auto graph = Parse(text);
    if (graph == nullptr) return "no graph";
    EXPECT_EQ(Run(list, *graph, side, {.only = {name, "middle.RemoveUnneeded"}}), "");
    if (side == Side::kBeforeLowering) graph->EraseDeadNodes();
    return Brief(*graph);
  }
  // Returns the operations of a summary other than parameters, constants and results: "Gelu".
  static std::string Left(const std::string& brief) {
    std::string left;
    size_t at = 0;
    while (at < brief.size()) {
      const size_t end = brief.find('(', at);
      const std::string word = brief.substr(at, end - at);
      if (word != "Parameter" && word != "Const" && word != "Result")
        left += (left.empty() ? "" : " ") + word;
      at = brief.find(") ", end);
      if (at == std::string::npos) break;
      at += 2;
    }
    return left;
  }
  // The same for a body between `x`, f32[2,3,4], and the result `y` of %9.
  std::string Body(const std::string& name, const std::string& body) {
    return After(name, "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2,3,4]} : f32[2,3,4]\n" +
                           body + "  opset1.Result \"y\" (%9)\n");
  }
};

}  // namespace nnefc::transform
