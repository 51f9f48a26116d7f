#pragma once

#include <string_view>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_registry.h"
#include "tests/unit/compiler/ir/ops/declarations.h"

namespace nnefc::testing {

using ir::StandardOps;

// Attributes in the text form without braces, "stride = [2,2]", completed by
// the defaults of the declaration.
ir::AttributeMap CompletedAttributes(const Declaration& declaration, std::string_view attributes);

}  // namespace nnefc::testing
