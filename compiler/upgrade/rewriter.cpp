// The rewriting of the syntax tree from the provisional to the ratified dialect.

#include "compiler/upgrade/rewriter.h"

#include <algorithm>

#include "compiler/expand/provisional_names.h"
#include "compiler/semantics/extensions.h"

namespace nnefc::upgrade {
namespace {

// Special results of Rewriter::Goners.
constexpr int32_t kStays = -1;
constexpr int32_t kOtherGraph = -2;

// Returns the offset of the code byte that a comment at `begin` trails.
uint32_t CodeBefore(std::string_view text, uint32_t begin) {
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  return begin > 0 ? begin - 1 : 0;
}

}  // namespace

Rewriter::Rewriter(const Source& source, Context& context)
    : source_(source),
      context_(context),
      element_types_(source.document, source.ratified, context.symbols),
      from_(&source.document.ast()) {
  for (ir::NodeId id : source.expanded.nodes()) {
    const ir::Node& node = source.expanded.node(id);
    const SourceRange range = node.origin().range;
    if (range.file == old().file) nodes_[{range.begin, range.end}].push_back(&node);
  }
}

ast::Name Rewriter::Rename(ast::Name name) {
  if (!name.symbol.valid()) return name;
  return {context_.symbols.Intern(source_.names.Of(Text(name.symbol))), name.range};
}

std::unique_ptr<ast::Document> Rewriter::Rewrite(const Choice& choice) {
  out_ = std::make_unique<ast::Document>();
  has_operators_ = false;
  out_->file = old().file;
  out_->dialect = ast::Dialect::kRatified;
  out_->has_version = true;
  out_->version_range = old().version_range;
  out_->version_major = 1;
  out_->version_minor = 0;
  const std::vector<int32_t> goners = Goners(choice);
  for (size_t i = 0; i < goners.size(); ++i) {
    if (goners[i] == kStays) out_->comments.push_back(old().comments[i]);
  }
  for (size_t i = 0; i < old().fragments.size(); ++i) {
    if (choice.keeps_fragment[i]) out_->fragments.Add(CopyFragment(ast::FragmentId(static_cast<int32_t>(i))));
  }
  out_->graphs.push_back(CopyGraph(choice));
  if (!out_->fragments.empty()) AddExtension(semantics::ExtensionFor(&ast::Dialect::fragments).name);
  if (has_operators_) AddExtension(semantics::ExtensionFor(&ast::Dialect::operators).name);
  return std::move(out_);
}

std::unique_ptr<ast::Document> Rewriter::RewriteQuantization(
    const ast::Document& quantization, const std::map<std::string, std::string>& renamed) {
  out_ = std::make_unique<ast::Document>();
  out_->file = quantization.file;
  out_->dialect = ast::Dialect::kRatified;
  out_->comments = quantization.comments;
  from_ = &quantization;
  for (const ast::Quantization& entry : quantization.quantizations) {
    ast::Name key = entry.key;
    auto name = renamed.find(std::string(Text(key.symbol)));
    if (name != renamed.end()) key.symbol = context_.symbols.Intern(name->second);
    out_->quantizations.push_back({key, Copy(entry.invocation)});
  }
  from_ = &old();
  return std::move(out_);
}

// Returns for each comment the removed fragment that it belongs to, inside or directly above it; kOtherGraph
// for comments of unselected graphs, kStays for the others.
std::vector<int32_t> Rewriter::Goners(const Choice& choice) const {
  const std::string_view text = context_.sources.Text(old().file);
  auto goner = [&](uint32_t at) {
    for (size_t i = 0; i < old().fragments.size(); ++i) {
      const SourceRange range = old().fragments[ast::FragmentId(static_cast<int32_t>(i))].range;
      if (!choice.keeps_fragment[i] && at < range.end && at >= range.begin) return static_cast<int32_t>(i);
    }
    for (const ast::Graph& graph : old().graphs) {
      if (&graph != source_.document.graph() && at < graph.range.end && at >= graph.range.begin)
        return kOtherGraph;
    }
    return kStays;
  };
  uint32_t next = 0;  // start of the code after a comment
  int32_t next_goner = kStays;
  std::vector<int32_t> goners(old().comments.size(), kStays);
  for (size_t i = goners.size(); i-- > 0;) {
    const ast::Comment& comment = old().comments[i];
    const SourceRange range = comment.range;
    // The first non-blank byte after the comment, without an empty line between them.
    uint32_t at = range.end;
    int lines = 0;
    while (at < text.size() && (text[at] == '\n' || text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
      lines += text[at++] == '\n';
    goners[i] = goner(range.begin);
    if (goners[i] == kStays && comment.trailing) goners[i] = goner(CodeBefore(text, range.begin));
    if (goners[i] == kStays && !comment.trailing && lines == 1)
      goners[i] = at == next && next_goner != kStays ? next_goner : goner(at);
    next = range.begin;
    next_goner = goners[i];
  }
  return goners;
}

std::vector<std::vector<size_t>> Rewriter::RemovedComments(const Choice& choice) const {
  std::vector<std::vector<size_t>> gone(old().fragments.size());
  const std::vector<int32_t> goners = Goners(choice);
  for (size_t i = 0; i < goners.size(); ++i) {
    if (goners[i] >= 0) gone[static_cast<size_t>(goners[i])].push_back(i);
  }
  return gone;
}

void Rewriter::AddExtension(std::string_view name) {
  SourceRange place = old().version_range;
  place.begin = place.end;
  const ast::Name names[] = {Named(name)};
  out_->extensions.push_back({place, out_->Keep<ast::Name>(names)});
}

// ---- declarations ----

ast::Fragment Rewriter::CopyFragment(ast::FragmentId id) {
  const ast::Fragment& fragment = old().fragments[id];
  const semantics::Signature& signature = source_.document.signature(id);
  ast::Fragment copy = fragment;
  copy.name = Rename(fragment.name);
  llvm::SmallVector<ast::Parameter, 8> parameters;
  // Tensors before attributes.
  for (bool tensors : {true, false}) {
    for (size_t i = 0; i < fragment.parameters.size(); ++i) {
      const ast::Parameter& parameter = fragment.parameters[i];
      if (source_.document.types().ContainsTensor(signature.parameters[i].type) != tensors) continue;
      size_t leaf = 0;
      parameters.push_back({Rename(parameter.name), CopyType(id, parameter.name.symbol, parameter.type, leaf),
                            parameter.default_value.valid() ? Copy(parameter.default_value) : ast::ExprId()});
    }
  }
  llvm::SmallVector<ast::Result, 4> results;
  for (const ast::Result& result : fragment.results) {
    size_t leaf = 0;
    results.push_back({Rename(result.name), CopyType(id, result.name.symbol, result.type, leaf)});
  }
  copy.parameters = out_->Keep<ast::Parameter>(parameters);
  copy.results = out_->Keep<ast::Result>(results);
  copy.body = CopyBody(fragment.body);
  return copy;
}

ast::TypeId Rewriter::CopyType(ast::FragmentId fragment, Symbol identifier, ast::TypeId id, size_t& leaf) {
  ast::Type type = old().types[id];
  if (auto* primitive = std::get_if<ast::PrimitiveType>(&type.node)) {
    if (primitive->name == ast::PrimitiveName::kExtent) primitive->name = ast::PrimitiveName::kInteger;
    ++leaf;
  } else if (auto* tensor = std::get_if<ast::TensorType>(&type.node)) {
    const ast::PrimitiveName inferred = element_types_.Of(fragment, identifier, leaf++);
    if (!tensor->has_brackets) *tensor = {inferred, true};
  } else if (auto* array = std::get_if<ast::ArrayType>(&type.node)) {
    array->item = CopyType(fragment, identifier, array->item, leaf);
  } else if (auto* tuple = std::get_if<ast::TupleType>(&type.node)) {
    llvm::SmallVector<ast::TypeId, 4> items;
    for (ast::TypeId item : tuple->items) items.push_back(CopyType(fragment, identifier, item, leaf));
    tuple->items = out_->Keep<ast::TypeId>(items);
  }
  return out_->types.Add(type);
}

llvm::ArrayRef<ast::Assignment> Rewriter::CopyBody(llvm::ArrayRef<ast::Assignment> body) {
  llvm::SmallVector<ast::Assignment, 16> copies;
  for (const ast::Assignment& assignment : body) copies.push_back(CopyAssignment(assignment));
  return out_->Keep<ast::Assignment>(copies);
}

ast::Assignment Rewriter::CopyAssignment(const ast::Assignment& assignment) {
  const ast::ExprNode& right = old().exprs[assignment.right].node;
  has_operators_ |= !ast::Is<ast::InvocationExpr>(right);
  return {assignment.range, Copy(assignment.left), Copy(assignment.right), true};
}

ast::Graph Rewriter::CopyGraph(const Choice& choice) {
  const ast::Graph& graph = *source_.document.graph();
  ast::Graph copy = graph;
  copy.name = Rename(graph.name);
  llvm::SmallVector<ast::Name, 4> parameters;
  for (const ast::Name& name : graph.parameters) parameters.push_back(Rename(name));
  // The ratified dialect requires all externals to be parameters.
  const llvm::ArrayRef<ast::Name> all = source_.flat.graphs[0].parameters;
  for (size_t i = parameters.size(); i < all.size(); ++i)
    parameters.push_back({all[i].symbol, SourceRange()});
  copy.parameters = out_->Keep<ast::Name>(parameters);
  llvm::SmallVector<ast::Name, 4> results;
  for (const ast::Name& name : graph.results) results.push_back(Rename(name));
  copy.results = out_->Keep<ast::Name>(results);
  llvm::SmallVector<ast::Assignment, 64> body;
  for (size_t i = 0; i < graph.body.size(); ++i) {
    if (choice.keeps_statement[i]) {
      body.push_back(CopyAssignment(graph.body[i]));
      continue;
    }
    // The first piece has the range of the old statement, with its comments.
    SourceRange place = graph.body[i].range;
    from_ = choice.expanded;
    keeps_ranges_ = false;
    for (size_t index : choice.pieces[i]) {
      const ast::Assignment& flat = choice.expanded->graphs[0].body[index];
      body.push_back({place, Copy(flat.left), Copy(flat.right), true});
      place.begin = place.end;
    }
    from_ = &old();
    keeps_ranges_ = true;
  }
  copy.body = out_->Keep<ast::Assignment>(body);
  return copy;
}

// ---- expressions ----

llvm::ArrayRef<ast::ExprId> Rewriter::CopyAll(llvm::ArrayRef<ast::ExprId> items) {
  llvm::SmallVector<ast::ExprId, 8> copies;
  for (ast::ExprId item : items) {
    has_operators_ |= item.valid() && ast::Is<ast::InvocationExpr>(from_->exprs[item].node);
    copies.push_back(Copy(item));
  }
  return out_->Keep<ast::ExprId>(copies);
}

ast::ExprId Rewriter::Copy(ast::ExprId id) {
  if (!id.valid()) return id;
  const ast::Expr& expr = from_->exprs[id];
  ast::ExprNode node = expr.node;
  if (auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    if (translates()) identifier->name = Rename({identifier->name, {}}).symbol;
  } else if (auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    array->items = CopyAll(array->items);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    // Left-hand values have no type; their parentheses remain optional.
    const bool parenthesized = tuple->parenthesized || !translates() || source_.document.type(id).valid();
    node = out_->Keep(ast::TupleExpr{CopyAll(tuple->items), parenthesized});
  } else if (const auto* invocation = ast::Find<ast::InvocationExpr>(node)) {
    node = CopyInvocation(id, *invocation);
  } else if (auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    const ast::ExprNode& operand = from_->exprs[unary->operand].node;
    has_operators_ |=
        unary->op != ast::UnaryOperator::kMinus || !(std::holds_alternative<ast::IntegerLiteral>(operand) ||
                                                     std::holds_alternative<ast::ScalarLiteral>(operand));
    unary->operand = Copy(unary->operand);
  } else {
    has_operators_ |= std::holds_alternative<ast::ParenExpr>(node) || ast::Is<ast::BinaryExpr>(node) ||
                      std::holds_alternative<ast::SelectExpr>(node) ||
                      ast::Is<ast::ComprehensionExpr>(node) ||
                      std::holds_alternative<ast::SubscriptExpr>(node) || ast::Is<ast::BuiltinExpr>(node);
    if (auto* paren = std::get_if<ast::ParenExpr>(&node)) {
      paren->inner = Copy(paren->inner);
    } else if (const auto* binary = ast::Find<ast::BinaryExpr>(node)) {
      const ast::ExprId left = Copy(binary->left);
      node = out_->Keep(ast::BinaryExpr{binary->op, left, Copy(binary->right), binary->op_range});
    } else if (auto* select = std::get_if<ast::SelectExpr>(&node)) {
      *select = {Copy(select->condition), Copy(select->value), Copy(select->otherwise)};
    } else if (const auto* comprehension = ast::Find<ast::ComprehensionExpr>(node)) {
      node = CopyComprehension(*comprehension);
    } else if (auto* subscript = std::get_if<ast::SubscriptExpr>(&node)) {
      *subscript = {Copy(subscript->base), Copy(subscript->begin), Copy(subscript->end), subscript->is_range};
    } else if (const auto* builtin = ast::Find<ast::BuiltinExpr>(node)) {
      const bool is_extent = builtin->builtin == ast::Builtin::kExtent;
      node = out_->Keep(ast::BuiltinExpr{is_extent ? ast::Builtin::kInteger : builtin->builtin,
                                         builtin->name_range, Copy(builtin->argument)});
    }
  }
  return Add(keeps_ranges_ ? expr.range : SourceRange(), node);
}

ast::ExprNode Rewriter::CopyComprehension(const ast::ComprehensionExpr& comprehension) {
  ast::ComprehensionExpr copy = comprehension;
  copy.loops_first = true;
  llvm::SmallVector<ast::Iterator, 2> iterators;
  for (const ast::Iterator& iterator : comprehension.iterators)
    iterators.push_back({Rename(iterator.name), Copy(iterator.iterable)});
  copy.iterators = out_->Keep<ast::Iterator>(iterators);
  copy.condition = Copy(comprehension.condition);
  copy.body = Copy(comprehension.body);
  return out_->Keep(copy);
}

}  // namespace nnefc::upgrade
