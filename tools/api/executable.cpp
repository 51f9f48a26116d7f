// The C++ interface's compiled models and sessions.

#include "tools/api/executable.h"

#include "compiler/driver/rules.h"
#include "compiler/package/tensors/random.h"
#include "runtime/fast/register.h"
#include "tools/api/internals.h"
#include "tools/api/values/bind_inputs.h"

namespace nnefc::api {

Port ToPort(const std::string& name, ElementType type, const ir::PartialShape& shape) {
  Port port{.name = name, .type = type, .shape = std::nullopt};
  if (!shape.rank_known()) return port;
  port.shape.emplace();
  for (const ir::Dim& dim : shape.dims()) port.shape->push_back(dim.known() ? dim.value() : -1);
  return port;
}

constexpr size_t kMaxFaults = 1;  // reported per run

Precision BestPrecision() {
  return runtime::fast::EffectivePrecision(Precision::kBf16);
}

std::optional<Backend> BackendCalled(std::string_view word) {
  if (word == "fast" || word == "onednn") return Backend::kFast;
  if (word == "reference") return Backend::kReference;
  return std::nullopt;
}

std::optional<Precision> PrecisionCalled(std::string_view word) {
  if (word == "exact") return Precision::kExact;
  if (word == "f32") return Precision::kF32;
  if (word == "bf16" || word == "auto") return BestPrecision();
  return std::nullopt;
}

std::string_view WordOf(Precision precision) {
  switch (precision) {
    case Precision::kExact:
      return "exact";
    case Precision::kF32:
      return "f32";
    case Precision::kBf16:
      return "bf16";
  }
  return "";
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Outcome<Tensors> Session::Run(const Tensors& inputs) {
  return Guard([&]() -> Outcome<Tensors> {
    Context context;
    const runtime::engine::Executable& executable = *state_->executable->executable;
    const bool may_reshape =
        state_->executable->program->compilation().format() == driver::ModelFormat::kNnef;
    InputBinder binder(executable.inputs(), may_reshape, context.emitter);
    for (const auto& [name, tensor] : inputs) binder.Bind(name, tensor.state().value, "the inputs");
    std::optional<std::vector<TensorValue>> values = binder.Finish();
    if (!values) return {.value = std::nullopt, .report = TakeReport(context)};
    runtime::kernels::FaultOr<std::vector<TensorValue>> results = state_->session->Run(*values);
    if (!results) {
      const std::lock_guard lock(*state_->executable->mutex);
      Context reported(state_->executable->program->compilation().context(), kMaxFaults);
      runtime::kernels::Emit(results.error(), reported.emitter);
      return {.value = std::nullopt, .report = TakeReport(reported)};
    }
    executable.TakeWarnings(context.emitter);
    Outcome<Tensors> outcome{.value = Tensors(), .report = Report()};
    if (!context.emitter.diagnostics().empty()) outcome.report = TakeReport(context);
    for (size_t i = 0; i < results->size(); ++i)
      outcome.value->emplace(executable.outputs()[i].name, ToTensor(std::move((*results)[i])));
    return outcome;
  });
}

void Session::ResetState() {
  state_->session->ResetState();
}

void Session::EnableProfile(bool on) {
  state_->session->EnableProfile(on);
}

std::vector<StepTime> Session::profile() const {
  std::vector<StepTime> times;
  for (const runtime::engine::StepProfile& step : state_->session->profile())
    times.push_back({step.name, step.operation, step.kernel, step.milliseconds, step.operations, step.bytes});
  return times;
}

const std::vector<Port>& Executable::inputs() const {
  return state_->inputs;
}

const std::vector<Port>& Executable::outputs() const {
  return state_->outputs;
}

Session Executable::NewSession() const {
  auto state = std::make_unique<Session::State>();
  state->executable = state_;
  state->session = runtime::engine::Session::Create(state_->executable);
  return Session(std::move(state));
}

Outcome<Tensors> Executable::Run(const Tensors& inputs) const {
  return NewSession().Run(inputs);
}

PlanCacheUse Executable::plan_cache_use() const {
  const runtime::engine::PlanCacheUse use = state_->executable->plan_cache_use();
  return {.found = use.found, .made = use.made, .measured = use.measured};
}

Tensors Executable::RandomInputs(uint64_t seed) const {
  Tensors tensors;
  for (const runtime::engine::Port& port : state_->executable->inputs()) {
    const std::optional<Shape> shape = port.shape.extents();
    if (!shape) continue;
    TensorValue value = package::RandomTensor(ir::DataRole::kInput, seed, port.name, port.type, *shape);
    if (value.valid()) tensors.emplace(port.name, ToTensor(std::move(value)));
  }
  return tensors;
}

}  // namespace nnefc::api
