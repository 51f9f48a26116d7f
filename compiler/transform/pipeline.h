#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "compiler/transform/transformation_list.h"

namespace nnefc::transform {

// The two graphs that are transformed.
enum class Side : uint8_t {
  kBeforeLowering,  // NNEF operations: the front phase
  kAfterLowering,   // OpenVINO operations: the middle and back phases
};

struct PipelineOptions {
  // The only transformations to run, regardless of `enabled`; if empty, all enabled ones run.
  Names only;
  // The last transformation to run; empty for no limit.
  std::string stop_after;
  // Verify the graph after each transformation and report violations.
  bool verify = false;
  // Folds constants; null: only shape functions compute values.
  ir::Evaluator evaluate;
  // Called around every transformation that runs, with the outermost graph.
  std::function<void(const Transformation&, const ir::Graph&)> before;
  std::function<void(const Transformation&, const ir::Graph&)> after;
  // Receives informational messages of transformations and the pipeline.
  std::function<void(const Transformation&, const std::string&)> log;
};

// The effect of one transformation.
struct TransformationReport {
  const Transformation* transformation = nullptr;
  double milliseconds = 0;
  // The number of nodes, including bodies.
  size_t nodes_before = 0;
  size_t nodes_after = 0;
};

// A sequence of transformations that is run in order.
class Pipeline {
 public:
  // Emits a diagnostic and returns nothing if the transformations have no valid order or the options contain
  // an unknown name. The list must outlive the pipeline.
  [[nodiscard]] static std::optional<Pipeline> Make(const TransformationList& list, PipelineOptions options,
                                                    Emitter& emitter);

  // Transforms a graph: the outermost first, then its bodies, the innermost last. Returns false on errors;
  // the graph is then unusable. `enabled` is read just before each transformation.
  [[nodiscard]] bool Run(Side side, ir::Graph& graph, Emitter& emitter);

  const std::vector<Transformation*>& order() const { return order_; }
  const std::vector<TransformationReport>& reports() const { return reports_; }

 private:
  bool IsChosen(const Transformation& transformation) const;
  [[nodiscard]] bool RunOne(Transformation& transformation, ir::Graph& graph, Emitter& emitter);

  std::vector<Transformation*> order_;
  std::vector<Transformation*> only_;
  const Transformation* last_ = nullptr;
  PipelineOptions options_;
  bool stopped_ = false;
  std::vector<TransformationReport> reports_;
};

}  // namespace nnefc::transform
