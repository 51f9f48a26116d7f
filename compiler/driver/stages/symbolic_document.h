#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnefc::driver {

// A document of a model for sample extents of its symbols.
struct SampledDocument {
  std::map<std::string, int64_t> extents;  // key: symbol
  std::string text;
};

// Returns the document whose integers are sums of multiples of symbols, `2*N + 1`, such that it equals every
// sample for its extents; nothing if the documents differ in other ways. The first sample is the base. For
// each symbol there are two samples in which it alone differs from the base, in the order of the symbols;
// further samples have any extents. Each symbol is declared after the line of tract_core.
std::optional<std::string> JoinSamples(const std::vector<SampledDocument>& samples);

}  // namespace nnefc::driver
