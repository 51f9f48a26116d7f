#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/ops/opset/control_flow/iterations.h"

namespace nnefc::ir::ops {

// `if_else`, `tensor_iterator` and `while_loop` (NNEFC_control_flow) are nodes of the set nnef with the
// bodies "then_body" and "else_body", or "body". Parameters of bodies are nodes of opset1.Parameter. MakeBody
// derives port maps and back edges from the inputs and attributes. The attributes `then_body`, `else_body`
// and `body` are the names of the fragments.

// The type and shape that a parameter of a body receives.
struct BodyParameter {
  ElementType type = ElementType::kDynamic;
  PartialShape shape;
};

// Returns the types and shapes of the parameters of the node's bodies, in order. They depend on inputs and
// attributes only; the bodies need not exist yet. Emits errors like InferNode and returns nothing after one.
[[nodiscard]] std::optional<std::vector<BodyParameter>> BodyParameters(Graph& graph, NodeId node,
                                                                       Emitter& emitter,
                                                                       const ArgumentPlaces* places);

// Makes a body of the node with its port maps and back edges. BodyParameters must accept the node; the graph
// must have these parameters and one result for each output of the node.
Body MakeBody(const Node& node, std::string role, std::unique_ptr<Graph> graph);

}  // namespace nnefc::ir::ops
