// Comments `# nnefc: allow(RULE)` and their scopes.

#include "compiler/lint/allow.h"

#include <algorithm>
#include <utility>

#include "compiler/lint/rules.h"

namespace nnefc::lint {
namespace {

bool Contains(SourceRange outer, SourceRange inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(ast::kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(ast::kBlanks) - first + 1);
}

}  // namespace

std::vector<AllowComments::Item> AllowComments::ItemsOf(const ast::Document& document) {
  std::vector<Item> items;
  if (document.has_version) items.push_back({.range = document.version_range});
  for (const ast::Extension& extension : document.extensions) items.push_back({.range = extension.range});
  auto add = [&](SourceRange range, SourceRange body, llvm::ArrayRef<ast::Assignment> statements) {
    items.push_back({.range = range, .body = body});
    for (const ast::Assignment& statement : statements) items.push_back({.range = statement.range});
  };
  for (const ast::Fragment& fragment : document.fragments)
    add(fragment.range, fragment.has_body ? fragment.body_range : SourceRange(), fragment.body);
  for (const ast::Graph& graph : document.graphs) add(graph.range, graph.body_range, graph.body);
  for (const ast::Quantization& entry : document.quantizations) {
    const SourceRange value =
        entry.invocation.valid() ? document.exprs[entry.invocation].range : entry.key.range;
    items.push_back({.range = Cover(entry.key.range, value)});
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.range.begin < b.range.begin; });
  int32_t around = -1;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].body.valid()) {
      around = static_cast<int32_t>(i);
    } else if (around >= 0 && Contains(items[static_cast<size_t>(around)].body, items[i].range)) {
      items[i].parent = around;
    }
  }
  return items;
}

int32_t AllowComments::LastBefore(const std::vector<Item>& items, uint32_t offset) {
  auto after = std::upper_bound(items.begin(), items.end(), offset,
                                [](uint32_t at, const Item& item) { return at < item.range.begin; });
  return static_cast<int32_t>(after - items.begin()) - 1;
}

int32_t AllowComments::ScopeOf(const std::vector<Item>& items, const ast::Comment& comment,
                               uint32_t line_begin) {
  const int32_t before = LastBefore(items, comment.range.begin);
  const Item* last = before < 0 ? nullptr : &items[static_cast<size_t>(before)];
  const bool is_head = last != nullptr && last->body.valid() && comment.range.end <= last->body.begin;
  const bool is_inside =
      last != nullptr && Contains(last->range, comment.range) && (!last->body.valid() || is_head);
  if (is_inside) return before;
  if (comment.trailing) {
    if (last == nullptr) return -1;
    // After a statement, or after the brace that opens or closes a body.
    const int32_t trailed = last->range.end > line_begin ? before : last->parent;
    if (trailed < 0) return -1;
    const Item& item = items[static_cast<size_t>(trailed)];
    const bool opens = !item.body.valid() || item.body.begin >= line_begin;
    const bool closes = item.range.end > line_begin && item.range.end <= comment.range.begin;
    return opens || closes ? trailed : -1;
  }
  const int32_t next = before + 1;
  if (static_cast<size_t>(next) == items.size()) return -1;
  // The last comment of a body applies to nothing.
  const int32_t around = last == nullptr ? -1 : last->body.valid() ? before : last->parent;
  const bool in_body = around >= 0 && Contains(items[static_cast<size_t>(around)].body, comment.range);
  return !in_body || items[static_cast<size_t>(next)].parent == around ? next : -1;
}

void AllowComments::Add(const ast::Document& document, Context& context) {
  bool is_known = false;
  for (const ast::Comment& comment : document.comments) {
    const std::string_view text = context.sources.Text(comment.range.file)
                                      .substr(comment.range.begin, comment.range.end - comment.range.begin);
    if (!Trimmed(text.substr(1)).starts_with("nnefc:")) continue;
    if (!std::exchange(is_known, true)) texts_.push_back({document.file, ItemsOf(document)});
    const int line = context.sources.Position(comment.range.start()).line;
    const uint32_t line_begin = context.sources.LineStart(comment.range.file, line);
    AddComment(comment.range, ScopeOf(texts_.back().items, comment, line_begin), context);
  }
}

void AllowComments::AddComment(SourceRange comment, int32_t item, Context& context) {
  const FileId file = comment.file;
  const std::string_view text = context.sources.Text(file).substr(comment.begin, comment.end - comment.begin);
  const std::string_view command = Trimmed(text.substr(text.find(':') + 1));
  const size_t open = command.find('(');
  const bool is_allow = Trimmed(command.substr(0, open)) == "allow" && open != std::string_view::npos &&
                        command.find(')') != std::string_view::npos && command.find(')') > open;
  if (!is_allow) {
    context.emitter.Emit(kBadAllow, comment, "expected `# nnefc: allow(RULE, ..)`");
    return;
  }
  std::string_view rest = command.substr(open + 1, command.find(')') - open - 1);
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view name = Trimmed(rest.substr(0, comma));
    const auto begin =
        static_cast<uint32_t>(name.empty() ? comment.begin : comment.begin + (name.data() - text.data()));
    const SourceRange range{file, begin,
                            name.empty() ? comment.end : begin + static_cast<uint32_t>(name.size())};
    if (const Rule* rule = Settings::Find(name)) {
      if (item >= 0) by_key_.try_emplace(Key(texts_.size() - 1, item, rule), allowances_.size());
      allowances_.push_back({.rule = rule, .name = range, .has_scope = item >= 0});
    } else {
      context.emitter.Emit(kBadAllow, range, "{}",
                           name.empty() ? "expected the name of a rule" : Settings::WhyNot(name));
    }
    if (comma == std::string_view::npos) return;
    rest = rest.substr(comma + 1);
  }
}

bool AllowComments::Allows(const Rule& rule, SourceRange range) {
  if (!range.valid()) return false;
  for (size_t text = 0; text < texts_.size(); ++text) {
    if (texts_[text].file != range.file) continue;
    const std::vector<Item>& items = texts_[text].items;
    bool allowed = false;
    int32_t item = LastBefore(items, range.begin);
    for (; item >= 0; item = items[static_cast<size_t>(item)].parent) {
      if (!Contains(items[static_cast<size_t>(item)].range, range)) continue;
      auto found = by_key_.find(Key(text, item, &rule));
      if (found == by_key_.end()) continue;
      allowances_[found->second].used = true;
      allowed = true;
    }
    return allowed;
  }
  return false;
}

bool AllowComments::ReportUnused(const Settings& settings, Context& context) const {
  bool is_any_unused = false;
  for (const Allowance& allowance : allowances_) {
    if (allowance.used || !settings.enabled(*allowance.rule)) continue;
    is_any_unused = true;
    context.emitter.Emit(kUnusedAllow, allowance.name, "nothing is found here that `{}` would tell{}",
                         allowance.rule->label,
                         allowance.has_scope ? "; remove it" : ": no statement follows; remove it");
  }
  return is_any_unused;
}

}  // namespace nnefc::lint
