#pragma once

#include <string>
#include <vector>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/fast/onednn.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

// An argument of a primitive: which input, output or number of the kernel it is,
// and the description by which the primitive sees its memory.
struct DnnArgument {
  enum class Source : uint8_t { kInput, kOutput, kNumber, kScratch };

  int id;  // DNNL_ARG_*
  Source source;
  size_t index;
  dnnl::memory::desc desc;
};

// Collects what a primitive needs and makes the answer to a request of it.
class DnnKernelBuilder {
 public:
  // The request lives as long as the builder.
  explicit DnnKernelBuilder(const KernelRequest& request);

  // The attributes under which primitives must be made: scratch memory comes
  // from the arena, so that sessions can share a primitive.
  static dnnl::primitive_attr Attributes();

  // Input `index` is argument `id`, wanted as `desc`.
  void AddInput(int id, size_t index, const dnnl::memory::desc& desc);
  // The same, but row-major memory is seen under another shape (a bias [1,C,1,1] as [C]).
  void AddReshapedInput(int id, size_t index, const dnnl::memory::desc& desc);
  void AddInputIn(int id, size_t index, const dnnl::memory::desc& desc, DnnLayout::Form form);
  // Values in codes of 8 bits, which `desc` describes.
  void AddCodesInput(int id, size_t index, const dnnl::memory::desc& desc, const DnnCodes& codes);
  void AddCodesOutput(int id, size_t index, const dnnl::memory::desc& desc, const DnnCodes& codes);
  // The same, row-major, but the primitive sees another shape of as many elements.
  void AddReshapedCodesInput(int id, size_t index, const dnnl::memory::desc& desc, const DnnCodes& codes);
  void AddReshapedCodesOutput(int id, size_t index, const dnnl::memory::desc& desc, const DnnCodes& codes);
  // A constant whose axes lie otherwise than the primitive counts them.
  void AddOrderedInput(int id, size_t index, const dnnl::memory::desc& desc, AxisOrder order);
  void AddOutput(int id, size_t index, const dnnl::memory::desc& desc);
  // An output of f32 whose shape the primitive sees otherwise, with as many elements
  // in row-major order.
  void AddReshapedOutput(int id, size_t index, const dnnl::memory::desc& desc);
  // An operand of a fused binary operation. One whose shape has fewer axes than
  // the primitive's must be row-major.
  void AddPostOperand(int id, size_t index, const dnnl::memory::desc& desc) { AddInput(id, index, desc); }
  // An operand of one element that the kernel holds itself.
  void AddNumber(int id, float number, const dnnl::memory::desc& desc) { AddNumbers(id, number, desc); }
  // Of several, row-major.
  void AddNumbers(int id, llvm::ArrayRef<float> numbers, const dnnl::memory::desc& desc);
  void AllowInPlace(int input) { prepared_.in_place = input; }
  // The primitive adds to its output, which must hold the input as `desc`, of codes where it lies in them.
  void RequireInPlace(int input, const dnnl::memory::desc& desc, const DnnCodes* codes = nullptr);

  PreparedKernel Finish(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                        const std::string& implementation);

 private:
  const KernelRequest& request_;
  PreparedKernel prepared_;
  std::vector<DnnArgument> arguments_;
  std::vector<float> numbers_;
};

// oneDNN's portable fallbacks, which are slower than our own kernels.
inline bool IsDnnReference(const char* implementation) {
  const std::string_view text = implementation;
  return text.starts_with("ref") || text.starts_with("simple:any");
}

// Convolutions by products of matrices. Post-operations behind them run in
// portable code, slowly, and relu keeps NaN there and makes it of infinities.
inline bool IsDnnGemm(const char* implementation) {
  return std::string_view(implementation).find("gemm") != std::string_view::npos;
}

// A kernel that is the only one for a step, where no way is asked for.
inline std::optional<PreparedKernel> OnlyWay(const KernelRequest& request, PreparedKernel kernel) {
  return request.way.empty() ? std::optional(std::move(kernel)) : std::nullopt;
}

// In what products take their factors.
inline DnnType ProductType(const KernelRequest& request) {
  return request.precision == Precision::kBf16 ? DnnType::bf16 : DnnType::f32;
}

// Of sums of products of codes of 8 bits with those of a filter: by the second axis of the result, what they
// are multiplied by.
void SetCodeScales(dnnl::primitive_attr& attributes, const DnnCodes& source,
                   const std::vector<float>& scales);

// How many threads a step is worth: one where waking others takes longer than
// the work, as in most bodies of loops.
int ThreadsFor(const KernelRequest& request);

// What `body` does with a stream of oneDNN, on as many threads as its primitives were made
// for; what oneDNN throws is a fault.
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

// A factory that declines where oneDNN throws: a shape or an attribute that
// it does not accept.
template <std::optional<PreparedKernel> (*kFactory)(const KernelRequest&)>
std::optional<PreparedKernel> GuardedDnnFactory(const KernelRequest& request) {
  try {
    const ThreadScope scope(ThreadsFor(request));  // a primitive runs with as many as it was made for
    return kFactory(request);
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

}  // namespace nnefc::runtime
