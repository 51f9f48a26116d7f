#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "compiler/lint/settings.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::lint {

// The comments `# nnefc: allow(RULE[, RULE])` of documents. A trailing comment applies to the statement,
// declaration or entry on its line. A comment on a separate line applies to the next item: a statement, or a
// whole fragment or graph.
class AllowComments {
 public:
  // Reads the comments of a document; mistakes in them are lint.bad-allow.
  void Add(const ast::Document& document, Context& context);

  // Returns true if a comment allows a diagnostic of the rule at `range`, and marks that comment as used.
  bool Allows(const Rule& rule, SourceRange range);

  // Emits lint.unused-allow for allowances of enabled rules that were not used. Returns true if there is one.
  [[nodiscard]] bool ReportUnused(const Settings& settings, Context& context) const;

 private:
  // A possible scope of a comment: a statement, or a fragment or graph around it.
  struct Item {
    SourceRange range;
    SourceRange body = {};  // set for a fragment or graph
    int32_t parent = -1;    // index of the enclosing fragment or graph
  };
  struct Text {
    FileId file;
    std::vector<Item> items;  // sorted by offset
  };
  struct Allowance {
    const Rule* rule;
    SourceRange name;  // range in the comment
    bool has_scope = false;
    bool used = false;
  };
  // The text, item and rule of an allowance.
  using Key = std::tuple<size_t, int32_t, const Rule*>;

  static std::vector<Item> ItemsOf(const ast::Document& document);
  // Returns the last item that begins at or before an offset; -1 if there is none.
  static int32_t LastBefore(const std::vector<Item>& items, uint32_t offset);
  // Returns the scope of a comment, an index of `items`, or -1.
  static int32_t ScopeOf(const std::vector<Item>& items, const ast::Comment& comment, uint32_t line_begin);
  void AddComment(SourceRange comment, int32_t item, Context& context);

  std::vector<Text> texts_;
  std::vector<Allowance> allowances_;
  std::map<Key, size_t> by_key_;  // the first allowance per key
};

}  // namespace nnefc::lint
