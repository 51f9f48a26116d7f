#include "compiler/expand/instances.h"

#include <cmath>

#include "compiler/syntax/print.h"

namespace nnefc {

using expand::ValueKind;

FragmentInstance* InstanceRecord::Add() {
  if (left_ <= 0) return nullptr;
  --left_;
  return &instances_.emplace_back();
}

InstanceValue InstanceRecord::Keep(const expand::Value& value) {
  using Kind = InstanceValue::Kind;
  if (left_ <= 0) return {};
  --left_;
  InstanceValue kept{.kind = Kind::kLiteral, .port = {}, .literal = {}, .items = {}};
  switch (value.kind()) {
    case ValueKind::kInteger:
      kept.literal = std::to_string(value.integer());
      return kept;
    case ValueKind::kScalar:
      if (!std::isfinite(value.scalar())) return {};
      kept.literal = PrintScalar(value.scalar());
      return kept;
    case ValueKind::kLogical:
      kept.literal = value.logical() ? "true" : "false";
      return kept;
    case ValueKind::kString:
      left_ -= value.length();
      if (left_ <= 0) return {};
      kept.literal = QuoteString(value.text());
      return kept;
    case ValueKind::kTensor:
      kept.kind = Kind::kTensor;
      kept.port = value.port();
      return kept;
    case ValueKind::kArray:
    case ValueKind::kTuple:
      if (value.length() > left_) return {};
      kept.kind = value.kind() == ValueKind::kArray ? Kind::kArray : Kind::kTuple;
      for (const expand::Value& item : value.items()) kept.items.push_back(Keep(item));
      return kept;
    default:
      return {};
  }
}

}  // namespace nnefc
