// The step of a plan that infers an operation's shapes from run-time values and reports invalid values,
// before a kernel reads them.

#include <cstring>

#include "compiler/support/tensor/packed_elements.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/run/frame.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::run {

namespace {

bool HoldsSameBytes(const tensor::TensorView& view, const TensorValue& value) {
  if (IsPacked(view.type())) return false;
  return view.byte_size() == 0 || std::memcmp(view.bytes(), value.bytes(), view.byte_size()) == 0;
}

// A step that checks axes, permutations and sizes computed at run time, so that the next kernel may rely on
// them as on constants. Values equal to the last ones checked are accepted at once.
class ShapeCheckStep final : public ControlStep {
 public:
  ShapeCheckStep(const plan::Step& step, const ir::Graph& graph) : step_(step), lone_(graph, *step.node) {}

  kernels::FaultOr<Success> Run(Frame& outer) override {
    if (IsJudged(outer)) return Success();
    std::vector<TensorValue> values;
    for (plan::ValueId id : step_.inputs) {
      kernels::FaultOr<TensorValue> value = outer.ValueAsTensor(id);
      if (!value) return value.error();
      values.push_back(*value);
    }
    SetInputs(values);
    if (kernels::FaultOr<Success> checked = Check(); !checked) {
      SetInputs({});
      return checked;
    }
    checked_ = std::move(values);
    return Success();
  }

 private:
  bool IsJudged(const Frame& outer) const {
    if (checked_.empty()) return false;
    for (size_t i = 0; i < checked_.size(); ++i) {
      if (!HoldsSameBytes(outer.view(step_.inputs[i]), checked_[i])) return false;
    }
    return true;
  }

  // Sets the values of the checked inputs; an empty list clears them.
  void SetInputs(llvm::ArrayRef<TensorValue> values) {
    for (size_t i = 0; i < step_.checked.size(); ++i) {
      const ir::Output& known = lone_.input(step_.checked[i]);
      lone_.SetInput(step_.checked[i], known.type, known.shape,
                     values.empty() ? std::nullopt : std::optional(values[i]));
    }
  }

  kernels::FaultOr<Success> Check() {
    if (kernels::FaultOr<Success> inferred = InferOnValues(lone_); !inferred) return inferred;
    for (int32_t i = 0; i < step_.node->num_outputs(); ++i) {
      const ir::Output& planned = step_.node->output(i);
      const ir::Output& found = lone_.outputs()[static_cast<size_t>(i)];
      if (found.shape == planned.shape && found.type == planned.type) continue;
      return kernels::KernelFault("its result is {}{}; expected {}{}", Name(found.type),
                                  ir::ToString(found.shape), Name(planned.type), ir::ToString(planned.shape));
    }
    return Success();
  }

  const plan::Step& step_;
  ir::LoneNode lone_;
  std::vector<TensorValue> checked_;  // the last values that passed
};

}  // namespace

std::unique_ptr<ControlStep> MakeShapeCheckStep(const plan::Step& step, const ir::Graph& graph) {
  return std::make_unique<ShapeCheckStep>(step, graph);
}

}  // namespace nnefc::runtime::engine::run
