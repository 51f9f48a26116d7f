// Shape inference of OpenVINO's Parameter, Const, Result, ReadValue and Assign.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

void InferParameter(OpContext& op) {
  op.Set(op.Type("element_type"), *op.attribute("shape").get<PartialShape>());
}

// A Const without a value (a variable whose data were not requested) has its type and shape as attributes.
void InferConst(OpContext& op) {
  const Output& output = op.node().output();
  if (output.value) {
    op.Set(output.value->type(), PartialShape(llvm::ArrayRef<int64_t>(output.value->shape())));
    return;
  }
  if (!op.Has("element_type") || !op.Has("shape")) return;
  const ElementType type = op.Type("element_type");
  const PartialShape& shape = *op.attribute("shape").get<PartialShape>();
  op.Set(type, shape);
  // The value of a Const without elements, as documents of NNEFC_opset have them.
  if (shape.volume() == 0 && type != ElementType::kDynamic)
    op.SetValue(0, TensorValue::Filled(type, shape.known_extents(), 0));
}

void InferResult(OpContext& op) {}

// ReadValue-3: the variable has the type and shape of its initial value.
void InferReadValueLikeInput(OpContext& op) {
  op.Set(op.type(0), op.shape(0));
}

// ReadValue-6: the value has the variable's type; its shape must match.
void InferReadValue(OpContext& op) {
  const ElementType type = op.Type("variable_type");
  const PartialShape shape = *op.attribute("variable_shape").get<PartialShape>();
  if (op.has_input(0)) {
    if (op.type(0) != ElementType::kDynamic && type != ElementType::kDynamic && op.type(0) != type) {
      op.Error(kOpsetElementType, "{} has the element type {}; expected {}", op.InputName(0),
               Name(op.type(0)), Name(type));
    }
    if (!Merge(shape, op.shape(0))) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected {}", op.InputName(0), ToString(op.shape(0)),
               ToString(shape));
    }
  }
  op.Set(type, shape);
}

void InferAssign(OpContext& op) {
  op.Set(op.type(0), op.shape(0));
}

}  // namespace

std::vector<OpInfo> CoreRows() {
  const AttributeInfo optional_type{"element_type", AttributeKind::kType, ElementType::kDynamic};
  const AttributeInfo optional_shape{"shape", AttributeKind::kShape, PartialShape()};
  const AttributeInfo variable_id{"variable_id", AttributeKind::kString};
  return {
      MakeRow({.set = "opset1",
               .name = "Parameter",
               .attributes = {{"element_type", AttributeKind::kType}, {"shape", AttributeKind::kShape}},
               .infer = Infer<InferParameter>,
               .is_source = true,
               .role = OpRole::kParameter,
               .work = Work::kNone}),
      MakeRow({.set = "opset1",
               .name = "Const",
               .attributes = {optional_type, optional_shape},
               .infer = Infer<InferConst>,
               .is_source = true,
               .role = OpRole::kConst,
               .work = Work::kNone}),
      MakeRow({.set = "opset1",
               .name = "Result",
               .inputs = {"value"},
               .infer = Infer<InferResult>,
               .outputs = {},
               .role = OpRole::kResult,
               .work = Work::kNone}),
      MakeRow({.set = "opset3",
               .name = "ReadValue",
               .inputs = {"init_value"},
               .attributes = {variable_id},
               .infer = Infer<InferReadValueLikeInput>,
               .role = OpRole::kReadValue}),
      MakeRow({.set = "opset3",
               .name = "Assign",
               .inputs = {"new_value"},
               .attributes = {variable_id},
               .infer = Infer<InferAssign>,
               .is_sink = true,
               .role = OpRole::kAssign}),
      MakeRow({.set = "opset6",
               .name = "ReadValue",
               .inputs = {"init_value?"},
               .attributes = {variable_id,
                              {"variable_type", AttributeKind::kType},
                              {"variable_shape", AttributeKind::kShape}},
               .infer = Infer<InferReadValue>,
               .role = OpRole::kReadValue}),
      MakeRow({.set = "opset6",
               .name = "Assign",
               .inputs = {"new_value"},
               .attributes = {variable_id},
               .infer = Infer<InferAssign>,
               .is_sink = true,
               .role = OpRole::kAssign}),
  };
}

}  // namespace nnefc::ir::ops::opset
