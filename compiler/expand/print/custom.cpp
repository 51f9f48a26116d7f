// Declarations of custom primitives in a flat document.

#include "compiler/expand/print/custom.h"

#include <algorithm>
#include <map>

#include "compiler/expand/print/literals.h"
#include "compiler/ir/algorithms/output_groups.h"
#include "fmt/format.h"

namespace nnefc::expand::print {
namespace {

// A declaration collected from the nodes of one operation.
struct Declaration {
  const ir::OpInfo* info = nullptr;
  bool generic = false;
  std::vector<std::string> inputs;  // data types, "?" if equal to the node's `dtype`
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, std::string>> attributes;  // name and type, "" if unknown so far
};

std::string_view DataType(ElementType type) {
  if (IsInteger(type)) return "integer";
  if (type == ElementType::kBoolean) return "logical";
  return type == ElementType::kString ? "string" : "scalar";
}

// Sets a type that is not known yet.
void SetIfEmpty(std::string& known, std::string_view type) {
  if (known.empty()) known = type;
}

void Observe(Declaration& declaration, const ir::Graph& graph, const ir::Node& node) {
  declaration.info = &node.info();
  const ir::Attribute* dtype = node.attributes().Find("dtype");
  declaration.generic |= dtype != nullptr;
  auto data_type = [&](ElementType type) -> std::string_view {
    return dtype != nullptr && DataType(type) == dtype->AsString() ? "?" : DataType(type);
  };
  declaration.inputs.resize(node.info().inputs.size());
  for (size_t i = 0; i < declaration.inputs.size(); ++i) {
    llvm::ArrayRef<ir::OutputPort> segment = node.segment(static_cast<int32_t>(i));
    if (!segment.empty()) SetIfEmpty(declaration.inputs[i], data_type(graph.output(segment[0]).type));
  }
  declaration.outputs.resize(node.info().outputs.size());
  const std::vector<ir::OutputGroup> groups = ir::OutputGroups(node);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].count == 0) continue;
    SetIfEmpty(declaration.outputs[i], data_type(node.output(groups[i].first).type));
  }
  for (const auto& [name, value] : node.attributes()) {
    if (name == "dtype") continue;
    auto known = std::find_if(declaration.attributes.begin(), declaration.attributes.end(),
                              [&](const auto& entry) { return entry.first == name; });
    if (known == declaration.attributes.end()) {
      known = declaration.attributes.insert(declaration.attributes.end(), {name, ""});
    }
    SetIfEmpty(known->second, AttributeTypeText(value));
  }
}

std::string Text(const Declaration& declaration) {
  if (!declaration.info->generic_declaration.empty()) return declaration.info->generic_declaration;
  std::vector<std::string> parameters;
  for (size_t i = 0; i < declaration.inputs.size(); ++i) {
    const ir::InputInfo& input = declaration.info->inputs[i];
    const std::string& type = declaration.inputs[i];
    parameters.push_back(fmt::format("{}: tensor<{}>{}", input.name, type.empty() ? "scalar" : type,
                                     input.variadic ? "[]" : ""));
  }
  for (const auto& [name, type] : declaration.attributes) {
    parameters.push_back(fmt::format("{}: {}", name, type.empty() ? "integer[]" : type));
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < declaration.outputs.size(); ++i) {
    std::string name = declaration.info->outputs[i];
    bool array = name.size() > 2 && name.substr(name.size() - 2) == "[]";
    if (array) name.resize(name.size() - 2);
    const std::string& type = declaration.outputs[i];
    results.push_back(
        fmt::format("{}: tensor<{}>{}", name, type.empty() ? "scalar" : type, array ? "[]" : ""));
  }
  return fmt::format("fragment {}{}( {} ) -> ( {} );\n", declaration.info->name,
                     declaration.generic ? "<?>" : "", fmt::join(parameters, ", "), fmt::join(results, ", "));
}

}  // namespace

bool IsCustom(const ir::Node& node, const semantics::CheckedDocument& ratified, const SymbolTable& symbols) {
  if (!node.bodies().empty()) return false;
  Symbol name = symbols.Find(node.type());
  return !name.valid() || !ratified.Find(name).valid();
}

std::string CustomDeclarations(const ir::Graph& graph, const semantics::CheckedDocument& ratified,
                               const SymbolTable& symbols) {
  std::map<ir::OpId, Declaration> declarations;
  std::vector<ir::OpId> order;
  std::vector<const ir::Graph*> graphs = {&graph};
  for (size_t i = 0; i < graphs.size(); ++i) {
    const ir::Graph& current = *graphs[i];
    for (ir::NodeId id : current.nodes()) {
      const ir::Node& node = current.node(id);
      for (const ir::Body& body : node.bodies()) graphs.push_back(body.graph.get());
      // Standard operations have a shape function.
      if (node.set() != ir::kNnefSet || node.info().infer != nullptr || !IsCustom(node, ratified, symbols))
        continue;
      auto [entry, added] = declarations.try_emplace(node.op());
      if (added) order.push_back(node.op());
      Observe(entry->second, current, node);
    }
  }
  std::string text;
  for (ir::OpId op : order) text += Text(declarations[op]);
  return text;
}

}  // namespace nnefc::expand::print
