#pragma once

#include <string_view>

namespace nnefc {

// Returns the sections of a rule that belong to specification 'R' or 'P': for "R 4.4, R 4.5, P 4.4" these are
// "R 4.4, R 4.5" and "P 4.4". Text that names no specification is returned unchanged.
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
