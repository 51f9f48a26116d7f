#pragma once

#include <functional>
#include <optional>

#include "compiler/expand/evaluate/chunk.h"
#include "compiler/expand/evaluate/quantizers.h"

namespace nnefc::expand::evaluate {

// Returns the default value of a callee's parameter, by index; null if it has an error.
using DefaultLookup = std::function<const Value*(const semantics::Callee&, size_t)>;

// Compiles the body of a fragment, or that of the document's graph. Parts with errors become kAbandon.
std::unique_ptr<Chunk> CompileFragment(const semantics::Callee& fragment, const SymbolTable& symbols,
                                       const DefaultLookup& defaults, Heap& heap);
std::unique_ptr<Chunk> CompileGraph(const semantics::CheckedDocument& document, const SymbolTable& symbols,
                                    const DefaultLookup& defaults, Heap& heap);

class Compiler;

// Compiles the body of a document's graph in parts. Each part replaces the previous one, because the body
// runs only once. Tensors with a quantizer are quantized after their assignment.
class GraphCompiler {
 public:
  GraphCompiler(const semantics::CheckedDocument& document, Quantizers quantizers, const SymbolTable& symbols,
                const DefaultLookup& defaults, Heap& heap);
  ~GraphCompiler();
  GraphCompiler(const GraphCompiler&) = delete;
  GraphCompiler& operator=(const GraphCompiler&) = delete;

  // Compiles up to `max_statements` of the next statements. The last part ends with kReturn, the others with
  // kNextPart.
  void CompilePart(size_t max_statements);
  // Returns the latest part. Slots keep their numbers; those of results and parameters are complete after the
  // last part.
  const Chunk& chunk() const;
  std::unique_ptr<Chunk> Take();

 private:
  const ast::Graph& graph_;
  const Quantizers quantizers_;
  const std::unique_ptr<Compiler> compiler_;
  size_t next_ = 0;  // index of the next statement
};

// Compiles expressions outside bodies: the value of each is stored in the slot of its index.
std::unique_ptr<Chunk> CompileExpressions(const semantics::CheckedDocument& document,
                                          llvm::ArrayRef<ast::ExprId> expressions, const SymbolTable& symbols,
                                          const DefaultLookup& defaults, Heap& heap);

}  // namespace nnefc::expand::evaluate
