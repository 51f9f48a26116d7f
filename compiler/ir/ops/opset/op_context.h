#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/opset/rules.h"
#include "compiler/ir/ops/opset/schema.h"

namespace nnefc::ir::ops::opset {

// The interface of shape functions of OpenVINO operations: inputs, and attributes with the row's defaults.
class OpContext {
 public:
  explicit OpContext(InferContext& context) : context_(context), row_(context.node().info()) {}

  // Checks the node against its row: the number of inputs, their element types and ranks, the kinds and
  // values of attributes.
  bool CheckSchema();

  const Node& node() const { return context_.node(); }
  int32_t num_inputs() const { return context_.num_inputs(); }
  bool has_input(int32_t index) const { return index < num_inputs(); }
  const Output& input(int32_t index) const { return context_.input(index); }
  ElementType type(int32_t index) const { return input(index).type; }
  const PartialShape& shape(int32_t index) const { return input(index).shape; }
  // Returns the value of an input, or the elements of an integer input, if known; emits an error for a list
  // that is too long. See InferContext::value.
  const std::optional<TensorValue>& Value(int32_t index) { return context_.value(index); }
  std::optional<std::vector<int64_t>> Integers(int32_t index);
  // Returns the name of the input in messages: "`data` of `Convolution`".
  std::string InputName(int32_t index) const;

  // Returns the attribute or its default; the name and type must be those of the row.
  bool Bool(std::string_view name) const { return node().Bool(name); }
  int64_t Int(std::string_view name) const { return node().Int(name); }
  double Double(std::string_view name) const { return node().Double(name); }
  const std::string& String(std::string_view name) const { return node().String(name); }
  std::vector<int64_t> Ints(std::string_view name) const { return node().Ints(name); }
  ElementType Type(std::string_view name) const;
  bool Has(std::string_view name) const { return node().attributes().Find(name) != nullptr; }
  const Attribute& attribute(std::string_view name) const { return node().attribute(name); }

  // Sets an existing output. Missing ones are ignored, since an operation in a file may omit the last ones.
  void Set(int32_t index, ElementType type, PartialShape shape);
  void Set(ElementType type, PartialShape shape) { Set(0, type, std::move(shape)); }
  // Sets the compile-time value of an existing output.
  void SetValue(int32_t index, TensorValue value);

  // Emits an error at the node, or at the first argument in the message; see InferContext::Error.
  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    context_.Error(rule, format, std::forward<Args>(args)...);
  }
  bool failed() const { return context_.failed(); }
  InferContext& raw() { return context_; }

  // Returns the common element type of inputs [first, last), or kDynamic after kOpsetElementType.
  ElementType CommonType(int32_t first, int32_t last);
  // Returns the axis counted from the front. Emits kOpsetAxis and returns nothing outside of [-rank, rank).
  std::optional<int64_t> NormalizeAxis(int64_t axis, int64_t rank);
  // The same for a list without repetition.
  std::optional<std::vector<int64_t>> NormalizeAxes(std::vector<int64_t> axes, int64_t rank);
  // Emits kOpsetRank unless the rank is unknown or within [lowest, highest].
  bool CheckRank(int32_t input, int64_t lowest, int64_t highest);
  // Broadcasts by the rule of `auto_broadcast`; returns nothing if the shapes are incompatible.
  std::optional<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b) const;
  // The same for two inputs; emits kOpsetBroadcast.
  std::optional<PartialShape> Broadcast(int32_t a, int32_t b);

 private:
  bool CheckArity();
  void CheckInput(int32_t index);
  void CheckAttribute(const AttributeInfo& info);
  // Returns the index of the row's entry that describes the input.
  size_t Entry(int32_t index) const;

  InferContext& context_;
  const OpInfo& row_;
};

using OpInferFunction = void (*)(OpContext&);

// Checks the schema and, if the node satisfies it, calls `function`.
void InferChecked(InferContext& context, OpInferFunction function);

// The shape function of a row: checks the schema, then calls `kFunction`.
template <OpInferFunction kFunction>
void Infer(InferContext& context) {
  InferChecked(context, kFunction);
}

}  // namespace nnefc::ir::ops::opset
