#include "runtime/fast/winograd_filter.h"

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/fast/dots.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kTaps = 3;  // along an axis
constexpr int64_t kLanes = 16;

// G of u = G g G^T (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks) for tiles of
// kAlpha - 2 results. That of 4 is scaled as oneDNN's transforms of images and results expect it.
template <int64_t kAlpha>
using Transform = std::array<std::array<float, kTaps>, kAlpha>;
constexpr Transform<4> kTransformOf2 = {{{1, 0, 0}, {0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}, {0, 0, 1}}};
constexpr Transform<6> kTransformOf4 = {{{1.13777777777778f, 0, 0},
                                         {-0.688403361344538f, -0.430252100840336f, -0.26890756302521f},
                                         {-0.688403361344538f, 0.430252100840336f, -0.26890756302521f},
                                         {0.119514472455649f, 0.179271708683473f, 0.26890756302521f},
                                         {0.119514472455649f, -0.179271708683473f, 0.26890756302521f},
                                         {0, 0, 1}}};

// Where the transformed filter of 16 outputs and an input lies; the outputs lie one behind the other.
struct Order {
  int64_t frequency;             // elements from one of the alpha * alpha to the next
  int64_t outer_output, output;  // from one group of blocks of outputs, and from one block, to the next
  int64_t blocks;                // of outputs in a group
  int64_t outer_input, input;    // from one block of inputs, and from one input, to the next
  int64_t inputs_in_block;

  int64_t Offset(int64_t output_block, int64_t i) const {
    return output_block / blocks * outer_output + output_block % blocks * output +
           i / inputs_in_block * outer_input + i % inputs_in_block * input;
  }
};

// Nothing for other formats: those of codes, or of a later oneDNN.
std::optional<Order> OrderOf(const dnnl_wino_desc_t& desc) {
  if (desc.oc_block != kLanes || desc.adj_scale != 1.0f) return std::nullopt;
  const int64_t inputs = desc.ic, outputs = desc.oc;
  switch (desc.wino_format) {
    case dnnl_wino_wei_aaOio:
      return Order{.frequency = inputs * outputs,
                   .outer_output = inputs * kLanes,
                   .output = 0,
                   .blocks = 1,
                   .outer_input = 0,
                   .input = kLanes,
                   .inputs_in_block = inputs};
    case dnnl_wino_wei_aaOBiOo: {
      const int64_t group = desc.oc2_block * kLanes;
      return Order{.frequency = inputs * outputs,
                   .outer_output = inputs * group,
                   .output = kLanes,
                   .blocks = desc.oc2_block,
                   .outer_input = 0,
                   .input = group,
                   .inputs_in_block = inputs};
    }
    case dnnl_wino_wei_OBaaIBOIio: {
      const int64_t block = int64_t{desc.ic2_block} * desc.ic_block * kLanes;
      return Order{.frequency = inputs * desc.oc2_block * kLanes,
                   .outer_output = int64_t{desc.alpha} * desc.alpha * inputs * desc.oc2_block * kLanes,
                   .output = block,
                   .blocks = desc.oc2_block,
                   .outer_input = block * desc.oc2_block,
                   .input = kLanes,
                   .inputs_in_block = int64_t{desc.ic2_block} * desc.ic_block};
    }
    default:
      return std::nullopt;
  }
}

template <int64_t kAlpha>
class WinogradFilter final : public Kernel {
 public:
  WinogradFilter(const Transform<kAlpha>& transform, const Order& order, const dnnl_wino_desc_t& desc)
      : transform_(transform), order_(order), padded_inputs_(desc.ic), padded_outputs_(desc.oc) {}

  std::string implementation() const override { return "winograd_filter"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const float* filter = run.input(0).data<float>();
    const int64_t outputs = run.input(0).shape()[0], inputs = run.input(0).shape()[1];
    float* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t blocks = padded_outputs_ / kLanes, parts = padded_inputs_ / kLanes;
    ParallelFor(blocks * parts, kLanes * kLanes * kAlpha * kAlpha, [&](int64_t at) {
      const int64_t block = at / parts, first = at % parts * kLanes;
      const Extent extent{.outputs = std::clamp<int64_t>(outputs - block * kLanes, 0, kLanes),
                          .inputs = std::clamp<int64_t>(inputs - first, 0, kLanes)};
      const float* rows = filter + (block * kLanes * inputs + first) * kTaps * kTaps;
      Vectorized([&] {
        const Taps taps = Load(rows, inputs * kTaps * kTaps, extent);
        for (int64_t i = 0; i < kLanes; ++i) Apply(taps[i], out + order_.Offset(block, first + i));
      });
    });
    return Success();
  }

 private:
  using Filter = LaneSums[kTaps * kTaps];
  struct Extent {
    int64_t outputs, inputs;
  };
  struct Taps {
    Filter of_input[kLanes];

    const Filter& operator[](int64_t i) const { return of_input[i]; }
  };

  // The filters of 16 inputs and outputs, a lane for each of these; zeros behind their ends.
  [[gnu::always_inline]] static Taps Load(const float* rows, int64_t stride, const Extent& extent) {
    Taps taps = {};
    auto* lanes = reinterpret_cast<float*>(&taps);
    const int64_t count = extent.inputs * kTaps * kTaps;
    for (int64_t lane = 0; lane < extent.outputs; ++lane) {
      for (int64_t i = 0; i < count; ++i) lanes[i * kLanes + lane] = rows[lane * stride + i];
    }
    return taps;
  }

  [[gnu::always_inline]] void Apply(const Filter& taps, float* out) const {
    LaneSums columns[kAlpha][kTaps];
    for (int64_t u = 0; u < kAlpha; ++u) {
      const std::array<float, kTaps>& g = transform_[static_cast<size_t>(u)];
      for (int64_t x = 0; x < kTaps; ++x)
        columns[u][x] = taps[x] * g[0] + taps[kTaps + x] * g[1] + taps[2 * kTaps + x] * g[2];
    }
    for (int64_t u = 0; u < kAlpha; ++u) {
      for (int64_t v = 0; v < kAlpha; ++v) {
        const std::array<float, kTaps>& g = transform_[static_cast<size_t>(v)];
        *reinterpret_cast<Lanes*>(out + (u * kAlpha + v) * order_.frequency) =
            columns[u][0] * g[0] + columns[u][1] * g[1] + columns[u][2] * g[2];
      }
    }
  }

  Transform<kAlpha> transform_;
  Order order_;
  int64_t padded_inputs_, padded_outputs_;
};

}  // namespace

std::shared_ptr<const Kernel> MakeWinogradFilter(const dnnl::memory::desc& target) {
  const dnnl_memory_desc_t& data = target.data;
  if (data.format_kind != dnnl_format_kind_wino || data.ndims != 4) return nullptr;
  const dnnl_wino_desc_t& desc = data.format_desc.wino_desc;
  const std::optional<Order> order = OrderOf(desc);
  if (!order || desc.r != kTaps || desc.ic % kLanes != 0 || desc.oc % kLanes != 0) return nullptr;
  if (desc.alpha == 6) return std::make_shared<WinogradFilter<6>>(kTransformOf4, *order, desc);
  if (desc.alpha == 4) return std::make_shared<WinogradFilter<4>>(kTransformOf2, *order, desc);
  return nullptr;
}

}  // namespace nnefc::runtime
