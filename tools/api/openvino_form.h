#pragma once

#include <memory>

#include "compiler/driver/compilation.h"

namespace nnefc::api {

// The lowered model as OpenVINO IR can hold it; null if it cannot, which is told.
// `structure_only`: data that variables lack does not count.
std::shared_ptr<const ir::Graph> OpenVinoFormOf(Compilation& compilation, bool structure_only);

}  // namespace nnefc::api
