#include "runtime/fast/coded_pooling.h"

#include <algorithm>

#include "runtime/fast/vector_math.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

class CodedMaxPool final : public Kernel {
 public:
  CodedMaxPool(int64_t images, int64_t channels, const WindowAxis& rows, const WindowAxis& columns)
      : images_(images), channels_(channels), rows_(rows), columns_(columns) {
    for (int64_t i = 0; i < rows.output; ++i) row_taps_.push_back(SeeingTaps(rows, i));
    for (int64_t i = 0; i < columns.output; ++i) column_taps_.push_back(SeeingTaps(columns, i));
  }

  std::string implementation() const override { return "nnefc:pooling_of_codes"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const int64_t of_row = columns_.output * channels_;
    ParallelFor(images_ * rows_.output, of_row * rows_.size * columns_.size, [&](int64_t index) {
      const int64_t image = index / rows_.output;
      RunRow(in + image * rows_.input * columns_.input * channels_, index % rows_.output,
             out + index * of_row);
    });
    return Success();
  }

 private:
  void RunRow(const uint8_t* image, int64_t row, uint8_t* out) const {
    const Span& rows = row_taps_[static_cast<size_t>(row)];
    Vectorized([&] {
      const int64_t channels = channels_;
      for (int64_t column = 0; column < columns_.output; ++column, out += channels) {
        const Span& columns = column_taps_[static_cast<size_t>(column)];
        std::fill_n(out, channels, uint8_t{0});
        for (int64_t y = rows.begin; y < rows.end; ++y) {
          for (int64_t x = columns.begin; x < columns.end; ++x) {
            const int64_t at = (row * rows_.stride - rows_.before + y * rows_.dilation) * columns_.input +
                               column * columns_.stride - columns_.before + x * columns_.dilation;
            const uint8_t* from = image + at * channels;
            for (int64_t i = 0; i < channels; ++i) out[i] = out[i] < from[i] ? from[i] : out[i];
          }
        }
      }
    });
  }

  int64_t images_, channels_;
  WindowAxis rows_, columns_;
  std::vector<Span> row_taps_, column_taps_;
};

}  // namespace

std::optional<PreparedKernel> MakeCodedMaxPool(const KernelRequest& request, const Window& window,
                                               const DnnCodes& codes) {
  const WindowAxis& planes = window[0];
  const Shape& shape = request.inputs[0].shape;
  if (planes.input != 1 || planes.output != 1 || planes.size != 1) return std::nullopt;
  PreparedKernel prepared;
  prepared.kernel = std::make_shared<CodedMaxPool>(shape[0], shape[1], window[1], window[2]);
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = LayoutOfCodes(ChannelsLastDesc(shape, DnnType::f32), codes);
  prepared.outputs.resize(request.outputs.size());
  prepared.outputs[0] = LayoutOfCodes(ChannelsLastDesc(request.outputs[0].shape, DnnType::f32), codes);
  return prepared;
}

}  // namespace nnefc::runtime
