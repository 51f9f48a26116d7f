#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/ops/opset/iterations.h"

namespace nnefc::ir {

// `if_else` and `tensor_iterator` (NNEFC_control_flow): nodes of the set nnef
// with bodies "then_body" and "else_body", or "body". Parameters of bodies are
// nodes of opset1.Parameter; port maps and back edges follow from the inputs
// and attributes, as MakeBody makes them. `then_body`, `else_body` and `body`
// are attributes too: the names of the fragments.

// What a parameter of a body is fed.
struct BodyParameter {
  ElementType type = ElementType::kDynamic;
  PartialShape shape;
};

// What the parameters of the node's bodies are fed, in order, from its inputs
// and attributes alone: for a node whose bodies are still to be made. Nothing
// after a mistake, which was emitted, as InferNode does.
std::optional<std::vector<BodyParameter>> BodyParameters(Graph& graph, NodeId node, Emitter& emitter,
                                                         const ArgumentPlaces* places);

// A body of the node with its port maps and back edges; for a node that
// BodyParameters accepts and a graph that has these parameters, and as many
// results as the node has outputs.
Body MakeBody(const Node& node, std::string role, std::unique_ptr<Graph> graph);

}  // namespace nnefc::ir
