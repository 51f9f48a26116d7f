// The differences between two graphs as marks of their nodes.

#include "tools/api/differences/difference_marks.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fmt/format.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

// The marks of one of two graphs.
class SideMarker {
 public:
  SideMarker(const GraphOutline& outline, Json& description, std::string_view change_of_own)
      : outline_(outline), change_of_own_(change_of_own) {
    for (Json& node : description["graph"]["nodes"]) nodes_.emplace(node["id"].get<int32_t>(), &node);
    readers_.resize(outline_.nodes.size());
    for (size_t i = 0; i < outline_.nodes.size(); ++i) {
      const OutlineNode& node = outline_.nodes[i];
      for (const auto& input : node.inputs) readers_[input.first].push_back(i);
      if (node.kind == OutlineNode::Kind::kVariable) variables_.emplace(node.name, i);
    }
  }

  // Marks a node of the outline as changed, or as one of this graph alone.
  void Mark(size_t node, bool has_counterpart, const std::vector<std::string>& notes) {
    MarkNode(outline_.nodes[node].id, has_counterpart, notes);
  }
  void MarkInput(size_t index, bool has_counterpart, const std::vector<std::string>& notes) {
    Mark(outline_.inputs[index], has_counterpart, notes);
  }
  void MarkOutput(size_t index, bool has_counterpart, const std::vector<std::string>& notes) {
    MarkNode(outline_.outputs[index].id, has_counterpart, notes);
  }

  // Marks a variable and its readers.
  void MarkVariable(const std::string& label, bool has_counterpart, const std::vector<std::string>& notes) {
    const auto found = variables_.find(label);
    if (found == variables_.end()) return;
    Mark(found->second, has_counterpart, notes);
    std::vector<std::string> reader_notes;
    reader_notes.reserve(notes.size());
    for (const std::string& note : notes)
      reader_notes.push_back(fmt::format("variable '{}': {}", label, note));
    if (notes.empty()) reader_notes.push_back(fmt::format("variable '{}' is {}", label, change_of_own_));
    for (const size_t reader : readers_[found->second]) Mark(reader, /*has_counterpart=*/true, reader_notes);
  }

  void MarkFirst(size_t node) {
    Mark(node, /*has_counterpart=*/true, {std::string(kFirstNote)});
    (*nodes_.at(outline_.nodes[node].id))["difference"]["is_first"] = true;
  }

  // Returns the description of a body.
  Json& BodyOf(size_t node, size_t index) { return (*nodes_.at(outline_.nodes[node].id))["bodies"][index]; }

  void SetCounterpart(int32_t id, int32_t counterpart) {
    if (const auto found = nodes_.find(id); found != nodes_.end())
      (*found->second)["counterpart"] = counterpart;
  }

 private:
  void MarkNode(int32_t id, bool has_counterpart, const std::vector<std::string>& notes) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) return;
    Json& node = *found->second;
    if (!node.contains("difference"))
      node["difference"] = {{"change", has_counterpart ? std::string_view("changed") : change_of_own_},
                            {"notes", Json::array()}};
    Json& all = node["difference"]["notes"];
    for (const std::string& note : notes) {
      if (std::find(all.begin(), all.end(), note) == all.end()) all.push_back(note);
    }
  }

  const GraphOutline& outline_;
  std::string_view change_of_own_;
  std::unordered_map<int32_t, Json*> nodes_;
  std::vector<std::vector<size_t>> readers_;
  std::map<std::string_view, size_t> variables_;  // the first of each label
};

// Returns a note if two ports differ.
std::vector<std::string> PortNotes(const Port& before, const Port& after) {
  const std::string old_text = PortText(before);
  const std::string new_text = PortText(after);
  if (old_text == new_text) return {"it has another producer"};
  return {fmt::format("{} became {}", old_text, new_text)};
}

// The maximum number of differences of a body that notes list. The drawing of the body marks all.
constexpr size_t kMaxBodyNotes = 20;

// Returns the name of an operation in notes: "relu y".
std::string Called(const OutlineNode& node) {
  return fmt::format("{} {}", node.type, node.name);
}

// Returns a line for each difference of a body.
std::vector<std::string> BodyNotes(const BodyDifference& body, const GraphOutline& before,
                                   const GraphOutline& after) {
  const GraphOutline& old_graph = before.nodes[body.old_node].bodies[body.index].graph;
  const GraphOutline& new_graph = after.nodes[body.new_node].bodies[body.index].graph;
  const ModelDifference& difference = body.difference;
  std::vector<std::string> notes;
  for (const ItemPair& pair : difference.operations) {
    if (!pair.after) {
      notes.push_back(Called(old_graph.nodes[*pair.before]) + " is removed");
    } else if (!pair.before) {
      notes.push_back(Called(new_graph.nodes[*pair.after]) + " is added");
    } else {
      const OperationDetails details = DetailsOf(difference, old_graph, new_graph, *pair.before, *pair.after);
      for (const std::string& note : NotesOf(details, old_graph, new_graph))
        notes.push_back(fmt::format("{}: {}", Called(new_graph.nodes[*pair.after]), note));
    }
  }
  for (const VariableDifference& variable : difference.variables) {
    const bool is_matched = variable.before && variable.after;
    const std::vector<std::string> lines =
        !is_matched        ? std::vector<std::string>{variable.before ? "is removed" : "is added"}
        : variable.largest ? NotesOf(variable)
                           : PortNotes(*variable.before, *variable.after);
    for (const std::string& line : lines)
      notes.push_back(fmt::format("variable '{}': {}", variable.label, line));
  }
  if (!difference.inputs.empty() || !difference.outputs.empty()) {
    const size_t count = difference.inputs.size() + difference.outputs.size();
    notes.push_back(fmt::format("{} of its inputs or outputs differ{}", count, count == 1 ? "s" : ""));
  }
  for (const auto& [pair, output] : difference.tensors) {
    for (const std::string& note :
         PortNotes(old_graph.nodes[*pair.before].outputs[static_cast<size_t>(output)],
                   new_graph.nodes[*pair.after].outputs[static_cast<size_t>(output)]))
      notes.push_back(note);
  }
  return notes;
}

}  // namespace

std::vector<std::string> NotesOf(const OperationDetails& details, const GraphOutline& before,
                                 const GraphOutline& after) {
  std::vector<std::string> notes;
  notes.reserve(details.attributes.size() + details.inputs.size());
  for (const OperationDetails::Change& change : details.attributes)
    notes.push_back(fmt::format("attribute {}: {} became {}", change.name, change.before, change.after));
  for (const OperationDetails::Change& change : details.inputs)
    notes.push_back(change.before == change.after
                        ? fmt::format("input {}: {} has another producer", change.name, change.after)
                        : fmt::format("input {}: {} became {}", change.name, change.before, change.after));
  for (const OperationDetails::Change& change : details.connections)
    notes.push_back(fmt::format("{}: connections {} became {}", change.name, change.before, change.after));
  for (const auto& [role, body] : details.bodies) {
    const std::vector<std::string> lines =
        body == nullptr ? std::vector<std::string>() : BodyNotes(*body, before, after);
    if (lines.empty()) notes.push_back(fmt::format("another {}", role));
    for (size_t i = 0; i < std::min(kMaxBodyNotes, lines.size()); ++i)
      notes.push_back(fmt::format("{}: {}", role, lines[i]));
    if (lines.size() > kMaxBodyNotes)
      notes.push_back(fmt::format("{}: {} more difference{}", role, lines.size() - kMaxBodyNotes,
                                  lines.size() - kMaxBodyNotes == 1 ? "" : "s"));
  }
  return notes;
}

std::vector<std::string> NotesOf(const VariableDifference& variable) {
  if (!variable.largest) return {};
  return {fmt::format("data differ by up to {:.6g} in {} element{}", *variable.largest,
                      variable.num_different, variable.num_different == 1 ? "" : "s")};
}

void MarkDifferences(const ModelDifference& difference, const GraphOutline& old_graph,
                     const GraphOutline& new_graph, const std::optional<ItemPair>& first,
                     Json& old_description, Json& new_description) {
  SideMarker old_side(old_graph, old_description, "removed");
  SideMarker new_side(new_graph, new_description, "added");
  const auto set_counterparts = [&](int32_t old_id, int32_t new_id) {
    old_side.SetCounterpart(old_id, new_id);
    new_side.SetCounterpart(new_id, old_id);
  };
  for (size_t i = 0; i < old_graph.nodes.size(); ++i) {
    if (const std::optional<size_t> other = difference.matching.new_of_old[i])
      set_counterparts(old_graph.nodes[i].id, new_graph.nodes[*other].id);
  }
  for (size_t i = 0; i < std::min(old_graph.outputs.size(), new_graph.outputs.size()); ++i)
    set_counterparts(old_graph.outputs[i].id, new_graph.outputs[i].id);

  for (const ItemPair& pair : difference.operations) {
    const bool is_matched = pair.before && pair.after;
    const std::vector<std::string> notes =
        is_matched ? NotesOf(DetailsOf(difference, old_graph, new_graph, *pair.before, *pair.after),
                             old_graph, new_graph)
                   : std::vector<std::string>();
    if (pair.before) old_side.Mark(*pair.before, is_matched, notes);
    if (pair.after) new_side.Mark(*pair.after, is_matched, notes);
  }
  for (const ItemPair& pair : difference.inputs) {
    const bool is_matched = pair.before && pair.after;
    const auto port = [](const GraphOutline& graph, size_t index) {
      return graph.nodes[graph.inputs[index]].outputs.front();
    };
    const std::vector<std::string> notes =
        is_matched ? PortNotes(port(old_graph, *pair.before), port(new_graph, *pair.after))
                   : std::vector<std::string>();
    if (pair.before) old_side.MarkInput(*pair.before, is_matched, notes);
    if (pair.after) new_side.MarkInput(*pair.after, is_matched, notes);
  }
  for (const ItemPair& pair : difference.outputs) {
    const bool is_matched = pair.before && pair.after;
    const std::vector<std::string> notes =
        is_matched ? PortNotes(old_graph.outputs[*pair.before].port, new_graph.outputs[*pair.after].port)
                   : std::vector<std::string>();
    if (pair.before) old_side.MarkOutput(*pair.before, is_matched, notes);
    if (pair.after) new_side.MarkOutput(*pair.after, is_matched, notes);
  }
  for (const auto& [pair, output] : difference.tensors) {
    const std::vector<std::string> notes =
        PortNotes(old_graph.nodes[*pair.before].outputs[static_cast<size_t>(output)],
                  new_graph.nodes[*pair.after].outputs[static_cast<size_t>(output)]);
    old_side.Mark(*pair.before, /*has_counterpart=*/true, notes);
    new_side.Mark(*pair.after, /*has_counterpart=*/true, notes);
  }
  for (const VariableDifference& variable : difference.variables) {
    const bool is_matched = variable.before && variable.after;
    std::vector<std::string> notes = NotesOf(variable);
    if (is_matched && notes.empty()) notes = PortNotes(*variable.before, *variable.after);
    old_side.MarkVariable(variable.label, is_matched, notes);
    new_side.MarkVariable(variable.label, is_matched, notes);
  }
  for (const BodyDifference& body : difference.bodies)
    MarkDifferences(body.difference, old_graph.nodes[body.old_node].bodies[body.index].graph,
                    new_graph.nodes[body.new_node].bodies[body.index].graph, std::nullopt,
                    old_side.BodyOf(body.old_node, body.index), new_side.BodyOf(body.new_node, body.index));
  if (first) {
    old_side.MarkFirst(*first->before);
    new_side.MarkFirst(*first->after);
  }
}

}  // namespace nnefc::api
