#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/expand/build/graph_builder.h"
#include "compiler/expand/evaluate/chunk.h"
#include "compiler/expand/evaluate/fragment_table.h"

namespace nnefc::expand::vendor {
struct SubmodelRun;  // submodel.h
}  // namespace nnefc::expand::vendor

namespace nnefc::expand::evaluate {

struct BodyRun;  // bodies.h
struct Evaluation;

// The body of a fragment or graph that is being evaluated.
struct Frame {
  const Chunk* chunk = nullptr;
  const Call* call = nullptr;  // null: the graph's body
  size_t base = 0;             // first slot, in Evaluation::stack
  size_t loop_base = 0;
  int32_t pc = 0;
  int32_t statement = -1;
  int32_t node_bound = 0;  // nodes with smaller indices precede the statement
  semantics::TypeKind generic = semantics::TypeKind::kError;
  std::shared_ptr<const ir::Frame> origin = {};  // created on demand
  bool is_body = false;                          // creates nodes in a body of another node
  // The instruction that returns from the frame; null: ReturnFromFragment.
  bool (*finish)(Evaluation&) = nullptr;
  // For the graph of a submodel.
  std::shared_ptr<vendor::SubmodelRun> submodel = {};
};

// A comprehension that is being evaluated.
struct Loop {
  std::vector<Value> arrays;
  int64_t index = 0;
  int64_t length = 0;
  std::vector<Value> results;  // alive: charged to the heap
};

// The state of an evaluation. Instructions are functions over it. Each returns false if its statement must be
// abandoned: after a reported error, or silently because an operand is poison.
struct Evaluation {
  Evaluation(const semantics::CheckedDocument& evaluated, build::GraphBuilder& graph_builder);
  ~Evaluation();
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  Frame& frame() { return frames.back(); }
  // Reports `fault` at an expression and returns false.
  bool Fail(const Fault& fault, ast::ExprId expr);
  // Checks the limit of steps; reaching it is a fatal error.
  bool CheckSteps(ast::ExprId expr) {
    steps += std::exchange(heap.work, 0);
    return steps - uncharged_steps <= context.limits.steps || FailAtLimit(expr);
  }
  // Pushes a value. Returns false if it is poison, after reporting `fault` if there is no value, or after an
  // error if it is an unknown extent outside lenient mode.
  [[nodiscard]] bool Push(std::optional<Value> value, const Fault& fault, ast::ExprId expr);
  Value Pop() {
    Value value = std::move(stack.back());
    stack.pop_back();
    return value;
  }
  // Returns the `count` values on top of the stack.
  llvm::MutableArrayRef<Value> Top(size_t count) {
    return llvm::MutableArrayRef<Value>(stack).take_back(count);
  }
  // Discards the innermost comprehensions until `num_remaining` are left.
  void TruncateLoops(size_t num_remaining);
  // Returns the location of operations that the current statement creates for `expr`.
  Site SiteOf(ast::ExprId expr);
  // Returns the origin of nodes of the current frame; null in the graph's body.
  const std::shared_ptr<const ir::Frame>& OriginFrame();

  const semantics::CheckedDocument& document;
  build::GraphBuilder& builder;
  const ExpandOptions& options;
  Context& context;
  Heap& heap;
  FragmentTable fragments;
  std::vector<Value> stack;
  std::vector<Frame> frames;
  std::vector<Loop> loops;
  std::vector<std::unique_ptr<BodyRun>> body_runs;  // the innermost last
  int64_t steps = 0;
  int64_t uncharged_steps = 0;  // those of the graph's own statements; the limit does not include them
  bool stopped = false;
  bool complete = true;

 private:
  bool FailAtLimit(ast::ExprId expr);
  std::string ScopeOf(size_t index) const;
};

}  // namespace nnefc::expand::evaluate
