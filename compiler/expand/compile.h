#pragma once

#include <functional>
#include <optional>

#include "compiler/expand/chunk.h"
#include "compiler/expand/quantizers.h"

namespace nnefc::expand {

// What a default stands for, by callee and index of the parameter: null if it
// is wrong.
using DefaultLookup = std::function<const Value*(const Callee&, size_t)>;

// Compiles the body of a fragment, or that of the document's graph, to
// instructions. What the checker found wrong becomes kAbandon.
std::unique_ptr<Chunk> CompileFragment(const Callee& fragment, const SymbolTable& symbols,
                                       const DefaultLookup& defaults, Heap& heap);
std::unique_ptr<Chunk> CompileGraph(const CheckedDocument& document, const SymbolTable& symbols,
                                    const DefaultLookup& defaults, Heap& heap);

class Compiler;

// Compiles the body of a document's graph part by part, each in the place of the one
// before: what runs once need not be there as a whole. Tensors that have a quantizer
// are quantized behind their assignment.
class GraphCompiler {
 public:
  GraphCompiler(const CheckedDocument& document, Quantizers quantizers, const SymbolTable& symbols,
                const DefaultLookup& defaults, Heap& heap);
  ~GraphCompiler();
  GraphCompiler(const GraphCompiler&) = delete;
  GraphCompiler& operator=(const GraphCompiler&) = delete;

  // Compiles the statements that come next, so many at most. Behind the last of the
  // body stands kReturn, behind others kNextPart.
  void CompilePart(size_t most);
  // The part that was compiled last. Slots keep their numbers; those of results and
  // parameters are known with the last part.
  const Chunk& chunk() const;
  std::unique_ptr<Chunk> Take();

 private:
  const ast::Graph& graph_;
  const Quantizers quantizers_;
  const std::unique_ptr<Compiler> compiler_;
  size_t next_ = 0;  // statement
};

// The chunk of expressions that no body holds: the value of each lands in the
// slot of its index.
std::unique_ptr<Chunk> CompileExpressions(const CheckedDocument& document,
                                          llvm::ArrayRef<ast::ExprId> expressions, const SymbolTable& symbols,
                                          const DefaultLookup& defaults, Heap& heap);

// The value of an expression built of literals only: `[(0,0), (1,1)]`, `-1.0`.
std::optional<Value> LiteralValue(const ast::Document& document, ast::ExprId expr, const SymbolTable& symbols,
                                  Heap& heap);

// `expr` without the parentheses around it.
ast::ExprId StripParens(const ast::Document& document, ast::ExprId expr);

}  // namespace nnefc::expand
