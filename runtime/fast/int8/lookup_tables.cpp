// Table lookups for functions of one 8-bit tensor: all 256 results are computed once. A FakeQuantize to whole
// numbers, a Convert and a Gather represent the lookup and run as one step. Repeated identical quantizations
// are removed, and quantization of a Concat moves to its parts.

#include <cmath>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/table_lookup_microkernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;

namespace {

constexpr int64_t kCodes = 256;

// --- regions -------------------------------------------------------------------------

// Returns true for an operation that only moves elements.
bool MovesElements(const ir::Node& node) {
  return node.Is(ir::OpRole::kView) || node.Is(ir::Rearrangement::kTranspose);
}

// Returns true for a contraction or a pooling that accepts quantized values as its first input.
bool AcceptsQuantized(const ir::Node& node) {
  return node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kGroupConvolution) ||
         node.Is(ir::Contraction::kMatMul) || node.Is(ir::Pooling::kMax);
}

class LookupTablePass {
 public:
  LookupTablePass(ir::Graph& graph, kernels::NodeEvaluator evaluate) : graph_(graph), evaluate_(evaluate) {}

  void Run() {
    ForQuantizations([&](ir::NodeId id) { QuantizeParts(graph_.node(id)); });
    ForQuantizations([&](ir::NodeId id) { SkipIfRepeated(graph_.node(id), false); });
    ForQuantizations([&](ir::NodeId id) {
      if (!done_.contains(id)) LookUp(id);
    });
    ForQuantizations([&](ir::NodeId id) { SkipIfRepeated(graph_.node(id), true); });
  }

 private:
  using Region = llvm::SetVector<ir::NodeId>;

  // Visits quantizations in topological order, including those replaced by earlier visits.
  void ForQuantizations(llvm::function_ref<void(ir::NodeId)> work) {
    const std::optional<std::vector<ir::NodeId>> order = graph_.TopologicalOrder();
    if (!order) return;
    for (ir::NodeId id : *order) {
      if (RangeOf(graph_.node(id)) && !graph_.node(id).uses(0).empty()) work(id);
    }
    graph_.EraseDeadNodes();
  }

  const TensorValue* NumberOf(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    const bool is_number = node.Is(ir::OpRole::kConst) && node.output().value &&
                           node.output().value->volume() == 1 && node.output().type == ElementType::kF32;
    return is_number ? &*node.output().value : nullptr;
  }

  // Returns the constant inputs after the data; empty if any is not constant.
  std::vector<float> LimitsOf(const ir::Node& quantize) const {
    std::vector<float> limits;
    for (ir::OutputPort port : quantize.inputs().drop_front(1)) {
      const TensorValue* number = NumberOf(port);
      if (number == nullptr) return {};
      limits.push_back(static_cast<float>(number->ElementAsDouble(0)));
    }
    return limits;
  }

  // Returns the range of quantizations with f32 scalar limits.
  std::optional<QuantizationRange> RangeOf(const ir::Node& node) const {
    const std::optional<QuantizationRange> range = QuantizationRangeOf(graph_, node);
    return range && !LimitsOf(node).empty() ? range : std::nullopt;
  }

  // Quantizes the parts of a Concat of quantized values in place of its result, so that they are joined in
  // quantized form.
  void QuantizeParts(const ir::Node& quantize) {
    const ir::Node& joined = graph_.node(quantize.input(0).node);
    const bool is_known = quantize.Is(ir::Quantizer::kFakeQuantize) && joined.Is(ir::Rearrangement::kConcat);
    if (!is_known || joined.uses(0).size() != 1 || IsResult(quantize) || !JoinsImages(graph_, joined)) return;
    const auto is_quantized = [&](ir::OutputPort part) {
      return RangeOf(graph_.node(part.node)).has_value();
    };
    if (!llvm::all_of(joined.inputs(), is_quantized)) return;
    std::vector<ir::OutputPort> inputs = quantize.inputs().vec();
    for (int32_t i = 0; i < joined.num_inputs(); ++i) {
      inputs[0] = joined.input(i);
      graph_.SetInput(joined.id(), i,
                      AddInferred(graph_, "opset1", "FakeQuantize",
                                  {.name = quantize.name(),
                                   .inputs = inputs,
                                   .attributes = quantize.attributes(),
                                   .origin = quantize.origin()}));
    }
    graph_.SetOutputNames(joined.port(), quantize.output().names);
    graph_.ReplaceAllUses(quantize.port(), joined.port());
  }

  // Removes a repeated quantization, also after moves of elements. After moves it is kept if readers need
  // quantized values.
  void SkipIfRepeated(const ir::Node& node, bool is_behind_moves) {
    const ir::Node& moved = graph_.node(node.input(0).node);
    const ir::Node* before = &moved;
    while (is_behind_moves && MovesElements(*before)) before = &graph_.node(before->input(0).node);
    if (!Repeats(*before, node) || IsResult(node)) return;
    if (is_behind_moves && AreTaken(node) &&
        (SkipViews(graph_, moved).id() != before->id() || !AreRowMajor(graph_, *before)))
      return;
    graph_.ReplaceAllUses(node.port(), node.input(0));
  }

  // Returns whether `again` leaves the result of `quantize` unchanged.
  bool Repeats(const ir::Node& quantize, const ir::Node& again) const {
    if (quantize.op() != again.op() || quantize.attributes() != again.attributes()) return false;
    if (!RangeOf(quantize)) return false;
    const std::vector<float> first = LimitsOf(quantize), second = LimitsOf(again);
    if (first.size() != 4 || second.size() != 4) return first == second;
    // Limits of the data, then of the result.
    return second[0] == second[2] && second[1] == second[3] && first[2] == second[0] && first[3] == second[1];
  }

  bool IsResult(const ir::Node& node) const {
    return llvm::any_of(node.uses(0), [&](const ir::InputPort& use) {
      return graph_.node(use.node).Is(ir::OpRole::kResult);
    });
  }

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
                             RangeOf(node).has_value();
    if (!is_function || node.num_outputs() != 1 || node.output().type != ElementType::kF32) return false;
    if (node.output().shape.extents() != graph_.node(quantize).output().shape.extents()) return false;
    return llvm::all_of(node.inputs(), [&](ir::OutputPort port) {
      return port.node == quantize || region.contains(port.node) || NumberOf(port) != nullptr;
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

  void LookUp(ir::NodeId id) {
    constexpr int64_t kMin = 1024;  // in elements
    const ir::Node& quantize = graph_.node(id);
    if (*Volume(quantize.output().shape.known_extents()) < kMin) return;
    const Region region = RegionOf(id);
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
    const bool keeps_end = RangeOf(graph_.node(end)) && AreTaken(graph_.node(end));
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
      graph_.SetInput(end, 0, found);
    } else {
      graph_.SetOutputNames(found, graph_.output(looked_up).names);
      graph_.ReplaceAllUses(looked_up, found);
    }
    done_.insert(region.begin(), region.end());
  }

  bool AreTaken(const ir::Node& end) const {
    return llvm::any_of(end.uses(0), [&](const ir::InputPort& use) {
      const ir::Node& node = graph_.node(use.node);
      if (node.Is(ir::OpRole::kView)) return AreTaken(node);
      return use.index == 0 && (AcceptsQuantized(node) || IsQuantization(node));
    });
  }

  // Returns the value of the region's node for each quantized value of `quantize`.
  std::optional<TensorValue> TableOf(const ir::Node& quantize, const Region& region, ir::NodeId wanted) {
    const QuantizationRange range = *RangeOf(quantize);
    std::vector<float> numbers;
    for (int code = 0; code < kCodes; ++code) {
      const double part = code / double{kCodes - 1};
      numbers.push_back(static_cast<float>(range.low + (double{range.high} - range.low) * part));
      if (range.Quantize(numbers.back()) != code) return std::nullopt;
    }
    llvm::DenseMap<ir::NodeId, TensorValue> values;
    std::optional<TensorValue> value =
        ValueOf(quantize, [&](ir::OutputPort port) -> std::optional<TensorValue> {
          return port == quantize.input(0) ? TensorValue::FromFloats({kCodes}, numbers) : ScalarOf(port);
        });
    if (!value) return std::nullopt;
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

  std::optional<TensorValue> ScalarOf(ir::OutputPort port) const { return NumberOf(port)->Reshaped({}); }

  std::optional<TensorValue> ValueOf(
      const ir::Node& node, llvm::function_ref<std::optional<TensorValue>(ir::OutputPort)> input) const {
    std::vector<TensorValue> inputs;
    for (ir::OutputPort port : node.inputs()) inputs.push_back(*input(port));
    return evaluate_(node, inputs, {kCodes});
  }

  ir::OutputPort AddLookup(const ir::Node& quantize, bool is_free, const TensorValue& table,
                           ir::OutputPort of) {
    const std::string name = graph_.node(of.node).name();
    const ir::Origin origin = graph_.node(of.node).origin();
    const auto constant = [&](TensorValue value) {
      return ir::OutputPort{graph_.AddConst(std::move(value), name, origin), 0};
    };
    const auto number = [&](float value) { return constant(TensorValue::FromFloats({}, {value})); };
    // Replaces the quantization, or follows it if there are other readers.
    const ir::Node& first = is_free ? FirstOf(quantize) : quantize;
    const std::vector<float> limits = LimitsOf(first);
    const bool replaces = is_free && limits.size() == 4;
    const QuantizationRange range = *RangeOf(quantize);
    const ir::OutputPort data = replaces ? first.input(0) : quantize.port();
    const ir::OutputPort low = number(replaces ? limits[0] : range.codes.NumberOf(0));
    const ir::OutputPort high = number(replaces ? limits[1] : range.codes.NumberOf(kCodes - 1));
    ir::AttributeMap levels, whole;
    levels.Set("levels", kCodes);
    whole.Set("destination_type", ElementType::kI32);
    const ir::OutputPort of_codes[] = {data, low, high, number(0), number(kCodes - 1)};
    ir::OutputPort codes = AddInferred(
        graph_, "opset1", "FakeQuantize",
        {.name = quantize.name(), .inputs = of_codes, .attributes = levels, .origin = quantize.origin()});
    if (replaces && first.id() != quantize.id()) {
      graph_.ReplaceAllUses(first.port(), codes);
      codes = quantize.input(0);
    }
    const ir::OutputPort indices = AddInferred(
        graph_, "opset1", "Convert", {.name = name, .inputs = codes, .attributes = whole, .origin = origin});
    const ir::OutputPort of_table[] = {constant(table), indices, constant(TensorValue::FromInts({}, {0}))};
    return AddInferred(graph_, "opset8", "Gather", {.name = name, .inputs = of_table, .origin = origin});
  }

  // Returns the first of two identical quantizations separated by views, if there are no other readers.
  const ir::Node& FirstOf(const ir::Node& quantize) const {
    const ir::Node* first = &graph_.node(quantize.input(0).node);
    while (first->Is(ir::OpRole::kView) && first->uses(0).size() == 1)
      first = &graph_.node(first->input(0).node);
    const bool is_first = first->num_outputs() == 1 && first->uses(0).size() == 1 &&
                          Repeats(*first, quantize) && AreRowMajor(graph_, *first);
    return is_first ? *first : quantize;
  }

  ir::Graph& graph_;
  kernels::NodeEvaluator evaluate_;
  llvm::DenseSet<ir::NodeId> done_;  // nodes of replaced regions
};

// --- kernel --------------------------------------------------------------------------

// A lookup from 8-bit values to numbers or 8-bit values.
template <typename Number>
class LookupTable final : public kernels::Kernel {
 public:
  LookupTable(std::vector<Number> table, int64_t count) : table_(std::move(table)), count_(count) {}

  std::string implementation() const override { return "nnefc:int8_table"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* codes = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<Number*>(run.output().mutable_bytes());
    const Number* table = table_.data();
    tensor::ParallelParts(count_, [=](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<Number, uint8_t>) {
        simd::LookUpUint8({table, codes + begin, end - begin, out + begin});
      } else {
        for (int64_t i = begin; i < end; ++i) out[i] = table[codes[i]];
      }
    });
    return Success();
  }

 private:
  std::vector<Number> table_;
  int64_t count_;
};

}  // namespace

void InsertLookupTables(ir::Graph& graph, kernels::Precision precision, kernels::NodeEvaluator evaluate) {
  if (precision == kernels::Precision::kExact || !simd::HasSimd()) return;
  LookupTablePass(graph, evaluate).Run();
}

bool IsInLookupTable(const ir::Graph& graph, const ir::Node& convert) {
  if (!convert.Is(ir::ElementFunction::kConvert) || convert.uses(0).size() != 1) return false;
  const ElementType indices = convert.output().type;  // must represent all quantized values
  if (indices != ElementType::kI32 && indices != ElementType::kI64) return false;
  const ir::InputPort use = convert.uses(0)[0];
  const ir::Node& gather = graph.node(use.node);
  const bool is_gather = graph.registry().Find("opset8", "Gather") == gather.op();
  if (!is_gather || use.index != 1 || gather.Int("batch_dims") != 0) return false;
  const ir::Node& table = graph.node(gather.input(0).node);
  if (!table.Is(ir::OpRole::kConst) || !table.output().value) return false;
  return table.output().type == ElementType::kF32 && table.output().value->shape() == Shape{kCodes};
}

kernels::KernelOrReason MakeLookupTable(const kernels::KernelRequest& request) {
  if (request.posts.empty() || request.posts.size() > 2) return Reason("no lookup follows");
  const kernels::ValueInfo& input = request.inputs[0];
  const memory::ValueQuantization* codes = memory::QuantizationOf(input);
  const auto first = static_cast<size_t>(request.posts[0].first_operand);
  const TensorValue* numbers = request.inputs[first].constant;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (codes == nullptr || codes->scale != 1 || codes->zero != 0) return Reason("the input is not quantized");
  if (numbers == nullptr) return Reason("the table is not constant");
  if (numbers->type() != ElementType::kF32 || numbers->volume() != kCodes)
    return Reason("a table of {} elements", numbers->volume());
  const memory::BlockedFormat format = memory::FormatInF32(input);
  if (memory::IsPadded(format)) return Reason("the layout has padding channels");
  if (input.shape != request.outputs[0].shape) return Reason("the shapes differ");
  const TensorValue loaded = numbers->Loaded().Aligned(alignof(float));
  const std::vector<float> table(loaded.elements<float>().begin(), loaded.elements<float>().end());
  const int64_t count = Volume(input.shape).value_or(0);
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = input.layout;
  if (request.posts.size() == 1) {
    prepared.kernel = std::make_shared<LookupTable<float>>(table, count);
    prepared.outputs.push_back(memory::LayoutOf(format));
    return prepared;
  }
  const Int8Request coded(request);
  if (!coded.range || coded.sum) return Reason("the result is not quantized");
  std::vector<uint8_t> of_codes;
  of_codes.reserve(table.size());
  for (float number : table) of_codes.push_back(coded.range->Quantize(number));
  prepared.kernel = std::make_shared<LookupTable<uint8_t>>(std::move(of_codes), count);
  prepared.outputs.push_back(memory::QuantizedLayout(format, coded.range->codes));
  prepared.in_place = 0;
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
