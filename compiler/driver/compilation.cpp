// The compiler's stages in their order, and the stages that still run after an error.

#include "compiler/driver/compilation.h"

#include <chrono>

#include "compiler/driver/lenient_note.h"
#include "compiler/driver/rules.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/support/files/replace_file.h"
#include "compiler/transform/configuration/update_configuration.h"

namespace nnefc::driver {
namespace {

Stage After(Stage stage) {
  return static_cast<Stage>(static_cast<int>(stage) + 1);
}

}  // namespace

std::string_view Name(Stage stage) {
  switch (stage) {
    case Stage::kOpen:
      return "open";
    case Stage::kParse:
      return "parse";
    case Stage::kCheck:
      return "check";
    case Stage::kExpand:
      return "expand";
    case Stage::kLower:
      return "lower";
  }
  return "";
}

Compilation::Compilation(std::string path, CompileOptions options)
    : path_(std::move(path)),
      options_(std::move(options)),
      format_(options_.document ? ModelFormat::kNnef : FormatOf(path_)) {
  context_.limits = options_.limits;
  context_.emitter = Emitter(options_.error_limit);
  options_.plugins->AddOperations(registry_);
}

Compilation::~Compilation() = default;

bool Compilation::RunUntil(Stage last) {
  for (; !failed_ && next_ <= last; next_ = After(next_)) {
    if (observer_) observer_(next_);
    const auto start = std::chrono::steady_clock::now();
    failed_ = !RunWithConsequences(next_) || (options_.verify && !VerifyStage(next_));
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    milliseconds_[static_cast<size_t>(next_)] = elapsed.count();
    if (failed_ && next_ <= Stage::kExpand) NoteLenientReading(*this, options_);
  }
  return !failed_;
}

bool Compilation::RunWithConsequences(Stage stage) {
  const bool complete = Run(stage);
  if (stage == Stage::kOpen) return complete;
  for (bool runs = !complete; runs && stage < Stage::kExpand;) {
    stage = After(stage);
    runs = (stage != Stage::kExpand || !context_.emitter.exhausted()) && !Run(stage);
  }
  return complete;
}

bool Compilation::Run(Stage stage) {
  const bool is_graph = format_ != ModelFormat::kNnef;
  if (is_graph && stage != Stage::kOpen && stage != Stage::kLower) return true;
  switch (stage) {
    case Stage::kOpen:
      opened_ = OpenModel(path_, format_, options_, registry_, context_);
      environment_failed_ = opened_->environment_failed;
      return opened_->complete;
    case Stage::kParse:
      parsed_ = ParseModel(*opened_, options_, context_);
      return parsed_->complete;
    case Stage::kCheck:
      checked_ = CheckModel(*parsed_, options_, context_);
      return checked_->complete;
    case Stage::kExpand:
      expanded_ = ExpandModel(*opened_, *checked_, options_, registry_, context_);
      return expanded_->complete;
    case Stage::kLower:
      lowered_ = is_graph ? LowerOpenedGraph(*opened_, format_, options_, context_)
                          : LowerModel(*opened_, *checked_, *expanded_, options_, context_);
      environment_failed_ |= lowered_->environment_failed;
      return lowered_->complete;
  }
  return false;
}

int Compilation::incomplete_stages() const {
  return !(opened_ && opened_->complete) + !(parsed_ && parsed_->complete) +
         !(checked_ && checked_->complete) + !(expanded_ && expanded_->complete);
}

void Compilation::SetInputShapes(const std::map<std::string, Shape>& shapes) {
  NNEFC_CHECK(next_ == Stage::kLower && !failed_);
  for (const auto& [name, shape] : shapes) options_.input_shapes[name] = shape;
  next_ = Stage::kExpand;
}

bool Compilation::VerifyStage(Stage stage) {
  const ir::Graph* graph = nullptr;
  if (stage == Stage::kOpen) graph = opened_->graph.get();
  if (stage == Stage::kExpand) graph = expanded();
  // A graph of OpenVINO operations that was read need not have distinct names.
  if (stage == Stage::kLower && (format_ == ModelFormat::kNnef || opened_->graph != nullptr))
    graph = lowered_->graph.get();
  if (graph == nullptr) return true;
  const ir::PortNames names = stage == Stage::kOpen ? ir::PortNames::kAny : ir::PortNames::kDistinct;
  const std::vector<std::string> violations = ir::VerifyInferred(*graph, names);
  for (const std::string& violation : violations) {
    context_.emitter.Emit(kGraphInvalid, {}, "a fault of nnefc, not of the model: after the stage `{}`, {}",
                          Name(stage), violation);
  }
  return violations.empty();
}

const Expanded& Compilation::stage_expanded() const {
  static const Expanded kNone = {};
  return expanded_ ? *expanded_ : kNone;
}

const std::shared_ptr<const ir::Graph>& Compilation::lowered() const {
  static const std::shared_ptr<const ir::Graph> kNone;
  return lowered_ ? lowered_->graph : kNone;
}

std::shared_ptr<const ir::Graph> Compilation::MakeOpenVinoForm() {
  return driver::MakeOpenVinoForm(*lowered_, options_, context_);
}

const transform::Pipeline* Compilation::pipeline() const {
  return lowered_ && lowered_->pipeline ? &*lowered_->pipeline : nullptr;
}

const ir::Graph& Compilation::graph() const {
  if (format_ == ModelFormat::kNnef) return *expanded_->document.graph;
  return opened_->graph != nullptr ? *opened_->graph : *lowered_->graph;
}

std::vector<StageTime> Compilation::times() const {
  std::vector<StageTime> times;
  for (size_t i = 0; i < kNumStages; ++i) {
    if (milliseconds_[i]) times.push_back({static_cast<Stage>(i), *milliseconds_[i]});
  }
  return times;
}

bool Compilation::UpdateConfiguration(const std::string& path) {
  if (!RunUntil(format_ == ModelFormat::kNnef ? Stage::kExpand : Stage::kOpen)) return false;
  const auto fail = [&](const SystemError& error) {
    environment_failed_ = true;
    context_.emitter.Emit(kFileUnreadable, {}, "{}", error.message);
    return false;
  };
  const ErrorOr<FileId> file = context_.sources.Open(path);
  if (!file) return fail(file.error());
  const std::optional<std::string> text = transform::UpdateConfiguration(graph(), *file, context_);
  if (!text) return false;
  const ErrorOr<Success> written = ReplaceFile(path, *text);
  return written ? true : fail(written.error());
}

}  // namespace nnefc::driver
