#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnefc::transform::target {

// Assigns items to two sides at the least cost: each item has a cost for either side, and pairs have a cost
// if they are separated. This is the minimum cut of a network, found by Dinic's algorithm.
class MinCut {
 public:
  explicit MinCut(int32_t items) : edges_of_(static_cast<size_t>(items) + 2) {}

  // Adds the costs of an item on the first and on the second side. Costs are at least 0.
  void AddCosts(int32_t item, double first, double second);
  // Adds a cost that applies if item `a` is on the first side and item `b` on the second.
  void AddSeparation(int32_t a, int32_t b, double cost);
  // Returns for each item whether it is on the first side. Of several solutions it is the one with the fewest
  // items there.
  std::vector<bool> Solve();

 private:
  struct Edge {
    int32_t to;
    int64_t capacity;
  };
  int32_t source() const { return static_cast<int32_t>(edges_of_.size()) - 2; }
  int32_t sink() const { return source() + 1; }
  void AddEdge(int32_t from, int32_t to, double cost);
  // Computes the distance of each node from the source, -1 if there is no path with capacity left.
  void FindDistances();
  // Sends flow along a shortest path to the sink; returns its amount, 0 if there is none.
  int64_t Augment();

  std::vector<Edge> edges_;  // an edge and its reverse at indices 2 * i and 2 * i + 1
  std::vector<std::vector<int32_t>> edges_of_;
  std::vector<int32_t> distance_;
  std::vector<size_t> next_;  // index of the first edge of each node that is not exhausted
};

}  // namespace nnefc::transform::target
