#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/semantics/checked_document.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::language {

enum class EntityKind : uint8_t {
  kGraph,
  kFragment,   // of the document
  kOperation,  // of the standard library
  kParameter,  // of a fragment or operation
  kInput,      // a parameter of a graph
  kResult,
  kLocal,
  kIterator,
};

// Something that has a name.
struct Entity {
  EntityKind kind;
  Symbol name;
  SourceRange declaration;  // the name where it is declared or first assigned; may be in the library
  TypeId type = {};         // of values; may be Error
  Callee callee = {};       // of fragments and operations; of a parameter, whose it is
  int32_t parameter = -1;   // index among the callee's parameters
  ast::ExprId value = {};   // the right side that gives a name its value, of this document
  int32_t item = -1;        // which item of the value, if it is taken apart; -1: the whole
  bool in_graph = false;    // a name of the body of a graph
};

// A name in the text.
struct Occurrence {
  SourceRange range;
  int32_t entity;
  bool is_declaration = false;
};

// Where names of a body may be used.
struct BodyScope {
  SourceRange range;  // the body, braces included
  // Names and the offset from which on each has a value.
  std::vector<std::pair<int32_t, uint32_t>> names;
};

// Every name of a document and what it stands for, whether the document is right
// or not: what was parsed is indexed.
class NameIndex {
 public:
  explicit NameIndex(const CheckedDocument& document);

  const Entity& entity(int32_t id) const { return entities_[static_cast<size_t>(id)]; }
  // In the order of the text.
  const std::vector<Occurrence>& occurrences() const { return occurrences_; }
  // The name that covers the offset or ends at it.
  const Occurrence* At(uint32_t offset) const;
  // The body around an offset.
  const BodyScope* BodyAt(uint32_t offset) const;

 private:
  int32_t Add(Entity entity);
  void Occur(SourceRange range, int32_t entity, bool is_declaration = false);
  int32_t EntityOf(Callee callee);
  int32_t ParameterOf(Callee callee, Symbol name);
  void DeclareFragments();
  void IndexFragment(ast::FragmentId id);
  void IndexGraph(const ast::Graph& graph);
  void IndexBody(llvm::ArrayRef<ast::Assignment> body, SourceRange range, bool in_graph);
  // Declares the names on a left side, whose value has the type.
  void Declare(ast::ExprId left, TypeId type, ast::ExprId value, int32_t item, bool in_graph,
               BodyScope& scope);
  void IndexExpr(ast::ExprId root);
  void IndexInvocation(const ast::InvocationExpr& invocation);
  void EnterLoop(const ast::ComprehensionExpr& loop);
  void LeaveLoop(const ast::ComprehensionExpr& loop);
  TypeId TypeOf(ast::ExprId expr) const;

  const CheckedDocument& document_;
  const ast::Document& ast_;
  TypeId error_;
  std::vector<Entity> entities_;
  std::vector<Occurrence> occurrences_;
  std::vector<BodyScope> bodies_;
  std::vector<std::vector<int32_t>> parameters_;  // of the document's fragments
  // Of libraries, of which a document may have several: by document and FragmentId, and the parameter.
  using OperationKey = std::pair<const CheckedDocument*, int32_t>;
  llvm::DenseMap<OperationKey, int32_t> operations_;
  llvm::DenseMap<std::pair<OperationKey, int32_t>, int32_t> operation_parameters_;
  // Of the body that is being indexed.
  llvm::DenseMap<Symbol, int32_t> scope_;
  std::vector<std::pair<Symbol, int32_t>> iterators_;  // the innermost last
};

}  // namespace nnefc::language
