#pragma once

#include "compiler/driver/compilation.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/costs.h"

namespace nnefc::api {

// Return the description of a model's graph as a JSON object, the data of all drawings:
//
//   {"model": path, "language": "ratified NNEF 1.0", "graph": GRAPH, "costs": totals as in CostsJson}
//   GRAPH: {"name": .., "scopes": [SCOPE..], "nodes": [NODE..]}, nodes after their inputs
//   SCOPE: an instantiated fragment, {"name": .., "fragment": .., "parent": index of an earlier scope or -1}
//   NODE: {"id": .., "name": .., "operation": "conv", "set": "nnef", "section": "R 4.3.1",
//          "kind": "input", "output", "constant", "variable" or "operation", "scope": index or -1,
//          "source": {"file": .., "line": .., "column": ..}, "attributes": {..},
//          "inputs": [{"name": "filter", "node": id, "output": index}..],
//          "outputs": [{"names": [..], "type": "f32", "shape": [1,3,null], "value": [..]}..],
//          "parameters", "parameter_bytes", "macs", "output_bytes", "alive_bytes": if costs are passed; in a
//          body those of one run of it,
//          "statistics": of the data of variables and constants, as in weight_statistics.h, if requested,
//          "milliseconds" ..: as in measured_times.h, if they are added,
//          "counterpart", "difference": as in difference_marks.h, if they are added,
//          "bodies": [BODY..]}
//   BODY: a graph that an If or a loop executes, {"role": "then_body", "parameters": [id..], "results":
//   [id..],
//          "inputs": [{"external": input of the node, "internal": index of a parameter, "axis": ..}..],
//          "outputs": [{"external": output of the node, "internal": index of a result, "axis": ..}..],
//          "back_edges": [{"result": index, "parameter": index}..], "graph": GRAPH}
//
// An unknown extent is null, as is a shape of unknown rank. Only constants of at most 16 elements have a
// value. A number that is not finite is a string: "inf", "-inf", "nan". Sources in binary files have an
// "offset". `DescribeModel` describes the graph of the document or file, `DescribeLowered` the lowered graph
// with its costs, and `DescribeGraph` any graph of the compilation. `with_statistics` reads the data of
// variables, if the model has data, and emits errors to the context of the compilation if they cannot be
// read.
nlohmann::ordered_json DescribeModel(driver::Compilation& compilation, bool with_statistics);
nlohmann::ordered_json DescribeLowered(driver::Compilation& compilation, const ModelCosts& costs,
                                       bool with_statistics);
nlohmann::ordered_json DescribeGraph(driver::Compilation& compilation, const ir::Graph& graph);

}  // namespace nnefc::api
