#include <algorithm>
#include <set>

#include "compiler/language/analysis.h"
#include "compiler/semantics/extensions.h"

namespace nnefc::language {
namespace {

// Maximum number of bytes before the cursor that are searched for the enclosing invocation.
constexpr size_t kMaxLookedAt = 65536;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view WordBefore(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && IsNameCharacter(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// Returns the text with comments and strings replaced by blanks.
std::string Code(std::string_view text) {
  std::string code(text);
  char quote = 0;
  bool in_comment = false;
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\n' || c == '\f') {
      quote = 0;
      in_comment = false;
      continue;
    }
    if (in_comment || quote != 0) {
      if (quote != 0 && c == '\\' && i + 1 < code.size() && code[i + 1] != '\n') code[i++] = ' ';
      if (c == quote) quote = 0;
      code[i] = ' ';
    } else if (c == '#') {
      in_comment = true;
      code[i] = ' ';
    } else if (c == '\'' || c == '"') {
      quote = c;
      code[i] = ' ';
    }
  }
  return code;
}

// The invocation around the cursor, as far as the text before the cursor shows it.
struct Around {
  std::string_view callee;           // empty: not in an invocation
  std::set<std::string_view> given;  // names of arguments
  size_t positional = 0;             // number of unnamed arguments
  bool at_start = true;              // an argument begins at the cursor
};

// Scans backwards to the unclosed bracket at the end of `code`. Works on text, because an incomplete
// invocation has no tree.
Around FindAround(std::string_view code) {
  Around around;
  int depth = 0;
  bool has_text = false;  // the current argument is not empty
  bool is_first = true;   // the current argument is the one at the cursor
  auto close_argument = [&] {
    if (is_first) {
      around.at_start = !has_text;
    } else if (has_text) {
      ++around.positional;
    }
    is_first = has_text = false;
  };
  for (size_t i = code.size(); i > 0; --i) {
    const char c = code[i - 1];
    if (c == ')' || c == ']' || c == '}') {
      if (c == '}') return {};
      ++depth;
    } else if (c == '(' || c == '[' || c == '{') {
      if (c == '{') return {};
      if (depth > 0) {
        --depth;
      } else {
        size_t end = i - 1;
        while (end > 0 && (code[end - 1] == ' ' || code[end - 1] == '\n')) --end;
        const std::string_view callee = c == '(' ? WordBefore(code, end) : std::string_view();
        if (callee.empty()) return {};  // within an array or a tuple
        close_argument();
        around.callee = callee;
        return around;
      }
    } else if (c == ';' && depth == 0) {
      return {};
    } else if (c == ',' && depth == 0) {
      close_argument();
      continue;
    } else if (c == '=' && depth == 0 && i < code.size() && code[i] != '=' && i > 1 && code[i - 2] != '=' &&
               code[i - 2] != '<' && code[i - 2] != '>' && code[i - 2] != '!') {
      size_t end = i - 1;
      while (end > 0 && code[end - 1] == ' ') --end;
      const std::string_view name = WordBefore(code, end);
      if (is_first) has_text = true;
      around.given.insert(name);
      // Continue before the argument's name.
      if (!is_first) {
        has_text = false;
        i = end - name.size() + 1;
        continue;
      }
    }
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') has_text = true;
  }
  return {};
}

class Completer {
 public:
  Completer(const Analysis& analysis, uint32_t offset) : analysis_(analysis), offset_(offset) {
    const std::string_view text = analysis.text();
    word_ = WordBefore(text, std::min<size_t>(offset, text.size()));
  }

  std::vector<Completion> Run() {
    const size_t end = std::min<size_t>(offset_, analysis_.text().size()) - word_.size();
    // Start at a line's beginning, because quotes are only known from there.
    size_t begin = end > kMaxLookedAt ? end - kMaxLookedAt : 0;
    if (begin > 0) begin = std::min(analysis_.text().find('\n', begin), end);
    const std::string code = Code(analysis_.text().substr(begin, end - begin));
    const Around around = FindAround(code);
    if (!around.callee.empty() && around.at_start) OfferParameters(around);
    OfferLocals();
    OfferFragments(analysis_.checked());
    if (analysis_.checked().library() != nullptr) OfferFragments(*analysis_.checked().library());
    OfferExtensions();
    OfferWords();
    return std::move(offers_);
  }

 private:
  void Offer(std::string_view label, std::string insert, SymbolKind kind, std::string detail) {
    if (!label.starts_with(word_) || !offered_.insert(std::string(label)).second) return;
    offers_.push_back({std::string(label), std::move(insert), kind, std::move(detail)});
  }

  void OfferParameters(const Around& around) {
    const Symbol symbol = analysis_.context().symbols.Find(around.callee);
    const Callee callee = symbol.valid() ? analysis_.checked().Find(symbol) : Callee();
    if (!callee.valid()) return;
    const Signature& signature = callee.document->signature(callee.fragment);
    for (size_t i = around.positional; i < signature.parameters.size(); ++i) {
      const TypedName& parameter = signature.parameters[i];
      const std::string_view name = analysis_.Text(parameter.name.symbol);
      const bool is_tensor = callee.document->types().ContainsTensor(parameter.type);
      if (is_tensor || around.given.contains(name)) continue;
      Offer(name, fmt::format("{} = ", name), SymbolKind::kParameter,
            callee.document->types().Text(parameter.type, callee.document->dialect()));
    }
  }

  void OfferLocals() {
    const BodyScope* body = analysis_.names().BodyAt(offset_);
    if (body == nullptr) return;
    for (auto [id, from] : body->names) {
      const Entity& entity = analysis_.names().entity(id);
      if (from > offset_) continue;
      const std::string_view name = analysis_.Text(entity.name);
      Offer(name, std::string(name), analysis_.KindOf(entity), analysis_.TypeText(entity.type));
    }
  }

  void OfferFragments(const CheckedDocument& document) {
    for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
      const ast::FragmentId id(static_cast<int32_t>(i));
      const std::string_view name = analysis_.Text(document.signature(id).name.symbol);
      if (name.empty() || !name.starts_with(word_)) continue;
      Offer(name, std::string(name), document.is_library() ? SymbolKind::kOperation : SymbolKind::kFragment,
            analysis_.SignatureText({&document, id}));
    }
  }

  // Offers operations of extensions that the document enables, used or not.
  void OfferExtensions() {
    const CheckedDocument& document = analysis_.checked();
    for (const Extension& extension : Extensions()) {
      if (extension.library == nullptr || extension.dialect != document.dialect()) continue;
      if (extension.activation == Activation::kImplicit ||
          Enables(document.ast(), extension, analysis_.context().symbols)) {
        OfferFragments(StandardLibrary::Shared().Get(extension));
      }
    }
  }

  void OfferWords() {
    const ast::Dialect& dialect = analysis_.checked().dialect();
    for (std::string_view word : {"shape_of", "length_of", "range_of", "scalar", "logical", "string", "for",
                                  "in", "if", "else", "true", "false"}) {
      Offer(word, std::string(word), SymbolKind::kKeyword, "");
    }
    Offer(dialect.integer, std::string(dialect.integer), SymbolKind::kKeyword, "");
    if (dialect.loops_first) Offer("yield", "yield", SymbolKind::kKeyword, "");
  }

  const Analysis& analysis_;
  uint32_t offset_;
  std::string_view word_;
  std::vector<Completion> offers_;
  std::set<std::string> offered_;
};

}  // namespace

std::vector<Completion> FindCompletions(const Analysis& analysis, uint32_t offset) {
  return Completer(analysis, offset).Run();
}

}  // namespace nnefc::language
