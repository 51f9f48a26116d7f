// Semantic tokens of a document, for highlighting.

#include <algorithm>

#include "compiler/language/code_text.h"
#include "compiler/language/queries.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsType(std::string_view word, const ast::Dialect& dialect) {
  return word == "tensor" || word == "scalar" || word == "logical" || word == "string" ||
         word == dialect.integer;
}

bool IsKeyword(std::string_view word, const ast::Dialect& dialect) {
  static constexpr std::string_view kWords[] = {"version",  "extension", "graph",   "fragment", "for",
                                                "in",       "if",        "else",    "true",     "false",
                                                "shape_of", "length_of", "range_of"};
  return llvm::is_contained(kWords, word) || (word == "yield" && dialect.loops_first);
}

// A scan over the lexical elements of a text, which need not be valid.
class TokenFinder {
 public:
  TokenFinder(const Analysis& analysis, uint32_t begin, uint32_t end)
      : analysis_(analysis), text_(analysis.text()), begin_(begin) {
    end_ = std::min(end, static_cast<uint32_t>(text_.size()));
    // Strings and comments are only known from the beginning of their line.
    const size_t line =
        begin == 0 || begin > text_.size() ? std::string_view::npos : text_.rfind('\n', begin - 1);
    at_ = line == std::string_view::npos ? 0 : static_cast<uint32_t>(line) + 1;
    const std::vector<Occurrence>& all = analysis.names().occurrences();
    occurrence_ = std::ranges::lower_bound(all, at_, {}, [](const Occurrence& o) { return o.range.begin; });
  }

  std::vector<SemanticToken> Run() {
    while (at_ < end_) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    const Occurrence* occurrence = OccurrenceHere();
    if (occurrence != nullptr && occurrence->range.end > at_) {
      AddName(*occurrence);
    } else if (c == '#') {
      Add(LineEnd(), TokenKind::kComment);
    } else if (c == '\'' || c == '"') {
      Add(StringEnd(), TokenKind::kString);
    } else if (IsDigit(c)) {
      Add(NumberEnd(), TokenKind::kNumber);
    } else if (IsNameCharacter(c)) {
      uint32_t end = at_;
      while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
      const std::string_view word = text_.substr(at_, end - at_);
      const ast::Dialect& dialect = analysis_.checked().dialect();
      if (IsType(word, dialect)) {
        Add(end, TokenKind::kType);
      } else if (IsKeyword(word, dialect)) {
        Add(end, TokenKind::kKeyword);
      } else {
        at_ = end;
      }
    } else {
      ++at_;
    }
  }

  // Returns the occurrence of a name that begins here, or null.
  const Occurrence* OccurrenceHere() {
    const std::vector<Occurrence>& all = analysis_.names().occurrences();
    while (occurrence_ != all.end() && occurrence_->range.begin < at_) ++occurrence_;
    return occurrence_ != all.end() && occurrence_->range.begin == at_ ? &*occurrence_ : nullptr;
  }

  void AddName(const Occurrence& occurrence) {
    const Entity& entity = analysis_.names().entity(occurrence.entity);
    TokenKind kind = TokenKind::kVariable;
    bool is_standard = false;
    switch (entity.kind) {
      case EntityKind::kGraph:
        kind = TokenKind::kGraph;
        break;
      case EntityKind::kOperation:
        is_standard = true;
        [[fallthrough]];
      case EntityKind::kFragment:
        kind = TokenKind::kFunction;
        break;
      case EntityKind::kParameter:
        kind = TokenKind::kParameter;
        is_standard = entity.callee.document != &analysis_.checked();
        break;
      case EntityKind::kInput:
      case EntityKind::kResult:
      case EntityKind::kLocal:
      case EntityKind::kIterator:
        break;
    }
    Add(occurrence.range.end, kind);
    if (tokens_.empty() || tokens_.back().range.begin != occurrence.range.begin) return;
    tokens_.back().is_declaration = occurrence.is_declaration;
    tokens_.back().is_standard = is_standard;
  }

  // Adds the token from here to `end`, where the scan continues.
  void Add(uint32_t end, TokenKind kind) {
    if (end > begin_) tokens_.push_back({analysis_.RangeOf({analysis_.file(), at_, end}), kind});
    at_ = end;
  }

  uint32_t LineEnd() const {
    const size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
    return static_cast<uint32_t>(end);
  }
  uint32_t StringEnd() const {
    const uint32_t line_end = LineEnd();
    for (uint32_t i = at_ + 1; i < line_end; ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == text_[at_]) {
        return i + 1;
      }
    }
    return line_end;
  }
  uint32_t NumberEnd() const {
    uint32_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && IsDigit(text_[end])) ++end;
    };
    digits();
    if (end < text_.size() && text_[end] == '.') {
      ++end;
      digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const bool has_sign = end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-');
      const uint32_t exponent = end + (has_sign ? 2 : 1);
      if (exponent < text_.size() && IsDigit(text_[exponent])) {
        end = exponent;
        digits();
      }
    }
    return end;
  }

  const Analysis& analysis_;
  std::string_view text_;
  uint32_t begin_;
  uint32_t end_ = 0;
  uint32_t at_ = 0;
  std::vector<Occurrence>::const_iterator occurrence_;
  std::vector<SemanticToken> tokens_;
};

}  // namespace

std::vector<SemanticToken> FindTokens(const Analysis& analysis, uint32_t begin, uint32_t end) {
  return TokenFinder(analysis, begin, end).Run();
}

}  // namespace nnefc::language
