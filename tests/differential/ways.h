#pragma once

// The ways in which one graph can be computed. All must agree.

#include <string>
#include <vector>

#include "runtime/kernels/registry.h"
#include "tests/differential/oracle.h"
#include "tests/differential/recipe.h"

namespace nnefc::differential {

// A graph and the data it is run on.
struct Case {
  Recipe recipe;
  Spread spread = Spread::kEighths;
  uint64_t seed = 0;  // of inputs and of the choice of ways
  bool all_ways = false;
};

struct Outcome {
  std::string way;                     // that failed: "onednn, 2 threads"; empty if all agree
  std::string difference;              // what differs
  bool built = true;                   // false: the graph was refused as a whole, nothing was compared
  bool computed = true;                // false: the data make a node fail, in every way
  std::vector<std::string> ways = {};  // that were compared
};

class Ways {
 public:
  // Files are written below `folder`.
  Ways(const ir::OpRegistry& registry, std::string folder);

  Outcome Run(const Case& given) const;
  // Writes PATH.xml, PATH.bin, and PATH.inputs.npz, PATH.results.npz and
  // PATH.bounds.npz (how far results may be off), whose members are named by their
  // index. Nothing where the graph has no form in OpenVINO IR, cannot be computed,
  // or has numbers that are not finite.
  Outcome Export(const Case& given, const std::string& path) const;

 private:
  const ir::OpRegistry& registry_;
  std::string folder_;
  runtime::KernelRegistry kernels_;
};

// The smallest case found that still fails in the same way.
Case Shrink(const Case& given, const Ways& ways, const Outcome& outcome);

}  // namespace nnefc::differential
