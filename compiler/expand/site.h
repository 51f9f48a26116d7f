#pragma once

#include <memory>
#include <string_view>

#include "compiler/expand/plan.h"
#include "compiler/ir/algorithms/infer.h"

namespace nnefc::expand {

// The location of a new operation.
struct Site {
  SourceRange range;
  std::shared_ptr<const ir::Frame> frame;  // null: the graph's body
  Symbol statement;                        // the first identifier that is assigned
  Symbol in_graph;                         // same, in the body of the document's graph
  semantics::TypeKind generic =
      semantics::TypeKind::kError;  // type bound to `?`; kError: deduced from the arguments
  int32_t array_length = -1;        // length of an array on the left side
  SourceRange left;                 // the left side, if the results are assigned to it
  // The invocation or operator; its arguments have their own source ranges.
  const semantics::CheckedDocument* document = nullptr;
  ast::ExprId expr;
};

// Source ranges of the arguments of a plan's operation at a site.
class SitePlaces : public ir::ArgumentPlaces {
 public:
  SitePlaces(const OpPlan& plan, const Site& site) : plan_(plan), site_(site) {}
  SourceRange Find(std::string_view argument, int64_t item) const override;
  bool IsLiteral(std::string_view argument, int64_t item) const override;

 private:
  // Returns an invalid id if the argument is not written in the source.
  ast::ExprId Written(std::string_view argument, int64_t item) const;

  const OpPlan& plan_;
  const Site& site_;
};

}  // namespace nnefc::expand
