// Lowerings of operations on tensors of quantized types, as tract computes them.

#include "compiler/lower/arithmetic/quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/lower/arithmetic/quantized_type.h"
#include "compiler/lower/tract_arithmetic.h"
#include "compiler/lower/windows/convolution.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::lower {

namespace {

// A tensor of real values, and the quantized type that can represent them; none: arbitrary values.
struct Typed {
  OutputPort port;
  std::optional<QuantizedType> type;
};

class QuantizedLowering {
 public:
  QuantizedLowering(NodeLowering& n, LowerFunction plain) : n_(n), plain_(plain) {}

  bool Run();

  NodeLowering& n() { return n_; }
  const QuantizedType* input_type(int32_t index) const { return n_.FindQuantized(n_.node().input(index)); }
  // Returns the type that graph.quant declares for an output; null if there is none.
  const QuantizedType* declared_type(int32_t index = 0) const;
  // Returns the outputs of the standard lowering, or placeholders after an error.
  std::vector<OutputPort> LowerPlainly();

  // ---- tensors of quantized values ----
  // Rounds real values to the nearest ones that the type represents. NaN becomes the quantized value 0, like
  // in QuantizeNumber.
  OutputPort QuantizeNumbers(OutputPort x, const QuantizedType& type);
  // Converts real values of one type to another type.
  OutputPort ChangeType(const Typed& x, const QuantizedType& to);
  // Applies `function` to each quantized value of `x` by a lookup table.
  OutputPort LookUp(OutputPort x, const QuantizedType& from, llvm::function_ref<float(int32_t)> function);
  // Converts exact integer sums, in units of `units`, to the type; halves are rounded to even.
  OutputPort QuantizeSums(OutputPort sums, llvm::ArrayRef<float> units, const QuantizedType& type);
  // Converts quantized values without zero point to real values of the type.
  OutputPort FromSteps(OutputPort steps, const QuantizedType& type);
  // Returns the integer bias at `index`; nothing if it is omitted or zero.
  std::optional<OutputPort> WholeBias(int32_t index);

 private:
  NodeLowering& n_;
  LowerFunction plain_;
};

const QuantizedType* QuantizedLowering::declared_type(int32_t index) const {
  const QuantizedTypes& types = *n_.state().options.quantized;
  for (const std::string& name : n_.node().output(index).names) {
    auto found = types.find(name);
    if (found != types.end()) return &found->second;
  }
  return nullptr;
}

std::vector<OutputPort> QuantizedLowering::LowerPlainly() {
  std::vector<OutputPort> ports = n_.Capture(plain_);
  for (size_t i = 0; i < ports.size(); ++i) {
    const ir::Output& output = n_.node().output(static_cast<int32_t>(i));
    if (!ports[i].valid()) ports[i] = n_.ConstWithoutValue(output.type, output.shape, "unknown");
  }
  return ports;
}

OutputPort QuantizedLowering::FromSteps(OutputPort steps, const QuantizedType& type) {
  const auto zero = static_cast<double>(type.zero_point());
  const OutputPort bounded = n_.Add(
      "opset1", "Clamp", steps, Attributes({{"min", type.lowest() - zero}, {"max", type.highest() - zero}}));
  return ScaleSteps(n_, bounded, type);
}

OutputPort QuantizedLowering::QuantizeNumbers(OutputPort x, const QuantizedType& type) {
  const OutputPort share = RoundToFloat(n_, n_.Binary("Divide", ToDouble(n_, x), Scales(n_, type), "share"));
  const OutputPort zero = ZeroPoints(n_, type);
  const OutputPort shifted = ReplaceNan(n_, RoundToFloat(n_, n_.Binary("Add", share, zero, "shifted")));
  const OutputPort rounded = RoundHalfToEven(n_, shifted);
  if (type.is_per_tensor()) return FromSteps(n_.Binary("Subtract", rounded, zero, "steps"), type);
  const double lowest = type.lowest(), highest = type.highest();
  const OutputPort bounded =
      n_.Add("opset1", "Clamp", rounded, Attributes({{"min", lowest}, {"max", highest}}));
  return ScaleSteps(n_, n_.Binary("Subtract", bounded, zero, "steps"), type);
}

OutputPort QuantizedLowering::LookUp(OutputPort x, const QuantizedType& from,
                                     llvm::function_ref<float(int32_t)> function) {
  std::vector<float> table;
  for (int32_t value = from.lowest(); value <= from.highest(); ++value) table.push_back(function(value));
  const OutputPort offset = Double(n_, from.zero_point() - from.lowest(), "offset");
  const OutputPort places =
      n_.Add("opset1", "Convert", n_.Binary("Add", Steps(n_, x, from), offset, "places"),
             Attributes({{"destination_type", ElementType::kI32}}), "indices");
  const auto count = static_cast<int64_t>(table.size());
  return n_.Add(
      "opset8", "Gather",
      {n_.Constant(TensorValue::FromFloats({count}, table), "table"), places, n_.ConstInt(0, "axis")},
      Attributes({{"batch_dims", 0}}), "value");
}

OutputPort QuantizedLowering::ChangeType(const Typed& x, const QuantizedType& to) {
  if (x.type == to) return x.port;
  if (!x.type || !x.type->is_per_tensor() || !to.is_per_tensor()) return QuantizeNumbers(x.port, to);
  return LookUp(x.port, *x.type,
                [&](int32_t value) { return Dequantize(Requantize(value, *x.type, to), to); });
}

OutputPort QuantizedLowering::QuantizeSums(OutputPort sums, llvm::ArrayRef<float> units,
                                           const QuantizedType& type) {
  // Units per channel extend along the second axis.
  nnefc::Shape shape;
  if (units.size() > 1) shape = {1, static_cast<int64_t>(units.size())};
  TensorValue factors = TensorValue::Make<double>(ElementType::kF64, shape, [&](std::span<double> items) {
    for (size_t i = 0; i < items.size(); ++i) items[i] = units[i] / type.scale();
  });
  const OutputPort scaled = n_.Binary("Multiply", sums, n_.Constant(std::move(factors), "factor"), "scaled");
  return FromSteps(RoundHalfToEven(n_, scaled), type);
}

std::optional<OutputPort> QuantizedLowering::WholeBias(int32_t index) {
  if (index >= n_.num_inputs() || n_.ScalarValue(n_.input(index)) == 0) return std::nullopt;
  const ir::Graph& source = n_.state().source;
  OutputPort port = n_.node().input(index);
  // Lenient mode casts integers to scalars and prepends axes.
  for (;;) {
    const ir::Node& node = source.node(port.node);
    const bool is_cast = node.op() == source.registry().Find(ir::kNnefSet, "cast");
    if (!is_cast && node.op() != source.registry().Find(ir::kNnefSet, "unsqueeze")) break;
    port = node.input(0);
    if (!is_cast) continue;
    if (source.output(port).type != ElementType::kI64) break;
    const OutputPort whole = n_.LoweredPort(port);
    const std::optional<Shape> extents = n_.input_shape(index).extents();
    if (!extents) break;
    return ToDouble(n_, n_.WithShape(whole, *extents, "bias"));
  }
  const OutputPort whole = n_.Add("opset1", "Convert", n_.input(index),
                                  Attributes({{"destination_type", ElementType::kI64}}), "whole_bias");
  return ToDouble(n_, whole);
}

// ---- operations ----

using LowerTyped = std::optional<std::vector<Typed>> (*)(QuantizedLowering&);

std::vector<Typed> One(OutputPort port, std::optional<QuantizedType> type) {
  return {{port, std::move(type)}};
}

// Moves values without changing their type. Types per axis are dropped: the axis may move as well.
std::optional<std::vector<Typed>> Move(QuantizedLowering& q) {
  std::vector<Typed> results;
  const QuantizedType* type = q.input_type(0);
  for (OutputPort port : q.LowerPlainly()) {
    const bool is_number = q.n().target().output(port).type == ElementType::kF32;
    const bool stays = type != nullptr && type->is_per_tensor() && is_number;
    results.push_back({port, stays ? std::optional(*type) : std::nullopt});
  }
  return results;
}

// Pads by the nearest number that the type represents.
std::optional<std::vector<Typed>> PadByNearest(QuantizedLowering& q) {
  std::vector<Typed> results = *Move(q);
  Typed& padded = results[0];
  const auto number = static_cast<float>(q.n().Double("value"));
  const bool is_other = padded.type && q.n().String("border") == "constant" &&
                        Dequantize(QuantizeNumber(number, *padded.type), *padded.type) != number;
  if (is_other) padded.port = q.QuantizeNumbers(padded.port, *padded.type);
  return results;
}

// Selects the largest values; the largest of no elements, -inf, becomes the lowest value of the type.
std::optional<std::vector<Typed>> Largest(QuantizedLowering& q) {
  std::vector<Typed> results = *Move(q);
  Typed& largest = results[0];
  if (largest.type && MayHaveNoElements(q.n())) largest.port = q.QuantizeNumbers(largest.port, *largest.type);
  return results;
}

// The data of a tensor file already have the declared type.
std::optional<std::vector<Typed>> Variable(QuantizedLowering& q) {
  return One(q.LowerPlainly()[0], *q.declared_type());
}

// The result of a cast has arbitrary values.
std::optional<std::vector<Typed>> Cast(QuantizedLowering& q) {
  return One(q.LowerPlainly()[0], std::nullopt);
}

// Returns the quantized values as integers, like tract.
std::optional<std::vector<Typed>> ToInteger(QuantizedLowering& q) {
  const QuantizedType* type = q.input_type(0);
  if (type == nullptr || !type->is_per_tensor()) return std::nullopt;
  NodeLowering& n = q.n();
  const OutputPort value =
      n.Binary("Add", Steps(n, n.input(0), *type), Double(n, type->zero_point(), "zero_point"), "value");
  return One(n.Add("opset1", "Convert", value, Attributes({{"destination_type", ElementType::kI64}})),
             std::nullopt);
}

// Converts all inputs to the type of the result, or else of the first input.
std::optional<std::vector<Typed>> Join(QuantizedLowering& q) {
  NodeLowering& n = q.n();
  const QuantizedType* to = q.declared_type() != nullptr ? q.declared_type() : q.input_type(0);
  if (to == nullptr || !to->is_per_tensor()) return std::nullopt;
  for (int32_t i = 0; i < n.num_inputs(); ++i) {
    const QuantizedType* from = q.input_type(i);
    n.ReplaceInput(i, q.ChangeType({n.input(i), from == nullptr ? std::nullopt : std::optional(*from)}, *to));
  }
  return One(q.LowerPlainly()[0], *to);
}

template <float (*kFunction)(float)>
std::optional<std::vector<Typed>> Function(QuantizedLowering& q) {
  const QuantizedType* from = q.input_type(0);
  if (from == nullptr || !from->is_per_tensor()) return std::nullopt;
  const QuantizedType& to = q.declared_type() != nullptr ? *q.declared_type() : *from;
  if (!to.is_per_tensor()) return std::nullopt;
  return One(
      q.LookUp(q.n().input(0), *from,
               [&](int32_t value) { return Dequantize(ApplyFunction(kFunction, value, *from, to), to); }),
      to);
}

// sqr: the result has the type of x first.
std::optional<std::vector<Typed>> Square(QuantizedLowering& q) {
  const QuantizedType* type = q.input_type(0);
  if (type == nullptr || !type->is_per_tensor()) return std::nullopt;
  const auto square = [](float x) { return x * x; };
  return One(
      q.LookUp(q.n().input(0), *type,
               [&](int32_t value) { return Dequantize(ApplyFunction(square, value, *type, *type), *type); }),
      *type);
}

// Lowers binary operations with a compile-time scalar, such as `max(x, 0.0)`. The scalar gets the type of
// `x`.
OutputPort WithNumber(QuantizedLowering& q, QuantizedBinary operation, const Typed& x, double number,
                      bool is_first, const QuantizedType& to) {
  const QuantizedType& type = *x.type;
  const QuantizedOperand other{QuantizeNumber(static_cast<float>(number), type), type, true};
  return q.LookUp(x.port, type, [&](int32_t value) {
    const QuantizedOperand own{value, type};
    return Dequantize(
        is_first ? ApplyBinary(operation, other, own, to) : ApplyBinary(operation, own, other, to), to);
  });
}

// Computes quantized values, before the zero point is added, from two tensors.
OutputPort StepsOfBinary(QuantizedLowering& q, QuantizedBinary operation, const Typed& x, const Typed& y,
                         const QuantizedType& to) {
  NodeLowering& n = q.n();
  const float inverse = 1.0F / to.scale();
  const auto scale = [&](OutputPort number, float factor) {
    return RoundToFloat(n, n.Binary("Multiply", number, Double(n, factor, "factor"), "scaled"));
  };
  const bool counts_steps = operation == QuantizedBinary::kMul || operation == QuantizedBinary::kDiv;
  if (counts_steps) {
    const OutputPort a = Steps(n, x.port, *x.type), b = Steps(n, y.port, *y.type);
    if (operation == QuantizedBinary::kMul) {
      const float factor = x.type->scale() * y.type->scale();
      return scale(n.Binary("Multiply", a, b, "product"), factor * inverse);
    }
    const float divisor = y.type->scale() * to.scale();
    return scale(RoundToFloat(n, n.Binary("Divide", a, b, "quotient")), x.type->scale() / divisor);
  }
  static constexpr std::string_view kNames[] = {"Add",    "Subtract", "Multiply",
                                                "Divide", "Maximum",  "Minimum"};
  const OutputPort number =
      n.Binary(kNames[static_cast<size_t>(operation)], ToDouble(n, x.port), ToDouble(n, y.port), "number");
  return scale(RoundToFloat(n, number), inverse);
}

// Returns whether the 32-bit sum of ApplyBinary, a quantized value and the zero point, may wrap around.
bool MayWrap(QuantizedBinary operation, const QuantizedType& x, const QuantizedType& y,
             const QuantizedType& to) {
  if (operation == QuantizedBinary::kDiv) return true;
  const double a = 255.0 * x.scale(), b = 255.0 * y.scale();
  const double largest = operation == QuantizedBinary::kMul ? a * b : a + b;
  return largest / to.scale() + 256 > std::numeric_limits<int32_t>::max();
}

// Replaces NaN, and the quantized values without zero point for which the sum wraps around.
OutputPort WrapSteps(NodeLowering& n, OutputPort steps, const QuantizedType& to) {
  steps = ReplaceNan(n, steps);
  if (to.zero_point() == 0) return steps;
  constexpr double kMaxSum = std::numeric_limits<int32_t>::max();
  const OutputPort wraps = n.Binary("Greater", steps, Double(n, kMaxSum - to.zero_point(), "max"), "wraps");
  const OutputPort lowest = Double(n, to.lowest() - to.zero_point(), "lowest");
  return n.Add("opset1", "Select", {wraps, lowest, steps}, {}, "wrapped");
}

// Returns the value of an untyped scalar operand, whose axes do not extend the result.
std::optional<double> CompileTimeNumber(NodeLowering& n, const Typed& operand, const Typed& other) {
  const ir::PartialShape& shape = n.target().output(operand.port).shape;
  const ir::PartialShape& result = n.target().output(other.port).shape;
  if (operand.type || !shape.rank_known() || !result.rank_known() || shape.rank() > result.rank())
    return std::nullopt;
  return n.ScalarValue(operand.port);
}

std::optional<Typed> ComputeBinary(QuantizedLowering& q, QuantizedBinary operation, Typed x, Typed y,
                                   const QuantizedType* declared) {
  NodeLowering& n = q.n();
  if (!x.type && !y.type) return std::nullopt;
  const QuantizedType& common = x.type ? *x.type : *y.type;
  const QuantizedType to = declared != nullptr ? *declared : common;
  for (const Typed* operand : {&x, &y}) {
    if (operand->type && !operand->type->is_per_tensor()) return std::nullopt;
  }
  if (!to.is_per_tensor()) return std::nullopt;
  const std::optional<double> first = CompileTimeNumber(n, x, y), second = CompileTimeNumber(n, y, x);
  if (first) return Typed{WithNumber(q, operation, y, *first, true, to), to};
  if (second) return Typed{WithNumber(q, operation, x, *second, false, to), to};
  // Real values are converted to the type of the other operand.
  for (Typed* operand : {&x, &y}) {
    if (!operand->type) *operand = {q.QuantizeNumbers(operand->port, common), common};
  }
  if (x.type->is_signed || y.type->is_signed || to.is_signed) return std::nullopt;
  OutputPort steps = RoundHalfToEven(n, StepsOfBinary(q, operation, x, y, to));
  if (MayWrap(operation, *x.type, *y.type, to)) steps = WrapSteps(n, steps, to);
  return Typed{q.FromSteps(steps, to), to};
}

Typed InputOf(QuantizedLowering& q, int32_t index) {
  const QuantizedType* type = q.input_type(index);
  return {q.n().input(index), type == nullptr ? std::nullopt : std::optional(*type)};
}

template <QuantizedBinary kOperation>
std::optional<std::vector<Typed>> Binary(QuantizedLowering& q) {
  std::optional<Typed> result = ComputeBinary(q, kOperation, InputOf(q, 0), InputOf(q, 1), q.declared_type());
  if (!result) return std::nullopt;
  return std::vector<Typed>{*result};
}

// relu: max(x, 0.0), in the type of x.
std::optional<std::vector<Typed>> Relu(QuantizedLowering& q) {
  const Typed zero{q.n().ConstFloat(0, "zero"), std::nullopt};
  std::optional<Typed> result = ComputeBinary(q, QuantizedBinary::kMax, InputOf(q, 0), zero, nullptr);
  if (!result) return std::nullopt;
  return std::vector<Typed>{*result};
}

// clamp: max(min(x, b), a).
std::optional<std::vector<Typed>> Clamp(QuantizedLowering& q) {
  const std::optional<Typed> below =
      ComputeBinary(q, QuantizedBinary::kMin, InputOf(q, 0), InputOf(q, 2), nullptr);
  if (!below) return std::nullopt;
  std::optional<Typed> result = ComputeBinary(q, QuantizedBinary::kMax, *below, InputOf(q, 1), nullptr);
  if (!result) return std::nullopt;
  return std::vector<Typed>{*result};
}

// Returns the units of dot products; empty if the types do not allow integer arithmetic.
std::vector<float> UnitsOfProducts(const QuantizedType* x, const QuantizedType* y) {
  std::vector<float> units;
  if (x == nullptr || y == nullptr || !x->is_per_tensor()) return units;
  for (float scale : y->scales) units.push_back(x->scale() * scale);
  return units;
}

std::optional<std::vector<Typed>> Convolution(QuantizedLowering& q) {
  NodeLowering& n = q.n();
  const QuantizedType *x = q.input_type(0), *filter = q.input_type(1), *to = q.declared_type();
  const std::vector<float> units = UnitsOfProducts(x, filter);
  if (units.empty() || to == nullptr || !to->is_per_tensor() || n.String("border") != "constant")
    return std::nullopt;
  const std::optional<OutputPort> bias = n.num_inputs() > 2 ? q.WholeBias(2) : std::nullopt;
  std::optional<OutputPort> sums = ConvolveAs(n, Steps(n, n.input(0), *x), Steps(n, n.input(1), *filter));
  if (!sums) return std::nullopt;
  if (bias) sums = n.Binary("Add", *sums, *bias, "bias");
  return One(q.QuantizeSums(*sums, units, *to), *to);
}

OutputPort MultiplyMatrices(QuantizedLowering& q, bool transposes_a, bool transposes_b) {
  NodeLowering& n = q.n();
  return n.Add("opset1", "MatMul",
               {Steps(n, n.input(0), *q.input_type(0)), Steps(n, n.input(1), *q.input_type(1))},
               Attributes({{"transpose_a", transposes_a}, {"transpose_b", transposes_b}}));
}

std::optional<std::vector<Typed>> MatrixProduct(QuantizedLowering& q) {
  NodeLowering& n = q.n();
  const std::vector<float> units = UnitsOfProducts(q.input_type(0), q.input_type(1));
  const QuantizedType* to = q.declared_type();
  if (units.size() != 1 || to == nullptr || !to->is_per_tensor()) return std::nullopt;
  const OutputPort sums = MultiplyMatrices(q, n.Bool("transposeA"), n.Bool("transposeB"));
  return One(q.QuantizeSums(sums, units, *to), *to);
}

// linear: the matrix product has 32 bits and the units of its operands. The bias is added to it in f32.
std::optional<std::vector<Typed>> Linear(QuantizedLowering& q) {
  NodeLowering& n = q.n();
  const std::vector<float> units = UnitsOfProducts(q.input_type(0), q.input_type(1));
  const QuantizedType* to = q.declared_type();
  if (units.empty() || to == nullptr || !to->is_per_tensor()) return std::nullopt;
  const std::optional<OutputPort> bias = q.WholeBias(2);
  OutputPort sums = MultiplyMatrices(q, false, true);
  if (units.size() > 1) {
    if (bias) sums = n.Binary("Add", sums, *bias, "bias");
    return One(q.QuantizeSums(sums, units, *to), *to);
  }
  const OutputPort unit = Double(n, units[0], "unit");
  const auto number = [&](OutputPort whole) {
    return RoundToFloat(n, n.Binary("Multiply", RoundToFloat(n, whole), unit, "number"));
  };
  if (bias) {
    const OutputPort sum = RoundToFloat(n, n.Binary("Add", number(sums), number(*bias), "bias"));
    sums = RoundHalfToEven(n, RoundToFloat(n, n.Binary("Divide", sum, unit, "whole")));
  }
  return One(q.QuantizeNumbers(n.Add("opset1", "Convert", number(sums),
                                     Attributes({{"destination_type", ElementType::kF32}})),
                               *to),
             *to);
}

// Computes averages of real values and converts them to the type of the input.
std::optional<std::vector<Typed>> Average(QuantizedLowering& q) {
  const QuantizedType* type = q.input_type(0);
  if (type == nullptr || !type->is_per_tensor()) return std::nullopt;
  const std::optional<OutputPort> numbers = SumInOrder(q.n());
  if (numbers) return One(q.QuantizeNumbers(*numbers, *type), *type);
  return One(q.QuantizeNumbers(WithNanForNoElements(q.n(), q.LowerPlainly()[0]), *type), *type);
}

// Interpolates real values and converts them to the type of the input.
std::optional<std::vector<Typed>> Resize(QuantizedLowering& q) {
  const QuantizedType* type = q.input_type(0);
  if (type == nullptr || !type->is_per_tensor()) return std::nullopt;
  const std::optional<OutputPort> numbers = InterpolateInOrder(q.n());
  return One(q.QuantizeNumbers(numbers ? *numbers : q.LowerPlainly()[0], *type), *type);
}

float Sigmoid(float x) {
  const float power = std::exp(-x);
  return 1.0F / (1.0F + power);
}
float Negate(float x) {
  return -x;
}
float Sign(float x) {
  return x == 0 ? 0.0F : std::copysign(1.0F, x);
}
float Reciprocal(float x) {
  return 1.0F / x;
}
float ReciprocalRoot(float x) {
  return 1.0F / std::sqrt(x);
}

const llvm::StringMap<LowerTyped>& Lowerings() {
  static const llvm::StringMap<LowerTyped> table = [] {
    llvm::StringMap<LowerTyped> made;
    for (const char* name : {"copy", "reshape", "transpose", "squeeze", "unsqueeze", "slice", "tile", "split",
                             "unstack", "gather", "nearest_upsample", "nearest_downsample"})
      made[name] = Move;
    made["pad"] = PadByNearest;
    made["max_pool"] = made["max_pool_with_index"] = Largest;
    made["variable"] = Variable;
    made["cast"] = Cast;
    made["tract_core_to_integer"] = ToInteger;
    made["concat"] = made["stack"] = Join;
    made["add"] = Binary<QuantizedBinary::kAdd>;
    made["sub"] = Binary<QuantizedBinary::kSub>;
    made["mul"] = Binary<QuantizedBinary::kMul>;
    made["div"] = Binary<QuantizedBinary::kDiv>;
    made["max"] = Binary<QuantizedBinary::kMax>;
    made["min"] = Binary<QuantizedBinary::kMin>;
    made["relu"] = Relu;
    made["clamp"] = Clamp;
    made["conv"] = Convolution;
    made["matmul"] = MatrixProduct;
    made["linear"] = Linear;
    made["box"] = made["avg_pool"] = Average;
    made["multilinear_upsample"] = made["tract_core_interpolate"] = Resize;
    made["sigmoid"] = Function<Sigmoid>;
    made["neg"] = Function<Negate>;
    made["sign"] = Function<Sign>;
    made["rcp"] = Function<Reciprocal>;
    made["rsqrt"] = Function<ReciprocalRoot>;
    made["sqr"] = Square;
    made["abs"] = Function<fabsf>;
    made["exp"] = Function<expf>;
    made["log"] = Function<logf>;
    made["sqrt"] = Function<sqrtf>;
    made["sin"] = Function<sinf>;
    made["cos"] = Function<cosf>;
    made["tan"] = Function<tanf>;
    made["asin"] = Function<asinf>;
    made["acos"] = Function<acosf>;
    made["atan"] = Function<atanf>;
    made["sinh"] = Function<sinhf>;
    made["cosh"] = Function<coshf>;
    made["tanh"] = Function<tanhf>;
    made["asinh"] = Function<asinhf>;
    made["acosh"] = Function<acoshf>;
    made["atanh"] = Function<atanhf>;
    return made;
  }();
  return table;
}

bool QuantizedLowering::Run() {
  bool has_types = false;
  for (int32_t i = 0; i < n_.num_inputs(); ++i) has_types |= input_type(i) != nullptr;
  for (int32_t i = 0; i < n_.node().num_outputs(); ++i) has_types |= declared_type(i) != nullptr;
  if (!has_types) return false;
  const auto found = Lowerings().find(n_.node().type());
  std::optional<std::vector<Typed>> results =
      found == Lowerings().end() ? std::nullopt : found->second(*this);
  if (!results) {
    results.emplace();
    for (OutputPort port : LowerPlainly()) results->push_back({port, std::nullopt});
  }
  for (size_t i = 0; i < results->size(); ++i) {
    Typed& result = (*results)[i];
    const auto index = static_cast<int32_t>(i);
    const QuantizedType* declared = declared_type(index);
    const bool is_number = n_.target().output(result.port).type == ElementType::kF32;
    if (declared != nullptr && is_number) result = {ChangeType(result, *declared), *declared};
    n_.SetOutput(index, result.port);
    if (result.type) n_.SetQuantized(index, *result.type);
  }
  return true;
}

}  // namespace

bool LowerQuantized(NodeLowering& n, LowerFunction plain) {
  return QuantizedLowering(n, plain).Run();
}

}  // namespace nnefc::lower
