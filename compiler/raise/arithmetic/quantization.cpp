// Raising of OpenVINO's FakeQuantize to NNEF operations.

#include "compiler/raise/arithmetic/rounding.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

// True if a lower limit is not below an upper one: of limits with equal shapes the one at the same position,
// otherwise any.
bool MayHaveEmptyRange(const TensorValue& low, const TensorValue& high) {
  const bool is_paired = low.shape() == high.shape();
  for (int64_t i = 0; i < low.volume(); ++i) {
    const int64_t end = is_paired ? i + 1 : high.volume();
    for (int64_t j = is_paired ? i : 0; j < end; ++j) {
      if (!(low.ElementAsDouble(i) < high.ElementAsDouble(j))) return true;
    }
  }
  return false;
}

// FakeQuantize: round((x - il) / (ih - il) * steps) / steps * (oh - ol) + ol with x limited to [il, ih], and
// halves rounded to even. The operations of NNEF round halves up.
void RaiseFakeQuantize(NodeRaising& n) {
  n.RequireScalars();
  const std::string& rule = n.node().String("auto_broadcast");
  if (rule != "numpy") n.Decline("it broadcasts by the rule `{}`", rule);
  const int64_t rank = n.output_rank();
  for (int32_t i = 1; i < n.num_inputs(); ++i) {
    if (n.Value(i) == nullptr) n.Decline("its limits depend on data");
  }
  if (MayHaveEmptyRange(*n.Value(1), *n.Value(2))) n.Decline("one of its ranges is empty or reversed");
  const auto difference = [&](int32_t low, int32_t high, std::string_view suffix) -> OutputPort {
    const std::optional<double> a = n.ScalarValue(low), b = n.ScalarValue(high);
    if (a && b) return n.Literal(static_cast<double>(static_cast<float>(*b) - static_cast<float>(*a)));
    const OutputPort upper = n.Aligned(high, rank);
    return n.Binary("sub", upper, n.Aligned(low, rank), suffix);
  };
  const OutputPort steps = n.Literal(static_cast<double>(n.node().Int("levels") - 1));
  const OutputPort low = n.Aligned(1, rank);
  OutputPort x = n.Add("clamp", {n.input(0), low, n.Aligned(2, rank)}, {}, "limited");
  if (n.ScalarValue(1) != 0.0) x = n.Binary("sub", x, low, "shifted");
  const OutputPort share = n.Binary("div", x, difference(1, 2, "input_range"), "share");
  const OutputPort level = RoundHalfToEven(n, n.Binary("mul", share, steps, "scaled"), "level");
  const OutputPort level_share = n.Binary("div", level, steps, "level_share");
  const OutputPort spread = n.Binary("mul", level_share, difference(3, 4, "output_range"), "spread");
  n.SetOutput(n.ScalarValue(3) == 0.0 ? spread : n.Binary("add", spread, n.Aligned(3, rank)));
}

}  // namespace

std::vector<RaiseEntry> QuantizationEntries() {
  return {{"FakeQuantize", RaiseFakeQuantize}};
}

}  // namespace nnefc::raise
