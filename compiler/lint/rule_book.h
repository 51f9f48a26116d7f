#pragma once

#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::lint {

// The rules that diagnostics name, in the order of the stages. `rules/` holds a
// file for each.
class RuleBook {
 public:
  // The rules of every room of the compiler.
  RuleBook();

  // Adds the rules of a room above; they outlive the book.
  void Add(llvm::ArrayRef<const Rule*> rules);

  llvm::ArrayRef<const Rule*> rules() const { return rules_; }

  // The rule of a label, or of the part behind its first dot if no other rule
  // ends in the same: `unused-tensor`. Nothing if there is none.
  const Rule* Find(std::string_view label) const;

  // The label that somebody who wrote another may have meant; "" if none is near.
  std::string_view Nearest(std::string_view label) const;

 private:
  std::vector<const Rule*> rules_;
};

// Whether an example can break the rule: not where only a fault of nnefc itself
// does (its section is "internal"), the lack of memory ("environment") or a
// plug-in ("plug-in").
bool IsShowable(const Rule& rule);

// The sections of the specifications where a rule stands: "R 3.3.2", "P 3.3.1".
std::vector<std::string_view> SectionsOf(const Rule& rule);

// The dialects whose specification states the rule, "ratified" and "provisional";
// none for rules of our own.
std::vector<std::string_view> DialectsOf(const Rule& rule);

}  // namespace nnefc::lint
