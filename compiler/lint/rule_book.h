#pragma once

#include <string_view>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::lint {

// The rules of all diagnostics, in the order of the compiler's stages. compiler/explain/rules has a file for
// each.
class RuleBook {
 public:
  // Creates a book with the rules of every compiler module.
  RuleBook();

  // Adds the rules of a module that depends on this one, such as a tool; they must outlive the book.
  void Add(llvm::ArrayRef<const Rule*> rules);

  llvm::ArrayRef<const Rule*> rules() const { return rules_; }

  // Returns the rule with a label, or with a label whose part after the first dot is unique: `unused-tensor`.
  // Returns null if there is none.
  const Rule* Find(std::string_view label) const;

  // Returns the label that was probably intended by a misspelt one; "" if none is similar.
  std::string_view Nearest(std::string_view label) const;

 private:
  std::vector<const Rule*> rules_;
};

// Returns whether an example document can break the rule. Exceptions are rules about bugs in nnefc itself
// (section "internal"), lack of memory ("environment"), plug-ins ("plug-in"), parts that a build lacks
// ("build"), and rules that a tool reports without a document ("tool").
bool IsShowable(const Rule& rule);

// Returns the sections of the specifications that state a rule: "R 3.3.2", "P 3.3.1".
std::vector<std::string_view> SectionsOf(const Rule& rule);

// Returns the dialects whose specification states the rule, "ratified" and "provisional"; none for nnefc's
// own rules.
std::vector<std::string_view> DialectsOf(const Rule& rule);

}  // namespace nnefc::lint
