#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/assertions.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/names.h"
#include "compiler/expand/value.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/ops/control_flow.h"
#include "compiler/ir/wording.h"
#include "compiler/semantics/checked_document.h"
#include "compiler/semantics/deviations.h"
#include "compiler/support/context.h"

namespace nnefc::expand {

// How calls of a fragment become nodes: the ratified operation and where each
// of its arguments comes from. Made once per fragment.
struct OpPlan {
  struct Parameter {
    std::string name;
    std::string called;     // what the document calls it: `perm` for `axes`
    std::string type_text;  // in the words of the document's dialect
    TypeId type;
    bool is_tensor = false;  // an input, or several
    bool is_array = false;   // `tensor<scalar>[]`
    int32_t source = -1;     // index of the callee's parameter; -1: the default
    Value default_value;
  };
  ir::OpId op;
  std::string name;
  std::string called;                         // what the document calls it: `idn` for `copy`
  const CheckedDocument* document = nullptr;  // of the signature: types and dialect
  const Signature* signature = nullptr;
  std::vector<Parameter> parameters;
  // Of the operation's row.
  ir::OpRole role = ir::OpRole::kComputation;
  ir::ResultCount results = ir::ResultCount::kDeclared;
  ir::ProvisionalForm form = ir::ProvisionalForm::kSame;
  bool is_custom = false;    // a fragment without a body of the document
  bool runs_bodies = false;  // it runs fragments of the document
  bool provisional = false;  // arguments follow the provisional dialect's rules
  bool has_arrays = false;   // some input is variadic: segments are told

  // The index of a parameter, by its name or what it is called, or -1.
  int32_t Find(std::string_view parameter) const;
  // What nodes of the plan say of their names.
  ir::Wording wording() const;
};

// Where an operation is made.
struct Site {
  SourceRange range;
  std::shared_ptr<const ir::Frame> frame;  // null: the graph's body
  Symbol statement;                        // the first identifier that is assigned
  Symbol in_graph;                         // the same in the body of the graph that all is made for
  TypeKind generic = TypeKind::kError;     // what stands for `?`; kError: told by the arguments
  int32_t array_length = -1;               // of an array on the left side
  SourceRange left;                        // the left side, if the results are assigned to it
  // The invocation or operator, whose arguments have places of their own.
  const CheckedDocument* document = nullptr;
  ast::ExprId expr;
};

// Where the arguments of a plan's operation stand at a site.
class SitePlaces : public ir::ArgumentPlaces {
 public:
  SitePlaces(const OpPlan& plan, const Site& site) : plan_(plan), site_(site) {}
  SourceRange Find(std::string_view argument, int64_t item) const override;
  bool IsLiteral(std::string_view argument, int64_t item) const override;

 private:
  // Invalid if the argument is not written out.
  ast::ExprId Written(std::string_view argument, int64_t item) const;

  const OpPlan& plan_;
  const Site& site_;
};

// The kind of what a value holds: kInteger .. kString of primitives, of a
// tensor's items, of the first item of an array; kError of an empty one.
TypeKind ElementKind(const Value& value, const ir::Graph& graph);

// Finds out what `?` of a signature stands for from the arguments, or its
// default; kError if they do not tell.
TypeKind DeduceGeneric(const CheckedDocument& document, const Signature& signature,
                       llvm::ArrayRef<Value> arguments, const ir::Graph& graph);

// Converts a value to what a parameter or result of a type holds: a literal for
// a tensor becomes tensor_typed().
Value CastTo(const TypeTable& types, TypeId type, Value value, Heap& heap);

// A graph that grows: that of the document, or a body of a node in another one.
// Values of one graph are none of another's.
struct GraphScope {
  GraphScope(ir::Graph& graph_of_scope, const SymbolTable& symbols) : graph(graph_of_scope), names(symbols) {}

  ir::Graph& graph;
  Names names;
  std::map<std::pair<TypeKind, std::string>, ir::OutputPort> literals;
  std::unique_ptr<ir::Graph> body;  // holds `graph`; null for that of the document
};

// Makes nodes. Mistakes are emitted with the stack of fragments.
class GraphBuilder {
 public:
  GraphBuilder(ir::Graph& graph, ir::OpRegistry& registry, const CheckedDocument& ratified,
               const ExpandOptions& options, Heap& heap, Context& context);

  // From here on arguments are taken leniently: what is noted of them is told by
  // TellDeviations.
  void ReadLeniently() { is_lenient_ = true; }
  bool is_lenient() const { return is_lenient_; }
  // Numbers the symbols of a document, which has a scope of its own. What it asserts of them is checked as
  // soon as shapes of inputs tell them. The number before its first.
  uint32_t Expect(const CheckedDocument& document);
  // The same of the last document is over: nothing will tell its symbols any more. `before`: what Expect
  // gave.
  void Forget(uint32_t before);
  // Checks what the external `name` of a model inside is given against what it declares, and binds its
  // symbols.
  bool CheckGiven(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Value& given, const Site& site,
                  std::string_view name);
  // The document is of a vendor's dialect, which means other things by some words (vendor_meanings.h).
  void ReadByVendor() { has_vendor_meanings_ = true; }
  bool has_vendor_meanings() const { return has_vendor_meanings_; }
  // Some tensor has a quantized type (ExpandOptions::quantized).
  bool has_quantized_types() const { return !options_.quantized.empty(); }
  // Of a trial (ExpandOptions::tries_symbols): Expanded::open_shapes.
  const std::map<std::string, ir::PartialShape>& open_shapes() const { return open_shapes_; }
  // Notes what only lenient reading takes, at an argument of the plan's operation.
  void Deviate(const Rule& rule, const OpPlan& plan, std::string_view argument, const Site& site,
               std::string message);
  void TellDeviations(Emitter& emitter) const { deviations_.Tell(emitter); }
  // The value of a tensor that a constant or a variable holds, seen through views.
  std::optional<TensorValue> KnownTensor(ir::OutputPort port) const;
  // Symbols stand for extents that shapes of inputs tell. What is not a symbol is
  // its own value; so is one that nothing tells yet.
  Value ValueOf(const Value& value) const;

  // Makes a node for a call of the plan's operation; `arguments` are those of
  // the callee. Its result: a tensor, an array, or a tuple; poison after a
  // mistake.
  Value Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Makes a node of a ratified operation with arguments in the order of its
  // declaration; missing ones at the end are defaults.
  Value MakeRatified(std::string_view name, llvm::ArrayRef<Value> arguments, const Site& site);

  // The padding of the provisional node that is being made is calculated from
  // an extent that an external leaves open; see ir::nnef::OpenPadding.
  void LeavePaddingOpen(int64_t axis) { open_padding_ = axis; }

  // Gives a tensor or literal an identifier of the graph's body: another
  // identifier's tensor is copied, a literal becomes a constant.
  Value NameInBody(const Value& value, Symbol identifier, const Site& site);

  // ---- bodies.cpp: nodes with bodies ----
  // Makes a node that has no bodies yet.
  ir::NodeId MakeWithBodies(const OpPlan& plan, llvm::ArrayRef<Value> arguments, int64_t num_outputs,
                            const Site& site);
  // From here on nodes are made in a new graph; gives its parameters. False if
  // a limit was reached, which ends the expansion.
  // `order` tells which parameter of the fragment each is; empty: as they stand.
  bool EnterBody(const Signature& fragment, llvm::ArrayRef<ir::BodyParameter> fed,
                 llvm::ArrayRef<size_t> order, const Site& site, std::vector<Value>& parameters);
  // Names the nodes of the body and goes on in the graph around it.
  std::unique_ptr<ir::Graph> LeaveBody();
  // Gives the node its bodies; its outputs as an array, or poison after a
  // mistake.
  Value FinishBodies(ir::NodeId node, std::vector<ir::Body> bodies, const SitePlaces& places);

  // Emits a mistake at the site; one in a body of the standard library is told
  // where the document invokes it.
  void Tell(Diagnostic diagnostic, const Site& site);
  void Report(const Fault& fault, const Site& site);
  // The same for a mistake in an argument of the plan's operation.
  void Report(const Fault& fault, const OpPlan& plan, const Site& site);
  // Where the label of a variable or the target of an update is written;
  // invalid of other nodes.
  SourceRange VariablePlace(ir::NodeId node) const;

  // The graph that nodes are made in, and its names.
  ir::Graph& graph() { return scopes_.back()->graph; }
  Names& names() { return scopes_.back()->names; }
  // How many bodies the graph is in.
  size_t body_depth() const { return scopes_.size() - 1; }
  Heap& heap() { return heap_; }
  Context& context() { return context_; }
  // True once a limit was reached.
  bool stopped() const { return stopped_; }
  // Names of externals that were made, and of options that no external took.
  void ReportUnknownExternals();
  // The plan of a ratified operation.
  const OpPlan& RatifiedPlan(std::string_view name);
  // The plan of `tensor_iterator`, from the library of its extension.
  const OpPlan& LoopPlan();
  void UseLibrary(const StandardLibrary& library) { library_ = &library; }
  const CheckedDocument& ratified() const { return ratified_; }
  ir::OpRegistry& registry() { return registry_; }
  // What the graph is for.
  Purpose purpose() const { return options_.purpose; }

 private:
  // Arguments as a node takes them.
  struct NodeParts {
    llvm::SmallVector<ir::OutputPort, 8> inputs;
    llvm::SmallVector<int32_t, 4> segments;
    ir::AttributeMap attributes;
  };
  // `arguments` are in the order of the plan's parameters.
  Value MakeNode(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  bool GatherArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, TypeKind generic,
                       const Site& site, NodeParts& parts);
  bool BindSymbols(llvm::ArrayRef<Value> written, const ir::PartialShape& given, std::string_view name,
                   const Site& site);
  bool CheckAssertions(std::string_view external);
  bool PrepareExternal(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                       ir::AttributeMap& attributes);
  bool CountOutputs(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site, int64_t& count);
  bool CountOperation(int64_t outputs, const Site& site);
  // Adds to the operations that fragments make; false beyond the limit.
  bool CountOperations(int64_t count, const Site& site);
  bool Infer(ir::NodeId node, const SitePlaces& places, const Site& site);
  bool AddInputs(const OpPlan::Parameter& parameter, const Value& value, const OpPlan& plan, const Site& site,
                 llvm::SmallVectorImpl<ir::OutputPort>& inputs);
  ir::OutputPort Literal(const Value& value, const Site& site);
  ir::NodeId AddLiteralNode(const Value& value, const Site& site);
  void TypeCustomOutputs(const OpPlan& plan, ir::NodeId node, TypeKind generic);
  Value ResultOf(ir::NodeId node);

  std::vector<std::unique_ptr<GraphScope>> scopes_;  // the innermost last
  ir::OpRegistry& registry_;
  const CheckedDocument& ratified_;
  const ExpandOptions& options_;
  Heap& heap_;
  Context& context_;
  llvm::StringMap<std::unique_ptr<OpPlan>> ratified_plans_;
  std::unique_ptr<OpPlan> loop_plan_;
  const StandardLibrary* library_ = nullptr;
  std::optional<int64_t> open_padding_;
  std::map<std::string, bool> externals_;                 // by name; true if an option gave its shape
  llvm::DenseMap<int32_t, SourceRange> variable_places_;  // by node
  Deviations deviations_;
  std::map<std::string, ir::PartialShape> open_shapes_;
  std::map<uint32_t, int64_t> symbols_;  // extents, by the number of the symbol
  // What a document asserts of its symbols.
  struct Scope {
    std::map<std::string, uint32_t, std::less<>> numbers;  // by name
    std::vector<Assertion> assertions;                     // that were not checked yet
  };
  std::vector<Scope> symbol_scopes_;  // of documents within each other, the innermost last
  std::map<const CheckedDocument*, std::vector<Assertion>> assertions_;  // read once
  uint32_t num_symbols_ = 0;
  int64_t operations_ = 0;
  bool is_lenient_ = false;
  bool has_vendor_meanings_ = false;
  bool stopped_ = false;
};

// Makes the plan of a primitive or of a compound that stays whole.
std::unique_ptr<OpPlan> MakePlan(const Callee& callee, const CheckedDocument& ratified,
                                 ir::OpRegistry& registry, const SymbolTable& symbols, Heap& heap);

}  // namespace nnefc::expand
