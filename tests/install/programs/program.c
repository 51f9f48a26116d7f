/* The same as program.cpp, in C. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nnefc/nnefc.h"

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("not so: %s\n", what);
  ++failures;
}

static const char kDocument[] =
    "version 1.0;\n"
    "graph net(x) -> (y)\n"
    "{\n"
    "    x = external<scalar>(shape = [1, 3]);\n"
    "    y = softmax(x, axes = [1]);\n"
    "}\n";

static void check_mistake(void) {
  static const char kWrong[] = "version 1.0;\ngraph g(x) -> (y)\n{\n    y = relu(x);\n}\n";
  nnefc_report* report = NULL;
  expect(nnefc_check_text("wrong.nnef", kWrong, strlen(kWrong), NULL, &report) == NNEFC_INVALID,
         "a graph whose input is not external is invalid");
  expect(nnefc_report_errors(report) > 0, "errors are counted");
  expect(strstr(nnefc_report_text(report), "wrong.nnef:") != NULL, "a report is text");
  expect(strstr(nnefc_report_json(report), "\"rule\"") != NULL, "a report is JSON");
  nnefc_report_free(report);
  expect(nnefc_check("there/is/none.nnef", NULL, NULL) == NNEFC_FAILED, "a file that is not there is told");
}

static void run_model(const nnefc_model* model) {
  const nnefc_executable_options options = {"reference", 1, 0};
  nnefc_executable* executable = NULL;
  nnefc_session* session = NULL;
  nnefc_tensors* results = NULL;
  const float values[] = {0, 1, 2};
  const int64_t extents[] = {1, 3};
  const nnefc_tensor input = {"x", "f32", 2, extents, values, sizeof(values)};
  int i;
  expect(nnefc_compile(model, &options, &executable, NULL) == NNEFC_OK, "the model is ready to run");
  if (executable == NULL) return;
  expect(nnefc_num_inputs(executable) == 1 && strcmp(nnefc_input(executable, 0).name, "x") == 0,
         "the input is `x`");
  expect(nnefc_open_session(executable, &session) == NNEFC_OK, "there is a session");
  nnefc_executable_free(executable);
  expect(nnefc_run(session, &input, 1, &results, NULL) == NNEFC_OK && nnefc_tensors_size(results) == 1,
         "the model runs");
  if (results != NULL) {
    const nnefc_tensor y = nnefc_tensors_at(results, 0);
    const double sum = exp(0) + exp(1) + exp(2);
    expect(strcmp(y.name, "y") == 0 && strcmp(y.type, "f32") == 0 && y.rank == 2, "the output is `y`");
    for (i = 0; i < 3; ++i)
      expect(fabs(((const float*)y.data)[i] - exp(i) / sum) < 1e-6, "softmax is as its formula");
    nnefc_tensors_free(results);
  }
  expect(nnefc_run(session, NULL, 0, &results, NULL) == NNEFC_INVALID && results == NULL,
         "data that lacks is told");
  nnefc_session_free(session);
}

int main(void) {
  nnefc_model* model = NULL;
  char* flat = NULL;
  expect(strlen(nnefc_version()) > 0, "there is a version");
  check_mistake();
  expect(nnefc_load_text("net.nnef", kDocument, strlen(kDocument), NULL, &model, NULL) == NNEFC_OK,
         "the document is valid");
  if (model != NULL) {
    expect(nnefc_expand(model, &flat, NULL) == NNEFC_OK && strstr(flat, "softmax") != NULL,
           "the document expands");
    nnefc_text_free(flat);
    run_model(model);
    nnefc_model_free(model);
  }
  return failures == 0 ? 0 : 1;
}
