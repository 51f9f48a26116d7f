// Fix-its applied to the texts of models.

#include "tools/api/forms/fixes.h"

#include <filesystem>

#include "compiler/lint/lint_model.h"
#include "compiler/package/model_folder.h"
#include "compiler/support/files/replace_file.h"
#include "compiler/support/text/text_diff.h"
#include "fmt/format.h"

namespace nnefc::api {

driver::FixReport FixTexts(const std::string& model, driver::CompileOptions& options, bool unsafe,
                           const lint::Settings* settings) {
  driver::FixValidator validator;
  if (settings != nullptr)
    validator = [settings](driver::Compilation& compilation) { lint::LintModel(compilation, *settings); };
  driver::FixReport report = driver::FixModel(
      model, options, unsafe ? nnefc::Applicability::kUnsafe : nnefc::Applicability::kSafe, validator);
  for (const auto& [name, change] : report.changes) options.texts[name] = change.after;
  return report;
}

namespace {

// Renames the tensor files of changed labels in the folder of the document, and adds them to the fixes.
ErrorOr<Success> RenameData(driver::FixReport& report, const std::string& model) {
  const std::filesystem::path path(model);
  const std::filesystem::path folder = std::filesystem::is_directory(path) ? path : path.parent_path();
  const package::ModelFolder files(folder.empty() ? "." : folder.string());
  for (const auto& [label, stored] : report.stored_labels) {
    const ErrorOr<bool> is_renamed = files.RenameVariable(stored, label);
    if (!is_renamed) return is_renamed.error();
    if (*is_renamed)
      report.fixed.push_back(fmt::format("{}: renamed `{}.dat` to `{}.dat`", model, stored, label));
  }
  return Success{};
}

}  // namespace

ErrorOr<Success> WriteFixes(driver::FixReport& report, const std::string& path) {
  for (const auto& [name, change] : report.changes) {
    // Members of an archive have names `ARCHIVE:MEMBER` and are not files.
    if (!std::filesystem::is_directory(path) && name != path)
      return SystemError{fmt::format(
          "`{}` cannot be changed in its archive; unpack it, or see what would change with `--diff`", name)};
  }
  if (auto renamed = RenameData(report, path); !renamed) return renamed;
  for (const auto& [name, change] : report.changes) {
    if (auto written = ReplaceFile(name, change.after); !written) return written;
  }
  return Success{};
}

std::string FixesDiff(const driver::FixReport& report) {
  std::string text;
  for (const auto& [name, change] : report.changes)
    text += UnifiedDiff(change.before, change.after, name, name);
  return text;
}

std::string FixesText(const driver::FixReport& report, const std::string& model) {
  std::string text;
  for (const std::string& line : report.fixed) text += line + "\n";
  for (const std::string& line : report.refused) text += line + "\n";
  if (report.unsafe > 0)
    text += fmt::format("{}: {} unsafe fix{} not applied; `--fix --unsafe-fixes` applies {}\n", model,
                        report.unsafe, report.unsafe == 1 ? " was" : "es were",
                        report.unsafe == 1 ? "it" : "them");
  if (report.untried > 0)
    text += fmt::format("{}: {} more fix{} not tried, since checking takes long; use `--fix` once more\n",
                        model, report.untried, report.untried == 1 ? " was" : "es were");
  return text;
}

}  // namespace nnefc::api
