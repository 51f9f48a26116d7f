#include "tests/differential/generator.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::differential {

namespace {

constexpr size_t kMostForms = 24;
constexpr int kRepairs = 40;  // changes until an operation takes a value that is there
constexpr int kAttempts = 6;  // operations that are tried behind a value

bool KeepsShape(const Proposal& form) {
  return llvm::any_of(form.inputs, [&](const InputProposal& input) {
    return !input.constant && input.type == ElementType::kF32 && form.results[0].type == ElementType::kF32 &&
           form.results[0].shape == input.shape;
  });
}

std::string FullName(const OperationDescription& operation) {
  return operation.set + "." + operation.name;
}

}  // namespace

void Coverage::Count(const Recipe& recipe, const ir::Graph& graph) {
  for (const Step& step : recipe.steps) {
    if (step.kind != Step::Kind::kOperation) continue;
    const std::string name = step.set + "." + step.name;
    ++operations[name];
    for (ValueRef input : step.inputs) {
      const Step& producer = recipe.steps[static_cast<size_t>(input.step)];
      if (producer.kind == Step::Kind::kOperation) pairs.emplace(producer.set + "." + producer.name, name);
    }
  }
  for (ir::NodeId id : graph.nodes()) {
    for (const ir::Output& output : graph.node(id).outputs()) {
      if (output.shape.rank_known()) ++ranks[output.shape.rank()];
    }
  }
}

// Makes one graph.
class Generator::Maker {
 public:
  Maker(const Generator& generator, uint64_t seed) : generator_(generator), random_(seed) {}

  Recipe Make(int most) {
    const int count = static_cast<int>(random_.Between(1, random_.Chance(50) ? most : std::max(1, most / 3)));
    chain_ = random_.Chance(60);
    for (int i = 0; i < count; ++i) {
      if (values_.empty() || random_.Chance(8) || !AddBehind()) AddAlone();
    }
    ChooseResults();
    return std::move(recipe_);
  }

 private:
  struct Value {
    ValueRef ref;
    ValueKind kind;
    bool computed = false;
    bool used = false;
  };

  const Entry& PickEntry() {
    const bool keeping = chain_ && !values_.empty() && !generator_.keeping_.empty() && random_.Chance(70);
    return generator_.entries_[random_.Pick(keeping ? generator_.keeping_ : generator_.usable_)];
  }

  // Adds an operation on a value that is there.
  bool AddBehind() {
    const size_t latest = values_.size() - 1;
    const size_t value = random_.Chance(65)
                             ? latest
                             : static_cast<size_t>(random_.Below(static_cast<int64_t>(values_.size())));
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Entry& entry = PickEntry();
      Proposal form = random_.Pick(entry.forms);
      std::vector<int> places;
      for (size_t i = 0; i < form.inputs.size(); ++i) {
        if (!form.inputs[i].constant) places.push_back(static_cast<int>(i));
      }
      if (places.empty()) continue;
      const Pinned pinned{random_.Pick(places)};
      InputProposal& input = form.inputs[static_cast<size_t>(pinned.input)];
      // Inputs of the same shape change with it.
      const Shape before = input.shape;
      for (InputProposal& other : form.inputs) {
        if (other.shape == before && other.type == input.type && random_.Chance(60))
          other.shape = values_[value].kind.shape;
      }
      input = {.type = values_[value].kind.type, .shape = values_[value].kind.shape};
      if (!generator_.prober_.Repair(entry.operation, form, pinned, kRepairs, random_)) continue;
      Add(entry.operation, form, pinned.input, static_cast<int>(value));
      return true;
    }
    return false;
  }

  void AddAlone() {
    const Entry& entry = PickEntry();
    const Proposal form = random_.Pick(entry.forms);
    Proposal changed = generator_.prober_.Change(entry.operation, form, {}, "", random_);
    std::string message;
    Add(entry.operation, generator_.prober_.Accept(entry.operation, changed, message) ? changed : form, -1,
        -1);
  }

  void Add(const OperationDescription& operation, const Proposal& form, int pinned, int value) {
    std::vector<ValueRef> inputs;
    for (size_t i = 0; i < form.inputs.size(); ++i) {
      const int use = static_cast<int>(i) == pinned ? value : ValueFor(form.inputs[i]);
      values_[static_cast<size_t>(use)].used = true;
      inputs.push_back(values_[static_cast<size_t>(use)].ref);
    }
    Step step{.set = operation.set, .name = operation.name, .attributes = form.attributes, .inputs = inputs};
    if (operation.set == ir::kNnefSet) step.segments = form.segments;
    step.num_outputs = form.outputs;
    recipe_.steps.push_back(std::move(step));
    for (int i = 0; i < form.outputs; ++i) {
      values_.push_back(
          {.ref = {LastStep(), i}, .kind = form.results[static_cast<size_t>(i)], .computed = true});
    }
  }

  // A value for an input: one that is there, a parameter or a constant.
  int ValueFor(const InputProposal& input) {
    if (!input.constant && random_.Chance(40)) {
      std::vector<int> fitting;
      for (size_t i = 0; i < values_.size(); ++i) {
        if (values_[i].kind.type == input.type && values_[i].kind.shape == input.shape)
          fitting.push_back(static_cast<int>(i));
      }
      if (!fitting.empty()) return random_.Pick(fitting);
    }
    const bool constant = input.constant || (IsFloat(input.type) && random_.Chance(45));
    Step step{.kind = constant ? Step::Kind::kConstant : Step::Kind::kParameter,
              .type = input.type,
              .shape = input.shape};
    if (constant) step.value = MakeConstant(input, random_);
    recipe_.steps.push_back(std::move(step));
    values_.push_back({.ref = {LastStep(), 0}, .kind = {input.type, input.shape}});
    return static_cast<int>(values_.size()) - 1;
  }

  // What nobody reads, and some of what somebody does.
  void ChooseResults() {
    for (const Value& value : values_) {
      if (value.computed && (!value.used || random_.Chance(12))) recipe_.results.push_back(value.ref);
    }
  }

  int LastStep() const { return static_cast<int>(recipe_.steps.size()) - 1; }

  const Generator& generator_;
  Random random_;
  Recipe recipe_;
  std::vector<Value> values_;
  bool chain_ = false;
};

Generator::Generator(const ir::OpRegistry& registry, std::vector<OperationDescription> operations, int tries)
    : prober_(registry, kMostElements) {
  for (OperationDescription& operation : operations) {
    Random random(1);
    Entry entry{.operation = std::move(operation)};
    // Few operations need so many.
    for (int more = tries; entry.forms.empty() && more <= 9 * tries; more *= 3)
      entry.forms = prober_.Explore(entry.operation, more, kMostForms, random);
    entry.keeps_shape = llvm::any_of(entry.forms, KeepsShape);
    entries_.push_back(std::move(entry));
  }
  Restrict({});
}

void Generator::Restrict(const std::vector<std::string>& names) {
  usable_.clear();
  keeping_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].forms.empty()) continue;
    if (!names.empty() && !llvm::is_contained(names, FullName(entries_[i].operation))) continue;
    usable_.push_back(i);
    if (entries_[i].keeps_shape) keeping_.push_back(i);
  }
}

std::vector<std::string> Generator::Missing() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.forms.empty()) names.push_back(FullName(entry.operation));
  }
  return names;
}

Recipe Generator::Make(uint64_t seed, int most) const {
  return Maker(*this, seed).Make(most);
}

}  // namespace nnefc::differential
