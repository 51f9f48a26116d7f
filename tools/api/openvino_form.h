#pragma once

#include "compiler/driver/compilation.h"

namespace nnefc::api {

// Tells what of the lowered model OpenVINO IR cannot hold; true if nothing.
// `structure_only`: data that variables lack does not count.
bool RequireOpenVinoForm(Compilation& compilation, bool structure_only);

}  // namespace nnefc::api
