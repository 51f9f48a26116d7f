// The order of transformations by their dependencies.

#include "compiler/transform/pipeline/order.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

class Sorter {
 public:
  Sorter(llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::pair<size_t, size_t>> edges)
      : names_(names), later_(names.size()), states_(names.size(), State::kNew) {
    is_root_.assign(names.size(), true);
    for (const auto& [earlier, later] : edges) {
      later_[earlier].push_back(later);
      is_root_[later] = false;
    }
    const auto by_name = [&](size_t a, size_t b) { return names_[a] < names_[b]; };
    for (std::vector<size_t>& list : later_) llvm::sort(list, by_name);
    for (size_t i = 0; i < names.size(); ++i) starts_.push_back(i);
    // A separate cycle has no root; its vertices come last, so that it is still detected.
    std::stable_sort(starts_.begin(), starts_.end(), [&](size_t a, size_t b) {
      if (is_root_[a] != is_root_[b]) return static_cast<bool>(is_root_[a]);
      return names_[a] < names_[b];
    });
  }

  std::variant<std::vector<size_t>, Cycle> Run() {
    for (size_t start : starts_) {
      if (states_[start] != State::kNew) continue;
      if (!Visit(start)) return CycleOnPath();
    }
    return std::vector<size_t>(left_.rbegin(), left_.rend());
  }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Step {
    size_t node;
    size_t next = 0;
  };

  bool Visit(size_t start) {
    path_ = {{start}};
    states_[start] = State::kOpen;
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == later_[step.node].size()) {
        states_[step.node] = State::kDone;
        left_.push_back(step.node);
        path_.pop_back();
        continue;
      }
      const size_t later = later_[step.node][step.next++];
      if (states_[later] == State::kOpen) {
        path_.push_back({later});
        return false;
      }
      if (states_[later] == State::kDone) continue;
      states_[later] = State::kOpen;
      path_.push_back({later});
    }
    return true;
  }

  // Returns the cycle: the path ends at a vertex that it already contains.
  Cycle CycleOnPath() const {
    Cycle cycle;
    const size_t last = path_.back().node;
    const auto begin = llvm::find_if(path_, [&](const Step& step) { return step.node == last; });
    for (auto it = begin; it + 1 != path_.end(); ++it) cycle.members.push_back(it->node);
    return cycle;
  }

  llvm::ArrayRef<std::string> names_;
  std::vector<std::vector<size_t>> later_;
  std::vector<bool> is_root_;
  std::vector<size_t> starts_;
  std::vector<State> states_;
  std::vector<Step> path_;
  std::vector<size_t> left_;
};

}  // namespace

std::variant<std::vector<size_t>, Cycle> DeterminedOrder(llvm::ArrayRef<std::string> names,
                                                         llvm::ArrayRef<std::pair<size_t, size_t>> edges) {
  return Sorter(names, edges).Run();
}

}  // namespace nnefc::transform
