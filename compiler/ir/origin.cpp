// Origins of nodes: the stack of fragment instantiations, as notes of diagnostics.

#include "compiler/ir/origin.h"

#include "fmt/core.h"

namespace nnefc::ir {

namespace {

// The number of frames of a long stack that are shown at each end.
constexpr size_t kShownFrames = 8;

std::vector<const Frame*> Frames(const Frame* innermost) {
  std::vector<const Frame*> frames;
  for (const Frame* frame = innermost; frame != nullptr; frame = frame->parent.get()) frames.push_back(frame);
  return frames;
}

}  // namespace

Frame::~Frame() {
  std::shared_ptr<const Frame> ancestor = std::move(parent);
  while (ancestor != nullptr && ancestor.use_count() == 1) {
    std::shared_ptr<const Frame> next = std::move(ancestor->parent);
    ancestor = std::move(next);
  }
}

std::string ScopeName(const Origin& origin) {
  const std::vector<const Frame*> frames = Frames(origin.frame.get());
  std::string name;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (!name.empty()) name += '/';
    name += (*frame)->scope;
  }
  return name;
}

std::vector<DiagnosticNote> StackNotes(const std::shared_ptr<const Frame>& frame) {
  const std::vector<const Frame*> frames = Frames(frame.get());
  std::vector<DiagnosticNote> notes;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames.size() > 2 * kShownFrames && i == kShownFrames) {
      notes.push_back(
          {SourceRange(), fmt::format("{} more instantiations", frames.size() - 2 * kShownFrames)});
      i = frames.size() - kShownFrames;
    }
    notes.push_back({frames[i]->call_site, fmt::format("in `{}`, instantiated here", frames[i]->fragment)});
  }
  return notes;
}

}  // namespace nnefc::ir
