#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/language/analysis.h"
#include "compiler/language/language_service.h"

// Queries over the analysis of a document, in addition to those of LanguageService. Offsets are bytes; one
// past the text means its end.
namespace nnefc::language {

// ---- editing ----

// A replacement of a range of a text.
struct TextEdit {
  TextRange range;
  std::string text;
};

// The signature of the invocation around a cursor.
struct SignatureHelp {
  std::string label;                                      // the declaration on one line
  std::vector<std::pair<uint32_t, uint32_t>> parameters;  // byte ranges in `label`
  std::optional<size_t> active;                           // the parameter of the argument at the cursor
  std::string operation;                                  // its name in the document
};
// Returns the signature of the innermost invocation around an offset, complete or not; nothing outside of
// invocations, in comments, and for unknown operations.
std::optional<SignatureHelp> FindSignature(const Analysis& analysis, uint32_t offset);

// Returns the edits that format the whole document; nothing if it has syntax errors.
std::optional<std::vector<TextEdit>> FormatDocument(const Analysis& analysis);
// Same, restricted to edits that touch lines of [begin, end].
std::optional<std::vector<TextEdit>> FormatRange(const Analysis& analysis, uint32_t begin, uint32_t end);
// Returns the edits after the character `typed` was inserted before `offset`. After a line end they indent
// the new line by the depth of the open brackets. Other characters (such as `;`) end a statement: the edits
// format its lines.
std::vector<TextEdit> FormatTyped(const Analysis& analysis, uint32_t offset, char typed);
// Returns the edits that format the text of a graph.quant file; nothing if it has syntax errors.
std::optional<std::vector<TextEdit>> FormatQuantization(std::string_view text, PositionEncoding encoding,
                                                        const Limits& limits);

// Returns the edits that apply all safe fixes of errors and findings, tried as by `nnefc lint --fix`.
std::vector<TextEdit> FixAll(const Analysis& analysis);

// ---- names ----

// The name or label at an offset that can be renamed.
struct Renamable {
  TextRange range;  // without the quotes of a label
  std::string name;
  bool is_label = false;
};
// Returns nothing if there is no such name.
std::optional<Renamable> FindRenamable(const Analysis& analysis, uint32_t offset);

// The edits of a renaming.
struct Renaming {
  std::vector<TextEdit> edits;               // in the document
  std::vector<TextEdit> quantization_edits;  // in its graph.quant file
  // The label's tensor file without its suffix, relative to the model's folder, before and after; empty
  // unless a label is renamed.
  std::string old_file;
  std::string new_file;
  std::string error;  // the reason why the name cannot be changed; empty if it can
};
// Renames the name or label at `offset` to `name`. Without edits, `error` states why that is impossible.
Renaming Rename(const Analysis& analysis, uint32_t offset, std::string_view name);

// A fragment or graph in a hierarchy of calls.
struct CallItem {
  std::string name;
  std::string detail;
  SymbolKind kind = SymbolKind::kFragment;
  TextRange range;      // the whole declaration
  TextRange selection;  // its name
};
// The calls from one item to another.
struct Calls {
  CallItem item;
  std::vector<TextRange> ranges;  // operation names of the invocations, in the caller
};
// Returns the fragment or graph that is named at an offset.
std::optional<CallItem> FindCallItem(const Analysis& analysis, uint32_t offset);
// Returns the callers of the fragment whose name is at `offset`, in source order.
std::vector<Calls> IncomingCalls(const Analysis& analysis, uint32_t offset);
// Returns the fragments of the document that the item whose name is at `offset` invokes, in that order.
std::vector<Calls> OutgoingCalls(const Analysis& analysis, uint32_t offset);

// ---- display ----

enum class TokenKind : uint8_t {
  kComment,
  kString,
  kNumber,
  kKeyword,
  kType,
  kFunction,   // fragments and operations
  kParameter,  // parameters and names of arguments
  kVariable,
  kGraph,
};

// A token with its role.
struct SemanticToken {
  TextRange range;  // within one line
  TokenKind kind;
  bool is_declaration = false;
  bool is_standard = false;  // declared by the standard or an extension
};
// Returns the tokens of the byte range [begin, end) in order. Plain variables, brackets and operators of
// unparsed text have none.
std::vector<SemanticToken> FindTokens(const Analysis& analysis, uint32_t begin, uint32_t end);

enum class FoldingKind : uint8_t { kRegion, kComment };
// Lines from `first` to `last`, 0-based and inclusive, that an editor can fold.
struct FoldingRange {
  int32_t first = 0;
  int32_t last = 0;
  FoldingKind kind = FoldingKind::kRegion;
};
// Returns the foldable bodies, statements and comments, in source order.
std::vector<FoldingRange> FindFoldings(const Analysis& analysis);

// Returns the ranges around an offset, the innermost first: name, expressions, statement, body, declaration,
// document. Each is larger than the one before.
std::vector<TextRange> FindSelections(const Analysis& analysis, uint32_t offset);

enum class HintKind : uint8_t { kShape, kType, kDefault };
// Text that an editor shows within a line.
struct InlayHint {
  Position position;
  uint32_t offset = 0;
  std::string label;
  HintKind kind = HintKind::kShape;
};
// Returns the hints of the byte range [begin, end): shapes after assigned names, deduced `<type>` after
// generic operations, and omitted attributes with their defaults before the closing parenthesis.
std::vector<InlayHint> FindHints(const Analysis& analysis, uint32_t begin, uint32_t end);

// The size and the cost of the expanded network.
struct NetworkCosts {
  int64_t operations = 0;
  int64_t parameters = 0;  // values of all variables
  // Multiply-adds of convolutions and matrix multiplications; nothing if a shape is unknown or the network
  // cannot be lowered.
  std::optional<double> macs;
};
// Returns nothing for a document with errors. Lowers the network, which takes longer than other queries.
std::optional<NetworkCosts> FindCosts(const Analysis& analysis);
// Returns the document as `nnefc expand` prints it; nothing if it has errors.
std::optional<std::string> Expansion(const Analysis& analysis);

// Returns the address of the section of a finding in the specification; empty if it has none.
std::string SectionUrl(std::string_view section);

}  // namespace nnefc::language
