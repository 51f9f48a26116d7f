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

// A text in memory, and what messages call it.
struct NamedText {
  std::string name;
  std::string text;
};

// Which transformations change the graph, beside what they say themselves and
// what the environment says; names are those of transform::Names.
struct TransformOptions {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  // The file that drives transformations of the front phase; "" for none.
  std::string configuration;
  transform::PipelineOptions pipeline;
};

// The transformations that nnefc and the plug-ins bring, configured and switched as the
// options and the environment say. Mistakes are emitted; `environment_failed` is set if
// the configuration cannot be read.
transform::TransformationList MakeTransformations(const TransformOptions& options,
                                                  const plugin::Plugins& plugins, Context& context,
                                                  bool& environment_failed);

struct CompileOptions {
  // Nothing: told by the document.
  std::optional<ast::Dialect> dialect;
  // What exporters write beside the specification: refused or told.
  Leniency leniency = Leniency::kAuto;
  // Chooses one of several graphs.
  std::optional<std::string> graph;
  // Overrides of externals' shapes.
  std::map<std::string, Shape> input_shapes;
  // What the model is for: decides what it may hold.
  Purpose purpose = Purpose::kExecute;
  // Standard compounds to expand: names, or "all".
  std::vector<std::string> lower;
  // Each tensor that the model's graph.quant file names is quantized as soon as it
  // is computed (R 7.1, P 7.1).
  bool quantize = false;
  // The lowered graph is run here, not in OpenVINO (LowerOptions::keeps_exact_operations).
  bool executes = false;
  // Seed of random data for variables that have none.
  std::optional<uint64_t> random_weights;
  // Accept variables without data; the result can be written, not run.
  bool structure_only = false;
  // Keep what fragments were instantiated with (Compilation::instances).
  bool keep_instances = false;
  // Verify the graph that each stage and each transformation makes.
  bool verify = false;
  TransformOptions transform;
  // Computes what follows from constants; none: that is left to who runs the model.
  ir::Evaluator evaluate;
  // What is wrong with them is told as the model is opened. Never null.
  std::shared_ptr<const plugin::Plugins> plugins = std::make_shared<plugin::Plugins>();
  // How the model is opened: the bound on the unpacked size of an archive, and
  // whether the data of variables will be asked for.
  ModelOpenOptions open;
  // Texts that stand for those of the model's files, by the names that messages
  // tell them by: what an editor holds, or what a change would make.
  std::map<std::string, std::string> texts;
  // The model is this document, which messages call by the path.
  std::optional<std::string> document;
  // The data of its variables by label.
  std::map<std::string, TensorValue> data;
  // Its graph.quant file.
  std::optional<NamedText> quantization;
  // Errors to tell; more are counted.
  size_t error_limit = 100;
  Limits limits;
};

// What a path names, by its end.
enum class ModelFormat : uint8_t {
  kNnef,       // a document, a folder or an archive
  kOpenVino,   // `.xml`: OpenVINO IR
  kGraphText,  // `.ir`: the text form of a graph, of NNEF or of OpenVINO operations
};
ModelFormat FormatOf(std::string_view path);

// The stages, in order.
enum class Stage : uint8_t { kOpen, kParse, kCheck, kExpand, kLower };
std::string_view Name(Stage stage);

struct StageTime {
  Stage stage;
  double milliseconds;
};

// One run of the compiler over one model: the artefacts of every stage and
// what was said about them. The only place that knows the order of stages. What
// is no NNEF model is a graph once it is open; the text form of one is lowered if
// it holds NNEF operations.
class Compilation {
 public:
  Compilation(std::string path, CompileOptions options);
  ~Compilation();

  // Called at the start of each stage.
  void set_observer(std::function<void(Stage)> observer) { observer_ = std::move(observer); }
  // Runs the stages up to `last` that were not run yet; stops at the first
  // that finds a mistake. Returns true if all went well.
  bool RunUntil(Stage last);
  // Texts that stand for those of a model that is not open yet; see CompileOptions.
  void SetTexts(std::map<std::string, std::string> texts) { options_.texts = std::move(texts); }
  // Gives shapes to externals of a model that is expanded and not lowered yet,
  // beside those of the options: it will be expanded anew.
  void SetInputShapes(const std::map<std::string, Shape>& shapes);

  // Rewrites a configuration of transformations with the inputs and outputs that
  // its entries lack, as the model has them before transformations.
  bool UpdateConfiguration(const std::string& path);

  // True if the failure is the environment's (a file that cannot be opened)
  // and not the model's.
  bool environment_failed() const { return environment_failed_; }
  const std::string& path() const { return path_; }
  ModelFormat format() const { return format_; }
  Context& context() { return context_; }
  const Context& context() const { return context_; }
  ir::OpRegistry& registry() { return registry_; }
  const StandardLibrary& library() const { return library_; }
  const std::shared_ptr<const plugin::Plugins>& plugins() const { return options_.plugins; }
  const ModelContainer* model() const { return model_.get(); }
  // The texts of a model that is open: its own, or what stands for them.
  FileId graph_text() const { return graph_text_; }
  std::optional<FileId> quantization_text() const { return quantization_text_; }
  const CheckedDocument* checked() const { return checked_.get(); }
  // What the document expands to, after mistakes as far as it goes.
  const Expanded& expansion() const { return expanded_; }
  // Its graph of NNEF operations.
  const ir::Graph* expanded() const { return expanded_.graph.get(); }
  // Instantiations of the document's fragments, if they are kept.
  const std::vector<FragmentInstance>& instances() const { return record_.instances(); }
  // What graph.quant says of an expanded model's variables.
  const ModelQuantization& quantization() const { return quantization_; }
  // The graph of OpenVINO operations.
  const std::shared_ptr<const ir::Graph>& lowered() const { return lowered_; }
  // The same for OpenVINO, of a model that is lowered; null after a mistake.
  [[nodiscard]] std::shared_ptr<const ir::Graph> MakeOpenVinoForm();
  // The transformations of a model that is lowered, and what they did.
  const transform::Pipeline* pipeline() const { return pipeline_ ? &*pipeline_ : nullptr; }
  // The graph that the model is before it is lowered; once it is, with what
  // transformations of the front phase, or of an OpenVINO model all, made of it.
  const ir::Graph& graph() const { return format_ == ModelFormat::kNnef ? *expanded_.graph : *opened_; }
  const std::vector<StageTime>& times() const { return times_; }

 private:
  [[nodiscard]] bool Run(Stage stage);
  // After a mistake of a document that is read strictly by default: adds a note if lenient
  // reading finds none.
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
  // What was told.
  Emitter ExpandDocument(ExpandOptions options);
  [[nodiscard]] bool Lower();
  [[nodiscard]] std::shared_ptr<ir::Graph> MakeLowered();
  [[nodiscard]] bool PrepareTransformations();
  [[nodiscard]] bool Transform(transform::Side side, ir::Graph& graph);
  // True if the graph of the stage, if it makes one, holds every invariant.
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
  std::shared_ptr<ir::Graph> opened_;  // of a model that is a graph
  std::shared_ptr<const ir::Graph> lowered_;
  transform::TransformationList transformations_;
  std::optional<transform::Pipeline> pipeline_;
  std::vector<StageTime> times_;
  std::function<void(Stage)> observer_;
  ModelFormat format_;
  bool environment_failed_ = false;
  bool failed_ = false;
};

}  // namespace nnefc
