#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/kernels/backend.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/reason.h"
#include "runtime/tensor/layout.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::kernels {

// The state of one step that a session keeps between runs, such as bound memory objects.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

// The arguments of one kernel call. Views of values in opaque layouts have logical shapes; their strides are
// undefined.
struct KernelRun {
  llvm::ArrayRef<const tensor::TensorView*> inputs;
  llvm::ArrayRef<const tensor::MutableTensorView*> outputs;
  std::byte* scratch = nullptr;
  KernelState* state = nullptr;

  const tensor::TensorView& input(size_t index) const { return *inputs[index]; }
  const tensor::MutableTensorView& output(size_t index = 0) const { return *outputs[index]; }
};

// A computation prepared for given shapes. Immutable and shared by sessions.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Returns the implementation name for profiles: "reference", "onednn:jit:avx512_core".
  virtual std::string implementation() const = 0;
  virtual std::unique_ptr<KernelState> NewState() const { return nullptr; }
  // Computes the outputs, or returns a user-facing fault (such as an index out of range).
  virtual FaultOr<Success> Run(const KernelRun& run) const = 0;
};

// A kernel that converts a constant to another layout.
class ConstantKernel : public Kernel {
 public:
  // Same as Run, but computes a lazy value block by block, so that it need not be in memory as a whole.
  virtual FaultOr<Success> RunByRows(const TensorValue& value, std::byte* out) const = 0;
};

// The properties of an operand or result of a kernel at plan time.
struct ValueInfo {
  ElementType type = ElementType::kDynamic;
  Shape shape = {};
  // The layout chosen by the producer; null (row-major) for outputs. A strided layout (StridesOf) appears
  // only for kernels registered with KernelRegistry::AcceptStrides.
  tensor::Layout layout = nullptr;
  // The value if it is constant, otherwise null.
  const TensorValue* constant = nullptr;
  // True if this step is the last reader and may overwrite it.
  bool overwritable = false;
};

// An operation fused to the end of another, applied before the result is stored.
struct PostOperation {
  const ir::Node* node = nullptr;
  // Index of the node's input that receives the result. Its other inputs are in KernelRequest::inputs,
  // starting at `first_operand`.
  int chained_input = 0;
  int first_operand = 0;
};

// A node and the nodes fused to it, with known shapes.
struct KernelRequest {
  const ir::Node* node = nullptr;
  llvm::ArrayRef<PostOperation> posts = {};
  // The node's inputs, then the other inputs of `posts`.
  llvm::ArrayRef<ValueInfo> inputs = {};
  llvm::ArrayRef<ValueInfo> outputs = {};
  Precision precision = Precision::kF32;
  // A convolution with precision bf16 reads and returns images in f32.
  bool has_f32_images = false;
  // All readers of output 0 accept 8-bit quantized values.
  bool as_codes = false;
  // Scales of the constant filter of the node (input 1) or else of its first post-operation; empty if neither
  // is quantized. `filter_magnitude` is ir::FilterQuantization::max_magnitude.
  llvm::ArrayRef<float> filter_scales = {};
  float filter_magnitude = 0;
  // The layout of output 0 that its readers prefer, or null for no preference.
  tensor::Layout wanted_output = nullptr;
  // The id of the only implementation to use, or empty for the one with the lowest cost. The factory declines
  // an implementation that does not apply to the step.
  std::string_view way = {};
  // Receives the implementations that were not chosen, with reasons; may be null.
  std::vector<RejectedImplementation>* rejected = nullptr;
};

// A kernel with its layouts and memory requirements.
struct PreparedKernel {
  std::shared_ptr<const Kernel> kernel;
  // The id of its implementation in a table, or empty.
  std::string_view implementation = {};
  // The layouts of operands and results. The plan inserts reorders where they differ.
  llvm::SmallVector<tensor::Layout, 4> inputs;
  llvm::SmallVector<tensor::Layout, 1> outputs;
  size_t scratch_bytes = 0;
  // Index of an input whose memory output 0 may share, or -1.
  int in_place = -1;
  // Output 0 must share the memory of input `in_place`, because the kernel accumulates into it.
  bool in_place_required = false;
};

}  // namespace nnefc::runtime::kernels
