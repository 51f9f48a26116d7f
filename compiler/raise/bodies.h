#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// A parameter of a raised body: one of the source's body, or one that the body does not use.
struct RaisedParameter {
  int32_t source = -1;  // index of the source's parameter; -1: none
  ElementType type = ElementType::kDynamic;
  ir::PartialShape shape;
  // The number of the iteration, a part of one element, for the source's parameter.
  bool is_iteration = false;
};

// A result of a raised body.
struct RaisedResult {
  enum class Kind : uint8_t {
    kOfSource,    // a result of the source's body
    kCondition,   // one that is a condition, with the shape [1]
    kParameter,   // a parameter of the target's body
    kNextNumber,  // the parameter for the number of the iteration, plus 1
  };
  Kind kind = Kind::kOfSource;
  int32_t index = -1;  // of the result or of the parameter

  friend bool operator==(const RaisedResult&, const RaisedResult&) = default;
};

// A body of the target.
struct RaisedBody {
  std::unique_ptr<ir::Graph> graph;
  // Constants of the enclosing graph that the body takes as its last parameters.
  std::vector<OutputPort> captured;
};

// Raises a body of the node, with these parameters, then those for captured constants. Errors are reported;
// returns nothing after one.
std::optional<RaisedBody> RaiseBody(NodeRaising& n, const ir::Body& body,
                                    llvm::ArrayRef<RaisedParameter> parameters,
                                    llvm::ArrayRef<RaisedResult> results);

// True if the operation has bodies and a form in NNEFC_control_flow.
bool HasFormWithBodies(const ir::Node& node);
// Adds `if_else`, `tensor_iterator` or `while_loop` of NNEFC_control_flow, or declines.
void RaiseWithBodies(NodeRaising& n);

}  // namespace nnefc::raise
