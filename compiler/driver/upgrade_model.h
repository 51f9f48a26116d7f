#pragma once

#include <optional>
#include <string>

#include "compiler/driver/compilation.h"

namespace nnefc {

// The texts of a model in the ratified dialect.
struct [[nodiscard]] UpgradedTexts {
  std::string graph;
  std::optional<std::string> quantization;
};

// Upgrades the texts of a model that was expanded (compiler/upgrade). Of a
// ratified one they are formatted, which a warning tells.
UpgradedTexts UpgradeTexts(Compilation& compilation);

// Writes the tensor files of the model's variables to `folder` in the ratified
// format, with the values that a run of the model sees. Mistakes in the data
// are emitted; false if there were some. Files of no variable are left out,
// which warnings tell.
ErrorOr<bool> WriteUpgradedData(Compilation& compilation, const std::string& folder);

}  // namespace nnefc
