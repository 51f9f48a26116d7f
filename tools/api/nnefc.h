/* nnefc for other languages: load, check, expand, compile, run; messages as text or JSON.
 *
 * Functions return 0 if all went well, 1 if the input is invalid, 2 for misuse or a failure of the
 * environment (a file that cannot be opened, memory that is short), as the exit codes of the command line.
 * What there is to say is given through `report` unless that is null; it may hold warnings where the result
 * is 0. Texts are UTF-8 and end in NUL. What a function gives through a pointer to a pointer belongs to the
 * caller, who frees it with the function of its kind; it is null where there is none. Objects may be used by
 * several threads, but for reports and sessions: one at a time. */

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

/* "0.1.0" */
const char* nnefc_version(void);

/* Reports */

/* How many errors; also those beyond the limit of what is told. */
size_t nnefc_report_errors(const nnefc_report* report);
/* As the command line prints it. Lives as long as the report. */
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

/* Set to zero what is not wanted. */
typedef struct nnefc_model_options {
  const char* dialect; /* "auto" (also null), "provisional", "ratified" */
  const char* graph;   /* the graph to take of a document that has several */
  size_t num_input_shapes;
  const nnefc_input_shape* input_shapes; /* of external tensors, instead of the document's */
  int has_random_weights;
  uint64_t random_weights; /* the seed of data for variables that have none */
  uint64_t max_bytes;      /* bounds the unpacked size of an archive; 0: 16 GiB */
  size_t num_extensions;
  const char* const* extensions; /* paths of plug-ins */
  /* How is read what exporters write beside the specification: with warnings ("lenient"), as errors
   * ("strict"), or the first where the document bears the marks of an exporter ("auto", also null). */
  const char* reading;
  int quantize; /* each tensor that graph.quant names as soon as it is computed */
} nnefc_model_options;

/* Judges a model: a folder, an archive, a document, OpenVINO IR (.xml). `options` may be null. */
int nnefc_check(const char* path, const nnefc_model_options* options, nnefc_report** report);
/* Judges a document held in memory, which messages call `name`. */
int nnefc_check_text(const char* name, const char* text, size_t length, const nnefc_model_options* options,
                     nnefc_report** report);
int nnefc_load(const char* path, const nnefc_model_options* options, nnefc_model** model,
               nnefc_report** report);
int nnefc_load_text(const char* name, const char* text, size_t length, const nnefc_model_options* options,
                    nnefc_model** model, nnefc_report** report);
/* The model as a flat ratified document, which nnefc_text_free frees. */
int nnefc_expand(const nnefc_model* model, char** text, nnefc_report** report);
/* The document in the one style, comments included. */
int nnefc_format(const char* name, const char* text, size_t length, char** formatted, nnefc_report** report);
void nnefc_text_free(char* text);
/* Writes OpenVINO IR: `path` ends in .xml, constants go beside it (.bin). */
int nnefc_write_openvino(const nnefc_model* model, const char* path, nnefc_report** report);
void nnefc_model_free(nnefc_model* model);

/* Running */

/* Set to zero what is not wanted. */
typedef struct nnefc_executable_options {
  const char* backend;   /* "onednn" (also null), "reference" */
  int threads;           /* 0: as many as the process may use */
  uint64_t max_memory;   /* bounds the bytes of all values of a run; 0: the machine's memory */
  const char* precision; /* "f32" (also null), "exact", "bf16" (f32 where that is faster), "auto" */
  const char*
      plan_cache; /* a folder that keeps what planning takes long for, for the next processes; null: none */
  int tune; /* measures which way of each step is the fastest here, in up to a minute; a plan cache keeps it
             */
} nnefc_executable_options;

/* A dense row-major tensor in the machine's byte order. */
typedef struct nnefc_tensor {
  const char* name;
  const char* type; /* "f32", "i64", "boolean" (a byte each), ... as OpenVINO spells them */
  size_t rank;
  const int64_t* extents; /* outermost first */
  const void* data;
  size_t bytes;
} nnefc_tensor;

int nnefc_compile(const nnefc_model* model, const nnefc_executable_options* options,
                  nnefc_executable** executable, nnefc_report** report);
void nnefc_executable_free(nnefc_executable* executable);

/* An input or output; extents that are open are -1, an open rank is SIZE_MAX. Lives as long as the
 * executable. */
typedef struct nnefc_port {
  const char* name;
  const char* type;
  size_t rank;
  const int64_t* extents;
} nnefc_port;

size_t nnefc_num_inputs(const nnefc_executable* executable);
size_t nnefc_num_outputs(const nnefc_executable* executable);
/* Zeros where `index` is too large. */
nnefc_port nnefc_input(const nnefc_executable* executable, size_t index);
nnefc_port nnefc_output(const nnefc_executable* executable, size_t index);

/* A session holds the memory of its runs and the state of the graph's variables. It outlives its executable.
 */
int nnefc_open_session(const nnefc_executable* executable, nnefc_session** session);
void nnefc_session_free(nnefc_session* session);
/* Gives variables their first values again. */
void nnefc_reset_state(nnefc_session* session);
/* Runs the graph once. Inputs are known by name and copied; numbers are converted within their kind. */
int nnefc_run(nnefc_session* session, const nnefc_tensor* inputs, size_t num_inputs, nnefc_tensors** outputs,
              nnefc_report** report);

size_t nnefc_tensors_size(const nnefc_tensors* tensors);
/* In the order of their names; lives as long as `tensors`. Zeros where `index` is too large. */
nnefc_tensor nnefc_tensors_at(const nnefc_tensors* tensors, size_t index);
void nnefc_tensors_free(nnefc_tensors* tensors);

#ifdef __cplusplus
}
#endif

#endif /* NNEFC_H_ */
