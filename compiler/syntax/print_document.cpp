#include "compiler/syntax/print.h"
#include "fmt/format.h"

namespace nnefc {
namespace {

// Prints statements in document order, with the comments between them.
class DocumentPrinter {
 public:
  DocumentPrinter(const ast::Document& document, const Context& context)
      : document_(document), context_(context), text_(context.sources.Text(document.file)) {}

  std::string Print() {
    if (document_.has_version) {
      Begin(document_.version_range, 0);
      out_ += fmt::format("version {}.{}", document_.version_major, document_.version_minor);
      End(document_.version_range, ratified() ? ";" : "");
    }
    for (const ast::Extension& extension : document_.extensions) Print(extension);
    // Fragments stand before the graph, but a text with errors may mix them.
    auto graph = document_.graphs.begin();
    for (const ast::Fragment& fragment : document_.fragments) {
      while (graph != document_.graphs.end() && graph->range.begin < fragment.range.begin) Print(*graph++);
      Print(fragment);
    }
    while (graph != document_.graphs.end()) Print(*graph++);
    for (const ast::Quantization& entry : document_.quantizations) Print(entry);
    CommentsBefore(static_cast<uint32_t>(text_.size()) + 1, 0);
    return std::move(out_);
  }

 private:
  bool ratified() const { return document_.dialect == ast::Dialect::kRatified; }
  std::string_view Text(ast::Name name) const { return context_.symbols.Text(name.symbol); }
  std::string_view Slice(uint32_t begin, uint32_t end) const {
    return end > begin ? text_.substr(begin, end - begin) : std::string_view();
  }

  // ---- lines ----

  // Starts the line of what stands at `offset`, behind a blank line where the
  // text has one.
  void Line(uint32_t offset, int indent) {
    const std::string_view between = Slice(last_, offset);
    const auto newline = between.find('\n');
    const bool blank =
        newline != std::string_view::npos && between.find('\n', newline + 1) != std::string_view::npos;
    if (blank && !out_.empty() && !opened_) out_ += '\n';
    opened_ = false;
    out_.append(static_cast<size_t>(indent) * 4, ' ');
  }

  void CommentsBefore(uint32_t offset, int indent) {
    while (next_comment_ < document_.comments.size() &&
           document_.comments[next_comment_].range.begin < offset) {
      const SourceRange range = document_.comments[next_comment_++].range;
      Line(range.begin, indent);
      out_ += Slice(range.begin, range.end);
      out_ += '\n';
      last_ = range.end;
    }
  }

  void Begin(SourceRange range, int indent) {
    // Those inside, too.
    CommentsBefore(range.end, indent);
    Line(range.begin, indent);
  }

  // Ends the line of a statement with `terminator` and the comment behind it.
  void End(SourceRange range, std::string_view terminator) {
    out_ += terminator;
    last_ = std::max(last_, range.end);
    if (next_comment_ < document_.comments.size()) {
      const ast::Comment& comment = document_.comments[next_comment_];
      const std::string_view between = Slice(range.end, comment.range.begin);
      if (comment.trailing && between.find_first_not_of(" \t;") == std::string_view::npos) {
        out_ += "  ";
        out_ += Slice(comment.range.begin, comment.range.end);
        last_ = comment.range.end;
        ++next_comment_;
      }
    }
    out_ += '\n';
  }

  // What could not be parsed.
  void AsWritten(SourceRange range) {
    std::string_view text = Slice(range.begin, range.end);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    out_ += text;
  }

  // ---- statements ----

  void Print(const ast::Extension& extension) {
    Begin(extension.range, 0);
    out_ += "extension";
    for (const ast::Name& name : extension.names) out_ += fmt::format(" {}", Text(name));
    End(extension.range, ";");
  }

  // From the first token up to the `{` of the body.
  static SourceRange HeaderRange(SourceRange whole, SourceRange body) {
    if (body.valid()) whole.end = body.begin;
    return whole;
  }

  void Print(const ast::Fragment& fragment) {
    const SourceRange header = HeaderRange(fragment.range, fragment.body_range);
    Begin(header, 0);
    if (fragment.has_error) {
      AsWritten(header);
    } else {
      Declaration(fragment);
    }
    if (!fragment.has_body) return End(fragment.range, fragment.semicolon_range.valid() ? ";" : "");
    out_ += '\n';
    Body(fragment.body, fragment.body_range);
  }

  void Declaration(const ast::Fragment& fragment) {
    out_ += fmt::format("fragment {}", Text(fragment.name));
    if (fragment.is_generic) {
      out_ += fragment.generic_default ? fmt::format("<? = {}>", ast::Spelling(*fragment.generic_default))
                                       : "<?>";
    }
    out_ += "( ";
    bool first = true;
    for (const ast::Parameter& parameter : fragment.parameters) {
      out_ += fmt::format("{}{}: {}", first ? "" : ", ", Text(parameter.name),
                          PrintType(document_, parameter.type));
      if (parameter.default_value.valid()) {
        out_ += fmt::format(" = {}", PrintExpr(document_, parameter.default_value, context_));
      }
      first = false;
    }
    out_ += " ) -> ( ";
    first = true;
    for (const ast::Result& result : fragment.results) {
      out_ +=
          fmt::format("{}{}: {}", first ? "" : ", ", Text(result.name), PrintType(document_, result.type));
      first = false;
    }
    out_ += " )";
  }

  std::string Names(llvm::ArrayRef<ast::Name> names) const {
    std::string text;
    for (const ast::Name& name : names) {
      if (!text.empty()) text += ", ";
      text += Text(name);
    }
    return text;
  }

  void Print(const ast::Graph& graph) {
    const SourceRange header = HeaderRange(graph.range, graph.body_range);
    Begin(header, 0);
    if (graph.has_error) {
      AsWritten(header);
    } else {
      out_ += fmt::format("graph {}( {} ) -> ( {} )", Text(graph.name), Names(graph.parameters),
                          Names(graph.results));
    }
    out_ += '\n';
    if (graph.body_range.valid()) Body(graph.body, graph.body_range);
  }

  void Body(llvm::ArrayRef<ast::Assignment> body, SourceRange range) {
    out_ += "{\n";
    opened_ = true;
    last_ = range.begin + 1;
    for (const ast::Assignment& assignment : body) Print(assignment);
    CommentsBefore(range.end - 1, 1);
    opened_ = false;
    out_ += '}';
    End({document_.file, range.end, range.end}, "");
  }

  void Print(const ast::Assignment& assignment) {
    Begin(assignment.range, 1);
    const bool broken = std::holds_alternative<ast::ErrorExpr>(document_.exprs[assignment.right].node);
    if (broken) {
      out_ += Slice(assignment.range.begin, assignment.range.end);
      return End(assignment.range, "");
    }
    out_ += PrintExpr(document_, assignment.left, context_);
    out_ += " = ";
    out_ += PrintExpr(document_, assignment.right, context_);
    End(assignment.range, ratified() || assignment.has_semicolon ? ";" : "");
  }

  void Print(const ast::Quantization& entry) {
    const SourceRange range = Cover(entry.key.range, document_.exprs[entry.invocation].range);
    Begin(range, 0);
    out_ +=
        fmt::format("{}: {}", QuoteString(Text(entry.key)), PrintExpr(document_, entry.invocation, context_));
    End(range, ratified() ? ";" : "");
  }

  const ast::Document& document_;
  const Context& context_;
  std::string_view text_;
  std::string out_;
  size_t next_comment_ = 0;
  uint32_t last_ = 0;    // what stands before was printed
  bool opened_ = false;  // right behind `{`
};

}  // namespace

std::string PrintDocument(const ast::Document& document, const Context& context) {
  return DocumentPrinter(document, context).Print();
}

}  // namespace nnefc
