#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openvino/core/model.hpp"
#include "tools/api/model.h"

namespace nnefc::openvino_front_end {

// Converts a model to an OpenVINO model. Its constants refer to the model's data, mostly in mapped files, and
// keep them alive. `wanted` names the outputs to keep, in order. Throws GeneralFailure if OpenVINO cannot
// express the model.
std::shared_ptr<ov::Model> Convert(const api::Model& model,
                                   const std::optional<std::vector<std::string>>& wanted);

}  // namespace nnefc::openvino_front_end
