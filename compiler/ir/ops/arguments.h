#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/rules.h"

namespace nnefc::ir::ops {

// Checks arity, data types, and the presence and kind of attributes against the row. Documents are already
// checked, but graphs are also read from text or built by plug-ins. Emits kArity, kInputType,
// kInputTypesDiffer, kMissingAttribute, kAttributeKind.
void CheckArguments(InferContext& context);

// Returns NNEF's name of an element type: "scalar", "integer", "logical" or "string".
std::string_view DataTypeName(ElementType type);
// Returns the element type of the attribute `dtype`; emits kDataType if it is invalid.
[[nodiscard]] std::optional<ElementType> DataTypeAttribute(InferContext& context);

// Returns the first input of an entry of OpInfo::inputs, or null if it was omitted.
const Output* FindInput(const InferContext& context, int32_t parameter);
// Names an input: "`filter` of `conv`" or "`values[2]` of `concat`".
Argument Describe(const InferContext& context, int32_t parameter);
Argument Describe(const InferContext& context, int32_t parameter, size_t item);
// Names an attribute: "`stride` of `conv`" or "`stride[1]` of `conv`".
Argument Describe(const InferContext& context, std::string_view name);
Argument Describe(const InferContext& context, std::string_view name, size_t item);

// Checks that a string is one of `choices`; emits `rule` if not.
[[nodiscard]] bool CheckChoice(InferContext& context, const Rule& rule, std::string_view name,
                               llvm::ArrayRef<std::string_view> choices);
// All values of `border` except `ignore`.
inline constexpr std::string_view kBorders[] = {"constant", "replicate", "reflect", "reflect-even"};
inline constexpr std::string_view kSamplingMethods[] = {"asymmetric", "symmetric", "aligned"};

// Sets an output; emits kShapeOverflow if its volume does not fit 63 bits.
void Produce(InferContext& context, int32_t index, ElementType type, PartialShape shape);
// Sets the only output to the type and shape of the first input.
void ProduceLikeInput(InferContext& context);

// Checks that the items of the attribute `axes` are distinct and in [0, rank). Emits kAxisRange,
// kAxisRepeated.
[[nodiscard]] bool CheckAxes(InferContext& context, std::string_view name, llvm::ArrayRef<int64_t> axes,
                             int64_t rank);
// The same for one axis.
[[nodiscard]] bool CheckAxis(InferContext& context, std::string_view name, int64_t axis, int64_t rank);

}  // namespace nnefc::ir::ops
