// The output of the difference between two graphs.

#include "tools/nnefc/output/difference_report.h"

#include <filesystem>
#include <string>

#include "fmt/format.h"
#include "tools/api/differences/difference_page.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const DifferenceReport& report, bool is_quiet) {
  const api::ModelDifference& difference = report.difference;
  std::string text = "no difference\n";
  if (!difference.empty())
    text = fmt::format("--- {}\n+++ {}\n", report.before.name, report.after.name) +
           api::DifferenceText(difference, report.before, report.after);
  if (!difference.renamed.empty() && !is_quiet)
    text += fmt::format("{} matched operation{} another name\n", difference.renamed.size(),
                        difference.renamed.size() == 1 ? " has" : "s have");
  if (!difference.without_data.empty())
    text +=
        fmt::format("{} variable{} data in one model only; data of these are not compared\n",
                    difference.without_data.size(), difference.without_data.size() == 1 ? " has" : "s have");
  return report.outputs == nullptr ? text : text + report.outputs->text;
}

std::string JsonOf(const DifferenceReport& report) {
  Json json = api::DifferenceJson(report.difference, report.before, report.after);
  if (report.outputs != nullptr) json["values"] = report.outputs->json;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

DifferenceForm DifferenceFormOf(const CommonOptions& options) {
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (extension == ".html") return DifferenceForm::kPage;
  return extension == ".json" || !options.prints_text() ? DifferenceForm::kJson : DifferenceForm::kText;
}

void WriteDifference(const DifferenceReport& report, const CommonOptions& options) {
  switch (DifferenceFormOf(options)) {
    case DifferenceForm::kText:
      return WriteProduct(options.output, TextOf(report, options.quiet));
    case DifferenceForm::kJson:
      return WriteProduct(options.output, JsonOf(report));
    case DifferenceForm::kPage:
      return WriteProduct(options.output,
                          api::DifferencePage(report.difference, report.before, report.after, report.outputs,
                                              report.describe_before(), report.describe_after()));
  }
}

}  // namespace nnefc::cli
