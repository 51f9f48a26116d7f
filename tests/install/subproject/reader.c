/* Uses an nnefc without the runtime, in C. */

#include <nnefc/nnefc.h>
#include <string.h>

#include "../programs/expect.h"

static const char kDocument[] =
    "version 1.0;\n"
    "graph net(x) -> (y)\n"
    "{\n"
    "    x = external(shape = [1, 3]);\n"
    "    y = relu(x);\n"
    "}\n";

int main(void) {
  nnefc_model* model = NULL;
  nnefc_executable* executable = NULL;
  nnefc_report* report = NULL;
  char* flat = NULL;
  expect(nnefc_load_text("net.nnef", kDocument, strlen(kDocument), NULL, &model, NULL) == NNEFC_OK,
         "the document is valid");
  if (model == NULL) return 1;
  expect(nnefc_expand(model, &flat, NULL) == NNEFC_OK && strstr(flat, "relu") != NULL,
         "the document expands");
  nnefc_text_free(flat);
  expect(nnefc_compile(model, NULL, &executable, &report) == NNEFC_FAILED && executable == NULL,
         "the model cannot run");
  expect(strstr(nnefc_report_text(report), "NNEFC_RUNTIME=ON") != NULL, "the report has the reason");
  expect(strstr(nnefc_report_text(report), "[driver.no-runtime]") != NULL, "the report has the rule");
  nnefc_report_free(report);
  nnefc_model_free(model);
  return failures == 0 ? 0 : 1;
}
