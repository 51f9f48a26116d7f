// Times of a profile in descriptions of graphs.

#include "tools/api/views/measured_times.h"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/support/files/file.h"
#include "fmt/format.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

using NodeTable = std::unordered_map<std::string, std::vector<Json*>>;

// Adds the nodes of a graph and of its bodies by their names.
void AddNodes(Json& graph, NodeTable& table) {
  for (Json& node : graph["nodes"]) {
    const std::string_view kind = node["kind"].get_ref<const std::string&>();
    if (kind == "operation") table[node["name"].get<std::string>()].push_back(&node);
    if (!node.contains("bodies")) continue;
    for (Json& body : node["bodies"]) AddNodes(body["graph"], table);
  }
}

bool HasNumber(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() && found->get<double>() >= 0;
}

bool HasText(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string();
}

bool IsStep(const Json& step) {
  return step.is_object() && HasText(step, "name") && HasText(step, "operation") && HasText(step, "kernel") &&
         HasNumber(step, "milliseconds") && HasNumber(step, "operations") && HasNumber(step, "bytes");
}

// Returns whether `text`, such as "Convolution+Add", has a part.
bool HasPart(std::string_view text, std::string_view part) {
  return ('+' + std::string(text) + '+').find('+' + std::string(part) + '+') != std::string::npos;
}

// Returns the node of a step, or null: of several with its name the first whose operation the step executes.
Json* NodeOf(const Json& step, const NodeTable& table) {
  const auto found = table.find(step["name"].get<std::string>());
  if (found == table.end()) return nullptr;
  for (Json* node : found->second) {
    if (HasPart(step["operation"].get<std::string>(), (*node)["operation"].get<std::string>())) return node;
  }
  return found->second.front();
}

void AddStep(const Json& step, Json& node) {
  const auto add = [&](const char* key, const char* from) {
    const double before = node.contains(key) ? node[key].get<double>() : 0;
    node[key] = before + step[from].get<double>();
  };
  add("milliseconds", "milliseconds");
  add("arithmetic", "operations");
  add("bytes", "bytes");
  const std::string kernel = step["kernel"].get<std::string>();
  const std::string before = node.contains("kernel") ? node["kernel"].get<std::string>() : "";
  if (before.empty())
    node["kernel"] = kernel;
  else if (!HasPart(before, kernel))
    node["kernel"] = before + '+' + kernel;
}

}  // namespace

ErrorOr<Success> AddMeasuredTimes(const std::string& path, Json& description) {
  const auto invalid = [&](std::string_view found) {
    return SystemError{
        fmt::format("`{}`: {}; write the profile by `nnefc run MODEL --profile --format json`", path, found)};
  };
  const ErrorOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  if (!file) return file.error();
  const Json profile = Json::parse((*file)->text(), nullptr, /*allow_exceptions=*/false);
  if (profile.is_discarded()) return invalid("invalid JSON");
  if (!profile.is_object() || !profile.contains("profile") || !profile["profile"].is_array())
    return invalid("found no list `profile`");
  NodeTable table;
  AddNodes(description["graph"], table);
  double milliseconds = 0;
  int64_t without_node = 0;
  const Json& steps = profile["profile"];
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!IsStep(steps[i]))
      return invalid(
          fmt::format("step {} of `profile` lacks a name, an operation, a kernel, or a number that is not "
                      "negative of milliseconds, operations or bytes",
                      i));
    milliseconds += steps[i]["milliseconds"].get<double>();
    if (Json* node = NodeOf(steps[i], table); node != nullptr)
      AddStep(steps[i], *node);
    else
      ++without_node;
  }
  // Some operations of plans, such as converted inputs, are not in the graph.
  if (steps.empty() || 2 * without_node > static_cast<int64_t>(steps.size()))
    return invalid(fmt::format(
        "{} of its {} steps have the name of an operation of the model, so it is that of another model",
        static_cast<int64_t>(steps.size()) - without_node, steps.size()));
  description["profile"] = {
      {"milliseconds", milliseconds}, {"steps", steps.size()}, {"without_node", without_node}};
  if (HasNumber(profile, "peak_operations_per_second"))
    description["profile"]["peak_operations_per_second"] = profile["peak_operations_per_second"];
  return Success{};
}

}  // namespace nnefc::api
