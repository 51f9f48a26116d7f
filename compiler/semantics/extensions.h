#pragma once

#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc {

// What makes an extension part of a document.
enum class Activation : uint8_t {
  kLine,      // a line `extension NAME;`
  kImplicit,  // nothing: its fragments are known wherever the document defines none of their names
};

// How a document is read that leaves the specification as exporters do.
enum class Leniency : uint8_t {
  kAuto,  // leniently if it enables an extension of theirs, or bears their marks
  kStrict,
  kLenient,
};

// What the arguments of an extension's line are to the document.
enum class ExtensionRole : uint8_t {
  kNone,
  kSymbol,     // names that stand for an extent each
  kAssertion,  // a condition on them, behind the names too
};

// What documents may have beside the standard operations of their dialect
// (R 3.2.4). All that nnefc knows of an extension by name stands in its row of
// Extensions(); its operations have their rows in compiler/ir/ops.
struct Extension {
  static constexpr int kRest = -1;

  // As it stands behind `extension`: one word, or several between blanks. That
  // of an implicit one is what messages call it.
  std::string_view name;
  // Of the documents that may have it, and of `library`.
  ast::Dialect dialect = ast::Dialect::kRatified;
  Activation activation = Activation::kLine;
  // The switches of the dialect that it turns on.
  llvm::ArrayRef<bool ast::Dialect::*> enables = {};
  // How many words behind the name are its arguments; kRest: all of the line.
  int arguments = 0;
  ExtensionRole role = ExtensionRole::kNone;
  // Documents that enable it are read leniently.
  bool is_lenient = false;
  // Any other lenient one brings it along.
  bool comes_along = false;
  // The document that declares its fragments; null if it has none, or if it is `text`.
  std::string_view (*library)() = nullptr;
  // The name of that document, as editors ask for it.
  std::string_view file = {};
  // The document of an extension that a run brings along.
  std::string_view text = {};
};

// Those that nnefc has; StandardLibrary::extensions() also holds those of a run. Of those of one dialect,
// later libraries know the types of earlier ones.
llvm::ArrayRef<Extension> Extensions();

// One of the names in a line `extension A B;`, with its arguments.
struct ExtensionUse {
  const Extension* extension = nullptr;  // null: unknown, and no name is near enough
  bool is_misspelt = false;              // then `extension` is the one that was meant,
  bool has_safe_spelling = false;        // which leaves no doubt
  llvm::ArrayRef<ast::Name> name;        // its words
  llvm::ArrayRef<ast::Name> arguments;
};

// Reads a line of extensions: of several that begin alike the longest counts.
std::vector<ExtensionUse> ExtensionsIn(const ast::Extension& line, const SymbolTable& symbols,
                                       llvm::ArrayRef<Extension> known = Extensions());
// Of all lines.
std::vector<ExtensionUse> ExtensionsIn(const ast::Document& document, const SymbolTable& symbols);

// True if the document names the extension, or one that brings it along, or
// misspells its name, which is reported where it does and nowhere else.
bool Enables(const ast::Document& document, const Extension& extension, const SymbolTable& symbols);
// The same of a document whose lines are read.
bool Enables(llvm::ArrayRef<ExtensionUse> uses, const Extension& extension);

// The dialect of a document with what its extensions turn on, and what lenient
// reading does.
ast::Dialect EnabledDialect(const ast::Document& document, const SymbolTable& symbols,
                            Leniency leniency = Leniency::kStrict);

// The names that lines of extensions make symbols, in order, each once.
std::vector<ast::Name> SymbolsOf(const ast::Document& document, const SymbolTable& symbols);

// The extension that turns a switch on, of which there must be one.
const Extension& ExtensionFor(bool ast::Dialect::*enabled);
// One whose documents are read leniently.
const Extension& LenientExtension();

}  // namespace nnefc
