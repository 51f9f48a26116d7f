#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "compiler/support/error_or.h"

namespace nnefc::api {

// Writes the text form of a graph to `path`, which ends in `.ir`, and the elements of large constants to the
// `.bin` file next to it.
ErrorOr<Success> WriteGraphText(const ir::Graph& graph, const std::string& path);

}  // namespace nnefc::api
