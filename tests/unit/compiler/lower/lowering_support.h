#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/lower.h"
#include "compiler/support/context.h"

namespace nnefc::testing {

// A graph of NNEF operations under construction, and what it is lowered to.
// Shapes are inferred as it grows; a mistake there fails the test.
class NnefGraph {
 public:
  NnefGraph();

  ir::OutputPort External(const std::string& name, std::string_view type);  // "f32[1,3,?]"
  ir::OutputPort Variable(const std::string& name, Shape shape, const std::string& label = {});
  ir::OutputPort Literal(double value);
  // Adds an operation; its results are named `name`, or `name`0, `name`1 where
  // there are several. Attributes are in the text form without braces,
  // completed by the defaults of the standard library.
  ir::NodeId Node(std::string_view op, const std::string& name, std::vector<ir::OutputPort> inputs,
                  std::string_view attributes = {}, int num_outputs = 1);
  ir::OutputPort Op(std::string_view op, const std::string& name, std::vector<ir::OutputPort> inputs,
                    std::string_view attributes = {}) {
    return {Node(op, name, std::move(inputs), attributes), 0};
  }
  void Result(const std::string& name, ir::OutputPort port) { graph_.AddResult(name, port); }

  // Lowers the graph, with data for its variables unless `data` is false; null
  // after a mistake.
  const ir::Graph* Lower(bool data = true);
  // The labels of the rules that were broken.
  std::vector<std::string> Rules() const;
  std::string FirstMessage() const;

  // ---- the lowered graph ----
  // The operations but Const, Parameter and Result, in order: "Pad MaxPool".
  std::string Operations() const;
  // The only operation of a type.
  const ir::Node& Find(std::string_view type) const;
  // The operation that feeds the input.
  const ir::Node& Input(const ir::Node& node, int32_t index) const;
  const ir::Node& ResultOf(std::string_view name) const;  // the operation that feeds it
  std::vector<int64_t> Ints(const ir::Node& node, std::string_view attribute) const {
    return node.attribute(attribute).AsInts();
  }
  // The elements of a constant input.
  std::vector<int64_t> IntInput(const ir::Node& node, int32_t index) const;

  ir::Graph& graph() { return graph_; }
  const ir::Graph& lowered() const { return *lowered_; }
  const TensorValue& data(const std::string& label) const { return data_.at(label); }

 private:
  ir::NodeId Add(std::string_view op, ir::NodeSpec spec);

  Context context_;
  ir::Graph graph_;
  std::unique_ptr<ir::Graph> lowered_;
  std::map<std::string, TensorValue> data_;
  int literals_ = 0;
};

}  // namespace nnefc::testing
