#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "compiler/lint/settings.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::lint {

// The comments `# nnefc: allow(RULE[, RULE])` of documents. One behind code
// holds for the statement, declaration or entry that it stands in; one on a
// line of its own for what follows it: a statement, or the whole of a fragment
// or graph.
class AllowComments {
 public:
  // Reads the comments of a document; mistakes in them are lint.bad-allow.
  void Add(const ast::Document& document, Context& context);

  // True if a comment allows a diagnostic of the rule at that place, which
  // counts as a use of it.
  bool Allows(const Rule& rule, SourceRange place);

  // Emits lint.unused-allow for what allowed nothing, though its rule is
  // enabled.
  void ReportUnused(const Settings& settings, Context& context) const;

 private:
  // What a comment can hold for, with the fragment or graph around a statement.
  struct Item {
    SourceRange range;
    SourceRange body = {};  // of a fragment or graph; otherwise invalid
    int32_t parent = -1;    // index of the fragment or graph around it
  };
  struct Text {
    FileId file;
    std::vector<Item> items;  // by their place
  };
  struct Allowance {
    const Rule* rule;
    SourceRange name;  // in the comment
    bool has_scope = false;
    bool used = false;
  };
  // Text, item and rule that are allowed.
  using Key = std::tuple<size_t, int32_t, const Rule*>;

  static std::vector<Item> ItemsOf(const ast::Document& document);
  // The last item that begins at or before an offset; -1 if there is none.
  static int32_t LastBefore(const std::vector<Item>& items, uint32_t offset);
  // The item that a comment holds for, or -1.
  static int32_t ScopeOf(const std::vector<Item>& items, const ast::Comment& comment, uint32_t line_begin);
  void AddComment(SourceRange comment, int32_t item, Context& context);

  std::vector<Text> texts_;
  std::vector<Allowance> allowances_;
  std::map<Key, size_t> by_key_;  // the first allowance of its kind
};

}  // namespace nnefc::lint
