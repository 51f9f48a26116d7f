#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/quantization.h"
#include "compiler/driver/submodels.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/instances.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/lower.h"
#include "compiler/package/model.h"
#include "compiler/plugin/plugins.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "compiler/transform/pipeline.h"

namespace nnefc {

// An in-memory text with the name that messages use for it.
struct NamedText {
  std::string name;
  std::string text;
};

// The selection of transformations, in addition to their own defaults and the environment; names are those of
// transform::Names.
struct TransformOptions {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  // The configuration file for transformations of the front phase; "" for none.
  std::string configuration;
  transform::PipelineOptions pipeline;
};

// Returns the transformations of nnefc and the plug-ins, configured and enabled by the options and the
// environment. Returns nothing after an error was emitted; `environment_failed` is set if the configuration
// cannot be read.
[[nodiscard]] std::optional<transform::TransformationList> MakeTransformations(
    const TransformOptions& options, const plugin::Plugins& plugins, Context& context,
    bool& environment_failed);

struct CompileOptions {
  // The dialect; without a value the document's own declaration decides.
  std::optional<ast::Dialect> dialect;
  // The treatment of exporters' deviations from the specification: rejected or reported.
  Leniency leniency = Leniency::kAuto;
  // The selected graph of a document with several.
  std::optional<std::string> graph;
  // Shapes that override those of externals.
  std::map<std::string, Shape> input_shapes;
  // The purpose of the model, a restriction of its valid content.
  Purpose purpose = Purpose::kExecute;
  // Standard compounds to expand: names, or "all".
  std::vector<std::string> lower;
  // Quantize each tensor that the model's graph.quant file names right after it is computed (R 7.1, P 7.1).
  bool quantize = false;
  // The lowered graph runs in nnefc, not in OpenVINO (LowerOptions::keeps_exact_operations).
  bool executes = false;
  // The seed of random data for variables without data.
  std::optional<uint64_t> random_weights;
  // Accept variables without data; the result can be written but not run.
  bool structure_only = false;
  // Record the arguments of instantiated fragments (Compilation::instances).
  bool keep_instances = false;
  // Verify the graph after each stage and each transformation.
  bool verify = false;
  TransformOptions transform;
  // Folds constants; null leaves that to the runtime of the model.
  ir::Evaluator evaluate;
  // The loaded plug-ins, never null. Their diagnostics are reported when the model is opened.
  std::shared_ptr<const plugin::Plugins> plugins = std::make_shared<plugin::Plugins>();
  // Options for opening the model: the limit on the unpacked size of an archive, and whether the data of
  // variables will be read.
  ModelOpenOptions open;
  // Texts that replace those of the model's files, by their names in messages: unsaved text of an editor, or
  // the result of a proposed change.
  std::map<std::string, std::string> texts;
  // The text of the model's document; messages refer to it by the path.
  std::optional<std::string> document;
  // The data of the document's variables, by label.
  std::map<std::string, TensorValue> data;
  // The graph.quant file of the document.
  std::optional<NamedText> quantization;
  // The maximum number of reported errors; further ones are only counted.
  size_t error_limit = 100;
  Limits limits;
};

// The kind of a model, derived from the suffix of its path.
enum class ModelFormat : uint8_t {
  kNnef,       // a document, a folder or an archive
  kOpenVino,   // `.xml`: OpenVINO IR
  kGraphText,  // `.ir`: the text form of a graph, of NNEF or of OpenVINO operations
};
ModelFormat FormatOf(std::string_view path);

// The stages, in execution order.
enum class Stage : uint8_t { kOpen, kParse, kCheck, kExpand, kLower };
std::string_view Name(Stage stage);

struct StageTime {
  Stage stage;
  double milliseconds;
};

// One run of the compiler over one model: the artefacts of every stage and their diagnostics. This class is
// the only one that knows the order of stages. A model of another format than NNEF is a graph once it is
// open; the text form of a graph is lowered only if it contains NNEF operations.
class Compilation {
 public:
  Compilation(std::string path, CompileOptions options);
  ~Compilation();

  // Sets a function that is called at the start of each stage.
  void set_observer(std::function<void(Stage)> observer) { observer_ = std::move(observer); }
  // Runs the stages up to `last` that have not run yet and stops at the first with an error. Returns true on
  // success.
  bool RunUntil(Stage last);
  // Replaces the texts of a model that is not open yet; see CompileOptions::texts.
  void SetTexts(std::map<std::string, std::string> texts) { options_.texts = std::move(texts); }
  // Adds shapes of externals to those of the options. Requires a model that is expanded but not lowered; the
  // next RunUntil expands it again.
  void SetInputShapes(const std::map<std::string, Shape>& shapes);

  // Adds missing inputs and outputs to the entries of a configuration file of transformations, taken from the
  // model before any transformation.
  bool UpdateConfiguration(const std::string& path);

  // Returns true if the failure is caused by the environment (a file that cannot be opened), not by the
  // model.
  bool environment_failed() const { return environment_failed_; }
  const std::string& path() const { return path_; }
  ModelFormat format() const { return format_; }
  Context& context() { return context_; }
  const Context& context() const { return context_; }
  ir::OpRegistry& registry() { return registry_; }
  const StandardLibrary& library() const { return library_; }
  const std::shared_ptr<const plugin::Plugins>& plugins() const { return options_.plugins; }
  const ModelContainer* model() const { return model_.get(); }
  // The texts of an open model: its own, or their replacements.
  FileId graph_text() const { return graph_text_; }
  std::optional<FileId> quantization_text() const { return quantization_text_; }
  const CheckedDocument* checked() const { return checked_.get(); }
  // The expansion of the document; after errors, as much of it as is independent of them.
  const Expanded& expansion() const { return expanded_; }
  // The graph of NNEF operations.
  const ir::Graph* expanded() const { return expanded_.graph.get(); }
  // The instantiations of the document's fragments, if recorded.
  const std::vector<FragmentInstance>& instances() const { return record_.instances(); }
  // The quantization of an expanded model's variables, from graph.quant.
  const ModelQuantization& quantization() const { return quantization_; }
  // The graph of OpenVINO operations.
  const std::shared_ptr<const ir::Graph>& lowered() const { return lowered_; }
  // Returns the lowered graph without operations that only nnefc executes; null after an error.
  [[nodiscard]] std::shared_ptr<const ir::Graph> MakeOpenVinoForm();
  // The transformations applied to a lowered model, with their results.
  const transform::Pipeline* pipeline() const { return pipeline_ ? &*pipeline_ : nullptr; }
  // The graph before lowering. After lowering it includes the changes of front-phase transformations, or for
  // an OpenVINO model of all transformations.
  const ir::Graph& graph() const { return format_ == ModelFormat::kNnef ? *expanded_.graph : *opened_; }
  const std::vector<StageTime>& times() const { return times_; }

 private:
  [[nodiscard]] bool Run(Stage stage);
  // Adds a note to an error of a document in the default mode if lenient mode accepts the document.
  void NoteLenientReading();
  [[nodiscard]] bool Open();
  FileId TextOf(FileId file);
  [[nodiscard]] std::unique_ptr<ir::Graph> ReadGraph();
  ErrorOr<std::unique_ptr<ir::Graph>> ReadGraphText();
  [[nodiscard]] std::shared_ptr<ir::Graph> LowerGraphText();
  LowerOptions lower_options() const;
  [[nodiscard]] bool Parse();
  bool Check();
  bool Expand();
  // Expands the document and returns the diagnostics.
  Emitter ExpandDocument(ExpandOptions options);
  [[nodiscard]] bool Lower();
  [[nodiscard]] std::shared_ptr<ir::Graph> MakeLowered();
  [[nodiscard]] bool PrepareTransformations();
  [[nodiscard]] bool Transform(transform::Side side, ir::Graph& graph);
  // Returns true if the graph of the stage, if any, satisfies all invariants.
  [[nodiscard]] bool VerifyStage(Stage stage);

  std::string path_;
  CompileOptions options_;
  const StandardLibrary& library_ = options_.plugins->library();
  Context context_{library_.base()};
  ir::OpRegistry registry_{&ir::StandardOps()};
  std::unique_ptr<ModelContainer> model_;
  FileId graph_text_;
  std::optional<FileId> quantization_text_;
  std::unique_ptr<ast::Document> parsed_;
  std::unique_ptr<CheckedDocument> checked_;
  std::unique_ptr<Submodels> submodels_;
  Expanded expanded_;
  InstanceRecord record_;
  ModelQuantization quantization_;
  std::shared_ptr<ir::Graph> opened_;  // set if the model is a graph when opened
  std::shared_ptr<const ir::Graph> lowered_;
  std::optional<transform::TransformationList> transformations_;
  std::optional<transform::Pipeline> pipeline_;
  std::vector<StageTime> times_;
  std::function<void(Stage)> observer_;
  ModelFormat format_;
  bool environment_failed_ = false;
  bool failed_ = false;
};

}  // namespace nnefc
