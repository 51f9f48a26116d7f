#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#ifndef NNEFC_EXTENSION  // a plug-in includes <nnefc/extension.h> first
#include "compiler/transform/transformation.h"
#endif

namespace nnefc::transform {

// A graph of OpenVINO operations to edit, with an operation of several outputs and one that nothing reads.
inline constexpr const char* kLoweredGraph =
    R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3] as ["x"]
  %1 = opset1.Const "k" : f32[3] = dense<f32[3]: 1.0, 2.0, 3.0>
  %2 = opset1.Const "axis" : i64[] = dense<i64[]: 1>
  %3 = opset1.Add "a" (%0, %1) : f32[2,3]
  %4:3 = opset1.Split "s" (%3, %2) {num_splits = 3} : f32[2,1], f32[2,1], f32[2,1]
  %5 = opset1.Concat "c" (%4, %4.2, %4.1) {axis = 1} : f32[2,3]
  %6 = opset1.Multiply "m" (%5, %0) : f32[2,3] as ["out"]
  %7 = opset1.ReLU "unread" (%5) : f32[2,3]
  opset1.Result "y" (%6)
  opset1.Result "z" (%4.1)
)";

// A random sequence of edits. Errors of the graph interface are ignored, as a transformation may do.
class RandomEdits {
 public:
  // Names of operations to create, among them one that does not exist.
  using Operations = llvm::ArrayRef<const char*>;
  static constexpr const char* kLowered[] = {
      "ReLU", "Add", "Concat", "opset1.Split", "NoSuchOperation", "Reshape", "Parameter", "Result"};
  static constexpr const char* kNnef[] = {"nnef.relu",  "nnef.add",        "nnef.concat",
                                          "nnef.split", "NoSuchOperation", "nnef.squeeze",
                                          "Parameter",  "nnef.external",   "Result"};

  RandomEdits(Graph& graph, uint32_t seed, Operations operations)
      : graph_(graph), random_(seed), operations_(operations) {}

  void Apply(int count) {
    for (int i = 0; i < count; ++i) {
      try {
        ApplyOne();
      } catch (const Error&) {
        ++num_errors_;
      }
    }
  }
  int num_errors() const { return num_errors_; }

 private:
  int Below(size_t bound) { return static_cast<int>(random_() % std::max<size_t>(bound, 1)); }

  // Returns a node, possibly one that was removed.
  Node Any() {
    if (Below(8) == 0 && !former_.empty()) return former_[static_cast<size_t>(Below(former_.size()))];
    const std::vector<Node> nodes = graph_.GetNodes();
    if (nodes.empty()) throw Error("the graph is empty");
    former_.push_back(nodes[static_cast<size_t>(Below(nodes.size()))]);
    return former_.back();
  }
  // Return a port, possibly one that does not exist.
  Port AnyInput() {
    const Node node = Any();
    return node.in_port(Below(static_cast<size_t>(node.num_in_ports()) + (Below(8) == 0 ? 1 : 0)));
  }
  Port AnyOutput() {
    const Node node = Any();
    return node.out_port(Below(static_cast<size_t>(node.num_out_ports()) + (Below(8) == 0 ? 1 : 0)));
  }
  std::string AnyName() {
    static constexpr const char* kNames[] = {"x", "a", "m", "y", "new", ""};
    return kNames[Below(std::size(kNames))];
  }
  Node Create() {
    std::vector<Port> sources;
    for (int i = Below(4); i > 0; --i) sources.push_back(AnyOutput());
    Graph::Spec spec{.name = AnyName()};
    if (Below(2) == 0) spec.num_inputs = Below(4);
    if (Below(2) == 0) spec.attributes.Set("axis", int64_t{Below(3)});
    if (Below(2) == 0) {  // of a Parameter
      spec.attributes.Set("element_type", ElementType::kF32);
      spec.attributes.Set("shape", ir::PartialShape({int64_t{2}, int64_t{3}}));
    }
    return graph_.CreateNode(operations_[static_cast<size_t>(Below(operations_.size()))], sources,
                             std::move(spec));
  }

  void ApplyOne() {
    switch (Below(18)) {
      case 0:
        former_.push_back(Create());
        return;
      case 1:
        return AnyInput().Connect(AnyOutput());
      case 2:
        return AnyInput().Disconnect();
      case 3:
        return AnyOutput().Disconnect();
      case 4:
        return graph_.Remove(Any());
      case 5:
        return Any().SetName(AnyName());
      case 6:
        return graph_.TakeName(Any(), Any());
      case 7:
        return graph_.TakeOutputs({{AnyOutput(), AnyOutput()}});
      case 8:
        return AnyOutput().GetConnection().SetSource(AnyOutput());
      case 9:
        return AnyInput().GetConnection().SetDestination(AnyInput());
      case 10:
        return AnyInput().GetConnection().InsertNode(Create());
      case 11:
        return Any().Set(AnyName(), ir::Attribute(int64_t{Below(5)}));
      case 12:
        return Any().Set("axis", ir::Attribute("text"));
      case 13:
        return Any().Erase("axis");
      case 14:
        graph_.CreateResult(AnyOutput(), AnyName());
        return;
      case 15:
        graph_.AddInPort(Any(), AnyOutput());
        return;
      case 16:
        return RemoveNodes(graph_, {Any(), Any(), Any()});
      default:
        if (Below(4) == 0) graph_.CleanUp();
        graph_.MarkForInference(Any(), Below(2) == 0);
        return;
    }
  }

  Graph& graph_;
  std::mt19937 random_;
  Operations operations_;
  std::vector<Node> former_;
  int num_errors_ = 0;
};

}  // namespace nnefc::transform
