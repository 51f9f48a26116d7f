// The compiler from bodies of graphs and fragments to instructions of the stack machine (machine.h).

#include "compiler/expand/evaluate/compile.h"

#include <algorithm>
#include <limits>

#include "compiler/expand/literal_value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand::evaluate {

using ast::ExprId;

// Compiles one body. Recursion follows the nesting of an expression, bounded by the parser; chains of
// operators and of if-else are compiled in loops.
class Compiler {
 public:
  Compiler(const semantics::CheckedDocument& document, const SymbolTable& symbols,
           const DefaultLookup& defaults, Heap& heap)
      : document_(document),
        ast_(document.ast()),
        symbols_(symbols),
        defaults_(defaults),
        heap_(heap),
        chunk_(std::make_unique<Chunk>()) {
    chunk_->document = &document;
  }

  int32_t AddSlot(Symbol name) {
    auto [entry, added] = slots_.try_emplace(name, chunk_->num_slots);
    if (added) {
      ++chunk_->num_slots;
      chunk_->slot_names.push_back(name);
    }
    return entry->second;
  }
  int32_t FindSlot(Symbol name) const {
    auto found = slots_.find(name);
    return found == slots_.end() ? -1 : found->second;
  }
  // Returns the slot of the value assigned to the name, before it was quantized.
  int32_t FindAssigned(Symbol name) const {
    auto found = assigned_.find(name);
    return found == assigned_.end() ? FindSlot(name) : found->second;
  }
  void QuantizeBy(const Quantizers& quantizers) { quantizers_ = &quantizers; }

  // Compiles statements, followed by the instruction `end`.
  void CompileBody(llvm::ArrayRef<ast::Assignment> body, OpCode end = OpCode::kReturn) {
    for (const ast::Assignment& assignment : body) CompileStatement(assignment);
    Emit(end, ExprId());
  }
  // Discards the compiled statements; the assigned names remain known.
  void ForgetStatements() {
    chunk_->code.clear();
    chunk_->constants.clear();
    chunk_->calls.clear();
    chunk_->statements.clear();
    chunk_->targets.clear();
    literals_.clear();
  }

  void CompileExpressions(llvm::ArrayRef<ExprId> expressions) {
    chunk_->num_slots = static_cast<int32_t>(expressions.size());
    for (size_t i = 0; i < expressions.size(); ++i) CompileLoose(expressions[i], static_cast<int32_t>(i));
    Emit(OpCode::kReturn, ExprId());
  }

  Chunk& chunk() { return *chunk_; }
  std::unique_ptr<Chunk> Take() { return std::move(chunk_); }

 private:
  size_t Emit(OpCode code, ExprId expr, int32_t a = 0, uint8_t detail = 0) {
    chunk_->code.push_back({code, detail, a, expr});
    return chunk_->code.size() - 1;
  }
  int32_t Here() const { return static_cast<int32_t>(chunk_->code.size()); }
  void Land(size_t jump) { chunk_->code[jump].a = Here(); }
  // Pushes the constant of a literal, shared by identical literals; returns false if `expr` is not a literal.
  bool PushLiteral(ExprId expr);
  bool SpellLiteral(ExprId expr);
  void Spell(char kind, llvm::StringRef bytes) {
    spelling_ += kind;
    spelling_.append(bytes.begin(), bytes.end());
  }
  template <typename T>
  void Spell(char kind, T value) {
    Spell(kind, llvm::StringRef(reinterpret_cast<const char*>(&value), sizeof(value)));
  }
  void PushConstant(Value value, ExprId expr) {
    chunk_->constants.push_back(std::move(value));
    Emit(OpCode::kPushConstant, expr, static_cast<int32_t>(chunk_->constants.size()) - 1);
  }

  void CompileStatement(const ast::Assignment& assignment);
  void CompileLoose(ExprId expr, int32_t slot);
  int32_t ArrayLength(ExprId left) const;
  void CollectTargets(ExprId left, Statement& statement);
  void CompilePattern(ExprId left);
  void CompileQuantizers(const Statement& statement, ExprId right);
  void EmitCall(const Call& call) {
    chunk_->calls.push_back(call);
    Emit(OpCode::kCall, call.expr, static_cast<int32_t>(chunk_->calls.size()) - 1);
  }
  void CompileExpr(ExprId expr, bool direct = false);
  void CompileItems(llvm::ArrayRef<ExprId> items, OpCode code, ExprId expr);
  void CompileBinary(ExprId expr);
  void CompileSelect(ExprId expr, bool direct);
  void CompileComprehension(const ast::ComprehensionExpr& loop, ExprId expr);
  void CompileSubscript(const ast::SubscriptExpr& subscript, ExprId expr);
  void CompileInvocation(const ast::InvocationExpr& invocation, ExprId expr, bool direct);
  bool LoadAssigned(ExprId expr);
  bool IsTensor(ExprId expr) const {
    semantics::TypeId type = document_.type(expr);
    return type.valid() && document_.types().Kind(type) == semantics::TypeKind::kTensor;
  }

  const semantics::CheckedDocument& document_;
  const ast::Document& ast_;
  const SymbolTable& symbols_;
  const DefaultLookup defaults_;
  Heap& heap_;
  std::unique_ptr<Chunk> chunk_;
  llvm::DenseMap<Symbol, int32_t> slots_;
  const Quantizers* quantizers_ = nullptr;
  llvm::DenseMap<Symbol, int32_t> assigned_;  // slots of names before quantization, where different
  llvm::StringMap<int32_t> literals_;         // constants, keyed by spelling_
  std::string spelling_;
};

void Compiler::CompileStatement(const ast::Assignment& assignment) {
  auto index = static_cast<int32_t>(chunk_->statements.size());
  Statement statement;
  statement.left = assignment.left;
  statement.begin = Here();
  statement.first_target = static_cast<uint32_t>(chunk_->targets.size());
  const bool sound = document_.sound(assignment);
  const int32_t known = chunk_->num_slots;
  if (assignment.left.valid()) CollectTargets(assignment.left, statement);
  // An invalid reassignment does not change the first value.
  if (!sound) {
    auto first = chunk_->targets.begin() + statement.first_target;
    chunk_->targets.erase(
        std::remove_if(first, chunk_->targets.end(), [&](int32_t slot) { return slot < known; }),
        chunk_->targets.end());
  }
  statement.num_targets = static_cast<uint32_t>(chunk_->targets.size()) - statement.first_target;
  Emit(OpCode::kStatement, assignment.left, index);
  if (!sound || !assignment.left.valid() || !assignment.right.valid()) {
    Emit(OpCode::kAbandon, ExprId());
  } else {
    statement.array_length = ArrayLength(assignment.left);
    CompileExpr(assignment.right, true);
    CompilePattern(assignment.left);
    CompileQuantizers(statement, assignment.right);
  }
  statement.end = Here();
  chunk_->statements.push_back(statement);
}

// Returns the length of the array on the left: `[a, b]`, or the only array of the tuple `(a, [b, c])`; -1 if
// there is none.
int32_t Compiler::ArrayLength(ExprId left) const {
  llvm::ArrayRef<ExprId> items = left;
  if (const auto* tuple = ast::Find<ast::TupleExpr>(ast_.exprs[StripParens(ast_, left)].node)) {
    items = tuple->items;
  }
  int32_t length = -1;
  for (ExprId item : items) {
    const auto* array = std::get_if<ast::ArrayExpr>(&ast_.exprs[StripParens(ast_, item)].node);
    if (array == nullptr) continue;
    if (length >= 0) return -1;
    length = static_cast<int32_t>(array->items.size());
  }
  return length;
}

// Compiles an expression without a left side.
void Compiler::CompileLoose(ExprId expr, int32_t slot) {
  auto index = static_cast<int32_t>(chunk_->statements.size());
  Statement statement;
  statement.begin = Here();
  statement.first_target = static_cast<uint32_t>(chunk_->targets.size());
  statement.num_targets = 1;
  chunk_->targets.push_back(slot);
  chunk_->slot_names.push_back(Symbol());
  Emit(OpCode::kStatement, expr, index);
  CompileExpr(expr);
  Emit(OpCode::kStoreIterator, expr, slot);
  statement.end = Here();
  chunk_->statements.push_back(statement);
}

// Allocates a slot for every identifier on the left before the right side is compiled: an error on the right
// poisons them.
void Compiler::CollectTargets(ExprId left, Statement& statement) {
  const ast::ExprNode& node = ast_.exprs[StripParens(ast_, left)].node;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    if (!statement.identifier.valid()) statement.identifier = identifier->name;
    chunk_->targets.push_back(AddSlot(identifier->name));
  } else if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    for (ExprId item : array->items) CollectTargets(item, statement);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    for (ExprId item : tuple->items) CollectTargets(item, statement);
  }
}

// Stores the value on the stack into the left side of an assignment.
void Compiler::CompilePattern(ExprId left) {
  const ast::ExprNode& node = ast_.exprs[StripParens(ast_, left)].node;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    Emit(OpCode::kStore, left, FindSlot(identifier->name));
    return;
  }
  llvm::ArrayRef<ExprId> items;
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    items = array->items;
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    items = tuple->items;
  } else {
    Emit(OpCode::kAbandon, left);
    return;
  }
  Emit(OpCode::kUnpack, left, static_cast<int32_t>(items.size()));
  for (ExprId item : items) CompilePattern(item);
}

// The quantized tensor receives the name, except for externals and variables: their data are found by name.
void Compiler::CompileQuantizers(const Statement& statement, ExprId right) {
  if (quantizers_ == nullptr) return;
  const semantics::Binding* binding = document_.binding(StripParens(ast_, right));
  bool has_data = false;
  if (binding != nullptr) {
    const semantics::Signature& signature = binding->callee.document->signature(binding->callee.fragment);
    const std::string_view name = symbols_.Text(signature.name.symbol);
    has_data = signature.makes_external || name == "external" || name == "variable";
  }
  for (uint32_t i = 0; i < statement.num_targets; ++i) {
    const int32_t slot = chunk_->targets[statement.first_target + i];
    const Symbol name = chunk_->slot_names[static_cast<size_t>(slot)];
    const auto found = quantizers_->by_name.find(name);
    if (found == quantizers_->by_name.end()) continue;
    Emit(OpCode::kLoad, statement.left, slot);
    const Quantizer& quantizer = found->second;
    for (const Quantizer::Argument& argument : quantizer.arguments) {
      if (argument.has_axes()) PushConstant(argument.shape, statement.left);
      PushConstant(argument.value, statement.left);
      if (argument.has_axes())
        EmitCall(
            {.callee = quantizers_->constant, .expr = statement.left, .quantizer_range = quantizer.range});
    }
    EmitCall({.callee = quantizer.callee, .expr = statement.left, .quantizer_range = quantizer.range});
    if (!has_data) {
      Emit(OpCode::kStore, statement.left, slot);
      continue;
    }
    assigned_[name] = slot;
    slots_.erase(name);
    Emit(OpCode::kStoreIterator, statement.left, AddSlot(name));
  }
}

void Compiler::CompileItems(llvm::ArrayRef<ExprId> items, OpCode code, ExprId expr) {
  for (ExprId item : items) CompileExpr(item);
  Emit(code, expr, static_cast<int32_t>(items.size()));
}

// Appends a unique spelling of a literal to spelling_; returns false if `expr` is not a literal.
bool Compiler::SpellLiteral(ExprId expr) {
  const ast::ExprNode& node = ast_.exprs[StripParens(ast_, expr)].node;
  const auto spell_items = [&](char kind, llvm::ArrayRef<ExprId> items) {
    Spell(kind, items.size());
    return llvm::all_of(items, [&](ExprId item) { return SpellLiteral(item); });
  };
  if (const auto* integer = std::get_if<ast::IntegerLiteral>(&node)) {
    Spell('i', integer->value);
  } else if (const auto* scalar = std::get_if<ast::ScalarLiteral>(&node)) {
    Spell('s', scalar->value);
  } else if (const auto* logical = std::get_if<ast::LogicalLiteral>(&node)) {
    Spell('l', logical->value);
  } else if (const auto* string = std::get_if<ast::StringLiteral>(&node)) {
    Spell('"', string->value);
  } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    Spell('u', unary->op);
    return SpellLiteral(unary->operand);
  } else if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    return spell_items('[', array->items);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    return spell_items('(', tuple->items);
  } else {
    return false;
  }
  return true;
}

bool Compiler::PushLiteral(ExprId expr) {
  spelling_.clear();
  if (!SpellLiteral(expr)) return false;
  const auto [entry, added] =
      literals_.try_emplace(spelling_, static_cast<int32_t>(chunk_->constants.size()));
  if (added) {
    std::optional<Value> value = LiteralValue(ast_, expr, symbols_, heap_);
    if (!value) {
      literals_.erase(entry);
      return false;
    }
    chunk_->constants.push_back(std::move(*value));
  }
  Emit(OpCode::kPushConstant, expr, entry->second);
  return true;
}

void Compiler::CompileExpr(ExprId expr, bool direct) {
  if (!expr.valid()) {
    Emit(OpCode::kAbandon, expr);
    return;
  }
  expr = StripParens(ast_, expr);
  if (PushLiteral(expr)) return;
  const ast::ExprNode& node = ast_.exprs[expr].node;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    int32_t slot = FindSlot(identifier->name);
    const std::string_view name = symbols_.Text(identifier->name);
    if (slot < 0 && document_.dialect().non_finite && (name == "inf" || name == "nan")) {
      const bool is_infinite = name == "inf";
      PushConstant(Value::Scalar(is_infinite ? std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN()),
                   expr);
      return;
    }
    Emit(slot < 0 ? OpCode::kAbandon : OpCode::kLoad, expr, slot);
  } else if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    CompileItems(array->items, OpCode::kMakeArray, expr);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    CompileItems(tuple->items, OpCode::kMakeTuple, expr);
  } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    CompileExpr(unary->operand);
    Emit(OpCode::kUnary, expr, 0, static_cast<uint8_t>(unary->op));
  } else if (ast::Is<ast::BinaryExpr>(node)) {
    CompileBinary(expr);
  } else if (std::holds_alternative<ast::SelectExpr>(node)) {
    CompileSelect(expr, direct);
  } else if (const auto* loop = ast::Find<ast::ComprehensionExpr>(node)) {
    CompileComprehension(*loop, expr);
  } else if (const auto* subscript = std::get_if<ast::SubscriptExpr>(&node)) {
    CompileSubscript(*subscript, expr);
  } else if (const auto* builtin = ast::Find<ast::BuiltinExpr>(node)) {
    CompileExpr(builtin->argument);
    Emit(OpCode::kBuiltin, expr, 0, static_cast<uint8_t>(builtin->builtin));
  } else if (const auto* invocation = ast::Find<ast::InvocationExpr>(node)) {
    CompileInvocation(*invocation, expr, direct);
  } else {
    Emit(OpCode::kAbandon, expr);
  }
}

// Compiles `a + b + c`; iterates over the chain of left operands.
void Compiler::CompileBinary(ExprId expr) {
  llvm::SmallVector<ExprId, 8> chain;
  const ast::BinaryExpr* binary = nullptr;
  while ((binary = ast::Find<ast::BinaryExpr>(ast_.exprs[expr].node)) != nullptr) {
    chain.push_back(expr);
    if (!binary->left.valid()) break;
    expr = StripParens(ast_, binary->left);
  }
  CompileExpr(ast::Find<ast::BinaryExpr>(ast_.exprs[chain.back()].node)->left);
  while (!chain.empty()) {
    ExprId current = chain.pop_back_val();
    binary = ast::Find<ast::BinaryExpr>(ast_.exprs[current].node);
    CompileExpr(binary->right);
    Emit(OpCode::kBinary, current, 0, static_cast<uint8_t>(binary->op));
  }
}

// Compiles `a if c else b if d else ..`: only the selected branch is evaluated.
void Compiler::CompileSelect(ExprId expr, bool direct) {
  bool tensor = IsTensor(expr);
  llvm::SmallVector<size_t, 4> ends;
  ExprId current = expr;
  const ast::SelectExpr* select = nullptr;
  while (current.valid() && (select = std::get_if<ast::SelectExpr>(&ast_.exprs[current].node)) != nullptr) {
    CompileExpr(select->condition);
    size_t branch = Emit(OpCode::kBranch, select->condition);
    CompileExpr(select->value, direct);
    ends.push_back(Emit(OpCode::kJump, current));
    Land(branch);
    current = select->otherwise.valid() ? StripParens(ast_, select->otherwise) : select->otherwise;
  }
  CompileExpr(current, direct);
  for (size_t end : ends) Land(end);
  if (tensor) Emit(OpCode::kToTensor, expr);
}

void Compiler::CompileComprehension(const ast::ComprehensionExpr& loop, ExprId expr) {
  for (const ast::Iterator& iterator : loop.iterators) CompileExpr(iterator.iterable);
  Emit(OpCode::kLoopBegin, expr, static_cast<int32_t>(loop.iterators.size()));
  // An iterator's name is free after the comprehension, and may then have another slot.
  llvm::SmallVector<std::pair<Symbol, int32_t>, 2> outer;
  size_t next = Emit(OpCode::kLoopNext, expr);
  for (const ast::Iterator& iterator : loop.iterators) {
    outer.emplace_back(iterator.name.symbol, FindSlot(iterator.name.symbol));
    slots_.erase(iterator.name.symbol);
    Emit(OpCode::kStoreIterator, expr, AddSlot(iterator.name.symbol));
  }
  size_t branch = 0;
  if (loop.condition.valid()) {
    CompileExpr(loop.condition);
    branch = Emit(OpCode::kBranch, loop.condition);
  }
  CompileExpr(loop.body);
  Emit(OpCode::kLoopYield, expr);
  if (loop.condition.valid()) Land(branch);
  Emit(OpCode::kJump, expr, static_cast<int32_t>(next));
  Land(next);
  Emit(OpCode::kLoopEnd, expr);
  for (auto [name, slot] : outer) {
    slots_.erase(name);
    if (slot >= 0) slots_[name] = slot;
  }
}

void Compiler::CompileSubscript(const ast::SubscriptExpr& subscript, ExprId expr) {
  CompileExpr(subscript.base);
  if (!subscript.is_range) {
    CompileExpr(subscript.begin);
    Emit(OpCode::kSubscript, expr);
    return;
  }
  uint8_t bounds = 0;
  if (subscript.begin.valid()) {
    CompileExpr(subscript.begin);
    bounds |= kRangeBegin;
  }
  if (subscript.end.valid()) {
    CompileExpr(subscript.end);
    bounds |= kRangeEnd;
  }
  Emit(OpCode::kRange, expr, 0, bounds);
}

void Compiler::CompileInvocation(const ast::InvocationExpr& invocation, ExprId expr, bool direct) {
  const semantics::Binding* binding = document_.binding(expr);
  if (binding == nullptr || !binding->callee.valid()) {
    Emit(OpCode::kAbandon, expr);
    return;
  }
  const semantics::Signature& signature = binding->callee.document->signature(binding->callee.fragment);
  if (binding->arguments.size() != signature.parameters.size()) {
    Emit(OpCode::kAbandon, expr);
    return;
  }
  const bool is_update = symbols_.Text(signature.name.symbol) == "update";
  for (size_t i = 0; i < binding->arguments.size(); ++i) {
    if (binding->arguments[i].valid()) {
      if (is_update && i == 0 && LoadAssigned(binding->arguments[i])) continue;
      CompileExpr(binding->arguments[i]);
    } else if (const Value* value = defaults_(binding->callee, i)) {
      PushConstant(*value, expr);
    } else {
      Emit(OpCode::kAbandon, expr);
      return;
    }
  }
  EmitCall({binding->callee, binding->generic, expr, direct});
}

// Loads the unquantized tensor of a name that was quantized into another slot; returns false for other
// expressions.
bool Compiler::LoadAssigned(ExprId expr) {
  const auto* identifier = std::get_if<ast::IdentifierExpr>(&ast_.exprs[StripParens(ast_, expr)].node);
  if (identifier == nullptr || assigned_.count(identifier->name) == 0) return false;
  Emit(OpCode::kLoad, expr, FindAssigned(identifier->name));
  return true;
}

std::unique_ptr<Chunk> CompileFragment(const semantics::Callee& callee, const SymbolTable& symbols,
                                       const DefaultLookup& defaults, Heap& heap) {
  Compiler compiler(*callee.document, symbols, defaults, heap);
  const ast::Fragment& fragment = callee.document->ast().fragments[callee.fragment];
  for (const ast::Parameter& parameter : fragment.parameters) compiler.AddSlot(parameter.name.symbol);
  Chunk& chunk = compiler.chunk();
  chunk.num_parameters = chunk.num_slots;
  compiler.CompileBody(fragment.body);
  for (const ast::Result& result : fragment.results)
    chunk.result_slots.push_back(compiler.FindSlot(result.name.symbol));
  return compiler.Take();
}

GraphCompiler::GraphCompiler(const semantics::CheckedDocument& document, Quantizers quantizers,
                             const SymbolTable& symbols, const DefaultLookup& defaults, Heap& heap)
    : graph_(*document.graph()),
      quantizers_(std::move(quantizers)),
      compiler_(std::make_unique<Compiler>(document, symbols, defaults, heap)) {
  compiler_->QuantizeBy(quantizers_);
  for (const ast::Name& name : document.symbols()) compiler_->AddSlot(name.symbol);
}

GraphCompiler::~GraphCompiler() = default;

void GraphCompiler::CompilePart(size_t max_statements) {
  compiler_->ForgetStatements();
  const llvm::ArrayRef<ast::Assignment> rest = graph_.body.drop_front(next_);
  const llvm::ArrayRef<ast::Assignment> part = rest.take_front(max_statements);
  next_ += part.size();
  if (part.size() < rest.size()) {
    compiler_->CompileBody(part, OpCode::kNextPart);
    return;
  }
  compiler_->CompileBody(part);
  Chunk& chunk = compiler_->chunk();
  for (const ast::Name& name : graph_.parameters)
    chunk.parameter_slots.push_back(compiler_->FindAssigned(name.symbol));
  for (const ast::Name& name : graph_.results) chunk.result_slots.push_back(compiler_->FindSlot(name.symbol));
}

const Chunk& GraphCompiler::chunk() const {
  return compiler_->chunk();
}

std::unique_ptr<Chunk> GraphCompiler::Take() {
  return compiler_->Take();
}

std::unique_ptr<Chunk> CompileGraph(const semantics::CheckedDocument& document, const SymbolTable& symbols,
                                    const DefaultLookup& defaults, Heap& heap) {
  GraphCompiler compiler(document, Quantizers(), symbols, defaults, heap);
  compiler.CompilePart(document.graph()->body.size());
  return compiler.Take();
}

std::unique_ptr<Chunk> CompileExpressions(const semantics::CheckedDocument& document,
                                          llvm::ArrayRef<ast::ExprId> expressions, const SymbolTable& symbols,
                                          const DefaultLookup& defaults, Heap& heap) {
  Compiler compiler(document, symbols, defaults, heap);
  compiler.CompileExpressions(expressions);
  return compiler.Take();
}

}  // namespace nnefc::expand::evaluate
