// Uses an nnefc without the runtime: checks, lints, formats, expands and lists; all else is refused with the
// reason.

#include <nnefc/model.h>

#include <string>

#include "../programs/expect.h"

namespace api = nnefc::api;

namespace {

constexpr char kDocument[] = R"(version 1.0;
graph net(x) -> (y)
{
    x = external(shape = [1, 3]);
    unused = exp(x);
    y = softmax(x, axes = [1]);
}
)";

// Expects one error of the rule for builds without the runtime.
void ExpectRefused(const api::Report& report, const char* what) {
  expect(report.error_count() == 1 && report.environment_failed() &&
             report.diagnostics().at(0).message.find("NNEFC_RUNTIME=ON") != std::string::npos,
         what);
}

void Read() {
  const api::Report wrong = api::CheckText("net.nnef", INVALID_DOCUMENT);
  expect(wrong.error_count() > 0 && !wrong.environment_failed(), "an invalid document is invalid");
  const api::Report unused = api::LintText("net.nnef", kDocument);
  expect(unused.diagnostics().size() == 1 && unused.diagnostics().at(0).rule == "lint.unused-tensor",
         "lint works");
  const auto formatted = api::Format("net.nnef", kDocument);
  expect(formatted && formatted->find("graph net( x ) -> ( y )") != std::string::npos,
         "a document is formatted");
}

void UseModel() {
  api::Outcome<api::Model> model = api::Model::FromText("net.nnef", kDocument);
  expect(static_cast<bool>(model), "the document is valid");
  if (!model) return;
  expect(model->operations().size() == 2 && model->operations().at(1).type == "softmax",
         "the operations are listed");
  expect(nnefc::Name(model->inputs().at(0).type) == "f32", "an input has a type");
  const auto flat = model->Expand({"all"});
  expect(flat && flat->find("softmax") == std::string::npos, "softmax is expanded");
  expect(model->Upgrade().value.has_value(), "the document is written");
  for (int i = 0; i < 2; ++i) {
    const auto executable = model->Compile();
    expect(!executable, "the model cannot run");
    ExpectRefused(executable.report, "the report of a run has the reason");
  }
  ExpectRefused(model->Lower().report, "the report of lowering has the reason");
  ExpectRefused(model->WriteOpenVino("net.xml"), "the report of a conversion has the reason");
}

void OpenOther() {
  ExpectRefused(api::Check("net.xml"), "OpenVINO IR is refused");
  api::ModelOptions options;
  options.extensions = {"plugin.so"};
  ExpectRefused(api::CheckText("net.nnef", kDocument, options), "plug-ins are refused");
}

}  // namespace

int main() {
  Read();
  UseModel();
  OpenOther();
  return failures == 0 ? 0 : 1;
}
