/* The same as program.cpp, in C. */

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "expect.h"
#include "nnefc/nnefc.h"

static const char kDocument[] =
    "version 1.0;\n"
    "graph net(x) -> (y)\n"
    "{\n"
    "    x = external<scalar>(shape = [1, 3]);\n"
    "    y = softmax(x, axes = [1]);\n"
    "}\n";

static void check_mistake(void) {
  nnefc_report* report = NULL;
  expect(nnefc_check_text("wrong.nnef", INVALID_DOCUMENT, strlen(INVALID_DOCUMENT), NULL, &report) ==
             NNEFC_INVALID,
         "a graph whose input is not external is invalid");
  expect(nnefc_report_errors(report) > 0, "errors are counted");
  expect(strstr(nnefc_report_text(report), "wrong.nnef:") != NULL, "a report is text");
  expect(strstr(nnefc_report_json(report), "\"rule\"") != NULL, "a report is JSON");
  nnefc_report_free(report);
  expect(nnefc_check("there/is/none.nnef", NULL, NULL) == NNEFC_FAILED, "a file that is not there is told");
}

static const char kOld[] =
    "version 1.0\n"
    "graph net(x) -> (y)\n"
    "{\n"
    "    x = external(shape = [1, 3]);\n"
    "    unused = exp(x);\n"
    "    y = relu(x);\n"
    "}\n";

static void lint_model(void) {
  static const char* const kDisabled[] = {"lint.unused-tensor"};
  static const nnefc_lint_level kLevels[] = {{"unused-tensor", "error"}};
  nnefc_lint_options lint = NNEFC_LINT_OPTIONS_INIT;
  nnefc_report* report = NULL;
  expect(nnefc_lint_text("old.nnef", kOld, strlen(kOld), NULL, NULL, &report) == NNEFC_OK,
         "findings are warnings");
  expect(strstr(nnefc_report_text(report), "[lint.unused-tensor]") != NULL, "an unused tensor is found");
  nnefc_report_free(report);
  lint.num_levels = 1;
  lint.levels = kLevels;
  expect(nnefc_lint_text("old.nnef", kOld, strlen(kOld), &lint, NULL, NULL) == NNEFC_INVALID,
         "the level is an error");
  lint.num_levels = 0;
  lint.num_disabled = 1;
  lint.disabled = kDisabled;
  expect(nnefc_lint_text("old.nnef", kOld, strlen(kOld), &lint, NULL, &report) == NNEFC_OK &&
             strstr(nnefc_report_text(report), "unused") == NULL,
         "a disabled rule finds nothing");
  nnefc_report_free(report);
  lint.size = offsetof(nnefc_lint_options, ignores_configurations);
  expect(nnefc_lint_text("old.nnef", kOld, strlen(kOld), &lint, NULL, NULL) == NNEFC_FAILED,
         "the struct is too small");
  expect(nnefc_lint("there/is/none.nnef", NULL, NULL, NULL) == NNEFC_FAILED,
         "a file that does not exist is reported");
}

static void upgrade_model(const char* folder) {
  nnefc_model* model = NULL;
  nnefc_report* report = NULL;
  char* text = NULL;
  expect(nnefc_load_text("old.nnef", kOld, strlen(kOld), NULL, &model, NULL) == NNEFC_OK,
         "the document is valid");
  if (model == NULL) return;
  expect(nnefc_upgrade(model, &text, NULL) == NNEFC_OK && strncmp(text, "version 1.0;\n", 13) == 0,
         "the document becomes a ratified one");
  nnefc_text_free(text);
  expect(nnefc_save(model, NULL, NULL) == NNEFC_FAILED, "a folder is needed");
  expect(nnefc_save(model, "there/is/none", &report) == NNEFC_FAILED && nnefc_report_errors(report) == 1,
         "a folder that does not exist is reported");
  nnefc_report_free(report);
  expect(nnefc_save(model, folder, NULL) == NNEFC_OK, "the model is saved");
  nnefc_model_free(model);
  expect(nnefc_check(folder, NULL, NULL) == NNEFC_OK, "the saved model is valid");
}

/* Options of a later version, which has one more member. */
static void check_sizes(void) {
  struct {
    nnefc_model_options known;
    int64_t later;
  } options;
  memset(&options, 0, sizeof(options));
  options.known.size = sizeof(options);
  options.known.dialect = "ratified";
  expect(nnefc_check_text("net.nnef", kDocument, strlen(kDocument), &options.known, NULL) == NNEFC_OK,
         "an unknown member that is zero has no effect");
  options.later = 1;
  expect(nnefc_check_text("net.nnef", kDocument, strlen(kDocument), &options.known, NULL) == NNEFC_FAILED,
         "an unknown member that is set fails");
  options.known.size = sizeof(nnefc_model_options);
  expect(nnefc_check_text("net.nnef", kDocument, strlen(kDocument), &options.known, NULL) == NNEFC_OK,
         "bytes beyond the size are not read");
  options.known.dialect = "provisional";
  expect(nnefc_check_text("net.nnef", kDocument, strlen(kDocument), &options.known, NULL) == NNEFC_INVALID,
         "options have an effect");
  options.known.size = offsetof(nnefc_model_options, quantize) + sizeof(int) - 1;
  expect(nnefc_check_text("net.nnef", kDocument, strlen(kDocument), &options.known, NULL) == NNEFC_FAILED,
         "a size below that of the first version fails");
  options.known.size = 0;
  expect(nnefc_check_text("net.nnef", kDocument, strlen(kDocument), &options.known, NULL) == NNEFC_FAILED,
         "a struct without size fails");
}

static void check_profile(nnefc_session* session, const nnefc_tensor* input) {
  struct {
    nnefc_step_time known;
    int64_t later;
  } step = {NNEFC_STEP_TIME_INIT, 1};
  nnefc_tensors* results = NULL;
  expect(nnefc_profile_size(session) == 0, "runs are not profiled by default");
  nnefc_enable_profile(session, 1);
  expect(nnefc_run(session, input, 1, &results, NULL) == NNEFC_OK, "the model runs with a profile");
  nnefc_tensors_free(results);
  expect(nnefc_profile_size(session) > 0, "the profile has steps");
  expect(nnefc_profile_at(session, nnefc_profile_size(session), &step.known) == NNEFC_FAILED,
         "the index is too large");
  step.known.size = sizeof(nnefc_step_time) - 1;
  expect(nnefc_profile_at(session, 0, &step.known) == NNEFC_FAILED, "the struct is too small");
  step.known.size = sizeof(step);
  expect(nnefc_profile_at(session, 0, &step.known) == NNEFC_OK, "the struct of a later version is filled in");
  expect(step.known.size == sizeof(step) && step.later == 0, "unknown members are zero");
  expect(strlen(step.known.operation) > 0 && strstr(step.known.kernel, "reference") != NULL &&
             step.known.milliseconds >= 0 && step.known.bytes > 0,
         "a step has an operation, a kernel, a time and a size");
}

static void run_model(const nnefc_model* model) {
  nnefc_executable_options options = NNEFC_EXECUTABLE_OPTIONS_INIT;
  nnefc_executable_options small = NNEFC_EXECUTABLE_OPTIONS_INIT;
  nnefc_executable* executable = NULL;
  nnefc_session* session = NULL;
  nnefc_tensors* results = NULL;
  const float values[] = {0, 1, 2};
  const int64_t extents[] = {1, 3};
  const nnefc_tensor input = {"x", "f32", 2, extents, values, sizeof(values)};
  int i;
  options.backend = "reference";
  options.threads = 1;
  small.size = offsetof(nnefc_executable_options, tune);
  expect(nnefc_compile(model, &small, &executable, NULL) == NNEFC_FAILED && executable == NULL,
         "a size below that of the first version fails");
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
         "missing data is an error");
  check_profile(session, &input);
  nnefc_session_free(session);
}

/* program_c FOLDER: FOLDER is empty. */
int main(int argc, char** argv) {
  nnefc_model* model = NULL;
  char* flat = NULL;
  expect(strlen(nnefc_version()) > 0, "there is a version");
  check_mistake();
  check_sizes();
  lint_model();
  expect(argc == 2, "there is a folder");
  if (argc == 2) upgrade_model(argv[1]);
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
