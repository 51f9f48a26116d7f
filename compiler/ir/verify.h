#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// How deep bodies may nest, as in OpenVINO.
inline constexpr int kMaxBodyNesting = 64;

// Checks every invariant of a graph: inputs name existing outputs, uses and
// inputs agree, no cycle, results and sinks are listed once, attributes and
// arity fit the operation, port maps fit the bodies. Returns the violations.
std::vector<std::string> Verify(const Graph& graph);

// Whether parameters, and results, must have names of their own. A file may
// name them as it likes.
enum class PortNames : uint8_t { kDistinct, kAny };

// The same for a graph that was inferred: its types, shapes and values are also
// those that the shape functions find anew, bodies hand on types unchanged, and
// no two parameters or results have one name, unless that is allowed.
std::vector<std::string> VerifyInferred(const Graph& graph, PortNames names = PortNames::kDistinct);

// True if the operation runs bodies, or may run them because nothing is known of it.
bool MayHaveBodies(const OpInfo& info);

// True if the condition of an If is known to choose the other body. Types and
// shapes inside of such a body may break every rule.
bool IsUntaken(const Graph& graph, const Node& node, const Body& body);

}  // namespace nnefc::ir
