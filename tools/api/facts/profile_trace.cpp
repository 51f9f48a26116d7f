// Profiles in the formats of other programs.

#include "tools/api/facts/profile_trace.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "fmt/format.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;
using runtime::engine::StepProfile;

// The local names of the instantiated fragments around nodes, outermost first, by the name of the node.
using ScopeTable = std::unordered_map<std::string, std::vector<std::string>>;

// Fragments nested deeper are part of the one around them.
constexpr int64_t kMaxScopes = 64;

// Adds the scopes of the nodes that have an entry.
void FindScopes(const ir::Graph& graph, ScopeTable& table) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::Body& body : node.bodies()) FindScopes(*body.graph, table);
    const auto found = table.find(node.name());
    if (found == table.end() || !found->second.empty()) continue;
    for (const ir::Frame* frame = node.origin().frame.get(); frame != nullptr; frame = frame->parent.get()) {
      if (frame->depth <= kMaxScopes)
        found->second.push_back(fmt::format("{} ({})", frame->scope, frame->fragment));
    }
    std::reverse(found->second.begin(), found->second.end());
  }
}

// Returns the scopes of each step.
std::vector<std::vector<std::string>> ScopesOf(const Profile& profile, const ir::Graph& graph) {
  ScopeTable table;
  for (const StepProfile& step : profile) table[step.name];
  FindScopes(graph, table);
  std::vector<std::vector<std::string>> scopes;
  for (const StepProfile& step : profile) scopes.push_back(table[step.name]);
  return scopes;
}

std::string StepName(const StepProfile& step) {
  return step.name.empty() ? step.operation : fmt::format("{} {}", step.operation, step.name);
}

std::string FrameText(std::string name) {
  for (char& each : name) {
    if (each == ';' || static_cast<unsigned char>(each) < ' ' || each == '\x7f') each = '_';
  }
  return name;
}

// Writes the events of scopes that contain consecutive steps.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& model) {
    AddMetadata("process_name", model);
    AddMetadata("thread_name", "steps");
  }

  void AddStep(const StepProfile& step, const std::vector<std::string>& scopes) {
    Enter(scopes);
    const double microseconds = 1000 * step.milliseconds;
    events_.push_back(Event(StepName(step), step.operation, now_, microseconds));
    events_.back()["args"] = {{"kernel", step.kernel},
                              {"implementation", step.implementation},
                              {"shape", step.shape},
                              {"operations", step.operations},
                              {"bytes", step.bytes}};
    now_ += microseconds;
  }

  Json Finish() {
    Enter({});
    return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events_)}};
  }

 private:
  struct Open {
    std::string name;
    size_t event;
  };

  static Json Event(const std::string& name, const std::string& category, double start, double duration) {
    return {{"name", name},    {"cat", category}, {"ph", "X"}, {"ts", start},
            {"dur", duration}, {"pid", 1},        {"tid", 1}};
  }

  void AddMetadata(const std::string& kind, const std::string& name) {
    events_.push_back({{"name", kind}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", name}}}});
  }

  // Ends the scopes that do not contain the next step, and begins those that do.
  void Enter(const std::vector<std::string>& scopes) {
    size_t common = 0;
    while (common < open_.size() && common < scopes.size() && open_[common].name == scopes[common]) ++common;
    for (; open_.size() > common; open_.pop_back()) {
      Json& event = events_[open_.back().event];
      event["dur"] = now_ - event["ts"].get<double>();
    }
    for (; open_.size() < scopes.size();) {
      open_.push_back({scopes[open_.size()], events_.size()});
      events_.push_back(Event(open_.back().name, "scope", now_, 0));
    }
  }

  Json events_ = Json::array();
  std::vector<Open> open_;
  double now_ = 0;
};

}  // namespace

Json TraceJson(const Profile& profile, const ir::Graph& graph, const std::string& model) {
  const std::vector<std::vector<std::string>> scopes = ScopesOf(profile, graph);
  TraceWriter writer(model);
  for (size_t i = 0; i < profile.size(); ++i) writer.AddStep(profile[i], scopes[i]);
  return writer.Finish();
}

std::string FoldedStacks(const Profile& profile, const ir::Graph& graph, const std::string& model) {
  const std::vector<std::vector<std::string>> scopes = ScopesOf(profile, graph);
  std::string text;
  for (size_t i = 0; i < profile.size(); ++i) {
    text += FrameText(model);
    for (const std::string& scope : scopes[i]) text += ";" + FrameText(scope);
    text +=
        fmt::format(";{} {}\n", FrameText(StepName(profile[i])), std::llround(1e6 * profile[i].milliseconds));
  }
  return text;
}

}  // namespace nnefc::api
