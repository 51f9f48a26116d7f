#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/transform/configuration.h"
#include "compiler/transform/subgraph_match.h"
#include "compiler/transform/transformation.h"

namespace nnefc::transform {

// The kinds of the front phase that do nothing unless an entry of the
// configuration has their replacement id. Names are those of the outermost graph,
// so bodies are left alone.
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
  // Those of the replacement id.
  const std::vector<const ReplacementDescription*>& descriptions() const { return descriptions_; }

 private:
  std::string replacement_id_;
  std::shared_ptr<const Configuration> configuration_;
  std::vector<const ReplacementDescription*> descriptions_;
};

// Every sub-graph that an entry of `scope` or `points` names. Override
// ReplaceSubGraph, which then does everything itself, or GenerateSubGraph,
// InputEdgesMatch and OutputEdgesMatch.
class FrontReplacementFromConfigFileSubGraph : public FrontReplacementFromConfigFile {
 public:
  using FrontReplacementFromConfigFile::FrontReplacementFromConfigFile;
  std::string_view kind() const override { return "FrontReplacementFromConfigFileSubGraph"; }
  void FindAndReplacePattern(Graph& graph) override;

 protected:
  virtual void ReplaceSubGraph(Graph& graph, const SubgraphMatch& match);
  virtual SubGraph GenerateSubGraph(Graph& graph, const SubgraphMatch& match);
  // Numbers of the match's inputs -> inputs of new nodes; of its outputs -> outputs.
  virtual std::map<size_t, PortName> InputEdgesMatch(Graph& graph, const SubgraphMatch& match,
                                                     const SubGraph& made);
  virtual std::map<size_t, PortName> OutputEdgesMatch(Graph& graph, const SubgraphMatch& match,
                                                      const SubGraph& made);
  // All matched nodes but results where it is not overridden.
  virtual std::vector<Node> NodesToRemove(Graph& graph, const SubgraphMatch& match);
};

// One node in place of each sub-graph: entries with an `op`. Tensors are attached
// in the order of the entry; the attributes are the custom ones. Runs first, while
// names are those of the model.
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

// Once for each entry of `general`.
class FrontReplacementFromConfigFileGeneral : public FrontReplacementFromConfigFile {
 public:
  using FrontReplacementFromConfigFile::FrontReplacementFromConfigFile;
  std::string_view kind() const override { return "FrontReplacementFromConfigFileGeneral"; }
  void FindAndReplacePattern(Graph& graph) override;

 protected:
  virtual void TransformGraph(Graph& graph, const ir::AttributeMap& custom_attributes) = 0;
};

}  // namespace nnefc::transform
