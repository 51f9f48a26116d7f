// Comments of expanded fragments and statements, moved to the rewritten document.

#include "compiler/upgrade/comments.h"

#include <algorithm>
#include <utility>

#include "compiler/upgrade/places.h"
#include "llvm/ADT/MapVector.h"

namespace nnefc::upgrade {
namespace {

// The maximum instantiation depth for moving comments.
constexpr int64_t kMaxLevels = 32;

// A statement of a fragment and the first statement of the rewritten graph generated from it.
struct Mark {
  int64_t statement;
  size_t place;
};

class Mover {
 public:
  Mover(const Source& source, const Choice& choice, const PieceFinder& finder)
      : source_(source), choice_(choice), finder_(finder), old_(source.document.ast()) {}

  void Visit(const Piece& piece, size_t place) {
    const ir::Origin& origin = source_.expanded.node(source_.lines[piece.lines.front()].node).origin();
    SourceRange range = origin.range;
    const ir::Frame* frame = origin.frame.get();
    if (piece.instance != nullptr) {
      range = piece.instance->frame->call_site;
      frame = piece.instance->frame->parent.get();
    }
    if (frame == nullptr || frame->depth > kMaxLevels) return;
    std::vector<std::pair<const expand::FragmentInstance*, int64_t>> levels;
    for (; frame != nullptr; frame = frame->parent.get()) {
      const expand::FragmentInstance* instance = finder_.InstanceOf(frame);
      if (instance != nullptr) {
        levels.emplace_back(instance, StatementAt(old_.fragments[instance->fragment].body, range));
      }
      range = frame->call_site;
    }
    // Comments of outer fragments come first.
    std::reverse(levels.begin(), levels.end());
    for (const auto& [instance, statement] : levels) {
      const auto fragment = static_cast<size_t>(instance->fragment.index);
      if (choice_.keeps_fragment[fragment] || statement < 0) continue;
      Visited& visited = visited_[fragment];
      if (visited.instance == nullptr) visited.instance = instance;
      if (visited.instance == instance) visited.marks.push_back({statement, place});
    }
  }

  MovedComments Finish(size_t places, const std::vector<std::vector<size_t>>& gone,
                       const Context& context) const {
    const std::string_view text = context.sources.Text(old_.file);
    MovedComments moved{std::vector<std::vector<std::string>>(places), std::vector<size_t>(gone.size())};
    for (size_t i = 0; i < gone.size(); ++i) moved.lost[i] = gone[i].size();
    for (const auto& [fragment, visited] : visited_) {
      const ast::Fragment& old = old_.fragments[ast::FragmentId(static_cast<int32_t>(fragment))];
      for (size_t index : gone[fragment]) {
        const ast::Comment& comment = old_.comments[index];
        const int64_t statement = StatementOf(old, comment);
        const auto mark =
            llvm::find_if(visited.marks, [&](const Mark& each) { return each.statement >= statement; });
        const size_t place = mark == visited.marks.end() ? visited.marks.back().place : mark->place;
        moved.before[place].emplace_back(
            text.substr(comment.range.begin, comment.range.end - comment.range.begin));
      }
      moved.lost[fragment] = 0;
    }
    return moved;
  }

 private:
  struct Visited {
    const expand::FragmentInstance* instance = nullptr;  // the first
    std::vector<Mark> marks;
  };

  // Returns the index of the statement that a comment trails or precedes; the number of statements if there
  // is none.
  static int64_t StatementOf(const ast::Fragment& fragment, const ast::Comment& comment) {
    const llvm::ArrayRef<ast::Assignment> body = fragment.body;
    if (comment.range.begin >= fragment.body_range.end) return static_cast<int64_t>(body.size());
    const auto* next = std::partition_point(body.begin(), body.end(), [&](const ast::Assignment& each) {
      return each.range.end <= comment.range.begin;
    });
    const int64_t index = next - body.begin();
    return comment.trailing && index > 0 && (next == body.end() || next->range.begin > comment.range.begin)
               ? index - 1
               : index;
  }

  const Source& source_;
  const Choice& choice_;
  const PieceFinder& finder_;
  const ast::Document& old_;
  llvm::MapVector<size_t, Visited> visited_;  // key: fragment, in the order of the graph
};

}  // namespace

MovedComments MoveComments(const Source& source, const Choice& choice,
                           const std::vector<std::vector<Piece>>& pieces, const PieceFinder& finder,
                           const std::vector<std::vector<size_t>>& gone, const Context& context) {
  Mover mover(source, choice, finder);
  size_t place = 0;
  for (size_t statement = 0; statement < pieces.size(); ++statement) {
    if (choice.keeps_statement[statement]) ++place;
    for (const Piece& piece : pieces[statement]) mover.Visit(piece, place++);
  }
  return mover.Finish(place, gone, context);
}

}  // namespace nnefc::upgrade
