#pragma once

#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::semantics {

// The condition that makes an extension part of a document.
enum class Activation : uint8_t {
  kLine,      // a line `extension NAME;`
  kImplicit,  // none: its fragments are visible wherever the document defines none of the same names
};

// The treatment of exporters' deviations from the specification.
enum class Leniency : uint8_t {
  kAuto,  // lenient if the document enables a lenient extension or has an exporter's marks
  kStrict,
  kLenient,
};

// The meaning of the arguments of an extension's line.
enum class ExtensionRole : uint8_t {
  kNone,
  kSymbol,     // names of symbolic extents
  kAssertion,  // a condition on symbolic extents; the line may continue after the names
};

// An extension that adds to the standard operations of a dialect (R 3.2.4). Its row in Extensions() is the
// only code that knows it by name; its operations have rows in compiler/ir/ops.
struct Extension {
  static constexpr int kRest = -1;

  // The name after `extension`: one word, or several separated by blanks. For an implicit extension, its name
  // in messages.
  std::string_view name;
  // The dialect of its documents and of `library`.
  ast::Dialect dialect = ast::Dialect::kRatified;
  Activation activation = Activation::kLine;
  // The switches of the dialect that it turns on.
  llvm::ArrayRef<bool ast::Dialect::*> enables = {};
  // The number of argument words after the name; kRest: the rest of the line.
  int arguments = 0;
  ExtensionRole role = ExtensionRole::kNone;
  // The symbol that it declares without an argument.
  std::string_view symbol = {};
  // Documents that enable it are read in lenient mode.
  bool is_lenient = false;
  // Enabled together with any other lenient extension.
  bool comes_along = false;
  // Returns the text of the document that declares its fragments; null if it has none, or if it is `text`.
  std::string_view (*library)() = nullptr;
  // The file name of that document, for editors.
  std::string_view file = {};
  // The text of the document of an added extension.
  std::string_view text = {};
};

// Returns the extensions of nnefc; StandardLibrary::extensions() also has those of a run. Within one dialect,
// later libraries see the types of earlier ones.
llvm::ArrayRef<Extension> Extensions();

// One of the names in a line `extension A B;`, with its arguments.
struct ExtensionUse {
  const Extension* extension = nullptr;  // null: unknown, and no name is similar
  bool is_misspelt = false;              // `extension` is the probably intended one
  bool has_safe_spelling = false;        // the misspelling is a single typo
  bool is_implied = false;               // no line names it, but the document has its exporter's mark
  llvm::ArrayRef<ast::Name> name;        // its words
  llvm::ArrayRef<ast::Name> arguments;
};

// Parses a line of extensions; among names with a common prefix the longest match wins.
std::vector<ExtensionUse> ExtensionsIn(const ast::Extension& line, const SymbolTable& symbols,
                                       llvm::ArrayRef<Extension> known = Extensions());
// Parses all lines. A fragment `tract_core_properties` implies the registry of tract.
std::vector<ExtensionUse> ExtensionsIn(const ast::Document& document, const SymbolTable& symbols);

// Returns true if the document names the extension, or one that enables it too, or misspells its name.
// Misspellings are reported by the dialect rules only.
bool Enables(const ast::Document& document, const Extension& extension, const SymbolTable& symbols);
// Same, for lines that are parsed already.
bool Enables(llvm::ArrayRef<ExtensionUse> uses, const Extension& extension);

// Returns the document's dialect with the switches of its extensions and of lenient mode.
ast::Dialect EnabledDialect(const ast::Document& document, const SymbolTable& symbols,
                            Leniency leniency = Leniency::kStrict);

// Returns the names that extension lines declare as symbols, in order, without duplicates; if
// `finds_undeclared`, also those that only shapes of externals have.
std::vector<ast::Name> SymbolsOf(const ast::Document& document, const SymbolTable& symbols,
                                 bool finds_undeclared);

// Returns the extension that turns a switch on; it must exist.
const Extension& ExtensionFor(bool ast::Dialect::*enabled);
// Returns a lenient extension.
const Extension& LenientExtension();

}  // namespace nnefc::semantics
