// Checks, expands, compiles and runs a model through the installed package; exit code 1 means an unexpected
// result.

#include <cmath>
#include <string>

#include "expect.h"
#include "nnefc/model.h"

namespace api = nnefc::api;

namespace {

constexpr char kDocument[] = R"(version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 3]);
    y = softmax(x, axes = [1]);
}
)";

void CheckMistake() {
  const api::Report report = api::CheckText("wrong.nnef", INVALID_DOCUMENT);
  expect(!report.ok() && report.error_count() > 0, "a graph whose input is not external is invalid");
  const api::Diagnostic& first = report.diagnostics().at(0);
  expect(!first.rule.empty() && !first.section.empty() && !first.message.empty(),
         "a diagnostic names its rule");
  expect(first.place.file == "wrong.nnef" && first.place.line > 1, "a diagnostic has a place");
  expect(report.ToText().find("wrong.nnef:") == 0, "a report is text");
  expect(report.ToJson().find("\"diagnostics\"") != std::string::npos, "a report is JSON");
}

void CheckModel() {
  api::Outcome<api::Model> model = api::Model::FromText("net.nnef", kDocument);
  expect(static_cast<bool>(model) && model.report.ok(), "the document is valid");
  if (!model) return;
  expect(model->inputs().size() == 1 && model->inputs()[0].name == "x", "the input is `x`");
  api::Outcome<std::string> flat = model->Expand({"all"});
  expect(flat && flat->find("softmax") == std::string::npos, "softmax is expanded");

  api::Outcome<api::Executable> executable =
      model->Compile({.backend = api::Backend::kReference, .threads = 1});
  expect(static_cast<bool>(executable), "the model is ready to run");
  if (!executable) return;
  const float values[] = {0, 1, 2};
  api::Outcome<api::Tensors> results = executable->Run({{"x", *api::Tensor::Copy({1, 3}, values)}});
  expect(static_cast<bool>(results), "the model runs");
  if (!results) return;
  const double sum = std::exp(0.0) + std::exp(1.0) + std::exp(2.0);
  for (int i = 0; i < 3; ++i)
    expect(std::abs(results->at("y").ElementAsDouble(i) - std::exp(i) / sum) < 1e-6,
           "softmax is as its formula");
  api::Outcome<api::Tensors> none = executable->Run({});
  expect(!none && none.report.diagnostics().at(0).rule == "input.missing", "missing data is an error");
}

}  // namespace

int main() {
  expect(!api::Version().empty(), "there is a version");
  CheckMistake();
  CheckModel();
  return failures == 0 ? 0 : 1;
}
