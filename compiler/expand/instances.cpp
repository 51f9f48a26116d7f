// The record of fragment instantiations and their values, used by `upgrade` to restore invocations. A limit
// on the number of recorded values bounds its memory.

#include "compiler/expand/instances.h"

#include <cmath>

#include "compiler/syntax/print.h"

namespace nnefc::expand {

FragmentInstance* InstanceRecord::Add() {
  if (left_ <= 0) return nullptr;
  --left_;
  return &instances_.emplace_back();
}

InstanceValue InstanceRecord::Record(const Value& value) {
  using Kind = InstanceValue::Kind;
  if (left_ <= 0) return {};
  --left_;
  InstanceValue recorded{.kind = Kind::kLiteral, .port = {}, .literal = {}, .items = {}};
  switch (value.kind()) {
    case ValueKind::kInteger:
      recorded.literal = std::to_string(value.integer());
      return recorded;
    case ValueKind::kScalar:
      if (!std::isfinite(value.scalar())) return {};
      recorded.literal = ast::PrintScalar(value.scalar());
      return recorded;
    case ValueKind::kLogical:
      recorded.literal = value.logical() ? "true" : "false";
      return recorded;
    case ValueKind::kString:
      left_ -= value.length();
      if (left_ <= 0) return {};
      recorded.literal = ast::QuoteString(value.text());
      return recorded;
    case ValueKind::kTensor:
      recorded.kind = Kind::kTensor;
      recorded.port = value.port();
      return recorded;
    case ValueKind::kArray:
    case ValueKind::kTuple:
      if (value.length() > left_) return {};
      recorded.kind = value.kind() == ValueKind::kArray ? Kind::kArray : Kind::kTuple;
      for (const Value& item : value.items()) recorded.items.push_back(Record(item));
      return recorded;
    default:
      return {};
  }
}

}  // namespace nnefc::expand
