// Drawings of models.

#include "tools/api/views/drawing.h"

#include "compiler/driver/stages.h"
#include "fmt/core.h"
#include "tools/api/internals.h"
#include "tools/api/views/graph_description.h"
#include "tools/api/views/graph_page.h"
#include "tools/api/views/graphviz.h"
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

Outcome<std::string> Model::Draw(DrawingForm form, bool with_costs) const {
  return Guard([&]() -> Outcome<std::string> {
    driver::CompileOptions options = state_->options;
    options.structure_only = with_costs;
    if (!with_costs) options.purpose = expand::Purpose::kValidate;
    Program program(state_->path, std::move(options));
    driver::Compilation& compilation = program.compilation();
    const bool ok = compilation.RunUntil(with_costs ? driver::Stage::kLower : driver::Stage::kExpand);
    Outcome<std::string> outcome;
    outcome.report = TakeReport(compilation);
    if (!ok) return outcome;
    nlohmann::ordered_json description;
    if (!with_costs) {
      description = DescribeModel(compilation);
    } else if (const std::optional<ModelCosts> costs = CostsOf(compilation)) {
      description = DescribeLowered(compilation, *costs);
    } else {
      outcome.report = EnvironmentReport(fmt::format("{}: {}", state_->path, kUnknownCosts));
      return outcome;
    }
    ErrorOr<std::string> text = DrawingText(form, description);
    if (text)
      outcome.value = std::move(*text);
    else
      outcome.report = EnvironmentReport(text.error().message);
    return outcome;
  });
}

}  // namespace nnefc::api
