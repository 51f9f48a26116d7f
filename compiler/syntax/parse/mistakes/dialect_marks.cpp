// Marks of the dialects: constructs that only one dialect accepts, counted at the beginning of a document
// without a stated dialect.

#include "compiler/syntax/parse/mistakes/dialect_marks.h"

#include <algorithm>

#include "compiler/syntax/parse/scanner.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

// Maximum number of bytes of a document that are searched for marks.
constexpr uint32_t kMaxRead = 64U << 10;

bool IsElementType(TokenKind kind) {
  return kind == TokenKind::kScalar || kind == TokenKind::kLogical || kind == TokenKind::kString ||
         kind == TokenKind::kQuestion;
}

// Scans a document token by token, with two tokens of history.
class MarkReader {
 public:
  using Kind = DialectMarks::Kind;

  MarkReader(std::string_view text, uint32_t offset) : text_(text), scanner_(text, offset) {
    end_ = static_cast<uint32_t>(std::min<size_t>(text.size(), size_t{offset} + kMaxRead));
  }

  template <typename Add>
  void Read(Add add) {
    // The end of the text is at or after `end_`, too.
    for (Token token = Next(); token.begin < end_; token = Next()) {
      Take(token, add);
      second_ = first_;
      first_ = token;
    }
  }

  size_t ended_statements() const { return ended_statements_; }

 private:
  Token Next() {
    Token token = scanner_.Next();
    while (token.kind == TokenKind::kComment) token = scanner_.Next();
    return token;
  }
  Token Following(Token token) const {
    Scanner scanner(text_, token.end);
    Token next = scanner.Next();
    while (next.kind == TokenKind::kComment) next = scanner.Next();
    return next;
  }
  std::string_view Text(Token token) const { return token.Text(text_); }

  template <typename Add>
  void Take(Token token, Add add) {
    switch (token.kind) {
      case TokenKind::kFragment:
      case TokenKind::kGraph:
        in_declaration_ = true;
        in_fragment_ = token.kind == TokenKind::kFragment;
        in_body_ = false;
        return;
      case TokenKind::kLeftBrace:
        if (!in_declaration_) return;
        in_declaration_ = false;
        in_body_ = true;
        BeginStatement();
        return;
      case TokenKind::kRightBrace:
        if (in_body_ && depth_ == 0 && has_assign_) add(Kind::kStatementAlone, last_assign_);
        in_body_ = false;
        return;
      default:
        if (in_declaration_) return Declaration(token, add);
        if (in_body_) return Body(token, add);
        if (token.kind == TokenKind::kIdentifier && Text(token) == "extension" &&
            Following(token).kind == TokenKind::kIdentifier) {
          const bool is_tract = Text(Following(token)).starts_with("tract_");
          add(is_tract ? Kind::kTractExtension : Kind::kExtension, token.begin);
        }
    }
  }

  template <typename Add>
  void Declaration(Token token, Add add) {
    if (token.kind == TokenKind::kSemicolon) in_declaration_ = false;
    if (!in_fragment_) return;
    if (token.kind == TokenKind::kTensor) {
      add(Following(token).kind == TokenKind::kLess ? Kind::kTensorBrackets : Kind::kBareTensor, token.begin);
    }
    if (token.kind == TokenKind::kLess && first_.kind == TokenKind::kIdentifier &&
        second_.kind == TokenKind::kFragment)
      add(Kind::kGenericDeclaration, token.begin);
    const bool is_type = token.kind == TokenKind::kIdentifier && first_.kind != TokenKind::kFragment &&
                         first_.kind != TokenKind::kLess && Following(token).kind != TokenKind::kColon;
    if (is_type && Text(token) == "integer") add(Kind::kIntegerType, token.begin);
    if (is_type && Text(token) == "extent") add(Kind::kExtentType, token.begin);
  }

  template <typename Add>
  void Body(Token token, Add add) {
    switch (token.kind) {
      case TokenKind::kSemicolon:
        ended_statements_ += has_assign_;
        BeginStatement();
        return;
      case TokenKind::kLeftParen:
        if (in_fragment_ && first_.kind == TokenKind::kIdentifier && IsOfGraph(Text(first_)))
          add(Kind::kFragmentVariable, first_.begin);
        ++depth_;
        return;
      case TokenKind::kLeftBracket:
        if (Following(token).kind == TokenKind::kFor) add(Kind::kLoopFirst, token.begin);
        ++depth_;
        return;
      case TokenKind::kFor:
        if (first_.kind != TokenKind::kLeftBracket && depth_ > 0) add(Kind::kLoopLast, token.begin);
        return;
      case TokenKind::kRightParen:
      case TokenKind::kRightBracket:
        --depth_;
        return;
      case TokenKind::kGreater:
        TypeArgument(token, add);
        return;
      case TokenKind::kAssign:
        if (depth_ != 0) return;
        if (has_assign_ && OnLaterLine(last_assign_, token.begin)) add(Kind::kStatementAlone, last_assign_);
        has_assign_ = true;
        last_assign_ = token.begin;
        return;
      default:
        return;
    }
  }

  // Recognizes `variable<scalar>(`.
  template <typename Add>
  void TypeArgument(Token token, Add add) {
    if (second_.kind != TokenKind::kLess || Following(token).kind != TokenKind::kLeftParen) return;
    if (!IsElementType(first_.kind) && Text(first_) != "integer") return;
    add(Kind::kTypeArgument, second_.begin);
  }

  static bool IsOfGraph(std::string_view operation) {
    return operation == "variable" || operation == "update";
  }
  bool OnLaterLine(uint32_t before, uint32_t offset) const {
    return text_.substr(before, offset - before).find('\n') != std::string_view::npos;
  }
  void BeginStatement() {
    depth_ = 0;
    has_assign_ = false;
  }

  std::string_view text_;
  Scanner scanner_;
  uint32_t end_;
  Token first_, second_;  // the two previous tokens, nearest first
  bool in_declaration_ = false;
  bool in_fragment_ = false;
  bool in_body_ = false;
  int depth_ = 0;
  bool has_assign_ = false;
  uint32_t last_assign_ = 0;
  size_t ended_statements_ = 0;
};

}  // namespace

DialectMarks::DialectMarks(std::string_view text, uint32_t offset) : text_(text) {
  MarkReader reader(text, offset);
  reader.Read([this](Kind kind, uint32_t place) { Add(kind, place); });
  ended_statements_ = reader.ended_statements();
}

void DialectMarks::Add(Kind kind, uint32_t offset) {
  Mark& mark = marks_[kind];
  if (mark.count++ == 0) mark.offset = offset;
}

// Statements without `;` count only if they outnumber those with `;`; otherwise they are slips.
size_t DialectMarks::Kinds(bool ratified) const {
  const auto* first = ratified ? marks_.begin() : marks_.begin() + kNumRatified;
  const auto* last = ratified ? marks_.begin() + kNumRatified : marks_.end();
  return static_cast<size_t>(std::count_if(first, last, [&](const Mark& mark) {
    const size_t least = &mark == &marks_[kStatementAlone] ? ended_statements_ : 0;
    return mark.count > least;
  }));
}

// tract reads the ratified dialect alone, so its extensions decide. Otherwise,
// each kind of mark counts once, because one habit occurs repeatedly. On a tie, the `;` of statements decides
// if most have it, or if clearly more lack it. In a short document, the text's own marks decide: the version
// and the next constructs.
bool DialectMarks::IsRatified() const {
  constexpr size_t kSlips = 2;
  if (marks_[kTractExtension].count > 0) return true;
  const size_t ratified = Kinds(true), provisional = Kinds(false);
  if (ratified != provisional) return ratified > provisional;
  const size_t open = marks_[kStatementAlone].count;
  if (ended_statements_ > open) return true;
  if (open > ended_statements_ + kSlips) return false;
  return marks_[kVersionSemicolon].count + marks_[kExtension].count + marks_[kTensorBrackets].count > 0;
}

std::string DialectMarks::NameOf(Kind kind) const {
  switch (kind) {
    case kVersionSemicolon:
      return "the `;` after the version";
    case kTractExtension:
      return "an extension of tract";
    case kExtension:
      return "`extension`";
    case kTensorBrackets: {
      const std::string_view rest = text_.substr(marks_[kind].offset);
      const size_t close = rest.find('>');
      return close < 24 ? fmt::format("`{}`", rest.substr(0, close + 1)) : "`tensor<..>`";
    }
    case kTypeArgument: {
      const std::string_view rest = text_.substr(marks_[kind].offset);
      return fmt::format("the type argument `{}`", rest.substr(0, std::min<size_t>(rest.find('>') + 1, 16)));
    }
    case kGenericDeclaration:
      return "a generic fragment";
    case kIntegerType:
      return "`integer`";
    case kLoopFirst:
      return "`[for ..]`";
    case kVersionAlone:
      return "the version without `;`";
    case kStatementAlone:
      return marks_[kind].count == 1 ? "a statement without `;`" : "statements without `;`";
    case kBareTensor:
      return "`tensor` without a type";
    case kExtentType:
      return "`extent`";
    case kFragmentVariable:
      return "a variable in a fragment";
    case kLoopLast:
      return "`[.. for ..]`";
    case kCount:
      break;
  }
  return "";
}

std::string DialectMarks::Text(bool ratified) const {
  constexpr size_t kShown = 3;
  std::string text;
  size_t shown = 0;
  for (size_t i = ratified ? 0 : kNumRatified; i < (ratified ? kNumRatified : size_t{kCount}); ++i) {
    if (marks_[i].count == 0 || shown++ >= kShown) continue;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + marks_[i].offset, '\n');
    text += fmt::format("{}{} (line {})", text.empty() ? "" : ", ", NameOf(static_cast<Kind>(i)), line);
  }
  return text;
}

}  // namespace nnefc::ast::parse
