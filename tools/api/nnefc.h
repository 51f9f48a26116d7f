/* The C interface of nnefc: check, lint, format, load, expand, upgrade, save, compile, run, profile; messages
 * as text or JSON.
 *
 * Functions return 0 for success, 1 for invalid input, and 2 for misuse or a failure of the environment (a
 * file that cannot be opened, out of memory), like the exit codes of the command line. `report` receives the
 * diagnostics unless it is null; it may contain warnings if the result is 0. Texts are NUL-terminated UTF-8.
 * The caller owns objects returned through a pointer to a pointer, and frees them with the function of their
 * type; the pointer is null if there is no result. Objects are thread-safe, except reports and sessions.
 *
 * Structs that begin with `size` may get members at their end in later versions. Set `size` to the size of
 * the struct that the program was compiled with, for instance by the struct's NNEFC_..._INIT, and all unused
 * members to zero. A program that was compiled with an older header works with a newer library. With an older
 * library it works if the members that this library lacks are zero; otherwise functions return NNEFC_FAILED.
 * Other structs stay as they are. */

#ifndef NNEFC_H_
#define NNEFC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NNEFC_OK = 0, NNEFC_INVALID = 1, NNEFC_FAILED = 2 };

typedef struct nnefc_report nnefc_report;
typedef struct nnefc_model nnefc_model;
typedef struct nnefc_executable nnefc_executable;
typedef struct nnefc_session nnefc_session;
typedef struct nnefc_tensors nnefc_tensors;

/* Returns the version, such as "0.1.0". */
const char* nnefc_version(void);

/* Reports */

/* Returns the number of errors, including those beyond the limit of reported ones. */
size_t nnefc_report_errors(const nnefc_report* report);
/* Returns the text that the command line prints. Valid as long as the report. */
const char* nnefc_report_text(nnefc_report* report);
/* {"diagnostics": [{"severity", "rule", "section", "message", "file", "line", "column", ..., "notes",
 * "fixes"}]} */
const char* nnefc_report_json(nnefc_report* report);
void nnefc_report_free(nnefc_report* report);

/* Models */

typedef struct nnefc_input_shape {
  const char* name;
  size_t rank;
  const int64_t* extents;
} nnefc_input_shape;

typedef struct nnefc_model_options {
  size_t size;         /* sizeof(nnefc_model_options) */
  const char* dialect; /* "auto" (also null), "provisional", "ratified" */
  const char* graph;   /* the graph to use if a document has several */
  size_t num_input_shapes;
  const nnefc_input_shape* input_shapes; /* overrides for external tensors */
  int has_random_weights;
  uint64_t random_weights; /* seed of data for variables without data */
  uint64_t max_bytes;      /* limit on the unpacked size of an archive; 0: 16 GiB */
  size_t num_extensions;
  const char* const* extensions; /* paths of plug-ins */
  /* The treatment of deviations from the specification by known exporters: warnings ("lenient"), errors
   * ("strict"), or warnings if the document was written by such an exporter ("auto", also null). */
  const char* reading;
  int quantize; /* quantizes each tensor in graph.quant as soon as it is computed */
} nnefc_model_options;
#define NNEFC_MODEL_OPTIONS_INIT \
  { sizeof(nnefc_model_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Checks a model: a folder, an archive, a document, OpenVINO IR (.xml). `options` may be null. */
int nnefc_check(const char* path, const nnefc_model_options* options, nnefc_report** report);
/* Checks a document in memory; messages use `name` as its file name. */
int nnefc_check_text(const char* name, const char* text, size_t length, const nnefc_model_options* options,
                     nnefc_report** report);
int nnefc_load(const char* path, const nnefc_model_options* options, nnefc_model** model,
               nnefc_report** report);
int nnefc_load_text(const char* name, const char* text, size_t length, const nnefc_model_options* options,
                    nnefc_model** model, nnefc_report** report);

/* The level of a lint rule: "error", "warning" or "note". */
typedef struct nnefc_lint_level {
  const char* rule;
  const char* level;
} nnefc_lint_level;

/* Rules are labels, with or without `lint.`, or "all". */
typedef struct nnefc_lint_options {
  size_t size; /* sizeof(nnefc_lint_options) */
  size_t num_enabled;
  const char* const* enabled;
  size_t num_disabled;
  const char* const* disabled;
  size_t num_levels;
  const nnefc_lint_level* levels;
  /* The configuration file; null: the nearest .nnefc.json in the document's folder or its ancestors (not for
   * texts), unless `ignores_configurations` is set. */
  const char* configuration;
  int ignores_configurations;
} nnefc_lint_options;
#define NNEFC_LINT_OPTIONS_INIT \
  { sizeof(nnefc_lint_options), 0, 0, 0, 0, 0, 0, 0, 0 }

/* Checks a model, and reports constructs that are valid but deprecated, unused or surprising. Both options
 * may be null. */
int nnefc_lint(const char* path, const nnefc_lint_options* lint, const nnefc_model_options* options,
               nnefc_report** report);
int nnefc_lint_text(const char* name, const char* text, size_t length, const nnefc_lint_options* lint,
                    const nnefc_model_options* options, nnefc_report** report);
/* Returns the model as a ratified document, with comments and fragments as far as that dialect can express
 * them. To be freed with nnefc_text_free. */
int nnefc_upgrade(const nnefc_model* model, char** text, nnefc_report** report);
/* Writes the ratified document, its `graph.quant` and the tensor files of variables to an existing folder. */
int nnefc_save(const nnefc_model* model, const char* folder, nnefc_report** report);
/* Returns the model as a flat ratified document, to be freed with nnefc_text_free. */
int nnefc_expand(const nnefc_model* model, char** text, nnefc_report** report);
/* Returns the document in canonical style, with comments. */
int nnefc_format(const char* name, const char* text, size_t length, char** formatted, nnefc_report** report);
void nnefc_text_free(char* text);
/* Writes OpenVINO IR. `path` ends in .xml; constants are written next to it (.bin). */
int nnefc_write_openvino(const nnefc_model* model, const char* path, nnefc_report** report);
void nnefc_model_free(nnefc_model* model);

/* Running */

typedef struct nnefc_executable_options {
  size_t size;            /* sizeof(nnefc_executable_options) */
  const char* backend;    /* "fast" (also null or "onednn"), "reference" */
  int threads;            /* 0: all that the process may use */
  uint64_t max_memory;    /* limit on the bytes of all values of a run; 0: the machine's memory */
  const char* precision;  /* "f32" (also null), "exact", "bf16" (f32 where that is faster), "auto" */
  const char* plan_cache; /* a folder that caches planning results for later processes; null: none */
  int tune; /* benchmarks the algorithms of each step for up to a minute; a plan cache stores the choices */
} nnefc_executable_options;
#define NNEFC_EXECUTABLE_OPTIONS_INIT \
  { sizeof(nnefc_executable_options), 0, 0, 0, 0, 0, 0 }

/* A dense row-major tensor in native byte order. */
typedef struct nnefc_tensor {
  const char* name;
  const char* type; /* "f32", "i64", "boolean" (a byte each), ... in OpenVINO's spelling */
  size_t rank;
  const int64_t* extents; /* outermost first */
  const void* data;
  size_t bytes;
} nnefc_tensor;

int nnefc_compile(const nnefc_model* model, const nnefc_executable_options* options,
                  nnefc_executable** executable, nnefc_report** report);
void nnefc_executable_free(nnefc_executable* executable);

/* An input or output. Unknown extents are -1; an unknown rank is SIZE_MAX. Valid as long as the executable.
 */
typedef struct nnefc_port {
  const char* name;
  const char* type;
  size_t rank;
  const int64_t* extents;
} nnefc_port;

size_t nnefc_num_inputs(const nnefc_executable* executable);
size_t nnefc_num_outputs(const nnefc_executable* executable);
/* Returns zeros if `index` is out of range. */
nnefc_port nnefc_input(const nnefc_executable* executable, size_t index);
nnefc_port nnefc_output(const nnefc_executable* executable, size_t index);

/* Opens a session, which owns the memory of its runs and the states of variables. It may outlive its
 * executable. */
int nnefc_open_session(const nnefc_executable* executable, nnefc_session** session);
void nnefc_session_free(nnefc_session* session);
/* Resets variables to their initial values. */
void nnefc_reset_state(nnefc_session* session);
/* Runs the graph once. Inputs are identified by name and copied; numbers are converted within their kind. */
int nnefc_run(nnefc_session* session, const nnefc_tensor* inputs, size_t num_inputs, nnefc_tensors** outputs,
              nnefc_report** report);

/* The time of one step in the last run of a session. */
typedef struct nnefc_step_time {
  size_t size; /* sizeof(nnefc_step_time), set by the caller */
  const char* name;
  const char* operation; /* "Convolution+ReLU" */
  const char* kernel;
  double milliseconds;
  double operations; /* arithmetic operations; a multiply-add counts as two */
  double bytes;      /* size of inputs and outputs */
} nnefc_step_time;
#define NNEFC_STEP_TIME_INIT \
  { sizeof(nnefc_step_time), 0, 0, 0, 0, 0, 0 }

/* Turns recording of the time of each step on (not 0) or off. */
void nnefc_enable_profile(nnefc_session* session, int on);
/* Reads the profile of the last run and returns the number of its steps. */
size_t nnefc_profile_size(nnefc_session* session);
/* Fills in a step of the profile that nnefc_profile_size has read; its texts are valid until the next call of
 * that function. */
int nnefc_profile_at(const nnefc_session* session, size_t index, nnefc_step_time* step);

size_t nnefc_tensors_size(const nnefc_tensors* tensors);
/* Returns tensors in the order of their names, valid as long as `tensors`; zeros if `index` is out of range.
 */
nnefc_tensor nnefc_tensors_at(const nnefc_tensors* tensors, size_t index);
void nnefc_tensors_free(nnefc_tensors* tensors);

#ifdef __cplusplus
}
#endif

#endif /* NNEFC_H_ */
