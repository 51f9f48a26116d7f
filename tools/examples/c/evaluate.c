/* Opens a model with one input, fills it with ones, and prints the largest element of each output.
 *
 *   evaluate_c MODEL */

#include <nnefc/nnefc.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the report and frees it; returns the exit code of the program. */
static int fail(nnefc_report* report) {
  fputs(nnefc_report_text(report), stderr);
  nnefc_report_free(report);
  return 1;
}

static void print_largest(nnefc_tensor tensor) {
  const float* values = tensor.data;
  float largest = values[0];
  size_t i;
  for (i = 1; i < tensor.bytes / sizeof(float); ++i) {
    if (values[i] > largest) largest = values[i];
  }
  printf("%s: rank %zu, largest element %g\n", tensor.name, tensor.rank, largest);
}

int main(int argc, char** argv) {
  nnefc_model_options options = NNEFC_MODEL_OPTIONS_INIT;
  nnefc_model* model = NULL;
  nnefc_executable* executable = NULL;
  nnefc_session* session = NULL;
  nnefc_tensors* outputs = NULL;
  nnefc_report* report = NULL;
  nnefc_port port;
  nnefc_tensor input;
  float* ones;
  size_t volume = 1, i;

  if (argc != 2) {
    fputs("usage: evaluate_c MODEL\n", stderr);
    return 2;
  }
  /* Weights that the model lacks are random. */
  options.has_random_weights = 1;
  options.random_weights = 1;
  if (nnefc_load(argv[1], &options, &model, &report) != NNEFC_OK) return fail(report);
  nnefc_report_free(report);
  if (nnefc_compile(model, NULL, &executable, &report) != NNEFC_OK) return fail(report);
  nnefc_report_free(report);
  nnefc_open_session(executable, &session);

  port = nnefc_input(executable, 0);
  for (i = 0; i < port.rank; ++i) volume *= (size_t)port.extents[i];
  ones = malloc(volume * sizeof(float));
  for (i = 0; i < volume; ++i) ones[i] = 1.0F;
  input.name = port.name;
  input.type = "f32";
  input.rank = port.rank;
  input.extents = port.extents;
  input.data = ones;
  input.bytes = volume * sizeof(float);
  if (nnefc_run(session, &input, 1, &outputs, &report) != NNEFC_OK) return fail(report);
  nnefc_report_free(report);
  for (i = 0; i < nnefc_tensors_size(outputs); ++i) print_largest(nnefc_tensors_at(outputs, i));

  free(ones);
  nnefc_tensors_free(outputs);
  nnefc_session_free(session);
  nnefc_executable_free(executable);
  nnefc_model_free(model);
  return 0;
}
