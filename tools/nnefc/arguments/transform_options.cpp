// Options that switch transformations.

#include "tools/nnefc/arguments/transform_options.h"

#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/transformations.h"
#include "tools/nnefc/arguments/help.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"
#include "tools/nnefc/output/streams.h"

namespace nnefc::cli {

void AddTransformOptions(CLI::App& command, driver::TransformOptions& options) {
  command
      .add_option("--enable-transformations", options.enabled,
                  "run these too: ids, or names of classes such as front.MishFusion")
      ->delimiter(',')
      ->type_name("NAME,..")
      ->group(kTransformationGroup);
  command
      .add_option("--disable-transformations", options.disabled, "do not run these, whatever enables them")
      ->delimiter(',')
      ->type_name("NAME,..")
      ->group(kTransformationGroup);
  command
      .add_option("--transformations-config", options.configuration,
                  "a JSON file that says which parts of the model transformations act on, and how")
      ->type_name("FILE")
      ->group(kTransformationGroup);
}

int ListTransformations(const driver::TransformOptions& options, const CommonOptions& common) {
  Context context;
  bool environment_failed = false;
  common.plugins()->Report(context.emitter, environment_failed);
  const auto list = api::ListTransformations(options, *common.plugins(), context, environment_failed);
  const int exit_code = Reporter(common).Report("", context, environment_failed);
  if (!list || !common.plugins()->ok()) return exit_code;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  for (const api::ListedTransformation& item : *list) {
    const std::string state = item.is_anchor ? "anchor" : item.is_enabled ? "enabled" : "disabled";
    const std::string by = item.is_anchor || (item.is_enabled && item.switched_by.empty()) ? ""
                           : item.switched_by.empty()                                      ? "itself"
                                                                                           : item.switched_by;
    json.push_back(
        {{"id", item.name}, {"phase", item.phase}, {"kind", item.kind}, {"state", state}, {"by", by}});
    text += fmt::format("{:<48} {:<7} {:<40} {}{}\n", item.name, item.phase, item.kind, state,
                        by.empty() ? "" : " by " + by);
  }
  if (!common.prints_text() && common.output_format() != Format::kJson)
    throw MisuseError("`--list-transformations` prints text or JSON, not SARIF");
  RequireReportName(common.output, common.output_format());
  const bool is_json = common.output_format() == Format::kJson;
  WriteProduct(common.output,
               is_json ? nlohmann::ordered_json({{"transformations", json}}).dump(2) + "\n" : text);
  return exit_code;
}

}  // namespace nnefc::cli
