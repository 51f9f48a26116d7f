#pragma once

#include <string>

#include "tools/api/differences/model_difference.h"

namespace nnefc::api {

// Returns a page in HTML without references to other files: inputs, operations, outputs and variables of both
// graphs side by side, with the changed attributes and inputs. `outputs` is the text of a comparison of
// outputs, or empty.
std::string DifferencePage(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after, const std::string& outputs);

}  // namespace nnefc::api
