#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "tools/api/port.h"

namespace nnefc::api {

class Model;

struct OutlineBody;

// An operation, an input or data of a graph, without references to the graph.
struct OutlineNode {
  enum class Kind : uint8_t { kInput, kVariable, kLiteral, kOperation };
  Kind kind = Kind::kOperation;
  std::string set;   // "nnef"
  std::string type;  // "conv"
  std::string name;  // its first result; the label of a variable
  // The text of each attribute by name. Defaults are those of the row that the node does not set.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::vector<std::pair<std::string, std::string>> defaults = {};
  // Indices of nodes and of their outputs.
  std::vector<std::pair<size_t, int32_t>> inputs = {};
  std::vector<int32_t> segments = {};  // see ir::Node::segments
  std::vector<Port> outputs = {};
  std::optional<TensorValue> value = std::nullopt;  // literals, and variables with data in the graph
  std::vector<OutlineBody> bodies;
  int32_t id = 0;  // the index of the ir::NodeId in the copied graph
};

// A copy of the structure of a graph. It remains valid when the graph changes.
struct GraphOutline {
  struct Result {
    Port port;
    size_t node = 0;
    int32_t output = 0;
    int32_t id = 0;  // the index of the ir::NodeId of the result in the copied graph
  };
  std::vector<OutlineNode> nodes;  // in topological order
  std::vector<size_t> inputs;      // in the order of the graph
  std::vector<Result> outputs;
  std::vector<size_t> operations;  // in the order of Model::operations
};

// A graph that a node executes.
struct OutlineBody {
  std::string role;         // "then_body"
  std::string connections;  // the text of the port maps
  GraphOutline graph;
};

// Returns the shape of a result that users see.
using ShapeOf = std::function<ir::PartialShape(const ir::Node& node, int32_t output)>;

// Returns the outline of a graph of NNEF or OpenVINO operations.
GraphOutline OutlineOf(const ir::Graph& graph, const ShapeOf& shape_of = nullptr);
// Returns the outline of the graph of a document or file (Compilation::graph).
GraphOutline OutlineOf(const driver::Compilation& compilation);
// Returns the outline of the graph of a model as it was opened, also after it was lowered.
GraphOutline OutlineOf(const Model& model);

// Returns "y: f32[1,?]", as Python's `str(Port)`.
std::string PortText(const Port& port);
// Returns "y: f32[1,4] = relu(x)": results, inputs and the attributes that the node sets.
std::string OperationText(const GraphOutline& graph, size_t node);
// Returns the name of an input of a node, or the value of a literal.
std::string InputText(const GraphOutline& graph, std::pair<size_t, int32_t> input);

}  // namespace nnefc::api
