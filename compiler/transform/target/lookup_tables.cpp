// Table lookups for functions of one 8-bit tensor: all 256 results are computed once.

#include <cmath>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace nnefc::transform::target {

namespace {

constexpr int64_t kCodes = ir::ops::kQuantizedValues;

class LookupTablePass {
 public:
  explicit LookupTablePass(Graph& graph) : edited_(graph), graph_(graph.ir()) {}

  void Run() {
    ForEachQuantization(edited_, [&](const ir::Node& quantize) {
      if (!done_.contains(quantize.id())) LookUp(quantize);
    });
  }

 private:
  using Region = llvm::SetVector<ir::NodeId>;

  // Returns the nodes that depend on `quantize` only, in an order of evaluation.
  Region RegionOf(ir::NodeId quantize) const {
    constexpr size_t kMax = 64;
    Region region;
    std::vector<ir::NodeId> made = {quantize};
    while (!made.empty() && region.size() < kMax) {
      const ir::NodeId last = made.back();
      made.pop_back();
      for (const ir::InputPort& use : graph_.node(last).uses(0)) {
        if (!region.contains(use.node) && IsOf(use.node, quantize, region)) {
          region.insert(use.node);
          made.push_back(use.node);
        }
      }
    }
    return region;
  }

  bool IsOf(ir::NodeId id, ir::NodeId quantize, const Region& region) const {
    const ir::Node& node = graph_.node(id);
    const bool is_function = node.info().is_elementwise ||
                             node.info().function_cost != ir::FunctionCost::kUnknown ||
                             RangeOf(graph_, node).has_value();
    if (!is_function || node.num_outputs() != 1 || node.output().type != ElementType::kF32) return false;
    if (node.output().shape.extents() != graph_.node(quantize).output().shape.extents()) return false;
    return llvm::all_of(node.inputs(), [&](ir::OutputPort port) {
      return port.node == quantize || region.contains(port.node) || ConstantNumber(graph_, port) != nullptr;
    });
  }

  // Returns the estimated time of a region relative to a lookup.
  double TimeOf(const Region& region) const {
    double time = 0;
    for (ir::NodeId id : region) {
      const ir::Node& node = graph_.node(id);
      const bool is_slow = IsQuantization(node) || node.info().function_cost == ir::FunctionCost::kHigh;
      time += is_slow ? 1.0 : 0.4;
    }
    return time;
  }

  void LookUp(const ir::Node& quantize) {
    constexpr int64_t kMin = 1024;  // in elements
    if (*Volume(quantize.output().shape.known_extents()) < kMin) return;
    const Region region = RegionOf(quantize.id());
    std::vector<ir::NodeId> ends;
    for (ir::NodeId node : region) {
      const auto leaves = [&](const ir::InputPort& use) { return !region.contains(use.node); };
      if (llvm::any_of(graph_.node(node).uses(0), leaves)) ends.push_back(node);
    }
    // A single requantization is already one step, as is the epilogue of a matmul.
    const bool is_recoded = region.size() == 1 && IsQuantization(graph_.node(region.front()));
    if (ends.size() != 1 || is_recoded || TimeOf(region) < 1.2) return;
    InsertTable(quantize, region, ends.front());
  }

  // Replaces the end of a region, or the data of a final quantization whose readers accept quantized values.
  void InsertTable(const ir::Node& quantize, const Region& region, ir::NodeId end) {
    const bool keeps_end =
        RangeOf(graph_, graph_.node(end)) && HasQuantizedConsumer(graph_, graph_.node(end));
    const ir::OutputPort looked_up = keeps_end ? graph_.node(end).input(0) : ir::OutputPort{end, 0};
    if (!region.contains(looked_up.node)) return;
    const std::optional<TensorValue> table = TableOf(quantize, region, looked_up.node);
    if (!table) return;
    // NaN has no quantized value.
    for (int64_t code = 0; keeps_end && code < kCodes; ++code) {
      if (std::isnan(table->ElementAsDouble(code))) return;
    }
    const bool is_free =
        llvm::all_of(quantize.uses(0), [&](const ir::InputPort& use) { return region.contains(use.node); });
    const ir::OutputPort found = AddLookup(quantize, is_free, *table, looked_up);
    if (keeps_end) {
      Node(edited_, end).in_port(0).Connect(PortOf(edited_, found));
    } else {
      ReplaceOutput(edited_, looked_up, found);
    }
    done_.insert(region.begin(), region.end());
  }

  // Returns the value of the region's node for each quantized value of `quantize`.
  std::optional<TensorValue> TableOf(const ir::Node& quantize, const Region& region, ir::NodeId wanted) {
    const ir::ops::LinearQuantization range = *RangeOf(graph_, quantize);
    std::vector<float> numbers;
    for (int64_t code = 0; code < kCodes; ++code) {
      const double part = static_cast<double>(code) / double{kCodes - 1};
      numbers.push_back(static_cast<float>(range.low + (double{range.high} - range.low) * part));
    }
    llvm::DenseMap<ir::NodeId, TensorValue> values;
    std::optional<TensorValue> value =
        ValueOf(quantize, [&](ir::OutputPort port) -> std::optional<TensorValue> {
          return port == quantize.input(0) ? TensorValue::FromFloats({kCodes}, numbers) : ScalarOf(port);
        });
    if (!value || !AreAllQuantizedValues(*value, range)) return std::nullopt;
    values.try_emplace(quantize.id(), *value);
    for (ir::NodeId id : region) {
      value = ValueOf(graph_.node(id), [&](ir::OutputPort port) {
        const auto known = values.find(port.node);
        return known != values.end() ? std::optional(known->second) : ScalarOf(port);
      });
      if (!value) return std::nullopt;
      values.try_emplace(id, *value);
      if (id == wanted) return value;
    }
    return std::nullopt;
  }

  // Returns whether the elements represent 0, 1 .. 255.
  static bool AreAllQuantizedValues(const TensorValue& numbers, const ir::ops::LinearQuantization& range) {
    for (int64_t code = 0; code < kCodes; ++code) {
      const double found = std::nearbyint(numbers.ElementAsDouble(code) / double{range.scale}) + range.zero;
      if (found != static_cast<double>(code)) return false;
    }
    return true;
  }

  std::optional<TensorValue> ScalarOf(ir::OutputPort port) const {
    return ConstantNumber(graph_, port)->Reshaped({});
  }

  std::optional<TensorValue> ValueOf(
      const ir::Node& node, llvm::function_ref<std::optional<TensorValue>(ir::OutputPort)> input) const {
    std::vector<TensorValue> inputs;
    for (ir::OutputPort port : node.inputs()) inputs.push_back(*input(port));
    return edited_.EvaluateApart(Node(edited_, node.id()), inputs, ElementType::kF32, {kCodes});
  }

  ir::OutputPort AddLookup(const ir::Node& quantize, bool is_free, const TensorValue& table,
                           ir::OutputPort of) {
    const std::string name = graph_.node(of.node).name();
    const ir::Origin origin = graph_.node(of.node).origin();
    const auto constant = [&](TensorValue value) {
      return edited_.CreateConst(std::move(value), name).out_port(0);
    };
    const auto number = [&](float value) { return constant(TensorValue::FromFloats({}, {value})); };
    // Replaces the quantization, or follows it if there are other readers.
    const ir::Node& first = is_free ? FirstOf(quantize) : quantize;
    const std::vector<float> limits = LimitsOf(graph_, first);
    const bool replaces = is_free && limits.size() == 4;
    const ir::ops::LinearQuantization range = *RangeOf(graph_, quantize);
    const Port data = PortOf(edited_, replaces ? first.input(0) : quantize.port());
    const Port low = number(replaces ? limits[0] : range.NumberOf(0));
    const Port high = number(replaces ? limits[1] : range.NumberOf(kCodes - 1));
    Graph::Spec levels{.name = quantize.name(), .origin = quantize.origin()};
    levels.attributes.Set("levels", kCodes);
    const Port zero = number(0), last = number(kCodes - 1);
    Port codes = edited_.CreateNode("opset1.FakeQuantize", {data, low, high, zero, last}, levels).out_port(0);
    if (replaces && first.id() != quantize.id()) {
      edited_.ReplaceAllUses(PortOf(edited_, first.port()), codes);
      codes = PortOf(edited_, quantize.input(0));
    }
    Graph::Spec whole{.name = name, .origin = origin};
    whole.attributes.Set("destination_type", ElementType::kI32);
    const Port indices = edited_.CreateNode("opset1.Convert", codes, whole).out_port(0);
    const Port elements = constant(table), axis = constant(TensorValue::FromInts({}, {0}));
    const Node found =
        edited_.CreateNode("opset8.Gather", {elements, indices, axis}, {.name = name, .origin = origin});
    return {found.id(), 0};
  }

  // Returns the first of two identical quantizations separated by views, if there are no other readers.
  const ir::Node& FirstOf(const ir::Node& quantize) const {
    const ir::Node* first = &graph_.node(quantize.input(0).node);
    while (first->Is(ir::OpRole::kView) && first->uses(0).size() == 1)
      first = &graph_.node(first->input(0).node);
    const bool is_first = first->num_outputs() == 1 && first->uses(0).size() == 1 &&
                          Repeats(graph_, *first, quantize) && ir::ops::AreRowMajor(graph_, *first);
    return is_first ? *first : quantize;
  }

  Graph& edited_;
  const ir::Graph& graph_;           // the same graph
  llvm::DenseSet<ir::NodeId> done_;  // nodes of replaced regions
};

}  // namespace

class InsertLookupTables : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A slow function of a quantized tensor becomes a lookup in a table of its 256 results: a "
           "FakeQuantize to "
           "whole numbers, a Convert and a Gather, which run as one step.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,1024]} : f32[1,1024]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,1024]
%4 = opset1.Sqrt "s" (%3) : f32[1,1024]
%5 = opset1.Floor "f" (%4) : f32[1,1024]
opset1.Result "y" (%5)
)";
  }
  Names RunAfter() const override { return {"target.RemoveRepeatedQuantization", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override { LookupTablePass(graph).Run(); }
};

void RegisterLookupTables(TransformationList& list) {
  list.Add<target::InsertLookupTables>();
}

}  // namespace nnefc::transform::target
