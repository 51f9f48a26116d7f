// Names of elementwise operations in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr std::string_view kBits =
    "tract's `tract_core_bitand`, `tract_core_bitor`, `tract_core_bitxor` and "
    "`tract_core_bitnot` are for its documents";
constexpr std::string_view kGreatest = "for values of `f32`";

constexpr ForeignOperation kArithmetic[] = {
    // The same function.
    Renamed("absolute fabs magnitude", "abs"),
    Renamed("addition plus addv2 elementwiseadd", "add"),
    Renamed("arccos", "acos"),
    Renamed("arccosh", "acosh"),
    Renamed("arcsin", "asin"),
    Renamed("arcsinh", "asinh"),
    Renamed("arctan", "atan"),
    Renamed("arctanh", "atanh"),
    Renamed("ceiling", "ceil"),
    Renamed("clipbyvalue", "clamp"),
    Renamed("divide realdiv truediv truedivide", "div"),
    Renamed("ln", "log"),
    Renamed("exponential", "exp"),
    Renamed("maximum", "max"),
    Renamed("minimum", "min"),
    Renamed("multiply times scalarmul", "mul"),
    Renamed("negate negative", "neg"),
    Renamed("power floatpower", "pow"),
    Renamed("reciprocal recip", "rcp"),
    Renamed("square", "sqr"),
    Renamed("squareroot", "sqrt"),
    Renamed("subtract minus sub2", "sub"),
    Renamed("greater", "gt"),
    Renamed("greaterequal greaterorequal", "ge"),
    Renamed("less", "lt"),
    Renamed("lessequal lessorequal", "le"),
    Renamed("notequal", "ne"),
    Renamed("logicaland", "and"),
    Renamed("logicalnot", "not"),
    Renamed("logicalor", "or"),
    Renamed("where selectv2", "select"),
    Renamed("addall accumulaten", "add_n"),
    Renamed("positive clone contiguous detach stopgradient ensureshape optimizationbarrier", "copy"),
    Computed("equal", "eq(x, y)", "", "ONNX, Keras, JAX, TensorFlow"),
    Computed("equal", "all_reduce(eq(x, y), axes = ..)", kKeepsAxes, "PyTorch"),
    Computed("identity", "copy(x)", "", "PyTorch, ONNX, Keras, TensorFlow"),
    Missing("identity", "the matrix can be a `constant`", "JAX"),
    // Quotients and remainders.
    Computed("clip", "clamp(x, low, high)"),
    Computed("clampmin clipmin", "max(x, y)"),
    Computed("clampmax clipmax", "min(x, y)"),
    Computed("dividenonan divnonan", "select(eq(y, 0.0), 0.0, x / y)"),
    Computed("multiplynonan mulnonan", "select(eq(y, 0.0), 0.0, x * y)"),
    Computed("reciprocalnonan", "select(eq(x, 0.0), 0.0, rcp(x))"),
    Computed("xdivy", "select(eq(x, 0.0), 0.0, x / y)"),
    Computed("squareddifference", "sqr(x - y)"),
    Computed("floordiv floordivide", "floor(x / y)"),
    Computed("truncatediv truncdiv", "sign(x / y) * floor(abs(x / y))"),
    Computed("mod floormod remainder pymod", "x - floor(x / y) * y"),
    Computed("fmod rem truncatemod", "x - sign(x / y) * floor(abs(x / y)) * y"),
    Computed("trunc fix truncate", "sign(x) * floor(abs(x))"),
    Computed("frac", "x - sign(x) * floor(abs(x))"),
    Computed("round rint around roundeven", "select(eq(x - floor(x), 0.5), 2.0 * round(x / 2.0), round(x))",
             "`round` of NNEF moves halves up, not to even numbers"),
    Missing("divmod modf frexp ldexp", "each result is an operation of its own, such as `floor(x / y)`"),
    Missing("gcd lcm nextafter"),
    // Exponentials and logarithms.
    Computed("exp2", "pow(2.0, x)"),
    Computed("exp10", "pow(10.0, x)"),
    Computed("expm1", "exp(x) - 1.0"),
    Computed("log1p", "log(1.0 + x)"),
    Computed("log1mexp", "log(1.0 - exp(neg(x)))"),
    Computed("log10", "log(x) / 2.30258509"),
    Computed("logaddexp", "max(x, y) + log(1.0 + exp(neg(abs(x - y))))"),
    Computed("logaddexp2", "max(x, y) + log2(1.0 + pow(2.0, neg(abs(x - y))))"),
    Computed("logit", "log(x / (1.0 - x))"),
    Computed("xlogy multiplynonanlog", "select(eq(x, 0.0), 0.0, x * log(y))"),
    Computed("xlog1py", "select(eq(x, 0.0), 0.0, x * log(1.0 + y))"),
    Computed("cbrt cuberoot", "sign(x) * pow(abs(x), 0.33333333)"),
    Computed("hypot", "sqrt(sqr(x) + sqr(y))"),
    Computed("integerpow", "pow(x, 3.0)", "for an exponent of 3"),
    // Angles.
    Computed(
        "atan2 arctan2",
        "select(gt(y, 0.0), atan(x / y), select(lt(y, 0.0), atan(x / y) + select(lt(x, 0.0), -3.14159265, "
        "3.14159265), sign(x) * 1.57079633))",
        "of x over y"),
    Computed("deg2rad radians", "x * 0.01745329252"),
    Computed("rad2deg degrees", "x * 57.2957795131"),
    Computed("sinc", "select(eq(x, 0.0), 1.0, sin(3.14159265 * x) / (3.14159265 * x))"),
    // Signs, comparisons and special values.
    Computed("copysign", "select(lt(y, 0.0), neg(abs(x)), abs(x))"),
    Computed("heaviside", "select(eq(x, 0.0), y, select(gt(x, 0.0), 1.0, 0.0))"),
    Computed("signbit", "lt(x, 0.0)", "of values that are not -0.0"),
    Renamed("signum sgn", "sign"),
    Computed("fmax", "select(ne(y, y), x, max(x, y))"),
    Computed("fmin", "select(ne(y, y), x, min(x, y))"),
    Computed("isnan", "ne(x, x)"),
    Computed("isinf", "gt(abs(x), 3.4028235e38)", kGreatest),
    Computed("isposinf", "gt(x, 3.4028235e38)", kGreatest),
    Computed("isneginf", "lt(x, -3.4028235e38)", kGreatest),
    Computed("isfinite", "le(abs(x), 3.4028235e38)", kGreatest),
    Computed("isclose", "le(abs(x - y), 0.00000001 + 0.00001 * abs(y))"),
    Computed("nantonum", "select(ne(x, x), 0.0, clamp(x, -3.4028235e38, 3.4028235e38))", kGreatest),
    Computed("logicalxor xor", "or(and(x, not(y)), and(not(x), y))"),
    Computed("selectn", "select(x, z, y)", "for a logical `x`"),
    Computed("lerp", "x + z * (y - x)"),
    Computed("addcmul", "x + y * z"),
    Computed("addcdiv", "x + y / z"),
    Computed("maskedfill", "select(y, z, x)"),
    Computed("biasadd", "add(x, y)", "`y` has the shape [1, channels]"),
    Computed("scale", "x * scale + offset", "", "Caffe"),
    Computed("rescaling rescale", "x * scale + offset"),
    Missing("eltwise", "`add`, `mul` and `max` are the element-wise operations"),
    Missing("invert", "`not(x)` is for logical tensors, `rcp(x)` is 1 / x"),
    Missing("inverse", "`rcp(x)` is 1 / x of each element, not the inverse of a matrix"),
    Missing("bitwiseand bitwiseor bitwisexor bitwisenot bitwiseinvert bitcount", kBits),
    Missing("bitshift bitwiseleftshift bitwiserightshift leftshift rightshift shiftleft shiftrightarithmetic "
            "shiftrightlogical",
            "tract's `tract_shl` and `tract_shr` are for its documents"),
    Missing("populationcount clz bitcast bitcastconverttype reduceprecision packbits unpackbits"),
    // Functions without a form in NNEF's operations.
    Missing("erf", "`gelu(x)` is x * sigmoid(1.702 * x); tract's `tract_core_erf` is for its documents"),
    Missing("erfc", "1 - erf; tract's `tract_core_erf` is for its documents"),
    Missing("besseli0 besseli1 erfcinv lbeta erfinv ndtri ndtr logndtr lgamma gammaln digamma polygamma "
            "mvlgamma multigammaln betainc igamma "
            "igammac "
            "igammagrada gammainc gammaincc zeta i0 i0e i1 i1e besseli0e besseli1e besselj0 besselj1 entr "
            "gamma beta factorial expi exp1 expn sici spence hyp1f1 poch randomgammagrad"),
    Missing(
        "real imag conj conjugate conjphysical angle complex polar viewasreal viewascomplex isreal iscomplex "
        "resolveconj realimag",
        "tensors hold real values"),
    Missing("diff ediff1d", "`sub` of two slices is it"),
    Missing("polyval polyadd polysub polymul polyder polyint roots piecewise interp unwrap gradient "
            "trapezoid trapz cumulativetrapezoid vander"),
};

}  // namespace

std::span<const ForeignOperation> ForeignArithmetic() {
  return kArithmetic;
}

}  // namespace nnefc::semantics::foreign
