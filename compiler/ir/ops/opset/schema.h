#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_registry.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir {

enum class AttributeKind : uint8_t { kBool, kInt, kDouble, kString, kInts, kDoubles, kType, kShape };
// The values that a number takes, or each item of a list.
enum class AttributeRange : uint8_t { kAny, kPositive, kNonNegative };

// An attribute of an OpenVINO operation in the spelling of the IR's XML.
struct AttributeInfo {
  std::string_view name;
  AttributeKind kind;
  std::optional<Attribute> fallback = std::nullopt;  // none: the attribute must be given
  std::vector<std::string_view> choices = {};        // of an enumeration
  bool is_extra = false;                             // not written where it is not given
  AttributeRange range = AttributeRange::kAny;
};

// The element types that an input takes.
enum class TypeClass : uint8_t { kAny, kNumber, kFloat, kInteger, kIndex, kBoolean, kBits };

// What a tensor must be whatever the other inputs are.
struct InputRule {
  TypeClass types = TypeClass::kAny;
  int64_t lowest_rank = 0;
  int64_t highest_rank = INT64_MAX;
  bool one_element = false;
};

// A row of the table of operations.
struct OpRow {
  OpInfo info;
  std::vector<InputRule> rules;  // of the inputs of `info`
  std::vector<AttributeInfo> attributes;

  const AttributeInfo* Find(std::string_view attribute) const;
};

AttributeInfo Positive(AttributeInfo info);
AttributeInfo NonNegative(AttributeInfo info);

// The axis at which the second operand lies with `auto_broadcast = "pdpd"`, in
// the spelling of the XML.
constexpr std::string_view kPdpdAxis = "auto_broadcast.auto_broadcast_axis";
// `auto_broadcast` and its axis.
std::vector<AttributeInfo> BroadcastAttributes();

// How rows are written down. An input "x?" may be left out, "x[]" is any number
// of inputs. After a colon stands what it must be: element types ("number",
// "float", "integer", "index" for i32 or i64, "boolean", "bits" for integers and
// booleans), then the rank ("2", "0..1", "2..") or "one" for one element:
// "axes?: integer 0..1", "alpha: float one", "data: 4".
struct OpRowSpec {
  std::string_view set;
  std::string_view name;
  std::vector<std::string_view> inputs = {};
  std::vector<AttributeInfo> attributes = {};
  InferFunction infer = nullptr;
  std::vector<std::string_view> outputs = {"output"};
  bool is_source = false;
  bool is_sink = false;
};
OpRow MakeRow(const OpRowSpec& spec);

// The rows of one family each.
std::vector<OpRow> CoreRows();
std::vector<OpRow> ElementwiseRows();
std::vector<OpRow> ActivationRows();
std::vector<OpRow> ConvolutionRows();
std::vector<OpRow> PoolingRows();
std::vector<OpRow> ResamplingRows();
std::vector<OpRow> MatmulRows();
std::vector<OpRow> ReduceRows();
std::vector<OpRow> ShapeOpsRows();
std::vector<OpRow> SectionRows();
std::vector<OpRow> SlicingRows();
std::vector<OpRow> IndexingRows();
std::vector<OpRow> GatherNdRows();
std::vector<OpRow> CountingRows();
std::vector<OpRow> RearrangingRows();
std::vector<OpRow> AttentionRows();
std::vector<OpRow> NormalizationRows();
std::vector<OpRow> QuantizationRows();
std::vector<OpRow> RoiRows();
std::vector<OpRow> RecurrentRows();
std::vector<OpRow> ControlFlowRows();

// All rows, family by family.
llvm::ArrayRef<OpRow> AllOpRows();
// The row `set.name`, or null.
const OpRow* FindOpRow(std::string_view set, std::string_view name);

}  // namespace nnefc::ir
