#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/support/context.h"

namespace nnefc::api {

// A transformation of a compilation with these options and plug-ins.
struct ListedTransformation {
  std::string name;
  std::string phase;
  std::string kind;
  bool is_anchor = false;  // changes nothing: a point in the order
  bool is_enabled = false;
  std::string switched_by;  // the option or variable that enables or disables it; empty: neither
};

// Returns all transformations in the order of execution. Returns nothing after an error was emitted;
// `environment_failed` is set if a file cannot be read.
[[nodiscard]] std::optional<std::vector<ListedTransformation>> ListTransformations(
    const driver::TransformOptions& options, const plugin::Plugins& plugins, Context& context,
    bool& environment_failed);

// Returns a table of the time of each transformation of a lowered model, with the number of nodes before and
// after it; empty if none ran.
std::string TransformationTimes(const driver::Compilation& compilation);

// Disables nnefc's own transformations that are not explicitly enabled, so that the document's tensors are
// computed rather than fused.
void KeepTensors(driver::TransformOptions& options);

// The transformations before and after which a graph is printed: names, or "all".
struct GraphTrace {
  std::vector<std::string> before;
  std::vector<std::string> after;
  std::vector<std::string> diff;  // prints the changes of the text form
  // Prints the operations and data that these add, remove or change (CompareGraphs).
  std::vector<std::string> difference = {};
  // Receives copies of the graph before and after each of `difference`, which then prints nothing.
  // Nodes that reach no result are neither copied nor compared.
  std::function<void(const std::string& name, std::shared_ptr<const ir::Graph> before,
                     std::shared_ptr<const ir::Graph> after)>
      record = nullptr;
};

// Replaces the names of a trace by those in the list of transformations. Emits an error for each unknown name
// of the trace or of the chosen transformations and returns false. The compilation reports other errors of
// the options.
[[nodiscard]] bool ResolveNames(GraphTrace& trace, const driver::TransformOptions& options,
                                const plugin::Plugins& plugins, Emitter& emitter);
// Makes a compilation with these options pass the texts of its graph to `print`. The trace must outlive it.
void TraceGraphs(const GraphTrace& trace, driver::TransformOptions& options,
                 std::function<void(const std::string&)> print);

}  // namespace nnefc::api
