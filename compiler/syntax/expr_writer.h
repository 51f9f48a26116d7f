#pragma once

#include <string_view>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/layout.h"
#include "compiler/syntax/print.h"

namespace nnefc::ast {

// A source of comments: FeedBefore adds the pending comments before a source offset to a layout.
class CommentFeed {
 public:
  virtual ~CommentFeed() = default;
  virtual void FeedBefore(uint32_t offset, Layout& layout) = 0;
};

// Writes expressions into a layout. Recursion follows the AST, whose height the parser bounds.
class ExprWriter {
 public:
  // Stops once the text is longer than `max_length`, unless that is 0. Writes no comments if `comments` is
  // null.
  ExprWriter(const ast::Document& document, const Context& context, Layout& layout, size_t max_length = 0,
             CommentFeed* comments = nullptr)
      : document_(document),
        context_(context),
        layout_(layout),
        max_length_(max_length),
        comments_(comments) {}

  void Expr(ExprId id);

 private:
  bool Full() const { return max_length_ > 0 && layout_.size() > max_length_; }
  // Returns an invalid range for nodes without source text, such as those translated from another dialect.
  SourceRange RangeOf(ExprId id) const { return id.valid() ? document_.exprs[id].range : SourceRange(); }
  void CommentsBefore(SourceRange range) {
    if (comments_ != nullptr && range.valid()) comments_->FeedBefore(range.begin, layout_);
  }
  void BreakBefore(SourceRange range);
  // Writes the comments before the closing bracket of `whole`, then the bracket.
  void Close(const ast::Expr& whole, std::string_view bracket);
  std::string_view Source(SourceRange range) const {
    return context_.sources.Text(range.file).substr(range.begin, range.end - range.begin);
  }
  void Name(ast::Name name) { layout_.Text(SpellName(context_.symbols.Text(name.symbol))); }
  template <typename Item, typename Place, typename Write>
  void List(llvm::ArrayRef<Item> items, Place place, Write write);
  void Exprs(llvm::ArrayRef<ExprId> items);
  void Operands(const BinaryExpr& binary);

  void Node(const ast::Expr& whole, const ErrorExpr& node);
  void Node(const ast::Expr& whole, const IdentifierExpr& node);
  void Node(const ast::Expr& whole, const IntegerLiteral& node);
  void Node(const ast::Expr& whole, const ScalarLiteral& node);
  void Node(const ast::Expr& whole, const StringLiteral& node);
  void Node(const ast::Expr& whole, const LogicalLiteral& node);
  void Node(const ast::Expr& whole, const ArrayExpr& node);
  void Node(const ast::Expr& whole, const TupleExpr& node);
  void Node(const ast::Expr& whole, const ParenExpr& node);
  void Node(const ast::Expr& whole, const UnaryExpr& node);
  void Node(const ast::Expr& whole, const BinaryExpr& node);
  void Node(const ast::Expr& whole, const SelectExpr& node);
  void Node(const ast::Expr& whole, const ComprehensionExpr& node);
  void Node(const ast::Expr& whole, const SubscriptExpr& node);
  void Node(const ast::Expr& whole, const BuiltinExpr& node);
  void Node(const ast::Expr& whole, const InvocationExpr& node);
  template <typename T>
  void Node(const ast::Expr& whole, const Kept<T>& node) {
    Node(whole, *node);
  }

  const ast::Document& document_;
  const Context& context_;
  Layout& layout_;
  const size_t max_length_;
  CommentFeed* comments_;
};

}  // namespace nnefc::ast
