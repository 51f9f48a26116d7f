#pragma once

#include <string_view>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_registry.h"

namespace nnefc::testing {

using ir::StandardOps;

// Returns attributes in the text form without braces, "stride = [2,2]", completed by the defaults of the row.
ir::AttributeMap CompletedAttributes(const ir::OpInfo& row, std::string_view attributes);

}  // namespace nnefc::testing
