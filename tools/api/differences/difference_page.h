#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "tools/api/differences/model_difference.h"
#include "tools/api/differences/output_difference.h"

namespace nnefc::api {

// Returns a page in HTML without references to other files. It draws both graphs side by side, as
// DescribeModel or DescribeGraph describes them, and marks the nodes that differ. Its tables list inputs,
// operations, outputs and variables with the changed attributes and inputs. `outputs` is the comparison of
// outputs, or null. The tables need no JavaScript.
std::string DifferencePage(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after, const OutputsOfModels* outputs,
                           nlohmann::ordered_json old_description, nlohmann::ordered_json new_description);

}  // namespace nnefc::api
