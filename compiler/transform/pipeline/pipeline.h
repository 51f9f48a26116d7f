#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/transform/pipeline/transformation_list.h"

namespace nnefc::transform {

// The graphs that are transformed.
enum class Side : uint8_t {
  kBeforeLowering,  // NNEF operations: the front phase
  kAfterLowering,   // OpenVINO operations: the middle and back phases
  kTarget,          // the graph of a plan: the target phase
};

Side SideOf(Phase phase);

struct PipelineOptions {
  // Names of the only transformations to run, even if `Transformation::enabled` is false. If empty, all
  // enabled ones run.
  Names only;
  // Name of the transformation after which the pipeline stops, whether or not it runs itself; empty: none.
  std::string stop_after;
  // Verifies the graph after each transformation; a violation is an error.
  bool verify = false;
  // Folds constants; null: only shape functions compute values.
  ir::Evaluator evaluate;
  // Functions for the transformations of the target phase.
  ir::PlanFunctions plan;
  // Called before and after every transformation that runs, with the outermost graph; `after` only if it
  // succeeded. Null: not called.
  std::function<void(const Transformation&, const ir::Graph&)> before;
  std::function<void(const Transformation&, const ir::Graph&)> after;
  // Receives the informational messages of transformations. Null: they are dropped.
  std::function<void(const Transformation&, const std::string&)> log;
};

// The effect of one transformation.
struct TransformationReport {
  const Transformation* transformation = nullptr;
  double milliseconds = 0;
  // The number of nodes, including those of bodies.
  size_t nodes_before = 0;
  size_t nodes_after = 0;
};

// The transformations of one compilation in the order in which they run.
class Pipeline {
 public:
  // Returns a pipeline of all transformations of the list, which must outlive it. Returns nothing after a
  // reported error: the transformations have no valid order (TransformationList::Order), or the options
  // contain an unknown name.
  [[nodiscard]] static std::optional<Pipeline> Make(const TransformationList& list, PipelineOptions options,
                                                    Emitter& emitter);

  // Applies the transformations of one side, each to the graph and then to its bodies, the innermost last.
  // The sides run in the order of the enum; either can be skipped. Returns false after a reported error; the
  // graph is then unusable. `Transformation::enabled` is read just before each transformation.
  [[nodiscard]] bool Run(Side side, ir::Graph& graph, Emitter& emitter);
  // Applies those transformations of the target phase that are in `requested`, with these functions.
  [[nodiscard]] bool RunTarget(llvm::ArrayRef<const Transformation*> requested,
                               const ir::PlanFunctions& functions, ir::Graph& graph, Emitter& emitter);
  // Does the same on a copy, and returns it. Returns the graph itself if no transformation may change it
  // (Transformation::MayChange), and null after a reported error.
  [[nodiscard]] std::shared_ptr<const ir::Graph> RunOnCopy(Side side, std::shared_ptr<const ir::Graph> graph,
                                                           Emitter& emitter);

  // Returns all transformations of the list, including disabled ones and anchors.
  const std::vector<Transformation*>& order() const { return order_; }
  // Returns a report for each transformation that ran, on both sides.
  const std::vector<TransformationReport>& reports() const { return reports_; }

 private:
  // The graph of a run, which may become a copy when a transformation is about to change it.
  struct Target {
    const ir::Graph* graph;
    std::function<ir::Graph&()> change;  // returns the graph to change
  };
  [[nodiscard]] bool RunSide(Side side, Target& target, Emitter& emitter);
  bool IsChosen(const Transformation& transformation) const;
  // Returns true if `stop_after` names a transformation of an earlier phase.
  bool StopsBeforeTarget() const { return last_ != nullptr && last_->phase() != Phase::kTarget; }
  [[nodiscard]] bool RunOne(Transformation& transformation, Target& target, Emitter& emitter);

  const TransformationList* list_ = nullptr;
  std::vector<Transformation*> order_;
  std::vector<Transformation*> only_;
  // The transformations of the target phase that may run; nothing: all.
  std::optional<std::vector<const Transformation*>> requested_;
  const Transformation* last_ = nullptr;
  PipelineOptions options_;
  bool stopped_ = false;
  std::vector<TransformationReport> reports_;
};

}  // namespace nnefc::transform
