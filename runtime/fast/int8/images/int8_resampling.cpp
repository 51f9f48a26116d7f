// Copies of the pixels of int8 images in NHWC layout: Interpolate of mode `nearest`.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "compiler/ir/ops/windows/resized_axis.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/images/image_requests.h"
#include "runtime/kernels/windows/resized_axes.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;

namespace {

// The input position of each result position.
struct CopiedAxis {
  int64_t input = 1;
  std::vector<int64_t> from = {0};

  int64_t output() const { return static_cast<int64_t>(from.size()); }
};
// Slices, rows, columns.
using CopiedAxes = std::array<CopiedAxis, 3>;

class Int8Nearest final : public kernels::Kernel {
 public:
  Int8Nearest(int64_t images, int64_t channels, CopiedAxes axes)
      : images_(images), channels_(channels), axes_(std::move(axes)) {}

  std::string implementation() const override { return "nnefc:int8_nearest"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const auto& [slices, rows, columns] = axes_;
    const int64_t lines = images_ * slices.output() * rows.output(), bytes = columns.output() * channels_;
    tensor::RunRanges(lines, bytes, [&](int64_t begin, int64_t end) {
      int64_t last = -1;  // input row of the line before
      for (int64_t line = begin; line < end; ++line) {
        const int64_t from = InputRow(line);
        uint8_t* to = out + line * bytes;
        if (from == last) {
          std::copy_n(to - bytes, bytes, to);
        } else {
          CopyRow(in + from * columns.input * channels_, to);
        }
        last = from;
      }
    });
    return Success();
  }

 private:
  static constexpr int64_t kBlock = 16;

  int64_t InputRow(int64_t line) const {
    const auto& [slices, rows, columns] = axes_;
    const int64_t plane = line / rows.output();
    const int64_t slice =
        plane / slices.output() * slices.input + slices.from[static_cast<size_t>(plane % slices.output())];
    return slice * rows.input + rows.from[static_cast<size_t>(line % rows.output())];
  }

  // Copies whole blocks as far as they stay within both rows; the next pixels overwrite the excess.
  void CopyRow(const uint8_t* row, uint8_t* to) const {
    const auto& [slices, rows, columns] = axes_;
    const int64_t overrun = tensor::CeilDivide(kBlock, channels_);  // in pixels
    const int64_t last_read = columns.input - overrun, last_written = columns.output() - overrun;
    for (int64_t i = 0; i < columns.output(); ++i, to += channels_) {
      const int64_t from = columns.from[static_cast<size_t>(i)];
      const uint8_t* pixel = row + from * channels_;
      if (from < last_read && i < last_written) {
        for (int64_t c = 0; c < channels_; c += kBlock) std::memcpy(to + c, pixel + c, kBlock);
      } else {
        std::copy_n(pixel, channels_, to);
      }
    }
  }

  int64_t images_, channels_;
  CopiedAxes axes_;
};

kernels::KernelOrReason MakeNearest(const kernels::KernelRequest& request) {
  const Shape &input = request.inputs[0].shape, &output = request.outputs[0].shape;
  if (ir::ops::HasPads(*request.node)) return Reason("padding of pixels");
  const auto taps =
      kernels::TapsOfInterpolation({*request.node, input, output, [&](size_t index) {
                                      return kernels::NumbersOf(*request.inputs[index].constant);
                                    }});
  if (!taps) return Reason("another mode");
  CopiedAxes axes;
  for (size_t i = 0; i < input.size(); ++i) {
    const std::vector<kernels::Taps>& positions = (*taps)[i];
    if (i < 2 && !positions.empty()) return Reason("other axes than those of the pixels");
    if (i < 2) continue;
    CopiedAxis& axis = axes[3 + i - input.size()];
    axis = {.input = input[i], .from = {}};
    for (int64_t at = 0; positions.empty() && at < input[i]; ++at) axis.from.push_back(at);
    for (const kernels::Taps& position : positions) {
      if (position.size() != 1 || position[0].weight != 1) return Reason("sums of pixels");
      axis.from.push_back(position[0].position);
    }
  }
  return PrepareImages(request, *memory::QuantizationOf(request.inputs[0]),
                       std::make_shared<Int8Nearest>(input[0], input[1], std::move(axes)));
}

constexpr int kNearestCost = 50;
constexpr kernels::Implementation kNearest[] = {
    {"int8", CopiesImages, kernels::FixedCost<kNearestCost>, MakeNearest}};

}  // namespace

void AddNearestPixels(FastTables& tables) {
  tables.Append({"opset4", "opset11"}, "Interpolate", {{"f32", kNearest}});
}

}  // namespace nnefc::runtime::fast::int8
