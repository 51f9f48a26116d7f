// Lenient mode: conversion of results back to integers if all operands were integers. NNEF itself computes
// with scalars.

#include "compiler/expand/vendor/restore_integers.h"

#include <utility>
#include <vector>

#include "compiler/expand/generics.h"

namespace nnefc::expand::vendor {
namespace {

bool IsNatural(const Value& value) {
  return value.kind() == ValueKind::kInteger && value.integer() >= 0;
}

// Rounds scalars toward zero.
Value TowardZero(const Value& scalars, const Site& site, build::GraphBuilder& builder) {
  Site as_is = site;
  as_is.generic = semantics::TypeKind::kError;
  const Value negative = builder.MakeRatified("lt", {scalars, Value::Scalar(0.0).AsTensor()}, as_is);
  const Value up = builder.MakeRatified("ceil", scalars, as_is);
  const Value down = builder.MakeRatified("floor", scalars, as_is);
  if (negative.poison() || up.poison() || down.poison()) return {};
  as_is.generic = semantics::TypeKind::kScalar;
  return builder.MakeRatified("select", {negative, up, down}, as_is);
}

// Casts a tensor of scalars; other values are returned unchanged.
Value ToIntegers(const Value& value, const Site& site, build::GraphBuilder& builder) {
  if (value.kind() != ValueKind::kTensor || !IsFloat(builder.graph().output(value.port()).type)) return value;
  Site cast = site;
  cast.generic = semantics::TypeKind::kInteger;
  return builder.MakeRatified("cast", value, cast);
}

// Casts the tensors of scalars of a tuple.
Value ToTupleOfIntegers(const Value& tuple, const Site& site, build::GraphBuilder& builder) {
  std::vector<Value> items;
  for (const Value& item : tuple.items()) {
    items.push_back(ToIntegers(item, site, builder));
    if (items.back().poison()) return {};
  }
  return Value::Tuple(builder.heap(), std::move(items));
}

}  // namespace

Value RestoreIntegers(const OpPlan& plan, llvm::ArrayRef<Value> given, Value result, const Site& site,
                      build::GraphBuilder& builder) {
  const ir::OpInfo& info = builder.registry().Info(plan.op);
  using ir::IntegerResult;
  const IntegerResult integers = info.integers;
  if (integers == IntegerResult::kUnknown && (!info.is_elementwise || info.inputs.size() < 2)) return result;
  const bool is_tuple = result.kind() == ValueKind::kTuple && integers == IntegerResult::kWhole;
  if (result.kind() != ValueKind::kTensor && !is_tuple) return result;
  if (!is_tuple && !IsFloat(builder.graph().output(result.port()).type)) return result;
  bool has_tensor = false;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].is_tensor) continue;
    if (ElementKind(given[i], builder.graph()) != semantics::TypeKind::kInteger) return result;
    has_tensor |= given[i].kind() == ValueKind::kTensor;
  }
  if (!has_tensor) return result;
  if (is_tuple) return ToTupleOfIntegers(result, site, builder);
  // A cast rounds down (R 4.5.8), while integer quotients are truncated. A power with a negative exponent is
  // one.
  const bool is_fraction =
      integers == IntegerResult::kQuotient || (integers == IntegerResult::kPower && !IsNatural(given[1]));
  if (is_fraction) result = TowardZero(result, site, builder);
  return result.poison() ? result : ToIntegers(result, site, builder);
}

}  // namespace nnefc::expand::vendor
