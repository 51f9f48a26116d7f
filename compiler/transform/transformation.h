#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "compiler/transform/configuration/sub_graph.h"
#include "compiler/transform/error.h"
#include "compiler/transform/graph.h"
#include "compiler/transform/pattern.h"

namespace nnefc::transform {

struct Configuration;

// The execution phases: on the graph of NNEF operations (front), on the graph of OpenVINO operations with
// shapes (middle), last, before the graph is written or run (back), or on the graph of a plan (target).
enum class Phase : uint8_t { kLoad, kFront, kMiddle, kBack, kTarget };
std::string_view Name(Phase phase);

// Names of transformations: an id, a qualified class name, or its last components, at least two
// ("front.MishFusion"). Built-in ones also have their names in the Model Optimizer
// ("extensions.front.Mish_fusion.MishFusion").
using Names = std::vector<std::string>;

// Returns the qualified name of a class, without anonymous namespaces.
std::string ClassName(const std::type_info& type);
template <typename T>
std::string ClassName() {
  return ClassName(typeid(T));
}

// A change of the graph. The data members are set by a constructor, or from outside during the transformation
// of a model.
class Transformation {
 public:
  virtual ~Transformation() = default;

  // A unique name, or empty.
  std::string id;
  // May be changed by the environment, the command line and other transformations.
  bool enabled = true;
  // The source of an external change of `enabled`: "MO_DISABLED_TRANSFORMS"; otherwise empty.
  std::string switched_by;
  // The plug-in of the transformation; empty for those of nnefc.
  std::string plugin;
  // The qualified name of a class in another language, `folder.module.Class`; empty for C++ classes.
  std::string foreign_class;
  // Transform only the outermost graph, not its bodies.
  bool run_not_recursively = false;
  // Remove nodes that no result and no sink depends on afterwards.
  bool force_clean_up = false;
  // Report an error if the static shape of a marked node, or of one with changed inputs, becomes a different
  // one, unless it was marked with `overrides`.
  bool force_shape_inference = false;
  // Run only on graphs that satisfy all of these predicates.
  std::vector<std::function<bool(const ir::Graph&)>> graph_condition;

  virtual Phase phase() const = 0;
  // The name of the base class, for lists: "FrontReplacementOp".
  virtual std::string_view kind() const = 0;
  // Transformations that run later and earlier. An override replaces the default anchor, the phase's finish
  // or start. Unknown names are ignored.
  virtual Names RunBefore() const = 0;
  virtual Names RunAfter() const = 0;
  // Returns false if it would change neither the graph nor its bodies, so that no copy is made for it.
  virtual bool MayChange(const ir::Graph&) const { return true; }
  // Changes the graph.
  virtual void FindAndReplacePattern(Graph& graph) = 0;

  // A description in a sentence or two for `explain`; "" for none.
  virtual std::string_view Description() const { return {}; }
  // An example graph in text form, between `graph "net" {` and `}`; "" for none.
  virtual std::string_view Example() const { return {}; }
  // Returns the operations in the example that are neither standard nor of a plug-in.
  virtual std::vector<ir::OpInfo> ExampleOperations() const { return {}; }

  // Returns true for mere markers in the order.
  virtual bool is_anchor() const { return false; }
  std::string class_name() const { return foreign_class.empty() ? ClassName(typeid(*this)) : foreign_class; }
  // Returns the id, or the class name if there is none.
  std::string name() const { return id.empty() ? class_name() : id; }

  // The id of the configuration entries that control it; "" for none.
  virtual std::string_view replacement_id() const { return {}; }
  // Receives the configuration of a compilation.
  virtual void Configure(const std::shared_ptr<const Configuration>&) {}

  // Returns a transformation of the same compilation by its name, or null. Changes of its `enabled` take
  // effect if it has not run yet.
  std::function<Transformation*(std::string_view)> find = [](std::string_view) -> Transformation* {
    return nullptr;
  };
  // Receive informational messages, and warnings about probably unintended input.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

// A replacement of pattern matches. Override FindAndReplacePattern, or GetPattern and ReplacePattern; the
// latter is called for every match.
class PatternTransformation : public Transformation {
 public:
  void FindAndReplacePattern(Graph& graph) override;

 protected:
  virtual Pattern GetPattern() const;
  virtual void ReplacePattern(Graph& graph, const Match& match);
};

// ---- front phase ----

class FrontReplacementPattern : public PatternTransformation {
 public:
  Phase phase() const override { return Phase::kFront; }
  std::string_view kind() const override { return "FrontReplacementPattern"; }
  Names RunBefore() const override { return {"FrontFinish"}; }
  Names RunAfter() const override { return {"FrontStart"}; }
};

// A replacement of a sub-graph by another. Override GetPattern, and either ReplaceSubGraph, as the complete
// replacement, or GenerateSubGraph, InputEdgesMatch and OutputEdgesMatch.
class FrontReplacementSubgraph : public FrontReplacementPattern {
 public:
  std::string_view kind() const override { return "FrontReplacementSubgraph"; }

 protected:
  virtual void ReplaceSubGraph(Graph& graph, const Match& match);
  // Creates the nodes that replace a match, with names for the functions below.
  virtual SubGraph GenerateSubGraph(Graph& graph, const Match& match);
  // Maps inputs of matched nodes to the inputs of new nodes that will read the same sources.
  virtual std::map<PortName, PortName> InputEdgesMatch(Graph& graph, const Match& match,
                                                       const SubGraph& made);
  // Maps outputs of matched nodes to the outputs of new nodes that replace them.
  virtual std::map<PortName, PortName> OutputEdgesMatch(Graph& graph, const Match& match,
                                                        const SubGraph& made);
  // Returns the aliases of the nodes to remove; all by default.
  virtual std::vector<std::string> NodesToRemove(Graph& graph, const Match& match);

 private:
  void ReplacePattern(Graph& graph, const Match& match) final { ReplaceSubGraph(graph, match); }
};

// A replacement of every node of an operation. Override ReplaceOp, or ReplaceSubGraph, whose match has the
// single alias `op`.
class FrontReplacementOp : public FrontReplacementSubgraph {
 public:
  explicit FrontReplacementOp(std::string op) : op_(std::move(op)) {}
  std::string_view kind() const override { return "FrontReplacementOp"; }
  const std::string& op() const { return op_; }

 protected:
  // Returns the replacements of the node's outputs: one node for each output (port 0), or one node with its
  // ports in order. Outputs without a replacement must be unused.
  virtual std::vector<Node> ReplaceOp(Graph& graph, const Node& node);
  void ReplaceSubGraph(Graph& graph, const Match& match) override;

 private:
  Pattern GetPattern() const final;

  std::string op_;
};

// ---- middle, back and target phases ----

// The base of middle-phase transformations; patterns may contain data vertices.
class MiddleReplacementPattern : public PatternTransformation {
 public:
  Phase phase() const override { return Phase::kMiddle; }
  std::string_view kind() const override { return "MiddleReplacementPattern"; }
  Names RunBefore() const override { return {"MiddleFinish"}; }
  Names RunAfter() const override { return {"MiddleStart"}; }
};

class BackReplacementPattern : public MiddleReplacementPattern {
 public:
  Phase phase() const override { return Phase::kBack; }
  std::string_view kind() const override { return "BackReplacementPattern"; }
  Names RunBefore() const override { return {"BackFinish"}; }
  Names RunAfter() const override { return {"BackStart"}; }
};

// The base of transformations for a backend, which requests them by name. They run whenever a graph is
// planned, with the shapes of the plan. Bodies have plans of their own.
class TargetReplacementPattern : public MiddleReplacementPattern {
 public:
  TargetReplacementPattern() { run_not_recursively = true; }
  Phase phase() const override { return Phase::kTarget; }
  std::string_view kind() const override { return "TargetReplacementPattern"; }
  Names RunBefore() const override { return {"TargetFinish"}; }
  Names RunAfter() const override { return {"TargetStart"}; }
};

// Finds all matches and then calls `replace` for each, in order. Skips matches with a node that an earlier
// replacement removed, and passes their number to `warn`.
void ApplyPattern(Graph& graph, const Pattern& pattern, const std::function<void(const Match&)>& replace,
                  const std::function<void(const std::string&)>& warn);

}  // namespace nnefc::transform
