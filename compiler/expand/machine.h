#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/chunk.h"
#include "compiler/expand/compile.h"
#include "compiler/expand/graph_builder.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::expand {

// Evaluates the graph of a document: a stack machine whose fragment calls are frames on a list, so recursion
// in the document needs no native stack.
//
// After an error the statement is abandoned and its targets become poison. A statement that reads poison is
// abandoned silently. Reaching a limit ends the evaluation.
class Machine {
 public:
  Machine(const semantics::CheckedDocument& document, ir::OpRegistry& registry, const ExpandOptions& options,
          Context& context, GraphBuilder& builder);

  // Evaluates the graph's body and adds its parameters and results. Returns false if a statement was
  // abandoned or a limit reached: the graph is incomplete.
  bool Run();
  // Returns the values of expressions outside bodies; poison after a reported error.
  std::vector<Value> Evaluate(llvm::ArrayRef<ast::ExprId> expressions);

 private:
  // A submodel whose graph is being evaluated.
  struct SubmodelRun {
    std::string path;           // its labels, joined
    std::vector<Value> inputs;  // values of its externals, in order
    size_t taken = 0;           // number of inputs consumed
    uint32_t symbols = 0;       // result of SymbolScopes::Open
  };
  // The treatment of calls of a fragment.
  enum class Mode : uint8_t { kUnknown, kInstantiate, kOperation, kInstantiateIfChanged };
  struct FragmentInfo {
    Mode mode = Mode::kUnknown;
    bool casts = false;  // a parameter or result may turn a literal into a tensor
    std::unique_ptr<Chunk> chunk;
    std::unique_ptr<OpPlan> plan;
    std::vector<std::unique_ptr<Value>> defaults;  // indexed by parameter, evaluated on demand
  };
  struct Frame {
    const Chunk* chunk = nullptr;
    const Call* call = nullptr;  // null: the graph's body
    size_t base = 0;             // first slot, in stack_
    size_t loop_base = 0;
    int32_t pc = 0;
    int32_t statement = -1;
    int32_t node_bound = 0;  // nodes with smaller indices precede the statement
    semantics::TypeKind generic = semantics::TypeKind::kError;
    std::shared_ptr<const ir::Frame> origin = {};  // created on demand
    bool is_body = false;                          // creates nodes in a body of another node
    // For the graph of a submodel.
    std::shared_ptr<SubmodelRun> submodel = {};
  };
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
  };
  struct LoopLists;
  // A comprehension that is being evaluated.
  struct Loop {
    std::vector<Value> arrays;
    int64_t index = 0;
    int64_t length = 0;
    std::vector<Value> results;  // alive: charged to the heap
  };

  DefaultLookup Defaults() {
    return [this](const semantics::Callee& callee, size_t parameter) { return Default(callee, parameter); };
  }
  // Runs a chunk to its end, or until a limit is reached.
  void Execute(const Chunk& root);
  void NextPart();
  // Runs one instruction. Returns false, as the functions for single instructions do, if the statement must
  // be abandoned: after a reported error, or silently because an operand is poison.
  bool Step(const Instruction& instruction);
  void BeginStatement(int32_t index);
  void Abandon();
  // Reports `fault` at an expression and returns false.
  bool Fail(const Fault& fault, ast::ExprId expr);
  // Checks the limit of steps; reaching it is a fatal error.
  bool CheckSteps(ast::ExprId expr);
  // Pushes a value. Returns false if it is poison, after reporting `fault` if there is no value, or after an
  // error if it is an unknown extent outside lenient mode.
  bool Push(std::optional<Value> value, const Fault& fault, ast::ExprId expr);
  Value Pop();

  bool Load(const Instruction& instruction);
  bool Store(const Instruction& instruction);
  bool MakeSequence(const Instruction& instruction);
  bool Unary(const Instruction& instruction);
  bool Binary(const Instruction& instruction);
  bool Operator(std::string_view name, size_t arguments, ast::ExprId expr);
  bool Branch(const Instruction& instruction);
  ast::ExprId OperandOf(ast::ExprId expr, const Fault& fault) const;
  ast::ExprId BoundOf(ast::ExprId expr, const Fault& fault) const;
  bool PushSubscript(const Instruction& instruction);
  bool PushRange(const Instruction& instruction);
  bool PushBuiltin(const Instruction& instruction);
  bool Unpack(const Instruction& instruction);
  bool BeginLoop(const Instruction& instruction);
  bool NextItem(const Instruction& instruction);
  bool Yield(const Instruction& instruction);
  bool EndLoop(const Instruction& instruction);
  void TruncateLoops(size_t num_remaining);
  bool DoCall(const Call& call);
  bool MayEnter(const Call& call);
  bool RepeatsItself(const Call& call);
  bool IsEquivalent(const Value& a, const Value& b);
  bool HasGenericTensors(const Call& call, size_t first_argument);
  bool CheckCast(const Call& call, const semantics::Signature& signature, llvm::ArrayRef<Value> arguments);
  bool Instantiate(const Call& call, FragmentInfo& info);
  bool Enter(Frame callee);
  bool MakeOperation(const Call& call, FragmentInfo& info);
  bool Return();

  // ---- bodies.cpp ----
  // Begins a node with bodies.
  bool MakeWithBodies(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                      const Site& site);
  bool CheckBodyArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const semantics::Callee& body,
                          std::string_view role, const Site& site);
  // ---- scan.cpp ----
  // Begins a loop whose lists refer to names.
  bool MakeLoop(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  bool ReadLoopLists(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const semantics::Signature& body,
                     const Site& site, LoopLists& lists);
  bool BeginBody();
  bool FinishBody();
  // ---- submodel.cpp ----
  // Begins the graph of a submodel.
  bool MakeSubmodel(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Returns the submodel whose operations are being created; null in the document's own graph.
  SubmodelRun* submodel();
  std::string_view InputName();
  // Replaces an external of a submodel by the value passed for it.
  bool TakeInput(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Prepends the submodel's path to a variable's label.
  void PrefixLabel(const OpPlan& plan, const SubmodelRun& run, llvm::MutableArrayRef<Value> arguments);
  // Returns from a submodel with the array of its results.
  bool FinishSubmodel();
  bool FinishBodies();

  void Finish();

  FragmentInfo& Info(const semantics::Callee& callee);
  Mode ModeOf(const semantics::Callee& callee) const;
  bool LowerRequested(std::string_view name) const;
  const Value* Default(const semantics::Callee& callee, size_t parameter);
  semantics::TypeKind BoundGeneric(const Call& call, size_t first_argument);
  semantics::TypeKind GenericOf(const Call& call, size_t first_argument);
  Frame& frame() { return frames_.back(); }
  Site SiteOf(ast::ExprId expr);
  const std::shared_ptr<const ir::Frame>& OriginFrame();
  std::string ScopeOf(size_t frame) const;

  const semantics::CheckedDocument& document_;
  ir::OpRegistry& registry_;
  const ExpandOptions& options_;
  Context& context_;
  GraphBuilder& builder_;
  Heap& heap_;
  // Compiler of the graph's body; null while expressions outside bodies are evaluated.
  std::unique_ptr<GraphCompiler> body_;
  // Fragments of the document, its library and its extensions.
  struct DocumentInfos {
    const semantics::CheckedDocument* document = nullptr;
    std::vector<std::unique_ptr<FragmentInfo>> fragments = {};  // indexed by FragmentId
  };
  llvm::SmallVector<DocumentInfos, 4> infos_;
  llvm::DenseMap<const semantics::CheckedDocument*, std::unique_ptr<Chunk>> submodel_chunks_;
  std::vector<Value> stack_;
  std::vector<Frame> frames_;
  std::vector<Loop> loops_;
  std::vector<std::unique_ptr<BodyRun>> body_runs_;  // the innermost last
  int64_t steps_ = 0;
  int64_t uncharged_steps_ = 0;  // of the graph's own statements; the limit does not include them
  bool stopped_ = false;
  bool complete_ = true;
};

}  // namespace nnefc::expand
