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

// A plan to turn calls of a fragment into nodes: the ratified operation and the source of each argument.
// Created once per fragment.
struct OpPlan {
  struct Parameter {
    std::string name;
    std::string called;     // the name in the document: `perm` for `axes`
    std::string type_text;  // in the spelling of the document's dialect
    semantics::TypeId type;
    bool is_tensor = false;  // an input, or several
    bool is_array = false;   // `tensor<scalar>[]`
    int32_t source = -1;     // index of the callee's parameter; -1: the default
    Value default_value;
  };
  ir::OpId op;
  std::string name;
  std::string called;                                    // the name in the document: `idn` for `copy`
  const semantics::CheckedDocument* document = nullptr;  // document of the signature: types and dialect
  const semantics::Signature* signature = nullptr;
  std::vector<Parameter> parameters;
  // Copies of the operation's row.
  ir::OpRole role = ir::OpRole::kComputation;
  ir::ResultCount results = ir::ResultCount::kDeclared;
  ir::ProvisionalForm form = ir::ProvisionalForm::kSame;
  bool is_custom = false;    // a fragment of the document without a body
  bool runs_bodies = false;  // it runs fragments of the document
  bool provisional = false;  // arguments follow the provisional dialect's rules
  bool has_arrays = false;   // an input is variadic: nodes have segments

  // Returns the index of a parameter, by its ratified name or its name in the document, or -1.
  int32_t Find(std::string_view parameter) const;
  // Returns the names for diagnostics of the plan's nodes.
  ir::Wording wording() const;
};

// The location of a new operation.
struct Site {
  SourceRange range;
  std::shared_ptr<const ir::Frame> frame;  // null: the graph's body
  Symbol statement;                        // the first identifier that is assigned
  Symbol in_graph;                         // same, in the body of the document's graph
  semantics::TypeKind generic =
      semantics::TypeKind::kError;  // type bound to `?`; kError: deduced from the arguments
  int32_t array_length = -1;        // length of an array on the left side
  SourceRange left;                 // the left side, if the results are assigned to it
  // The invocation or operator; its arguments have their own source ranges.
  const semantics::CheckedDocument* document = nullptr;
  ast::ExprId expr;
};

// Source ranges of the arguments of a plan's operation at a site.
class SitePlaces : public ir::ArgumentPlaces {
 public:
  SitePlaces(const OpPlan& plan, const Site& site) : plan_(plan), site_(site) {}
  SourceRange Find(std::string_view argument, int64_t item) const override;
  bool IsLiteral(std::string_view argument, int64_t item) const override;

 private:
  // Returns an invalid id if the argument is not written in the source.
  ast::ExprId Written(std::string_view argument, int64_t item) const;

  const OpPlan& plan_;
  const Site& site_;
};

// Returns the kind of a value: kInteger .. kString for primitives, a tensor's elements, or the first item of
// an array; kError for an empty array.
semantics::TypeKind ElementKind(const Value& value, const ir::Graph& graph);

// Deduces the type of `?` from the arguments, or from its default; returns kError if neither determines it.
semantics::TypeKind DeduceGeneric(const semantics::CheckedDocument& document,
                                  const semantics::Signature& signature, llvm::ArrayRef<Value> arguments,
                                  const ir::Graph& graph);

// Converts a value to the form of a parameter's or result's type: a literal for a tensor becomes
// tensor_typed().
Value CastTo(const semantics::TypeTable& types, semantics::TypeId type, Value value, Heap& heap);

// A graph under construction: the document's, or a body of a node in another graph. Values of different
// graphs must not be mixed.
struct GraphScope {
  GraphScope(ir::Graph& graph_of_scope, const SymbolTable& symbols) : graph(graph_of_scope), names(symbols) {}

  ir::Graph& graph;
  Names names;
  std::map<std::pair<semantics::TypeKind, std::string>, ir::OutputPort> literals;
  std::unique_ptr<ir::Graph> body;  // owns `graph`; null for the document's graph
};

// Creates nodes. Errors are emitted with the stack of fragments.
class GraphBuilder {
 public:
  GraphBuilder(ir::Graph& graph, ir::OpRegistry& registry, const semantics::CheckedDocument& ratified,
               const ExpandOptions& options, Heap& heap, Context& context);

  // Switches to lenient mode; ReportDeviations reports the recorded deviations.
  void ReadLeniently() { is_lenient_ = true; }
  bool is_lenient() const { return is_lenient_; }
  // Opens a symbol scope for a document: numbers its symbols and reads its assertions. They are checked as
  // soon as input shapes bind the symbols. Returns the number of symbols before.
  uint32_t Expect(const semantics::CheckedDocument& document);
  // Closes the last symbol scope and discards its bindings. `before` is the result of Expect.
  void Forget(uint32_t before);
  // Checks the value passed to the external `name` of a submodel against its declaration, and binds its
  // symbols.
  bool CheckGiven(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Value& given, const Site& site,
                  std::string_view name);
  // Switches to tract's semantics for some operations (vendor_meanings.h).
  void ReadByVendor() { has_vendor_meanings_ = true; }
  bool has_vendor_meanings() const { return has_vendor_meanings_; }
  // Returns true if a tensor has a quantized type (ExpandOptions::quantized).
  bool has_quantized_types() const { return !options_.quantized.empty(); }
  // The shapes of externals with symbolic extents, if the expansion tries values for the extents
  // (ExpandOptions::tries_symbols); becomes ExpandedDocument::open_shapes.
  const std::map<std::string, ir::PartialShape>& open_shapes() const { return open_shapes_; }
  // Records a deviation that only lenient mode accepts, at an argument of the plan's operation.
  void Deviate(const Rule& rule, const OpPlan& plan, std::string_view argument, const Site& site,
               std::string message);
  // Emits a warning for each rule with recorded deviations.
  void ReportDeviations(Emitter& emitter) const { deviations_.Report(emitter); }
  // Returns the value of a constant or variable, looking through views; nothing if it is unknown.
  std::optional<TensorValue> KnownTensor(ir::OutputPort port) const;
  // Returns the extent bound to a symbol (in a trial, its trial extent if there is none). Returns other
  // values, and symbols without an extent, unchanged.
  Value ValueOf(const Value& value) const;

  // Creates a node for a call of the plan's operation; `arguments` are those of the callee. Returns its
  // result: a tensor, an array, or a tuple; poison after an error.
  Value Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Creates a node of a ratified operation with arguments in the order of its declaration; missing ones at
  // the end have their defaults.
  Value MakeRatified(std::string_view name, llvm::ArrayRef<Value> arguments, const Site& site);

  // Marks the padding of the current provisional node as computed from an extent that an external leaves
  // open; see ir::ops::OpenPadding.
  void LeavePaddingOpen(int64_t axis) { open_padding_ = axis; }

  // Names a tensor or literal as an identifier of the graph's body: a tensor that has another identifier is
  // copied, a literal becomes a constant.
  Value NameInBody(const Value& value, Symbol identifier, const Site& site);

  // ---- bodies.cpp: nodes with bodies ----
  // Creates a node without its bodies.
  ir::NodeId MakeWithBodies(const OpPlan& plan, llvm::ArrayRef<Value> arguments, int64_t num_outputs,
                            const Site& site);
  // Switches to a new graph for a body and stores its parameters in `parameters`. Returns false if a limit
  // was reached; the expansion then ends. `order` has the fragment's parameter index for each entry of `fed`;
  // empty: the same order.
  bool EnterBody(const semantics::Signature& fragment, llvm::ArrayRef<ir::ops::BodyParameter> fed,
                 llvm::ArrayRef<size_t> order, const Site& site, std::vector<Value>& parameters);
  // Names the nodes of the body and returns to the enclosing graph.
  std::unique_ptr<ir::Graph> LeaveBody();
  // Attaches the bodies to the node. Returns its outputs as an array, or poison after an error.
  Value FinishBodies(ir::NodeId node, std::vector<ir::Body> bodies, const SitePlaces& places);

  // Emits a diagnostic at the site; one in a body of the standard library is reported at the document's
  // invocation.
  void EmitAt(Diagnostic diagnostic, const Site& site);
  // Emits the error of an evaluation, with the stack of fragments.
  void Report(const Fault& fault, const Site& site);
  // Same, for an error in an argument of the plan's operation.
  void Report(const Fault& fault, const OpPlan& plan, const Site& site);
  // Returns the source range of a variable's label or an update's target; invalid for other nodes.
  SourceRange VariablePlace(ir::NodeId node) const;

  // Returns the graph that receives new nodes, and its names.
  ir::Graph& graph() { return scopes_.back()->graph; }
  Names& names() { return scopes_.back()->names; }
  // Returns the number of bodies around the current graph.
  size_t body_depth() const { return scopes_.size() - 1; }
  Heap& heap() { return heap_; }
  Context& context() { return context_; }
  // Returns true once a limit was reached.
  bool stopped() const { return stopped_; }
  // Reports `--input-shape` options that matched no external, with the names of the externals.
  void ReportUnknownExternals();
  // Returns the plan of a ratified operation.
  const OpPlan& RatifiedPlan(std::string_view name);
  // Returns the plan of `tensor_iterator`, from the library of its extension.
  const OpPlan& LoopPlan();
  // Sets the standard library that has the operation of LoopPlan.
  void UseLibrary(const semantics::StandardLibrary& library) { library_ = &library; }
  const semantics::CheckedDocument& ratified() const { return ratified_; }
  ir::OpRegistry& registry() { return registry_; }
  // Returns the purpose of the graph.
  Purpose purpose() const { return options_.purpose; }

 private:
  // Arguments in the form of a node.
  struct NodeParts {
    llvm::SmallVector<ir::OutputPort, 8> inputs;
    llvm::SmallVector<int32_t, 4> segments;
    ir::AttributeMap attributes;
  };
  // `arguments` are in the order of the plan's parameters.
  Value MakeNode(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  bool GatherArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, semantics::TypeKind generic,
                       const Site& site, NodeParts& parts);
  bool BindSymbols(llvm::ArrayRef<Value> written, const ir::PartialShape& given, std::string_view name,
                   const Site& site);
  bool CheckAssertions(std::string_view external);
  bool PrepareExternal(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                       ir::AttributeMap& attributes);
  bool CountOutputs(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site, int64_t& count);
  bool CountOperation(int64_t outputs, const Site& site);
  // Adds to the number of operations in fragments; returns false beyond the limit.
  bool CountOperations(int64_t count, const Site& site);
  bool Infer(ir::NodeId node, const SitePlaces& places, const Site& site);
  bool AddInputs(const OpPlan::Parameter& parameter, const Value& value, const OpPlan& plan, const Site& site,
                 llvm::SmallVectorImpl<ir::OutputPort>& inputs);
  ir::OutputPort Literal(const Value& value, const Site& site);
  ir::NodeId AddLiteralNode(const Value& value, const Site& site);
  void TypeCustomOutputs(const OpPlan& plan, ir::NodeId node, semantics::TypeKind generic);
  Value ResultOf(ir::NodeId node);

  std::vector<std::unique_ptr<GraphScope>> scopes_;  // the innermost last
  ir::OpRegistry& registry_;
  const semantics::CheckedDocument& ratified_;
  const ExpandOptions& options_;
  Heap& heap_;
  Context& context_;
  llvm::StringMap<std::unique_ptr<OpPlan>> ratified_plans_;
  std::unique_ptr<OpPlan> loop_plan_;
  const semantics::StandardLibrary* library_ = nullptr;
  std::optional<int64_t> open_padding_;
  std::map<std::string, bool> externals_;                 // keyed by name; true: shape from an option
  llvm::DenseMap<int32_t, SourceRange> variable_places_;  // keyed by node
  semantics::Deviations deviations_;
  std::map<std::string, ir::PartialShape> open_shapes_;
  std::map<uint32_t, int64_t> symbols_;  // extents, keyed by the symbol's number
  // The symbols and assertions of a document.
  struct Scope {
    std::map<std::string, uint32_t, std::less<>> numbers;  // keyed by name
    std::vector<Assertion> assertions;                     // not checked yet
  };
  std::vector<Scope> symbol_scopes_;  // nested documents, the innermost last
  std::map<const semantics::CheckedDocument*, std::vector<Assertion>> assertions_;  // parsed once
  uint32_t num_symbols_ = 0;
  int64_t operations_ = 0;
  bool is_lenient_ = false;
  bool has_vendor_meanings_ = false;
  bool stopped_ = false;
};

// Creates the plan of a primitive or of a compound that is not expanded.
std::unique_ptr<OpPlan> MakePlan(const semantics::Callee& callee, const semantics::CheckedDocument& ratified,
                                 ir::OpRegistry& registry, const SymbolTable& symbols, Heap& heap);

}  // namespace nnefc::expand
