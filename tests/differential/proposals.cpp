#include "tests/differential/proposals.h"

#include <algorithm>

#include "compiler/ir/algorithms/infer.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/differential/hints.h"

namespace nnefc::differential {

namespace {

using Kind = ir::AttributeKind;

constexpr int64_t kMaxRank = 7;
constexpr size_t kMaxVariadic = 4;
constexpr double kMaxWork = 1 << 20;  // elements read
const std::string kTooLarge = "too many elements, or none";
const std::string kUnknownResult = "a result of unknown type or shape";
constexpr size_t kMaxKept = 24;  // proposals from which a search continues

ElementType RandomType(Random& random) {
  const int64_t draw = random.Below(20);
  if (draw < 12) return ElementType::kF32;
  if (draw < 15) return ElementType::kI64;
  if (draw < 17) return ElementType::kI32;
  if (draw < 19) return ElementType::kBoolean;
  return random.Pick({ElementType::kF64, ElementType::kF16, ElementType::kU8, ElementType::kI8});
}

int64_t RandomExtent(Random& random) {
  const int64_t draw = random.Below(40);
  if (draw < 8) return 1;
  if (draw < 30) return random.Between(2, 5);
  if (draw < 36) return random.Between(6, 9);
  if (draw < 39) return random.Pick({15, 16, 17, 31, 32, 33});
  return 0;
}

Shape RandomShape(Random& random) {
  Shape shape;
  const int64_t rank = random.Chance(80) ? random.Between(1, 4) : random.Between(0, kMaxRank);
  for (int64_t i = 0; i < rank; ++i) shape.push_back(rank > 5 ? random.Between(1, 3) : RandomExtent(random));
  return shape;
}

// Returns a number related to the proposal: an extent, a rank, or a small number.
int64_t RelatedNumber(const Proposal& proposal, Random& random) {
  if (proposal.inputs.empty() || random.Chance(40)) return random.Between(-1, 4);
  const InputProposal& input = random.Pick(proposal.inputs);
  const auto rank = static_cast<int64_t>(input.shape.size());
  const int64_t draw = random.Below(10);
  if (input.shape.empty() || draw == 0) return rank;
  const auto axis = static_cast<size_t>(random.Below(rank));
  if (draw < 7) return input.shape[axis];
  if (draw < 8) return random.Below(rank);
  return input.shape[axis] * random.Between(2, 4);
}

std::vector<int64_t> RandomIntegers(const Proposal& proposal, const std::string& message, Random& random) {
  std::vector<int64_t> items;
  const size_t rank = proposal.inputs.empty() ? 2 : random.Pick(proposal.inputs).shape.size();
  switch (random.Below(5)) {
    case 0:  // a permutation of axes
      for (size_t i = 0; i < rank; ++i) {
        items.insert(items.begin() + random.Below(static_cast<int64_t>(i) + 1), static_cast<int64_t>(i));
      }
      break;
    case 1:  // a subset of the axes
      for (size_t i = 0; i < rank; ++i) {
        if (random.Chance(50)) items.push_back(static_cast<int64_t>(i));
      }
      break;
    default: {  // a length related to the rank, the spatial rank, or any number
      int64_t count =
          random.Pick({static_cast<int64_t>(rank), std::max<int64_t>(0, static_cast<int64_t>(rank) - 2),
                       random.Between(0, 4)});
      if (message.find(" items") != std::string::npos && random.Chance(70))
        count = std::min<int64_t>(NumberOf(message, random).value_or(count), kMaxRank + 1);
      const int64_t bound = random.Between(0, 3);
      const bool related = random.Chance(30);
      for (int64_t i = 0; i < count; ++i) {
        items.push_back(related ? RelatedNumber(proposal, random)
                                : random.Between(random.Chance(20) ? -1 : 0, bound));
      }
    }
  }
  return items;
}

ir::Attribute List(std::vector<int64_t> items) {
  return items.empty() ? ir::Attribute() : ir::Attribute(ir::Attribute::Integers(std::move(items)));
}

ir::Attribute RandomAttribute(const ir::AttributeInfo& info, const Proposal& proposal,
                              const std::string& message, Random& random) {
  switch (info.kind) {
    case Kind::kBool:
      return random.Chance(50);
    case Kind::kInt:
      if (random.Chance(40)) {
        if (const std::optional<int64_t> number = NumberOf(message, random)) return *number;
      }
      return RelatedNumber(proposal, random);
    case Kind::kDouble:
      return random.Chance(50) ? static_cast<double>(random.Between(-16, 16)) / 8
                               : random.Pick({0.0, 0.5, 1.0, 2.0, 0.01, 1e-5});
    case Kind::kString:
      if (!info.choices.empty()) return std::string(random.Pick(info.choices));
      if (const std::vector<std::string> words = WordsOf(ExpectedIn(message));
          !words.empty() && random.Chance(60))
        return random.Pick(words);
      return info.fallback.value_or("");
    case Kind::kInts:
      return List(RandomIntegers(proposal, message, random));
    case Kind::kDoubles: {
      ir::Attribute::Scalars items;
      for (int64_t i = random.Between(0, 3); i > 0; --i)
        items.push_back(static_cast<double>(random.Between(-4, 8)) / 4);
      return items.empty() ? ir::Attribute() : ir::Attribute(items);
    }
    case Kind::kPairs: {
      ir::AttributeList pairs;
      const std::vector<int64_t> first = RandomIntegers(proposal, message, random);
      for (int64_t item : first) {
        pairs.items.push_back(ir::Attribute(ir::Attribute::Integers{
            random.Chance(50) ? item : random.Between(-1, 2), random.Between(-1, 2)}));
      }
      return pairs.items.empty() ? ir::Attribute() : ir::Attribute(std::move(pairs));
    }
    case Kind::kType:
      return random.Chance(70) ? random.Pick({ElementType::kI64, ElementType::kI32, ElementType::kF32})
                               : RandomType(random);
    case Kind::kShape:
      return ir::PartialShape(llvm::ArrayRef<int64_t>(RandomShape(random)));
    case Kind::kGeneric:
      break;
  }
  return {};
}

void DrawValues(InputProposal& input, const Proposal& proposal, const std::string& message, Random& random) {
  input.values = RandomIntegers(proposal, message, random);
  if (random.Chance(60)) input.shape = {static_cast<int64_t>(input.values.size())};
  if (random.Chance(20)) {
    input.shape = {};
    input.values = {RelatedNumber(proposal, random)};
  }
}

// Returns a new input of the same kind as the operation's others.
InputProposal NewInput(const Proposal& proposal, Random& random) {
  if (!proposal.inputs.empty() && random.Chance(60)) return random.Pick(proposal.inputs);
  return {.type = RandomType(random), .shape = RandomShape(random)};
}

void ChangeShape(Shape& shape, const Proposal& proposal, const std::string& message, Random& random) {
  if (message.find(" rank ") != std::string::npos && random.Chance(50)) {
    const std::optional<int64_t> rank = NumberOf(message, random);
    if (rank && *rank <= kMaxRank) shape.resize(static_cast<size_t>(*rank), RandomExtent(random));
    return;
  }
  if (const std::optional<Shape> told = ShapeIn(message); told && random.Chance(50)) {
    shape = *told;
    for (int64_t& extent : shape) extent = extent < 0 ? random.Between(1, 3) : extent;
    return;
  }
  switch (random.Below(8)) {
    case 0:
      shape = RandomShape(random);
      return;
    case 1:
      shape = random.Pick(proposal.inputs).shape;
      return;
    case 2:
      if (!shape.empty()) shape.erase(shape.begin() + random.Below(static_cast<int64_t>(shape.size())));
      return;
    case 3: {
      const int64_t extent = random.Chance(50) ? 1 : RandomExtent(random);
      if (static_cast<int64_t>(shape.size()) < kMaxRank)
        shape.insert(shape.begin() + random.Below(static_cast<int64_t>(shape.size()) + 1), extent);
      return;
    }
    default:
      break;
  }
  if (shape.empty()) return;
  auto axis = static_cast<size_t>(random.Below(static_cast<int64_t>(shape.size())));
  if (const std::optional<size_t> told = AxisIn(message); told && *told < shape.size()) axis = *told;
  int64_t extent = random.Chance(50) ? RandomExtent(random) : RelatedNumber(proposal, random);
  if (random.Chance(70)) extent = NumberOf(message, random).value_or(extent);
  shape[axis] = std::max<int64_t>(extent, 0);
}

void ChangeCount(const OperationDescription& operation, Proposal& proposal, Pinned pinned, Random& random) {
  if (proposal.segments.empty()) return;
  const auto entry = static_cast<size_t>(random.Below(static_cast<int64_t>(proposal.segments.size())));
  const ir::InputInfo& info = operation.inputs[entry];
  if (!info.variadic && !info.optional) return;
  int begin = 0;
  for (size_t i = 0; i < entry; ++i) begin += proposal.segments[i];
  int32_t& count = proposal.segments[entry];
  const bool grow =
      count == 0 || (info.variadic && count < static_cast<int32_t>(kMaxVariadic) && random.Chance(50));
  const int at = begin + count;
  if (grow) {
    if (pinned.input >= at) return;
    proposal.inputs.insert(proposal.inputs.begin() + at, NewInput(proposal, random));
    ++count;
  } else {
    if (pinned.input >= at - 1) return;
    proposal.inputs.erase(proposal.inputs.begin() + at - 1);
    --count;
  }
}

void ChangeInput(Proposal& proposal, int64_t index, Pinned pinned, const std::string& message,
                 Random& random) {
  if (index == pinned.input) return;
  InputProposal& input = proposal.inputs[static_cast<size_t>(index)];
  const int64_t draw = random.Below(20);
  if (message == kUnknownResult && random.Chance(60)) {
    if (input.type == ElementType::kF32 && random.Chance(50)) input.type = ElementType::kI64;
    input.constant = true;
    DrawValues(input, proposal, message, random);
    return;
  }
  if (message.find("type") != std::string::npos ? draw < 14 : draw < 2) {
    input.type = random.Chance(30) ? random.Pick(proposal.inputs).type : RandomType(random);
    if (random.Chance(70)) input.type = TypeIn(message, random).value_or(input.type);
  } else if (draw < 6) {
    input.constant = !input.constant;
  } else if (draw < 12 && input.type != ElementType::kF32) {
    input.constant = true;
    DrawValues(input, proposal, message, random);
  } else {
    ChangeShape(input.shape, proposal, message, random);
  }
  if (input.constant && input.type != ElementType::kF32 && input.values.empty())
    DrawValues(input, proposal, message, random);
}

// Changes an extent everywhere, including numbers of attributes and constants, so that related numbers remain
// equal.
void ChangeExtentEverywhere(Proposal& proposal, Random& random) {
  const Shape shape = random.Pick(proposal.inputs).shape;
  if (shape.empty()) return;
  const int64_t from = shape[static_cast<size_t>(random.Below(static_cast<int64_t>(shape.size())))];
  const int64_t to = RandomExtent(random);
  for (InputProposal& input : proposal.inputs) {
    std::replace(input.shape.begin(), input.shape.end(), from, to);
    if (random.Chance(50)) std::replace(input.values.begin(), input.values.end(), from, to);
  }
}

// True if `external` or `constant` of NNEF can have this type and shape.
bool IsNnefTensor(const InputProposal& input) {
  const bool is_type = input.type == ElementType::kF32 || input.type == ElementType::kI64 ||
                       input.type == ElementType::kBoolean;
  return is_type && llvm::all_of(input.shape, [](int64_t extent) { return extent > 0; });
}

// Returns a key that distinguishes accepted proposals of one operation.
std::string Form(const Proposal& proposal) {
  std::string form;
  for (const InputProposal& input : proposal.inputs) {
    form += Name(input.type);
    form += std::to_string(input.shape.size());
    form += input.constant ? 'c' : 'p';
  }
  for (const auto& [name, value] : proposal.attributes) {
    if (const auto* text = value.get<std::string>()) form += *text;
    if (const auto* flag = value.get<bool>()) form += *flag ? 't' : 'f';
    if (value.IsList()) form += std::to_string(value.ListSize());
  }
  return form;
}

}  // namespace

bool IsNoVerdict(const std::string& message) {
  return message == kTooLarge || message == kUnknownResult;
}

TensorValue MakeConstant(const InputProposal& input, Random& random) {
  TensorValue value = TensorValue::Filled(input.type, input.shape, 0);
  if (IsFloat(input.type)) {
    std::vector<float> items;
    for (int64_t i = 0; i < value.volume(); ++i)
      items.push_back(static_cast<float>(random.Between(-16, 16)) / 8);
    return TensorValue::FromFloats(input.shape, items).ConvertedTo(input.type);
  }
  std::vector<int64_t> items;
  for (int64_t i = 0; i < value.volume(); ++i) {
    items.push_back(input.values.empty() ? i % 3
                                         : input.values[static_cast<size_t>(i) % input.values.size()]);
  }
  return TensorValue::FromInts(input.shape, items).ConvertedTo(input.type);
}

Proposal Simplest(const OperationDescription& operation) {
  Proposal proposal;
  for (const ir::InputInfo& input : operation.inputs) {
    const int32_t count = input.optional ? 0 : input.variadic ? 2 : 1;
    proposal.segments.push_back(count);
    for (int32_t i = 0; i < count; ++i) proposal.inputs.push_back({.shape = {2, 3, 4, 4}});
  }
  proposal.outputs = std::max(operation.outputs, 1);
  Random random(1);
  for (const ir::AttributeInfo& info : operation.attributes) {
    if (info.fallback) {
      proposal.attributes.Set(info.name, *info.fallback);
    } else if (!info.choices.empty()) {
      proposal.attributes.Set(info.name, info.choices.front());
    } else {
      proposal.attributes.Set(info.name, RandomAttribute(info, proposal, "", random));
    }
  }
  return proposal;
}

namespace {

// Returns how often an operation may read an element: lists of integers may be windows that every element of
// a result reads.
double Work(const Proposal& proposal) {
  double results = 0;
  for (const ValueKind& result : proposal.results) results += static_cast<double>(*Volume(result.shape));
  double window = 1;
  for (const auto& [name, attribute] : proposal.attributes) {
    const auto* items = attribute.get<ir::Attribute::Integers>();
    double volume = 1;
    for (size_t i = 0; items != nullptr && i < items->size(); ++i)
      volume *= static_cast<double>(std::max<int64_t>((*items)[i], 1));
    if (volume != results) window = std::max(window, volume);  // otherwise a shape
  }
  return window * results;
}

}  // namespace

bool Prober::Accept(const OperationDescription& operation, Proposal& proposal, std::string& message) const {
  ir::Graph graph(&registry_);
  std::vector<ir::OutputPort> ports;
  Random random(1);
  const bool nnef = operation.set == ir::kNnefSet;
  for (const InputProposal& input : proposal.inputs) {
    const std::optional<int64_t> volume = Volume(input.shape);
    if (!volume || *volume > most_elements_ || (nnef && !IsNnefTensor(input))) {
      message = kTooLarge;
      return false;
    }
    if (input.constant) {
      ports.push_back({ir::AddConst(graph, MakeConstant(input, random), ""), 0});
      continue;
    }
    const ir::PartialShape shape{llvm::ArrayRef<int64_t>(input.shape)};
    const ir::NodeId id = ir::AddParameter(graph, "", input.type, shape);
    graph.SetOutputType({id, 0}, input.type, shape);
    ports.push_back({id, 0});
  }
  // OpenVINO's operations can only omit their last inputs.
  const ir::NodeId id =
      ir::AddNode(graph, operation.set, operation.name,
                  {.inputs = ports,
                   .segments = nnef ? llvm::ArrayRef<int32_t>(proposal.segments) : llvm::ArrayRef<int32_t>(),
                   .attributes = proposal.attributes,
                   .num_outputs = proposal.outputs});
  Emitter emitter;
  llvm::SmallVector<int32_t, 2> judged;
  if (!ir::InferNode(graph, id, emitter, nullptr, &judged)) {
    message = emitter.diagnostics().empty() ? "not inferred" : emitter.diagnostics().front().message;
    return false;
  }
  proposal.results.clear();
  proposal.judged.assign(judged.begin(), judged.end());
  for (const ir::Output& output : graph.node(id).outputs()) {
    const std::optional<Shape> shape = output.shape.extents();
    if (!shape || output.type == ElementType::kDynamic || IsStorageOnly(output.type) ||
        output.type == ElementType::kString) {
      message = kUnknownResult;
      return false;
    }
    if (Volume(*shape).value_or(INT64_MAX) > most_elements_) {
      message = kTooLarge;
      return false;
    }
    proposal.results.push_back({output.type, *shape});
  }
  if (Work(proposal) > kMaxWork) {
    message = kTooLarge;
    return false;
  }
  return true;
}

namespace {

// The attribute or input that the message names, as an index of the description's attributes or of the
// proposal's inputs.
struct Named {
  int64_t attribute = -1;
  int64_t input = -1;
};
Named NamedIn(const OperationDescription& operation, const Proposal& proposal, const std::string& message,
              Random& random) {
  std::vector<Named> named;
  for (const std::string& word : WordsOf(message)) {
    for (size_t i = 0; i < operation.attributes.size(); ++i) {
      if (operation.attributes[i].name == word) named.push_back({.attribute = static_cast<int64_t>(i)});
    }
    int64_t begin = 0;
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      const int64_t count = proposal.segments[i];
      if (operation.inputs[i].name == word && count > 0)
        named.push_back({.input = begin + random.Below(count)});
      begin += count;
    }
  }
  return named.empty() ? Named() : random.Pick(named);
}

}  // namespace

Proposal Prober::Change(const OperationDescription& operation, const Proposal& proposal, Pinned pinned,
                        const std::string& message, Random& random) const {
  Proposal changed = proposal;
  const auto change_attribute = [&](int64_t index) {
    const ir::AttributeInfo& info = operation.attributes[static_cast<size_t>(index)];
    changed.attributes.Set(info.name, info.fallback && random.Chance(20)
                                          ? *info.fallback
                                          : RandomAttribute(info, changed, message, random));
  };
  const auto attributes = static_cast<int64_t>(operation.attributes.size());
  for (int64_t changes = random.Chance(70) ? 1 : random.Between(2, 4); changes > 0; --changes) {
    const Named named = random.Chance(50) ? NamedIn(operation, changed, message, random) : Named();
    const auto inputs = static_cast<int64_t>(changed.inputs.size());
    const int64_t draw = random.Below(20);
    if (named.attribute >= 0) {
      change_attribute(named.attribute);
    } else if (named.input >= 0) {
      ChangeInput(changed, named.input, pinned, message, random);
    } else if (draw < 9 && inputs > 0) {
      ChangeInput(changed, random.Below(inputs), pinned, message, random);
    } else if (draw < 17 && attributes > 0) {
      change_attribute(random.Below(attributes));
    } else if (draw < 18 && pinned.input < 0 && inputs > 0) {
      ChangeExtentEverywhere(changed, random);
    } else {
      ChangeCount(operation, changed, pinned, random);
    }
    if (operation.variadic_outputs && random.Chance(20))
      changed.outputs = static_cast<int>(NumberOf(message, random).value_or(random.Between(1, 4)) % 8);
    if (changed.outputs < 1) changed.outputs = 1;
  }
  return changed;
}

bool Prober::Repair(const OperationDescription& operation, Proposal& proposal, Pinned pinned, int tries,
                    Random& random) const {
  std::string message;
  if (Accept(operation, proposal, message)) return true;
  std::set<std::string> seen = {Stage(message)};
  std::vector<std::pair<Proposal, std::string>> kept = {{proposal, message}};
  for (int i = 0; i < tries; ++i) {
    // Prefers the latest stages.
    const int64_t last = static_cast<int64_t>(kept.size()) - 1;
    const int64_t place = random.Chance(50) ? last : std::max(random.Below(last + 1), random.Below(last + 1));
    const auto [from, told] = kept[static_cast<size_t>(place)];
    Proposal changed = Change(operation, from, pinned, told, random);
    if (Accept(operation, changed, message)) {
      proposal = std::move(changed);
      return true;
    }
    if (message == kTooLarge) continue;
    const bool is_new = seen.insert(Stage(message)).second;
    if (is_new || (Stage(told) == Stage(message) && random.Chance(10)))
      kept.emplace_back(std::move(changed), message);
    if (kept.size() > kMaxKept) kept.erase(kept.begin());
  }
  return false;
}

Proposal Prober::Widen(const OperationDescription& operation, const Proposal& proposal, int tries,
                       Random& random) const {
  Proposal wide = proposal;
  std::vector<size_t> shaped;
  for (size_t i = 0; i < wide.inputs.size(); ++i) {
    if (!wide.inputs[i].shape.empty()) shaped.push_back(i);
  }
  std::string message;
  for (int i = 0; i < tries && !shaped.empty(); ++i) {
    Proposal changed = wide;
    const auto extent_of = [&](size_t input) -> int64_t& {
      Shape& shape = changed.inputs[input].shape;
      return shape[static_cast<size_t>(random.Below(static_cast<int64_t>(shape.size())))];
    };
    const size_t input = random.Pick(shaped);
    const int64_t draw = random.Below(10);
    if (draw < 4) {
      // A common extent of the inputs: channels.
      extent_of(input) = extent_of(random.Pick(shaped)) = random.Pick({16, 17, 24, 32, 33, 48});
    } else if (draw < 7) {
      extent_of(input) = random.Pick({1, 3, 7, 8, 14, 16, 32, 48});
    } else {
      // Spatial extents of an image, or a window.
      Shape& shape = changed.inputs[input].shape;
      const size_t last = shape.size() - 1;
      shape[last] = shape[last - std::min<size_t>(last, 1)] = random.Pick({3, 3, 3, 8, 14, 17});
    }
    if (Accept(operation, changed, message)) wide = std::move(changed);
  }
  return wide;
}

std::vector<Proposal> Prober::Explore(const OperationDescription& operation, int tries, size_t most,
                                      Random& random) const {
  std::vector<Proposal> accepted;
  Proposal first = Simplest(operation);
  if (!Repair(operation, first, {}, tries, random)) return accepted;
  std::set<std::string> forms = {Form(first)};
  accepted.push_back(std::move(first));
  std::string message;
  for (int i = 0; i < tries && accepted.size() < most; ++i) {
    Proposal changed = Change(operation, random.Pick(accepted), {}, message, random);
    message.clear();
    if (Accept(operation, changed, message) && forms.insert(Form(changed)).second)
      accepted.push_back(std::move(changed));
  }
  return accepted;
}

}  // namespace nnefc::differential
