#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The maximum nesting depth of bodies, as in OpenVINO.
inline constexpr int kMaxBodyNesting = 64;

// Checks the invariants of a graph: inputs refer to existing outputs, use lists match inputs, no cycle,
// results and sinks are listed once, attributes and arity fit the operation, port maps fit the bodies.
// Returns the violations.
std::vector<std::string> Verify(const Graph& graph);

// The required uniqueness of the names of parameters, and of results. A file may use any names.
enum class PortNames : uint8_t { kDistinct, kAny };

// Verifies an inferred graph. In addition to Verify, types, shapes and values equal those that the shape
// functions compute again, and port maps preserve types. With kDistinct the names of parameters, and of
// results, are unique.
std::vector<std::string> VerifyInferred(const Graph& graph, PortNames names = PortNames::kDistinct);

// True if the operation has bodies, or may have them because it is unknown.
bool MayHaveBodies(const OpInfo& info);

// True if the known condition of an If selects the other body. Types and shapes inside of such a body may
// violate any rule.
bool IsUntaken(const Graph& graph, const Node& node, const Body& body);

}  // namespace nnefc::ir
