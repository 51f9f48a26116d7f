#pragma once

#include <optional>
#include <string>

#include "compiler/driver/compilation.h"

namespace nnefc::driver {

// The texts of a model, in the ratified dialect.
struct [[nodiscard]] UpgradedTexts {
  std::string graph;
  std::optional<std::string> quantization;
};

// Upgrades the texts of an expanded model (compiler/upgrade). The texts of a ratified model are only
// formatted, and a warning reports that.
UpgradedTexts UpgradeTexts(Compilation& compilation);

// Writes the tensor files of the model's variables to `folder` in the ratified format, with the values that a
// run of the model uses. Emits errors in the data and returns false if there are any. Files without a
// variable are omitted with a warning.
ErrorOr<bool> WriteUpgradedData(Compilation& compilation, const std::string& folder);

}  // namespace nnefc::driver
