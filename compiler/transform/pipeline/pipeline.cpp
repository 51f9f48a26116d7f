// The pipeline that runs the chosen transformations in their order.

#include "compiler/transform/pipeline/pipeline.h"

#include <chrono>
#include <exception>

#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/transform/guard.h"
#include "compiler/transform/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

size_t CountNodes(const ir::Graph& graph) {
  size_t count = graph.num_nodes();
  for (ir::NodeId id : graph.nodes()) {
    for (const ir::Body& body : graph.node(id).bodies()) count += CountNodes(*body.graph);
  }
  return count;
}

void CleanUp(ir::Graph& graph) {
  graph.EraseDeadNodes();
  for (ir::NodeId id : graph.nodes()) {
    for (size_t i = 0; i < graph.node(id).bodies().size(); ++i) CleanUp(*graph.body(id, i).graph);
  }
}

// The application of one transformation to a graph and its bodies.
class Application {
 public:
  // `plan`: null for bodies; they have separate plans.
  Application(Transformation& transformation, const ir::Evaluator& evaluate, const ir::PlanFunctions* plan,
              Emitter& emitter)
      : transformation_(transformation), evaluate_(evaluate), plan_(plan), emitter_(emitter) {}

  bool Apply(ir::Graph& ir) {
    const bool had_ends = !ir.results().empty() || !ir.sinks().empty();
    const auto first_new = static_cast<int32_t>(ir.node_bound());
    Graph graph(ir, evaluate_, plan_);
    bool applies = true;
    const bool is_known = Guarded(transformation_, "graph_condition", emitter_, [&] {
      applies = llvm::all_of(transformation_.graph_condition, [&](const auto& holds) { return holds(ir); });
    });
    if (!is_known || (applies && !Call(graph))) return false;
    if (const std::vector<std::string> open = graph.Unconnected(); !open.empty())
      return Fail(kFailed, "left {} unconnected", open.front());
    graph.Finish();
    if (transformation_.force_clean_up) ir.EraseDeadNodes();
    if (had_ends && ir.results().empty() && ir.sinks().empty())
      return Fail(kInvalidGraph, "left the graph without results");
    std::vector<ir::NodeId> marked = graph.TakeMarked();
    if (!transformation_.run_not_recursively) {
      for (ir::NodeId id : ir.nodes()) {
        for (size_t i = 0; i < ir.node(id).bodies().size(); ++i) {
          Application inner(transformation_, evaluate_, nullptr, emitter_);
          ir::Graph& body = *ir.body(id, i).graph;
          const size_t num_parameters = body.parameters().size(), num_results = body.results().size();
          if (!inner.Apply(body)) return false;
          // The port map refers to them by their indices.
          if (body.parameters().size() != num_parameters)
            return Fail(kInvalidGraph, "left a body of `{}` with {} parameters; expected {}",
                        ir.node(id).name(), body.parameters().size(), num_parameters);
          if (body.results().size() != num_results)
            return Fail(kInvalidGraph, "left a body of `{}` with {} results; expected {}", ir.node(id).name(),
                        body.results().size(), num_results);
          if (inner.changed_) marked.push_back(id);
        }
      }
    }
    changed_ |= !marked.empty() || ir.node_bound() != static_cast<size_t>(first_new);
    return Infer(ir, marked, graph, first_new);
  }

 private:
  bool Call(Graph& graph) {
    try {
      transformation_.FindAndReplacePattern(graph);
      return true;
    } catch (const Mismatch& error) {
      emitter_.Emit(kMismatch, {}, "{}: {}", Called(transformation_), WithReplacementId(error.what()));
      return false;
    } catch (const std::exception& error) {
      return Fail(kFailed, "failed: {}", WithReplacementId(error.what()));
    } catch (...) {
      return Fail(kFailed, "failed: it threw something other than a std::exception");
    }
  }

  // Returns an error text with the id of the configuration entries in place of `[REPLACEMENT_ID]`.
  std::string WithReplacementId(std::string text) const {
    constexpr std::string_view kPlaceholder = "[REPLACEMENT_ID]";
    std::string id;
    try {
      id = transformation_.replacement_id();
    } catch (...) {  // of a plug-in; the error itself is reported
    }
    if (id.empty()) return text;
    for (size_t at = text.find(kPlaceholder); at != std::string::npos;
         at = text.find(kPlaceholder, at + id.size()))
      text.replace(at, kPlaceholder.size(), id);
    return text;
  }

  template <typename... Args>
  bool Fail(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    emitter_.Emit(rule, {}, "{} {}", Called(transformation_),
                  fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  // Infers the marked nodes, and transitively those whose inputs change as a result.
  bool Infer(ir::Graph& ir, const std::vector<ir::NodeId>& marked, const Graph& graph, int32_t first_new) {
    if (marked.empty()) return true;
    ir::NodeOrder own;
    ir::NodeOrder& shared = plan_ != nullptr && plan_->order != nullptr ? *plan_->order : own;
    shared.Reset();
    const std::vector<ir::NodeId>* order = shared.Of(ir);
    if (order == nullptr) return Fail(kInvalidGraph, "made a cycle");
    std::vector<bool> dirty(ir.node_bound(), false);
    bool has_dead_node = false;  // an invalid one, without influence on results
    for (ir::NodeId id : marked) {
      if (ir.Contains(id)) dirty[static_cast<size_t>(id.index)] = true;
    }
    for (ir::NodeId id : *order) {
      if (!dirty[static_cast<size_t>(id.index)]) continue;
      const std::vector<ir::Output> before(ir.node(id).outputs().begin(), ir.node(id).outputs().end());
      if (const std::string why = InferOne(ir, id); !why.empty()) {
        const ir::Node& node = ir.node(id);
        if (IsLive(ir, id))
          return Fail(kInvalidGraph, "made `{}` ({}.{}) invalid: {}", node.name(), node.set(), node.type(),
                      why);
        has_dead_node = true;
        continue;
      }
      const ir::Node& node = ir.node(id);
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        const ir::Output& old = before[static_cast<size_t>(i)];
        if (IsSame(old, node.output(i))) continue;
        const bool collides = old.shape != node.output(i).shape && old.shape.known();
        if (collides && id.index < first_new && transformation_.force_shape_inference &&
            !graph.MayOverride(id)) {
          return Fail(kShapeChanged, "made the shape of output {} of `{}` {} where it was {}", i, node.name(),
                      ir::ToString(node.output(i).shape), ir::ToString(old.shape));
        }
        for (ir::InputPort use : node.uses(i)) dirty[static_cast<size_t>(use.node.index)] = true;
      }
    }
    if (has_dead_node) ir.EraseDeadNodes();
    return true;
  }

  // Infers a node; returns the reason for a failure, or "".
  static std::string InferOne(ir::Graph& ir, ir::NodeId id) {
    Emitter inner;
    if (ir::InferNode(ir, id, inner) && !inner.has_errors()) return "";
    return inner.diagnostics().empty() ? "its inputs do not fit" : inner.diagnostics().front().message;
  }

  // Returns true if a result or a sink depends on the node.
  static bool IsLive(const ir::Graph& ir, ir::NodeId id) {
    std::vector<bool> seen(ir.node_bound(), false);
    std::vector<ir::NodeId> open = {id};
    while (!open.empty()) {
      const ir::Node& node = ir.node(open.back());
      open.pop_back();
      if (llvm::is_contained(ir.results(), node.id()) || llvm::is_contained(ir.sinks(), node.id()))
        return true;
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        for (ir::InputPort use : node.uses(i)) {
          if (seen[static_cast<size_t>(use.node.index)]) continue;
          seen[static_cast<size_t>(use.node.index)] = true;
          open.push_back(use.node);
        }
      }
    }
    return false;
  }

  // Comparing values costs more than inferring their consumers again.
  static bool IsSame(const ir::Output& a, const ir::Output& b) {
    return a.type == b.type && a.shape == b.shape && !a.value && !b.value;
  }

  Transformation& transformation_;
  const ir::Evaluator& evaluate_;
  const ir::PlanFunctions* const plan_;
  Emitter& emitter_;
  bool changed_ = false;
};

}  // namespace

Side SideOf(Phase phase) {
  switch (phase) {
    case Phase::kLoad:
    case Phase::kFront:
      return Side::kBeforeLowering;
    case Phase::kMiddle:
    case Phase::kBack:
      return Side::kAfterLowering;
    case Phase::kTarget:
      return Side::kTarget;
  }
  return Side::kAfterLowering;
}

std::optional<Pipeline> Pipeline::Make(const TransformationList& list, PipelineOptions options,
                                       Emitter& emitter) {
  Pipeline pipeline;
  pipeline.list_ = &list;
  std::optional<std::vector<Transformation*>> order = list.Order(emitter);
  if (!order) return std::nullopt;
  pipeline.order_ = std::move(*order);
  for (const std::string& name : options.only) {
    Transformation* found = list.FindOrReport(name, emitter);
    if (found == nullptr) return std::nullopt;
    pipeline.only_.push_back(found);
  }
  if (!options.stop_after.empty()) {
    pipeline.last_ = list.FindOrReport(options.stop_after, emitter);
    if (pipeline.last_ == nullptr) return std::nullopt;
  }
  pipeline.options_ = std::move(options);
  return pipeline;
}

bool Pipeline::IsChosen(const Transformation& transformation) const {
  if (transformation.is_anchor()) return false;
  if (requested_ && !llvm::is_contained(*requested_, &transformation)) return false;
  return only_.empty() ? transformation.enabled : llvm::is_contained(only_, &transformation);
}

bool Pipeline::Run(Side side, ir::Graph& graph, Emitter& emitter) {
  Target target{.graph = &graph, .change = [&]() -> ir::Graph& { return graph; }};
  return RunSide(side, target, emitter);
}

std::shared_ptr<const ir::Graph> Pipeline::RunOnCopy(Side side, std::shared_ptr<const ir::Graph> graph,
                                                     Emitter& emitter) {
  std::shared_ptr<ir::Graph> copy;
  Target target{.graph = graph.get(), .change = nullptr};
  target.change = [&]() -> ir::Graph& {
    if (copy == nullptr) {
      copy = ir::Clone(*graph);
      target.graph = copy.get();
    }
    return *copy;
  };
  if (!RunSide(side, target, emitter)) return nullptr;
  return copy != nullptr ? copy : graph;
}

bool Pipeline::RunTarget(llvm::ArrayRef<const Transformation*> requested, const ir::PlanFunctions& functions,
                         ir::Graph& graph, Emitter& emitter) {
  requested_ = requested.vec();
  options_.evaluate = functions.evaluate;
  options_.plan = functions;
  return Run(Side::kTarget, graph, emitter);
}

bool Pipeline::RunSide(Side side, Target& target, Emitter& emitter) {
  if (side == Side::kTarget && StopsBeforeTarget()) return true;
  const auto lowering =
      llvm::find_if(order_, [](const Transformation* item) { return item->id == kLowering; });
  const auto begin = side == Side::kBeforeLowering ? order_.begin() : lowering;
  const auto end = side == Side::kBeforeLowering ? lowering : order_.end();
  for (auto it = begin; it != end && !stopped_; ++it) {
    if (((*it)->phase() == Phase::kTarget) != (side == Side::kTarget)) continue;
    if (IsChosen(**it) && !RunOne(**it, target, emitter)) return false;
    stopped_ = *it == last_;
  }
  return true;
}

bool Pipeline::RunOne(Transformation& transformation, Target& target, Emitter& emitter) {
  transformation.log = [&](const std::string& text) {
    if (options_.log) options_.log(transformation, text);
  };
  transformation.find = [this](std::string_view name) { return list_->Find(name); };
  transformation.warn = [&](const std::string& text) {
    emitter.Emit(kNotice, {}, "{}: {}", Called(transformation), text);
  };
  TransformationReport report{.transformation = &transformation, .nodes_before = CountNodes(*target.graph)};
  if (options_.before) options_.before(transformation, *target.graph);
  const auto start = std::chrono::steady_clock::now();
  bool changes = false;
  if (!Guarded(transformation, "MayChange", emitter,
               [&] { changes = transformation.MayChange(*target.graph); }))
    return false;
  if (changes) {
    ir::Graph& graph = target.change();
    const ir::PlanFunctions* plan = transformation.phase() == Phase::kTarget ? &options_.plan : nullptr;
    if (!Application(transformation, options_.evaluate, plan, emitter).Apply(graph)) return false;
    // Otherwise it was done in each body.
    if (transformation.force_clean_up && transformation.run_not_recursively) CleanUp(graph);
  }
  report.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (options_.verify && changes) {
    for (const std::vector<std::string>& wrong :
         {ir::Verify(*target.graph), ir::VerifyInferred(*target.graph, ir::PortNames::kAny)}) {
      if (wrong.empty()) continue;
      emitter.Emit(kInvalidGraph, {}, "{} broke the graph: {}", Called(transformation), wrong.front());
      return false;
    }
  }
  if (options_.after) options_.after(transformation, *target.graph);
  report.nodes_after = CountNodes(*target.graph);
  reports_.push_back(report);
  return true;
}

}  // namespace nnefc::transform
