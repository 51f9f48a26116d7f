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
  // The items of a list of integers, none if there is no such parameter;
  // nothing if it holds something else.
  std::optional<std::vector<int64_t>> Integers(std::string_view parameter);
  void Set(std::string_view parameter, const std::vector<int64_t>& integers);
  // The rank of a tensor, 0 of a literal, -1 if it is not known.
  int64_t Rank(const Value& value) const;
  // An extent: 1 of a literal and behind the rank.
  ir::Dim Extent(const Value& value, int64_t axis) const;
  std::string ShapeText(const Value& value) const;
  // Appends singular extents up to `rank`.
  bool Raise(Value& value, int64_t rank);
  // Removes singular extents from `rank` on; a mistake if they are not.
  bool Lower(Value& value, int64_t rank, std::string_view parameter);

  // What the document calls the operation.
  std::string_view called() const { return plan_.called; }
  GraphBuilder& builder() { return builder_; }
  Fault& fault() { return fault_; }

 private:
  bool Replace(std::string_view operation, Value& value, std::vector<Value> axes);

  const OpPlan& plan_;
  llvm::MutableArrayRef<Value> arguments_;
  const Site& site_;
  GraphBuilder& builder_;
  Fault& fault_;
};

}  // namespace nnefc::expand
