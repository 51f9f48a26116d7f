// The differences between two models as a page in HTML.

#include "tools/api/differences/difference_page.h"

#include <set>
#include <string_view>

#include "fmt/format.h"

namespace nnefc::api {
namespace {

// Colours have a contrast of at least 4.5 to the background in both schemes; each change is also a word.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8888; --added: #dafbe1; --removed: #ffebe9; --changed: #fff8c5; }
@media (prefers-color-scheme: dark) { :root { --added: #12361f; --removed: #4c1519; --changed: #413510; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem; overflow-wrap: anywhere; }
code, pre { font: 14px/1.4 ui-monospace, monospace; white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; margin-block: .5rem 1.5rem; }
caption { text-align: start; font-weight: 600; padding-block: .25rem; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: start; vertical-align: top; }
th.change { width: 7rem; }
tr.added { background: var(--added); }
tr.removed { background: var(--removed); }
tr.changed { background: var(--changed); }
body:has(#only:checked) tr.same { display: none; }
)";

// Escapes the characters with a meaning in HTML. Control characters and bytes that are not UTF-8
// become U+FFFD.
std::string Escaped(std::string_view text) {
  const std::string valid =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string escaped;
  for (const char each : nlohmann::json::parse(valid).get<std::string>()) {
    switch (each) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default: {
        const bool is_control = static_cast<unsigned char>(each) < ' ' && each != '\n' && each != '\t';
        if (is_control || each == '\x7f')
          escaped += "\xEF\xBF\xBD";
        else
          escaped += each;
      }
    }
  }
  return escaped;
}

// A table of old and new items.
class SideBySide {
 public:
  SideBySide(std::string_view caption, const ComparedGraph& before, const ComparedGraph& after) {
    html_ = fmt::format(
        "<table><caption>{}</caption>\n<thead><tr><th scope=\"col\" class=\"change\">change</th>"
        "<th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead>\n<tbody>\n",
        caption, Escaped(before.name), Escaped(after.name));
  }

  // Adds a row. A missing item is empty; `notes` follow the new item.
  void Add(std::string_view change, const std::string& before, const std::string& after,
           const std::string& notes = "") {
    ++num_rows_;
    html_ += fmt::format("<tr class=\"{}\"><th scope=\"row\">{}</th><td>{}</td><td>{}{}</td></tr>\n", change,
                         change == "same" ? "none" : change, Cell(before), Cell(after), notes);
  }

  std::string Html() const { return num_rows_ == 0 ? "" : html_ + "</tbody></table>\n"; }

 private:
  static std::string Cell(const std::string& text) {
    return text.empty() ? "" : fmt::format("<code>{}</code>", Escaped(text));
  }

  std::string html_;
  size_t num_rows_ = 0;
};

std::string_view ChangeOf(bool is_old, bool is_new) {
  return is_old && is_new ? "changed" : is_old ? "removed" : "added";
}

std::string NotesOf(const OperationDetails& details) {
  std::string items;
  for (const OperationDetails::Change& change : details.attributes)
    items += fmt::format("<li>attribute <code>{}</code>: <code>{}</code> became <code>{}</code></li>",
                         Escaped(change.name), Escaped(change.before), Escaped(change.after));
  for (const OperationDetails::Change& change : details.inputs)
    items += fmt::format("<li>input {}: <code>{}</code> became <code>{}</code></li>", change.name,
                         Escaped(change.before), Escaped(change.after));
  for (const std::string& role : details.bodies)
    items += fmt::format("<li>body <code>{}</code></li>", Escaped(role));
  return items.empty() ? "" : "<ul>" + items + "</ul>";
}

class PageWriter {
 public:
  PageWriter(const ModelDifference& difference, const ComparedGraph& before, const ComparedGraph& after)
      : difference_(difference), before_(before), after_(after) {}

  std::string Write(const std::string& outputs) const {
    const std::string title =
        fmt::format("Differences of {} and {}", Escaped(before_.name), Escaped(after_.name));
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
        "<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p>{2}</p>\n",
        title, kStyle, Summary());
    html += "<p><label><input type=\"checkbox\" id=\"only\"> show only changes</label></p>\n";
    html += Inputs() + Operations() + Outputs() + Variables() + Tensors();
    if (!outputs.empty())
      html += fmt::format("<h2>Values of outputs</h2>\n<pre>{}</pre>\n", Escaped(outputs));
    return html + "</main>\n</body>\n</html>\n";
  }

 private:
  std::string Summary() const {
    if (difference_.empty()) return "The models do not differ.";
    return fmt::format("{} inputs, {} operations, {} outputs, {} variables and {} types or shapes differ.",
                       difference_.inputs.size(), difference_.operations.size(), difference_.outputs.size(),
                       difference_.variables.size(), difference_.tensors.size());
  }

  const Port* InputAt(const ComparedGraph& graph, std::optional<size_t> index) const {
    return index ? &graph.outline.nodes[graph.outline.inputs[*index]].outputs.front() : nullptr;
  }
  static const Port* OutputAt(const ComparedGraph& graph, std::optional<size_t> index) {
    return index ? &graph.outline.outputs[*index].port : nullptr;
  }
  static std::string TextOf(const Port* port) { return port == nullptr ? "" : PortText(*port); }

  std::string Inputs() const {
    SideBySide table("Inputs", before_, after_);
    for (const ItemPair& pair : difference_.inputs)
      table.Add(ChangeOf(pair.before.has_value(), pair.after.has_value()),
                TextOf(InputAt(before_, pair.before)), TextOf(InputAt(after_, pair.after)));
    return table.Html();
  }

  std::string Outputs() const {
    SideBySide table("Outputs", before_, after_);
    for (const ItemPair& pair : difference_.outputs)
      table.Add(ChangeOf(pair.before.has_value(), pair.after.has_value()),
                TextOf(OutputAt(before_, pair.before)), TextOf(OutputAt(after_, pair.after)));
    return table.Html();
  }

  // Lists all operations of both graphs; removed ones precede their successors.
  std::string Operations() const {
    SideBySide table("Operations", before_, after_);
    auto change = difference_.operations.begin();
    const auto end = difference_.operations.end();
    for (const size_t node : after_.outline.operations) {
      for (; change != end && !change->after; ++change)
        table.Add("removed", OperationText(before_.outline, *change->before), "");
      const std::string text = OperationText(after_.outline, node);
      const bool is_changed = change != end && change->after == node;
      const std::optional<size_t> old_node = difference_.matching.old_of_new[node];
      const std::string old_text = old_node ? OperationText(before_.outline, *old_node) : "";
      if (!is_changed) {
        table.Add("same", old_text, text);
      } else if (old_node) {
        table.Add("changed", old_text, text,
                  NotesOf(DetailsOf(difference_, before_, after_, *old_node, node)));
      } else {
        table.Add("added", "", text);
      }
      if (is_changed) ++change;
    }
    for (; change != end; ++change) table.Add("removed", OperationText(before_.outline, *change->before), "");
    return table.Html();
  }

  std::string Variables() const {
    SideBySide table("Variables", before_, after_);
    for (const VariableDifference& variable : difference_.variables) {
      const auto text = [&](const std::optional<Port>& port) {
        return port ? fmt::format("'{}' {}", variable.label, PortText(*port)) : "";
      };
      const std::string notes =
          variable.largest ? fmt::format("<ul><li>data differ by up to {:.6g} in {} elements</li></ul>",
                                         *variable.largest, variable.num_different)
                           : "";
      table.Add(ChangeOf(variable.before.has_value(), variable.after.has_value()), text(variable.before),
                text(variable.after), notes);
    }
    return table.Html();
  }

  std::string Tensors() const {
    SideBySide table("Types and shapes", before_, after_);
    for (const auto& [pair, output] : difference_.tensors)
      table.Add("changed", PortText(before_.outline.nodes[*pair.before].outputs[static_cast<size_t>(output)]),
                PortText(after_.outline.nodes[*pair.after].outputs[static_cast<size_t>(output)]));
    return table.Html();
  }

  const ModelDifference& difference_;
  const ComparedGraph& before_;
  const ComparedGraph& after_;
};

}  // namespace

std::string DifferencePage(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after, const std::string& outputs) {
  return PageWriter(difference, before, after).Write(outputs);
}

}  // namespace nnefc::api
