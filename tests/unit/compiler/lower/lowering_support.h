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

namespace nnefc::lower {

// A graph of NNEF operations under construction, and its lowered form. Shapes are inferred as it grows; an
// error there fails the test.
class NnefGraph {
 public:
  NnefGraph();

  ir::OutputPort External(const std::string& name, std::string_view type);  // "f32[1,3,?]"
  ir::OutputPort Variable(const std::string& name, Shape shape, const std::string& label = {});
  ir::OutputPort Literal(double value);
  // Adds an operation. Its result is named `name`; several results are named `name`0, `name`1 and so on.
  // Attributes are in the text form without braces, completed by the defaults of the standard library.
  ir::NodeId Node(std::string_view op, const std::string& name, std::vector<ir::OutputPort> inputs,
                  std::string_view attributes = {}, int num_outputs = 1);
  ir::OutputPort Op(std::string_view op, const std::string& name, std::vector<ir::OutputPort> inputs,
                    std::string_view attributes = {}) {
    return {Node(op, name, std::move(inputs), attributes), 0};
  }
  void Result(const std::string& name, ir::OutputPort port) { ir::AddResult(graph_, name, port); }

  // Lowers the graph, with data for its variables unless `data` is false; null after an error.
  const ir::Graph* Lower(bool data = true);
  // Preserves operations that OpenVINO does not compute exactly, as for a graph that nnefc runs.
  void KeepExactOperations() { keeps_exact_operations_ = true; }
  // Returns the labels of the broken rules.
  std::vector<std::string> Rules() const;
  std::string FirstMessage() const;
  std::vector<std::string> Messages() const;

  // ---- the lowered graph ----
  // Returns the operations except Const, Parameter and Result, in order: "Pad MaxPool".
  std::string Operations() const;
  // Returns the only operation of a type.
  const ir::Node& Find(std::string_view type) const;
  // Returns the producer of the input.
  const ir::Node& Input(const ir::Node& node, int32_t index) const;
  const ir::Node& ResultOf(std::string_view name) const;  // the producer of the result
  std::vector<int64_t> Ints(const ir::Node& node, std::string_view attribute) const {
    return node.attribute(attribute).AsInts();
  }
  // Returns the elements of a constant input.
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
  bool keeps_exact_operations_ = false;
};

}  // namespace nnefc::lower
