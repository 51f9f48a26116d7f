#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/expand/evaluate/evaluation.h"
#include "compiler/ir/ops/control_flow.h"

namespace nnefc::expand::evaluate {

// A node whose bodies are being created, one at a time.
struct BodyRun {
  const OpPlan* plan = nullptr;
  ir::NodeId node;
  Site site;
  std::vector<ir::ops::BodyParameter> fed;
  std::vector<std::pair<std::string, Call>> requests;  // roles and fragments
  std::vector<ir::Body> bodies;
  size_t begun = 0;
  bool failed = false;
  // For a loop whose lists refer to names: the body's parameters in the order of `fed`, its results in the
  // order of the node's outputs, and the outputs in the order of the loop's results.
  bool goes_by_name = false;
  std::vector<size_t> parameters, results, outputs;
  // For a loop that continues in the next run of a stream: the names of its states, its first outputs.
  std::vector<std::string> state_names;
  // True if the first of `fed` is not a parameter of the body but whether its iteration counts. The state
  // with index i is then `given[first_state + i]`.
  bool starts_late = false;
  size_t first_state = 0;
  std::vector<Value> given;  // the parameters of the current body in the order of `fed`
};

// Begins a node with bodies, whose fragments its string arguments name. Parameters and results of a body
// correspond to the node's inputs and outputs by position.
bool MakeWithBodies(Evaluation& state, const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                    const Site& site);
// Creates the node of a run, whose plan, site and requests are set, and begins its first body.
bool BeginBodies(Evaluation& state, std::unique_ptr<BodyRun> run, llvm::ArrayRef<Value> arguments,
                 size_t num_outputs);

}  // namespace nnefc::expand::evaluate
