// The functions that a build without the runtime (NNEFC_RUNTIME=OFF) lacks: those of lowering,
// transformations, OpenVINO IR, plug-ins and kernels that the driver and the interface call. They report
// kNoRuntime, or a failure of the environment with the same text.

#include <string>
#include <utility>

#include "compiler/driver/rules.h"
#include "compiler/driver/stages.h"
#include "compiler/ir/ops/opset/register.h"
#include "compiler/ir/ops/opset/schema.h"
#include "compiler/openvino/read.h"
#include "compiler/openvino/write.h"
#include "compiler/plugin/plugins.h"
#include "compiler/transform/configuration/update_configuration.h"
#include "compiler/transform/pipeline/target_pipeline.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/executable.h"
#include "runtime/fast/processor.h"
#include "runtime/onednn/onednn.h"
#include "tools/api/forms/openvino_form.h"
#include "tools/api/internals.h"
#include "tools/api/model.h"

namespace nnefc {
namespace {

constexpr std::string_view kReason =
    "this build of nnefc checks, formats and expands models only; one that was configured with "
    "`NNEFC_RUNTIME=ON` "
    "also runs them, reads and writes OpenVINO IR and loads plug-ins";

void EmitReason(Emitter& emitter) {
  emitter.Emit(driver::kNoRuntime, {}, "{}", kReason);
}

}  // namespace

// ---- lowering and transformations ----

driver::Lowered driver::LowerModel(const Opened&, const Checked&, const Expanded&, const CompileOptions&,
                                   Context& context) {
  EmitReason(context.emitter);
  Lowered lowered;
  lowered.environment_failed = true;
  return lowered;
}

driver::Lowered driver::LowerOpenedGraph(Opened&, ModelFormat, const CompileOptions&, Context& context) {
  EmitReason(context.emitter);
  Lowered lowered;
  lowered.environment_failed = true;
  return lowered;
}

std::shared_ptr<const ir::Graph> driver::MakeOpenVinoForm(const Lowered&, const CompileOptions&,
                                                          Context& context) {
  EmitReason(context.emitter);
  return nullptr;
}

std::optional<std::string> transform::UpdateConfiguration(const ir::Graph&, FileId, Context& context) {
  EmitReason(context.emitter);
  return std::nullopt;
}

bool transform::TargetPipeline::Run(const Names&, const ir::PlanFunctions&, ir::Graph&, Emitter& emitter) {
  EmitReason(emitter);
  return false;
}

// ---- OpenVINO IR ----

ErrorOr<std::unique_ptr<ir::Graph>> openvino::ReadOpenVino(const std::string& path, ir::OpRegistry&, Context&,
                                                           const ReadOptions&) {
  return SystemError{fmt::format("`{}`: {}", path, kReason)};
}

// Operations of graphs that can be opened are those of NNEF.
bool openvino::RequireKnownOperations(const ir::Graph&, Emitter&) {
  return true;
}

std::shared_ptr<const ir::Graph> api::OpenVinoFormOf(driver::Compilation& compilation, bool) {
  EmitReason(compilation.context().emitter);
  return nullptr;
}

ErrorOr<Success> openvino::WriteOpenVino(const ir::Graph&, const std::string& xml_path, const WriteOptions&) {
  return SystemError{fmt::format("`{}`: {}", xml_path, kReason)};
}

openvino::OpenVinoInMemory openvino::WriteOpenVinoInMemory(const ir::Graph&) {
  return {};
}

// ---- drawings ----

api::Outcome<std::string> api::Model::Draw(DrawingForm, const DrawingOptions&) const {
  return {.value = std::nullopt, .report = EnvironmentReport(std::string(kReason))};
}

// ---- plug-ins ----

std::shared_ptr<const plugin::Plugins> plugin::Plugins::Load(const std::vector<std::string>& paths) {
  auto plugins = std::make_shared<Plugins>();
  for (const std::string& path : paths)
    plugins->mistakes_.push_back({&driver::kNoRuntime, fmt::format("plug-in `{}`: {}", path, kReason)});
  return plugins;
}

void plugin::Plugins::Report(Emitter& emitter, bool& environment_failed) const {
  environment_failed |= !mistakes_.empty();
  for (const Mistake& mistake : mistakes_) emitter.Emit(*mistake.rule, {}, "{}", mistake.message);
}

void plugin::Plugins::AddOperations(ir::OpRegistry&) const {}
void plugin::Plugins::AddKernels(runtime::kernels::KernelRegistry&) const {}

// ---- operations of OpenVINO ----

void ir::ops::opset::RegisterOpsets(OpRegistry& registry) {
  for (OpInfo& row : CoreRows()) registry.Add(std::move(row));
}

// ---- runs ----

std::shared_ptr<const runtime::engine::Executable> runtime::engine::Executable::Create(
    std::shared_ptr<const ir::Graph>, const ExecutableOptions&, Emitter& emitter) {
  EmitReason(emitter);
  return nullptr;
}

std::unique_ptr<runtime::engine::Session> runtime::engine::Session::Create(
    std::shared_ptr<const Executable>) {
  return nullptr;  // not called, since there are no executables
}

// Constants are not folded before they are lowered.
ir::Evaluator runtime::engine::ReferenceEvaluator(std::function<void(kernels::KernelRegistry&)>) {
  return nullptr;
}

runtime::kernels::Precision runtime::fast::EffectivePrecision(kernels::Precision precision) {
  return precision;
}

std::string runtime::onednn::DescribeOneDnn() {
  return std::string(kReason);
}

}  // namespace nnefc
