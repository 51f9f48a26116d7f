#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/kernels/backend.h"
#include "runtime/kernels/fault.h"
#include "runtime/tensor/layout.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// What a session keeps for one step between runs (bound memory objects).
class KernelState {
 public:
  virtual ~KernelState() = default;
};

// One call of a kernel. The shape of a view of a value in an opaque layout is
// the logical one; its strides mean nothing.
struct KernelRun {
  llvm::ArrayRef<const TensorView*> inputs;
  llvm::ArrayRef<const MutableTensorView*> outputs;
  std::byte* scratch = nullptr;
  KernelState* state = nullptr;

  const TensorView& input(size_t index) const { return *inputs[index]; }
  const MutableTensorView& output(size_t index = 0) const { return *outputs[index]; }
};

// A computation prepared for given shapes. Immutable and shared by sessions.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // What runs, for profiles: "reference", "onednn:jit:avx512_core".
  virtual std::string implementation() const = 0;
  virtual std::unique_ptr<KernelState> NewState() const { return nullptr; }
  // Writes the outputs, or tells in the user's words why it cannot (an index
  // out of range).
  virtual FaultOr<Success> Run(const KernelRun& run) const = 0;
};

// Lays a constant out in another way.
class ConstantKernel : public Kernel {
 public:
  // The same as Run, of some rows at a time where the value is to be computed: all of them need not be there
  // at once.
  virtual FaultOr<Success> RunByRows(const TensorValue& value, std::byte* out) const = 0;
};

// What is known at plan time of a value that a kernel will read or write.
struct ValueInfo {
  ElementType type = ElementType::kDynamic;
  Shape shape = {};
  // How its producer lays it out; null (row-major) for outputs. Of strides (StridesOf) where the kernel says
  // that it accepts them alone: KernelRegistry::AcceptStrides.
  Layout layout = nullptr;
  // Its value, if it is a constant.
  const TensorValue* constant = nullptr;
  // Nobody reads it after this step, so that the step may write over it.
  bool overwritable = false;
};

// An operation that is done on the result of another before it is stored.
struct PostOperation {
  const ir::Node* node = nullptr;
  // Which of the node's inputs is that result; the others follow one another
  // in KernelRequest::inputs from `first_operand`.
  int chained_input = 0;
  int first_operand = 0;
};

// The codes of 8 bits of a constant filter.
struct FilterCodes {
  // By output channel, the scale of which all its numbers are multiples by -128 to 127; empty: one has none.
  std::vector<float> scales;
  // The largest of the sums of an output's codes without their signs, and what rounding adds.
  float most_magnitude = 0;
};

// A node and what follows it in the same step, at known shapes.
struct KernelRequest {
  const ir::Node* node = nullptr;
  llvm::ArrayRef<PostOperation> posts = {};
  // The node's inputs, then the other inputs of `posts`.
  llvm::ArrayRef<ValueInfo> inputs = {};
  llvm::ArrayRef<ValueInfo> outputs = {};
  Precision precision = Precision::kF32;
  // Whoever reads output 0 takes it in codes of 8 bits.
  bool as_codes = false;
  // Of a constant filter (input 1); empty where the node takes no codes. `filter_magnitude` is
  // FilterCodes::most_magnitude.
  llvm::ArrayRef<float> filter_scales = {};
  float filter_magnitude = 0;
  // In which those who read output 0 would best have it; null where it is the same to them.
  Layout wanted_output = nullptr;
  // Which of the ways that the registry has for the operation; empty: the factory chooses. It declines one
  // that the step does not allow.
  std::string_view way = {};
};

// The answer to a request.
struct PreparedKernel {
  std::shared_ptr<const Kernel> kernel;
  // Where the kernel wants its inputs and leaves its outputs; the plan
  // reorders what lies otherwise.
  llvm::SmallVector<Layout, 4> inputs;
  llvm::SmallVector<Layout, 1> outputs;
  size_t scratch_bytes = 0;
  // Output 0 may lie where this input does.
  int in_place = -1;
  // Output 0 must lie where input `in_place` does: the kernel adds to it.
  bool in_place_required = false;
};

}  // namespace nnefc::runtime
