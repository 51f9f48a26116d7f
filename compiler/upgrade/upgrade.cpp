// The upgrade of a provisional document. Rewrites it, expands the result (a trial), and compares both graphs.
// A fragment or statement that is invalid or whose operations differ is expanded in the next trial. If this
// fails, the document is written flat.

#include "compiler/upgrade/upgrade.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/expand/print/flat.h"
#include "compiler/expand/provisional_names.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "compiler/upgrade/comments.h"
#include "compiler/upgrade/matching.h"
#include "compiler/upgrade/pieces.h"
#include "compiler/upgrade/places.h"
#include "compiler/upgrade/rewriter.h"
#include "compiler/upgrade/rules.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::upgrade {
namespace {

// Large enough to see all mistakes of a trial at once.
constexpr size_t kMaxErrors = 100'000;
// The maximum number of trials. Each failed trial removes a fragment, a statement, or an invocation in an
// expanded statement.
constexpr int kMaxTrials = 60;
// The maximum number of invocations removed from one expanded statement before all of them are removed.
constexpr int kMaxRefusals = 12;

// Returns the source range of a node's origin in the graph's body.
SourceRange StatementPlace(const ir::Node& node) {
  SourceRange place = node.origin().range;
  for (const ir::Frame* frame = node.origin().frame.get(); frame != nullptr; frame = frame->parent.get())
    place = frame->call_site;
  return place;
}

// Groups the lines of a flat body by the statements they originate from; nothing if a line has no statement.
std::optional<std::vector<std::vector<size_t>>> LinesByStatement(
    const ir::Graph& graph, const std::vector<expand::print::FlatStatement>& lines,
    llvm::ArrayRef<ast::Assignment> body) {
  std::vector<std::vector<size_t>> groups(body.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const int64_t statement = StatementAt(body, StatementPlace(graph.node(lines[i].node)));
    if (statement < 0) return std::nullopt;
    groups[static_cast<size_t>(statement)].push_back(i);
  }
  return groups;
}

// The upgrade of one document. `choice_` has the fragments and statements that are preserved; the LeaveOut*
// functions and ExpandStatement remove some, with the reason for a message.
class Upgrader {
 public:
  Upgrader(const UpgradeInput& input, Context& context)
      : input_(input),
        context_(context),
        ratified_(input.library.Get(ast::Dialect::kRatified)),
        names_(input.expanded, input.document.ast(), ratified_.ast(), context.symbols),
        flat_text_(expand::print::PrintFlatDocument(input.expanded, input.library, context.symbols, names_)),
        lines_(expand::print::PrintFlatStatements(input.expanded, input.library, context.symbols, names_)),
        fragment_reasons_(old().fragments.size()),
        statement_reasons_(input.document.graph()->body.size()) {
    choice_.keeps_fragment.assign(old().fragments.size(), true);
    choice_.keeps_statement.assign(statement_reasons_.size(), true);
    refusals_.assign(statement_reasons_.size(), 0);
  }

  // Returns the first trial whose graph equals the old one; the flat document if there is none.
  UpgradedDocument Run() {
    const auto flat = Parse(flat_text_, context_);
    auto groups = LinesByStatement(input_.expanded, lines_, input_.document.graph()->body);
    if (!groups || flat->graphs.size() != 1 || flat->graphs[0].body.size() != lines_.size()) return Abandon();
    const Source source = SourceOf(*flat, std::move(*groups));
    Rewriter rewriter(source, context_);
    PieceFinder finder(source, rewriter);
    FindInvocations();
    LeaveOutUntried();
    LeaveOutExtensions();
    for (int trial = 0; trial < kMaxTrials; ++trial) {
      LeaveOutCallers();
      const auto expanded = ExpandStatements(finder);
      if (expanded == nullptr) return Abandon();
      auto rewritten = rewriter.Rewrite(choice_);
      const Outcome outcome = Try(ast::PrintDocument(*rewritten, context_), source, finder);
      if (outcome == Outcome::kStuck) return Abandon();
      if (outcome == Outcome::kAgain || LeaveOutForsaken()) continue;
      const MovedComments comments =
          MoveComments(source, choice_, pieces_, finder, rewriter.RemovedComments(choice_), context_);
      ReportMoved(comments);
      return {ast::PrintDocument(*rewritten, context_, comments.before), std::move(renamed_)};
    }
    return Abandon();
  }

  // Returns a quantization file in the ratified dialect. `renamed` has the new names of tensors.
  std::string Quantization(const ast::Document& quantization,
                           const std::map<std::string, std::string>& renamed) {
    const auto flat = Parse(flat_text_, context_);
    const Source source = SourceOf(*flat, {});
    return ast::PrintDocument(*Rewriter(source, context_).RewriteQuantization(quantization, renamed),
                              context_);
  }

 private:
  // The result of a trial: the graphs are equal, more was expanded so that another trial is useful, or they
  // differ and nothing can be expanded further.
  enum class Outcome : uint8_t { kSame, kAgain, kStuck };

  const ast::Document& old() const { return input_.document.ast(); }
  std::string_view NameOf(size_t fragment) const {
    return context_.symbols.Text(
        old().fragments[ast::FragmentId(static_cast<int32_t>(fragment))].name.symbol);
  }

  Source SourceOf(const ast::Document& flat, std::vector<std::vector<size_t>> groups) const {
    return {.document = input_.document,
            .ratified = ratified_,
            .expanded = input_.expanded,
            .flat = flat,
            .lines = lines_,
            .flat_statements = std::move(groups),
            .instances = input_.instances,
            .names = names_};
  }

  std::unique_ptr<ast::Document> Parse(const std::string& text, Context& context) {
    return ast::ParseDocument(context.sources.AddText("upgraded", text), {.dialect = ast::Dialect::kRatified},
                              context);
  }

  bool LeaveOutFragment(size_t fragment, std::string reason) {
    if (!choice_.keeps_fragment[fragment]) return false;
    choice_.keeps_fragment[fragment] = false;
    fragment_reasons_[fragment] = std::move(reason);
    return true;
  }
  bool ExpandStatement(size_t statement, std::string reason) {
    if (!choice_.keeps_statement[statement]) return false;
    choice_.keeps_statement[statement] = false;
    statement_reasons_[statement] = std::move(reason);
    return true;
  }

  // Determines the pieces of the statements that are not preserved. Returns the document with these pieces,
  // or null if they cannot be parsed.
  std::unique_ptr<ast::Document> ExpandStatements(PieceFinder& finder) {
    std::string text = "version 1.0;\ngraph pieces() -> ()\n{\n";
    size_t count = 0;
    pieces_.assign(choice_.keeps_statement.size(), {});
    choice_.pieces.assign(pieces_.size(), {});
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (choice_.keeps_statement[i]) continue;
      pieces_[i] = finder.Find(i, choice_);
      for (const Piece& piece : pieces_[i]) {
        text += piece.text;
        choice_.pieces[i].push_back(count++);
      }
    }
    Context silent(context_, kMaxErrors);  // its errors are not reported
    auto expanded = Parse(text + "}\n", silent);
    if (expanded->graphs.size() != 1 || expanded->graphs[0].body.size() != count) return nullptr;
    choice_.expanded = expanded.get();
    return expanded;
  }

  // An invocation in the old document.
  struct Invocation {
    SourceRange range;
    semantics::Callee callee;
    int64_t fragment = -1;   // the enclosing fragment
    int64_t statement = -1;  // the enclosing statement of the graph
  };

  void FindInvocations() {
    std::vector<SourceRange> fragments;  // in order
    fragments.reserve(old().fragments.size());
    for (const ast::Fragment& fragment : old().fragments) fragments.push_back(fragment.range);
    for (size_t i = 0; i < old().exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      const semantics::Binding* binding = input_.document.binding(id);
      if (binding == nullptr) continue;
      Invocation invocation{.range = old().exprs[id].range, .callee = binding->callee};
      auto after = std::partition_point(fragments.begin(), fragments.end(), [&](SourceRange range) {
        return range.begin <= invocation.range.begin;
      });
      if (after != fragments.begin() && Contains(*(after - 1), invocation.range))
        invocation.fragment = after - 1 - fragments.begin();
      invocation.statement = StatementAt(input_.document.graph()->body, invocation.range);
      invocations_.push_back(invocation);
    }
  }

  // Removes fragments with operations whose ratified meaning differs and that no trial reaches.
  void LeaveOutUntried() {
    std::vector<std::pair<uint32_t, uint32_t>> reached;
    for (ir::NodeId id : input_.expanded.nodes()) {
      const ir::Origin& origin = input_.expanded.node(id).origin();
      reached.emplace_back(origin.range.begin, origin.range.end);
      if (origin.frame != nullptr)
        reached.emplace_back(origin.frame->call_site.begin, origin.frame->call_site.end);
    }
    std::sort(reached.begin(), reached.end());
    for (const Invocation& invocation : invocations_) {
      if (invocation.fragment < 0 || invocation.callee.document == &input_.document) continue;
      const std::string_view name = context_.symbols.Text(
          invocation.callee.document->signature(invocation.callee.fragment).name.symbol);
      const std::pair place(invocation.range.begin, invocation.range.end);
      if (!expand::MayChangeMeaning(name) || std::binary_search(reached.begin(), reached.end(), place))
        continue;
      LeaveOutFragment(static_cast<size_t>(invocation.fragment),
                       fmt::format("`{}` means something else in the ratified dialect", name));
    }
  }

  // Returns true if the callee is composed by an extension, not by the document: no ratified document has it.
  bool IsOfExtension(const Invocation& invocation) const {
    return invocation.callee.document != &input_.document &&
           invocation.callee.document != input_.document.library();
  }

  // Expands the invocations of such fragments and reports each fragment once.
  void LeaveOutExtensions() {
    llvm::DenseSet<Symbol> reported;
    for (const Invocation& invocation : invocations_) {
      if (!IsOfExtension(invocation)) continue;
      const Symbol name = invocation.callee.document->signature(invocation.callee.fragment).name.symbol;
      const std::string_view text = context_.symbols.Text(name);
      if (invocation.statement >= 0) ExpandStatement(static_cast<size_t>(invocation.statement), "");
      if (invocation.fragment >= 0) {
        LeaveOutFragment(static_cast<size_t>(invocation.fragment),
                         fmt::format("it invokes `{}`, which has none", text));
      }
      if (!reported.insert(name).second) continue;
      context_.emitter.Emit(kFragmentExpanded, invocation.range,
                            "`{}`, which the document does not define, has no ratified form and is expanded "
                            "where it is invoked",
                            text);
    }
  }

  // Removes callers of removed fragments.
  void LeaveOutCallers() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Invocation& invocation : invocations_) {
        if (invocation.callee.document != &input_.document) continue;
        const auto callee = static_cast<size_t>(invocation.callee.fragment.index);
        if (choice_.keeps_fragment[callee]) continue;
        if (invocation.statement >= 0) ExpandStatement(static_cast<size_t>(invocation.statement), "");
        if (invocation.fragment < 0) continue;
        changed |= LeaveOutFragment(static_cast<size_t>(invocation.fragment),
                                    fmt::format("it invokes `{}`, which has none", NameOf(callee)));
      }
    }
  }

  // Returns for each fragment whether the preserved statements of the graph, or all statements, reach it.
  std::vector<bool> Reached(bool from_all) const {
    std::vector<bool> reached(choice_.keeps_fragment.size());
    for (size_t i = 0; i < pieces_.size() && !from_all; ++i) {
      for (const Piece& piece : pieces_[i]) {
        if (piece.instance != nullptr) reached[static_cast<size_t>(piece.instance->fragment.index)] = true;
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Invocation& invocation : invocations_) {
        if (invocation.callee.document != &input_.document) continue;
        const auto callee = static_cast<size_t>(invocation.callee.fragment.index);
        const bool leads =
            invocation.statement >= 0
                ? from_all || choice_.keeps_statement[static_cast<size_t>(invocation.statement)]
                : invocation.fragment >= 0 && reached[static_cast<size_t>(invocation.fragment)];
        if (!leads || reached[callee]) continue;
        reached[callee] = changed = true;
      }
    }
    return reached;
  }

  // Removes fragments whose uses were all expanded: no trial shows that their ratified meaning is the same.
  bool LeaveOutForsaken() {
    const std::vector<bool> before = Reached(true);
    const std::vector<bool> now = Reached(false);
    bool changed = false;
    for (size_t i = 0; i < now.size(); ++i) {
      if (before[i] && !now[i]) changed |= LeaveOutFragment(i, "its operations would not be the same");
    }
    return changed;
  }

  // Checks and expands a rewritten document, and compares it with the old one.
  Outcome Try(const std::string& text, const Source& source, PieceFinder& finder) {
    Context trial(context_, kMaxErrors);
    auto parsed = Parse(text, trial);
    const ast::Document& tried = *parsed;
    std::unique_ptr<semantics::CheckedDocument> checked;
    expand::ExpandedDocument expanded;
    if (tried.complete) checked = semantics::CheckDocument(std::move(parsed), input_.library, {}, trial);
    if (checked != nullptr && checked->complete())
      expanded = expand::ExpandDocument(*checked, input_.library, input_.registry, {}, trial);
    const std::vector<Diagnostic>& diagnostics = trial.emitter.diagnostics();
    if (tried.graphs.size() != 1) return Outcome::kStuck;
    const std::vector<Part> parts = Parts();
    if (tried.graphs[0].body.size() != parts.size()) return Outcome::kStuck;
    if (!diagnostics.empty())
      return Blame(diagnostics, tried, parts, finder) ? Outcome::kAgain : Outcome::kStuck;
    if (!expanded.complete) return Outcome::kStuck;
    renamed_ = RenamedKeywords();
    if (expand::print::PrintFlatDocument(*expanded.graph, input_.library, context_.symbols) == flat_text_)
      return Outcome::kSame;
    return Compare(*expanded.graph, tried, source, parts, finder);
  }

  // A statement of the rewritten graph: an old one, or a piece of one.
  struct Part {
    size_t statement;
    const Piece* piece = nullptr;
  };
  std::vector<Part> Parts() const {
    std::vector<Part> parts;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (choice_.keeps_statement[i]) parts.push_back({i});
      for (const Piece& piece : pieces_[i]) parts.push_back({i, &piece});
    }
    return parts;
  }

  // Expands a part further; returns false if it is a single operation.
  bool LeaveOutPart(const Part& part, const std::string& reason, PieceFinder& finder) {
    if (part.piece == nullptr) return ExpandStatement(part.statement, reason);
    if (part.piece->instance == nullptr) return false;
    finder.Refuse(*part.piece->instance);
    if (++refusals_[part.statement] < kMaxRefusals) return true;
    finder.RefuseStatement(part.statement);
    return true;
  }

  // Removes the parts with errors in a trial; returns false if there are none.
  bool Blame(const std::vector<Diagnostic>& diagnostics, const ast::Document& tried,
             const std::vector<Part>& parts, PieceFinder& finder) {
    std::vector<size_t> kept;
    for (size_t i = 0; i < choice_.keeps_fragment.size(); ++i) {
      if (choice_.keeps_fragment[i]) kept.push_back(i);
    }
    bool changed = false;
    for (const Diagnostic& diagnostic : diagnostics) {
      std::vector<SourceRange> places = {diagnostic.range};
      for (const DiagnosticNote& note : diagnostic.notes) places.push_back(note.range);
      bool blamed = false;
      for (size_t p = 0; p < places.size() && !blamed; ++p) {
        for (size_t i = 0; i < tried.fragments.size() && i < kept.size() && !blamed; ++i) {
          if (!Contains(tried.fragments[ast::FragmentId(static_cast<int32_t>(i))].range, places[p])) continue;
          LeaveOutFragment(kept[i], diagnostic.message);
          blamed = changed = true;
        }
        const int64_t statement =
            places[p].file == tried.file ? StatementAt(tried.graphs[0].body, places[p]) : -1;
        if (blamed || statement < 0) continue;
        blamed = true;
        changed |= LeaveOutPart(parts[static_cast<size_t>(statement)], diagnostic.message, finder);
      }
    }
    return changed;
  }

  // Returns the reason why the ratified dialect expands a statement to lines that differ from the old graph.
  std::string DifferenceOf(const std::vector<size_t>& lines) const {
    for (size_t line : lines) {
      const ir::Frame* frame = input_.expanded.node(lines_[line].node).origin().frame.get();
      for (; frame != nullptr; frame = frame->parent.get()) {
        if (llvm::is_contained(input_.lowered, frame->fragment))
          return fmt::format("the device has no operation `{}`", frame->fragment);
        if (expand::MayChangeMeaning(frame->fragment))
          return fmt::format("`{}` computes something else in the ratified dialect", frame->fragment);
      }
    }
    return input_.is_adapted ? "the device does not accept its attributes"
                             : "its operations would not be the same";
  }

  // Compares the graph of a trial with the old one, ignoring names of tensors, and expands statements that
  // differ.
  Outcome Compare(const ir::Graph& graph, const ast::Document& tried, const Source& source,
                  const std::vector<Part>& parts, PieceFinder& finder) {
    const expand::print::PrintedNames own(graph);
    const std::vector<expand::print::FlatStatement> lines =
        expand::print::PrintFlatStatements(graph, input_.library, context_.symbols, own);
    auto found = LinesByStatement(graph, lines, tried.graphs[0].body);
    if (!found) return Outcome::kStuck;
    Matching matching(input_.expanded, graph, names_);
    bool same = true;
    bool changed = false;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<size_t>& wanted =
          parts[i].piece != nullptr ? parts[i].piece->lines : source.flat_statements[parts[i].statement];
      const bool fits =
          wanted.size() == (*found)[i].size() &&
          llvm::all_of(llvm::zip_first(wanted, (*found)[i]), [&](const auto& pair) {
            return matching.Match(lines_[std::get<0>(pair)].node, lines[std::get<1>(pair)].node);
          });
      if (fits) continue;
      same = false;
      changed |= LeaveOutPart(parts[i], DifferenceOf(wanted), finder);
    }
    if (!same) return changed ? Outcome::kAgain : Outcome::kStuck;
    if (!matching.MatchEnds()) return Outcome::kStuck;
    renamed_ = matching.Renamed();
    return Outcome::kSame;
  }

  // Returns tensors whose names are keywords of the ratified dialect.
  std::map<std::string, std::string> RenamedKeywords() const {
    std::map<std::string, std::string> renamed;
    for (ir::NodeId id : input_.expanded.nodes()) {
      for (const ir::Output& output : input_.expanded.node(id).outputs()) {
        for (const std::string& name : output.names) {
          if (names_.Of(name) != name) renamed.emplace(name, names_.Of(name));
        }
      }
    }
    return renamed;
  }

  void ReportMoved(const MovedComments& comments) {
    const std::string_view why = input_.is_adapted ? "" : "has no ratified form and ";
    const std::vector<bool> reached = Reached(true);
    for (size_t i = 0; i < fragment_reasons_.size(); ++i) {
      if (choice_.keeps_fragment[i]) continue;
      const ast::Fragment& fragment = old().fragments[ast::FragmentId(static_cast<int32_t>(i))];
      context_.emitter.Emit(
          kFragmentExpanded, fragment.name.range, "fragment `{}` {}is {}: {}{}", NameOf(i), why,
          reached[i] ? "expanded where it is invoked" : "left out, as the graph does not reach it",
          fragment_reasons_[i], comments.lost[i] > 0 ? "; its comments have no place and are left out" : "");
    }
    for (size_t i = 0; i < statement_reasons_.size(); ++i) {
      if (choice_.keeps_statement[i] || statement_reasons_[i].empty()) continue;
      context_.emitter.Emit(kStatementExpanded, input_.document.graph()->body[i].range,
                            "this statement {}is expanded: {}", why, statement_reasons_[i]);
    }
  }

  // Returns the flat document, after a warning.
  UpgradedDocument Abandon() {
    context_.emitter.Emit(kStatementExpanded, input_.document.graph()->name.range,
                          "the document is written flat, without its fragments and comments: no other form "
                          "of it was found that the ratified dialect reads the same");
    return {ast::PrintDocument(*Parse(flat_text_, context_), context_), RenamedKeywords()};
  }

  const UpgradeInput& input_;
  Context& context_;
  const semantics::CheckedDocument& ratified_;
  const expand::print::PrintedNames names_;
  const std::string flat_text_;
  const std::vector<expand::print::FlatStatement> lines_;
  Choice choice_;
  std::vector<std::string> fragment_reasons_;
  std::vector<std::string> statement_reasons_;  // empty: because of an invoked fragment
  std::vector<Invocation> invocations_;
  std::vector<std::vector<Piece>> pieces_;  // pieces of the statements that are not preserved
  std::vector<int> refusals_;               // per statement
  std::map<std::string, std::string> renamed_;
};

}  // namespace

UpgradedDocument UpgradeDocument(const UpgradeInput& input, Context& context) {
  return Upgrader(input, context).Run();
}

std::string UpgradeQuantization(const UpgradeInput& input, const ast::Document& quantization,
                                const std::map<std::string, std::string>& renamed, Context& context) {
  return Upgrader(input, context).Quantization(quantization, renamed);
}

}  // namespace nnefc::upgrade
