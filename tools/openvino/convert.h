#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openvino/core/model.hpp"
#include "tools/api/model.h"

namespace nnefc::openvino_front_end {

// The model as OpenVINO has it. Its constants lie where the model's data lie, in
// mapped files for the most part, and keep them alive. `wanted` names the outputs
// to keep, in that order. Throws GeneralFailure where OpenVINO has no form for it.
std::shared_ptr<ov::Model> Convert(const api::Model& model,
                                   const std::optional<std::vector<std::string>>& wanted);

}  // namespace nnefc::openvino_front_end
