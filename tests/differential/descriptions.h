#pragma once

// What the operations' own descriptions say of them: rows of the registry,
// declarations of the standard library. Nothing here knows an operation by name.

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_registry.h"

namespace nnefc::differential {

struct AttributeDescription {
  enum class Kind : uint8_t {
    kBool,
    kInt,
    kDouble,
    kString,
    kInts,
    kDoubles,
    kPairs,  // `(integer,integer)[]`
    kType,
    kShape,
    kDataType,  // the type of a generic operation of NNEF: "scalar"
  };

  std::string name;
  Kind kind;
  std::optional<ir::Attribute> fallback = std::nullopt;
  std::vector<std::string> choices = {};
};

struct OperationDescription {
  std::string set;
  std::string name;
  std::vector<ir::InputInfo> inputs;
  std::vector<AttributeDescription> attributes;
  int outputs = 1;
  bool variadic_outputs = false;
};

// The rows of OpenVINO's operation sets, without sources and sinks.
std::vector<OperationDescription> DescribeOpsets();
// The ratified standard operations of NNEF, likewise.
std::vector<OperationDescription> DescribeNnef(const ir::OpRegistry& registry);

}  // namespace nnefc::differential
