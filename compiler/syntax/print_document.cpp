// The formatter of documents.

#include <algorithm>

#include "compiler/syntax/expr_writer.h"
#include "compiler/syntax/layout.h"
#include "compiler/syntax/print.h"
#include "fmt/core.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::ast {
namespace {

constexpr int kWidth = 100;

// Prints statements in document order, with the comments between and in them.
class DocumentPrinter : public CommentFeed {
 public:
  DocumentPrinter(const Document& document, const Context& context,
                  llvm::ArrayRef<std::vector<std::string>> before)
      : document_(document), context_(context), text_(context.sources.Text(document.file)), before_(before) {}

  std::string Print() {
    if (document_.has_version) {
      BeginWhole(document_.version_range);
      out_ += fmt::format("version {}.{}", document_.version_major, document_.version_minor);
      End(document_.version_range, Semicolon());
    }
    for (const Extension& extension : document_.extensions) Print(extension);
    // Fragments precede the graph, but a text with errors may mix them.
    auto graph = document_.graphs.begin();
    for (const Fragment& fragment : document_.fragments) {
      while (graph != document_.graphs.end() && graph->range.begin < fragment.range.begin) Print(*graph++);
      Print(fragment);
    }
    while (graph != document_.graphs.end()) Print(*graph++);
    for (const Quantization& entry : document_.quantizations) Print(entry);
    wants_blank_ = false;
    CommentsBefore(static_cast<uint32_t>(text_.size()) + 1, 0);
    return std::move(out_);
  }

  void FeedBefore(uint32_t offset, Layout& layout) override {
    while (HasCommentBefore(offset)) {
      const ast::Comment& comment = document_.comments[next_comment_++];
      layout.Comment(TextOf(comment), comment.trailing);
      last_ = comment.range.end;
    }
  }

 private:
  std::string_view Semicolon() const { return document_.dialect.semicolons ? ";" : ""; }
  std::string_view Text(ast::Name name) const { return context_.symbols.Text(name.symbol); }
  std::string_view Slice(uint32_t begin, uint32_t end) const {
    return end > begin ? text_.substr(begin, end - begin) : std::string_view();
  }
  std::string_view Slice(SourceRange range) const { return Slice(range.begin, range.end); }
  // Returns a comment without the blanks at its end.
  llvm::StringRef TextOf(const ast::Comment& comment) const {
    return llvm::StringRef(Slice(comment.range)).rtrim(" \t\r\v\f");
  }
  bool HasCommentBefore(uint32_t offset) const {
    return next_comment_ < document_.comments.size() &&
           document_.comments[next_comment_].range.begin < offset;
  }

  // ---- lines ----

  // Starts a line for the code at `offset`, after a blank line where the text has one or the style requires
  // it.
  void Line(uint32_t offset, int indent) {
    const std::string_view between = Slice(last_, offset);
    // Without a line break, the second search is the first one again: npos + 1 is 0.
    const bool blank = between.find('\n', between.find('\n') + 1) != std::string_view::npos;
    if ((blank || wants_blank_) && !out_.empty() && !opened_) out_ += '\n';
    opened_ = false;
    wants_blank_ = false;
    out_.append(static_cast<size_t>(indent), ' ');
  }

  void CommentsBefore(uint32_t offset, int indent) {
    while (HasCommentBefore(offset)) {
      const ast::Comment& comment = document_.comments[next_comment_++];
      Line(comment.range.begin, indent);
      out_ += TextOf(comment);
      out_ += '\n';
      last_ = comment.range.end;
    }
  }

  void Begin(SourceRange range, int indent) {
    CommentsBefore(range.begin, indent);
    Line(range.begin, indent);
  }

  // Same at the top of the document; also prints the comments inside `range` first.
  void BeginWhole(SourceRange range) {
    CommentsBefore(range.end, 0);
    Line(range.begin, 0);
  }

  // Prints the trailing comment of the code that ends at `offset`.
  void TrailingComment(uint32_t offset) {
    if (next_comment_ >= document_.comments.size()) return;
    const ast::Comment& comment = document_.comments[next_comment_];
    const std::string_view between = Slice(offset, comment.range.begin);
    if (!comment.trailing || between.find_first_not_of(" \t;") != std::string_view::npos) return;
    out_ += "  ";
    out_ += TextOf(comment);
    last_ = comment.range.end;
    ++next_comment_;
  }

  // Ends a statement: prints `terminator`, the comments inside the statement and its trailing comment.
  void End(SourceRange range, std::string_view terminator, int indent = 0) {
    out_ += terminator;
    const bool inside = HasCommentBefore(range.end);
    if (inside) {
      TrailingComment(document_.comments[next_comment_].range.begin);
    } else {
      last_ = std::max(last_, range.end);
      TrailingComment(range.end);
    }
    out_ += '\n';
    CommentsBefore(range.end, indent);
    last_ = std::max(last_, range.end);
  }

  // Copies unparsed source, comments included.
  void AsWritten(SourceRange range) {
    std::string_view text = Slice(range);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    out_ += text;
    while (HasCommentBefore(range.begin + static_cast<uint32_t>(text.size()))) ++next_comment_;
  }

  // ---- statements ----

  void Print(const Extension& extension) {
    BeginWhole(extension.range);
    out_ += "extension";
    for (const ast::Name& name : extension.names) out_ += fmt::format(" {}", Text(name));
    if (extension.tail.valid()) {
      out_ += fmt::format(" {}", OnOneLine(Slice(extension.tail)));
    }
    End(extension.range, ";");
  }

  // Returns the range from the first token up to the `{` of the body.
  static SourceRange HeaderRange(SourceRange whole, SourceRange body) {
    if (body.valid()) whole.end = body.begin;
    return whole;
  }

  void Print(const Fragment& fragment) {
    const SourceRange header = HeaderRange(fragment.range, fragment.body_range);
    wants_blank_ |= fragment.has_body;
    Begin(header, 0);
    if (fragment.has_error) {
      AsWritten(header);
    } else {
      Declaration(fragment);
    }
    if (!fragment.has_body) return End(fragment.range, fragment.semicolon_range.valid() ? ";" : "");
    End(header, "");
    Body(fragment.body, fragment.body_range);
  }

  // Prints the declaration on one line, or as
  //       fragment f(
  //           x: tensor<scalar>,
  //           alpha: scalar = 0.5 )
  //       -> ( y: tensor<scalar> )
  void Declaration(const Fragment& fragment) {
    Layout layout;
    ExprWriter writer(document_, context_, layout, 0, this);
    layout.Text(fmt::format("fragment {}", SpellName(Text(fragment.name))));
    if (fragment.is_generic) {
      layout.Text(fragment.generic_default ? fmt::format("<? = {}>", ast::Spelling(*fragment.generic_default))
                                           : "<?>");
    }
    layout.Text("(");
    if (!fragment.parameters.empty()) FeedBefore(fragment.parameters[0].name.range, layout);
    layout.Begin(Layout::Group::kEach);
    for (const Parameter& parameter : fragment.parameters) {
      if (&parameter != fragment.parameters.begin()) layout.Text(",");
      FeedBefore(parameter.name.range, layout);
      layout.Break();
      layout.Text(
          fmt::format("{}: {}", SpellName(Text(parameter.name)), PrintType(document_, parameter.type)));
      if (!parameter.default_value.valid()) continue;
      layout.Text(" = ");
      writer.Expr(parameter.default_value);
    }
    layout.Text(" )");
    if (!fragment.results.empty()) FeedBefore(fragment.results[0].name.range, layout);
    layout.Break(kIndent);
    layout.Text("-> ( ");
    layout.Begin(Layout::Group::kFill);
    for (const Result& result : fragment.results) {
      if (&result != fragment.results.begin()) {
        layout.Text(",");
        FeedBefore(result.name.range, layout);
        layout.Break();
      }
      layout.Text(fmt::format("{}: {}", SpellName(Text(result.name)), PrintType(document_, result.type)));
    }
    if (!fragment.has_body) FeedBefore(fragment.range.end, layout);
    layout.End();
    layout.Text(" )");
    layout.End();
    out_ += layout.Lines(0, kWidth);
  }

  void FeedBefore(SourceRange range, Layout& layout) {
    if (range.valid()) FeedBefore(range.begin, layout);
  }

  void Names(llvm::ArrayRef<ast::Name> names, Layout& layout) {
    layout.Text("( ");
    layout.Begin(Layout::Group::kHang);
    if (!names.empty()) FeedBefore(names[0].range, layout);
    for (const ast::Name& name : names) {
      if (&name != names.begin()) {
        layout.Text(",");
        FeedBefore(name.range, layout);
        layout.Break();
      }
      layout.Text(SpellName(Text(name)));
    }
    layout.End();
    layout.Text(" )");
  }

  void Print(const Graph& graph) {
    const SourceRange header = HeaderRange(graph.range, graph.body_range);
    wants_blank_ = true;
    Begin(header, 0);
    if (graph.has_error) {
      AsWritten(header);
    } else {
      Layout layout;
      layout.Begin(Layout::Group::kFill);
      layout.Text(fmt::format("graph {}", SpellName(Text(graph.name))));
      Names(graph.parameters, layout);
      if (!graph.results.empty()) FeedBefore(graph.results[0].range, layout);
      layout.Break();
      layout.Text("-> ");
      Names(graph.results, layout);
      layout.End();
      out_ += layout.Lines(0, kWidth);
    }
    End(header, "");
    if (graph.body_range.valid()) Body(graph.body, graph.body_range);
  }

  void Body(llvm::ArrayRef<Assignment> body, SourceRange range) {
    out_ += '{';
    TrailingComment(range.begin + 1);
    out_ += '\n';
    opened_ = true;
    wants_blank_ = false;
    const bool is_graph = !document_.graphs.empty() && document_.graphs[0].body.data() == body.data();
    for (size_t i = 0; i < body.size(); ++i)
      Print(body[i], is_graph && i < before_.size() ? llvm::ArrayRef<std::string>(before_[i])
                                                    : llvm::ArrayRef<std::string>());
    CommentsBefore(range.end - 1, kIndent);
    opened_ = false;
    out_ += '}';
    End({document_.file, range.end, range.end}, "");
    wants_blank_ = true;
  }

  void Print(const Assignment& assignment, llvm::ArrayRef<std::string> before) {
    CommentsBefore(assignment.range.begin, kIndent);
    Line(assignment.range.begin, kIndent);
    for (const std::string& comment : before) out_ += fmt::format("{}\n{:{}}", comment, "", kIndent);
    const bool broken = std::holds_alternative<ErrorExpr>(document_.exprs[assignment.right].node);
    if (broken) {
      AsWritten(assignment.range);
      return End(assignment.range, "", kIndent);
    }
    Layout layout;
    ExprWriter writer(document_, context_, layout, 0, this);
    writer.Expr(assignment.left);
    layout.Text(" = ");
    writer.Expr(assignment.right);
    out_ += layout.Lines(kIndent, kWidth - 1);
    End(assignment.range, Semicolon(), kIndent);
  }

  // Prefers double quotes, as in the specification's examples.
  static std::string Key(std::string_view name) {
    return name.find_first_of("\"\\") == std::string_view::npos ? fmt::format("\"{}\"", name)
                                                                : QuoteString(name);
  }

  void Print(const Quantization& entry) {
    const SourceRange range = Cover(entry.key.range, document_.exprs[entry.invocation].range);
    Begin(range, 0);
    Layout layout;
    layout.Text(Key(Text(entry.key)) + ": ");
    ExprWriter(document_, context_, layout, 0, this).Expr(entry.invocation);
    out_ += layout.Lines(0, kWidth - 1);
    End(range, Semicolon());
  }

  const Document& document_;
  const Context& context_;
  std::string_view text_;
  llvm::ArrayRef<std::vector<std::string>> before_;
  std::string out_;
  size_t next_comment_ = 0;
  uint32_t last_ = 0;         // everything before this offset was printed
  bool opened_ = false;       // directly after `{`
  bool wants_blank_ = false;  // between declarations with a body
};

}  // namespace

std::string OnOneLine(std::string_view tokens) {
  std::string line;
  char quote = '\0';  // quote of the current string; 0 outside strings
  for (size_t i = 0; i < tokens.size(); ++i) {
    const char c = tokens[i];
    if (quote != '\0') {
      line += c;
      if (c == '\\' && i + 1 < tokens.size()) {
        line += tokens[++i];
      } else if (c == quote) {
        quote = '\0';
      }
      continue;
    }
    if (c == '#') {
      i = std::min(tokens.find('\n', i), tokens.size()) - 1;
    } else if (c == '\n' || kBlanks.find(c) != std::string_view::npos) {
      if (!line.empty() && line.back() != ' ') line += ' ';
    } else {
      if (c == '\'' || c == '"') quote = c;
      line += c;
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string PrintDocument(const Document& document, const Context& context) {
  return DocumentPrinter(document, context, {}).Print();
}

std::string PrintDocument(const Document& document, const Context& context,
                          llvm::ArrayRef<std::vector<std::string>> before) {
  return DocumentPrinter(document, context, before).Print();
}

}  // namespace nnefc::ast
