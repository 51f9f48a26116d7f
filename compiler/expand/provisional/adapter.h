#pragma once

#include <optional>
#include <vector>

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::provisional {

// Converts the arguments of one provisional operation to the ratified form.
class Adapter {
 public:
  // Maximum rank that is adapted; larger ranks are unchanged, and shape inference reports the error.
  static constexpr int64_t kMaxRank = 64;

  Adapter(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
          build::GraphBuilder& builder, Fault& fault)
      : plan_(plan), arguments_(arguments), site_(site), builder_(builder), fault_(fault) {}

  // Returns the argument of a parameter, or null if the operation has no such parameter.
  Value* Find(std::string_view parameter);
  // Returns true if the provisional operation lacks the parameter.
  bool IsDefault(std::string_view parameter) const {
    return plan_.parameters[static_cast<size_t>(plan_.Find(parameter))].source < 0;
  }
  // Returns the items of a list of integers, an empty list if there is no such parameter; nothing if it has
  // other items.
  std::optional<std::vector<int64_t>> Integers(std::string_view parameter);
  void Set(std::string_view parameter, const std::vector<int64_t>& integers);
  // Returns the rank of a tensor, 0 for a literal, -1 if it is unknown.
  int64_t Rank(const Value& value) const;
  // Returns the extent of an axis: 1 for a literal and for axes beyond the rank.
  ir::Dim Extent(const Value& value, int64_t axis) const;
  std::string ShapeText(const Value& value) const;
  // Appends axes of extent 1 up to `rank`; a literal becomes a `constant` of that rank (P 3.3.2).
  bool Raise(Value& value, int64_t rank);
  // Removes the axes from `rank` on if all have extent 1.
  bool Lower(Value& value, int64_t rank);

  // Returns the name of the operation in the document.
  std::string_view called() const { return plan_.called; }
  build::GraphBuilder& builder() { return builder_; }
  Fault& fault() { return fault_; }

 private:
  bool Replace(std::string_view operation, Value& value, llvm::ArrayRef<Value> arguments);

  const OpPlan& plan_;
  llvm::MutableArrayRef<Value> arguments_;
  const Site& site_;
  build::GraphBuilder& builder_;
  Fault& fault_;
};

}  // namespace nnefc::expand::provisional
