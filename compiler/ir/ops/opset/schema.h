#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/ir/op_schema.h"

namespace nnefc::ir::ops::opset {

AttributeInfo Positive(AttributeInfo info);
AttributeInfo NonNegative(AttributeInfo info);
// A list of integers whose default, an empty list, means `value` for each axis.
AttributeInfo OnEachAxis(std::string_view name, int64_t value);

// The axis where the second operand starts with `auto_broadcast = "pdpd"`, as spelled in the XML.
constexpr std::string_view kPdpdAxis = "auto_broadcast.auto_broadcast_axis";
// Returns `auto_broadcast` and its axis.
std::vector<AttributeInfo> BroadcastAttributes();

// The notation of rows. An input "x?" is optional, "x[]" is any number of inputs. Constraints follow a colon:
// element types ("number", "float", "integer", "index" for i32 or i64, "boolean", "bits" for integers and
// booleans), then the rank ("2", "0..1", "2..") or "one" for a single element: "axes?: integer 0..1", "alpha:
// float one", "data: 4".
struct OpRowSpec {
  std::string_view set;
  std::string_view name;
  std::vector<std::string_view> inputs = {};
  std::vector<AttributeInfo> attributes = {};
  std::vector<AttributeInfo> implied = {};
  InferFunction infer = nullptr;
  std::vector<std::string_view> outputs = {"output"};
  bool is_source = false;
  bool is_sink = false;
  bool is_elementwise = false;
  OpRole role = OpRole::kComputation;
  ElementFunction function = ElementFunction::kOther;
  Work work = Work::kByElements;
  ProductCount products = nullptr;
  Contraction contraction = Contraction::kNone;
  Pooling pooling = Pooling::kNone;
  Rearrangement rearrangement = Rearrangement::kNone;
  Quantizer quantizer = Quantizer::kNone;
  FunctionCost function_cost = FunctionCost::kUnknown;
  bool is_batch_normalization = false;
};
OpInfo MakeRow(const OpRowSpec& spec);

// Returns the number of elements of a shape, or of a subset of its axes.
double Elements(llvm::ArrayRef<int64_t> shape);

// The rows of each family.
std::vector<OpInfo> CoreRows();
std::vector<OpInfo> ElementwiseRows();
std::vector<OpInfo> ActivationRows();
std::vector<OpInfo> ConvolutionRows();
std::vector<OpInfo> PoolingRows();
std::vector<OpInfo> ResamplingRows();
std::vector<OpInfo> MatmulRows();
std::vector<OpInfo> ReduceRows();
std::vector<OpInfo> ShapeOpsRows();
std::vector<OpInfo> SectionRows();
std::vector<OpInfo> SlicingRows();
std::vector<OpInfo> IndexingRows();
std::vector<OpInfo> GatherNdRows();
std::vector<OpInfo> CountingRows();
std::vector<OpInfo> RearrangingRows();
std::vector<OpInfo> AttentionRows();
std::vector<OpInfo> NormalizationRows();
std::vector<OpInfo> QuantizationRows();
std::vector<OpInfo> RoiRows();
std::vector<OpInfo> YoloRows();
std::vector<OpInfo> DetectionRows();
std::vector<OpInfo> PriorBoxRows();
std::vector<OpInfo> CtcRows();
std::vector<OpInfo> RecurrentRows();
std::vector<OpInfo> ControlFlowRows();

}  // namespace nnefc::ir::ops::opset
