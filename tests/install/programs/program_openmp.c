/* A program with its own OpenMP loops, which must work next to a model that runs on threads of nnefc. */

#include <omp.h>
#include <string.h>

#include "expect.h"
#include "nnefc/nnefc.h"

static const char kDocument[] =
    "version 1.0;\n"
    "graph net(x) -> (y)\n"
    "{\n"
    "    x = external<scalar>(shape = [1, 32, 64, 64]);\n"
    "    y = max_pool(x, size = [1, 1, 3, 3]);\n"
    "}\n";

static float values[32 * 64 * 64];

static void loop(void) {
  long sum = 0;
  int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  {
    int i;
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for schedule(dynamic)
    for (i = 0; i < 1000; ++i) sum += i;
  }
  expect(threads == 4, "the loop has its four threads");
  expect(sum == 499500, "the loop adds up");
  expect(!omp_in_parallel() && omp_get_num_threads() == 1, "the loop is over");
}

static void run_model(const nnefc_model* model) {
  nnefc_executable_options options = NNEFC_EXECUTABLE_OPTIONS_INIT;
  const int64_t extents[] = {1, 32, 64, 64};
  const nnefc_tensor input = {"x", "f32", 4, extents, values, sizeof(values)};
  nnefc_executable* executable = NULL;
  nnefc_session* session = NULL;
  nnefc_tensors* results = NULL;
  options.backend = "fast";
  options.threads = 3;
  expect(nnefc_compile(model, &options, &executable, NULL) == NNEFC_OK, "the model is ready to run");
  if (executable == NULL || nnefc_open_session(executable, &session) != NNEFC_OK) return;
  expect(nnefc_run(session, &input, 1, &results, NULL) == NNEFC_OK, "the model runs");
  nnefc_tensors_free(results);
  nnefc_session_free(session);
  nnefc_executable_free(executable);
}

int main(void) {
  nnefc_model* model = NULL;
  loop();
  expect(nnefc_load_text("net.nnef", kDocument, strlen(kDocument), NULL, &model, NULL) == NNEFC_OK,
         "the document is valid");
  if (model != NULL) run_model(model);
  nnefc_model_free(model);
  loop();
  return failures == 0 ? 0 : 1;
}
