// Drawings of models.

#include "tools/api/views/drawing.h"

#include "compiler/driver/stages.h"
#include "fmt/core.h"
#include "tools/api/internals.h"
#include "tools/api/views/graph_description.h"
#include "tools/api/views/graph_page.h"
#include "tools/api/views/graphviz.h"
#include "tools/api/views/measured_times.h"
#include "tools/api/views/svg.h"

namespace nnefc::api {

ErrorOr<std::string> DrawingText(DrawingForm form, const nlohmann::ordered_json& description) {
  switch (form) {
    case DrawingForm::kHtml:
      return GraphPage(description);
    case DrawingForm::kDot:
      return GraphvizText(description);
    case DrawingForm::kSvg:
      return SvgText(GraphvizText(description));
    case DrawingForm::kJson:
      break;
  }
  return description.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

ErrorOr<nlohmann::ordered_json> DescribeForDrawing(DrawingForm form, driver::Compilation& compilation,
                                                   const DrawingOptions& options,
                                                   const std::optional<ModelCosts>& costs) {
  const bool is_of_graphviz = form == DrawingForm::kDot || form == DrawingForm::kSvg;
  if (is_of_graphviz && (options.weights || !options.profile.empty()))
    return SystemError{"weights and times are drawn by a page (`.html`) or described by a `.json` only"};
  const package::ModelContainer* model = compilation.model();
  if (options.weights && model != nullptr && !model->has_weights())
    return SystemError{fmt::format("{}: the model has no data of variables, of which weights are drawn",
                                   compilation.path())};
  nlohmann::ordered_json description = costs ? DescribeLowered(compilation, *costs, options.weights)
                                             : DescribeModel(compilation, options.weights);
  if (!options.profile.empty()) {
    if (auto added = AddMeasuredTimes(options.profile, description); !added) return added.error();
  }
  return description;
}

Outcome<std::string> Model::Draw(DrawingForm form, const DrawingOptions& options) const {
  return Guard([&]() -> Outcome<std::string> {
    const bool is_lowered = options.is_of_lowered_graph();
    driver::CompileOptions compile = state_->options;
    compile.structure_only = is_lowered;
    if (!is_lowered) compile.purpose = expand::Purpose::kValidate;
    Program program(state_->path, std::move(compile));
    driver::Compilation& compilation = program.compilation();
    const bool ok = compilation.RunUntil(is_lowered ? driver::Stage::kLower : driver::Stage::kExpand);
    if (!ok) return {.value = std::nullopt, .report = TakeReport(compilation)};
    const std::optional<ModelCosts> costs = is_lowered ? CostsOf(compilation) : std::nullopt;
    if (is_lowered && !costs)
      return {.value = std::nullopt,
              .report = EnvironmentReport(fmt::format("{}: {}", state_->path, kUnknownCosts))};
    const size_t errors_of_stages = compilation.context().emitter.error_count();
    const ErrorOr<nlohmann::ordered_json> description = DescribeForDrawing(form, compilation, options, costs);
    if (!description)
      return {.value = std::nullopt, .report = EnvironmentReport(description.error().message)};
    const bool has_all_data = compilation.context().emitter.error_count() == errors_of_stages;
    Outcome<std::string> outcome;
    outcome.report = TakeReport(compilation);
    if (!has_all_data) return outcome;
    ErrorOr<std::string> text = DrawingText(form, *description);
    if (text)
      outcome.value = std::move(*text);
    else
      outcome.report = EnvironmentReport(text.error().message);
    return outcome;
  });
}

}  // namespace nnefc::api
