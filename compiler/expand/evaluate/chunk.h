#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/value.h"
#include "compiler/semantics/checked_document.h"

namespace nnefc::expand::evaluate {

// Instructions of the evaluator, a stack machine. A frame has slots for parameters and local identifiers,
// followed by the operands of the current statement.
enum class OpCode : uint8_t {
  kStatement,      // a: index of the statement that begins
  kPushConstant,   // a: index in constants
  kLoad,           // a: slot
  kStore,          // a: slot
  kStoreIterator,  // a: slot
  kMakeArray,      // a: number of items
  kMakeTuple,      // a: number of items
  kUnary,          // detail: ast::UnaryOperator
  kBinary,         // detail: ast::BinaryOperator
  kToTensor,       // converts a literal for a tensor to a tensor
  kJump,           // a: target
  kBranch,         // a: target if the logical on the stack is false
  kSubscript,      //
  kRange,          // detail: kRangeBegin | kRangeEnd, the bounds that are present
  kBuiltin,        // detail: ast::Builtin
  kUnpack,         // a: number of items; pushes them, the first on top
  kLoopBegin,      // a: number of arrays
  kLoopNext,       // a: target when done; pushes the next item of each array, the first on top
  kLoopYield,      //
  kLoopEnd,        // pushes the resulting array
  kCall,           // a: index in calls
  kAbandon,        // abandons a statement with a reported error
  kNextPart,       // continues with the next part of the graph's body
  kReturn,         //
};
inline constexpr uint8_t kRangeBegin = 1;
inline constexpr uint8_t kRangeEnd = 2;

struct Instruction {
  OpCode code;
  uint8_t detail = 0;
  int32_t a = 0;
  ast::ExprId expr;  // source expression, for diagnostics
};

// A compiled invocation: all arguments are pushed in the order of the declaration, defaults as constants.
struct Call {
  semantics::Callee callee;
  semantics::TypeId generic = {};  // see Binding
  ast::ExprId expr;
  // True if the result is assigned by the statement, not an operand in it.
  bool direct = false;
  // For a quantizer, the range of its line in graph.quant; otherwise invalid, and `expr` has the range.
  SourceRange quantizer_range = {};
};

// A compiled assignment.
struct Statement {
  ast::ExprId left;
  int32_t begin = 0;  // first instruction
  int32_t end = 0;    // one past the last
  Symbol identifier;  // the first on the left, for names; invalid if there is none
  // Number of items of an array on the left; it determines the length of results that is otherwise unknown.
  // -1 if the left side is not an array.
  int32_t array_length = -1;
  uint32_t first_target = 0, num_targets = 0;  // range in Chunk::targets
};

// A fragment body or the graph body, compiled once and run for every instantiation.
struct Chunk {
  const semantics::CheckedDocument* document = nullptr;
  std::vector<Instruction, AlignedAllocator<Instruction>> code;
  std::vector<Value> constants;
  std::vector<Call> calls;
  std::vector<Statement> statements;
  std::vector<int32_t> targets;  // slots that statements assign
  int32_t num_parameters = 0;
  int32_t num_slots = 0;
  std::vector<int32_t> result_slots;     // -1: never assigned
  std::vector<int32_t> parameter_slots;  // only for a graph, whose body assigns them
  // Identifier of each slot.
  std::vector<Symbol> slot_names;
};

}  // namespace nnefc::expand::evaluate
