#pragma once

// The configurations in which one graph can be computed. All must agree.

#include <string>
#include <vector>

#include "runtime/kernels/registry.h"
#include "tests/differential/oracle.h"
#include "tests/differential/recipe.h"

namespace nnefc::differential {

// A graph and its input data.
struct Case {
  Recipe recipe;
  Spread spread = Spread::kEighths;
  uint64_t seed = 0;  // of inputs and of the selected configurations
  bool all_ways = false;
};

struct Outcome {
  std::string way;                     // the failed configuration: "onednn, 2 threads"; empty if all agree
  std::string difference;              // description of the difference
  bool built = true;                   // false: the graph was rejected, nothing was compared
  bool computed = true;                // false: the data make a node fail, in every configuration
  std::vector<std::string> ways = {};  // the compared configurations
};

class Ways {
 public:
  // Files are written below `folder`.
  Ways(const ir::OpRegistry& registry, std::string folder);

  Outcome Run(const Case& given) const;
  // Writes PATH.xml, PATH.bin, PATH.inputs.npz, PATH.results.npz and PATH.bounds.npz (the allowed deviation
  // of the results). Members are named by their index. Writes nothing if the graph has no form in OpenVINO
  // IR, cannot be computed, or has non-finite numbers.
  Outcome Export(const Case& given, const std::string& path) const;

 private:
  const ir::OpRegistry& registry_;
  std::string folder_;
  runtime::kernels::KernelRegistry kernels_;
};

// Returns the smallest case found that fails in the same way.
Case Shrink(const Case& given, const Ways& ways, const Outcome& outcome);

}  // namespace nnefc::differential
