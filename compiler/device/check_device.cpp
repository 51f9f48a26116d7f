// The check of a compilation against a profile: its document, its graph and its weights.

#include "compiler/device/check_device.h"

#include <algorithm>
#include <set>

#include "compiler/device/graph_check.h"
#include "compiler/device/rules.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/semantics/operator_mapping.h"
#include "compiler/syntax/walk.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::device {
namespace {

// The decompositions of the standard compounds.
class Decompositions {
 public:
  Decompositions(const Profile& profile, const semantics::StandardLibrary& library)
      : profile_(profile),
        ratified_(library.Get(ast::Dialect::kRatified)),
        symbols_(library.base().symbols) {}

  bool IsListed(std::string_view operation) const {
    return !profile_.operations || profile_.operations->by_name.count(operation) != 0;
  }
  // Adds the compounds to expand so that only listed operations remain of `operation`. Returns false if there
  // are none.
  bool Find(std::string_view operation, std::set<std::string>& compounds) const {
    if (IsListed(operation) || compounds.count(std::string(operation)) != 0) return true;
    const Symbol symbol = symbols_.Find(operation);
    const semantics::Callee callee = symbol.valid() ? ratified_.FindOwn(symbol) : semantics::Callee();
    if (!callee.valid() || !ratified_.signature(callee.fragment).has_body) return false;
    compounds.insert(std::string(operation));
    std::set<std::string, std::less<>> called;
    for (const ast::Assignment& assignment : ratified_.ast().fragments[callee.fragment].body) {
      ast::WalkExprs(ratified_.ast(), assignment.right, [&](ast::ExprId id, const ast::Expr& expr) {
        const std::string_view name = CalledBy(id, expr);
        if (!name.empty()) called.emplace(name);
      });
    }
    return llvm::all_of(called, [&](const std::string& name) { return Find(name, compounds); });
  }

 private:
  // Returns the operation that an expression invokes or that its operator on tensors stands for.
  std::string_view CalledBy(ast::ExprId id, const ast::Expr& expr) const {
    if (const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node))
      return symbols_.Text(invocation->callee.symbol);
    const semantics::TypeId type = ratified_.type(id);
    if (!type.valid() || !ratified_.types().ContainsTensor(type)) return {};
    if (const auto* binary = ast::Find<ast::BinaryExpr>(expr.node)) return semantics::OperationOf(binary->op);
    if (const auto* unary = std::get_if<ast::UnaryExpr>(&expr.node))
      return semantics::OperationOf(unary->op, ast::Dialect::kRatified);
    return {};
  }

  const Profile& profile_;
  const semantics::CheckedDocument& ratified_;
  const SymbolTable& symbols_;
};

class DeviceCheck {
 public:
  DeviceCheck(driver::Compilation& compilation, const Profile& profile)
      : compilation_(compilation),
        profile_(profile),
        graph_(compilation.expanded()),
        document_(compilation.checked()),
        emitter_(compilation.context().emitter) {}

  void Run() {
    if (document_ != nullptr) RunOnLanguage();
    RunOnGraph();
  }
  void RunOnLanguage() { CheckDocument(document_->ast()); }
  void RunOnGraph() {
    const bool is_trial = compilation_.expansion().is_trial();
    if (is_trial && LimitsExtents()) ReportSymbols();
    const Decompositions decompositions(profile_, compilation_.library());
    const GraphCheck check{.profile = profile_,
                           .emitter = emitter_,
                           .advice = [&](std::string_view name) { return Advice(decompositions, name); },
                           .is_trial = is_trial};
    check.Check(*graph_);
    CheckOperationCount();
    CheckWeights();
    if (!is_trial) CheckActivations();
  }

 private:
  SourceRange GraphRange() const {
    if (document_ == nullptr || document_->graph() == nullptr) return {};
    return document_->graph()->name.range;
  }
  template <typename... Args>
  DiagnosticBuilder Emit(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                         Args&&... args) {
    return emitter_.Emit(rule, range, "{}", fmt::format(format, std::forward<Args>(args)...));
  }

  void CheckDocument(const ast::Document& document) {
    if (profile_.ratified_only && document_->dialect().translated) {
      SourceRange range = document.version_range;
      if (!range.valid()) range = {document.file, 0, 0};
      Emit(kDialect, range,
           "the device reads ratified documents, and this one is provisional; `nnefc upgrade` converts it")
          .Note(profile_.ratified_only->range, "`{}` of the profile", profile_.ratified_only->pointer);
    }
    if (profile_.extensions) CheckExtensions(document);
    if (!profile_.no_fragments) return;
    for (const ast::Fragment& fragment : document.fragments) {
      if (!fragment.has_body) continue;
      Emit(
          kFragment, fragment.name.range,
          "the device reads no fragments with a body, and the document defines `{}`; `nnefc expand` writes a "
          "document without fragments",
          compilation_.context().symbols.Text(fragment.name.symbol))
          .Note(profile_.no_fragments->range, "`{}` of the profile", profile_.no_fragments->pointer);
    }
  }

  void CheckExtensions(const ast::Document& document) {
    const SymbolTable& symbols = compilation_.context().symbols;
    for (const ast::Extension& line : document.extensions) {
      for (const semantics::ExtensionUse& use : semantics::ExtensionsIn(line, symbols)) {
        std::string name;
        for (const ast::Name& word : use.name)
          name += (name.empty() ? "" : " ") + std::string(symbols.Text(word.symbol));
        if (use.name.empty() || profile_.extensions->Allows(name)) continue;
        // `expand` writes documents without fragments and operators.
        const bool can_expand = name.starts_with("KHR_enable_");
        Emit(kExtension, Cover(use.name.front().range, use.name.back().range),
             "the device does not have the extension `{}`{}", name,
             can_expand ? "; `nnefc expand` writes a document without it" : "")
            .Note(profile_.extensions->entry.range, "`{}` of the profile allows {}",
                  profile_.extensions->entry.pointer, Describe(*profile_.extensions));
      }
    }
  }

  bool LimitsExtents() const {
    const auto limits = [](const std::optional<AllowedOperations>& operations) {
      return operations && llvm::any_of(operations->by_name, [](const auto& entry) {
               const OperationLimits& operation = entry.second;
               return operation.kernel || operation.results.limits_extents() ||
                      llvm::any_of(operation.inputs,
                                   [](const auto& input) { return input.second.limits_extents(); });
             });
    };
    return profile_.tensors.limits_extents() || profile_.max_activation_bytes ||
           limits(profile_.operations) || limits(profile_.custom_operations);
  }
  void ReportSymbols() {
    std::string shapes;
    for (const auto& [name, shape] : compilation_.expansion().open_shapes)
      shapes += fmt::format(" --input-shape {}=..", name);
    if (shapes.empty()) {
      Emit(kUnknownExtent, GraphRange(),
           "the profile limits extents or bytes, and operations depend on a symbol that is the extent of no "
           "input; write a number for it");
      return;
    }
    Emit(kUnknownExtent, GraphRange(),
         "the profile limits extents or bytes, and extents of inputs are symbols; pass `{}`",
         shapes.substr(1));
  }

  static std::string Advice(const Decompositions& decompositions, std::string_view name) {
    std::set<std::string> compounds;
    if (!decompositions.Find(name, compounds)) return {};
    return fmt::format("`nnefc expand --lower {}` writes it with operations that the device has",
                       fmt::join(compounds, ","));
  }

  void CheckOperationCount() {
    if (!profile_.max_operations) return;
    const int64_t count = CountOperations(*graph_);
    if (count <= profile_.max_operations->max) return;
    Emit(kOperationCount, GraphRange(), "the graph has {} operations; divide the model", count)
        .Note(profile_.max_operations->entry.range, "`{}` of the profile allows at most {}",
              profile_.max_operations->entry.pointer, profile_.max_operations->max);
  }
  static int64_t CountOperations(const ir::Graph& graph) {
    int64_t count = 0;
    for (ir::NodeId id : graph.nodes()) {
      const ir::Node& node = graph.node(id);
      count += IsExecuted(node) ? 1 : 0;
      for (const ir::Body& body : node.bodies()) count += CountOperations(*body.graph);
    }
    return count;
  }

  // Returns the type of stored items: `f16`, `i8`.
  static std::string StoredType(const package::DatHeader& dat) {
    if (dat.coding == package::DatCoding::kPlain && dat.items == package::DatItems::kBool) return "boolean";
    const char letter = dat.items == package::DatItems::kFloat    ? 'f'
                        : dat.items == package::DatItems::kSigned ? 'i'
                                                                  : 'u';
    return fmt::format("{}{}", letter, dat.bits);
  }

  void CheckWeights() {
    if (!profile_.weight_types && !profile_.max_weight_bytes && !profile_.max_weight_bytes_per_tensor) return;
    std::set<std::string> keys;
    WeightSum sum;
    CheckWeights(*graph_, keys, sum);
    if (!profile_.max_weight_bytes) return;
    const ProfileEntry& entry = profile_.max_weight_bytes->entry;
    if (!sum.is_known) {
      Emit(kUnknownExtent, GraphRange(), "the size of the weights is not known")
          .Note(entry.range, "`{}` of the profile limits it", entry.pointer);
    } else if (sum.bytes > profile_.max_weight_bytes->max) {
      Emit(kWeights, GraphRange(),
           "the weights have {} bytes; store them with fewer bits, or divide the model", sum.bytes)
          .Note(entry.range, "`{}` of the profile allows at most {}", entry.pointer,
                profile_.max_weight_bytes->max);
    }
  }
  struct WeightSum {
    int64_t bytes = 0;
    bool is_known = true;
  };

  // Checks each variable once; `keys` has those of the variables before.
  void CheckWeights(const ir::Graph& graph, std::set<std::string>& keys, WeightSum& sum) {
    for (ir::NodeId id : graph.nodes()) {
      const ir::Node& node = graph.node(id);
      for (const ir::Body& body : node.bodies()) CheckWeights(*body.graph, keys, sum);
      if (!node.Is(ir::OpRole::kVariable)) continue;
      if (keys.insert(ir::ops::VariableKey(node)).second) CheckVariable(node, node.String("label"), sum);
    }
  }

  void CheckVariable(const ir::Node& node, const std::string& label, WeightSum& sum) {
    const package::ModelContainer* model = compilation_.model();
    std::optional<package::DatHeader> header;
    Context quiet(compilation_.context(), 0);  // the files are already checked
    if (model != nullptr && model->HasVariable(label))
      header = model->ReadVariableHeader(label, quiet.emitter);
    const ElementType type = node.output().type;
    if (header && profile_.weight_types && !profile_.weight_types->Allows(StoredType(*header))) {
      Emit(kWeights, node.origin().range, "the items of `{}` are stored as `{}`; convert its tensor file",
           label, StoredType(*header))
          .Note(profile_.weight_types->entry.range, "`{}` of the profile allows {}",
                profile_.weight_types->entry.pointer, Describe(*profile_.weight_types))
          .Notes(ir::StackNotes(node.origin().frame));
    }
    const int64_t bits = header                      ? header->bits
                         : type == ElementType::kF32 ? profile_.scalar_bits
                                                     : BitWidth(type);
    const std::optional<int64_t> bytes = TensorBytes(node.output().shape, bits);
    if (!bytes || __builtin_add_overflow(sum.bytes, *bytes, &sum.bytes)) {
      sum.is_known = false;
    } else if (profile_.max_weight_bytes_per_tensor && *bytes > profile_.max_weight_bytes_per_tensor->max) {
      const Limit& limit = *profile_.max_weight_bytes_per_tensor;
      Emit(kWeights, node.origin().range,
           "the weights of `{}` have {} bytes; store them with fewer bits, or split the operation", label,
           *bytes)
          .Note(limit.entry.range, "`{}` of the profile allows at most {}", limit.entry.pointer, limit.max)
          .Notes(ir::StackNotes(node.origin().frame));
    }
  }

  void CheckActivations() {
    if (!profile_.max_activation_bytes) return;
    const Limit& limit = *profile_.max_activation_bytes;
    const std::optional<int64_t> bytes = ActivationBytes(*graph_, profile_.scalar_bits);
    if (!bytes) {
      Emit(kUnknownExtent, GraphRange(), "the size of the activations is not known before execution")
          .Note(limit.entry.range, "`{}` of the profile limits it", limit.entry.pointer);
    } else if (*bytes > limit.max) {
      Emit(kActivations, GraphRange(),
           "the tensors that are needed at one time have {} bytes; reduce the batch or the extents of inputs",
           *bytes)
          .Note(limit.entry.range, "`{}` of the profile allows at most {}", limit.entry.pointer, limit.max);
    }
  }

  driver::Compilation& compilation_;
  const Profile& profile_;
  const ir::Graph* graph_;  // null if only the language is checked
  const semantics::CheckedDocument* document_;
  Emitter& emitter_;
};

// Adds the compounds to expand in a graph and in the bodies of its nodes.
void AddCompounds(const ir::Graph& graph, const Decompositions& decompositions,
                  std::set<std::string>& compounds) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::Body& body : node.bodies()) AddCompounds(*body.graph, decompositions, compounds);
    std::set<std::string> found;
    if (node.set() == ir::kNnefSet && IsExecuted(node) && decompositions.Find(node.type(), found))
      compounds.merge(found);
  }
}

}  // namespace

void CheckDevice(driver::Compilation& compilation, const Profile& profile) {
  if (compilation.expanded() != nullptr) DeviceCheck(compilation, profile).Run();
}

void CheckDeviceLanguage(driver::Compilation& compilation, const Profile& profile) {
  if (compilation.checked() != nullptr) DeviceCheck(compilation, profile).RunOnLanguage();
}

void CheckDeviceGraph(driver::Compilation& compilation, const Profile& profile) {
  if (compilation.expanded() != nullptr) DeviceCheck(compilation, profile).RunOnGraph();
}

std::vector<std::string> CompoundsToExpand(const driver::Compilation& compilation, const Profile& profile) {
  std::set<std::string> compounds;
  const Decompositions decompositions(profile, compilation.library());
  AddCompounds(*compilation.expanded(), decompositions, compounds);
  return {compounds.begin(), compounds.end()};
}

}  // namespace nnefc::device
