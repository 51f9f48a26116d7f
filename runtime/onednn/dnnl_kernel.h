#pragma once

#include <string>
#include <vector>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/registry.h"
#include "runtime/onednn/dnnl_layout.h"
#include "runtime/onednn/onednn.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

// An argument of a primitive: the input, output or number of the kernel, and the primitive's memory
// descriptor.
struct DnnArgument {
  enum class Source : uint8_t { kInput, kOutput, kNumber, kScratch };

  int id;  // DNNL_ARG_*
  Source source;
  size_t index;
  dnnl::memory::desc desc;
};

// A builder for kernels that wrap a oneDNN primitive.
class DnnKernelBuilder {
 public:
  // The request must outlive the builder.
  explicit DnnKernelBuilder(const KernelRequest& request);

  // Returns the attributes required for all primitives: scratch memory comes from the arena, so that sessions
  // can share a primitive.
  static dnnl::primitive_attr Attributes();

  // Passes input `index` as argument `id` in the layout `desc`.
  void AddInput(int id, size_t index, const dnnl::memory::desc& desc);
  // The same for row-major memory with another shape (a bias [1,C,1,1] as [C]).
  void AddReshapedInput(int id, size_t index, const dnnl::memory::desc& desc);
  void AddInputIn(int id, size_t index, const dnnl::memory::desc& desc, DnnLayout::Form form);
  // Passes 8-bit quantized values with the layout `desc`.
  void AddQuantizedInput(int id, size_t index, const dnnl::memory::desc& desc, const DnnQuantization& codes);
  void AddQuantizedOutput(int id, size_t index, const dnnl::memory::desc& desc, const DnnQuantization& codes);
  // The same for row-major values with another shape of equal size.
  void AddReshapedQuantizedInput(int id, size_t index, const dnnl::memory::desc& desc,
                                 const DnnQuantization& codes);
  void AddReshapedQuantizedOutput(int id, size_t index, const dnnl::memory::desc& desc,
                                  const DnnQuantization& codes);
  // Passes a constant whose axis order differs from that of the primitive.
  void AddOrderedInput(int id, size_t index, const dnnl::memory::desc& desc, AxisOrder order);
  void AddOutput(int id, size_t index, const dnnl::memory::desc& desc);
  // Adds an f32 output with another row-major shape of equal size in the primitive.
  void AddReshapedOutput(int id, size_t index, const dnnl::memory::desc& desc);
  // Adds an operand of a fused binary operation. It must be row-major if it has fewer axes than the
  // primitive.
  void AddPostOperand(int id, size_t index, const dnnl::memory::desc& desc) { AddInput(id, index, desc); }
  // Adds a scalar operand owned by the kernel.
  void AddNumber(int id, float number, const dnnl::memory::desc& desc) { AddNumbers(id, number, desc); }
  // The same for several row-major elements.
  void AddNumbers(int id, llvm::ArrayRef<float> numbers, const dnnl::memory::desc& desc);
  void AllowInPlace(int input) { prepared_.in_place = input; }
  // The primitive accumulates into its output, which must share memory with the input in the layout `desc`,
  // with `codes` if it is quantized.
  void RequireInPlace(int input, const dnnl::memory::desc& desc, const DnnQuantization* codes = nullptr);

  PreparedKernel Finish(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                        const std::string& implementation);

 private:
  const KernelRequest& request_;
  PreparedKernel prepared_;
  std::vector<DnnArgument> arguments_;
  std::vector<float> numbers_;
};

// Returns true for oneDNN's portable fallbacks, which are slower than our kernels.
inline bool IsDnnReference(const char* implementation) {
  const std::string_view text = implementation;
  return text.starts_with("ref") || text.starts_with("simple:any");
}

// Returns true for GEMM-based convolutions. Their post-ops run in slow portable code, with relu(NaN) = NaN,
// and NaN for infinities.
inline bool IsDnnGemm(const char* implementation) {
  return std::string_view(implementation).find("gemm") != std::string_view::npos;
}

// Returns the operand type of matrix multiplications.
inline DnnType MatmulType(const KernelRequest& request) {
  return request.precision == Precision::kBf16 ? DnnType::bf16 : DnnType::f32;
}

// Sets the scales of int8 accumulators, per element of the result's second axis.
void SetInt8Scales(dnnl::primitive_attr& attributes, const DnnQuantization& source,
                   const std::vector<float>& scales);

// Returns the thread count for a step: one if waking threads takes longer than the work, as in most loop
// bodies.
int ThreadsFor(const KernelRequest& request);

// Runs `body` with a oneDNN stream, on the thread count for which its primitives were created. Exceptions of
// oneDNN become faults.
template <typename Body>
FaultOr<Success> GuardedDnnRun(int threads, Body body) {
  try {
    const ThreadScope scope(threads);
    thread_local dnnl::stream stream(DnnEngine());
    body(stream);
    stream.wait();
    return Success();
  } catch (const dnnl::error& error) {
    return KernelFault("oneDNN: {}", error.what());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

// Registers the implementations of an operation for the fast backend, of which some may be oneDNN's. A
// request is rejected if oneDNN throws because of an unsupported shape or attribute.
void AddDnnTables(KernelRegistry& registry, std::initializer_list<std::string_view> sets,
                  std::string_view name, llvm::ArrayRef<ImplementationTable> tables);

}  // namespace nnefc::runtime
