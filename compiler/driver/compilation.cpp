#include "compiler/driver/compilation.h"

#include <chrono>

#include "compiler/driver/resources.h"
#include "compiler/driver/rules.h"
#include "compiler/driver/variable_data.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/openvino/read.h"
#include "compiler/semantics/rules.h"
#include "compiler/support/file.h"
#include "compiler/support/replace_file.h"
#include "compiler/syntax/parse.h"
#include "compiler/transform/configuration.h"
#include "compiler/transform/standard.h"
#include "compiler/transform/update_configuration.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc {

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

ModelFormat FormatOf(std::string_view path) {
  if (path.ends_with(".xml")) return ModelFormat::kOpenVino;
  return path.ends_with(".ir") ? ModelFormat::kGraphText : ModelFormat::kNnef;
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
  auto next = static_cast<int>(times_.size());
  for (int stage = next; !failed_ && stage <= static_cast<int>(last); ++stage) {
    if (observer_) observer_(static_cast<Stage>(stage));
    auto start = std::chrono::steady_clock::now();
    failed_ = !Run(static_cast<Stage>(stage)) || (options_.verify && !VerifyStage(static_cast<Stage>(stage)));
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    times_.push_back({static_cast<Stage>(stage), elapsed.count()});
    if (failed_ && static_cast<Stage>(stage) <= Stage::kExpand) NoteLenientReading();
  }
  return !failed_;
}

void Compilation::NoteLenientReading() {
  const bool chooses =
      options_.leniency == Leniency::kAuto && (checked_ == nullptr || !checked_->dialect().lenient);
  if (format_ != ModelFormat::kNnef || model_ == nullptr || environment_failed_ || !chooses) return;
  CompileOptions options = options_;
  options.leniency = Leniency::kLenient;
  options.keep_instances = false;
  Compilation lenient(path_, std::move(options));
  if (!lenient.RunUntil(Stage::kExpand)) return;
  // Lenient mode ignores surplus arguments, and such an argument may be a misspelt one.
  const std::vector<Diagnostic>& findings = lenient.context().emitter.diagnostics();
  const auto deviations = llvm::count_if(
      findings, [](const Diagnostic& each) { return each.rule->label.starts_with("lenient."); });
  if (deviations == 0 ||
      llvm::any_of(findings, [](const Diagnostic& each) { return each.rule == &semantics::kLenientSurplus; }))
    return;
  std::vector<Diagnostic> diagnostics = context_.emitter.diagnostics();
  const auto first =
      llvm::find_if(diagnostics, [](const Diagnostic& each) { return each.severity == Severity::kError; });
  if (context_.emitter.exhausted() || first == diagnostics.end()) return;
  first->notes.push_back(
      {first->range,
       fmt::format("an exporter may have written this document: `--lenient` reads it, with {} kind{} of "
                   "deviation from the specification",
                   deviations, deviations == 1 ? "" : "s")});
  context_.emitter.Clear();
  for (Diagnostic& diagnostic : diagnostics) context_.emitter.Add(std::move(diagnostic));
}

void Compilation::SetInputShapes(const std::map<std::string, Shape>& shapes) {
  NNEFC_CHECK(expanded_.complete && lowered_ == nullptr);
  for (const auto& [name, shape] : shapes) options_.input_shapes[name] = shape;
  times_.resize(static_cast<size_t>(Stage::kExpand));
}

bool Compilation::VerifyStage(Stage stage) {
  const ir::Graph* graph = nullptr;
  if (stage == Stage::kOpen) graph = opened_.get();
  if (stage == Stage::kExpand) graph = expanded_.graph.get();
  if (stage == Stage::kLower && lowered_ != opened_) graph = lowered_.get();
  if (graph == nullptr) return true;
  const ir::PortNames names = stage == Stage::kOpen ? ir::PortNames::kAny : ir::PortNames::kDistinct;
  const std::vector<std::string> violations = ir::VerifyInferred(*graph, names);
  for (const std::string& violation : violations) {
    context_.emitter.Emit(kGraphInvalid, {}, "a fault of nnefc, not of the model: after the stage `{}`, {}",
                          Name(stage), violation);
  }
  return violations.empty();
}

bool Compilation::Run(Stage stage) {
  const bool is_graph = format_ != ModelFormat::kNnef;
  if (is_graph && stage != Stage::kOpen && stage != Stage::kLower) return true;
  switch (stage) {
    case Stage::kOpen:
      return Open();
    case Stage::kParse:
      return Parse();
    case Stage::kCheck:
      return Check();
    case Stage::kExpand:
      return Expand();
    case Stage::kLower:
      return Lower();
  }
  return false;
}

bool Compilation::Open() {
  if (!options_.plugins->ok()) {
    options_.plugins->Report(context_.emitter, environment_failed_);
    return false;
  }
  if (format_ != ModelFormat::kNnef) return (opened_ = ReadGraph()) != nullptr;
  ModelOpenResult result = options_.document
                               ? ModelContainer::FromText(path_, *options_.document, context_, options_.data)
                               : ModelContainer::Open(path_, context_, options_.open);
  model_ = std::move(result.model);
  environment_failed_ = result.environment_failed;
  if (model_ == nullptr) return false;
  graph_text_ = TextOf(model_->graph_text());
  if (model_->quantization_text()) quantization_text_ = TextOf(*model_->quantization_text());
  if (options_.quantization)
    quantization_text_ = context_.sources.AddText(options_.quantization->name, options_.quantization->text);
  return true;
}

FileId Compilation::TextOf(FileId file) {
  const std::string name(context_.sources.Name(file));
  auto found = options_.texts.find(name);
  return found == options_.texts.end() ? file : context_.sources.AddText(name, found->second);
}

std::unique_ptr<ir::Graph> Compilation::ReadGraph() {
  ErrorOr<std::unique_ptr<ir::Graph>> graph =
      format_ == ModelFormat::kOpenVino ? ReadOpenVino(path_, registry_, context_) : ReadGraphText();
  if (graph) return std::move(*graph);
  environment_failed_ = true;
  context_.emitter.Emit(kFileUnreadable, {}, "{}", graph.error().message);
  return nullptr;
}

ErrorOr<std::unique_ptr<ir::Graph>> Compilation::ReadGraphText() {
  ErrorOr<FileId> file = context_.sources.Open(path_);
  if (!file) return file.error();
  // Constants that are not in the text are in the .bin file next to it, if there is one.
  std::shared_ptr<const Buffer> elements;
  const auto bin_file = MappedFile::Open(path_.substr(0, path_.rfind('.')) + ".bin");
  if (bin_file) elements = Buffer::Map(*bin_file, 0, (*bin_file)->size());
  std::unique_ptr<ir::Graph> graph = ir::ParseGraph(*file, registry_, context_, std::move(elements));
  if (graph != nullptr && !ir::InferGraph(*graph, context_.emitter)) graph.reset();
  return graph;
}

bool Compilation::Parse() {
  parsed_ = ParseDocument(graph_text_, {.dialect = options_.dialect}, context_);
  if (parsed_->complete && ReplaceResources(*parsed_, *model_, "", context_)) return true;
  // The parsed part may contain further mistakes.
  Check();
  return false;
}

bool Compilation::Check() {
  checked_ = CheckDocument(std::move(parsed_), library_,
                           {.graph = options_.graph, .leniency = options_.leniency}, context_);
  if (checked_->complete()) return true;
  // Expand the parts that do not depend on these mistakes, to also report errors in values, shapes and
  // labels.
  if (!context_.emitter.exhausted()) Expand();
  return false;
}

bool Compilation::Expand() {
  context_.sources.Release(graph_text_);  // only diagnostics read it from now on
  submodels_ = std::make_unique<Submodels>(*model_, library_, options_.leniency, context_);
  ExpandOptions options{
      .input_shapes = options_.input_shapes,
      .lower = options_.lower,
      .purpose = options_.purpose,
      .variable_data =
          [&](const std::string& label, ElementType type) {
            Emitter quiet;  // mistakes in it are reported by its reader
            return model_->ReadVariable(label, type, quiet);
          },
      .submodel = [&](const std::string& path, SourceRange place) { return submodels_->Find(path, place); },
      .record = options_.keep_instances ? &record_ : nullptr};
  if (quantization_text_ && checked_->dialect().vendor_meanings)
    options.quantized = QuantizedNames(*quantization_text_, checked_->dialect(), context_);
  Emitter reported = ExpandDocument(options);
  Context own(context_, context_.emitter.room());
  if (quantization_text_) {
    quantization_ =
        CheckModelQuantization(*quantization_text_, *checked_, expanded_, library_, registry_, own);
    if (options_.quantize && expanded_.complete && quantization_.complete) {
      options.quantize = quantization_.table.LinesToCompute(*expanded_.graph, *model_);
      record_ = InstanceRecord();
      reported = ExpandDocument(options);
    }
  } else if (options_.quantize) {
    own.emitter.Emit(kQuantizationMissing, SourceRange(),
                     "`{}` has no `graph.quant` file, which would say what to quantize", model_->name());
  }
  const bool quantized = quantization_text_ ? quantization_.complete : !options_.quantize;
  context_.emitter.Take(std::move(reported));
  context_.emitter.Take(std::move(own.emitter));
  return expanded_.complete && quantized;
}

// If operations depend on symbols that no input determines, expansion is repeated with trial extents.
Emitter Compilation::ExpandDocument(ExpandOptions options) {
  const auto expand = [&] {
    Context own(context_, context_.emitter.room());
    expanded_ = nnefc::ExpandDocument(*checked_, library_, registry_, options, own);
    return std::move(own.emitter);
  };
  Emitter reported = expand();
  if (checked_->symbols().empty()) return reported;
  const bool is_open =
      reported.has_errors() && llvm::all_of(reported.diagnostics(), [](const Diagnostic& diagnostic) {
        return diagnostic.severity != Severity::kError || diagnostic.rule == &kShapeUnknown;
      });
  options.tries_symbols = is_open && options.purpose != Purpose::kPrint;
  if (options.tries_symbols) reported = expand();
  return reported;
}

namespace {

// Passes the configuration file to the transformations. Returns false after an error was emitted.
bool Configure(transform::TransformationList& list, const std::string& path, Context& context,
               bool& environment_failed) {
  ErrorOr<FileId> file = context.sources.Open(path);
  if (!file) {
    environment_failed = true;
    context.emitter.Emit(kFileUnreadable, {}, "{}", file.error().message);
    return false;
  }
  auto configuration = transform::ReadConfiguration(*file, context);
  return configuration &&
         list.Configure(std::make_shared<const transform::Configuration>(std::move(*configuration)),
                        context.emitter);
}

}  // namespace

std::optional<transform::TransformationList> MakeTransformations(const TransformOptions& options,
                                                                 const plugin::Plugins& plugins,
                                                                 Context& context, bool& environment_failed) {
  transform::TransformationList list = transform::StandardTransformations();
  bool ok = plugins.AddTransformations(list, context.emitter);
  if (!options.configuration.empty())
    ok &= Configure(list, options.configuration, context, environment_failed);
  list.SwitchByEnvironment(context.emitter);
  list.Switch(options.enabled, true, "--enable-transformations", context.emitter);
  list.Switch(options.disabled, false, "--disable-transformations", context.emitter);
  if (!ok) return std::nullopt;
  return list;
}

bool Compilation::PrepareTransformations() {
  transformations_ =
      MakeTransformations(options_.transform, *options_.plugins, context_, environment_failed_);
  if (!transformations_) return false;
  transform::PipelineOptions options = options_.transform.pipeline;
  options.verify |= options_.verify;
  options.evaluate = options_.evaluate;
  pipeline_ = transform::Pipeline::Make(*transformations_, std::move(options), context_.emitter);
  return pipeline_.has_value();
}

bool Compilation::Transform(transform::Side side, ir::Graph& graph) {
  return pipeline_->Run(side, graph, context_.emitter);
}

LowerOptions Compilation::lower_options() const {
  return {.find_lowering = [plugins = options_.plugins](
                               const std::string& operation) { return plugins->FindLowering(operation); },
          .keeps_exact_operations = options_.executes};
}

namespace {

bool MayHoldNnefOperations(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.set() == ir::kNnefSet || !node.bodies().empty();
  });
}

}  // namespace

// The text form of a graph may contain NNEF operations; their variables have no data.
std::shared_ptr<ir::Graph> Compilation::LowerGraphText() {
  const bool has_nnef = MayHoldNnefOperations(*opened_);
  if (!Transform(transform::Side::kBeforeLowering, *opened_)) return nullptr;
  if (!has_nnef) return opened_;
  return LowerGraph(*opened_, lower_options(), context_);
}

std::shared_ptr<ir::Graph> Compilation::MakeLowered() {
  if (format_ == ModelFormat::kGraphText) return LowerGraphText();
  // Configurations also refer to layers of OpenVINO IR by name.
  if (format_ == ModelFormat::kOpenVino)
    return Transform(transform::Side::kBeforeLowering, *opened_) ? opened_ : nullptr;
  if (!Transform(transform::Side::kBeforeLowering, *expanded_.graph)) return nullptr;
  LowerOptions options = lower_options();
  const QuantizedTypes types = quantization_.table.Types();
  if (checked_->dialect().vendor_meanings && !options_.quantize && !types.empty()) options.quantized = &types;
  VariableStore variables(*model_, *expanded_.graph, quantization_.table, options_.random_weights, context_);
  if (!options_.structure_only || model_->has_weights() || options_.random_weights) {
    options.variable_data = [&](const std::string& label, ElementType type, const ir::PartialShape& shape,
                                const ir::Origin& origin) {
      return variables.Load(label, type, shape, origin);
    };
  }
  return LowerGraph(*expanded_.graph, options, context_);
}

std::shared_ptr<const ir::Graph> Compilation::MakeOpenVinoForm() {
  if (!options_.executes || !MayHoldNnefOperations(*lowered_)) return lowered_;
  LowerOptions options = lower_options();
  options.keeps_exact_operations = false;
  return LowerGraph(*lowered_, options, context_);
}

bool Compilation::Lower() {
  if (expanded_.is_trial()) {
    const SourceRange place = checked_->symbols().front().range;
    context_.emitter.Emit(
        kOpenSymbol, place,
        "operations depend on extents that symbols stand for; set them by the shapes of inputs, "
        "`--input-shape NAME=..`");
    return false;
  }
  if (!PrepareTransformations()) return false;
  const std::shared_ptr<ir::Graph> lowered = MakeLowered();
  if (lowered == nullptr || !Transform(transform::Side::kAfterLowering, *lowered)) return false;
  lowered_ = lowered;
  return true;
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

}  // namespace nnefc
