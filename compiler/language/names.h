#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/semantics/checked_document.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::language {

enum class EntityKind : uint8_t {
  kGraph,
  kFragment,   // declared in the document
  kOperation,  // declared in the standard library
  kParameter,  // parameter of a fragment or operation
  kInput,      // parameter of a graph
  kResult,
  kLocal,
  kIterator,
};

// A named entity.
struct Entity {
  EntityKind kind;
  Symbol name;
  SourceRange declaration;        // the name where it is declared or first assigned; may be in the library
  semantics::TypeId type = {};    // type of a value; may be Error
  semantics::Callee callee = {};  // the fragment or operation itself; for a parameter, its owner
  int32_t parameter = -1;         // index among the callee's parameters
  ast::ExprId value = {};         // the right side assigned to the name, in this document
  int32_t item = -1;              // index of the destructured item of `value`; -1: the whole value
  bool in_graph = false;          // a name of the body of a graph
};

// An occurrence of a name in the text.
struct Occurrence {
  SourceRange range;
  int32_t entity;
  bool is_declaration = false;
};

// The scope of a body's names.
struct BodyScope {
  SourceRange range;  // the body, braces included
  // Entity ids, each with the first offset at which the name has a value.
  std::vector<std::pair<int32_t, uint32_t>> names;
};

// An index of every name in a document and the entity it denotes. It covers all parsed text, with or without
// errors.
class NameIndex {
 public:
  explicit NameIndex(const semantics::CheckedDocument& document);

  const Entity& entity(int32_t id) const { return entities_[static_cast<size_t>(id)]; }
  // Occurrences in source order.
  const std::vector<Occurrence>& occurrences() const { return occurrences_; }
  // Returns the occurrence that covers the offset or ends at it, or null.
  const Occurrence* At(uint32_t offset) const;
  // Returns the body around an offset, or null.
  const BodyScope* BodyAt(uint32_t offset) const;

 private:
  int32_t Add(Entity entity);
  void Occur(SourceRange range, int32_t entity, bool is_declaration = false);
  int32_t EntityOf(semantics::Callee callee);
  int32_t ParameterOf(semantics::Callee callee, Symbol name);
  void DeclareFragments();
  void IndexFragment(ast::FragmentId id);
  void IndexGraph(const ast::Graph& graph);
  void IndexBody(llvm::ArrayRef<ast::Assignment> body, SourceRange range, bool in_graph);
  // Declares the names on the left side of an assignment whose value has the type `type`.
  void Declare(ast::ExprId left, semantics::TypeId type, ast::ExprId value, int32_t item, bool in_graph,
               BodyScope& scope);
  void IndexExpr(ast::ExprId root);
  void IndexInvocation(const ast::InvocationExpr& invocation);
  void EnterLoop(const ast::ComprehensionExpr& loop);
  void LeaveLoop(const ast::ComprehensionExpr& loop);
  semantics::TypeId TypeOf(ast::ExprId expr) const;

  const semantics::CheckedDocument& document_;
  const ast::Document& ast_;
  semantics::TypeId error_;
  std::vector<Entity> entities_;
  std::vector<Occurrence> occurrences_;
  std::vector<BodyScope> bodies_;
  std::vector<std::vector<int32_t>> parameters_;  // per fragment of the document
  // Entities of libraries (a document may have several), keyed by document and FragmentId, then by parameter.
  using OperationKey = std::pair<const semantics::CheckedDocument*, int32_t>;
  llvm::DenseMap<OperationKey, int32_t> operations_;
  llvm::DenseMap<std::pair<OperationKey, int32_t>, int32_t> operation_parameters_;
  // Names in the body that is being indexed.
  llvm::DenseMap<Symbol, int32_t> scope_;
  std::vector<std::pair<Symbol, int32_t>> iterators_;  // the innermost last
};

}  // namespace nnefc::language
