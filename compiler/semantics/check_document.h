#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/semantics/checked_document.h"
#include "compiler/semantics/extensions.h"
#include "compiler/support/context.h"

namespace nnefc {

// An operation, and the extension that it is of; null: it is a standard one.
struct ExtensionCallee {
  Callee callee;
  const Extension* extension = nullptr;
};

// Fragments of the ratified dialect that documents of a run know beside the standard
// ones, unless they define one of the same name.
struct AddedLibrary {
  std::string name;  // as messages call it
  std::string text;
};

// What the text of such a library holds.
struct [[nodiscard]] AddedLibraryReport {
  // The first mistake, "3:5: .. [rule]"; empty if there is none.
  std::string mistake;
  std::vector<std::string> fragments;
  // Every name and string that is not in the standard library's.
  std::vector<std::string> words;
};
// Checks a library against the standard one alone.
AddedLibraryReport CheckAddedLibrary(const AddedLibrary& library);

// The standard library of each dialect and those of extensions, parsed and checked when it is first
// asked for, by whichever thread. Outlives the documents that are checked
// against it, whose contexts begin with `base()`.
class StandardLibrary {
 public:
  StandardLibrary() : StandardLibrary(std::vector<AddedLibrary>()) {}
  // With libraries in which CheckAddedLibrary finds no mistake.
  explicit StandardLibrary(const std::vector<AddedLibrary>& added);
  ~StandardLibrary();
  StandardLibrary(const StandardLibrary&) = delete;
  const StandardLibrary& operator=(const StandardLibrary&) = delete;
  // The one that the process shares.
  static const StandardLibrary& Shared();

  // The libraries' texts and every name in them.
  const ContextBase& base() const { return base_; }
  const CheckedDocument& Get(const ast::Dialect& dialect) const;
  // Extensions() that have a library, then those of the libraries that were added.
  llvm::ArrayRef<const Extension*> extensions() const { return with_library_; }
  // The fragments of one of these.
  const CheckedDocument& Get(const Extension& extension) const;
  // The name of a library's document, `ratified.nnef`; empty for other files.
  std::string_view FileName(FileId file) const;
  // The text of a library's document; empty for other names.
  std::string_view Text(std::string_view file_name) const;
  // The operation of a name that documents of the ratified dialect may have: a
  // standard one, or that of an extension.
  ExtensionCallee FindOperation(Symbol name) const;

 private:
  // A document of the library. Its types are those of the one before it and its
  // own, so that the ids of all that a document sees go together.
  struct Part {
    FileId file = {};
    ast::Dialect dialect;
    const Part* before = nullptr;
    const Part* standard = nullptr;      // what it sees; null: nothing but itself
    const Extension* brought = nullptr;  // and the extension that it brings along
    std::string_view file_name;
    mutable std::once_flag once = {};
    mutable std::unique_ptr<const CheckedDocument> document = {};
  };
  // Adds the text of a part, whose file is not known yet.
  const Part* Add(std::string_view name, std::string_view text, Part part);
  const CheckedDocument& Load(const Part& part) const;

  const Part* AddExtension(const Extension& extension, const Part* before);
  const Extension* BroughtBy(const Extension& extension) const;

  ContextBase base_;
  std::deque<AddedLibrary> texts_;
  std::deque<Extension> added_;
  std::vector<const Extension*> with_library_;
  std::deque<Part> parts_;
  const Part* ratified_;
  const Part* provisional_;
  llvm::DenseMap<const Extension*, const Part*> extensions_;
};

struct CheckOptions {
  // Chooses one of several graphs by name.
  std::optional<std::string> graph;
  Leniency leniency = Leniency::kAuto;
};

// Checks names, dialect rules, argument binding and types of a document
// (chapter 3.3 of both specifications). What values decide -
// indices, lengths, branches - is left to expansion.
[[nodiscard]] std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                                             const StandardLibrary& library,
                                                             const CheckOptions& options, Context& context);

}  // namespace nnefc
