// The C interface (nnefc.h), a wrapper of the C++ interface in this folder. The structs that C knows by
// pointer own C++ objects. Misuse, such as an unknown dialect in the options, returns NNEFC_FAILED without a
// report.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tools/api/model.h"
#include "tools/api/nnefc.h"

namespace api = nnefc::api;

struct nnefc_report {
  api::Report report;
  std::string text;
  std::string json;
};

struct nnefc_model {
  api::Model model;
};

struct nnefc_executable {
  api::Executable executable;
};

struct nnefc_session {
  api::Session session;
  std::vector<api::StepTime> profile;
};

struct nnefc_tensors {
  struct Item {
    std::string name;
    std::string type;
    api::Tensor tensor;
  };
  std::vector<Item> items;
};

namespace {

// Passes the report to the caller, if requested. Returns the result code of the report.
int Finish(api::Report report, nnefc_report** given) {
  const int result = report.environment_failed() ? NNEFC_FAILED : report.ok() ? NNEFC_OK : NNEFC_INVALID;
  if (given != nullptr) *given = new nnefc_report{std::move(report), {}, {}};
  return result;
}

// Clears the caller's pointer to a report, if any, and returns the result of `work`. Lack of memory is
// NNEFC_FAILED, because exceptions must not reach callers in C.
template <typename Work>
int Enter(nnefc_report** report, Work work) {
  if (report != nullptr) *report = nullptr;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return NNEFC_FAILED;
  }
}

// The ends of the last members in version 0.1. Members of later versions begin after the padding that
// follows, because padding in a caller's struct may have any value.
constexpr size_t kModelOptionsSize = offsetof(nnefc_model_options, quantize) + sizeof(int);
constexpr size_t kLintOptionsSize = offsetof(nnefc_lint_options, ignores_configurations) + sizeof(int);
constexpr size_t kExecutableOptionsSize = offsetof(nnefc_executable_options, tune) + sizeof(int);
constexpr size_t kStepTimeSize = sizeof(nnefc_step_time);

// Returns a copy of a struct that starts with its size, as this version knows it: members that the caller
// does not know are zero. Returns nothing if the size is below `min_size`, or a member that this version does
// not know is set.
template <typename Struct>
std::optional<Struct> ToKnown(const Struct& given, size_t min_size) {
  const size_t size = given.size;
  if (size < min_size) return std::nullopt;
  const char* bytes = reinterpret_cast<const char*>(&given);
  if (size > sizeof(Struct) &&
      std::any_of(bytes + sizeof(Struct), bytes + size, [](char byte) { return byte != 0; }))
    return std::nullopt;
  Struct known = {};
  std::memcpy(&known, bytes, std::min(size, sizeof(Struct)));
  known.size = sizeof(Struct);
  return known;
}

// Converts options; null has the defaults. Returns nothing if a name is unknown or the size does not fit.
std::optional<api::ModelOptions> ToOptions(const nnefc_model_options* passed) {
  api::ModelOptions options;
  if (passed == nullptr) return options;
  const std::optional<nnefc_model_options> given = ToKnown(*passed, kModelOptionsSize);
  if (!given) return std::nullopt;
  const std::string dialect = given->dialect == nullptr ? "auto" : given->dialect;
  if (dialect == "provisional") {
    options.dialect = api::Dialect::kProvisional;
  } else if (dialect == "ratified") {
    options.dialect = api::Dialect::kRatified;
  } else if (dialect != "auto") {
    return std::nullopt;
  }
  const std::string reading = given->reading == nullptr ? "auto" : given->reading;
  if (reading == "strict") {
    options.reading = api::Reading::kStrict;
  } else if (reading == "lenient") {
    options.reading = api::Reading::kLenient;
  } else if (reading != "auto") {
    return std::nullopt;
  }
  if (given->graph != nullptr) options.graph = given->graph;
  for (size_t i = 0; i < given->num_input_shapes; ++i) {
    const nnefc_input_shape& shape = given->input_shapes[i];
    options.input_shapes[shape.name].assign(shape.extents, shape.extents + shape.rank);
  }
  if (given->has_random_weights != 0) options.random_weights = given->random_weights;
  options.quantize = given->quantize != 0;
  if (given->max_bytes != 0) options.max_bytes = given->max_bytes;
  options.extensions.assign(given->extensions, given->extensions + given->num_extensions);
  return options;
}

std::optional<api::LintOptions> ToLintOptions(const nnefc_lint_options* passed) {
  api::LintOptions options;
  if (passed == nullptr) return options;
  const std::optional<nnefc_lint_options> given = ToKnown(*passed, kLintOptionsSize);
  if (!given) return std::nullopt;
  options.enabled.assign(given->enabled, given->enabled + given->num_enabled);
  options.disabled.assign(given->disabled, given->disabled + given->num_disabled);
  for (size_t i = 0; i < given->num_levels; ++i)
    options.levels[given->levels[i].rule] = given->levels[i].level;
  if (given->configuration != nullptr) options.configuration = given->configuration;
  options.ignores_configurations = given->ignores_configurations != 0;
  return options;
}

std::optional<api::ExecutableOptions> ToExecutableOptions(const nnefc_executable_options* passed) {
  api::ExecutableOptions options;
  if (passed == nullptr) return options;
  const std::optional<nnefc_executable_options> given = ToKnown(*passed, kExecutableOptionsSize);
  if (!given) return std::nullopt;
  const auto backend = api::BackendCalled(given->backend == nullptr ? "fast" : given->backend);
  const auto precision = api::PrecisionCalled(given->precision == nullptr ? "f32" : given->precision);
  if (!backend || !precision) return std::nullopt;
  options.backend = *backend;
  options.precision = *precision;
  options.threads = given->threads;
  options.max_memory = given->max_memory;
  if (given->plan_cache != nullptr) options.plan_cache = given->plan_cache;
  options.tune = given->tune != 0;
  return options;
}

// Returns a copy owned by the caller.
char* ToText(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int FinishText(api::Outcome<std::string> outcome, char** text, nnefc_report** report) {
  if (outcome) *text = ToText(*outcome);
  return Finish(std::move(outcome.report), report);
}

int FinishModel(api::Outcome<api::Model> outcome, nnefc_model** model, nnefc_report** report) {
  if (outcome) *model = new nnefc_model{std::move(*outcome)};
  return Finish(std::move(outcome.report), report);
}

// Returns a view of a port; zeros if `index` is out of range.
nnefc_port ToPort(const std::vector<api::Port>& ports, size_t index) {
  if (index >= ports.size()) return {};
  const api::Port& port = ports[index];
  return {.name = port.name.c_str(),
          .type = nnefc::Name(port.type).data(),
          .rank = port.shape ? port.shape->size() : SIZE_MAX,
          .extents = port.shape ? port.shape->data() : nullptr};
}

// Copies a tensor. Returns nothing if pointers are missing, the type is unknown, or its size does not fit.
std::optional<api::Tensor> ToTensor(const nnefc_tensor& given) {
  if (given.type == nullptr || (given.rank > 0 && given.extents == nullptr) ||
      (given.bytes > 0 && given.data == nullptr))
    return std::nullopt;
  const std::optional<nnefc::ElementType> type = nnefc::ParseElementType(given.type);
  if (!type) return std::nullopt;
  return api::Tensor::Copy(*type, std::vector<int64_t>(given.extents, given.extents + given.rank),
                           {static_cast<const std::byte*>(given.data), given.bytes});
}

}  // namespace

const char* nnefc_version(void) {
  static const std::string kVersion = api::Version();
  return kVersion.c_str();
}

size_t nnefc_report_errors(const nnefc_report* report) {
  return report == nullptr ? 0 : report->report.error_count();
}

const char* nnefc_report_text(nnefc_report* report) {
  if (report == nullptr) return "";
  if (report->text.empty()) report->text = report->report.ToText();
  return report->text.c_str();
}

const char* nnefc_report_json(nnefc_report* report) {
  if (report == nullptr) return "";
  if (report->json.empty()) report->json = report->report.ToJson();
  return report->json.c_str();
}

void nnefc_report_free(nnefc_report* report) {
  delete report;
}

int nnefc_check(const char* path, const nnefc_model_options* options, nnefc_report** report) {
  return Enter(report, [&] {
    const auto given = ToOptions(options);
    return given && path != nullptr ? Finish(api::Check(path, *given), report) : NNEFC_FAILED;
  });
}

int nnefc_check_text(const char* name, const char* text, size_t length, const nnefc_model_options* options,
                     nnefc_report** report) {
  return Enter(report, [&] {
    const auto given = ToOptions(options);
    if (!given || name == nullptr || text == nullptr) return int{NNEFC_FAILED};
    return Finish(api::CheckText(name, std::string(text, length), *given), report);
  });
}

int nnefc_lint(const char* path, const nnefc_lint_options* lint, const nnefc_model_options* options,
               nnefc_report** report) {
  return Enter(report, [&] {
    const auto given = ToOptions(options);
    const auto rules = ToLintOptions(lint);
    return given && rules && path != nullptr ? Finish(api::Lint(path, *rules, *given), report) : NNEFC_FAILED;
  });
}

int nnefc_lint_text(const char* name, const char* text, size_t length, const nnefc_lint_options* lint,
                    const nnefc_model_options* options, nnefc_report** report) {
  return Enter(report, [&] {
    const auto given = ToOptions(options);
    const auto rules = ToLintOptions(lint);
    if (!given || !rules || name == nullptr || text == nullptr) return int{NNEFC_FAILED};
    return Finish(api::LintText(name, std::string(text, length), *rules, *given), report);
  });
}

int nnefc_load(const char* path, const nnefc_model_options* options, nnefc_model** model,
               nnefc_report** report) {
  *model = nullptr;
  return Enter(report, [&] {
    const auto given = ToOptions(options);
    return given && path != nullptr ? FinishModel(api::Model::Open(path, *given), model, report)
                                    : NNEFC_FAILED;
  });
}

int nnefc_load_text(const char* name, const char* text, size_t length, const nnefc_model_options* options,
                    nnefc_model** model, nnefc_report** report) {
  *model = nullptr;
  return Enter(report, [&] {
    const auto given = ToOptions(options);
    if (!given || name == nullptr || text == nullptr) return int{NNEFC_FAILED};
    return FinishModel(api::Model::FromText(name, std::string(text, length), *given), model, report);
  });
}

int nnefc_expand(const nnefc_model* model, char** text, nnefc_report** report) {
  *text = nullptr;
  return Enter(report, [&] { return FinishText(model->model.Expand(), text, report); });
}

int nnefc_upgrade(const nnefc_model* model, char** text, nnefc_report** report) {
  *text = nullptr;
  return Enter(report, [&] { return FinishText(model->model.Upgrade(), text, report); });
}

int nnefc_save(const nnefc_model* model, const char* folder, nnefc_report** report) {
  return Enter(report, [&] {
    return folder == nullptr ? int{NNEFC_FAILED} : Finish(model->model.WriteNnef(folder), report);
  });
}

int nnefc_format(const char* name, const char* text, size_t length, char** formatted, nnefc_report** report) {
  *formatted = nullptr;
  return Enter(report, [&] {
    if (name == nullptr || text == nullptr) return int{NNEFC_FAILED};
    return FinishText(api::Format(name, std::string(text, length)), formatted, report);
  });
}

void nnefc_text_free(char* text) {
  std::free(text);
}

int nnefc_write_openvino(const nnefc_model* model, const char* path, nnefc_report** report) {
  return Enter(report, [&] { return Finish(model->model.WriteOpenVino(path), report); });
}

void nnefc_model_free(nnefc_model* model) {
  delete model;
}

int nnefc_compile(const nnefc_model* model, const nnefc_executable_options* options,
                  nnefc_executable** executable, nnefc_report** report) {
  *executable = nullptr;
  return Enter(report, [&] {
    const std::optional<api::ExecutableOptions> given = ToExecutableOptions(options);
    if (!given) return int{NNEFC_FAILED};
    api::Outcome<api::Executable> outcome = model->model.Compile(*given);
    if (outcome) *executable = new nnefc_executable{std::move(*outcome)};
    return Finish(std::move(outcome.report), report);
  });
}

void nnefc_executable_free(nnefc_executable* executable) {
  delete executable;
}

size_t nnefc_num_inputs(const nnefc_executable* executable) {
  return executable->executable.inputs().size();
}

size_t nnefc_num_outputs(const nnefc_executable* executable) {
  return executable->executable.outputs().size();
}

nnefc_port nnefc_input(const nnefc_executable* executable, size_t index) {
  return ToPort(executable->executable.inputs(), index);
}

nnefc_port nnefc_output(const nnefc_executable* executable, size_t index) {
  return ToPort(executable->executable.outputs(), index);
}

int nnefc_open_session(const nnefc_executable* executable, nnefc_session** session) {
  *session = nullptr;
  return Enter(nullptr, [&] {
    *session = new nnefc_session{executable->executable.NewSession(), {}};
    return int{NNEFC_OK};
  });
}

void nnefc_session_free(nnefc_session* session) {
  delete session;
}

void nnefc_reset_state(nnefc_session* session) {
  session->session.ResetState();
}

int nnefc_run(nnefc_session* session, const nnefc_tensor* inputs, size_t num_inputs, nnefc_tensors** outputs,
              nnefc_report** report) {
  *outputs = nullptr;
  return Enter(report, [&] {
    api::Tensors given;
    for (size_t i = 0; i < num_inputs; ++i) {
      std::optional<api::Tensor> tensor = ToTensor(inputs[i]);
      if (inputs[i].name == nullptr || !tensor) return int{NNEFC_FAILED};
      given.insert_or_assign(inputs[i].name, std::move(*tensor));
    }
    api::Outcome<api::Tensors> outcome = session->session.Run(given);
    if (outcome) {
      *outputs = new nnefc_tensors;
      for (auto& [name, tensor] : *outcome)
        (*outputs)->items.push_back({name, std::string(nnefc::Name(tensor.type())), std::move(tensor)});
    }
    return Finish(std::move(outcome.report), report);
  });
}

void nnefc_enable_profile(nnefc_session* session, int on) {
  session->session.EnableProfile(on != 0);
}

size_t nnefc_profile_size(nnefc_session* session) {
  (void)Enter(nullptr, [&] {
    session->profile.clear();
    session->profile = session->session.profile();
    return int{NNEFC_OK};
  });
  return session->profile.size();
}

int nnefc_profile_at(const nnefc_session* session, size_t index, nnefc_step_time* step) {
  const size_t size = step->size;
  if (size < kStepTimeSize || index >= session->profile.size()) return NNEFC_FAILED;
  const api::StepTime& time = session->profile[index];
  const nnefc_step_time filled = {.size = size,
                                  .name = time.name.c_str(),
                                  .operation = time.operation.c_str(),
                                  .kernel = time.kernel.c_str(),
                                  .milliseconds = time.milliseconds,
                                  .operations = time.operations,
                                  .bytes = time.bytes};
  std::memset(step, 0, size);  // members that only the caller knows, too
  std::memcpy(step, &filled, sizeof(filled));
  return NNEFC_OK;
}

size_t nnefc_tensors_size(const nnefc_tensors* tensors) {
  return tensors == nullptr ? 0 : tensors->items.size();
}

nnefc_tensor nnefc_tensors_at(const nnefc_tensors* tensors, size_t index) {
  if (index >= nnefc_tensors_size(tensors)) return {};
  const nnefc_tensors::Item& item = tensors->items[index];
  return {.name = item.name.c_str(),
          .type = item.type.c_str(),
          .rank = item.tensor.shape().size(),
          .extents = item.tensor.shape().data(),
          .data = item.tensor.bytes().data(),
          .bytes = item.tensor.bytes().size()};
}

void nnefc_tensors_free(nnefc_tensors* tensors) {
  delete tensors;
}
