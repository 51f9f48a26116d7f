// Application of fix-its to a text.

#include "compiler/support/diagnostics/apply_fixes.h"

#include <algorithm>
#include <map>

namespace nnefc {
namespace {

// A set of disjoint edits in text order; insertions precede a replacement at the same offset.
class EditSet {
 public:
  // Adds all fix-its or none; returns whether it did.
  bool Add(const std::vector<FixIt>& fixes) {
    std::vector<std::pair<Key, std::string>> added;
    for (const FixIt& fix : fixes) {
      const bool again = IsMade(fix) || std::any_of(added.begin(), added.end(), [&](const auto& edit) {
                           return edit.first.begin == fix.range.begin && edit.first.end == fix.range.end &&
                                  edit.second == fix.text;
                         });
      if (again) continue;
      const Key key{fix.range.begin, fix.range.end, ++count_};
      const bool overlaps = Overlaps(key) || std::any_of(added.begin(), added.end(), [&](const auto& edit) {
                              return Overlap(edit.first, key);
                            });
      if (overlaps) return false;
      added.emplace_back(key, fix.text);
    }
    for (auto& [key, text] : added) edits_.emplace(key, std::move(text));
    return true;
  }

  std::string Apply(std::string_view text) const {
    std::string result;
    uint32_t at = 0;
    for (const auto& [key, replacement] : edits_) {
      result += text.substr(at, key.begin - at);
      result += replacement;
      at = key.end;
    }
    result += text.substr(at);
    return result;
  }

 private:
  struct Key {
    uint32_t begin;
    uint32_t end;
    size_t number;  // orders insertions at one offset
    auto operator<=>(const Key&) const = default;
  };
  using Edits = std::map<Key, std::string>;

  // Adjacent edits do not overlap; two replacements of one range do.
  static bool Overlap(const Key& a, const Key& b) { return a.begin < b.end && b.begin < a.end; }

  bool Overlaps(const Key& key) const {
    // Among disjoint edits at most one starts before the key and reaches into it.
    auto next = edits_.lower_bound(Key{key.begin, 0, 0});
    for (auto at = next; at != edits_.end() && at->first.begin < std::max(key.end, key.begin + 1); ++at) {
      if (Overlap(at->first, key)) return true;
    }
    while (next != edits_.begin()) {
      --next;
      if (Overlap(next->first, key)) return true;
      if (next->first.end > next->first.begin) return false;  // earlier edits end before this one
    }
    return false;
  }

  bool IsMade(const FixIt& fix) const {
    for (auto at = edits_.lower_bound(Key{fix.range.begin, fix.range.end, 0});
         at != edits_.end() && at->first.begin == fix.range.begin && at->first.end == fix.range.end; ++at) {
      if (at->second == fix.text) return true;
    }
    return false;
  }

  Edits edits_;
  size_t count_ = 0;
};

}  // namespace

AppliedFixes ApplyFixes(std::string_view text, FileId file, const std::vector<Diagnostic>& diagnostics) {
  EditSet edits;
  AppliedFixes result;
  for (size_t i = 0; i < diagnostics.size(); ++i) {
    const std::vector<FixIt>& fixes = diagnostics[i].fixes;
    const bool fits = std::all_of(fixes.begin(), fixes.end(), [&](const FixIt& fix) {
      return fix.range.file == file && fix.range.begin <= fix.range.end && fix.range.end <= text.size();
    });
    if (!fixes.empty() && fits && edits.Add(fixes)) result.applied.push_back(i);
  }
  result.text = edits.Apply(text);
  return result;
}

}  // namespace nnefc
