#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/api/explain/paint.h"
#include "tools/api/facts/costs.h"

namespace nnefc::cli {

// Prints the totals of a lowered graph, then a table of its operations: the first `limit`, or all if
// negative.
void PrintCosts(const ir::Graph& graph, const ir::ops::GraphCosts& costs, int64_t limit,
                const api::Painter& paint);
// Prints one line of comma-separated values per operation, below a line of headings (RFC 4180).
void PrintCostsAsCsv(const ir::Graph& graph, const ir::ops::GraphCosts& costs);
// Returns the totals and operations as an object; numbers of multiply-accumulates, elements and bytes.
nlohmann::ordered_json CostsToJson(const std::string& model, const ir::Graph& graph,
                                   const ir::ops::GraphCosts& costs);

}  // namespace nnefc::cli
