#pragma once

#include <string_view>

namespace nnefc {

// The sections of a rule that stand in the specification 'R' or 'P': of
// "R 4.4, R 4.5, P 4.4" those are "R 4.4, R 4.5" and "P 4.4". What names no
// specification is kept.
inline std::string_view SectionsIn(std::string_view sections, char specification) {
  const bool names_any = sections.starts_with("R ") || sections.starts_with("P ");
  if (!names_any) return sections;
  const size_t other = sections.find(specification == 'R' ? ", P " : "R ");
  if (specification == 'R') return sections.front() == 'R' ? sections.substr(0, other) : std::string_view();
  if (other == std::string_view::npos) return sections;
  const size_t own = sections.find(", P ");
  return own == std::string_view::npos ? std::string_view() : sections.substr(own + 2);
}

}  // namespace nnefc
