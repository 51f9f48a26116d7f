#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/compile_options.h"
#include "compiler/driver/stages.h"
#include "compiler/ir/graph.h"
#include "compiler/plugin/plugins.h"
#include "compiler/support/context.h"

namespace nnefc::driver {

struct StageTime {
  Stage stage;
  double milliseconds;
};

// One run of the compiler over one model: the values of the stages and all diagnostics. This class is the
// only one that knows the order of stages. A model of another format than NNEF is a graph once it is open.
class Compilation {
 public:
  Compilation(std::string path, CompileOptions options);
  ~Compilation();

  // Sets a function that is called at the start of each stage.
  void set_observer(std::function<void(Stage)> observer) { observer_ = std::move(observer); }
  // Runs the stages up to `last` that have not run yet and stops at the first that is incomplete. The later
  // stages up to expansion then process what does not depend on its errors. Returns true on success.
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
  const Renames& renames() const { return options_.renames; }
  const Adaptation& adaptation() const { return options_.adaptation; }
  const semantics::StandardLibrary& library() const { return options_.plugins->library(); }
  const std::shared_ptr<const plugin::Plugins>& plugins() const { return options_.plugins; }
  // Returns the number of stages up to expansion that are incomplete.
  int incomplete_stages() const;

  // ---- artefacts of the stages; null if they do not exist ----
  const package::ModelContainer* model() const { return opened_ ? opened_->model.get() : nullptr; }
  // The texts of an open model: its own, or their replacements.
  FileId graph_text() const { return opened_->graph_text; }
  std::optional<FileId> quantization_text() const { return opened_->quantization_text; }
  const semantics::CheckedDocument* checked() const { return checked_ ? checked_->document.get() : nullptr; }
  // The expansion of the document; after errors, as much of it as is independent of them.
  const expand::ExpandedDocument& expansion() const { return stage_expanded().document; }
  // The graph of NNEF operations.
  const ir::Graph* expanded() const { return expansion().graph.get(); }
  // The instantiations of the document's fragments, if recorded.
  const std::vector<expand::FragmentInstance>& instances() const {
    return stage_expanded().record.instances();
  }
  // The quantization of an expanded model's variables, from graph.quant.
  const ModelQuantization& quantization() const { return stage_expanded().quantization; }
  // The graph of OpenVINO operations.
  const std::shared_ptr<const ir::Graph>& lowered() const;
  // Returns the lowered graph without operations that only nnefc executes; null after an error.
  [[nodiscard]] std::shared_ptr<const ir::Graph> MakeOpenVinoForm();
  // The transformations applied to a lowered model, with their results.
  const transform::Pipeline* pipeline() const;
  // The transformations for plans of a lowered model.
  const std::shared_ptr<transform::TargetPipeline>& target_pipeline() const { return lowered_->target; }
  // The graph of the document or file; for OpenVINO operations that were lowered, the transformed graph.
  const ir::Graph& graph() const;
  // The time of each stage that has run.
  std::vector<StageTime> times() const;

 private:
  static constexpr size_t kNumStages = 5;

  // Runs a stage. Returns true if it is complete.
  [[nodiscard]] bool Run(Stage stage);
  // Runs a stage, and after an error later ones that add diagnostics of what does not depend on the error.
  [[nodiscard]] bool RunWithConsequences(Stage stage);
  // Returns true if the graph of the stage, if any, satisfies all invariants.
  [[nodiscard]] bool VerifyStage(Stage stage);
  const Expanded& stage_expanded() const;

  std::string path_;
  CompileOptions options_;
  ModelFormat format_;
  Context context_{options_.plugins->library().base()};
  ir::OpRegistry registry_{&ir::StandardOps()};
  std::optional<Opened> opened_;
  std::optional<Parsed> parsed_;
  std::optional<Checked> checked_;
  std::optional<Expanded> expanded_;
  std::optional<Lowered> lowered_;
  std::array<std::optional<double>, kNumStages> milliseconds_;
  Stage next_ = Stage::kOpen;
  std::function<void(Stage)> observer_;
  bool environment_failed_ = false;
  bool failed_ = false;
};

}  // namespace nnefc::driver
