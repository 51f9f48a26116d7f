#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "compiler/transform/error.h"
#include "compiler/transform/graph.h"
#include "compiler/transform/pattern.h"
#include "compiler/transform/sub_graph.h"

namespace nnefc::transform {

struct Configuration;

// When a transformation runs: on the graph of NNEF operations, on that of
// OpenVINO operations with shapes, or last, before the graph is written or run.
enum class Phase : uint8_t { kLoad, kFront, kMiddle, kBack };
std::string_view Name(Phase phase);

// Names of transformations: an id, the name of a class with its namespaces, or
// its last two parts ("front.MishFusion").
using Names = std::vector<std::string>;

// The name of a class with its namespaces, those without names left out.
std::string ClassName(const std::type_info& type);
template <typename T>
std::string ClassName() {
  return ClassName(typeid(T));
}

// A change of the graph. The members are what may be set in a constructor, or
// from outside while a model is transformed.
class Transformation {
 public:
  virtual ~Transformation() = default;

  // Unique, if it is not empty.
  std::string id;
  // May be changed by the environment, by the command line and by other
  // transformations.
  bool enabled = true;
  // Who changed it from outside: "MO_DISABLED_TRANSFORMS"; empty if nobody did.
  std::string switched_by;
  // The plug-in that brings it; empty for those of nnefc.
  std::string plugin;
  // Only the outermost graph is transformed, no bodies.
  bool run_not_recursively = false;
  // What no result and no sink needs is removed afterwards.
  bool force_clean_up = false;
  // A node whose inputs changed, or that was marked, and whose static shape
  // would become another is an error, unless it was marked to override.
  bool force_shape_inference = false;
  // Runs only on graphs of which all of these are true.
  std::vector<std::function<bool(const ir::Graph&)>> graph_condition;

  virtual Phase phase() const = 0;
  // The base class, for lists: "FrontReplacementOp".
  virtual std::string_view kind() const = 0;
  // Transformations that run later, and earlier. Overriding one replaces the
  // anchor of the phase, its finish or its start. Names that nothing has
  // do not count.
  virtual Names RunBefore() const = 0;
  virtual Names RunAfter() const = 0;
  // The change itself.
  virtual void FindAndReplacePattern(Graph& graph) = 0;

  // What it does, in a sentence or two, for who asks `explain`; "" if it does not say.
  virtual std::string_view Description() const { return {}; }
  // A graph in the text form on which it acts, between `graph "net" {` and `}`; "" for none.
  virtual std::string_view Example() const { return {}; }

  // True for what only marks a place in the order.
  virtual bool is_anchor() const { return false; }
  std::string class_name() const { return ClassName(typeid(*this)); }
  // The id, or the class name where there is none.
  std::string name() const { return id.empty() ? class_name() : id; }

  // The id of the entries of a configuration that it acts on; "" if it asks for none.
  virtual std::string_view replacement_id() const { return {}; }
  // Gives it the configuration of a compilation.
  virtual void Configure(const std::shared_ptr<const Configuration>&) {}

  // Called with what is of no consequence but may be of interest, and with what
  // is hardly meant.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

// The kinds that replace what a pattern finds. Override FindAndReplacePattern,
// or GetPattern and ReplacePattern: the latter is called for every match.
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

// A sub-graph for a sub-graph. Override GetPattern, and either ReplaceSubGraph,
// which then does everything itself, or GenerateSubGraph, InputEdgesMatch and
// OutputEdgesMatch.
class FrontReplacementSubgraph : public FrontReplacementPattern {
 public:
  std::string_view kind() const override { return "FrontReplacementSubgraph"; }

 protected:
  virtual void ReplaceSubGraph(Graph& graph, const Match& match);
  // Makes the nodes that replace a match, by names for the functions below.
  virtual SubGraph GenerateSubGraph(Graph& graph, const Match& match);
  // Inputs of matched nodes -> inputs of new nodes that take their sources.
  virtual std::map<PortName, PortName> InputEdgesMatch(Graph& graph, const Match& match,
                                                       const SubGraph& made);
  // Outputs of matched nodes -> outputs of new nodes that take their consumers.
  virtual std::map<PortName, PortName> OutputEdgesMatch(Graph& graph, const Match& match,
                                                        const SubGraph& made);
  // Aliases of the nodes that are removed; all where it is not overridden.
  virtual std::vector<std::string> NodesToRemove(Graph& graph, const Match& match);

 private:
  void ReplacePattern(Graph& graph, const Match& match) final { ReplaceSubGraph(graph, match); }
};

// Every node of an operation. Override ReplaceOp, or ReplaceSubGraph, whose match
// has the one alias `op`.
class FrontReplacementOp : public FrontReplacementSubgraph {
 public:
  explicit FrontReplacementOp(std::string op) : op_(std::move(op)) {}
  std::string_view kind() const override { return "FrontReplacementOp"; }
  const std::string& op() const { return op_; }

 protected:
  // Returns what takes the place of the node's outputs: a node for each output,
  // its port 0; or one node, its ports in order. An output beyond must not be used.
  virtual std::vector<Node> ReplaceOp(Graph& graph, const Node& node);
  void ReplaceSubGraph(Graph& graph, const Match& match) override;

 private:
  Pattern GetPattern() const final;

  std::string op_;
};

// ---- middle and back phases ----

// Patterns may name data.
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

// Finds all matches, then calls `replace` for each in order; a match that lost a
// node to an earlier one is left out, and `warn` is told how many were.
void ApplyPattern(Graph& graph, const Pattern& pattern, const std::function<void(const Match&)>& replace,
                  const std::function<void(const std::string&)>& warn);

}  // namespace nnefc::transform
