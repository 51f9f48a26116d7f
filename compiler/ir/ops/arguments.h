#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/infer.h"
#include "compiler/ir/ops/rules.h"

namespace nnefc::ir::nnef {

// The data type of a tensor as NNEF declares it.
enum class DataType : uint8_t {
  kScalar,
  kInteger,
  kLogical,
  kAny,      // `tensor<>`
  kGeneric,  // `tensor<?>`: one and the same for all inputs declared so
};
using enum DataType;

// The kinds of attribute that NNEF's declarations have.
enum class ArgumentKind : uint8_t {
  kInteger,
  kScalar,
  kLogical,
  kString,
  kIntegers,  // `integer[]`
  kPairs,     // `(integer,integer)[]`
};

struct AttributeRule {
  std::string_view name;
  ArgumentKind kind;
};
inline constexpr AttributeRule kAxesRule{"axes", ArgumentKind::kIntegers};

// What the arguments of a node must be before its shape function may read
// them without looking: one data type for each entry of OpInfo::inputs.
struct Signature {
  llvm::ArrayRef<DataType> inputs = {};
  llvm::ArrayRef<AttributeRule> attributes = {};
  int32_t num_outputs = 1;  // -1: the shape function counts them
};

// Checks arity, data types and the presence and kind of attributes. Documents
// were checked before, but a graph may also be read from text or be built by
// a plug-in. Emits kArity, kInputType, kInputTypesDiffer,
// kMissingAttribute, kAttributeKind.
[[nodiscard]] bool CheckSignature(InferContext& context, const Signature& signature);

// "scalar", "integer", "logical", "string" for what the element type holds.
std::string_view DataTypeName(ElementType type);
// The element type of the attribute `dtype`; emits kDataType if there is none
// such.
std::optional<ElementType> DataTypeAttribute(InferContext& context);

// The first input of an entry of OpInfo::inputs, or null if it was left out.
const Output* FindInput(const InferContext& context, int32_t parameter);
// "`filter` of `conv`"; "`values[2]` of `concat`".
Argument Describe(const InferContext& context, int32_t parameter);
Argument Describe(const InferContext& context, int32_t parameter, size_t item);
// "`stride` of `conv`"; "`stride[1]` of `conv`".
Argument Describe(const InferContext& context, std::string_view name);
Argument Describe(const InferContext& context, std::string_view name, size_t item);

// Checks that a string is one of `choices`; emits `rule` if not.
[[nodiscard]] bool CheckChoice(InferContext& context, const Rule& rule, std::string_view name,
                               llvm::ArrayRef<std::string_view> choices);
// What `border` may be where it does not matter whether it is constant.
inline constexpr std::string_view kBorders[] = {"constant", "replicate", "reflect", "reflect-even"};
inline constexpr std::string_view kSamplingMethods[] = {"asymmetric", "symmetric", "aligned"};

// Sets an output; emits kShapeOverflow if its volume does not fit 63 bits.
void Produce(InferContext& context, int32_t index, ElementType type, PartialShape shape);
// Sets the only output to the type and shape of the first input.
void ProduceLikeInput(InferContext& context);

// Checks that every item of the attribute `axes` is in [0, rank) and none
// repeats; emits kAxisRange, kAxisRepeated.
[[nodiscard]] bool CheckAxes(InferContext& context, std::string_view name, llvm::ArrayRef<int64_t> axes,
                             int64_t rank);
// The same for one axis.
[[nodiscard]] bool CheckAxis(InferContext& context, std::string_view name, int64_t axis, int64_t rank);

}  // namespace nnefc::ir::nnef
