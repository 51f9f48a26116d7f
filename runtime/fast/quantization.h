#pragma once

// Numbers as codes of 8 bits: what FakeQuantize and NNEF's linear quantization make stays in
// its codes where what follows takes them.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// How a quantization cuts its input into codes 0 to 255, and the number that each
// stands for.
struct CodeRange {
  // By which formula a number gets its code.
  enum class Formula : uint8_t {
    kFakeQuantize,  // halves to even; NaN has no code and gets 0
    kMinMax,        // R 4.9.5: halves up; NaN gets 255, as clamp says
    kZeroPoint,     // the same, by multiples of the scale
  };
  Formula formula = Formula::kFakeQuantize;
  float low = 0;  // of the input
  float high = 0;
  DnnCodes codes;

  uint8_t CodeOf(float x) const;
};
// Nothing if the node quantizes nothing, or makes numbers that are no multiples of a scale,
// other numbers for each channel, or not 256 of them. `limits`: its inputs behind the first,
// where they are constant.
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<const TensorValue*> limits);
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<ValueInfo> limits);
// Of a node in its graph that keeps the shape of its data, which is known, and makes f32.
std::optional<CodeRange> CodeRangeOf(const ir::Graph& graph, const ir::Node& node);

// A sum of codes and of others, of which there are codes again.
struct SumOfCodes {
  size_t operand = 0;  // which of the request's inputs the others are
  bool has_relu = false;
  CodeRange range;  // of the sum's codes
};

// The request without a quantization at its end whose codes are asked for, and their range; of two, with
// a sum between them, that of the first.
struct CodedRequest {
  explicit CodedRequest(const KernelRequest& given);

  KernelRequest request;
  std::optional<CodeRange> range;
  std::optional<SumOfCodes> sum;

 private:
  void FindSum();
};

// From numbers to codes: code = factor * x + offset, rounded with halves to even as oneDNN does, which gives
// the codes of the range's formula.
struct CodeMap {
  explicit CodeMap(const CodeRange& range);

  float factor, offset;
};

// By channel, what sums of products of codes of 8 bits are multiplied by to be numbers.
std::vector<float> ScalesOfProducts(const DnnCodes& source, llvm::ArrayRef<float> filter_scales);

// What follows such sums up to codes of a result: code = scales * (sum + bias) by channel, between `limits`.
struct FoldedCodes {
  // Codes of the sum of the numbers of codes and of those that lie where the result will: code = factor *
  // code + offset + other_factor * (other - other_zero).
  struct Sum {
    size_t operand;
    float factor, offset;
    float other_factor;
    DnnCodes others;
  };

  std::vector<float> scales;
  std::vector<float> bias;                        // empty: zeros
  std::optional<std::pair<float, float>> limits;  // nothing where those of 8 bits are narrower
  std::optional<Sum> sum;
};
// Nothing where something else than a constant number a channel, then a function with limits follows.
// `request` is without the quantization; numbers are by `channel_axis` of the result.
std::optional<FoldedCodes> FoldCodes(const KernelRequest& request, const CodeRange& range,
                                     llvm::ArrayRef<float> scales_of_products, int64_t channel_axis);
// The sum behind codes of `range`. Nothing where the others are still to be read when it is made, or where
// negative sums are to have another code than 0.
std::optional<FoldedCodes::Sum> FoldSum(const KernelRequest& given, const CodeRange& range,
                                        const SumOfCodes& sum);

}  // namespace nnefc::runtime
