#pragma once

#include <memory>
#include <vector>

#include "compiler/expand/evaluate/compile.h"
#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::evaluate {

// Evaluates the graph of a document: a stack machine whose fragment calls are frames on a list, so recursion
// in the document needs no native stack.
//
// After an error the statement is abandoned and its targets become poison. A statement that reads poison is
// abandoned silently. Reaching a limit ends the evaluation.
class Machine {
 public:
  Machine(const semantics::CheckedDocument& document, build::GraphBuilder& builder)
      : state_(document, builder) {}

  // Evaluates the graph's body and adds its parameters and results. Returns false if a statement was
  // abandoned or a limit reached: the graph is incomplete.
  bool Run();
  // Returns the values of expressions outside bodies; poison after a reported error.
  std::vector<Value> Evaluate(llvm::ArrayRef<ast::ExprId> expressions);

 private:
  // Runs a chunk to its end, or until a limit is reached.
  void Execute(const Chunk& root);
  // Runs one instruction. Returns false if the statement must be abandoned.
  bool Step(const Instruction& instruction);
  void BeginStatement(int32_t index);
  // Poisons the targets of the statement and continues with the next one.
  void Abandon();
  void NextPart();
  bool Return();

  Evaluation state_;
  // Compiler of the graph's body; null while expressions outside bodies are evaluated.
  std::unique_ptr<GraphCompiler> body_;
};

}  // namespace nnefc::expand::evaluate
