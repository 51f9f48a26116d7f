// Packing of integer weights.

#include "runtime/fast/int8/integer_weights.h"

#include <algorithm>

#include "fmt/core.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::int8 {

using simd::kBlockColumns;

namespace {

class IntegerReorder final : public kernels::Kernel {
 public:
  explicit IntegerReorder(const WeightSizes& sizes) : sizes_(sizes) {}
  std::string implementation() const override { return "nnefc:pairs"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = run.input(0).data<int32_t>();
    std::byte* out = run.output().mutable_bytes();
    sizes_.fit_bytes ? Pack(in, reinterpret_cast<int8_t*>(out)) : Pack(in, reinterpret_cast<int16_t*>(out));
    return Success();
  }

 private:
  template <typename Weight>
  void Pack(const int32_t* in, Weight* out) const {
    const int64_t of_tile = sizes_.numbers_of_tile();
    tensor::ParallelFor(sizes_.tiles(), of_tile, [&](int64_t tile) {
      const int64_t first = tile * kBlockColumns;
      const int64_t outputs = std::min(kBlockColumns, sizes_.outputs - first);
      Weight* to = out + tile * of_tile;
      std::fill_n(to, of_tile, Weight{0});
      for (int64_t tap = 0; tap < sizes_.taps; ++tap) {
        for (int64_t input = 0; input < sizes_.inputs; ++input) {
          const int32_t* from = in + first * sizes_.output_stride + input * sizes_.input_stride + tap;
          Weight* place = to + sizes_.PlaceOf(tap, input);
          for (int64_t i = 0; i < outputs; ++i)
            place[sizes_.together * i] = static_cast<Weight>(from[i * sizes_.output_stride] - sizes_.offset);
        }
      }
      if (sizes_.sums() == 0) return;
      auto* sums = reinterpret_cast<int32_t*>(out + sizes_.numbers()) + first;
      std::fill_n(sums, kBlockColumns, 0);
      for (int64_t i = 0; i < of_tile; ++i) sums[i / simd::kQuad % kBlockColumns] -= to[i];
    });
  }

  WeightSizes sizes_;
};

}  // namespace

std::string IntegerWeights::Key() const {
  return fmt::format("integer weights {} {} {} {} {} {} {} {}", sizes_.outputs, sizes_.inputs, sizes_.taps,
                     sizes_.output_stride, sizes_.input_stride, sizes_.fit_bytes, sizes_.together,
                     sizes_.offset);
}

std::shared_ptr<const kernels::Kernel> MakeIntegerReorder(ElementType type, const tensor::Layout& from,
                                                          const tensor::Layout& to) {
  const auto* weights = dynamic_cast<const IntegerWeights*>(to.get());
  if (weights == nullptr || type != ElementType::kI32 || from != nullptr) return nullptr;
  return std::make_shared<IntegerReorder>(weights->sizes());
}

}  // namespace nnefc::runtime::fast::int8
