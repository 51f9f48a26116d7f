// The differences between two models as a page in HTML.

#include "tools/api/differences/difference_page.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/api/differences/difference_marks.h"
#include "tools/api/views/page_template.h"

namespace nnefc::api {
namespace {

// The identifiers of the nodes that a row is about; nothing for a missing one.
struct RowNodes {
  std::optional<int32_t> before;
  std::optional<int32_t> after;
};

// A table of old and new items.
class SideBySide {
 public:
  SideBySide(std::string_view caption, const ComparedGraph& before, const ComparedGraph& after) {
    html_ = fmt::format(
        "<table><caption>{}</caption>\n<thead><tr><th scope=\"col\" class=\"change\">change</th>"
        "<th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead>\n<tbody>\n",
        caption, EscapedHtml(before.name), EscapedHtml(after.name));
  }

  // Adds a row. A missing item is empty; `notes` follow the new item.
  void Add(std::string_view change, const RowNodes& nodes, const std::string& before,
           const std::string& after, const std::string& notes = "") {
    ++num_rows_;
    html_ += fmt::format("<tr class=\"{}\"{}{}><th scope=\"row\">{}</th><td>{}</td><td>{}{}</td></tr>\n",
                         change, NodeAttribute("old", nodes.before), NodeAttribute("new", nodes.after),
                         change == "same" ? "none" : change, Cell(before), Cell(after), notes);
  }

  std::string Html() const { return num_rows_ == 0 ? "" : html_ + "</tbody></table>\n"; }

 private:
  static std::string NodeAttribute(std::string_view side, std::optional<int32_t> id) {
    return id ? fmt::format(" data-{}=\"{}\"", side, *id) : "";
  }
  static std::string Cell(const std::string& text) {
    return text.empty() ? "" : fmt::format("<code>{}</code>", EscapedHtml(text));
  }

  std::string html_;
  size_t num_rows_ = 0;
};

std::string_view ChangeOf(bool is_old, bool is_new) {
  return is_old && is_new ? "changed" : is_old ? "removed" : "added";
}

// Returns notes as a list.
std::string ListOf(const std::vector<std::string>& notes) {
  std::string items;
  for (const std::string& note : notes) items += fmt::format("<li>{}</li>", EscapedHtml(note));
  return items.empty() ? "" : "<ul>" + items + "</ul>";
}

// Writes the tables of the differences. The rows have the identifiers of the nodes that they are about.
class TableWriter {
 public:
  TableWriter(const ModelDifference& difference, const ComparedGraph& before, const ComparedGraph& after,
              const OutputsOfModels* outputs)
      : difference_(difference), before_(before), after_(after), outputs_(outputs) {}

  std::string Summary() const {
    if (difference_.empty()) return "The models do not differ.";
    return fmt::format("{} inputs, {} operations, {} outputs, {} variables and {} types or shapes differ.",
                       difference_.inputs.size(), difference_.operations.size(), difference_.outputs.size(),
                       difference_.variables.size(), difference_.tensors.size());
  }

  std::string Tables() const {
    std::string html = Inputs() + Operations() + Outputs() + Variables() + Tensors();
    if (outputs_ != nullptr)
      html += fmt::format("<h2>Values of outputs</h2>\n<pre>{}</pre>\n", EscapedHtml(outputs_->text));
    return html;
  }

 private:
  const Port* InputAt(const ComparedGraph& graph, std::optional<size_t> index) const {
    return index ? &graph.outline.nodes[graph.outline.inputs[*index]].outputs.front() : nullptr;
  }
  static const Port* OutputAt(const ComparedGraph& graph, std::optional<size_t> index) {
    return index ? &graph.outline.outputs[*index].port : nullptr;
  }
  static std::string TextOf(const Port* port) { return port == nullptr ? "" : PortText(*port); }

  static std::optional<int32_t> IdOf(const ComparedGraph& graph, std::optional<size_t> node) {
    return node ? std::optional(graph.outline.nodes[*node].id) : std::nullopt;
  }
  RowNodes NodesOf(std::optional<size_t> before, std::optional<size_t> after) const {
    return {IdOf(before_, before), IdOf(after_, after)};
  }

  std::string Inputs() const {
    SideBySide table("Inputs", before_, after_);
    const auto node = [](const ComparedGraph& graph, std::optional<size_t> index) {
      return index ? std::optional(graph.outline.inputs[*index]) : std::nullopt;
    };
    for (const ItemPair& pair : difference_.inputs)
      table.Add(ChangeOf(pair.before.has_value(), pair.after.has_value()),
                NodesOf(node(before_, pair.before), node(after_, pair.after)),
                TextOf(InputAt(before_, pair.before)), TextOf(InputAt(after_, pair.after)));
    return table.Html();
  }

  std::string Outputs() const {
    SideBySide table("Outputs", before_, after_);
    const auto id = [](const ComparedGraph& graph, std::optional<size_t> index) {
      return index ? std::optional(graph.outline.outputs[*index].id) : std::nullopt;
    };
    for (const ItemPair& pair : difference_.outputs)
      table.Add(ChangeOf(pair.before.has_value(), pair.after.has_value()),
                {id(before_, pair.before), id(after_, pair.after)}, TextOf(OutputAt(before_, pair.before)),
                TextOf(OutputAt(after_, pair.after)));
    return table.Html();
  }

  // Lists all operations of both graphs; removed ones precede their successors.
  std::string Operations() const {
    SideBySide table("Operations", before_, after_);
    auto change = difference_.operations.begin();
    const auto end = difference_.operations.end();
    const auto add_removed = [&] {
      for (; change != end && !change->after; ++change)
        table.Add("removed", NodesOf(change->before, std::nullopt),
                  OperationText(before_.outline, *change->before), "");
    };
    for (const size_t node : after_.outline.operations) {
      add_removed();
      const bool is_changed = change != end && change->after == node;
      AddOperation(node, is_changed, table);
      if (is_changed) ++change;
    }
    add_removed();
    return table.Html();
  }

  // Adds the row of an operation of the new graph.
  void AddOperation(size_t node, bool is_changed, SideBySide& table) const {
    const std::string text = OperationText(after_.outline, node);
    const std::optional<size_t> old_node = difference_.matching.old_of_new[node];
    if (!old_node) return table.Add("added", NodesOf(std::nullopt, node), "", text);
    std::vector<std::string> notes;
    if (is_changed)
      notes = api::NotesOf(DetailsOf(difference_, before_.outline, after_.outline, *old_node, node),
                           before_.outline, after_.outline);
    const bool is_first = outputs_ != nullptr && outputs_->first && outputs_->first->after == node;
    if (is_first) notes.emplace_back(kFirstNote);
    table.Add(is_changed || is_first ? "changed" : "same", NodesOf(old_node, node),
              OperationText(before_.outline, *old_node), text, ListOf(notes));
  }

  // Returns the first variable with a label.
  static std::optional<size_t> VariableAt(const ComparedGraph& graph, const std::string& label) {
    const std::vector<OutlineNode>& nodes = graph.outline.nodes;
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const OutlineNode& node) {
      return node.kind == OutlineNode::Kind::kVariable && node.name == label;
    });
    return found == nodes.end() ? std::nullopt : std::optional<size_t>(found - nodes.begin());
  }

  std::string Variables() const {
    SideBySide table("Variables", before_, after_);
    for (const VariableDifference& variable : difference_.variables) {
      const auto text = [&](const std::optional<Port>& port) {
        return port ? fmt::format("'{}' {}", variable.label, PortText(*port)) : "";
      };
      table.Add(ChangeOf(variable.before.has_value(), variable.after.has_value()),
                NodesOf(VariableAt(before_, variable.label), VariableAt(after_, variable.label)),
                text(variable.before), text(variable.after), ListOf(api::NotesOf(variable)));
    }
    return table.Html();
  }

  std::string Tensors() const {
    SideBySide table("Types and shapes", before_, after_);
    for (const auto& [pair, output] : difference_.tensors)
      table.Add("changed", NodesOf(pair.before, pair.after),
                PortText(before_.outline.nodes[*pair.before].outputs[static_cast<size_t>(output)]),
                PortText(after_.outline.nodes[*pair.after].outputs[static_cast<size_t>(output)]));
    return table.Html();
  }

  const ModelDifference& difference_;
  const ComparedGraph& before_;
  const ComparedGraph& after_;
  const OutputsOfModels* outputs_;
};

}  // namespace

std::string DifferencePage(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after, const OutputsOfModels* outputs,
                           nlohmann::ordered_json old_description, nlohmann::ordered_json new_description) {
  const std::optional<ItemPair> first = outputs == nullptr ? std::nullopt : outputs->first;
  MarkDifferences(difference, before.outline, after.outline, first, old_description, new_description);
  const TableWriter writer(difference, before, after, outputs);
  const std::string old_name = EscapedHtml(before.name);
  const std::string new_name = EscapedHtml(after.name);
  return FillPage("difference.html", {{"TITLE", fmt::format("Differences of {} and {}", old_name, new_name)},
                                      {"OLD_NAME", old_name},
                                      {"NEW_NAME", new_name},
                                      {"SUMMARY", writer.Summary()},
                                      {"TABLES", writer.Tables()},
                                      {"DESCRIPTION", JsonForScript({{"old", std::move(old_description)},
                                                                     {"new", std::move(new_description)}})}});
}

}  // namespace nnefc::api
