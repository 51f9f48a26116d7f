#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::ir {

class InferContext;
// Checks the arguments of a node and sets the types and shapes of its outputs; diagnostics go through the
// context. It may capture state, and several threads call it concurrently.
using InferFunction = std::function<void(InferContext&)>;

// The element types that an input accepts.
enum class TypeClass : uint8_t { kAny, kNumber, kFloat, kInteger, kIndex, kBoolean, kBits };

// The role of a tensor's data in an operation. It selects the distribution of random data.
enum class DataRole : uint8_t { kInput, kFilter, kBias, kMean, kVariance, kOffset, kScale };

// The alignment of an input that adjusts the result of an NNEF operation, such as a bias. It is broadcast to
// the result and should not enlarge it.
enum class Adjusts : uint8_t {
  kNothing,    // an ordinary input
  kChannels,   // one value per channel, axis 1 of the result
  kColumns,    // one value per item of the last axis of the result
  kAnyExtent,  // values along any axes of the first input, such as a quantization range
};

// A tensor input, in the order of the signature.
struct InputInfo {
  std::string name;
  bool variadic = false;  // `tensor<scalar>[]`: any number of inputs
  bool optional = false;  // may be omitted (OpenVINO) or has a default (NNEF)
  // Constraints that do not depend on other inputs.
  TypeClass types = TypeClass::kAny;
  bool generic = false;  // shares its data type with the other generic inputs: `tensor<?>`
  bool one_element = false;
  int64_t lowest_rank = 0;
  int64_t highest_rank = INT64_MAX;
  // The role of a variable's data here; none: another use of the variable decides.
  std::optional<DataRole> data = std::nullopt;
  Adjusts adjusts = Adjusts::kNothing;
};

enum class AttributeKind : uint8_t {
  kBool,
  kInt,
  kDouble,
  kString,
  kInts,
  kDoubles,
  kType,
  kShape,
  // Kinds of NNEF attributes.
  kPairs,    // `(integer,integer)[]`
  kGeneric,  // `?[]`: items of the data type in the attribute `dtype`
};
// The valid values of a number, or of each item of a list.
enum class AttributeRange : uint8_t { kAny, kPositive, kNonNegative };

// An attribute: OpenVINO's as spelled in the IR's XML, NNEF's as the standard library declares it.
struct AttributeInfo {
  std::string name;
  AttributeKind kind = AttributeKind::kInt;
  std::optional<Attribute> fallback = std::nullopt;  // none: the attribute is required
  std::vector<std::string_view> choices = {};        // valid values of an enumeration
  bool is_extra = false;                             // omitted from output unless the node sets it
  AttributeRange range = AttributeRange::kAny;
  // The value for each axis that replaces an empty list: strides of 1, pads of 0.
  std::optional<int64_t> each_axis = std::nullopt;
};

// The role of an operation in a graph; all versions share it.
enum class OpRole : uint8_t {
  kComputation,  // none of the others
  kParameter,
  kConst,
  kResult,
  kReadValue,
  kAssign,
  kIf,
  kTensorIterator,
  kLoop,
  kView,  // the elements of its first input with other extents: Reshape, Squeeze, Unsqueeze
  // Roles of NNEF operations.
  kExternal,
  kConstant,
  kVariable,
  kUpdate,
  kNnefView,  // reshape, squeeze, unsqueeze
};

// The conditions for an NNEF operation's results to be non-negative, as its row declares them.
enum class SignRule : uint8_t {
  kUnknown,
  kNonNegative,         // always
  kNonNegativeIfFirst,  // if the first input is
  kNonNegativeIfAll,    // if all inputs are
  kNonNegativeIfAny,    // if at least one input is
};

// The kind of window of an NNEF operation, for checks of its border.
enum class WindowKind : uint8_t {
  kNone,
  kFilter,   // slides a filter, the second input
  kScatter,  // scatters a filter (deconv): the output extent determines the padding
  kSum,      // box: a sum, or an average if normalized
  kMax,      // max_pool and its variants with indices
  kAverage,  // avg_pool, rms_pool
};

// The rule for the number of results of an NNEF operation.
enum class ResultCount : uint8_t {
  kDeclared,  // one for each result of the declaration
  kRatios,    // one for each item of `ratios`
  kExtent,    // the extent of `value` along `axis`
  kTimes,     // `times`
};

// The conversion of provisional arguments, where trailing singular extents are implied, to ratified ones.
enum class ProvisionalForm : uint8_t {
  kSame,     // no conversion
  kBox,      // windows over all axes: `size` may be partial
  kConv,     // windows over the spatial axes
  kFactor,   // `factor` of the spatial axes may be partial
  kAxes,     // `axes` may include trailing singular axes
  kAxis,     // `axis` may be a trailing singular axis
  kConcat,   // `axis` may be beyond the rank of each of `values`
  kPerm,     // a permutation may be longer than the rank
  kReshape,  // `shape` may copy implied extents
  kMatmul,   // both operands of rank 2
  kUpdate,   // the value gets the rank of the variable
  kSelect,   // equal shapes, or all singular
  kMinMax,   // the same for `min` and `max`
  kClamp,    // the same for `clamp`
};

// The element-wise function of an OpenVINO operation, as far as passes need it; all versions share it.
enum class ElementFunction : uint8_t {
  kOther,  // none of these
  kAbs,
  kAdd,
  kClamp,
  kConvert,
  kDivide,
  kElu,
  kGelu,
  kHSwish,
  kMaximum,
  kMinimum,
  kMish,
  kMultiply,
  kPRelu,
  kRelu,
  kSelect,
  kSigmoid,
  kSoftPlus,
  kSqrt,
  kSubtract,
  kSwish,
  kTanh,
};

// The sum of products of two inputs that an OpenVINO operation computes, as far as passes need it; all
// versions share it.
enum class Contraction : uint8_t {
  kNone,  // none of these
  kConvolution,
  kGroupConvolution,
  kConvolutionBackpropData,
  kGroupConvolutionBackpropData,
  kMatMul,
};

// The kind of pooling of an OpenVINO operation with explicit windows; all versions share it.
enum class Pooling : uint8_t { kNone, kMax, kAverage };

// The rearrangement of elements that an OpenVINO operation performs, as far as passes need it; all versions
// share it.
enum class Rearrangement : uint8_t {
  kNone,  // none of these
  kBroadcast,
  kConcat,
  kGather,
  kPad,
  kReshape,
  kShuffleChannels,
  kSlice,
  kSplit,  // also into parts of different extents
  kTile,
  kTranspose,
};

// The formula by which an operation quantizes its first input.
enum class Quantizer : uint8_t {
  kNone,  // does not quantize
  kFakeQuantize,
  kLinear,
  kLogarithmic,
  kMinMaxLinear,
  kZeroPointLinear,
};

// The cost of an element-wise function of one tensor, compared with reading its result from a table.
enum class FunctionCost : uint8_t { kUnknown, kLow, kHigh };

// The results of an NNEF operation for integer operands, apart from binary element-wise operations, whose
// results are whole by default.
enum class IntegerResult : uint8_t {
  kUnknown,
  kWhole,
  kQuotient,  // truncated to an integer
  kPower,     // whole for natural exponents
};

// The integers of an NNEF operation's results for operands with fewer than 64 bits.
enum class NarrowIntegers : uint8_t {
  kKept,      // within the range of the operands
  kReduced,   // modulo the number of values of the operands' type
  kReplaced,  // of another type: indices, sums of products, conversions
};

// The cost of an OpenVINO operation, as far as it matters to conditional execution.
enum class Work : uint8_t { kByElements, kHeavy, kNone };

class Node;
// Returns the number of multiply-adds of a node with inputs and outputs of these shapes.
using ProductCount = double (*)(const Node& node, llvm::ArrayRef<Shape> inputs,
                                llvm::ArrayRef<Shape> outputs);

// The description of an operation: a row of the registry.
struct OpInfo {
  std::string set;      // "nnef", "opset1" .. "opset16", or a vendor's
  std::string name;     // "conv", "Convolution"
  std::string section;  // the section that specifies it, such as "R 4.3.1", or the opset document
  std::vector<InputInfo> inputs;
  std::vector<std::string> outputs;  // names of the results; a variadic last one ends with "[]"
  InferFunction infer = nullptr;
  // Validates the arguments against the row, so that `infer` may read them unchecked. Null if `infer` does
  // so.
  InferFunction check = nullptr;
  bool is_generic = false;  // NNEF: the attribute `dtype` names the data type `?`
  bool is_source = false;   // Parameter, Const, external, constant, variable
  bool is_sink = false;     // update, Assign: live without uses
  // Each element of the result depends only on the elements of the broadcast inputs at the same index.
  bool is_elementwise = false;
  bool is_commutative = false;  // swapping its two inputs does not change the result
  OpRole role = OpRole::kComputation;
  SignRule sign = SignRule::kUnknown;
  ElementFunction function = ElementFunction::kOther;
  Work work = Work::kByElements;
  ProductCount products = nullptr;  // null: it computes no dot products
  WindowKind window = WindowKind::kNone;
  ResultCount results = ResultCount::kDeclared;
  ProvisionalForm provisional = ProvisionalForm::kSame;
  Contraction contraction = Contraction::kNone;
  Pooling pooling = Pooling::kNone;
  Rearrangement rearrangement = Rearrangement::kNone;
  Quantizer quantizer = Quantizer::kNone;
  FunctionCost function_cost = FunctionCost::kUnknown;
  bool is_batch_normalization = false;  // an OpenVINO operation; all versions share it
  IntegerResult integers = IntegerResult::kUnknown;
  NarrowIntegers narrow = NarrowIntegers::kKept;
  // NNEF: the name of the OpenVINO operation that computes the same function; empty if there is none. Its
  // rules of broadcasting and its attributes may differ.
  std::string equivalent = {};
  // Of a generic custom primitive: its declaration in a flat document, with `?` in place of
  // the data types of single nodes.
  std::string generic_declaration = {};
  std::vector<AttributeInfo> attributes = {};
  // Constant properties of this version that are attributes of later versions. They are read like attributes,
  // but no node can set them.
  std::vector<AttributeInfo> implied = {};

  bool is_heavy() const { return work == Work::kHeavy || products != nullptr; }
  // Returns the attribute of that name that a node may set, or null.
  const AttributeInfo* FindAttribute(std::string_view attribute) const;
  const AttributeInfo* FindImplied(std::string_view attribute) const;
};

// True if an input of that class accepts elements of that type.
bool Accepts(TypeClass types, ElementType type);
// True if a value has that kind. An integer is also a number, and an empty list has any list kind.
bool HasKind(const Attribute& value, AttributeKind kind);

}  // namespace nnefc::ir
