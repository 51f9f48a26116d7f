// Raising of OpenVINO's recurrent cells, and of sequences whose steps are written one after another.

#include <algorithm>

#include "compiler/ir/ops/opset/control_flow/recurrent.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

using ir::ops::opset::CellActivation;
using ir::ops::opset::ParametrizedActivation;

enum class CellKind : uint8_t { kRnn, kGru, kLstm };

// Raises a cell or a sequence. Each gate is activation(clip(X * W^T + H * R^T + B)); the rows of W, R and B
// are ordered by gate. X * W^T + B is one `linear` for all steps.
class RecurrentRaising {
 public:
  RecurrentRaising(NodeRaising& n, CellKind kind, bool is_sequence)
      : n_(n),
        kind_(kind),
        is_sequence_(is_sequence),
        hidden_(n.node().Int("hidden_size")),
        clip_(n.node().Double("clip")),
        first_weight_(1 + NumStates() + (is_sequence ? 1 : 0)) {}

  void Raise() {
    const bool unrolls = n_.state().options.unrolls;
    if (n_.state().options.target == Target::kNnefc && !unrolls) n_.Decline("it is one of NNEFC_opset");
    n_.RequireScalars();
    const nnefc::Shape x = n_.input_shape(0);
    batch_ = x.front();
    length_ = is_sequence_ ? x[1] : 1;
    features_ = x.back();
    directions_ = is_sequence_ && n_.node().String("direction") == "bidirectional" ? 2 : 1;
    if (is_sequence_) RequireSteps(unrolls);
    RequireWeights();
    if (is_sequence_) n_.state().unrolled_steps += length_ * directions_;
    for (int64_t d = 0; d < directions_; ++d) RaiseDirection(d);
    SetOutputs();
  }

 private:
  // The values of a step: of the hidden state, and of an LSTM's cell.
  struct State {
    OutputPort h, c;
  };

  int32_t NumStates() const { return kind_ == CellKind::kLstm ? 2 : 1; }
  int64_t NumGates() const { return kind_ == CellKind::kLstm ? 4 : kind_ == CellKind::kGru ? 3 : 1; }
  size_t NumActivations() const { return kind_ == CellKind::kLstm ? 3 : kind_ == CellKind::kGru ? 2 : 1; }
  bool AppliesResetLast() const { return kind_ == CellKind::kGru && n_.node().Bool("linear_before_reset"); }

  // A single step needs no flag.
  void RequireSteps(bool unrolls) {
    const int64_t all = n_.state().unrolled_steps;
    const bool is_too_long = length_ > kMaxUnrolledSteps || all + length_ * directions_ > kMaxUnrolledSteps;
    if (is_too_long) {
      n_.Decline("NNEF has no loops, and its {} steps exceed the {} of a model that `--unroll` writes",
                 length_, kMaxUnrolledSteps);
    }
    if (!unrolls && length_ > 1)
      n_.Decline("NNEF has no loops; `--unroll` writes its {} steps as standard operations", length_);
    lengths_ = n_.ConstIntegers(1 + NumStates(), "sequence lengths");
  }
  void RequireWeights() {
    const int32_t peepholes = first_weight_ + 3;
    const bool is_joined = ir::ops::opset::HasJoinedWeights(
        n_.node(), n_.source().output(n_.node().input(n_.num_inputs() - 1)).shape);
    if (is_joined) n_.Decline("its weights for the input and the state are one matrix");
    if (!n_.has_input(peepholes)) return;
    const std::optional<double> value = n_.ScalarValue(peepholes);
    const TensorValue* all = n_.Value(peepholes);
    const bool is_zero = (value && *value == 0) || (all != nullptr && IsZero(*all));
    if (!is_zero) n_.Decline("it has peepholes");
  }
  static bool IsZero(const TensorValue& value) {
    for (int64_t i = 0; i < value.volume(); ++i) {
      if (value.ElementAsDouble(i) != 0) return false;
    }
    return true;
  }

  std::string Named(std::string_view what, int64_t step) const {
    const std::string_view side = directions_ == 1 ? "" : direction_ == 0 ? "forward_" : "backward_";
    return is_sequence_ ? fmt::format("{}{}_{}", side, what, step) : std::string(what);
  }
  std::string Named(std::string_view what) const {
    const std::string_view side = directions_ == 1 ? "" : direction_ == 0 ? "forward_" : "backward_";
    return fmt::format("{}{}", side, what);
  }

  // Returns a part of an axis; `port` itself for all of it.
  OutputPort Part(OutputPort port, int64_t axis, int64_t begin, int64_t end, std::string_view suffix) {
    if (begin == 0 && end == n_.Shape(port)[static_cast<size_t>(axis)]) return port;
    return n_.Add("slice", port,
                  Attributes({{"axes", Integers{axis}},
                              {"begin", Integers{begin}},
                              {"end", Integers{end}},
                              {"dtype", "scalar"}}),
                  suffix);
  }
  // Returns the rows of gates `first` to `last` of W or R, of the direction.
  OutputPort Rows(int32_t input, int64_t columns, int64_t first, int64_t last, std::string_view what) {
    const int64_t rows = NumGates() * hidden_;
    const OutputPort all = n_.WithShape(input, {directions_ * rows, columns});
    const int64_t begin = direction_ * rows;
    return Part(all, 0, begin + first * hidden_, begin + last * hidden_, Named(what));
  }
  // Returns the biases of gates as [1, (last - first) * hidden].
  OutputPort Biases(int64_t first, int64_t last, std::string_view what) {
    const int64_t gates = NumGates() + (AppliesResetLast() ? 1 : 0);
    const OutputPort all = n_.WithShape(first_weight_ + 2, {1, directions_ * gates * hidden_});
    const int64_t begin = direction_ * gates;
    return Part(all, 1, (begin + first) * hidden_, (begin + last) * hidden_, Named(what));
  }
  OutputPort InitialState(int32_t input, std::string_view what) {
    if (directions_ == 1) return n_.WithShape(input, {batch_, hidden_});
    const OutputPort own = Part(n_.input(input), 1, direction_, direction_ + 1, Named(what));
    return n_.Squeeze(own, {1}, Named(what));
  }

  // Returns X * W^T + B for each step: [batch, gates * hidden].
  std::vector<OutputPort> InputSums() {
    const OutputPort x = is_sequence_ ? n_.WithShape(0, {batch_ * length_, features_}) : n_.input(0);
    const bool has_bias = n_.has_input(first_weight_ + 2);
    const OutputPort bias = has_bias ? Biases(0, NumGates(), "bias") : n_.Literal(0.0);
    const OutputPort weights = Rows(first_weight_, features_, 0, NumGates(), "weights");
    const OutputPort sums = n_.Add("linear", {x, weights, bias}, {}, Named("inputs"));
    if (!is_sequence_ || length_ == 1) return {sums};
    const OutputPort split =
        n_.Reshape(sums, {batch_, length_, NumGates() * hidden_}, Named("inputs_by_step"));
    const ir::NodeId unstack =
        n_.AddNode({ir::kNnefSet, "unstack"}, split, Attributes({{"axis", 1}, {"dtype", "scalar"}}),
                   static_cast<int32_t>(length_), Named("inputs_of"));
    std::vector<OutputPort> parts;
    parts.reserve(static_cast<size_t>(length_));
    for (int32_t i = 0; i < static_cast<int32_t>(length_); ++i) parts.push_back({unstack, i});
    return parts;
  }

  // Returns the sums of each gate.
  std::vector<OutputPort> Gates(OutputPort sums, int64_t count, int64_t step) {
    if (count == 1) return {sums};
    std::vector<OutputPort> gates;
    gates.reserve(static_cast<size_t>(count));
    if (IsForTract(n_)) {  // it has no `split`
      for (int64_t i = 0; i < count; ++i)
        gates.push_back(Part(sums, 1, i * hidden_, (i + 1) * hidden_, Named("gate", step)));
      return gates;
    }
    const ir::NodeId split = n_.AddNode(
        {ir::kNnefSet, "split"}, sums,
        Attributes({{"axis", 1}, {"ratios", Integers(static_cast<size_t>(count), 1)}, {"dtype", "scalar"}}),
        static_cast<int32_t>(count), Named("gates", step));
    for (int32_t i = 0; i < static_cast<int32_t>(count); ++i) gates.push_back({split, i});
    return gates;
  }

  OutputPort Activate(size_t index, OutputPort x, std::string_view name, bool clips = true) {
    const ParametrizedActivation& activation = activations_[index];
    if (clips && clip_ > 0) x = n_.Add("clamp", {x, n_.Literal(-clip_), n_.Literal(clip_)}, {}, name);
    switch (activation.function) {
      case CellActivation::kSigmoid:
        return n_.Unary("sigmoid", x, name);
      case CellActivation::kTanh:
        return n_.Unary("tanh", x, name);
      case CellActivation::kRelu:
        return n_.Unary("relu", x, name);
      case CellActivation::kHardSigmoid:
        break;
    }
    const OutputPort line = n_.Binary("add", n_.Binary("mul", x, n_.Literal(activation.alpha), name),
                                      n_.Literal(activation.beta), name);
    return n_.Add("clamp", {line, n_.Literal(0.0), n_.Literal(1.0)}, {}, name);
  }

  OutputPort TimesTransposed(OutputPort x, OutputPort weights, std::string_view name) {
    return n_.Add("matmul", {x, weights}, Attributes({{"transposeA", false}, {"transposeB", true}}), name);
  }

  // C' = f * C + i * c;  H' = o * h(C')
  State LstmStep(OutputPort inputs, State before, int64_t step) {
    const OutputPort sums = n_.Binary(
        "add", inputs, TimesTransposed(before.h, recurrent_, Named("recurrent", step)), Named("sums", step));
    const std::vector<OutputPort> gates = Gates(sums, 4, step);
    const std::string& format = n_.node().String("weights_format");
    const auto gate = [&](char name) { return gates[format.find(name)]; };
    const OutputPort f = Activate(0, gate('f'), Named("forget", step));
    const OutputPort i = Activate(0, gate('i'), Named("input", step));
    const OutputPort c = Activate(1, gate('c'), Named("candidate", step));
    const OutputPort o = Activate(0, gate('o'), Named("output", step));
    const OutputPort retained = n_.Binary("mul", f, before.c, Named("retained", step));
    const OutputPort added = n_.Binary("mul", i, c, Named("added", step));
    const OutputPort cell = n_.Binary("add", retained, added, Named("cell", step));
    const OutputPort active = Activate(2, cell, Named("active", step), /*clips=*/false);
    return {.h = n_.Binary("mul", o, active, Named("state", step)), .c = cell};
  }

  // H' = (1 - z) * h + z * H. The reset gate r multiplies H, or the product with R.
  State GruStep(OutputPort inputs, State before, int64_t step) {
    const std::vector<OutputPort> own = Gates(inputs, 3, step);
    const std::vector<OutputPort> products = Gates(
        TimesTransposed(before.h, recurrent_, Named("recurrent", step)), AppliesResetLast() ? 3 : 2, step);
    const auto sum = [&](size_t i, std::string_view what) {
      return n_.Binary("add", own[i], products[i], Named(what, step));
    };
    const OutputPort z = Activate(0, sum(0, "update"), Named("update", step));
    const OutputPort r = Activate(0, sum(1, "reset"), Named("reset", step));
    OutputPort state;
    if (AppliesResetLast()) {
      const OutputPort biased = n_.Binary("add", products[2], state_bias_, Named("biased", step));
      state = n_.Binary("mul", r, biased, Named("reset_state", step));
    } else {
      const OutputPort reset = n_.Binary("mul", r, before.h, Named("reset_state", step));
      state = TimesTransposed(reset, candidate_weights_, Named("reset_product", step));
    }
    const OutputPort h =
        Activate(1, n_.Binary("add", own[2], state, Named("candidate", step)), Named("candidate", step));
    // (1 - z) * h + z * H = h + z * (H - h)
    const OutputPort change =
        n_.Binary("mul", z, n_.Binary("sub", before.h, h, Named("difference", step)), Named("change", step));
    return {.h = n_.Binary("add", h, change, Named("state", step)), .c = {}};
  }

  State RnnStep(OutputPort inputs, State before, int64_t step) {
    const OutputPort product = TimesTransposed(before.h, recurrent_, Named("recurrent", step));
    const OutputPort sum = n_.Binary("add", inputs, product, Named("sums", step));
    return {.h = Activate(0, sum, Named("state", step)), .c = {}};
  }

  // Returns `value` where a sequence has the step, else `other`.
  OutputPort Within(int64_t step, OutputPort value, OutputPort other, std::string_view what) {
    std::vector<uint8_t> is_within;
    for (const int64_t length : lengths_) is_within.push_back(step < length ? 1 : 0);
    if (!llvm::is_contained(is_within, 0)) return value;
    if (!llvm::is_contained(is_within, 1)) return other;
    const OutputPort condition =
        n_.Constant(TensorValue::FromBools({batch_, 1}, is_within), Named("is_within", step));
    return n_.Add("select", {condition, value, other}, Attributes({{"dtype", "scalar"}}), Named(what, step));
  }

  void RaiseDirection(int64_t direction) {
    direction_ = direction;
    activations_ = ir::ops::opset::ActivationsOfDirection(n_.node(), NumActivations(), direction);
    const std::vector<OutputPort> inputs = InputSums();
    // A GRU's third gate has a separate product, unless the reset gate comes last.
    const bool has_own_product = kind_ == CellKind::kGru && !AppliesResetLast();
    const int32_t r = first_weight_ + 1;
    recurrent_ = Rows(r, hidden_, 0, has_own_product ? 2 : NumGates(), "recurrent_weights");
    if (has_own_product) candidate_weights_ = Rows(r, hidden_, 2, 3, "candidate_weights");
    if (AppliesResetLast()) state_bias_ = Biases(3, 4, "state_bias");
    State state{.h = InitialState(1, "initial_state"), .c = {}};
    if (kind_ == CellKind::kLstm) state.c = InitialState(2, "initial_cell");
    const bool is_reverse = is_sequence_ && (direction == 1 || n_.node().String("direction") == "reverse");
    const bool are_equal = llvm::all_of(lengths_, [&](int64_t length) { return length == length_; });
    const OutputPort zeros =
        are_equal ? OutputPort()
                  : n_.Constant(TensorValue::Filled(ElementType::kF32, {batch_, hidden_}, 0), "zeros");
    std::vector<OutputPort> hidden(static_cast<size_t>(length_));
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t step = is_reverse ? length_ - 1 - i : i;
      const OutputPort x = inputs[static_cast<size_t>(step)];
      const State next = kind_ == CellKind::kLstm  ? LstmStep(x, state, step)
                         : kind_ == CellKind::kGru ? GruStep(x, state, step)
                                                   : RnnStep(x, state, step);
      hidden[static_cast<size_t>(step)] = Within(step, next.h, zeros, "result");
      state.h = Within(step, next.h, state.h, "last_state");
      if (kind_ == CellKind::kLstm) state.c = Within(step, next.c, state.c, "last_cell");
    }
    last_.push_back(state);
    if (is_sequence_) sequences_.push_back(Stack(hidden, Named("sequence")));
  }

  // Joins tensors along a new axis 1.
  OutputPort Stack(llvm::ArrayRef<OutputPort> parts, std::string_view suffix) {
    if (parts.size() == 1) return n_.Unsqueeze(parts[0], {1}, suffix);
    return n_.Add("stack", parts, Attributes({{"axis", 1}, {"dtype", "scalar"}}), suffix);
  }

  void SetOutputs() {
    if (!is_sequence_) {
      n_.SetOutput(0, last_[0].h);
      if (kind_ == CellKind::kLstm) n_.SetOutput(1, last_[0].c);
      return;
    }
    n_.SetOutput(0, Stack(sequences_, "all"));
    std::vector<OutputPort> states, cells;
    for (const State& state : last_) {
      states.push_back(state.h);
      cells.push_back(state.c);
    }
    n_.SetOutput(1, Stack(states, "last_state"));
    if (kind_ == CellKind::kLstm) n_.SetOutput(2, Stack(cells, "last_cell"));
  }

  NodeRaising& n_;
  const CellKind kind_;
  const bool is_sequence_;
  const int64_t hidden_;
  const double clip_;
  const int32_t first_weight_;  // the input W; R and B follow
  Integers lengths_;            // one for each sequence
  int64_t batch_ = 0, length_ = 0, features_ = 0, directions_ = 1;
  // Those of the direction.
  int64_t direction_ = 0;
  std::vector<ParametrizedActivation> activations_;
  OutputPort recurrent_, candidate_weights_, state_bias_;
  std::vector<State> last_;            // index: direction
  std::vector<OutputPort> sequences_;  // index: direction; [batch, steps, hidden]
};

template <CellKind kKind, bool kIsSequence>
void RaiseRecurrent(NodeRaising& n) {
  RecurrentRaising(n, kKind, kIsSequence).Raise();
}

}  // namespace

std::vector<RaiseEntry> RecurrentEntries() {
  return {{"LSTMCell", RaiseRecurrent<CellKind::kLstm, false>},
          {"GRUCell", RaiseRecurrent<CellKind::kGru, false>},
          {"RNNCell", RaiseRecurrent<CellKind::kRnn, false>},
          {"LSTMSequence", RaiseRecurrent<CellKind::kLstm, true>},
          {"GRUSequence", RaiseRecurrent<CellKind::kGru, true>},
          {"RNNSequence", RaiseRecurrent<CellKind::kRnn, true>}};
}

}  // namespace nnefc::raise
