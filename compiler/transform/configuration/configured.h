#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/transform/configuration/configuration.h"
#include "compiler/transform/configuration/subgraph_match.h"
#include "compiler/transform/transformation.h"

namespace nnefc::transform {

// The base of front-phase transformations that act only on configuration entries with their replacement id.
// Entries refer to names of the outermost graph, so bodies are not transformed.
class FrontReplacementFromConfigFile : public Transformation {
 public:
  explicit FrontReplacementFromConfigFile(std::string replacement_id)
      : replacement_id_(std::move(replacement_id)) {
    run_not_recursively = true;
  }
  Phase phase() const override { return Phase::kFront; }
  Names RunBefore() const override { return {"FrontFinish"}; }
  Names RunAfter() const override { return {"FrontStart"}; }
  std::string_view replacement_id() const override { return replacement_id_; }
  void Configure(const std::shared_ptr<const Configuration>& configuration) override;

 protected:
  // Returns the entries with the replacement id.
  const std::vector<const ReplacementDescription*>& descriptions() const { return descriptions_; }

 private:
  std::string replacement_id_;
  std::shared_ptr<const Configuration> configuration_;
  std::vector<const ReplacementDescription*> descriptions_;
};

// A replacement of every sub-graph that an entry of kind `scope` or `points` selects. Override either
// ReplaceSubGraph, as the complete replacement, or GenerateSubGraph, InputEdgesMatch and OutputEdgesMatch.
class FrontReplacementFromConfigFileSubGraph : public FrontReplacementFromConfigFile {
 public:
  using FrontReplacementFromConfigFile::FrontReplacementFromConfigFile;
  std::string_view kind() const override { return "FrontReplacementFromConfigFileSubGraph"; }
  void FindAndReplacePattern(Graph& graph) override;

 protected:
  virtual void ReplaceSubGraph(Graph& graph, const SubgraphMatch& match);
  virtual SubGraph GenerateSubGraph(Graph& graph, const SubgraphMatch& match);
  // Maps indices of the match's inputs to inputs of new nodes, and indices of its outputs to outputs.
  virtual std::map<size_t, PortName> InputEdgesMatch(Graph& graph, const SubgraphMatch& match,
                                                     const SubGraph& made);
  virtual std::map<size_t, PortName> OutputEdgesMatch(Graph& graph, const SubgraphMatch& match,
                                                      const SubGraph& made);
  // Returns the matched nodes to remove; by default all except results.
  virtual std::vector<Node> NodesToRemove(Graph& graph, const SubgraphMatch& match);
};

// A replacement of each sub-graph by one node, for entries with an `op`. Tensors are connected in the order
// of the entry, and the attributes are the custom ones. Runs before the front phase, while nodes have the
// names of the model.
class FrontReplacementFromConfigFileOp : public FrontReplacementFromConfigFileSubGraph {
 public:
  explicit FrontReplacementFromConfigFileOp(const std::string& replacement_id)
      : FrontReplacementFromConfigFileSubGraph(replacement_id) {
    id = replacement_id;
  }
  std::string_view kind() const override { return "FrontReplacementFromConfigFileOp"; }
  Names RunBefore() const override { return {"FrontStart"}; }
  Names RunAfter() const override { return {"LoadFinish"}; }

 protected:
  SubGraph GenerateSubGraph(Graph& graph, const SubgraphMatch& match) override;
  std::map<size_t, PortName> OutputEdgesMatch(Graph& graph, const SubgraphMatch& match,
                                              const SubGraph& made) override;
};

// A transformation that runs once for each entry of kind `general`.
class FrontReplacementFromConfigFileGeneral : public FrontReplacementFromConfigFile {
 public:
  using FrontReplacementFromConfigFile::FrontReplacementFromConfigFile;
  std::string_view kind() const override { return "FrontReplacementFromConfigFileGeneral"; }
  void FindAndReplacePattern(Graph& graph) override;

 protected:
  // Transforms the graph for one entry; override one of these.
  virtual void TransformEntry(Graph& graph, const ReplacementDescription& entry);
  virtual void TransformGraph(Graph& graph, const ir::AttributeMap& custom_attributes);
};

}  // namespace nnefc::transform
