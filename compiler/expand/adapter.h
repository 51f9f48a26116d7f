#pragma once

#include <optional>
#include <vector>

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// The arguments of one provisional operation while they are made ratified.
class Adapter {
 public:
  // Ranks beyond it are left alone; shape inference tells what is wrong.
  static constexpr int64_t kMaxRank = 64;

  Adapter(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site, GraphBuilder& builder,
          Fault& fault)
      : plan_(plan), arguments_(arguments), site_(site), builder_(builder), fault_(fault) {}

  // The argument of a parameter, or null if the operation has no such one.
  Value* Find(std::string_view parameter);
  // True if the dialect's own operation has no such parameter.
  bool IsDefault(std::string_view parameter) const {
    return plan_.parameters[static_cast<size_t>(plan_.Find(parameter))].source < 0;
  }
  // The items of a list of integers, none if there is no such parameter;
  // nothing if it holds something else.
  std::optional<std::vector<int64_t>> Integers(std::string_view parameter);
  void Set(std::string_view parameter, const std::vector<int64_t>& integers);
  // The rank of a tensor, 0 of a literal, -1 if it is not known.
  int64_t Rank(const Value& value) const;
  // An extent: 1 of a literal and behind the rank.
  ir::Dim Extent(const Value& value, int64_t axis) const;
  std::string ShapeText(const Value& value) const;
  // Appends singular extents up to `rank`; a literal becomes a `constant` of as
  // many (P 3.3.2).
  bool Raise(Value& value, int64_t rank);
  // Removes singular extents from `rank` on, if all there are.
  bool Lower(Value& value, int64_t rank);

  // What the document calls the operation.
  std::string_view called() const { return plan_.called; }
  GraphBuilder& builder() { return builder_; }
  Fault& fault() { return fault_; }

 private:
  bool Replace(std::string_view operation, Value& value, llvm::ArrayRef<Value> arguments);

  const OpPlan& plan_;
  llvm::MutableArrayRef<Value> arguments_;
  const Site& site_;
  GraphBuilder& builder_;
  Fault& fault_;
};

}  // namespace nnefc::expand
