#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/driver/stages/upgrade_model.h"
#include "tools/api/forms/output_folder.h"
#include "tools/api/program.h"

namespace nnefc::api {

// Sets the options for a model whose document and data are written in the ratified dialect.
void SetUpgradeOptions(driver::CompileOptions& options);

// The texts of an expanded model in the ratified dialect. A model that is one document has no other files.
struct UpgradedModel {
  driver::UpgradedTexts texts;
  bool is_document = false;
};
UpgradedModel UpgradeModel(Program& program);

// Writes `graph.nnef` and `graph.quant` to an existing folder.
ErrorOr<Success> WriteTexts(const driver::UpgradedTexts& texts, const std::string& folder);

// Writes the texts of an upgraded or flat model and its tensor files to a new folder or archive, with the
// values that a run uses. Emits errors in the data and returns false if there are any.
ErrorOr<bool> WriteUpgradedModel(Program& program, const driver::UpgradedTexts& texts,
                                 const std::string& path, Existing existing);

// Writes the document of an expanded model to a new folder, with the data of all its variables: those of the
// model, or else random ones of the seed.
ErrorOr<Success> WriteModelWithData(Program& program, std::optional<uint64_t> seed, const std::string& path);

}  // namespace nnefc::api
