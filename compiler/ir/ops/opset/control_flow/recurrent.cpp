// Shape inference of OpenVINO's recurrent cells and sequences.

#include "compiler/ir/ops/opset/control_flow/recurrent.h"

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// A kind of cell of this family: as a single node, or over a sequence in one or both directions.
struct CellKind {
  int64_t gates;        // rows of W and R for each element of the state
  size_t activations;   // per direction
  bool has_cell_state;  // LSTM
};
constexpr CellKind kRnn{1, 1, false};
constexpr CellKind kGru{3, 2, false};
constexpr CellKind kLstm{4, 3, true};

class RecurrentInference {
 public:
  RecurrentInference(OpContext& op, const CellKind& kind, bool is_sequence)
      : op_(op), kind_(kind), is_sequence_(is_sequence), hidden_(op.Int("hidden_size")) {}

  void Run() {
    if (!CheckAttributes()) return;
    if (is_sequence_) directions_ = op_.String("direction") == "bidirectional" ? 2 : 1;
    int32_t next = 0;
    if (is_sequence_) {
      Unify(next++, {&batch_, &length_, &inputs_});
    } else {
      Unify(next++, {&batch_, &inputs_});
    }
    for (int state = 0; state < (kind_.has_cell_state ? 2 : 1); ++state) UnifyState(next++);
    if (is_sequence_) Unify(next++, {&batch_});
    UnifyWeights(next);
    if (op_.failed()) return;
    SetOutputs();
  }

 private:
  bool CheckAttributes() {
    // Exceeds any memory, but products of it do not overflow.
    constexpr int64_t kLargestState = int64_t{1} << 40;
    if (hidden_.value() > kLargestState) {
      op_.Error(kOpsetAttributeValue, "`hidden_size` of `{}` is {}; expected at most 2^40", op_.node().type(),
                hidden_.value());
      return false;
    }
    const std::vector<std::string> names = ActivationNames(op_.String("activations"));
    const bool is_bidirectional = is_sequence_ && op_.String("direction") == "bidirectional";
    const size_t all = kind_.activations * (is_bidirectional ? 2 : 1);
    if (names.size() != kind_.activations && names.size() != all) {
      op_.Error(kOpsetAttributeValue, "`activations` of `{}` lists {}; expected {}", op_.node().type(),
                names.size(), CountText(all));
      return false;
    }
    for (std::string_view list : {"activations_alpha", "activations_beta"}) {
      const size_t given = op_.node().Doubles(list).size();
      if (given <= all) continue;
      op_.Error(kOpsetAttributeValue, "`{}` of `{}` lists {}; expected at most {}, one for each activation",
                list, op_.node().type(), given, all);
      return false;
    }
    for (const std::string& name : names) {
      if (ParseCellActivation(name)) continue;
      op_.Error(kOpsetAttributeValue,
                "`activations` of `{}` has `{}`; expected `sigmoid`, `tanh`, `relu` or `hardsigmoid`",
                op_.node().type(), name);
      return false;
    }
    const bool is_first = op_.node().info().FindAttribute("input_forget") != nullptr;  // LSTMCell-1
    const bool needs_bias = kind_.has_cell_state && !is_sequence_ && !is_first;
    if (needs_bias && op_.num_inputs() == 5 && !HasJoinedWeights(op_.node(), op_.shape(4))) {
      op_.Error(kOpsetArity, "`LSTMCell` of {} has 5 inputs; expected 6", op_.node().set());
      return false;
    }
    if (is_first && op_.Bool("input_forget")) {
      op_.Error(kOpsetAttributeValue, "`input_forget` of `LSTMCell` is true; expected false");
      return false;
    }
    return true;
  }

  // Formats the valid lengths of `activations`; `all` is the largest.
  std::string CountText(size_t all) const {
    if (all == kind_.activations) return std::to_string(all);
    return fmt::format("{}, or {} for both directions", kind_.activations, all);
  }

  // Merges the extents of an input with those of other inputs.
  void Unify(int32_t input, std::vector<Dim*> dims) {
    if (!op_.has_input(input)) return;
    const auto rank = static_cast<int64_t>(dims.size());
    if (!op_.CheckRank(input, rank, rank) || !op_.shape(input).rank_known()) return;
    for (int64_t i = 0; i < rank; ++i) {
      Dim& dim = *dims[static_cast<size_t>(i)];
      const std::optional<Dim> merged = Merge(dim, op_.shape(input)[i]);
      if (!merged) {
        op_.Error(kOpsetExtent, "{} has the shape {}; expected {} along axis {}", op_.InputName(input),
                  ToString(op_.shape(input)), ToString(PartialShape({dim})), i);
        return;
      }
      dim = *merged;
    }
  }

  void UnifyState(int32_t input) {
    if (is_sequence_) {
      Dim directions = directions_;
      Unify(input, {&batch_, &directions, &hidden_});
    } else {
      Unify(input, {&batch_, &hidden_});
    }
  }

  void UnifyMatrix(int32_t input, Dim rows, Dim* columns) {
    Dim directions = directions_;
    if (is_sequence_ && columns != nullptr) return Unify(input, {&directions, &rows, columns});
    if (is_sequence_) return Unify(input, {&directions, &rows});
    if (columns != nullptr) return Unify(input, {&rows, columns});
    Unify(input, {&rows});
  }

  // Checks W, R and B; a cell of old converters has W and R concatenated in one input.
  void UnifyWeights(int32_t first) {
    const Dim rows = MultiplyOrAny(hidden_, Dim(kind_.gates));
    if (op_.num_inputs() == 5 && HasJoinedWeights(op_.node(), op_.shape(4))) {
      Dim columns = AddOrAny(inputs_, hidden_);
      UnifyMatrix(first, rows, &columns);
      UnifyMatrix(first + 1, rows, nullptr);
      return;
    }
    UnifyMatrix(first, rows, &inputs_);
    UnifyMatrix(first + 1, rows, &hidden_);
    const bool keeps_bias = kind_.gates == kGru.gates && op_.Bool("linear_before_reset");
    UnifyMatrix(first + 2, keeps_bias ? MultiplyOrAny(hidden_, Dim(kind_.gates + 1)) : rows, nullptr);
    Dim peepholes = MultiplyOrAny(hidden_, Dim(3));
    Unify(first + 3, {&peepholes});  // an input of LSTMCell-1 only
  }

  // True if all inputs except the lengths have one element type.
  bool CheckTypes(ElementType type) {
    const int32_t states = kind_.has_cell_state ? 2 : 1;
    for (int32_t i = 1 + states; i < op_.num_inputs(); ++i) {
      const ElementType given = op_.type(i);
      const bool is_length = is_sequence_ && i == 1 + states;
      if (is_length || given == type || given == ElementType::kDynamic || type == ElementType::kDynamic)
        continue;
      op_.Error(kOpsetElementType, "{} has the element type {}; expected {} as before it", op_.InputName(i),
                Name(given), Name(type));
      return false;
    }
    return true;
  }

  void SetOutputs() {
    const ElementType type = op_.CommonType(0, kind_.has_cell_state ? 3 : 2);
    if (op_.failed() || !CheckTypes(type)) return;
    int32_t output = 0;
    if (is_sequence_) {
      op_.Set(output++, type, PartialShape({batch_, directions_, length_, hidden_}));
      for (int state = 0; state < (kind_.has_cell_state ? 2 : 1); ++state)
        op_.Set(output++, type, PartialShape({batch_, directions_, hidden_}));
      return;
    }
    for (int state = 0; state < (kind_.has_cell_state ? 2 : 1); ++state)
      op_.Set(output++, type, PartialShape({batch_, hidden_}));
  }

  OpContext& op_;
  const CellKind& kind_;
  const bool is_sequence_;
  Dim hidden_, batch_, length_, inputs_;
  Dim directions_ = Dim(1);
};

template <const CellKind& kKind, bool kIsSequence>
void InferRecurrent(OpContext& op) {
  RecurrentInference(op, kKind, kIsSequence).Run();
}

// The attributes that all cells have.
std::vector<AttributeInfo> CellAttributes(const char* activations) {
  return {Positive({"hidden_size", AttributeKind::kInt}),
          {"activations", AttributeKind::kString, activations},
          {"activations_alpha", AttributeKind::kDoubles, Attribute::Scalars{}},
          {"activations_beta", AttributeKind::kDoubles, Attribute::Scalars{}},
          NonNegative({"clip", AttributeKind::kDouble, 0.0})};
}

std::vector<AttributeInfo> With(std::vector<AttributeInfo> attributes, AttributeInfo more) {
  attributes.push_back(std::move(more));
  return attributes;
}

}  // namespace

std::vector<std::string> ActivationNames(std::string_view text) {
  std::vector<std::string> names(1);
  for (char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return names;
}

std::optional<CellActivation> ParseCellActivation(std::string_view name) {
  if (name == "sigmoid") return CellActivation::kSigmoid;
  if (name == "tanh") return CellActivation::kTanh;
  if (name == "relu") return CellActivation::kRelu;
  if (name == "hardsigmoid") return CellActivation::kHardSigmoid;
  return std::nullopt;
}

std::vector<ParametrizedActivation> ActivationsOfDirection(const Node& node, size_t count,
                                                           int64_t direction) {
  const std::vector<std::string> names = ActivationNames(node.String("activations"));
  std::vector<ParametrizedActivation> all;
  for (const std::string& name : names)
    all.push_back({.function = ParseCellActivation(name).value_or(CellActivation::kTanh)});
  // A list for one direction is used for both.
  const bool is_shared = all.size() == count;
  if (is_shared) all.insert(all.end(), all.begin(), all.end());
  const auto set = [&](std::string_view attribute, double ParametrizedActivation::*parameter) {
    const std::vector<double> values = node.Doubles(attribute);
    const bool is_by_place = values.size() == all.size() || values.size() == names.size();
    size_t next = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (is_shared && i == count && values.size() <= count) next = 0;
      const bool takes = is_by_place || all[i].function == CellActivation::kHardSigmoid;
      if (takes && next < values.size()) all[i].*parameter = values[next++];
    }
  };
  set("activations_alpha", &ParametrizedActivation::alpha);
  set("activations_beta", &ParametrizedActivation::beta);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(direction == 0 ? 0 : count);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

bool HasJoinedWeights(const Node& node, const PartialShape& last) {
  return node.type() == "LSTMCell" && node.num_inputs() == 5 && last.rank_known() && last.rank() == 1;
}

// Counts multiply-adds: all elements of W, input `kWeights`, and of R for each step of each batch item.
template <size_t kWeights, bool kSequence>
static double CountSteps(const Node&, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape>) {
  const Shape& x = inputs[0];
  const double steps = Elements(llvm::ArrayRef<int64_t>(x).take_front(kSequence ? 2 : 1));
  const bool is_joined = inputs[kWeights + 1].size() < inputs[kWeights].size();  // R is concatenated with W
  return steps * (Elements(inputs[kWeights]) + (is_joined ? 0 : Elements(inputs[kWeights + 1])));
}

std::vector<OpInfo> RecurrentRows() {
  const auto lstm = CellAttributes("sigmoid,tanh,tanh");
  const auto gru = With(CellAttributes("sigmoid,tanh"), {"linear_before_reset", AttributeKind::kBool, false});
  const auto rnn = CellAttributes("tanh");
  const AttributeInfo direction{
      "direction", AttributeKind::kString, std::nullopt, {"forward", "reverse", "bidirectional"}};
  const AttributeInfo format{
      "weights_format", AttributeKind::kString, "fico", {"fico", "icof", "ifco", "ifoc", "iofc"}};
  return {
      MakeRow({.set = "opset1",
               .name = "LSTMCell",
               .inputs = {"X: float", "initial_hidden_state: float", "initial_cell_state: float", "W: float",
                          "R: float", "B?: float", "P?: float"},
               .attributes = With(With(lstm, {"input_forget", AttributeKind::kBool, false}), format),
               .infer = Infer<InferRecurrent<kLstm, false>>,
               .outputs = {"Ho", "Co"},
               .products = CountSteps<3, false>}),
      MakeRow({.set = "opset4",
               .name = "LSTMCell",
               .inputs = {"X: float", "initial_hidden_state: float", "initial_cell_state: float", "W: float",
                          "R: float", "B?: float"},
               .attributes = lstm,
               .implied = {format},
               .infer = Infer<InferRecurrent<kLstm, false>>,
               .outputs = {"Ho", "Co"},
               .products = CountSteps<3, false>}),
      MakeRow({.set = "opset5",
               .name = "LSTMSequence",
               .inputs = {"X: float", "initial_hidden_state: float", "initial_cell_state: float",
                          "sequence_lengths: integer", "W: float", "R: float", "B: float"},
               .attributes = With(lstm, direction),
               .implied = {format},
               .infer = Infer<InferRecurrent<kLstm, true>>,
               .outputs = {"Y", "Ho", "Co"},
               .products = CountSteps<4, true>}),
      MakeRow({.set = "opset3",
               .name = "GRUCell",
               .inputs = {"X: float", "initial_hidden_state: float", "W: float", "R: float", "B: float"},
               .attributes = gru,
               .infer = Infer<InferRecurrent<kGru, false>>,
               .outputs = {"Ho"},
               .products = CountSteps<2, false>}),
      MakeRow({.set = "opset5",
               .name = "GRUSequence",
               .inputs = {"X: float", "initial_hidden_state: float", "sequence_lengths: integer", "W: float",
                          "R: float", "B: float"},
               .attributes = With(gru, direction),
               .infer = Infer<InferRecurrent<kGru, true>>,
               .outputs = {"Y", "Ho"},
               .products = CountSteps<3, true>}),
      MakeRow({.set = "opset1",
               .name = "RNNCell",
               .inputs = {"X: float", "initial_hidden_state: float", "W: float", "R: float", "B: float"},
               .attributes = rnn,
               .infer = Infer<InferRecurrent<kRnn, false>>,
               .outputs = {"Ho"},
               .products = CountSteps<2, false>}),
      MakeRow({.set = "opset5",
               .name = "RNNSequence",
               .inputs = {"X: float", "initial_hidden_state: float", "sequence_lengths: integer", "W: float",
                          "R: float", "B: float"},
               .attributes = With(rnn, direction),
               .infer = Infer<InferRecurrent<kRnn, true>>,
               .outputs = {"Y", "Ho"},
               .products = CountSteps<3, true>}),
  };
}

}  // namespace nnefc::ir::ops::opset
