#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/semantics/checked_document.h"
#include "compiler/semantics/extensions.h"
#include "compiler/support/context.h"

namespace nnefc::semantics {

// An operation and its extension; null for a standard operation.
struct ExtensionCallee {
  Callee callee;
  const Extension* extension = nullptr;
};

// A library of ratified fragments that a run adds to the standard ones. A document's own fragment of the same
// name overrides it.
struct AddedLibrary {
  std::string name;  // its name in messages
  std::string text;
};

// The result of checking an added library.
struct [[nodiscard]] AddedLibraryReport {
  // The first error, "3:5: .. [rule]"; empty if there is none.
  std::string mistake;
  std::vector<std::string> fragments;
  // Names and strings that the standard library lacks.
  std::vector<std::string> words;
};
// Checks a library against the standard one only.
AddedLibraryReport CheckAddedLibrary(const AddedLibrary& library);

// The standard library of each dialect and the libraries of extensions. Each is parsed and checked on first
// use, thread-safely. Must outlive the documents that are checked against it; their contexts begin with
// `base()`.
class StandardLibrary {
 public:
  StandardLibrary() : StandardLibrary(std::vector<AddedLibrary>()) {}
  // Adds libraries that passed CheckAddedLibrary without errors.
  explicit StandardLibrary(const std::vector<AddedLibrary>& added);
  ~StandardLibrary();
  StandardLibrary(const StandardLibrary&) = delete;
  const StandardLibrary& operator=(const StandardLibrary&) = delete;
  // Returns the instance shared by the process.
  static const StandardLibrary& Shared();

  // Returns the libraries' texts and every name in them.
  const ContextBase& base() const { return base_; }
  const CheckedDocument& Get(const ast::Dialect& dialect) const;
  // Returns Extensions() with a library, then those of the added libraries.
  llvm::ArrayRef<const Extension*> extensions() const { return with_library_; }
  // Returns the fragments of one of extensions().
  const CheckedDocument& Get(const Extension& extension) const;
  // Returns the file name of a library's document, such as `ratified.nnef`; empty for other files.
  std::string_view FileName(FileId file) const;
  // Returns the text of a library's document; empty for other names.
  std::string_view Text(std::string_view file_name) const;
  // Returns the operation named `name` that ratified documents may have: a standard one or an extension's.
  ExtensionCallee FindOperation(Symbol name) const;

 private:
  // A document of the library. Its type table begins with that of `before`, so that the ids of all types
  // visible to a document are consistent.
  struct Part {
    FileId file = {};
    ast::Dialect dialect;
    const Part* before = nullptr;
    const Part* standard = nullptr;      // the library it is checked against; null: none
    const Extension* brought = nullptr;  // another extension that it enables too
    std::string_view file_name;
    mutable std::once_flag once = {};
    mutable std::unique_ptr<const CheckedDocument> document = {};
  };
  // Adds a part with its text and sets its file.
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
  // The name of the graph to compile, if the document has several.
  std::optional<std::string> graph;
  Leniency leniency = Leniency::kAuto;
};

// Checks names, dialect rules, argument binding and types of a document (chapter 3.3 of both specifications).
// Expansion checks everything that depends on values: indices, lengths, branches.
[[nodiscard]] std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                                             const StandardLibrary& library,
                                                             const CheckOptions& options, Context& context);

}  // namespace nnefc::semantics
