#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/semantics/checked_document.h"
#include "compiler/support/context.h"

namespace nnefc {

// The standard library of each dialect, parsed and checked when it is first
// asked for, by whichever thread. Outlives the documents that are checked
// against it, whose contexts begin with `base()`.
class StandardLibrary {
 public:
  StandardLibrary();
  ~StandardLibrary();
  StandardLibrary(const StandardLibrary&) = delete;
  const StandardLibrary& operator=(const StandardLibrary&) = delete;
  // The one that the process shares.
  static const StandardLibrary& Shared();

  // The libraries' texts and every name in them.
  const ContextBase& base() const { return base_; }
  const CheckedDocument& Get(ast::Dialect dialect) const;
  // The operations of the extension NNEFC_control_flow.
  const CheckedDocument& ControlFlow() const;

 private:
  // A document of the library. Its types are those of the one before it and its
  // own, so that the ids of all that are loaded go together.
  struct Part {
    FileId file;
    ast::Dialect dialect;
    const Part* before;
    mutable std::once_flag once = {};
    mutable std::unique_ptr<const CheckedDocument> document = {};
  };
  const CheckedDocument& Load(const Part& part) const;

  ContextBase base_;
  const Part control_flow_, ratified_, provisional_;
};

struct CheckOptions {
  // Chooses one of several graphs by name.
  std::optional<std::string> graph;
};

// Checks names, dialect rules, argument binding and types of a document
// (chapter 3.3 of both specifications). What values decide -
// indices, lengths, branches - is left to expansion.
std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                               const StandardLibrary& library, const CheckOptions& options,
                                               Context& context);

}  // namespace nnefc
