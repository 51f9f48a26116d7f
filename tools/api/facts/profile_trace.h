#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/profile.h"

namespace nnefc::api {

// Returns a profile in the trace event format of Chrome's tracing and Perfetto: one event per step ("X"), one
// after the other, within events of the instantiated fragments that its node comes from. Times are in
// microseconds. `graph` is the lowered graph.
nlohmann::ordered_json TraceJson(const Profile& profile, const ir::Graph& graph, const std::string& model);

// Returns a profile as folded stacks, for flame graphs: a line "model;scope;operation name 1234" per step,
// with its nanoseconds. The frames are the instantiated fragments that the node comes from. `;` and control
// characters in names become `_`.
std::string FoldedStacks(const Profile& profile, const ir::Graph& graph, const std::string& model);

}  // namespace nnefc::api
