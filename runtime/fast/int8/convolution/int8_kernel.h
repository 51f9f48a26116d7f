// The base of kernels of int8 convolutions.
#pragma once

#include <utility>
#include <vector>

#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::int8 {

// Base class of kernels that compute parts of images, on quantized values or those widened to `Number`.
template <typename Number>
class Int8Kernel : public kernels::Kernel {
 public:
  // `limits` are those of Int8Grid::Of, for results of `channels` channels at a time.
  Int8Kernel(const Int8ConvolutionShape& form, Int8Epilogue results, Int8Grid::Limits limits,
             int64_t channels)
      : form_(form),
        grid_(Int8Grid::Of(form, WithResults(limits, channels * results.element_bytes()))),
        seen_(grid_.FirstTapOffsets(form)),
        results_(std::move(results)) {}

  size_t scratch_bytes() const {
    return static_cast<size_t>(results_.scratch_floats()) * sizeof(float) +
           static_cast<size_t>(form_.threads * ThreadBytes() + weight_bytes());
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    auto* columns = reinterpret_cast<float*>(run.scratch);
    auto* members = reinterpret_cast<std::byte*>(columns + results_.scratch_floats());
    Call call = results_.CallOf(run, columns);
    call.weights =
        WeightsOf(call.weights, reinterpret_cast<int8_t*>(members + form_.threads * ThreadBytes()));
    tensor::RunTasks(grid_.Tasks(form_), form_.threads, [&](int64_t task, int member) {
      const Int8Grid::Part part = grid_.PartOf(form_, tiles(), task);
      std::byte* own = members + member * ThreadBytes();
      RunPart(call, WidenedPart<Number>(form_, part.rows, reinterpret_cast<Number*>(own)), part.image,
              part.tiles, own + PartBytes());
    });
    return Success();
  }

 protected:
  using Call = Int8Epilogue::Call;
  const uint8_t* ImageOf(const Call& call, int64_t image) const { return call.in + image * form_.in_size(); }
  // Returns the weights in the microkernel's layout: the given ones, or a copy in scratch memory.
  virtual const int8_t* WeightsOf(const int8_t* given, int8_t*) const { return given; }
  virtual int64_t weight_bytes() const { return 0; }
  // Returns whether WidenedPart::Fill is required, which needs memory.
  virtual bool fills_parts() const { return true; }
  // Returns the additional bytes per thread.
  virtual int64_t own_bytes() const { return 0; }
  // Computes all pixels of a part for a span of output tiles.
  virtual void RunPart(const Call& call, const WidenedPart<Number>& part, int64_t image,
                       const simd::IndexRange& tiles, std::byte* own) const = 0;

  const Int8ConvolutionShape& form() const { return form_; }
  const Int8Grid& grid() const { return grid_; }
  const Int8Epilogue& results() const { return results_; }
  // Returns offsets of a part's pixels starting at `pixel`: see Int8Grid::InputPosition.
  const int32_t* FirstTapsFrom(int64_t pixel) const { return seen_.data() + pixel; }
  int64_t tiles() const { return tensor::CeilDivide(form_.outputs, simd::kBlockColumns); }

 private:
  static Int8Grid::Limits WithResults(Int8Grid::Limits limits, int64_t bytes) {
    limits.result_bytes = bytes;
    return limits;
  }
  // Rounded to cache lines like ThreadValues.
  int64_t PartBytes() const {
    return !fills_parts() ? 0 : grid_.ThreadValues(form_) * int64_t{sizeof(Number)};
  }
  int64_t ThreadBytes() const { return PartBytes() + own_bytes(); }

  Int8ConvolutionShape form_;
  Int8Grid grid_;
  std::vector<int32_t> seen_;
  Int8Epilogue results_;
};

}  // namespace nnefc::runtime::fast::int8
