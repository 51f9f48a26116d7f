#pragma once

// A random graph as data: the form in which graphs are built, shrunk and stored.

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"

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

  // Returns the number of operations.
  int CountOperations() const;
};

struct BuildOptions {
  // Open extents of parameters: bit `axis` of the entry of a parameter's step. Empty: none.
  std::vector<uint32_t> open_axes = {};
};

// Builds the graph of a recipe with inferred shapes. Returns null if a node is rejected, with the reason in
// `emitter`. Steps of the set "nnef" have parameters `external` and constants `constant`, named as in a
// document.
std::unique_ptr<ir::Graph> Build(const Recipe& recipe, const ir::OpRegistry& registry, Emitter& emitter,
                                 const BuildOptions& options = {});

// Returns the recipe without steps that no result needs, including parameters.
Recipe WithoutDeadSteps(const Recipe& recipe);

// Returns the recipe of a graph of parameters, constants and operations without bodies.
Recipe RecipeOf(const ir::Graph& graph);

}  // namespace nnefc::differential
