// The epilogue of int8 accumulators.

#include "runtime/fast/int8/int8_epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::runtime::fast::int8 {

using simd::kBlockColumns;

Int8Epilogue::Int8Epilogue(Form form, gemm::Epilogue steps)
    : form_(std::move(form)), steps_(std::move(steps)), activation_(steps_.activation()) {
  const auto padded = static_cast<size_t>(padded_outputs());
  scales_ = form_.folded ? form_.folded->scales : form_.scales;
  scales_.resize(padded);
  if (form_.quantization) {
    form_.quantization->factors.resize(padded);
    form_.quantization->offsets.resize(padded);
  }
  if (!form_.folded) return;
  bias_ = form_.folded->bias;
  bias_.resize(padded);
  constexpr double kMax = 0x1p31;
  bool is_small = true;
  for (size_t i = 0; i < padded; ++i) {
    const double scale = static_cast<double>(scales_[i]), bias = static_cast<double>(bias_[i]);
    is_small = is_small && std::abs(scale) * (kMax + std::abs(bias)) < kMax;
  }
  if (form_.folded->limits) {
    low_ = std::max(low_, form_.folded->limits->first);
    high_ = std::min(high_, form_.folded->limits->second);
  }
  is_limited_ = low_ > 0 || high_ < 255 || !is_small;
}

Int8Epilogue::Call Int8Epilogue::CallOf(const kernels::KernelRun& run, float* scratch) const {
  Call call{.in = reinterpret_cast<const uint8_t*>(run.input(0).bytes()),
            .weights = reinterpret_cast<const int8_t*>(run.input(1).bytes()),
            .out = run.output().mutable_bytes(),
            .operands = steps_.OperandsOf(run, form_.outputs, scratch)};
  if (!is_activated()) return call;
  scratch += steps_.column_floats(form_.outputs);
  const auto count = static_cast<size_t>(padded_outputs());
  const auto take = [&] {
    return llvm::MutableArrayRef<float>(std::exchange(scratch, scratch + count), count);
  };
  const llvm::MutableArrayRef<float> factors = take(), offsets = take();
  llvm::copy(form_.quantization->factors, factors.begin());
  llvm::copy(form_.quantization->offsets, offsets.begin());
  activation_->ComposeAffine(call.operands, factors, offsets);
  call.factors = factors.data();
  call.offsets = offsets.data();
  if (!is_hard_swish()) return call;
  const llvm::MutableArrayRef<float> gate_scales = take(), gate_bias = take(), scales = take(), bias = take();
  const float* given = call.operands.ColumnsOf(steps_.bias(), 0);
  for (size_t i = 0; i < count; ++i) {
    constexpr float kGateScale = 1.0F / 6, kGateBias = 0.5F;
    const float added = given == nullptr ? 0 : given[i];
    gate_scales[i] = kGateScale * scales_[i];
    gate_bias[i] = kGateScale * added + kGateBias;
    scales[i] = factors[i] * scales_[i];
    bias[i] = added == 0 ? 0 : factors[i] * added;  // not NaN for infinite factors
  }
  call.hard_swish = {.gate_scales = gate_scales.data(),
                     .gate_bias = gate_bias.data(),
                     .scales = scales.data(),
                     .bias = bias.data(),
                     .offsets = offsets.data(),
                     .out = reinterpret_cast<uint8_t*>(call.out),
                     .stride = form_.outputs};
  return call;
}

simd::HSwishResults Int8Epilogue::HSwishOf(const TilePosition& at, const Call& call) const {
  return call.hard_swish.From(at.image * form_.pixels + at.pixel, at.tile);
}

void Int8Epilogue::Store(const int32_t* sums, const TilePosition& at, const Call& call) const {
  if (form_.quantization) return StoreQuantized(sums, at, call);
  if (!form_.folded) return StoreNumbers(sums, at, call);
  simd::RequantizedResults results = MakerOf(at, call.out);
  results.sums = sums;
  simd::StoreRequantized(results);
}

simd::RequantizedResults Int8Epilogue::MakerOf(const TilePosition& at, std::byte* out) const {
  const int64_t column = at.tile * kBlockColumns;
  simd::RequantizedResults results{.sums = nullptr,
                                   .pixels = at.pixels,
                                   .channels = std::min(kBlockColumns, form_.outputs - column),
                                   .scales = scales_.data() + column,
                                   .bias = bias_.data() + column,
                                   .low = low_,
                                   .high = high_,
                                   .is_limited = is_limited_,
                                   .out = reinterpret_cast<uint8_t*>(out) + OffsetOf(at),
                                   .stride = form_.outputs};
  if (const std::optional<FoldedRequantization::Sum>& sum = form_.folded->sum) {
    results.has_others = true;
    results.factor = sum->factor;
    results.offset = sum->offset;
    results.other_factor = sum->other_factor;
    results.other_zero = sum->others.zero;
  }
  return results;
}

simd::DequantizedResults Int8Epilogue::NumbersOf(const TilePosition& at, const Call& call) const {
  const int64_t column = at.tile * kBlockColumns, offset = OffsetOf(at);
  return {.sums = nullptr,
          .pixels = at.pixels,
          .scales = scales_.data() + column,
          .bias = call.operands.ColumnsOf(steps_.bias(), column),
          .start = call.operands.ElementsOf(steps_.start(), offset),
          .limits = steps_.limits(),
          .out = reinterpret_cast<float*>(call.out) + offset,
          .stride = form_.is_blocked ? kBlockColumns : form_.outputs,
          .block_stride = form_.is_blocked ? form_.pixels * kBlockColumns : kBlockColumns};
}

void Int8Epilogue::FinishNumbers(const TilePosition& at, int64_t tiles, const Call& call) const {
  const simd::DequantizedResults numbers = NumbersOf(at, call);
  steps_.Finish({.out = {numbers.out, numbers.stride, numbers.block_stride},
                 .offset = OffsetOf(at),
                 .column = at.tile * kBlockColumns,
                 .rows = at.pixels,
                 .blocks = tiles},
                form_.outputs, call.operands);
}

void Int8Epilogue::StoreNumbers(const int32_t* sums, const TilePosition& at, const Call& call) const {
  simd::DequantizedResults numbers = NumbersOf(at, call);
  numbers.sums = sums;
  if (at.tile < direct_tiles()) {
    simd::StoreDequantized(numbers);
    return FinishNumbers(at, 1, call);
  }
  // The last partial columns of a row-major matrix use a temporary block.
  std::array<float, kMaxStoredPixels * kBlockColumns> block;
  float* const out = std::exchange(numbers.out, block.data());
  const int64_t stride = std::exchange(numbers.stride, kBlockColumns);
  const int64_t column = at.tile * kBlockColumns, count = form_.outputs - column;
  simd::StoreDequantized(numbers);
  steps_.Finish({.out = {block.data(), kBlockColumns, 0},
                 .offset = OffsetOf(at),
                 .column = column,
                 .rows = at.pixels,
                 .blocks = 1},
                form_.outputs, call.operands);
  for (int64_t pixel = 0; pixel < at.pixels; ++pixel)
    std::copy_n(block.data() + pixel * kBlockColumns, count, out + pixel * stride);
}

// Post-ops of f32 results run once for all whole tiles, along the rows of operands.
void Int8Epilogue::StoreTiles(const int32_t* sums, int64_t sums_stride, int64_t tiles, TilePosition at,
                              const Call& call) const {
  const bool has_numbers = are_numbers() && !form_.is_blocked;
  const int64_t whole =
      has_numbers ? std::clamp<int64_t>(form_.outputs / kBlockColumns - at.tile, 0, tiles) : 0;
  const simd::DequantizedResults numbers = NumbersOf(at, call);
  for (int64_t tile = 0; tile < whole; ++tile) {
    simd::DequantizedResults moved = numbers.From(0, tile);
    moved.sums = sums + tile * sums_stride;
    simd::StoreDequantized(moved);
  }
  if (whole > 0) FinishNumbers(at, whole, call);
  const int64_t begin = at.tile, end = at.tile + tiles;
  for (at.tile += whole; at.tile < end; ++at.tile) Store(sums + (at.tile - begin) * sums_stride, at, call);
}

void Int8Epilogue::StoreQuantized(const int32_t* sums, const TilePosition& at, const Call& call) const {
  const int64_t column = at.tile * kBlockColumns;
  simd::QuantizedResults results{.pixels = at.pixels,
                                 .channels = std::min(kBlockColumns, form_.outputs - column),
                                 .factors = form_.quantization->factors.data() + column,
                                 .offsets = form_.quantization->offsets.data() + column,
                                 .out = reinterpret_cast<uint8_t*>(call.out) + OffsetOf(at),
                                 .stride = form_.outputs};
  if (!activation_) return StoreBlocks(sums, at, call, results);
  results.factors = call.factors + column;
  results.offsets = call.offsets + column;
  simd::StoreActivatedSums({.sums = sums,
                            .scales = scales_.data() + column,
                            .bias = call.operands.ColumnsOf(steps_.bias(), column),
                            .limits = steps_.limits(),
                            .function = activation_->function,
                            .operand = call.operands.ColumnsOf(activation_->operand, column),
                            .alpha = activation_->alpha,
                            .beta = activation_->beta},
                           results);
}

// Computes f32 results with all post-ops, then quantizes them.
void Int8Epilogue::StoreBlocks(const int32_t* sums, const TilePosition& at, const Call& call,
                               simd::QuantizedResults results) const {
  const int64_t column = at.tile * kBlockColumns;
  std::array<float, kMaxStoredPixels * kBlockColumns> block;
  for (int64_t first = 0; first < at.pixels; first += kMaxStoredPixels) {
    results.pixels = std::min(kMaxStoredPixels, at.pixels - first);
    simd::StoreDequantized({.sums = sums + first * kBlockColumns,
                            .pixels = results.pixels,
                            .scales = scales_.data() + column,
                            .bias = call.operands.ColumnsOf(steps_.bias(), column),
                            .limits = steps_.limits(),
                            .out = block.data(),
                            .stride = kBlockColumns});
    steps_.Finish({.out = {block.data(), kBlockColumns, 0},
                   .offset = 0,
                   .column = column,
                   .rows = results.pixels,
                   .blocks = 1},
                  form_.outputs, call.operands);
    simd::StoreQuantizedBlock(block.data(), results);
    results.out += results.pixels * results.stride;
  }
}

}  // namespace nnefc::runtime::fast::int8
