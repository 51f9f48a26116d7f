#pragma once

#include <string_view>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/layout.h"
#include "compiler/syntax/print.h"

namespace nnefc {

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

  void Expr(ast::ExprId id);

 private:
  bool Full() const { return max_length_ > 0 && layout_.size() > max_length_; }
  // Returns an invalid range for nodes without source text, such as those translated from another dialect.
  SourceRange RangeOf(ast::ExprId id) const { return id.valid() ? document_.exprs[id].range : SourceRange(); }
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
  void Exprs(llvm::ArrayRef<ast::ExprId> items);
  void Operands(const ast::BinaryExpr& binary);

  void Node(const ast::Expr& whole, const ast::ErrorExpr& node);
  void Node(const ast::Expr& whole, const ast::IdentifierExpr& node);
  void Node(const ast::Expr& whole, const ast::IntegerLiteral& node);
  void Node(const ast::Expr& whole, const ast::ScalarLiteral& node);
  void Node(const ast::Expr& whole, const ast::StringLiteral& node);
  void Node(const ast::Expr& whole, const ast::LogicalLiteral& node);
  void Node(const ast::Expr& whole, const ast::ArrayExpr& node);
  void Node(const ast::Expr& whole, const ast::TupleExpr& node);
  void Node(const ast::Expr& whole, const ast::ParenExpr& node);
  void Node(const ast::Expr& whole, const ast::UnaryExpr& node);
  void Node(const ast::Expr& whole, const ast::BinaryExpr& node);
  void Node(const ast::Expr& whole, const ast::SelectExpr& node);
  void Node(const ast::Expr& whole, const ast::ComprehensionExpr& node);
  void Node(const ast::Expr& whole, const ast::SubscriptExpr& node);
  void Node(const ast::Expr& whole, const ast::BuiltinExpr& node);
  void Node(const ast::Expr& whole, const ast::InvocationExpr& node);
  template <typename T>
  void Node(const ast::Expr& whole, const ast::Kept<T>& node) {
    Node(whole, *node);
  }

  const ast::Document& document_;
  const Context& context_;
  Layout& layout_;
  const size_t max_length_;
  CommentFeed* comments_;
};

}  // namespace nnefc
