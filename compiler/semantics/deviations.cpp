// The deviations from the specification that lenient mode accepted, reported once per rule.

#include "compiler/semantics/deviations.h"

#include <algorithm>

namespace nnefc::semantics {
namespace {

bool Precedes(const SourceRange& a, const SourceRange& b) {
  if (a.file != b.file) return a.file < b.file;
  return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
}

}  // namespace

void Deviations::Note(const Rule& rule, SourceRange range, std::string message) {
  auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.rule == &rule; });
  if (found == entries_.end()) {
    entries_.push_back({&rule, std::move(message), {range}});
    return;
  }
  std::vector<SourceRange>& places = found->places;
  const auto place = std::lower_bound(places.begin(), places.end(), range, Precedes);
  if (place != places.end() && *place == range) return;
  if (place == places.begin()) found->message = std::move(message);
  places.insert(place, range);
}

void Deviations::Report(Emitter& emitter) const {
  for (const Entry& entry : entries_) {
    const size_t count = entry.places.size();
    emitter.Emit(*entry.rule, entry.places.front(), "{}{}", entry.message,
                 count == 1 ? "" : fmt::format(" (the first of {} places)", count));
  }
}

}  // namespace nnefc::semantics
