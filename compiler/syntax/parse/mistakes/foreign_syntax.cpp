// Descriptions of syntax errors that are syntax of other languages.

#include <charconv>
#include <limits>

#include "compiler/support/diagnostics/suggest.h"
#include "compiler/syntax/parse/mistakes/syntax_finder.h"
#include "compiler/syntax/parse/type_names.h"
#include "compiler/syntax/rules.h"
#include "fmt/core.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ast::parse {
namespace {

// Recognizes syntax of other languages at the position where the parser stopped.
class ForeignSyntax : SyntaxFinder {
 public:
  using SyntaxFinder::SyntaxFinder;

  std::optional<SyntaxError> Describe() const {
    for (const auto find :
         {&ForeignSyntax::Header, &ForeignSyntax::Number, &ForeignSyntax::Prefix, &ForeignSyntax::TensorType,
          &ForeignSyntax::ArrayType, &ForeignSyntax::OpenExtent, &ForeignSyntax::Results,
          &ForeignSyntax::Lambda, &ForeignSyntax::Comma, &ForeignSyntax::WordOperator,
          &ForeignSyntax::Conditional, &ForeignSyntax::ColonForEquals, &ForeignSyntax::WholeStatement,
          &ForeignSyntax::MissingOpening, &ForeignSyntax::GraphTypes, &ForeignSyntax::Surplus}) {
      if (auto error = (this->*find)()) return error;
    }
    return std::nullopt;
  }

 private:
  // Recognizes `version = 1.0;`, `version "1.0";`, and `x: f(..)` in a quantization file.
  std::optional<SyntaxError> Header() const {
    if (rule_ == NnefParser::RuleQuantization && at_ == 0 && IsName(0) && Kind(1) == TokenKind::kColon) {
      return Replace(fmt::format("expected the name of a tensor in quotes, found `{}`", Text(0)), 0, 1,
                     fmt::format("\"{}\"", Text(0)));
    }
    if (rule_ != NnefParser::RuleVersion || at_ != 1) return std::nullopt;
    if ((Found() == TokenKind::kAssign || Found() == TokenKind::kColon) &&
        Kind(2) == TokenKind::kNumericLiteral)
      return Remove(fmt::format("no `{}` stands between `version` and its number", Text(1)), 1, 2);
    if (Found() == TokenKind::kStringLiteral && Text(1).size() == 5 && Text(1).substr(1, 3) == "1.0")
      return Replace("the version stands without quotes, `version 1.0`", 1, 2, "1.0");
    return std::nullopt;
  }

  // Recognizes string prefixes: `r'label'`
  std::optional<SyntaxError> Prefix() const {
    if (Found() != TokenKind::kStringLiteral || Before() != TokenKind::kIdentifier) return std::nullopt;
    if (tokens_[at_ - 1].end != tokens_[at_].begin || Text(at_ - 1).size() > 2) return std::nullopt;
    SyntaxError error =
        Remove(fmt::format("a string has no prefix, such as `{}` here", Text(at_ - 1)), at_ - 1, at_);
    // Braces of a formatted string contain computed values.
    if (Text(at_ - 1).find_first_of("fF") != std::string_view::npos)
      error.applicability = Applicability::kUnsafe;
    return error;
  }

  // Recognizes `axes: [integer]`
  std::optional<SyntaxError> ArrayType() const {
    if (Kind(0) != TokenKind::kFragment || Found() != TokenKind::kLeftBracket ||
        Kind(at_ + 2) != TokenKind::kRightBracket || Before() != TokenKind::kColon) {
      return std::nullopt;
    }
    const std::string right = fmt::format("{}[]", Text(at_ + 1));
    return Replace(fmt::format("an array type is written `{}`", right), at_, at_ + 3, right);
  }

  // Recognizes `shape = [?,3,32,32]`
  std::optional<SyntaxError> OpenExtent() const {
    const bool is_item = Before() == TokenKind::kLeftBracket || Before() == TokenKind::kComma;
    if (Found() != TokenKind::kQuestion || !is_item || Kind(0) == TokenKind::kFragment) return std::nullopt;
    return Error(
        "`?` is not an extent; a document states all of them, and `--input-shape` gives an input others");
  }

  // Recognizes `1.0f`, `1_000`, `0x10`, `1e`.
  std::optional<SyntaxError> Number() const {
    if (Found() != TokenKind::kIdentifier || Before() != TokenKind::kNumericLiteral) return std::nullopt;
    if (tokens_[at_ - 1].end != tokens_[at_].begin) return std::nullopt;
    const std::string_view number = Text(at_ - 1);
    const std::string_view suffix = Text(at_);
    std::string right;
    if (suffix == "f" || suffix == "F" || suffix == "d") {
      right = number.find_first_of(".eE") == std::string_view::npos ? fmt::format("{}.0", number)
                                                                    : std::string(number);
    } else if (suffix == "L" || suffix == "l" || suffix == "u" || suffix == "U") {
      right = number;
    } else if (suffix[0] == '_' && suffix.find_first_not_of("_0123456789") == std::string_view::npos) {
      right = number;
      for (char c : suffix) right += c == '_' ? "" : std::string(1, c);
    } else if (number == "0" && (suffix[0] == 'x' || suffix[0] == 'X')) {
      uint64_t value = 0;
      const char* end = suffix.data() + suffix.size();
      const auto [at, error] = std::from_chars(suffix.data() + 1, end, value, 16);
      const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      if (error == std::errc() && at == end && fits) right = fmt::format("{}", value);
    }
    if (suffix == "e" || suffix == "E") {
      SyntaxError error = Error(fmt::format("`{}{}` has no digits in its exponent", number, suffix));
      error.rule = &kMalformedNumber;
      return error;
    }
    if (right.empty()) return std::nullopt;
    SyntaxError error =
        Replace(fmt::format("`{}{}` is not a number of NNEF; write `{}`", number, suffix, right), at_ - 1,
                at_ + 1, right);
    error.rule = &kMalformedNumber;
    return error;
  }

  // Recognizes `Tensor<scalar>` and `list<scalar>`.
  std::optional<SyntaxError> TensorType() const {
    if (Kind(0) != TokenKind::kFragment || Found() != TokenKind::kLess || at_ < 2 || !IsName(at_ - 1) ||
        Kind(at_ - 2) != TokenKind::kColon) {
      return std::nullopt;
    }
    const std::string_view word = Text(at_ - 1);
    const bool is_list = word == "list" || word == "List" || word == "array" || word == "vector";
    if (is_list && Kind(at_ + 2) == TokenKind::kGreater) {
      const std::string right = fmt::format("{}[]", Text(at_ + 1));
      return Replace(fmt::format("an array type is written `{}`", right), at_ - 1, at_ + 3, right);
    }
    SyntaxError error = Replace(fmt::format("`{}` is not a type; did you mean `tensor`?", Text(at_ - 1)),
                                at_ - 1, at_, "tensor");
    error.rule = &kUnknownTypeName;
    Suggestion suggestion(word);
    suggestion.Offer("tensor");
    if (!suggestion.is_typo()) error.applicability = Applicability::kUnsafe;
    return error;
  }

  // Recognizes `f(x,)`, `f(x,, y)` and `f(x y)`, and `y = x,` instead of `y = x;`.
  std::optional<SyntaxError> Comma() const {
    if (Before() == TokenKind::kComma && Found() == TokenKind::kStatementEnd && Depth() == 0 &&
        Kind(0) != TokenKind::kGraph && Kind(0) != TokenKind::kFragment) {
      return Replace("an assignment ends with `;`, not with `,`", at_ - 1, at_, ";");
    }
    if (Before() == TokenKind::kComma &&
        (IsClosing(Found()) || Found() == TokenKind::kComma || Found() == TokenKind::kSemicolon)) {
      SyntaxError error =
          Remove(fmt::format("nothing stands between the `,` and `{}`", Text(at_)), at_ - 1, at_);
      if (Found() == TokenKind::kComma)
        error.applicability = Applicability::kUnsafe;  // an item may be missing
      return error;
    }
    if (!InList() || at_ == 0 || !EndsOperand(at_ - 1)) return std::nullopt;
    // Only names in parentheses are lists of a declaration: `graph g x`, `graph g( x ) y`.
    const bool declares = Kind(0) == TokenKind::kGraph || Kind(0) == TokenKind::kFragment;
    if (declares && Depth() == 0) return std::nullopt;
    if (!BeginsOperand(at_) && !IsOpening(Found())) return std::nullopt;
    const bool touches = tokens_[at_ - 1].end == tokens_[at_].begin;  // `1e`
    if (IsWord(at_) || IsNot(at_ - 1) || (touches && Before() == TokenKind::kNumericLiteral))
      return std::nullopt;
    SyntaxError error = Error(fmt::format("expected `,` before `{}`", Text(at_)));
    error.after_previous = true;
    error.insertion = ",";
    // Insert further commas: `[1 3 32]`
    for (size_t i = at_ + 1;
         Kind(i - 1) == TokenKind::kNumericLiteral && Kind(i) == TokenKind::kNumericLiteral; ++i)
      error.edits.push_back({{TokenKind::kUnexpected, tokens_[i - 1].end, tokens_[i - 1].end}, ","});
    return error;
  }

  static std::string_view SymbolOf(std::string_view word) {
    if (word == "and" || word == "AND") return "&&";
    if (word == "or" || word == "OR") return "||";
    if (word == "not" || word == "NOT") return "!";
    if (word == "is" || word == "eq") return "==";
    return "";
  }
  bool IsWord(size_t index) const {
    return Kind(index) == TokenKind::kIdentifier && !SymbolOf(Text(index)).empty();
  }
  bool IsNot(size_t index) const { return IsWord(index) && SymbolOf(Text(index)) == "!"; }

  // Recognizes `a and b`, `not a`.
  std::optional<SyntaxError> WordOperator() const {
    if (at_ == 0) return std::nullopt;
    if (IsWord(at_) && !IsNot(at_) && EndsOperand(at_ - 1)) {
      const std::string_view symbol = SymbolOf(Text(at_));
      return Replace(fmt::format("`a {} b` is written `a {} b`", Text(at_), symbol), at_, at_ + 1,
                     std::string(symbol));
    }
    if (IsNot(at_ - 1) && BeginsOperand(at_))
      return Replace(fmt::format("`{} a` is written `!a`", Text(at_ - 1)), at_ - 1, at_, "!");
    return std::nullopt;
  }

  // Recognizes `c ? a : b`.
  std::optional<SyntaxError> Conditional() const {
    if (Found() != TokenKind::kQuestion || at_ == 0 || !EndsOperand(at_ - 1)) return std::nullopt;
    const SyntaxError error = Error("`c ? a : b` is written `a if c else b`");
    size_t begin = at_;
    for (int depth = 0; begin > 0; --begin) {
      const TokenKind kind = Kind(begin - 1);
      if (depth == 0 && (IsOpening(kind) || kind == TokenKind::kComma || kind == TokenKind::kAssign)) break;
      if (IsClosing(kind)) ++depth;
      if (IsOpening(kind)) --depth;
    }
    const size_t colon = Until(at_ + 1, [](TokenKind kind) {
      return kind == TokenKind::kColon || IsClosing(kind) || kind == TokenKind::kSemicolon;
    });
    if (Kind(colon) != TokenKind::kColon || colon == at_ + 1) return error;
    const size_t end = Until(colon + 1, [](TokenKind kind) {
      return kind == TokenKind::kComma || IsClosing(kind) || kind == TokenKind::kSemicolon ||
             kind == TokenKind::kStatementEnd || kind == TokenKind::kQuestion;
    });
    if (end == colon + 1 || Kind(end) == TokenKind::kQuestion || begin == at_) return error;
    return Replace(error.message, begin, end,
                   fmt::format("{} if {} else {}", TextFrom(at_ + 1, colon), TextFrom(begin, at_),
                               TextFrom(colon + 1, end)));
  }

  // Recognizes `shape: [1]` among arguments.
  std::optional<SyntaxError> ColonForEquals() const {
    if (rule_ != NnefParser::RuleInvocation || Found() != TokenKind::kColon || at_ < 2 || !IsName(at_ - 1))
      return std::nullopt;
    const TokenKind before = Kind(at_ - 2);
    if (before != TokenKind::kComma && before != TokenKind::kLeftParen) return std::nullopt;
    return Replace(fmt::format("an argument is given with `=`: `{} = ..`", Text(at_ - 1)), at_, at_ + 1,
                   " =");
  }

  // Recognizes `return y;`, `let y = ..`, `for ..`, `y == ..`, `y += ..`, `y: tensor = ..`, `f(x);`.
  std::optional<SyntaxError> WholeStatement() const {
    if (rule_ != NnefParser::RuleAssignment && rule_ != NnefParser::RuleLvalueExpr) return std::nullopt;
    if (at_ == 0) return StatementKeyword();
    if (at_ != 1 || Kind(0) != TokenKind::kIdentifier) return std::nullopt;
    const std::string_view first = Text(0);
    const bool is_name =
        IsName(1) && (Kind(2) == TokenKind::kSemicolon || Kind(2) == TokenKind::kStatementEnd);
    if (first == "return" || first == "yield" || (first == "output" && is_name)) {
      const std::string message = fmt::format("there is no `{}`; results are assigned by their names", first);
      SyntaxError error = is_name ? Remove(message, 0, tokens_.size()) : Error(message);
      error.applicability = Applicability::kUnsafe;  // the result may have another name
      return error;
    }
    if (first == "while") return Error("there are no loops; `[for i in a yield ..]` makes an array");
    if (first == "import" || first == "from" || first == "include")
      return Error(fmt::format("there is no `{}`; a document stands alone", first));
    if (IsName(1) && Kind(2) == TokenKind::kAssign)
      return Remove(fmt::format("`{}` begins no assignment; write `{} = ..`", first, Text(1)), 0, 1);
    if (Found() == TokenKind::kEqual)
      return Replace("`==` compares; an assignment is written with `=`", 1, 2, "=");
    const bool is_operator = Found() >= TokenKind::kPlus && Found() <= TokenKind::kCaret;
    if (is_operator && Kind(2) == TokenKind::kAssign)
      return Error(fmt::format("there is no `{}=`; a name is assigned once", Text(1)));
    if (Found() == TokenKind::kLess && Kind(2) == TokenKind::kMinus)
      return Replace("an assignment is written with `=`", 1, 3, "=");
    if (Found() == TokenKind::kColon) return Annotation();
    if (Found() == TokenKind::kLeftParen || Found() == TokenKind::kTypeArgumentOpen) return NoResult();
    if (IsName(1) && (Kind(2) == TokenKind::kLeftParen || Kind(2) == TokenKind::kTypeArgumentOpen)) {
      SyntaxError error = Error(fmt::format("expected `=` after `{}`", first));
      error.after_previous = true;
      error.insertion = " =";
      return error;
    }
    return std::nullopt;
  }

  // `y: tensor<scalar> = relu(x)`, `y : = relu(x)` and `y: relu(x)`.
  std::optional<SyntaxError> Annotation() const {
    const size_t assign = Until(1, [](TokenKind kind) { return kind == TokenKind::kAssign; });
    if (assign == 2) return Replace("an assignment is written with `=`", 1, 3, " =");
    if (assign + 1 >= tokens_.size()) return Replace("an assignment is written with `=`", 1, 2, " =");
    return Replace(fmt::format("an assignment declares no type; write `{} = ..`", Text(0)), 1, assign, "");
  }

  // Describes `relu(x) -> y;` and `relu(x);`
  std::optional<SyntaxError> NoResult() const {
    const auto is_end = [](TokenKind kind) {
      return kind == TokenKind::kArrow || kind == TokenKind::kAssign || kind == TokenKind::kSemicolon ||
             kind == TokenKind::kStatementEnd;
    };
    const size_t arrow = Until(1, is_end);
    if (Kind(arrow) == TokenKind::kSemicolon || Kind(arrow) == TokenKind::kStatementEnd)
      return Error(fmt::format("nothing takes the result of `{0}`; write `y = {0}(..)`", Text(0)));
    if (Kind(arrow) != TokenKind::kArrow) return std::nullopt;
    const size_t end = Until(arrow + 1, is_end);
    if (end == arrow + 1 || Kind(end) == TokenKind::kArrow || Kind(end) == TokenKind::kAssign)
      return std::nullopt;
    return Replace("results stand on the left, `y = f(x)`", 0, end,
                   fmt::format("{} = {}", TextFrom(arrow + 1, end), TextFrom(0, arrow)));
  }

  // Describes a keyword at the beginning of an assignment.
  std::optional<SyntaxError> StatementKeyword() const {
    if (Kind(1) == TokenKind::kAssign) return std::nullopt;  // meant as a name
    switch (Found()) {
      case TokenKind::kFor:
        return Error("there are no loops; `[for i in a yield ..]` makes an array");
      case TokenKind::kIf:
        return Error("there are no branches; `a if c else b` chooses a value");
      case TokenKind::kElse:
        return Error("there are no branches; `a if c else b` chooses a value");
      case TokenKind::kTensor:
      case TokenKind::kScalar:
      case TokenKind::kLogical:
      case TokenKind::kString:
        break;
      default:
        return std::nullopt;
    }
    const size_t name = Until(1, [](TokenKind kind) {
      return kind == TokenKind::kIdentifier || kind == TokenKind::kAssign || kind == TokenKind::kSemicolon;
    });
    if (Kind(name) != TokenKind::kIdentifier || Kind(name + 1) != TokenKind::kAssign) return std::nullopt;
    return Remove(fmt::format("an assignment declares no type; write `{} = ..`", Text(name)), 0, name);
  }

  // Recognizes `graph net( x: tensor<scalar> )`, `graph net( tensor x )`.
  std::optional<SyntaxError> GraphTypes() const {
    const bool is_graph = Kind(0) == TokenKind::kGraph && (rule_ == NnefParser::RuleGraphDeclaration ||
                                                           rule_ == NnefParser::RuleIdentifierList);
    const auto is_type = [](TokenKind kind) {
      return kind >= TokenKind::kTensor && kind <= TokenKind::kString;
    };
    // Returns the index of the name after a type; the type's own index if there is none, because the type is
    // then meant as the name.
    const auto name_after = [&](size_t index) {
      const bool has_item_type = Kind(index + 1) == TokenKind::kLess;  // `tensor<integer> x`
      const size_t name = Until(index + (has_item_type ? 3 : 0), [](TokenKind kind) {
        return kind == TokenKind::kIdentifier || kind == TokenKind::kComma || IsClosing(kind);
      });
      return IsName(name) ? name : index;
    };
    const bool is_before = is_type(Found()) && name_after(at_) > at_;
    if (is_graph && !is_before && IsKeyword(Found()) &&
        (Before() == TokenKind::kLeftParen || Before() == TokenKind::kComma)) {
      SyntaxError error = Error(fmt::format("`{}` is a keyword and cannot be a name", Text(at_)));
      error.rule = &kKeywordAsName;
      return error;
    }
    // The name before the third token is the graph's.
    const bool is_after = Found() == TokenKind::kColon && at_ > 2 && IsName(at_ - 1);
    if (!is_graph || (!is_before && !is_after)) return std::nullopt;
    SyntaxError error =
        Error("parameters and results of a graph are names alone; `external` says the type and shape");
    const auto ends_item = [](TokenKind kind) {
      return kind == TokenKind::kComma || kind == TokenKind::kRightParen || kind == TokenKind::kArrow;
    };
    for (size_t i = 2; i < tokens_.size(); ++i) {
      if (Kind(i) == TokenKind::kColon && IsName(i - 1)) {
        const size_t end = Until(i, ends_item);
        error.edits.push_back({{TokenKind::kUnexpected, tokens_[i].begin, tokens_[end - 1].end}, ""});
        i = end;
      } else if (is_type(Kind(i))) {
        const size_t name = name_after(i);
        if (name == i) break;
        error.edits.push_back({{TokenKind::kUnexpected, tokens_[i].begin, tokens_[name].begin}, ""});
        i = name;
      }
    }
    // `external` defaults to scalars, so removing another type loses it.
    for (const SyntaxError::Edit& edit : error.edits) {
      const std::string_view type = reader_.Text(edit.place);
      if (type.find("tensor") == std::string_view::npos ||
          (type.find('<') != std::string_view::npos && type.find("<scalar>") == std::string_view::npos))
        error.applicability = Applicability::kUnsafe;
    }
    return error;
  }

  // Recognizes `graph net( x ) -> y` and `graph net( x ) y`.
  std::optional<SyntaxError> Results() const {
    if (rule_ != NnefParser::RuleGraphDeclaration && rule_ != NnefParser::RuleFragmentDeclaration)
      return std::nullopt;
    // `graph net[x] -> [y]`
    if (Found() == TokenKind::kLeftBracket && at_ == 2 && Kind(0) == TokenKind::kGraph) {
      SyntaxError error = Error("parameters and results stand in `(` and `)`");
      for (const Token& token : tokens_) {
        if (token.kind == TokenKind::kLeftBracket) error.edits.push_back({token, "("});
        if (token.kind == TokenKind::kRightBracket) error.edits.push_back({token, ")"});
      }
      return error;
    }
    if (Found() == TokenKind::kArrow && IsName(at_ - 1) && Kind(at_ + 1) != TokenKind::kLeftParen &&
        Kind(tokens_.size() - 2) == TokenKind::kRightParen) {
      SyntaxError error = Error("the parameters end with `)` in front of `->`");
      error.edits.push_back(
          {{TokenKind::kUnexpected, tokens_[at_ - 1].end, tokens_[at_ + 1].begin}, ") -> ("});
      return error;
    }
    const bool ends_with_name =
        Kind(0) == TokenKind::kGraph && IsName(at_) && Kind(at_ + 1) == TokenKind::kStatementEnd;
    if (ends_with_name && Before() == TokenKind::kArrow) {
      return Replace(fmt::format("the results stand in parentheses: `-> ( {} )`", Text(at_)), at_, at_ + 1,
                     fmt::format("( {} )", Text(at_)));
    }
    if (ends_with_name && Before() == TokenKind::kRightParen) {
      const std::string results = fmt::format("-> ( {} )", Text(at_));
      return Replace(fmt::format("the results stand after `->` in parentheses: `{}`", results), at_, at_ + 1,
                     results);
    }
    if (Before() == TokenKind::kRightParen && Found() == TokenKind::kLeftParen) {
      SyntaxError error = Error("expected `->` between the parameters and the results");
      error.after_previous = true;
      error.insertion = " ->";
      return error;
    }
    if (Before() == TokenKind::kRightParen &&
        (Found() == TokenKind::kColon || Found() == TokenKind::kAssign || Found() == TokenKind::kMinus ||
         Found() == TokenKind::kGreater) &&
        Kind(at_ + 1) == TokenKind::kLeftParen) {
      return Replace("the arrow is written `->`", at_, at_ + 1, "->");
    }
    return std::nullopt;
  }

  // Recognizes `y = lambda x: ..`
  std::optional<SyntaxError> Lambda() const {
    if (Before() != TokenKind::kIdentifier || Text(at_ - 1) != "lambda") return std::nullopt;
    return Error("there is no `lambda`; a fragment in front of the graph is a function");
  }

  // Recognizes `y = relu x;`, `y = add a, b;`
  std::optional<SyntaxError> MissingParentheses() const {
    if (Kind(at_ - 2) != TokenKind::kAssign || reader_.OnLaterLine(tokens_[at_ - 1], tokens_[at_]))
      return std::nullopt;
    const size_t end = Until(at_, [](TokenKind kind) {
      return kind == TokenKind::kSemicolon || kind == TokenKind::kStatementEnd || kind == TokenKind::kIf ||
             kind == TokenKind::kFor;
    });
    const bool is_whole = Kind(end) == TokenKind::kSemicolon || Kind(end) == TokenKind::kStatementEnd;
    if (!is_whole || IsWord(at_) || IsWord(at_ - 1)) return std::nullopt;
    for (size_t i = at_ + 1; i < end; ++i) {
      if (EndsOperand(i - 1) && BeginsOperand(i)) return std::nullopt;  // `y = a xor b`
    }
    constexpr size_t kLongest = 40;
    const std::string_view arguments = TextFrom(at_, end);
    SyntaxError error = Error(fmt::format("arguments belong in parentheses: `{}({})`", Text(at_ - 1),
                                          arguments.size() <= kLongest ? arguments : ".."));
    error.edits.push_back({{TokenKind::kUnexpected, tokens_[at_ - 1].end, tokens_[at_].begin}, "("});
    error.edits.push_back({{TokenKind::kUnexpected, tokens_[end - 1].end, tokens_[end - 1].end}, ")"});
    return error;
  }

  // Recognizes `y = relu x);`
  std::optional<SyntaxError> MissingOpening() const {
    if (rule_ != NnefParser::RuleAssignment || Before() != TokenKind::kIdentifier || !BeginsOperand(at_))
      return std::nullopt;
    if (at_ >= 2) {
      if (auto error = MissingParentheses()) return error;
    }
    const size_t close = Until(
        at_, [](TokenKind kind) { return kind == TokenKind::kRightParen || kind == TokenKind::kSemicolon; });
    if (Kind(close) != TokenKind::kRightParen) return std::nullopt;
    SyntaxError error = Error(fmt::format("expected `(` behind `{}`", Text(at_ - 1)));
    error.edits.push_back({{TokenKind::kUnexpected, tokens_[at_ - 1].end, tokens_[at_].begin}, "("});
    return error;
  }

  // Recognizes a surplus closing bracket: `y = relu(x));`
  std::optional<SyntaxError> Surplus() const {
    if (rule_ != NnefParser::RuleAssignment || !IsClosing(Found())) return std::nullopt;
    const bool is_last = Kind(at_ + 1) == TokenKind::kSemicolon || Kind(at_ + 1) == TokenKind::kStatementEnd;
    const std::string message = fmt::format("`{}` closes no bracket", Text(at_));
    SyntaxError error = is_last ? Replace(message, at_, at_ + 1, "") : Error(message);
    if (HasBinaryOperator(llvm::ArrayRef<Token>(tokens_).take_front(at_)))
      error.applicability = Applicability::kUnsafe;  // an opening bracket may be missing
    return error;
  }
};

}  // namespace

std::optional<SyntaxError> DescribeForeignSyntax(const antlr4::ParserRuleContext& rule,
                                                 const StatementReader& reader, const Statement& statement,
                                                 size_t found) {
  if (auto slip = DescribeSlip(rule, reader, statement, found)) return slip;
  return ForeignSyntax(rule, reader, statement, found).Describe();
}

}  // namespace nnefc::ast::parse
