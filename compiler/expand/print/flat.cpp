// The printer of an expanded graph as a flat ratified document.

#include "compiler/expand/print/flat.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "compiler/expand/print/custom.h"
#include "compiler/expand/print/literals.h"
#include "compiler/expand/print/repeated_blocks.h"
#include "compiler/expand/print/tract.h"
#include "compiler/ir/algorithms/output_groups.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/opset/nnef_form.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/semantics/extensions.h"
#include "fmt/core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::print {
namespace {

using ir::Node;
using ir::OutputPort;

class FlatPrinter {
 public:
  FlatPrinter(const ir::Graph& graph, const semantics::StandardLibrary& library, const SymbolTable& symbols,
              const PrintedNames& names, DocumentForm form = DocumentForm::kStandard)
      : graph_(&graph),
        labels_(graph),
        library_(library),
        ratified_(library.Get(ast::Dialect::kRatified)),
        symbols_(symbols),
        names_(names),
        form_(form) {}

  std::string Print();
  // Makes repeated blocks of the graph fragments, for Print. Adds the names of their tensors.
  void GroupBlocks(std::set<std::string>& inner_names);
  std::vector<FlatStatement> Statements();

 private:
  // Properties shared by all nodes of an operation.
  struct Operation {
    const semantics::Signature* signature = nullptr;  // null: a custom primitive
    const semantics::TypeTable* types = nullptr;      // types of the signature
    bool tells_type = false;                          // the type argument is printed
    std::string default_type;                         // but not if it is this one
    std::vector<std::string> defaults;  // indexed by parameter, as literals; "" if there is none
  };

  void PrintStatements();
  // Returns true if an operation or a printed fragment has the name.
  bool IsTaken(const std::string& fragment) const;
  // Returns `wanted` or, if an operation, a fragment or the graph has that name, the first free `wanted_N`.
  std::string TakeFragmentName(const std::string& wanted);
  std::string CallOf(const std::string& fragment, const BlockInstance& instance);
  // Returns the name of a body's fragment, and prints the fragment at the first use of an identical body.
  // Recursion follows the nesting of bodies, bounded by expansion.
  std::string FragmentOf(const ir::Body& body);
  std::string FragmentText(const ir::Graph& body);
  void PrintNode(const Node& node);
  // Prints the node by a call of tract's registries; returns false if it has none.
  bool PrintTractCall(const Node& node);
  // Adds the line of the extension of an operation, if it is one's.
  void AddExtensionOf(std::string_view operation);
  void PrintLeft(const Node& node, const Operation& operation);
  void PrintTypeArgument(const Node& node, const Operation& operation);
  void PrintStandardArguments(const Node& node, const Operation& operation);
  void PrintCustomArguments(const Node& node);
  void PrintInputs(llvm::ArrayRef<OutputPort> inputs, bool array);
  const Operation& OperationOf(const Node& node);
  std::string Tensor(OutputPort port) const;
  bool IsLiteral(const Node& node) const {
    return node.name().empty() && node.Is(ir::OpRole::kConstant) && node.output().names.empty();
  }
  void Separate(bool& first) {
    if (!first) out_ += ", ";
    first = false;
  }

  const ir::Graph* graph_;  // the graph being printed: the document's, or a body
  const ir::Graph* const main_ = graph_;
  const ir::ops::RatifiedLabels labels_;
  const semantics::StandardLibrary& library_;
  const semantics::CheckedDocument& ratified_;
  const SymbolTable& symbols_;
  const PrintedNames& names_;
  const DocumentForm form_;
  std::string out_;
  std::string fragments_;
  std::map<std::pair<std::string, std::string>, std::string>
      fragment_names_;           // keyed by name and text in the graph
  std::set<std::string> taken_;  // names of fragments
  // The nodes in blocks, with the invocation of the block after its last one.
  llvm::DenseMap<ir::NodeId, std::string> calls_;
  llvm::SmallVector<const semantics::Extension*, 1> extensions_;  // extensions of printed operations
  llvm::DenseMap<ir::OpId, std::unique_ptr<Operation>> operations_;
};

// True for the Parameters of bodies, and for Results.
bool IsInterface(const Node& node) {
  return node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kResult);
}

// Returns the name of a node's operation in a document.
std::string CalleeOf(const Node& node) {
  return node.set() == ir::kNnefSet ? node.type() : ir::ops::opset::NnefName(node.info());
}

bool IsNaN(const ir::Attribute& attribute) {
  const auto is_nan = [](double number) { return std::isnan(number); };
  if (const auto* number = attribute.get<double>()) return is_nan(*number);
  if (const auto* numbers = attribute.get<ir::Attribute::Scalars>()) return llvm::any_of(*numbers, is_nan);
  const auto* list = attribute.get<ir::AttributeList>();
  return list != nullptr && llvm::any_of(list->items, IsNaN);
}

// Returns true if an attribute of a node, or of a node in its bodies, is NaN.
bool HoldsNaN(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const Node& node = graph.node(id);
    return llvm::any_of(node.attributes(), [](const auto& each) { return IsNaN(each.second); }) ||
           llvm::any_of(node.bodies(), [](const ir::Body& body) { return HoldsNaN(*body.graph); });
  });
}

// Returns true if an extent of an input is known at run time only.
bool HasOpenExtents(const ir::Graph& graph) {
  return llvm::any_of(graph.parameters(), [&](ir::NodeId id) {
    const auto* shape = graph.node(id).attribute("shape").get<ir::PartialShape>();
    return shape != nullptr && !shape->known();
  });
}

std::string FlatPrinter::Print() {
  out_ = fmt::format("\ngraph {}( ", names_.Of(graph_->name()));
  bool first = true;
  for (ir::NodeId id : graph_->parameters()) {
    Separate(first);
    out_ += Tensor({id, 0});
  }
  out_ += " ) -> ( ";
  first = true;
  for (ir::NodeId id : graph_->results()) {
    Separate(first);
    out_ += Tensor(graph_->node(id).input(0));
  }
  out_ += " )\n{\n";
  PrintStatements();
  out_ += "}\n";
  std::string head = "version 1.0;\n";
  const std::string declarations = print::CustomDeclarations(*graph_, ratified_, symbols_);
  if (!declarations.empty() || !fragments_.empty()) {
    head += fmt::format("extension {};\n", semantics::ExtensionFor(&ast::Dialect::fragments).name);
  }
  // NaN and graphs without parameters have no form in the standard.
  const auto has = [&](bool ast::Dialect::*enabled) {
    return llvm::any_of(extensions_, [&](auto* each) { return llvm::is_contained(each->enables, enabled); });
  };
  const bool needs_extension =
      (HoldsNaN(*graph_) && !has(&ast::Dialect::non_finite)) || graph_->parameters().empty();
  if (needs_extension && llvm::none_of(extensions_, [](auto* each) { return each->is_lenient; }))
    extensions_.push_back(&semantics::LenientExtension());
  if (form_ == DocumentForm::kTract) AddExtensionOf("tract_core_cast");
  if (HasOpenExtents(*graph_) && !has(&ast::Dialect::open_extents))
    extensions_.push_back(&semantics::ExtensionFor(&ast::Dialect::open_extents));
  for (const semantics::Extension* extension : extensions_)
    head += fmt::format("extension {};\n", extension->name);
  if (!declarations.empty()) head += '\n' + declarations;
  return head + fragments_ + out_;
}

std::vector<FlatStatement> FlatPrinter::Statements() {
  std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(*graph_);
  NNEFC_CHECK(order.has_value());
  std::vector<FlatStatement> statements;
  for (ir::NodeId id : *order) {
    const Node& node = graph_->node(id);
    if (IsInterface(node) || IsLiteral(node)) continue;
    const size_t begin = out_.size();
    PrintNode(node);
    statements.push_back({id, out_.substr(begin)});
    out_.resize(begin);
  }
  return statements;
}

void FlatPrinter::PrintStatements() {
  for (const FlatStatement& statement : Statements()) {
    const auto call = graph_ == main_ ? calls_.find(statement.node) : calls_.end();
    out_ += call == calls_.end() ? statement.text : call->second;
  }
}

bool FlatPrinter::IsTaken(const std::string& fragment) const {
  const Symbol symbol = symbols_.Find(fragment);
  return taken_.count(fragment) != 0 || main_->registry().Find(ir::kNnefSet, fragment).valid() ||
         (symbol.valid() && library_.FindOperation(symbol).callee.valid());
}

std::string FlatPrinter::TakeFragmentName(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; IsTaken(name) || name == main_->name(); ++i) name = fmt::format("{}_{}", wanted, i);
  taken_.insert(name);
  return name;
}

std::string FlatPrinter::CallOf(const std::string& fragment, const BlockInstance& instance) {
  out_ = "    ";
  PrintInputs(instance.results, /*array=*/false);
  out_ += fmt::format(" = {}(", fragment);
  PrintInputs(instance.arguments, /*array=*/false);
  out_ += ");\n";
  return std::exchange(out_, "");
}

void FlatPrinter::GroupBlocks(std::set<std::string>& inner_names) {
  const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(*graph_);
  NNEFC_CHECK(order.has_value());
  for (const RepeatedBlock& block : FindRepeatedBlocks(*graph_, *order)) {
    const std::string name = TakeFragmentName(block.name);
    fragments_ += fmt::format("\nfragment {}{}", name, FragmentText(*BodyOf(block, *graph_)));
    for (const BlockInstance& instance : block.instances) {
      for (ir::NodeId id : instance.nodes) {
        calls_[id] = "";
        for (int32_t i = 0; i < graph_->node(id).num_outputs(); ++i) {
          if (!llvm::is_contained(instance.results, OutputPort{id, i})) inner_names.insert(Tensor({id, i}));
        }
      }
      calls_[instance.nodes.back()] = CallOf(name, instance);
    }
  }
}

std::string FlatPrinter::FragmentOf(const ir::Body& body) {
  const std::string wanted = body.graph->name();
  const std::string text = FragmentText(*body.graph);
  auto [entry, added] = fragment_names_.try_emplace({wanted, text});
  if (!added) return entry->second;
  std::string name = wanted;
  // The fragment may differ for tensors of other shapes. A fragment must not have the name of an operation.
  for (int i = 2; IsTaken(name); ++i) {
    name = fmt::format("{}_{}", wanted, i);
    if (auto same = fragment_names_.find({name, text}); same != fragment_names_.end()) {
      return entry->second = same->second;
    }
  }
  taken_.insert(name);
  entry->second = name;
  fragment_names_[{name, text}] = name;
  fragments_ += fmt::format("\nfragment {}{}", name, text);
  return name;
}

// Returns `( x: tensor<scalar> ) -> ( y: tensor<scalar> )` and the body.
std::string FlatPrinter::FragmentText(const ir::Graph& body) {
  const ir::Graph* outer = std::exchange(graph_, &body);
  std::string outer_text = std::exchange(out_, "( ");
  bool first = true;
  auto print_type = [&](OutputPort port) {
    Separate(first);
    out_ += fmt::format("{}: tensor<{}>", Tensor(port), ir::ops::DataTypeName(body.output(port).type));
  };
  for (ir::NodeId id : body.parameters()) print_type({id, 0});
  out_ += " ) -> ( ";
  first = true;
  for (ir::NodeId id : body.results()) print_type(body.node(id).input(0));
  out_ += " )\n{\n";
  PrintStatements();
  out_ += "}\n";
  graph_ = outer;
  return std::exchange(out_, std::move(outer_text));
}

const FlatPrinter::Operation& FlatPrinter::OperationOf(const Node& node) {
  std::unique_ptr<Operation>& entry = operations_[node.op()];
  if (entry != nullptr) return *entry;
  entry = std::make_unique<Operation>();
  const Symbol name = symbols_.Find(CalleeOf(node));
  const auto [callee, extension] = name.valid() ? library_.FindOperation(name) : semantics::ExtensionCallee();
  // Operations of extensions that no line enables are printed as custom operations.
  const bool is_enabled = extension != nullptr && extension->activation == semantics::Activation::kLine;
  if (node.set() == ir::kNnefSet && print::IsCustom(node, ratified_, symbols_) && !is_enabled) {
    entry->tells_type = true;
    return *entry;
  }
  NNEFC_CHECK(callee.valid());
  if (extension != nullptr && !llvm::is_contained(extensions_, extension)) extensions_.push_back(extension);
  const semantics::Signature& signature = callee.document->signature(callee.fragment);
  const semantics::TypeTable& types = callee.document->types();
  entry->types = &types;
  entry->signature = &signature;
  bool inferred = false;
  for (const semantics::TypedName& parameter : signature.parameters) {
    inferred |= types.ContainsGeneric(parameter.type);
    entry->defaults.push_back(
        parameter.default_value.valid()
            ? print::DefaultLiteral(callee.document->ast(), parameter.default_value, symbols_)
            : std::string());
  }
  entry->tells_type = signature.is_generic && (!inferred || signature.generic_default.valid());
  if (signature.generic_default.valid()) {
    entry->default_type = types.Text(signature.generic_default, ast::Dialect::kRatified);
  }
  return *entry;
}

// Returns the identifier of an output, or the literal that it represents.
std::string FlatPrinter::Tensor(OutputPort port) const {
  const Node& node = graph_->node(port.node);
  if (IsLiteral(node)) {
    std::string list = print::AttributeLiteral(node.attribute("value"));
    return list.substr(1, list.size() - 2);
  }
  const ir::Output& output = node.output(port.index);
  return std::string(names_.Of(output.names.empty() ? node.name() : output.names[0]));
}

void FlatPrinter::PrintInputs(llvm::ArrayRef<OutputPort> inputs, bool array) {
  if (array) out_ += '[';
  bool first = true;
  for (OutputPort input : inputs) {
    Separate(first);
    out_ += Tensor(input);
  }
  if (array) out_ += ']';
}

// Prints `y = `, `a, b = `, `[a, b] = `, `a, [b, c] = `
void FlatPrinter::PrintLeft(const Node& node, const Operation& operation) {
  const std::vector<std::string>& outputs = node.info().outputs;
  llvm::SmallVector<OutputPort, 4> ports;
  for (int32_t i = 0; i < node.num_outputs(); ++i) ports.push_back(node.port(i));
  out_ += "    ";
  if (operation.signature == nullptr && outputs.size() > 1) {
    bool first = true;
    for (const ir::OutputGroup& group : ir::OutputGroups(node)) {
      const auto outputs_of = llvm::ArrayRef<OutputPort>(ports).slice(static_cast<size_t>(group.first),
                                                                      static_cast<size_t>(group.count));
      Separate(first);
      PrintInputs(outputs_of, group.array);
    }
    out_ += " = ";
    return;
  }
  bool array = outputs.size() == 1 && outputs[0].ends_with("[]");
  if (operation.signature != nullptr) {
    array = operation.signature->results.size() == 1 &&
            operation.types->Kind(operation.signature->results[0].type) == semantics::TypeKind::kArray;
  }
  PrintInputs(ports, array);
  out_ += " = ";
}

void FlatPrinter::PrintTypeArgument(const Node& node, const Operation& operation) {
  const ir::Attribute* dtype = node.attributes().Find("dtype");
  if (!operation.tells_type || dtype == nullptr || dtype->AsString() == operation.default_type) return;
  out_ += '<' + dtype->AsString() + '>';
}

void FlatPrinter::AddExtensionOf(std::string_view operation) {
  const Symbol name = symbols_.Find(operation);
  const semantics::Extension* extension = name.valid() ? library_.FindOperation(name).extension : nullptr;
  if (extension != nullptr && !llvm::is_contained(extensions_, extension)) extensions_.push_back(extension);
}

bool FlatPrinter::PrintTractCall(const Node& node) {
  std::vector<std::string> inputs;
  for (OutputPort port : node.inputs()) inputs.push_back(Tensor(port));
  const std::string call = TractCall(*graph_, node, inputs);
  if (call.empty()) return false;
  AddExtensionOf(llvm::StringRef(call).split('(').first);
  out_ += fmt::format("    {} = {};\n", Tensor(node.port(0)), call);
  return true;
}

void FlatPrinter::PrintNode(const Node& node) {
  if (form_ == DocumentForm::kTract && PrintTractCall(node)) return;
  const Operation& operation = OperationOf(node);
  PrintLeft(node, operation);
  out_ += CalleeOf(node);
  PrintTypeArgument(node, operation);
  out_ += '(';
  if (operation.signature != nullptr) {
    PrintStandardArguments(node, operation);
  } else {
    PrintCustomArguments(node);
  }
  out_ += ");\n";
}

// Prints tensors by position, without defaults at the end, then attributes by name.
void FlatPrinter::PrintStandardArguments(const Node& node, const Operation& operation) {
  const semantics::TypeTable& types = *operation.types;
  const std::vector<semantics::TypedName>& parameters = operation.signature->parameters;
  llvm::SmallVector<std::pair<int32_t, bool>, 4> tensors;  // input index; true for an array
  size_t shown = 0;
  int32_t input = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!types.ContainsTensor(parameters[i].type)) continue;
    llvm::ArrayRef<OutputPort> segment = node.segment(input);
    tensors.emplace_back(input++, types.Kind(parameters[i].type) == semantics::TypeKind::kArray);
    bool is_default = (segment.empty() && operation.defaults[i] == "[]") ||
                      (segment.size() == 1 && IsLiteral(graph_->node(segment[0].node)) &&
                       !operation.defaults[i].empty() && Tensor(segment[0]) == operation.defaults[i]);
    if (!is_default) shown = tensors.size();
  }
  bool first = true;
  for (size_t i = 0; i < shown; ++i) {
    Separate(first);
    PrintInputs(node.segment(tensors[i].first), tensors[i].second);
  }
  const bool is_nnef = node.set() == ir::kNnefSet;
  const ir::AttributeMap converted = is_nnef ? ir::AttributeMap() : ir::ops::opset::NnefAttributes(node);
  const ir::AttributeMap& attributes = is_nnef ? node.attributes() : converted;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (types.ContainsTensor(parameters[i].type)) continue;
    std::string_view name = symbols_.Text(parameters[i].name.symbol);
    const ir::Attribute* attribute = attributes.Find(name);
    if (attribute == nullptr) continue;
    const auto body = llvm::find_if(node.bodies(), [&](const ir::Body& each) { return each.role == name; });
    const bool is_label = node.Is(ir::OpRole::kVariable) && name == "label";
    std::string literal = body != node.bodies().end() ? print::StringLiteral(FragmentOf(*body))
                          : is_label                  ? print::StringLiteral(labels_.Of(node))
                                     : print::AttributeLiteral(*attribute, types, parameters[i].type);
    // tract's own operations have no defaults.
    const bool is_needed = form_ == DocumentForm::kTract && node.type().starts_with("tract_");
    if (literal == operation.defaults[i] && !is_needed) continue;
    Separate(first);
    out_ += fmt::format("{} = {}", name, literal);
  }
}

void FlatPrinter::PrintCustomArguments(const Node& node) {
  bool first = true;
  for (size_t i = 0; i < node.info().inputs.size(); ++i) {
    Separate(first);
    PrintInputs(node.segment(static_cast<int32_t>(i)), node.info().inputs[i].variadic);
  }
  for (const auto& [name, value] : node.attributes()) {
    if (name == "dtype") continue;
    Separate(first);
    out_ += fmt::format("{} = {}", name, print::AttributeLiteral(value));
  }
}

}  // namespace

std::string PrintFlatDocument(const ir::Graph& graph, const semantics::StandardLibrary& library,
                              const SymbolTable& symbols, const PrintedNames& names, DocumentForm form) {
  return FlatPrinter(graph, library, symbols, names, form).Print();
}

std::string PrintFlatDocument(const ir::Graph& graph, const semantics::StandardLibrary& library,
                              const SymbolTable& symbols) {
  return PrintFlatDocument(graph, library, symbols, PrintedNames(graph));
}

std::string PrintDocumentWithFragments(const ir::Graph& graph, const semantics::StandardLibrary& library,
                                       const SymbolTable& symbols, const PrintedNames& names,
                                       DocumentForm form, std::set<std::string>& inner_names) {
  FlatPrinter printer(graph, library, symbols, names, form);
  printer.GroupBlocks(inner_names);
  return printer.Print();
}

std::vector<FlatStatement> PrintFlatStatements(const ir::Graph& graph,
                                               const semantics::StandardLibrary& library,
                                               const SymbolTable& symbols, const PrintedNames& names) {
  return FlatPrinter(graph, library, symbols, names).Statements();
}

}  // namespace nnefc::expand::print
