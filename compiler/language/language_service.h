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

// A range of a text, as byte offsets and as editor positions.
struct TextRange {
  uint32_t begin = 0;  // first byte
  uint32_t end = 0;    // one past the last
  Position start;
  Position stop;
};

// A range in a document or in a standard library (LanguageService::LibraryUri).
struct Place {
  std::string uri;
  TextRange range;
};

// A finding of the checker, expansion or lint.
struct Finding {
  Severity severity;
  std::string_view rule;     // "binding.missing-argument"; static storage
  std::string_view section;  // "R 3.3.2, P 3.3.1", or empty
  std::string message;
  TextRange range;
  struct Note {
    std::string message;
    std::optional<Place> place;  // none: outside the texts
  };
  std::vector<Note> notes;
  struct Fix {
    TextRange range;
    std::string text;  // replaces the range
    Applicability applicability;
  };
  std::vector<Fix> fixes;
};

// The kinds of names.
enum class SymbolKind : uint8_t {
  kGraph,
  kFragment,
  kOperation,
  kParameter,
  kInput,
  kResult,
  kTensor,    // a local name with a tensor value
  kValue,     // a local name with another value
  kIterator,  // loop variable of an array comprehension
  kKeyword,   // completions such as `shape_of`, `for`
};

// Hover information about a name, or about an invocation when the name is its operation.
struct Hover {
  TextRange range;
  SymbolKind kind;
  std::string name;
  // The type of a value in the document's dialect, such as "tensor<scalar>" or "integer[]". Empty if an error
  // hides it.
  std::string type;
  // The shape of a tensor or of an invocation's result, such as "[1,64,56,56]"; unknown extents print as "?"
  // (chapter 4's shape rules). If a fragment is instantiated with different shapes: the shape of its first
  // instantiation and the number of others, "[1,64,56,56] and 3 others". Empty where expansion did not get
  // that far.
  std::string shape;
  // The declaration of a fragment or operation on one line, without the body.
  std::string signature;
  // The type bound to `?` in an invocation, such as "scalar"; empty if nothing is bound.
  std::string generic;
  // Omitted parameters of an invocation with their default values.
  std::vector<std::pair<std::string, std::string>> defaults;
  // The value of a fragment's attribute, such as "2"; if it differs between instantiations, the first value
  // and the number of others, "2 and 1 other".
  std::string value;
  // Of an operation: one sentence, the formula of a primitive, and the section, "R 4.3.1".
  std::string summary;
  std::string formula;
  std::string section;

  // Returns the fields up to the value as plain text lines, the declaration first.
  std::string Text() const;
};

// A declaration in a document, for an outline.
struct DocumentSymbol {
  std::string name;
  SymbolKind kind;
  std::string detail;   // its type, or the declaration of a fragment
  TextRange range;      // the whole declaration
  TextRange selection;  // the name
  std::vector<DocumentSymbol> children;
};

// A proposal to complete the word before the cursor.
struct Completion {
  std::string label;   // the text shown
  std::string insert;  // replacement of the word before the cursor
  SymbolKind kind;
  std::string detail;  // type or declaration
};

// A text edit: replaces `range`, in positions before the edit, by `text`; replaces the whole text if there is
// no range.
struct TextChange {
  std::optional<std::pair<Position, Position>> range;
  std::string text;
};

struct ServiceOptions {
  // Limits per document, smaller than the command line's because an editor waits. Reaching a limit produces a
  // finding.
  Limits limits{.steps = 5'000'000, .operations = 200'000, .items = 5'000'000};
  // Lint settings (compiler/lint); nullopt disables lint. A server reads them from `.nnefc.json` with
  // lint::ReadConfig and lint::Apply.
  std::optional<lint::Settings> lint = lint::Settings();
  // Maximum size of a text in bytes; larger texts are rejected.
  size_t max_text = size_t{64} << 20;
  // The unit of columns in every Position.
  PositionEncoding encoding = PositionEncoding::kUtf16;
};

class Analysis;
class ConfigurationText;

// The base of a language server: documents in memory, checked after changes. Reads no files.
//
// A document may be incomplete: the parsed part has definitions, references, types and symbols; the expanded
// part has shapes; findings report the errors. Queries on an unknown uri, and queries without a result,
// return an empty value. A query accepts a byte offset or a Position; one beyond the text means its end.
//
// Thread safety: calls on one service must not overlap. Different services share no mutable state and may run
// concurrently. The first query after a change checks the document; Open, Change and the other queries are
// short.
class LanguageService {
 public:
  explicit LanguageService(ServiceOptions options = {});
  ~LanguageService();
  LanguageService(LanguageService&&) noexcept;
  LanguageService& operator=(LanguageService&&) noexcept;

  // Opens a document; `uri` identifies it in places. The dialect is detected from the text unless it is
  // passed. Returns false if the document is already open, too large, or named like a graph (`.xml`, `.ir`).
  bool Open(const std::string& uri, int64_t version, std::string text,
            std::optional<ast::Dialect> dialect = {});
  // Opens a graph.quant file; it is checked against the document `model` while that is open. Only Diagnostics
  // finds anything in it. Returns false also if the model has such a file already.
  bool OpenQuantization(const std::string& uri, int64_t version, std::string text, const std::string& model);
  // Opens a configuration, `.nnefc.json`. Only Diagnostics finds anything in it.
  bool OpenConfiguration(const std::string& uri, int64_t version, std::string text);
  // Returns the settings of an open configuration, without its mistakes.
  std::optional<lint::SettingsRequest> Configuration(const std::string& uri) const;
  // Applies the changes in order. Returns false, without any change, if the document is not open, the version
  // is not above the last one, a range ends before it begins, or the text would be too large.
  bool Change(const std::string& uri, int64_t version, const std::vector<TextChange>& changes);
  // Removes a document. Returns false if it is not open.
  bool Close(const std::string& uri);
  // Replaces the lint settings of one document; those of the options apply until then.
  void SetLint(const std::string& uri, std::optional<lint::Settings> settings);

  // Returns the uris of the open documents, in alphabetical order.
  std::vector<std::string> Documents() const;
  // Returns the version of the last change.
  std::optional<int64_t> Version(const std::string& uri) const;
  // Returns the text of an open document or of a standard library; empty otherwise.
  std::string_view Text(const std::string& uri) const;
  // Returns the uri of a document of the standard library, such as `ratified.nnef`, as it occurs in places.
  static std::string LibraryUri(std::string_view file_name);

  // Returns the analysis of the current version of a document, for the queries of queries.h; null for a
  // graph.quant file and for a configuration. It is valid until the next change of the document, of its
  // graph.quant file or of its settings.
  const Analysis* AnalysisOf(const std::string& uri) const;
  // Returns the open graph.quant file of a model; empty if there is none.
  std::string QuantizationOf(const std::string& model) const;
  PositionEncoding encoding() const { return options_.encoding; }

  // Returns the findings of a document in source order.
  std::vector<Finding> Diagnostics(const std::string& uri) const;

  // Returns the location where the name is declared or first assigned.
  std::optional<Place> Definition(const std::string& uri, uint32_t offset) const;
  // Returns every occurrence in the document of the entity at the offset, in source order.
  std::vector<Place> References(const std::string& uri, uint32_t offset,
                                bool include_declaration = true) const;
  // Returns information about the name at the offset.
  std::optional<Hover> HoverAt(const std::string& uri, uint32_t offset) const;
  // Return the declaration of the tensor that a key of a graph.quant file names, and its hover. The model
  // must be open.
  std::optional<Place> QuantizedTensor(const std::string& uri, uint32_t offset) const;
  std::optional<Hover> QuantizedTensorHover(const std::string& uri, uint32_t offset) const;
  // Returns fragments and graphs with their parameters, results and assigned names.
  std::vector<DocumentSymbol> Symbols(const std::string& uri) const;
  // Returns completions at the cursor: names that have a value there, fragments, standard operations,
  // built-in functions and, first, the missing parameters of the invocation around it. Each begins with the
  // characters before the cursor. There are none within a comment or a string.
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
  const ConfigurationText* ConfigurationOf(const std::string& uri) const;
  bool Add(const std::string& uri, std::unique_ptr<Document> document, std::string text);
  void SetText(const std::string& uri, Document& document, std::string text);
  // Discards the analyses that depend on the text or the existence of a document.
  void Invalidate(const std::string& uri, const Document& document);

  ServiceOptions options_;
  std::map<std::string, std::unique_ptr<Document>> documents_;
};

}  // namespace nnefc::language
