// Names of nodes and outputs of the expanded graph, derived from identifiers of the document.

#include "compiler/expand/build/names.h"

#include <algorithm>
#include <utility>

namespace nnefc::expand::build {
namespace {

// Maximum depth of scopes in a name. Deeper scopes use only the first components, so names are short for
// mutually recursive fragments.
constexpr int kMaxScopeDepth = 8;

// Returns the scope as part of an identifier: `incept1/conv` becomes `incept1_conv`.
std::string Flat(std::string_view scope) {
  std::string text(scope);
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

}  // namespace

void Names::OnNode(const ir::Node& node, Symbol statement) {
  NNEFC_CHECK(static_cast<size_t>(node.id().index) >= first_.size());
  first_.resize(static_cast<size_t>(node.id().index) + 1, hints_.size());
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    hints_.push_back({Origin::kOperation, statement, node.origin().frame});
  }
}

void Names::Assign(ir::OutputPort port, std::shared_ptr<const ir::Frame> frame, Symbol identifier) {
  Hint& hint = At(port);
  if (hint.origin == Origin::kBody) return;
  hint = {Origin::kIdentifier, identifier, std::move(frame)};
}

bool Names::AssignInBody(ir::OutputPort port, Symbol identifier) {
  Hint& hint = At(port);
  if (hint.origin == Origin::kBody) return false;
  hint = {Origin::kBody, identifier, nullptr};
  const auto [known, is_new] = in_body_.try_emplace(identifier.index, port);
  if (!is_new) At(std::exchange(known->second, port)).origin = Origin::kIdentifier;
  return true;
}

void Names::MarkUnnamed(ir::NodeId node) {
  At({node, 0}) = {Origin::kUnnamed, Symbol(), nullptr};
}

void Names::SetRoot(std::shared_ptr<const ir::Frame> frame) {
  root_ = std::move(frame);
  prefixes_[root_.get()] = std::make_unique<ScopePrefix>();
}

const std::string& Names::Prefix(const ir::Frame* innermost) {
  static const std::string kNone;
  if (innermost == nullptr) return kNone;
  std::vector<const ir::Frame*> missing;
  for (const ir::Frame* frame = innermost; frame != nullptr && !prefixes_.count(frame);
       frame = frame->parent.get()) {
    missing.push_back(frame);
  }
  for (; !missing.empty(); missing.pop_back()) {
    const ir::Frame* frame = missing.back();
    auto prefix = std::make_unique<ScopePrefix>();
    const ir::Frame* parent = frame->parent.get();
    if (parent != nullptr) *prefix = *prefixes_[parent];
    bool recursive = parent != nullptr && parent->fragment == frame->fragment;
    if (!recursive && prefix->depth < kMaxScopeDepth) {
      prefix->text += Flat(frame->scope) + '_';
      ++prefix->depth;
    }
    prefixes_[frame] = std::move(prefix);
  }
  return prefixes_[innermost]->text;
}

std::string Names::PreferredName(const Hint& hint, const ir::Node& node) {
  switch (hint.origin) {
    case Origin::kUnnamed:
      return {};
    case Origin::kBody:
      return std::string(symbols_.Text(hint.symbol));
    case Origin::kIdentifier:
      return Prefix(hint.frame.get()) + std::string(symbols_.Text(hint.symbol));
    case Origin::kOperation:
      break;
  }
  if (hint.frame != root_) return Prefix(hint.frame.get()) + node.type();
  return hint.symbol.valid() ? std::string(symbols_.Text(hint.symbol)) + '_' + node.type() : node.type();
}

bool Names::IsInBody(const std::string& name) const {
  const Symbol symbol = symbols_.Find(name);
  return symbol.valid() && in_body_.count(symbol.index) > 0;
}

std::string Names::Reserve(const std::string& preferred) {
  auto [entry, added] = taken_.try_emplace(preferred, 1);
  if (added && !IsInBody(preferred)) return preferred;
  int32_t& number = entry->second;
  while (true) {
    std::string candidate = preferred + '_' + std::to_string(++number);
    if (taken_.try_emplace(candidate, 1).second && !IsInBody(candidate)) return candidate;
  }
}

void Names::Finish(ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    if (static_cast<size_t>(id.index) >= first_.size()) continue;
    const ir::Node& node = graph.node(id);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const Hint& hint = At(node.port(i));
      if (hint.origin == Origin::kUnnamed) continue;
      const std::string preferred = PreferredName(hint, node);
      // The body's identifiers must not change.
      const std::string name = hint.origin == Origin::kBody ? preferred : Reserve(preferred);
      if (i == 0) graph.SetName(id, name);
      graph.SetOutputNames({id, i}, {name});
    }
  }
}

}  // namespace nnefc::expand::build
