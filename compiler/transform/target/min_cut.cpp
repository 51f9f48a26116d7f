#include "compiler/transform/target/min_cut.h"

#include <algorithm>
#include <limits>

namespace nnefc::transform::target {

void MinCut::AddEdge(int32_t from, int32_t to, double cost) {
  constexpr double kUnits = 1000, kMax = 1e15;  // whole numbers, so that the flow ends
  if (!(cost > 0)) return;
  edges_of_[static_cast<size_t>(from)].push_back(static_cast<int32_t>(edges_.size()));
  edges_.push_back({to, static_cast<int64_t>(std::min(cost * kUnits, kMax))});
  edges_of_[static_cast<size_t>(to)].push_back(static_cast<int32_t>(edges_.size()));
  edges_.push_back({from, 0});
}

void MinCut::AddCosts(int32_t item, double first, double second) {
  AddEdge(item, sink(), first);
  AddEdge(source(), item, second);
}

void MinCut::AddSeparation(int32_t a, int32_t b, double cost) {
  if (a != b) AddEdge(a, b, cost);
}

void MinCut::FindDistances() {
  distance_.assign(edges_of_.size(), -1);
  distance_[static_cast<size_t>(source())] = 0;
  std::vector<int32_t> queue = {source()};
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto from = static_cast<size_t>(queue[i]);
    for (int32_t index : edges_of_[from]) {
      const Edge& edge = edges_[static_cast<size_t>(index)];
      int32_t& distance = distance_[static_cast<size_t>(edge.to)];
      if (edge.capacity == 0 || distance >= 0) continue;
      distance = distance_[from] + 1;
      queue.push_back(edge.to);
    }
  }
}

int64_t MinCut::Augment() {
  std::vector<int32_t> path;  // edges
  int32_t at = source();
  while (at != sink()) {
    const auto node = static_cast<size_t>(at);
    if (next_[node] == edges_of_[node].size()) {
      if (path.empty()) return 0;
      // A dead end: go back, and do not enter it again.
      at = edges_[static_cast<size_t>(path.back() ^ 1)].to;
      ++next_[static_cast<size_t>(at)];
      path.pop_back();
      continue;
    }
    const int32_t index = edges_of_[node][next_[node]];
    const Edge& edge = edges_[static_cast<size_t>(index)];
    if (edge.capacity > 0 && distance_[static_cast<size_t>(edge.to)] == distance_[node] + 1) {
      path.push_back(index);
      at = edge.to;
    } else {
      ++next_[node];
    }
  }
  int64_t flow = std::numeric_limits<int64_t>::max();
  for (int32_t index : path) flow = std::min(flow, edges_[static_cast<size_t>(index)].capacity);
  for (int32_t index : path) {
    edges_[static_cast<size_t>(index)].capacity -= flow;
    edges_[static_cast<size_t>(index ^ 1)].capacity += flow;
  }
  return flow;
}

std::vector<bool> MinCut::Solve() {
  for (FindDistances(); distance_[static_cast<size_t>(sink())] >= 0; FindDistances()) {
    next_.assign(edges_of_.size(), 0);
    while (Augment() > 0) {
    }
  }
  std::vector<bool> is_first;
  for (size_t item = 0; item + 2 < edges_of_.size(); ++item) is_first.push_back(distance_[item] >= 0);
  return is_first;
}

}  // namespace nnefc::transform::target
