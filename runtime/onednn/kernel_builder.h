#pragma once

#include <memory>
#include <vector>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime::onednn {

// A builder for kernels that wrap a oneDNN primitive.
class OneDnnKernelBuilder {
 public:
  using Argument = library::PrimitiveArgument;
  using Role = library::PrimitiveArgument::Role;

  // Both must outlive the builder.
  OneDnnKernelBuilder(const kernels::KernelRequest& request,
                      std::shared_ptr<const library::Primitive> primitive);

  // Passes input `index` in the given format, or in the one that the primitive has chosen.
  void AddInput(Argument argument, size_t index, const fast::memory::BlockedFormat& format);
  void AddInput(Role role, size_t index) { AddInput({role}, index, primitive_->format({role})); }
  // The same for row-major memory with another shape (a bias [1,C,1,1] as [C]).
  void AddReshapedInput(Argument argument, size_t index, const fast::memory::BlockedFormat& format);
  // The same with properties of the layout, in the format that the primitive has chosen.
  void AddInputIn(Role role, size_t index, fast::memory::BlockedLayout::Form form);
  // Passes 8-bit quantized values.
  void AddQuantizedInput(Role role, size_t index, const fast::memory::ValueQuantization& codes) {
    AddQuantizedInput(role, index, codes, primitive_->format({role}));
  }
  // The same of a value in `format`, whose memory is that of the primitive with other extents.
  void AddQuantizedInput(Role role, size_t index, const fast::memory::ValueQuantization& codes,
                         const fast::memory::BlockedFormat& format);
  // Returns them as the result.
  void AddQuantizedOutput(const fast::memory::ValueQuantization& codes) {
    AddQuantizedOutput(codes, primitive_->format({Role::kResult}));
  }
  void AddQuantizedOutput(const fast::memory::ValueQuantization& codes,
                          const fast::memory::BlockedFormat& format);
  // Pass an input or return the output in `format`, whose memory is that of the primitive with other extents.
  void AddInputAs(Role role, size_t index, const fast::memory::BlockedFormat& format);
  void AddOutputAs(const fast::memory::BlockedFormat& format);
  // The same for row-major values with another shape of equal size.
  void AddReshapedQuantizedInput(Role role, size_t index, const fast::memory::ValueQuantization& codes);
  void AddReshapedQuantizedOutput(const fast::memory::ValueQuantization& codes);
  // Passes a constant whose axis order differs from that of the primitive.
  void AddOrderedInput(Role role, size_t index, fast::memory::AxisOrder order);
  // Adds the output in the given format, or in the one that the primitive has chosen.
  void AddOutput(const fast::memory::BlockedFormat& format);
  void AddOutput() { AddOutput(primitive_->format({Role::kResult})); }
  // Adds an f32 output with another row-major shape of equal size in the primitive.
  void AddReshapedOutput(const fast::memory::BlockedFormat& format);
  // Adds a scalar operand owned by the kernel.
  void AddNumber(Argument argument, float number, const fast::memory::BlockedFormat& format) {
    AddNumbers(argument, number, format);
  }
  // The same for several row-major elements.
  void AddNumbers(Argument argument, llvm::ArrayRef<float> numbers,
                  const fast::memory::BlockedFormat& format);
  // Permits that the output shares memory with input `input`.
  void AllowInPlace(int input) { prepared_.in_place = input; }
  // The primitive accumulates into its output, which must share memory with the input, with `codes` if it is
  // quantized.
  void RequireInPlace(int input, const fast::memory::BlockedFormat& format,
                      const fast::memory::ValueQuantization* codes = nullptr);

  const library::Primitive& primitive() const { return *primitive_; }
  // Returns the kernel. Must be the last call.
  kernels::PreparedKernel Finish();

  // The memory that an argument refers to.
  struct Binding {
    enum class Source : uint8_t { kInput, kOutput, kNumber, kScratch };

    Source source;
    size_t index;
  };

 private:
  void Bind(Argument argument, const fast::memory::BlockedFormat& format, Binding::Source source,
            size_t index);

  const kernels::KernelRequest& request_;
  std::shared_ptr<const library::Primitive> primitive_;
  kernels::PreparedKernel prepared_;
  std::vector<library::Primitive::BoundArgument> arguments_;
  std::vector<Binding> bindings_;
  std::vector<float> numbers_;
};

}  // namespace nnefc::runtime::onednn
