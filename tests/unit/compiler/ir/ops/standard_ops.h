#pragma once

#include <string_view>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_registry.h"

namespace nnefc::ir::ops {

// Returns attributes in the text form without braces, "stride = [2,2]", completed by the defaults of the row.
AttributeMap CompletedAttributes(const OpInfo& row, std::string_view attributes);

}  // namespace nnefc::ir::ops
