#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/language/positions.h"
#include "compiler/lint/settings.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::language {

// A stretch of a text: byte offsets and the same as positions of an editor.
struct TextRange {
  uint32_t begin = 0;  // first byte
  uint32_t end = 0;    // one past the last
  Position start;
  Position stop;
};

// A stretch of a document, or of a standard library (LanguageService::Library).
struct Place {
  std::string uri;
  TextRange range;
};

// What the checker, expansion or lint says of a document.
struct Finding {
  Severity severity;
  std::string_view rule;     // "binding.missing-argument"; lives forever
  std::string_view section;  // "R 3.3.2, P 3.3.1", or empty
  std::string message;
  TextRange range;
  struct Note {
    std::string message;
    std::optional<Place> place;  // none: of the command line
  };
  std::vector<Note> notes;
  struct Fix {
    TextRange range;
    std::string text;  // stands for what is in the range
    Applicability applicability;
  };
  std::vector<Fix> fixes;
};

enum class SymbolKind : uint8_t {
  kGraph,
  kFragment,
  kOperation,
  kParameter,
  kInput,
  kResult,
  kTensor,    // a name of a body that stands for a tensor
  kValue,     // one that stands for anything else
  kIterator,  // of an array comprehension
  kKeyword,   // of completions: `shape_of`, `for`
};

// What is known of a name, or of an invocation by the name of its operation.
struct Hover {
  TextRange range;
  SymbolKind kind;
  std::string name;
  // Of a value: "tensor<scalar>", "integer[]" in the words of the document's
  // dialect. Empty where a mistake hides it.
  std::string type;
  // Of a tensor, or of an invocation's result: "[1,64,56,56]", an extent that
  // is not known as "?" (chapter 4's shape rules). Where a fragment is
  // instantiated with different shapes, that of its first instantiation with
  // the number of others: "[1,64,56,56] and 3 others". Empty where expansion
  // did not get that far.
  std::string shape;
  // Of a fragment or operation: its declaration on one line, without the body.
  std::string signature;
  // Of an invocation: what stands for `?`, "scalar"; empty if nothing does.
  std::string generic;
  // Of an invocation: parameters that are left to their defaults, and those.
  std::vector<std::pair<std::string, std::string>> defaults;

  // All of it as plain lines, the declaration first.
  std::string Text() const;
};

// A declaration within a document, for an outline.
struct DocumentSymbol {
  std::string name;
  SymbolKind kind;
  std::string detail;   // its type, or the declaration of a fragment
  TextRange range;      // the whole
  TextRange selection;  // the name
  std::vector<DocumentSymbol> children;
};

struct Completion {
  std::string label;   // what is offered
  std::string insert;  // what is to stand in place of the word before the cursor
  SymbolKind kind;
  std::string detail;  // type or declaration
};

// A change to a text: the range, in terms of the text before it, becomes
// `text`; without a range the whole text does.
struct TextChange {
  std::optional<std::pair<Position, Position>> range;
  std::string text;
};

struct ServiceOptions {
  // Bounds for each document; smaller than the command line's, as an editor
  // waits. One that is reached is a finding.
  Limits limits{.steps = 5'000'000, .operations = 200'000, .items = 5'000'000};
  // What of lint is told (compiler/lint); nothing: none of it. A server fills it
  // from `.nnefc.json` with lint::ReadConfig and lint::Apply.
  std::optional<lint::Settings> lint = lint::Settings();
  // Larger texts are not taken.
  size_t max_text = size_t{64} << 20;
};

// The base of a language server: documents that are held in memory and are
// checked whenever they change. Nothing is read from files.
//
// A document may be half written: what was parsed of it has definitions,
// references, types and symbols; what could be expanded has shapes; findings
// tell the rest. Queries on an unknown uri, and where there is nothing to tell,
// give nothing. A query takes an offset in bytes or a Position; one beyond the
// text means its end.
//
// Threads: calls on one service must not overlap; different services share
// nothing that changes and may be used in different threads at once. Checking
// happens within Open and Change, so that queries are short.
class LanguageService {
 public:
  explicit LanguageService(ServiceOptions options = {});
  ~LanguageService();
  LanguageService(LanguageService&&) noexcept;
  LanguageService& operator=(LanguageService&&) noexcept;

  // Takes a document; `uri` is what places are told by. The dialect is told by
  // the text unless it is given. False if it is open already or too large.
  bool Open(const std::string& uri, int64_t version, std::string text,
            std::optional<ast::Dialect> dialect = {});
  // Takes a graph.quant file, which is checked against the document `model` while
  // that is open; queries other than Diagnostics find nothing in it. False also if
  // the model has one already.
  bool OpenQuantization(const std::string& uri, int64_t version, std::string text, const std::string& model);
  // Applies the changes one after the other. False, with nothing changed, if
  // the document is not open, the version not above the last one, a range ends
  // before it begins, or the text would be too large.
  bool Change(const std::string& uri, int64_t version, const std::vector<TextChange>& changes);
  bool Close(const std::string& uri);

  std::vector<std::string> Documents() const;
  std::optional<int64_t> Version(const std::string& uri) const;
  // The text of an open document or of a standard library; empty otherwise.
  std::string_view Text(const std::string& uri) const;
  // The uri of a document of the standard library, such as `ratified.nnef`, which
  // places may have.
  static std::string LibraryUri(std::string_view file_name);

  // What is wrong with a document, in the order of its text.
  std::vector<Finding> Diagnostics(const std::string& uri) const;

  // Where the name is declared, or first assigned.
  std::optional<Place> Definition(const std::string& uri, uint32_t offset) const;
  // Every place of what the name stands for within the document, in the order
  // of the text.
  std::vector<Place> References(const std::string& uri, uint32_t offset,
                                bool include_declaration = true) const;
  std::optional<Hover> HoverAt(const std::string& uri, uint32_t offset) const;
  // Fragments and graphs, with parameters, results and assigned names.
  std::vector<DocumentSymbol> Symbols(const std::string& uri) const;
  // What could be written at the cursor: names that have a value there,
  // fragments, standard operations, built-in functions, and in an invocation
  // the parameters that are not given yet (these first). Only what begins with
  // the letters before the cursor.
  std::vector<Completion> Complete(const std::string& uri, uint32_t offset) const;

  std::optional<Place> Definition(const std::string& uri, Position at) const {
    return Definition(uri, Offset(uri, at));
  }
  std::vector<Place> References(const std::string& uri, Position at, bool include_declaration = true) const {
    return References(uri, Offset(uri, at), include_declaration);
  }
  std::optional<Hover> HoverAt(const std::string& uri, Position at) const {
    return HoverAt(uri, Offset(uri, at));
  }
  std::vector<Completion> Complete(const std::string& uri, Position at) const {
    return Complete(uri, Offset(uri, at));
  }

  // Conversions within an open document; 0 and {} for an unknown one.
  uint32_t Offset(const std::string& uri, Position position) const;
  Position PositionOf(const std::string& uri, uint32_t offset) const;

 private:
  struct Document;
  const Document* Find(const std::string& uri) const;
  // The same for what queries are answered of: no graph.quant file.
  const Document* FindModel(const std::string& uri) const;
  void Analyse(const std::string& uri, Document& document, std::string text);

  ServiceOptions options_;
  std::map<std::string, std::unique_ptr<Document>> documents_;
};

}  // namespace nnefc::language
