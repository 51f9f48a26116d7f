#pragma once

// A random graph as data: what a graph is built from, shrunk as and kept as.

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::differential {

// Output `output` of step `step`.
struct ValueRef {
  int step = 0;
  int output = 0;
  friend bool operator==(ValueRef, ValueRef) = default;
};

// A parameter, a constant, or a node.
struct Step {
  enum class Kind : uint8_t { kParameter, kConstant, kOperation };

  Kind kind = Kind::kOperation;
  // kParameter, kConstant
  ElementType type = ElementType::kDynamic;
  Shape shape = {};
  TensorValue value = {};  // kConstant
  // kOperation
  std::string set = {};
  std::string name = {};
  ir::AttributeMap attributes = {};
  std::vector<ValueRef> inputs = {};
  std::vector<int32_t> segments = {};
  int num_outputs = 1;
};

struct Recipe {
  std::vector<Step> steps;
  std::vector<ValueRef> results;

  // How many steps are operations.
  int CountOperations() const;
};

struct BuildOptions {
  // Extents of parameters that are left open: bit `axis` of the entry of a
  // parameter's step. Empty: none.
  std::vector<uint32_t> open_axes = {};
};

// The graph of a recipe, its shapes inferred; null where a node is refused, and
// `emitter` holds why. Steps of the set "nnef" have parameters `external` and
// constants `constant`, named as a document would.
std::unique_ptr<ir::Graph> Build(const Recipe& recipe, const ir::OpRegistry& registry, Emitter& emitter,
                                 const BuildOptions& options = {});

// Drops the steps that no result needs, parameters included.
Recipe WithoutDeadSteps(const Recipe& recipe);

// The recipe of a graph of parameters, constants and operations without bodies.
Recipe RecipeOf(const ir::Graph& graph);

}  // namespace nnefc::differential
