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
  kBeforeLowering,  // of NNEF operations: the front phase
  kAfterLowering,   // of OpenVINO operations: the middle and back phases
};

struct PipelineOptions {
  // Only these run, enabled or not; all that are enabled if it is empty.
  Names only;
  // The last one to run; none after it. Empty: no bound.
  std::string stop_after;
  // The graph holds every invariant after each transformation, or it is told.
  bool verify = false;
  // Computes what follows from constants; null: only what shape functions know does.
  ir::Evaluator evaluate;
  // Called around every transformation that runs, with the outermost graph.
  std::function<void(const Transformation&, const ir::Graph&)> before;
  std::function<void(const Transformation&, const ir::Graph&)> after;
  // What transformations and the pipeline say of no consequence.
  std::function<void(const Transformation&, const std::string&)> log;
};

// What a transformation did.
struct TransformationReport {
  const Transformation* transformation = nullptr;
  double milliseconds = 0;
  // Nodes of the graph and its bodies.
  size_t nodes_before = 0;
  size_t nodes_after = 0;
};

// Runs the transformations of a list in their order.
class Pipeline {
 public:
  // Nothing, and a diagnostic, if they have no order or a name of the options
  // means none. The list must outlive the pipeline.
  [[nodiscard]] static std::optional<Pipeline> Make(const TransformationList& list, PipelineOptions options,
                                                    Emitter& emitter);

  // Transforms a graph: the outermost first, then bodies, the innermost last.
  // False after a mistake; the graph is then good for nothing. Whether a
  // transformation is enabled is asked when its turn comes.
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
