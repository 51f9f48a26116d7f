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

// Returns the name at the end of `text`; empty if it ends in something else.
std::string_view WordAtEnd(std::string_view text) {
  const auto begin = std::find_if_not(text.rbegin(), text.rend(), IsNameCharacter);
  return text.substr(static_cast<size_t>(text.rend() - begin));
}

std::string_view WithoutBlanksAtEnd(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// A text with comments and strings replaced by blanks.
struct Code {
  std::string text;
  bool is_open = false;  // the text ends within a comment or a string
};

Code CodeOf(std::string_view text) {
  Code code{std::string(text)};
  char opened = 0;  // the quote of the current string, or the `#` of the current comment
  bool is_escaped = false;
  for (char& c : code.text) {
    const char original = c;
    if (original == '\n' || original == '\f') {
      opened = 0;
    } else if (opened != 0) {
      c = ' ';
      if (original == opened && opened != '#' && !is_escaped) opened = 0;
      is_escaped = original == '\\' && !is_escaped;
    } else if (original == '#' || original == '\'' || original == '"') {
      c = ' ';
      opened = original;
      is_escaped = false;
    }
  }
  code.is_open = opened != 0;
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
        const std::string_view callee =
            c == '(' ? WordAtEnd(WithoutBlanksAtEnd(code.substr(0, i - 1))) : std::string_view();
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
    } else if (c == '=' && depth == 0 && !code.substr(i).starts_with('=')) {
      // Operators such as `<=` have no name before the `=`.
      const std::string_view name = WordAtEnd(WithoutBlanksAtEnd(code.substr(0, i - 1)));
      if (!is_first && !name.empty()) {
        around.given.insert(name);
        has_text = false;
        // Continue before the argument's name.
        i = static_cast<size_t>(name.data() - code.data()) + 1;
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
    word_ = WordAtEnd(analysis.text().substr(0, offset));
  }

  std::vector<Completion> Run() {
    const size_t end = std::min<size_t>(offset_, analysis_.text().size()) - word_.size();
    // Start at a line's beginning, because quotes are only known from there.
    size_t begin = end > kMaxLookedAt ? end - kMaxLookedAt : 0;
    if (begin > 0) begin = std::min(analysis_.text().find('\n', begin), end);
    const Code code = CodeOf(analysis_.text().substr(begin, end - begin));
    if (code.is_open) return {};
    const Around around = FindAround(code.text);
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
