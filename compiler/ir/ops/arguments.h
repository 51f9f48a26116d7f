#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/infer.h"
#include "compiler/ir/ops/rules.h"

namespace nnefc::ir::nnef {

// Checks arity, data types, and the presence and kind of attributes against the row.
// Documents were checked before, but a graph may also be read from text or be built
// by a plug-in. Emits kArity, kInputType, kInputTypesDiffer, kMissingAttribute,
// kAttributeKind.
void CheckArguments(InferContext& context);

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
