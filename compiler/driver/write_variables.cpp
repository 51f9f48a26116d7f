#include "compiler/driver/write_variables.h"

#include <filesystem>
#include <set>

#include "compiler/ir/ops/variables.h"
#include "fmt/format.h"

namespace nnefc {
namespace {

namespace fs = std::filesystem;

// The file of a label inside of a model's folder.
fs::path FileOf(const std::string& folder, std::string_view label) {
  while (label.starts_with('/')) label.remove_prefix(1);
  return fs::path(folder) / (std::string(label) + ".dat");
}

}  // namespace

ErrorOr<Success> WriteVariables(const ir::Graph& graph, VariableStore& variables, const std::string& folder) {
  std::set<std::string> written;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kVariable) || !written.insert(ir::VariableKey(node)).second) continue;
    const std::string& label = node.attribute("label").AsString();
    const ir::Output& output = node.output();
    const std::optional<TensorValue> value = variables.Load(label, output.type, output.shape, node.origin());
    if (!value) continue;
    const fs::path path = FileOf(folder, label);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return SystemError{fmt::format("cannot make `{}`: {}", path.parent_path().string(), error.message())};
    if (auto done = WriteDat(path.string(), *value); !done) return done.error();
  }
  return Success{};
}

}  // namespace nnefc
