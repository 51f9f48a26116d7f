#pragma once

#include <memory>

#include "compiler/driver/compilation.h"

namespace nnefc::api {

// Returns the lowered model in a form that OpenVINO IR can express, or null after an error was emitted.
// `structure_only` permits variables without data.
[[nodiscard]] std::shared_ptr<const ir::Graph> OpenVinoFormOf(driver::Compilation& compilation,
                                                              bool structure_only);

}  // namespace nnefc::api
