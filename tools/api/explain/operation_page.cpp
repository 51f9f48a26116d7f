// The pages of operations.

#include <algorithm>

#include "compiler/driver/compilation.h"
#include "compiler/explain/operation_pages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/pages.h"
#include "tools/api/explain/paint.h"
#include "tools/api/facts/operation_list.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

ir::OpRole RoleOf(const std::string& operation) {
  const ir::OpId id = ir::StandardOps().Find(ir::kNnefSet, operation);
  return id.valid() ? ir::StandardOps().Info(id).role : ir::OpRole::kComputation;
}

// Returns the distinct operations that those of a document are lowered to.
std::vector<std::string> LoweredOperations(const explain::OperationPage& page) {
  if (page.example.empty()) return {};
  driver::CompileOptions options;
  options.document = page.example;
  options.structure_only = true;
  driver::Compilation compilation(page.name + ".nnef", options);
  const ir::OpRole role = RoleOf(page.name);
  const bool is_external = role == ir::OpRole::kExternal;
  const bool introduces = is_external || role == ir::OpRole::kVariable || role == ir::OpRole::kConstant;
  const ir::OpRole wanted = is_external ? ir::OpRole::kParameter : ir::OpRole::kConst;
  std::vector<std::string> names;
  if (!compilation.RunUntil(driver::Stage::kLower)) return names;
  const ir::Graph& graph = *compilation.lowered();
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    // Operations that introduce tensors are shown by the source nodes they become.
    const bool is_shown = introduces ? node.Is(wanted) : !node.info().is_source;
    if (!is_shown || node.Is(ir::OpRole::kResult)) continue;
    // The IR abbreviates the operation's name.
    const std::string_view type = node.Is(ir::OpRole::kConst) ? "Constant" : std::string_view(node.type());
    std::string name = fmt::format("{} ({})", type, node.set());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string OriginText(const explain::OperationPage& page) {
  if (page.extension.empty()) return fmt::format("section {} of NNEF 1.0.5", page.section.substr(2));
  const bool is_plugins = page.section.empty();
  return is_plugins ? page.extension : fmt::format("extension {}", page.extension);
}

std::string PageText(const explain::OperationPage& page, const Painter& paint) {
  std::string text;
  text += fmt::format("{}: {}\n\n", paint.Head(page.name), OriginText(page));
  if (!page.summary.empty()) text += fmt::format("{}\n\n", page.summary);
  if (!page.comment.empty()) text += fmt::format("{}\n", page.comment);
  text += IndentedLines(page.signature);
  if (!page.parameters.empty()) text += fmt::format("\n{}\n\n", paint.Head("Parameters:"));
  for (const auto& [name, meaning] : page.parameters) text += fmt::format("    {:<14}  {}\n", name, meaning);
  if (!page.provisional.empty())
    text +=
        fmt::format("\n{}\n\n{}", paint.Head("In the provisional dialect:"), IndentedLines(page.provisional));
  if (!page.formula.empty())
    text += fmt::format("\n{}\n\n{}", paint.Head("Formula:"), IndentedLines(page.formula));
  const std::vector<std::string> lowered = LoweredOperations(page);
  if (!lowered.empty())
    text += fmt::format("\nThe example becomes these operations of OpenVINO: {}\n", fmt::join(lowered, ", "));
  if (const std::optional<api::MissingForm> form = api::FindMissingForm(page.name))
    text += fmt::format("\nOpenVINO IR has no form of it{}{}: {}\n", form->when.empty() ? "" : " ",
                        form->when, form->reason);
  if (!page.example.empty())
    text += fmt::format("\n{}\n\n{}", paint.Head("Example:"), IndentedLines(page.example));
  return text;
}

Json ToJson(const explain::OperationPage& page) {
  Json json = {
      {"operation", page.name},          {"section", page.section},     {"extension", page.extension},
      {"summary", page.summary},         {"signature", page.signature}, {"parameters", Json::array()},
      {"provisional", page.provisional}, {"formula", page.formula},     {"openvino", LoweredOperations(page)},
      {"example", page.example}};
  for (const auto& [name, text] : page.parameters)
    json["parameters"].push_back({{"name", name}, {"text", text}});
  return json;
}

bool IsControlFlow(const std::string& name) {
  return name == "control_flow" || name == "control-flow" || name == "NNEFC_control_flow";
}

}  // namespace

std::optional<std::string> OperationText(const std::string& name, const plugin::Plugins& plugins,
                                         PageForm form) {
  std::vector<explain::OperationPage> pages;
  if (IsControlFlow(name)) {
    for (const std::string& operation : explain::PagedOperations()) {
      explain::OperationPage page = *explain::FindOperationPage(operation);
      if (IsControlFlow(page.extension)) pages.push_back(std::move(page));
    }
  } else if (std::optional<explain::OperationPage> page = explain::FindOperationPage(name)) {
    pages.push_back(std::move(*page));
  } else if (std::optional<explain::OperationPage> added = explain::FindPluginPage(name, plugins)) {
    pages.push_back(std::move(*added));
  }
  if (pages.empty()) return std::nullopt;
  if (form == PageForm::kJson) {
    Json list = Json::array();
    for (const explain::OperationPage& page : pages) list.push_back(ToJson(page));
    return (IsControlFlow(name) ? Json{{"operations", list}} : list[0]).dump(2) + "\n";
  }
  std::string text = IsControlFlow(name) ? explain::ControlFlowComment() + "\n" : "";
  for (const explain::OperationPage& page : pages) {
    if (&page != &pages.front()) text += "\n";
    text += PageText(page, Painter(form == PageForm::kColored));
  }
  return text;
}

}  // namespace nnefc::api
