// Writing of the data of a graph's variables as tensor files.

#include "compiler/driver/data/write_variables.h"

#include <set>

#include "compiler/ir/ops/variables.h"
#include "compiler/package/model_folder.h"

namespace nnefc::driver {

ErrorOr<Success> WriteVariables(const ir::Graph& graph, VariableStore& variables, LabelsOf labels,
                                const std::string& folder) {
  const ir::ops::RatifiedLabels printed(graph);
  const package::ModelFolder model(folder);
  std::set<std::string> written;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kVariable) || !written.insert(ir::ops::VariableKey(node)).second) continue;
    const std::string& label = node.attribute("label").AsString();
    const ir::Output& output = node.output();
    const std::optional<TensorValue> value = variables.Load(label, output.type, output.shape, node.origin());
    if (!value) continue;
    if (auto done = model.WriteVariable(labels == LabelsOf::kPrinted ? printed.Of(node) : label, *value);
        !done)
      return done;
  }
  return Success{};
}

}  // namespace nnefc::driver
