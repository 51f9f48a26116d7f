#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace nnefc::api {

// Returns a drawing in Graphviz' language DOT of a graph that DescribeModel or DescribeLowered describes.
// Nodes are operations, inputs and outputs; edges have the shapes. Constants and variables are lines in the
// labels of the operations that read them; those that are results of the graph are nodes, too. Instantiated
// fragments and bodies are clusters with a border and a title. Attributes, sources and costs are tooltips in
// formats such as SVG.
std::string GraphvizText(const nlohmann::ordered_json& description);

}  // namespace nnefc::api
