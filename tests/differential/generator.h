#pragma once

// Random graphs of the described operations: chains, diamonds, shared inputs, constants and computed
// operands.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/differential/proposals.h"
#include "tests/differential/random.h"
#include "tests/differential/recipe.h"

namespace nnefc::differential {

// Counts of generated operations.
struct Coverage {
  std::map<std::string, int64_t> operations;            // nodes by "set.name"
  std::set<std::pair<std::string, std::string>> pairs;  // producer, consumer
  std::map<int64_t, int64_t> ranks;                     // results by rank

  void Count(const Recipe& recipe, const ir::Graph& graph);
};

class Generator {
 public:
  // Explores each operation with at most `tries` proposals.
  Generator(const ir::OpRegistry& registry, std::vector<OperationDescription> operations, int tries);

  // Returns a graph of at most `most` operations, the same for the same seed.
  Recipe Make(uint64_t seed, int most) const;
  // Operations for which no valid node was found.
  std::vector<std::string> Missing() const;
  // Restricts graphs to these operations ("opset1.Add"); all if empty.
  void Restrict(const std::vector<std::string>& names);
  // Sets the percentage of graphs with wide extents, such as those of networks for which kernels are made.
  void set_wide_percent(int percent) { wide_percent_ = percent; }
  bool IsWide(uint64_t seed) const { return Random(seed ^ 0x31de).Chance(wide_percent_); }
  // True if no operation is left.
  bool empty() const { return usable_.empty(); }

 private:
  struct Entry {
    OperationDescription operation;
    std::vector<Proposal> forms;
    bool keeps_shape = false;  // for an f32 input, in at least one form
    bool joins = false;        // several tensors in one input, in at least one form
  };
  class Maker;

  Prober prober_, wide_prober_;
  int wide_percent_ = 2;
  std::vector<Entry> entries_;
  std::vector<size_t> usable_;   // indices of entries with forms
  std::vector<size_t> keeping_;  // indices of entries that keep the shape
  std::vector<size_t> joining_;  // indices of entries that join tensors
};

}  // namespace nnefc::differential
