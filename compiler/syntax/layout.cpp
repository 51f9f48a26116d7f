// A pretty-printer after Oppen: text with groups and optional line breaks, formatted to a width. `Measure`
// computes the columns of each group and chunk, and `Writer` then decides for each break whether it ends the
// line.

#include "compiler/syntax/layout.h"

#include <algorithm>

namespace nnefc::ast {
namespace {

// The last column where a kHang group starts; one further to the right moves to a new line.
constexpr int kLastHangingColumn = 60;

}  // namespace

void Layout::Add(Token token, std::string_view text) {
  token.begin = static_cast<uint32_t>(text_.size());
  token.length = static_cast<uint32_t>(text.size());
  text_ += text;
  tokens_.push_back(token);
}

void Layout::Text(std::string_view text) {
  Add({.kind = Kind::kText}, text);
}
void Layout::Begin(Group group) {
  tokens_.push_back({.kind = Kind::kBegin, .group = group});
}
void Layout::End() {
  tokens_.push_back({.kind = Kind::kEnd});
}
void Layout::Break(int outdent) {
  tokens_.push_back({.kind = Kind::kBreak, .outdent = static_cast<int16_t>(outdent)});
}
void Layout::Comment(std::string_view text, bool trailing) {
  Add({.kind = Kind::kComment, .trailing = trailing}, text);
}

std::string Layout::Flat() const {
  std::string text;
  for (const Token& token : tokens_) {
    if (token.kind == Kind::kText) text += TextOf(token);
    if (token.kind == Kind::kBreak) text += ' ';
  }
  return text;
}

// Computes `extent` of all tokens. Runs backwards, so that the text after a token is already measured.
void Layout::Measure() {
  struct Open {
    int64_t total = 0;  // columns from here to the end of the group
    int64_t chunk = 0;  // columns up to the next break of the group
  };
  std::vector<Open> open(1);
  int64_t tail = 0;  // columns up to the next break of any group
  auto advance = [&](int64_t columns) {
    open.back().total += columns;
    open.back().chunk += columns;
    tail += columns;
  };
  for (auto token = tokens_.rbegin(); token != tokens_.rend(); ++token) {
    switch (token->kind) {
      case Kind::kText:
        advance(token->length);
        break;
      case Kind::kEnd:
        // Text that must follow on the line of the group's end counts as its own.
        open.push_back({0, tail});
        token->extent = tail;
        break;
      case Kind::kBegin: {
        const Open group = open.back();
        open.pop_back();
        token->extent = group.total;
        open.back().total += group.total;
        open.back().chunk += group.total;
        break;
      }
      case Kind::kBreak:
        token->extent = open.back().chunk;
        open.back().total += 1;
        open.back().chunk = 0;
        tail = 0;
        break;
      case Kind::kComment:
        break;
    }
  }
  // A group fits only if the text after its end fits, too.
  std::vector<int64_t> tails;
  for (auto token = tokens_.rbegin(); token != tokens_.rend(); ++token) {
    if (token->kind == Kind::kEnd) tails.push_back(token->extent);
    if (token->kind != Kind::kBegin || tails.empty()) continue;
    token->extent += tails.back();
    tails.pop_back();
  }
}

// The second pass: writes the tokens and breaks lines by their extents.
class Layout::Writer {
 public:
  Writer(const Layout& layout, int indent, int width) : layout_(layout), width_(width), column_(indent) {
    groups_.push_back({true, Group::kFill, indent});
  }

  std::string Write() {
    for (const Token& token : layout_.tokens_) Write(token);
    return std::move(out_);
  }

 private:
  // The reason for starting a new line before the next token.
  enum class Pending : uint8_t { kNothing, kLine, kAfterComment };
  struct Open {
    bool fits;
    Group group;
    int indent;
  };

  void Write(const Token& token) {
    switch (token.kind) {
      case Kind::kText:
        return Text(layout_.TextOf(token));
      case Kind::kBegin:
        return Begin(token);
      case Kind::kEnd:
        return groups_.pop_back();
      case Kind::kBreak:
        return Break(token);
      case Kind::kComment:
        return Comment(layout_.TextOf(token), token.trailing);
    }
  }

  void Text(std::string_view text) {
    if (pending_ != Pending::kNothing) NewLine(groups_.back().indent);
    out_ += text;
    column_ += static_cast<int>(text.size());
    at_start_ = false;
  }

  void Begin(const Token& token) {
    const Open& parent = groups_.back();
    const bool fits = parent.fits && groups_.size() > 1 ? true : column_ + token.extent <= width_;
    int indent = column_;
    bool moves = false;
    if (token.group == Group::kEach || (token.group == Group::kHang && column_ > kLastHangingColumn)) {
      indent = parent.indent + kIndent;
      moves = token.group == Group::kHang && !fits;
    }
    groups_.push_back({fits, token.group, indent});
    // A trailing comment may still follow.
    if (moves && pending_ == Pending::kNothing) pending_ = Pending::kLine;
  }

  void Break(const Token& token) {
    const Open& group = groups_.back();
    if (pending_ != Pending::kNothing) return NewLine(group.indent - token.outdent);
    const bool stays = group.fits || (group.group != Group::kEach && column_ + 1 + token.extent <= width_);
    if (!stays) return NewLine(group.indent - token.outdent);
    out_ += ' ';
    ++column_;
  }

  void Comment(std::string_view text, bool trailing) {
    while (!at_start_ && !out_.empty() && out_.back() == ' ') out_.pop_back();
    if (pending_ == Pending::kAfterComment || (!trailing && !at_start_)) NewLine(groups_.back().indent);
    if (!at_start_) out_ += "  ";
    out_ += text;
    pending_ = Pending::kAfterComment;
  }

  void NewLine(int indent) {
    out_ += '\n';
    out_.append(static_cast<size_t>(std::max(indent, 0)), ' ');
    column_ = std::max(indent, 0);
    pending_ = Pending::kNothing;
    at_start_ = true;
  }

  const Layout& layout_;
  const int width_;
  std::string out_;
  std::vector<Open> groups_;
  int column_;
  bool at_start_ = true;  // the line is empty
  Pending pending_ = Pending::kNothing;
};

std::string Layout::Lines(int indent, int width) {
  Measure();
  return Writer(*this, indent, width).Write();
}

}  // namespace nnefc::ast
