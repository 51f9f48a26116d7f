#include <algorithm>

#include "tests/differential/ways.h"

namespace nnefc::differential {

namespace {

constexpr int kMaxTries = 400;

class Shrinker {
 public:
  Shrinker(Case given, const Ways& ways, std::string way)
      : case_(std::move(given)), ways_(ways), way_(std::move(way)) {
    case_.all_ways = true;
  }

  Case Shrink() {
    if (!StillFails(case_)) return case_;
    while (tries_ < kMaxTries && (DropResult() || DropOperation())) {
    }
    return case_;
  }

 private:
  bool StillFails(const Case& candidate) {
    ++tries_;
    return ways_.Run(candidate).way == way_;
  }
  bool Try(Recipe recipe) {
    Case candidate = case_;
    candidate.recipe = WithoutDeadSteps(recipe);
    if (candidate.recipe.results.empty() || candidate.recipe.CountOperations() == 0 || !StillFails(candidate))
      return false;
    case_ = std::move(candidate);
    return true;
  }

  bool DropResult() {
    for (size_t i = 0; i < case_.recipe.results.size() && case_.recipe.results.size() > 1; ++i) {
      Recipe recipe = case_.recipe;
      recipe.results.erase(recipe.results.begin() + static_cast<int64_t>(i));
      if (Try(std::move(recipe))) return true;
    }
    return false;
  }

  // Drops an operation without readers; its inputs become results instead.
  bool DropOperation() {
    for (size_t i = case_.recipe.steps.size(); i-- > 0;) {
      const Step& step = case_.recipe.steps[i];
      if (step.kind != Step::Kind::kOperation) continue;
      Recipe recipe = case_.recipe;
      const auto at = static_cast<int>(i);
      std::erase_if(recipe.results, [&](ValueRef result) { return result.step == at; });
      for (ValueRef input : step.inputs) {
        const bool computed = recipe.steps[static_cast<size_t>(input.step)].kind == Step::Kind::kOperation;
        if (computed &&
            std::find(recipe.results.begin(), recipe.results.end(), input) == recipe.results.end())
          recipe.results.push_back(input);
      }
      const bool used = std::any_of(recipe.steps.begin(), recipe.steps.end(), [&](const Step& other) {
        return std::any_of(other.inputs.begin(), other.inputs.end(),
                           [&](ValueRef input) { return input.step == at; });
      });
      if (!used && Try(std::move(recipe))) return true;
    }
    return false;
  }

  Case case_;
  const Ways& ways_;
  std::string way_;
  int tries_ = 0;
};

}  // namespace

Case Shrink(const Case& given, const Ways& ways, const Outcome& outcome) {
  return Shrinker(given, ways, outcome.way).Shrink();
}

}  // namespace nnefc::differential
