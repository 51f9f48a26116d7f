#include "tests/differential/generator.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::differential {

namespace {

constexpr size_t kMaxForms = 24;
constexpr int kRepairs = 40;    // changes until an operation accepts an existing value
constexpr int kAttempts = 6;    // operations that are tried on a value
constexpr int kWidenings = 80;  // changes of a form to make it wide
constexpr int kMaxWide = 3;     // operations, since they are slow

bool KeepsShape(const Proposal& form) {
  return llvm::any_of(form.inputs, [&](const InputProposal& input) {
    return !input.constant && input.type == ElementType::kF32 && form.results[0].type == ElementType::kF32 &&
           form.results[0].shape == input.shape;
  });
}

int64_t NumOperands(const Proposal& form) {
  return llvm::count_if(form.inputs, [](const InputProposal& input) { return !input.constant; });
}

// True if one of the inputs is a list of tensors.
bool Joins(const Proposal& form) {
  return llvm::any_of(form.segments, [](int32_t count) { return count > 1; });
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
  Maker(const Generator& generator, uint64_t seed)
      : generator_(generator), random_(seed), is_wide_(generator.IsWide(seed)) {}

  Recipe Make(int most) {
    if (is_wide_) most = std::min(most, kMaxWide);
    chain_ = random_.Chance(60);
    // Part of the graphs repeat two operations on computed operands.
    if (random_.Chance(30)) {
      const bool joins = !generator_.joining_.empty() && random_.Chance(40);
      palette_ = {random_.Pick(joins ? generator_.joining_ : generator_.usable_),
                  random_.Pick(generator_.usable_)};
    }
    computed_percent_ = !palette_.empty() || random_.Chance(30) ? 90 : 10;
    const int longest = !palette_.empty() || random_.Chance(50) ? most : std::max(1, most / 3);
    const int count = static_cast<int>(random_.Between(palette_.empty() ? 1 : most / 2, longest));
    for (int i = 0; i < count; ++i) {
      if (values_.empty() || random_.Chance(8) || !AddBehind()) AddAlone();
    }
    ChooseResults();
    return std::move(recipe_);
  }

 private:
  // The origin of a node.
  struct Made {
    const Entry* entry = nullptr;
    Proposal form = {};
  };
  struct Value {
    ValueRef ref;
    ValueKind kind;
    int made = -1;  // index in `made_`; -1: a parameter or a constant
    bool used = false;

    bool computed() const { return made >= 0; }
  };

  const Prober& prober() const { return is_wide_ ? generator_.wide_prober_ : generator_.prober_; }

  const Entry& PickEntry() {
    if (!palette_.empty() && random_.Chance(75)) return generator_.entries_[random_.Pick(palette_)];
    const bool keeping = chain_ && !values_.empty() && !generator_.keeping_.empty() && random_.Chance(70);
    return generator_.entries_[random_.Pick(keeping ? generator_.keeping_ : generator_.usable_)];
  }

  // Prefers forms with more operands.
  const Proposal& PickForm(const Entry& entry) {
    const Proposal* form = &random_.Pick(entry.forms);
    for (int tries = palette_.empty() ? 1 : 3; tries > 0; --tries) {
      const Proposal& other = random_.Pick(entry.forms);
      if (NumOperands(other) > NumOperands(*form)) form = &other;
    }
    return *form;
  }

  // Adds an operation on an existing value.
  bool AddBehind() {
    const size_t latest = values_.size() - 1;
    const size_t value = random_.Chance(65)
                             ? latest
                             : static_cast<size_t>(random_.Below(static_cast<int64_t>(values_.size())));
    const int made = values_[value].made;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      // The same operation again: parts of parts, windows over windows.
      const bool again = attempt == 0 && made >= 0 && random_.Chance(palette_.empty() ? 15 : 50);
      const Entry& entry = again ? *made_[static_cast<size_t>(made)].entry : PickEntry();
      const Proposal& before = again ? made_[static_cast<size_t>(made)].form : entry.forms[0];
      const bool like_before = again && NumOperands(before) > 1 && random_.Chance(70);
      const Proposal form = like_before ? before : PickForm(entry);
      if (AddOn(value, {&entry, form})) return true;
    }
    return false;
  }

  // Adds the operation on a value; returns false if the operation rejects it.
  bool AddOn(size_t value, Made made) {
    Proposal& form = made.form;
    std::vector<int> places;
    for (size_t i = 0; i < form.inputs.size(); ++i) {
      if (!form.inputs[i].constant) places.push_back(static_cast<int>(i));
    }
    if (places.empty()) return false;
    const Pinned pinned{random_.Pick(places)};
    InputProposal& input = form.inputs[static_cast<size_t>(pinned.input)];
    // Inputs with the same shape change with it.
    const Shape before = input.shape;
    for (InputProposal& other : form.inputs) {
      const bool is_like = other.shape.size() == before.size() && other.type == input.type;
      if (is_like && random_.Chance(other.shape == before ? 60 : 40)) other.shape = values_[value].kind.shape;
    }
    input = {.type = values_[value].kind.type, .shape = values_[value].kind.shape};
    if (!prober().Repair(made.entry->operation, form, pinned, kRepairs, random_)) return false;
    PreferConstants(made, pinned);
    Add(std::move(made), pinned.input, static_cast<int>(value));
    return true;
  }

  // Operations rarely accept axes and sizes that a run computes.
  void PreferConstants(Made& made, Pinned pinned) {
    if (made.form.judged.empty() || random_.Chance(15)) return;
    Proposal fixed = made.form;
    for (int32_t index : fixed.judged) {
      InputProposal& input = fixed.inputs[static_cast<size_t>(index)];
      if (index == pinned.input) continue;
      input.constant = true;
      if (input.values.empty()) input.values = {0};
    }
    if (prober().Repair(made.entry->operation, fixed, pinned, kRepairs, random_)) made.form = fixed;
  }

  void AddAlone() {
    const Entry& entry = PickEntry();
    const Proposal form = PickForm(entry);
    Proposal changed = is_wide_ ? prober().Widen(entry.operation, form, kWidenings, random_)
                                : prober().Change(entry.operation, form, {}, "", random_);
    std::string message;
    const bool accepted = prober().Accept(entry.operation, changed, message);
    Made made{&entry, accepted ? changed : form};
    PreferConstants(made, {});
    Add(std::move(made), -1, -1);
  }

  void Add(Made made, int pinned, int value) {
    const OperationDescription& operation = made.entry->operation;
    const Proposal& form = made.form;
    std::vector<ValueRef> inputs;
    if (value >= 0) values_[static_cast<size_t>(value)].used = true;
    for (size_t i = 0; i < form.inputs.size(); ++i) {
      int use = value;
      if (static_cast<int>(i) != pinned) {
        use = ValueFor(form.inputs[i]);
        if (!computing_ && random_.Chance(computed_percent_)) use = Computed(use);
      }
      values_[static_cast<size_t>(use)].used = true;
      inputs.push_back(values_[static_cast<size_t>(use)].ref);
    }
    Step step{.set = operation.set, .name = operation.name, .attributes = form.attributes, .inputs = inputs};
    if (operation.set == ir::kNnefSet) step.segments = form.segments;
    step.num_outputs = form.outputs;
    recipe_.steps.push_back(std::move(step));
    for (int i = 0; i < form.outputs; ++i) {
      values_.push_back({.ref = {LastStep(), i},
                         .kind = form.results[static_cast<size_t>(i)],
                         .made = static_cast<int>(made_.size())});
    }
    made_.push_back(std::move(made));
  }

  // Returns a value of the same kind that an operation computes from this parameter, or the parameter itself
  // if none is found.
  int Computed(int value) {
    const Value from = values_[static_cast<size_t>(value)];
    const bool is_parameter =
        recipe_.steps[static_cast<size_t>(from.ref.step)].kind == Step::Kind::kParameter;
    if (!is_parameter || from.kind.type != ElementType::kF32 || generator_.keeping_.empty()) return value;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Entry& entry = generator_.entries_[random_.Pick(generator_.keeping_)];
      const size_t before = values_.size();
      computing_ = true;
      AddOn(static_cast<size_t>(value), {&entry, random_.Pick(entry.forms)});
      computing_ = false;
      for (size_t i = before; i < values_.size(); ++i) {
        const Value& made = values_[i];
        if (made.computed() && made.kind.type == from.kind.type && made.kind.shape == from.kind.shape)
          return static_cast<int>(i);
      }
      if (palette_.empty()) break;
    }
    return value;
  }

  // Returns a value for an input: an existing one, a parameter or a constant.
  int ValueFor(const InputProposal& input) {
    if (!input.constant && random_.Chance(40)) {
      std::vector<int> fitting;
      for (size_t i = 0; i < values_.size(); ++i) {
        const Value& value = values_[i];
        const bool wanted = palette_.empty() || (value.computed() && !value.used);
        if (wanted && value.kind.type == input.type && value.kind.shape == input.shape)
          fitting.push_back(static_cast<int>(i));
      }
      if (!fitting.empty()) return random_.Pick(fitting);
    }
    const bool constant =
        input.constant || (IsFloat(input.type) && random_.Chance(computed_percent_ > 50 ? 3 : 45));
    Step step{.kind = constant ? Step::Kind::kConstant : Step::Kind::kParameter,
              .type = input.type,
              .shape = input.shape};
    if (constant) step.value = MakeConstant(input, random_);
    recipe_.steps.push_back(std::move(step));
    values_.push_back({.ref = {LastStep(), 0}, .kind = {input.type, input.shape}});
    return static_cast<int>(values_.size()) - 1;
  }

  // Makes results of all values without a reader, and of part of the others.
  void ChooseResults() {
    for (const Value& value : values_) {
      if (value.computed() && (!value.used || random_.Chance(12))) recipe_.results.push_back(value.ref);
    }
  }

  int LastStep() const { return static_cast<int>(recipe_.steps.size()) - 1; }

  const Generator& generator_;
  Random random_;
  Recipe recipe_;
  std::vector<Value> values_;
  std::vector<Made> made_;
  std::vector<size_t> palette_;  // of operations; empty: all
  bool is_wide_;
  bool chain_ = false;
  int computed_percent_ = 0;  // of the operands that could be parameters
  bool computing_ = false;    // in Computed()
};

Generator::Generator(const ir::OpRegistry& registry, std::vector<OperationDescription> operations, int tries)
    : prober_(registry, kMaxElements), wide_prober_(registry, kMaxWideElements) {
  for (OperationDescription& operation : operations) {
    Random random(1);
    Entry entry{.operation = std::move(operation)};
    // Most operations need fewer tries.
    for (int more = tries; entry.forms.empty() && more <= 9 * tries; more *= 3)
      entry.forms = prober_.Explore(entry.operation, more, kMaxForms, random);
    entry.keeps_shape = llvm::any_of(entry.forms, KeepsShape);
    entry.joins = llvm::any_of(entry.forms, Joins);
    entries_.push_back(std::move(entry));
  }
  Restrict({});
}

void Generator::Restrict(const std::vector<std::string>& names) {
  usable_.clear();
  keeping_.clear();
  joining_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].forms.empty()) continue;
    if (!names.empty() && !llvm::is_contained(names, FullName(entries_[i].operation))) continue;
    usable_.push_back(i);
    if (entries_[i].keeps_shape) keeping_.push_back(i);
    if (entries_[i].joins) joining_.push_back(i);
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
