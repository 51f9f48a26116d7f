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
// Checks the arguments of a node and sets its outputs' types and shapes;
// mistakes are emitted through the context. It may carry what it needs, and is
// called by several threads at once.
using InferFunction = std::function<void(InferContext&)>;

// The element types that an input takes.
enum class TypeClass : uint8_t { kAny, kNumber, kFloat, kInteger, kIndex, kBoolean, kBits };

// What a tensor is to an operation: by it random data are spread.
enum class DataRole : uint8_t { kInput, kFilter, kBias, kMean, kVariance, kOffset, kScale };

// How an input that adjusts the result of an NNEF operation, as a bias does, aligns with it. It is
// broadcast to the result and does not enlarge it.
enum class Adjusts : uint8_t {
  kNothing,    // an input like any other
  kChannels,   // a number for each channel, axis 1 of the result
  kColumns,    // a number for each item of the last axis of the result
  kAnyExtent,  // numbers along any axes of the first input, as the range of a quantization
};

// A tensor input in the order of the signature.
struct InputInfo {
  std::string name;
  bool variadic = false;  // `tensor<scalar>[]`: any number of inputs
  bool optional = false;  // may be left out (OpenVINO) or has a default (NNEF)
  // What the tensor must be whatever the other inputs are.
  TypeClass types = TypeClass::kAny;
  bool generic = false;  // of one data type with the other inputs that are: `tensor<?>`
  bool one_element = false;
  int64_t lowest_rank = 0;
  int64_t highest_rank = INT64_MAX;
  // What data of a variable are to the operation; none: another user decides.
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
  // Of NNEF.
  kPairs,    // `(integer,integer)[]`
  kGeneric,  // `?[]`: items of the data type that the attribute `dtype` names
};
// The values that a number takes, or each item of a list.
enum class AttributeRange : uint8_t { kAny, kPositive, kNonNegative };

// An attribute: of an OpenVINO operation in the spelling of the IR's XML, of an NNEF
// operation as the standard library declares it.
struct AttributeInfo {
  std::string name;
  AttributeKind kind = AttributeKind::kInt;
  std::optional<Attribute> fallback = std::nullopt;  // none: the attribute must be given
  std::vector<std::string_view> choices = {};        // of an enumeration
  bool is_extra = false;                             // not written where it is not given
  AttributeRange range = AttributeRange::kAny;
  // What an empty list stands for, once for each axis: strides of 1, pads of 0.
  std::optional<int64_t> each_axis = std::nullopt;
};

// The part that an operation plays in a graph; versions of it share one.
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
  // Of NNEF.
  kExternal,
  kConstant,
  kVariable,
  kUpdate,
  kNnefView,  // reshape, squeeze, unsqueeze
};

// What the row of an NNEF operation says of the sign of results.
enum class SignRule : uint8_t {
  kUnknown,
  kNever,         // below zero
  kNeverByFirst,  // if the first input is not
  kNeverByAll,    // if no input is
  kNeverByAny,    // if one input is not
};

// The window of an NNEF operation, as far as its border matters.
enum class WindowKind : uint8_t {
  kNone,
  kFilter,   // that of a filter, the second input
  kScatter,  // of a filter that spreads what it takes: padding is told by what comes out
  kSum,      // box, an average where it normalizes
  kLargest,  // the largest element
  kAverage,
};

// How many results an NNEF operation has.
enum class ResultCount : uint8_t {
  kDeclared,  // as many as its declaration names
  kRatios,    // one an item of `ratios`
  kExtent,    // as many as the axis `axis` of `value` is long
  kTimes,     // `times`
};

// How arguments of the provisional dialect, where trailing singular extents are
// implied, become those of the ratified one.
enum class ProvisionalForm : uint8_t {
  kSame,
  kBox,      // windows over all axes: `size` may be partial
  kConv,     // windows over the spatial axes
  kFactor,   // `factor` of the spatial axes may be partial
  kAxes,     // `axes` may name trailing singular ones
  kAxis,     // so may `axis`
  kConcat,   // so may `axis`, beyond each of `values`
  kPerm,     // a permutation may be longer than the rank
  kReshape,  // `shape` may take over extents that are implied
  kMatmul,   // both of rank 2
  kUpdate,   // the value takes the rank of the variable
  kSelect,   // one shape, or all singular
  kMinMax,   // chosen as by `select`
  kClamp,    //
};

// The function of elements that an OpenVINO operation computes, of those that
// somebody asks for; versions of it share one.
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

// What an OpenVINO operation costs, as far as branches are concerned.
enum class Work : uint8_t { kByElements, kHeavy, kNone };

class Node;
// How many products a node adds up that has inputs and outputs of these shapes.
using ProductCount = double (*)(const Node& node, llvm::ArrayRef<Shape> inputs,
                                llvm::ArrayRef<Shape> outputs);

// The description of an operation: a row of the registry.
struct OpInfo {
  std::string set;      // "nnef", "opset1" .. "opset16", or a vendor's
  std::string name;     // "conv", "Convolution"
  std::string section;  // where it is specified: "R 4.3.1"; or the opset document
  std::vector<InputInfo> inputs;
  std::vector<std::string> outputs;  // names of results; a variadic last one ends with "[]"
  InferFunction infer = nullptr;
  // Checks the arguments against the row before `infer`, which then may read them
  // without looking; null where `infer` does.
  InferFunction check = nullptr;
  bool is_generic = false;  // of NNEF: the attribute `dtype` names the data type `?`
  bool is_source = false;   // Parameter, Const, external, constant, variable
  bool is_sink = false;     // update, Assign: kept although nothing uses it
  // Each element of the result comes from those of the inputs at its place, which
  // are broadcast.
  bool is_elementwise = false;
  bool is_commutative = false;  // in its two inputs: the same numbers
  OpRole role = OpRole::kComputation;
  SignRule sign = SignRule::kUnknown;
  ElementFunction function = ElementFunction::kOther;
  Work work = Work::kByElements;
  ProductCount products = nullptr;  // null: it is not made of sums of products
  WindowKind window = WindowKind::kNone;
  ResultCount results = ResultCount::kDeclared;
  ProvisionalForm provisional = ProvisionalForm::kSame;
  std::vector<AttributeInfo> attributes = {};
  // What later versions of the operation have an attribute for and this one
  // always does: they are read like attributes, and no node can give them.
  std::vector<AttributeInfo> implied = {};

  bool is_heavy() const { return work == Work::kHeavy || products != nullptr; }
  // The attribute of that name that a node may give, or null.
  const AttributeInfo* FindAttribute(std::string_view attribute) const;
  const AttributeInfo* FindImplied(std::string_view attribute) const;
};

// True if an input of that class takes elements of that type.
bool Accepts(TypeClass types, ElementType type);
// True if a value is of that kind. An integer is a number, and an empty list is one of
// any kind.
bool HasKind(const Attribute& value, AttributeKind kind);

}  // namespace nnefc::ir
