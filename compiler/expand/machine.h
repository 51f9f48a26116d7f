#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/chunk.h"
#include "compiler/expand/compile.h"
#include "compiler/expand/instantiate.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::expand {

// Evaluates the graph of a document: a stack machine whose fragment calls are
// frames on a list, so that recursion of the document is none of ours.
//
// After a mistake the statement is given up and what it assigns is poison: a
// statement that reads poison is given up too, in silence. A limit ends all.
class Machine {
 public:
  Machine(const CheckedDocument& document, ir::OpRegistry& registry, const ExpandOptions& options,
          Context& context, GraphBuilder& builder);

  // Evaluates the graph's body and adds its parameters and results. False if a
  // statement was given up or a limit reached: the graph is not complete.
  bool Run();
  // The values of expressions of the document that no body holds; poison where
  // there is a mistake, which was emitted.
  std::vector<Value> Evaluate(llvm::ArrayRef<ast::ExprId> expressions);

 private:
  // A model inside whose graph is being evaluated.
  struct SubmodelRun {
    std::string path;           // of labels that lead to it
    std::vector<Value> inputs;  // what its externals stand for, in their order
    size_t taken = 0;           // of those
    uint32_t symbols = 0;       // before its own
  };
  // How a fragment is called.
  enum class Mode : uint8_t { kUnknown, kInstantiate, kOperation, kInstantiateIfChanged };
  struct FragmentInfo {
    Mode mode = Mode::kUnknown;
    bool casts = false;  // a parameter or result may turn a literal into a tensor
    std::unique_ptr<Chunk> chunk;
    std::unique_ptr<OpPlan> plan;
    std::vector<std::unique_ptr<Value>> defaults;  // by parameter, evaluated on demand
  };
  struct Frame {
    const Chunk* chunk = nullptr;
    const Call* call = nullptr;  // null: the graph's body
    size_t base = 0;             // first slot, in stack_
    size_t loop_base = 0;
    int32_t pc = 0;
    int32_t statement = -1;
    int32_t node_bound = 0;  // nodes of a lower index were made before the statement
    TypeKind generic = TypeKind::kError;
    std::shared_ptr<const ir::Frame> origin = {};  // made on demand
    bool is_body = false;                          // its graph is a body of the node that is being made
    // Of the graph of a model inside.
    std::shared_ptr<SubmodelRun> submodel = {};
  };
  // A node whose bodies are being made, one after the other.
  struct BodyRun {
    const OpPlan* plan = nullptr;
    ir::NodeId node;
    Site site;
    std::vector<ir::BodyParameter> fed;
    std::vector<std::pair<std::string, Call>> requests;  // roles and fragments
    std::vector<ir::Body> bodies;
    size_t begun = 0;
    bool failed = false;
    // Of a loop whose lists go by name: the parameters of its body as they are
    // fed, the results as the node has outputs, and the outputs as the loop has
    // results.
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
    return [this](const Callee& callee, size_t parameter) { return Default(callee, parameter); };
  }
  void Execute(const Chunk& root);
  void NextPart();
  bool Step(const Instruction& instruction);
  void BeginStatement(int32_t index);
  void GiveUp();
  bool Fail(const Fault& fault, ast::ExprId expr);
  bool CheckSteps(ast::ExprId expr);
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
  bool TakeSubscript(const Instruction& instruction);
  bool TakeRange(const Instruction& instruction);
  bool TakeBuiltin(const Instruction& instruction);
  bool Unpack(const Instruction& instruction);
  bool BeginLoop(const Instruction& instruction);
  bool NextItem(const Instruction& instruction);
  bool Yield(const Instruction& instruction);
  bool EndLoop(const Instruction& instruction);
  void DropLoops(size_t count);
  bool DoCall(const Call& call);
  bool MayEnter(const Call& call);
  bool RepeatsItself(const Call& call);
  bool IsAlike(const Value& a, const Value& b);
  bool HasGenericTensors(const Call& call, size_t first_argument);
  bool CheckCast(const Call& call, const Signature& signature, llvm::ArrayRef<Value> arguments);
  bool Instantiate(const Call& call, FragmentInfo& info);
  bool Enter(Frame callee);
  bool MakeOperation(const Call& call, FragmentInfo& info);
  bool Return();

  // ---- bodies.cpp ----
  // Begins a node with bodies.
  bool MakeWithBodies(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                      const Site& site);
  bool CheckBodyArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Callee& body,
                          std::string_view role, const Site& site);
  // ---- scan.cpp ----
  // Begins a loop whose lists go by name.
  bool MakeLoop(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  bool ReadLoopLists(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Signature& body,
                     const Site& site, LoopLists& lists);
  bool BeginBody();
  bool FinishBody();
  // ---- submodel.cpp ----
  // Begins the graph of a model inside.
  bool MakeSubmodel(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // The model inside whose operations are being made; null in the document's own graph.
  SubmodelRun* submodel();
  std::string_view InputName();
  // Makes an external of a model inside what that is given.
  bool TakeInput(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Makes the label of a variable that of the whole model.
  void PrefixLabel(const OpPlan& plan, const SubmodelRun& run, llvm::MutableArrayRef<Value> arguments);
  // Leaves a model inside with the array of its results.
  bool FinishSubmodel();
  bool FinishBodies();

  void Finish();

  FragmentInfo& Info(const Callee& callee);
  Mode ModeOf(const Callee& callee) const;
  bool LowerRequested(std::string_view name) const;
  const Value* Default(const Callee& callee, size_t parameter);
  TypeKind GenericOf(const Call& call, size_t first_argument);
  Frame& frame() { return frames_.back(); }
  Site SiteOf(ast::ExprId expr);
  const std::shared_ptr<const ir::Frame>& OriginFrame();
  std::string ScopeOf(size_t frame) const;

  const CheckedDocument& document_;
  ir::OpRegistry& registry_;
  const ExpandOptions& options_;
  Context& context_;
  GraphBuilder& builder_;
  Heap& heap_;
  // Of the graph's body; null while expressions that no body holds are evaluated.
  std::unique_ptr<GraphCompiler> body_;
  // Of the document, its library and its extensions.
  struct DocumentInfos {
    const CheckedDocument* document = nullptr;
    std::vector<std::unique_ptr<FragmentInfo>> fragments = {};  // by FragmentId
  };
  llvm::SmallVector<DocumentInfos, 4> infos_;
  llvm::DenseMap<const CheckedDocument*, std::unique_ptr<Chunk>> submodel_chunks_;
  std::vector<Value> stack_;
  std::vector<Frame> frames_;
  std::vector<Loop> loops_;
  std::vector<std::unique_ptr<BodyRun>> body_runs_;  // the innermost last
  int64_t steps_ = 0;
  int64_t allowance_ = 0;  // steps that the graph's own statements may take for free
  bool stopped_ = false;
  bool complete_ = true;
};

}  // namespace nnefc::expand
