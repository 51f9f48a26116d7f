#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/node_order.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir {

// The 8-bit quantization of a constant filter.
struct FilterQuantization {
  // Scales per output channel: all its elements are multiples of the scale by -128 to 127. Empty if a channel
  // has no such scale.
  std::vector<float> scales = {};
  // The maximum over outputs of the sum of absolute quantized values, plus a bound on rounding errors.
  float max_magnitude = 0;
};

// Times of the steps of images with bf16 multiplication, which are stored in f32 or bf16, on one thread in
// nanoseconds.
struct ImageTimes {
  // Of an operation per element of its result.
  struct Element {
    double in_f32 = 0, in_bf16 = 0;
  };
  // Of a convolution, by the shapes of its data, filter and result.
  double (*product)(const Node& node, llvm::ArrayRef<int64_t> data, llvm::ArrayRef<int64_t> filter,
                    llvm::ArrayRef<int64_t> result, bool in_f32) = nullptr;
  // Of a PReLU with several slopes (steps with f32 images contain it), of functions of two images, of MaxPool
  // and AvgPool, and of Concat.
  Element slope, function, pool, concat;
  // Of a conversion between f32 and bf16, per element.
  double convert = 0;
};

// Times of the steps of a backend on one thread in nanoseconds, estimated from those of typical steps.
struct StepTimes {
  // Of a convolution or matmul, by the shapes of its data, filter and result, in f32 or 8 bits.
  double (*product)(const Node& node, llvm::ArrayRef<int64_t> data, llvm::ArrayRef<int64_t> filter,
                    llvm::ArrayRef<int64_t> result, bool is_quantized) = nullptr;
  // Of a matmul of two tensors, by the shapes of its operands and result. Null if there are no 8-bit kernels.
  double (*tensor_product)(const Node& node, llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right,
                           llvm::ArrayRef<int64_t> result, bool is_quantized) = nullptr;
  // Per element: quantization and dequantization in steps of their own, rounding in the epilogue of an f32
  // step or in a step of its own, and a table lookup of an f32 number.
  double quantize = 0, dequantize = 0;
  double round_in_epilogue = 0, round = 0;
  double lookup = 0;
  // Null: images are always stored in bf16 with bf16 multiplication.
  const ImageTimes* images = nullptr;
  // Per element of quantized images that a depthwise convolution with an f32 filter converts in its step.
  double widen = 0;
  // Per element of a constant image that an 8-bit convolution adds to its results. Nothing if its kernels
  // cannot.
  std::optional<double> add_image = std::nullopt;
};

// The functions and data of a plan that transformations of the target phase use, all optional.
struct PlanFunctions {
  // Computes constants. Null: only shape functions do.
  Evaluator evaluate = nullptr;
  // Infers a node of the graph for the first time in this plan, and returns false after an error of this or
  // an earlier node. Null: the graph is inferred.
  std::function<bool(NodeId)> infer = nullptr;
  // Returns the quantization of the constant filter of a convolution or matmul (input 1). Null: filters are
  // not quantized.
  std::function<FilterQuantization(const Node&, const TensorValue&)> quantize_filter = nullptr;
  // Null: the times of steps are unknown.
  const StepTimes* times = nullptr;
  // The order of the graph.
  NodeOrder* order = nullptr;
};

}  // namespace nnefc::ir
