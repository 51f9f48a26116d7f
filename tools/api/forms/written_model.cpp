// Models written as folders of NNEF files.

#include "tools/api/forms/written_model.h"

#include "compiler/driver/data/write_variables.h"
#include "compiler/package/members.h"
#include "compiler/package/model_folder.h"

namespace nnefc::api {

void SetUpgradeOptions(driver::CompileOptions& options) {
  options.keep_instances = true;
  options.purpose = expand::Purpose::kPrint;
  options.open.reads_data = true;
}

UpgradedModel UpgradeModel(Program& program) {
  driver::Compilation& compilation = program.compilation();
  return {.texts = driver::UpgradeTexts(compilation),
          .is_document = compilation.context().sources.Name(compilation.graph_text()) == compilation.path()};
}

ErrorOr<Success> WriteTexts(const driver::UpgradedTexts& texts, const std::string& folder) {
  const package::ModelFolder files(folder);
  if (auto written = files.WriteText(package::kGraphFile, texts.graph); !written) return written;
  if (!texts.quantization) return Success{};
  return files.WriteText(package::kQuantizationFile, *texts.quantization);
}

ErrorOr<bool> WriteUpgradedModel(Program& program, const driver::UpgradedTexts& texts,
                                 const std::string& path, Existing existing) {
  return WriteFolderOrArchive(path, existing, [&](const std::string& folder) -> ErrorOr<bool> {
    if (auto written = WriteTexts(texts, folder); !written) return written.error();
    return driver::WriteUpgradedData(program.compilation(), folder);
  });
}

ErrorOr<Success> WriteModelWithData(Program& program, std::optional<uint64_t> seed, const std::string& path) {
  driver::Compilation& compilation = program.compilation();
  const auto write = [&](const std::string& folder) -> ErrorOr<bool> {
    const std::string text(compilation.context().sources.Text(compilation.graph_text()));
    if (auto written = WriteTexts({.graph = text, .quantization = std::nullopt}, folder); !written)
      return written.error();
    driver::VariableStore variables(*compilation.model(), *compilation.expanded(),
                                    compilation.quantization().table, seed, compilation.context());
    if (auto written =
            driver::WriteVariables(*compilation.expanded(), variables, driver::LabelsOf::kSource, folder);
        !written)
      return written.error();
    return true;
  };
  if (auto written = WriteFolder(path, Existing::kRefuse, write); !written) return written.error();
  return Success{};
}

}  // namespace nnefc::api
