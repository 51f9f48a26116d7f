// Requests about the display of a text: hovers, colours, folds, hints and lenses.
#include <algorithm>

#include "fmt/format.h"
#include "tools/lsp/session.h"

namespace nnefc::lsp {
namespace {

std::string CodeBlock(std::string_view code, std::string_view language) {
  return fmt::format("```{}\n{}\n```\n", language, code);
}

// Returns a hover in Markdown: the declaration, then its facts.
std::string MarkdownOf(const language::Hover& hover) {
  std::string declaration = hover.signature.empty() ? hover.name : hover.signature;
  if (hover.signature.empty() && !hover.type.empty()) declaration += ": " + hover.type;
  std::string text = CodeBlock(declaration, "nnef");
  if (!hover.summary.empty()) text += hover.summary + "\n\n";
  if (!hover.shape.empty()) text += fmt::format("shape `{}`\n\n", hover.shape);
  if (!hover.value.empty()) text += fmt::format("value `{}`\n\n", hover.value);
  if (!hover.generic.empty()) text += fmt::format("`?` = `{}`\n\n", hover.generic);
  for (const auto& [name, value] : hover.defaults) text += fmt::format("- `{} = {}`\n", name, value);
  if (!hover.formula.empty()) text += "\n" + CodeBlock(hover.formula, "text");
  const std::string url = language::SectionUrl(hover.section);
  if (!url.empty()) text += fmt::format("\n[section {}]({})\n", hover.section.substr(2), url);
  return text;
}

Json HoverAt(Session& session, const Json& params) {
  const std::string uri = DocumentUri(params);
  const uint32_t offset = session.OffsetFor(params);
  const std::optional<language::Hover> hover = session.AnalysisFor(params) == nullptr
                                                   ? session.service().QuantizedTensorHover(uri, offset)
                                                   : session.service().HoverAt(uri, offset);
  if (!hover) return nullptr;
  const bool has_markdown = session.client.has_markdown;
  return {{"contents",
           {{"kind", has_markdown ? "markdown" : "plaintext"},
            {"value", has_markdown ? MarkdownOf(*hover) : hover->Text()}}},
          {"range", ToJson(hover->range)}};
}

enum TokenModifier : int { kDeclaration = 1, kDefaultLibrary = 2 };

// Returns the protocol's relative encoding: five numbers for each token.
std::vector<int32_t> Encoded(const std::vector<language::SemanticToken>& tokens) {
  std::vector<int32_t> data;
  data.reserve(tokens.size() * 5);
  language::Position last;
  for (const language::SemanticToken& token : tokens) {
    const language::Position start = token.range.start;
    const bool is_same_line = start.line == last.line;
    data.push_back(start.line - last.line);
    data.push_back(is_same_line ? start.character - last.character : start.character);
    data.push_back(token.range.stop.character - start.character);
    data.push_back(static_cast<int>(token.kind));
    data.push_back((token.is_declaration ? kDeclaration : 0) | (token.is_standard ? kDefaultLibrary : 0));
    last = start;
  }
  return data;
}

// Returns the edit between two encodings: the numbers between their common beginning and their common end.
Json TokenEdits(llvm::ArrayRef<int32_t> before, llvm::ArrayRef<int32_t> after) {
  const size_t shorter = std::min(before.size(), after.size());
  const auto head = static_cast<size_t>(
      std::mismatch(before.begin(), before.begin() + shorter, after.begin()).first - before.begin());
  size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  if (head == before.size() && head == after.size()) return Json::array();
  return Json::array({{{"start", head},
                       {"deleteCount", before.size() - tail - head},
                       {"data", after.slice(head, after.size() - tail - head).vec()}}});
}

// Computes the tokens of a text and stores them for the next TokenChanges. Returns all of them, or the edits
// of the last ones if these have the identifier `previous`.
Json SendTokens(Session& session, const Json& params, const Json* previous) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  std::vector<int32_t> data = Encoded(language::FindTokens(*analysis, 0, UINT32_MAX));
  SentTokens& sent = session.tokens[DocumentUri(params)];
  const bool has_previous = previous != nullptr && !sent.id.empty() && *previous == sent.id;
  Json result = Json::object();
  if (has_previous) {
    result["edits"] = TokenEdits(sent.data, data);
  } else {
    result["data"] = data;
  }
  sent = {std::to_string(++session.token_results), std::move(data)};
  result["resultId"] = sent.id;
  return result;
}

Json Tokens(Session& session, const Json& params) {
  return SendTokens(session, params, nullptr);
}

Json TokenChanges(Session& session, const Json& params) {
  return SendTokens(session, params, &Member(params, "previousResultId"));
}

// Returns the byte offsets of the parameter `range`.
std::pair<uint32_t, uint32_t> RangeFor(const Session& session, const Json& params) {
  const auto [first, last] = ToRange(Member(params, "range"));
  const std::string uri = DocumentUri(params);
  return {session.service().Offset(uri, first), session.service().Offset(uri, last)};
}

Json TokensInRange(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const auto [begin, end] = RangeFor(session, params);
  return {{"data", Encoded(language::FindTokens(*analysis, begin, end))}};
}

Json Foldings(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  Json list = Json::array();
  for (const language::FoldingRange& range : language::FindFoldings(*analysis)) {
    list.push_back({{"startLine", range.first},
                    {"endLine", range.last},
                    {"kind", range.kind == language::FoldingKind::kComment ? "comment" : "region"}});
  }
  return list;
}

Json Selections(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  Json list = Json::array();
  for (const Json& position : Array(params, "positions")) {
    const uint32_t offset = session.service().Offset(DocumentUri(params), ToPosition(position));
    const std::vector<language::TextRange> ranges = language::FindSelections(*analysis, offset);
    Json selection;
    for (size_t i = ranges.size(); i > 0; --i) {
      Json inner = {{"range", ToJson(ranges[i - 1])}};
      if (!selection.is_null()) inner["parent"] = std::move(selection);
      selection = std::move(inner);
    }
    list.push_back(std::move(selection));
  }
  return list;
}

bool IsShown(const ClientFeatures& client, language::HintKind kind) {
  switch (kind) {
    case language::HintKind::kShape:
      return client.shape_hints;
    case language::HintKind::kType:
      return client.type_hints;
    case language::HintKind::kDefault:
      return client.default_hints;
  }
  return true;
}

Json Hints(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const auto [begin, end] = RangeFor(session, params);
  Json list = Json::array();
  for (const language::InlayHint& hint : language::FindHints(*analysis, begin, end)) {
    if (!IsShown(session.client, hint.kind)) continue;
    Json json = {{"position", ToJson(hint.position)}, {"label", hint.label}};
    if (hint.kind == language::HintKind::kType) json["kind"] = 1;
    list.push_back(std::move(json));
  }
  return list;
}

// Returns a number with a unit: "25.6 million".
std::string Amount(double number) {
  if (number >= 1e9) return fmt::format("{:.2f} billion", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.2f} million", number / 1e6);
  return fmt::format("{:.0f}", number);
}

// The costs take longer than other queries, so they follow when the editor shows the lens.
Json Lenses(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const std::string uri = DocumentUri(params);
  Json list = Json::array();
  for (const language::DocumentSymbol& symbol : session.service().Symbols(uri)) {
    if (symbol.kind != language::SymbolKind::kGraph) continue;
    list.push_back({{"range", ToJson(symbol.selection)}, {"data", {{"uri", uri}, {"lens", "costs"}}}});
    list.push_back(
        {{"range", ToJson(symbol.selection)},
         {"command",
          {{"title", "show expansion"}, {"command", kShowExpansion}, {"arguments", Json::array({uri})}}}});
  }
  return list;
}

Json ResolveLens(Session& session, const Json& lens) {
  const std::string uri = String(Member(lens, "data"), "uri");
  const language::Analysis* analysis = session.AnalysisFor({{"textDocument", {{"uri", uri}}}});
  const auto costs = analysis != nullptr ? language::FindCosts(*analysis) : std::nullopt;
  std::string title = "the costs are unknown until the document has no errors";
  if (costs) {
    title = fmt::format("{} operations, {} parameters", costs->operations,
                        Amount(static_cast<double>(costs->parameters)));
    if (costs->macs) title += fmt::format(", {} MACs", Amount(*costs->macs));
  }
  Json resolved = lens;
  resolved["command"] = {{"title", title}, {"command", ""}};
  return resolved;
}

constexpr Route kDisplayRoutes[] = {
    {"textDocument/hover", HoverAt},
    {"textDocument/semanticTokens/full", Tokens},
    {"textDocument/semanticTokens/full/delta", TokenChanges},
    {"textDocument/semanticTokens/range", TokensInRange},
    {"textDocument/foldingRange", Foldings},
    {"textDocument/selectionRange", Selections},
    {"textDocument/inlayHint", Hints},
    {"textDocument/codeLens", Lenses},
    {"codeLens/resolve", ResolveLens},
};

}  // namespace

Json TokenLegend() {
  // In the order of language::TokenKind and of TokenModifier.
  return {{"tokenTypes",
           {"comment", "string", "number", "keyword", "type", "function", "parameter", "variable", "class"}},
          {"tokenModifiers", {"declaration", "defaultLibrary"}}};
}

llvm::ArrayRef<Route> DisplayRoutes() {
  return kDisplayRoutes;
}

}  // namespace nnefc::lsp
