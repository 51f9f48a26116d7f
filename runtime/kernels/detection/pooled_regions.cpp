// ROIAlignRotated, DeformablePSROIPooling, ExperimentalDetectronROIFeatureExtractor and
// ExperimentalDetectronDetectionOutput.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/ir/ops/opset/detection/proposals.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/detection/floats.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::detection {

namespace {

// An f32 plane with bilinear interpolation. Points more than one element outside are zero; closer ones are
// clamped to the border.
struct SampledPlane {
  const float* data;
  int64_t height, width;

  float At(float y, float x) const {
    if (height == 0 || width == 0) return 0;
    if (!(y >= -1 && x >= -1 && y <= static_cast<float>(height) && x <= static_cast<float>(width))) return 0;
    y = std::clamp(y, 0.0F, static_cast<float>(height - 1));
    x = std::clamp(x, 0.0F, static_cast<float>(width - 1));
    const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
    const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
    const float down = y - static_cast<float>(top), across = x - static_cast<float>(left);
    return (1 - down) * ((1 - across) * data[top * width + left] + across * data[top * width + right]) +
           down * ((1 - across) * data[bottom * width + left] + across * data[bottom * width + right]);
  }
};

// A region whose bins are averages of samples.
struct SampledRegion {
  float left, top, width, height;  // unrotated
  int64_t bins_y, bins_x;
  int64_t samples_y, samples_x;  // samples per bin
  float center_y = 0, center_x = 0, cosine = 1, sine = 0;

  // Returns true for more samples than any realistic input needs.
  bool IsTooLarge() const {
    return static_cast<double>(bins_y * bins_x) * static_cast<double>(samples_y) *
               static_cast<double>(samples_x) >
           1e9;
  }

  // out[bin_y, bin_x] = the mean of the samples.
  template <typename T>
  void Average(const SampledPlane& plane, T* out) const {
    const float bin_height = height / static_cast<float>(bins_y),
                bin_width = width / static_cast<float>(bins_x);
    for (int64_t bin = 0; bin < bins_y * bins_x; ++bin) {
      double sum = 0;
      for (int64_t i = 0; i < samples_y * samples_x; ++i) {
        const float y = top + (static_cast<float>(bin / bins_x) +
                               (static_cast<float>(i / samples_x) + 0.5F) / static_cast<float>(samples_y)) *
                                  bin_height;
        const float x = left + (static_cast<float>(bin % bins_x) +
                                (static_cast<float>(i % samples_x) + 0.5F) / static_cast<float>(samples_x)) *
                                   bin_width;
        sum += plane.At(y * cosine - x * sine + center_y, y * sine + x * cosine + center_x);
      }
      const auto count = static_cast<double>(samples_y * samples_x);
      out[bin] = T(static_cast<ComputeType<T>>(count == 0 ? 0 : sum / count));
    }
  }
};

// Returns the requested number of samples, or one per element of a bin.
int64_t SampleCount(int64_t wanted, float extent, int64_t bins) {
  if (wanted > 0) return wanted;
  const float count = std::ceil(extent / static_cast<float>(bins));
  return count > 0 && count < 1e6F ? static_cast<int64_t>(count) : count > 0 ? int64_t{1000000} : 0;
}

FaultOr<Success> RoiAlignRotated(const ReferenceRun& run) {
  const std::vector<float> data = Floats(run.input(0)), regions = Floats(run.input(1));
  const auto batches = tensor::ElementsAsInts(run.input(2));
  const int64_t channels = run.input(0).extent(1), height = run.input(0).extent(2),
                width = run.input(0).extent(3);
  const auto scale = static_cast<float>(run.node.Double("spatial_scale"));
  const int64_t bins_y = run.node.Int("pooled_h"), bins_x = run.node.Int("pooled_w"),
                wanted = run.node.Int("sampling_ratio");
  for (size_t i = 0; i < batches.size(); ++i) {
    if (batches[i] < 0 || batches[i] >= run.input(0).extent(0))
      return KernelFault("region {} is of batch {}, of {}", i, batches[i], run.input(0).extent(0));
    const float* row = regions.data() + 5 * i;
    const float angle = run.node.Bool("clockwise_mode") ? -row[4] : row[4];
    const float across = row[2] * scale, down = row[3] * scale;
    const SampledRegion region{.left = -across / 2,
                               .top = -down / 2,
                               .width = across,
                               .height = down,
                               .bins_y = bins_y,
                               .bins_x = bins_x,
                               .samples_y = SampleCount(wanted, down, bins_y),
                               .samples_x = SampleCount(wanted, across, bins_x),
                               .center_y = row[1] * scale - 0.5F,
                               .center_x = row[0] * scale - 0.5F,
                               .cosine = std::cos(angle),
                               .sine = std::sin(angle)};
    if (region.IsTooLarge()) return KernelFault("region {} has too many samples", i);
    const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
      tensor::ParallelFor(
          channels, bins_y * bins_x * region.samples_y * region.samples_x * 8, [&](int64_t c) {
            const SampledPlane plane{data.data() + (batches[i] * channels + c) * height * width, height,
                                     width};
            region.Average(plane, run.output().mutable_data<T>() +
                                      (static_cast<int64_t>(i) * channels + c) * bins_y * bins_x);
          });
    });
    if (!known) return UnsupportedType(run);
  }
  return Success();
}

// Returns the pyramid level with regions of about this size, or the number of levels if the region has no
// area.
int64_t LevelOf(const float* region, int64_t levels) {
  const float area = (region[2] - region[0]) * (region[3] - region[1]);
  if (!(area > 0)) return levels;
  const float level = std::floor(std::log2(std::sqrt(area) / 224.0F + 1e-6F) + 2);
  return static_cast<int64_t>(std::clamp(level, 0.0F, static_cast<float>(levels - 1)));
}

FaultOr<Success> FeatureExtractor(const ReferenceRun& run) {
  const std::vector<float> regions = Floats(run.input(0));
  const auto scales = run.node.Ints("pyramid_scales");
  const auto levels = static_cast<int64_t>(scales.size());
  std::vector<std::vector<float>> maps;
  for (size_t i = 1; i < run.num_inputs(); ++i) maps.push_back(Floats(run.input(i)));
  const int64_t bins = run.node.Int("output_size"), wanted = run.node.Int("sampling_ratio");
  const int64_t channels = run.output().extent(1);
  const float offset = run.node.Bool("aligned") ? 0.5F : 0.0F;
  std::memset(run.output().mutable_bytes(), 0, run.output().byte_size());
  for (int64_t i = 0; i < run.output().extent(0); ++i) {
    const float* row = regions.data() + 4 * i;
    const int64_t level = LevelOf(row, levels);
    if (level == levels) continue;
    const auto map = static_cast<size_t>(level);
    const float scale = 1.0F / static_cast<float>(scales[map]);
    SampledRegion region{.left = row[0] * scale - offset,
                         .top = row[1] * scale - offset,
                         .width = std::max((row[2] - row[0]) * scale, 1.0F),
                         .height = std::max((row[3] - row[1]) * scale, 1.0F),
                         .bins_y = bins,
                         .bins_x = bins,
                         .samples_y = 0,
                         .samples_x = 0};
    region.samples_y = SampleCount(wanted, region.height, bins);
    region.samples_x = SampleCount(wanted, region.width, bins);
    if (region.IsTooLarge()) return KernelFault("region {} has too many samples", i);
    const tensor::TensorView& features = run.input(map + 1);
    const int64_t height = features.extent(2), width = features.extent(3);
    const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
      tensor::ParallelFor(channels, bins * bins * region.samples_y * region.samples_x * 8, [&](int64_t c) {
        region.Average(SampledPlane{maps[map].data() + c * height * width, height, width},
                       run.output().mutable_data<T>() + (i * channels + c) * bins * bins);
      });
    });
    if (!known) return UnsupportedType(run);
  }
  if (run.num_outputs() > 1)
    std::memcpy(run.output(1).mutable_bytes(), run.input(0).bytes(), run.input(0).byte_size());
  return Success();
}

// DeformablePSROIPooling-1: each bin of each class reads its own channel of the data, shifted by the offsets.
FaultOr<Success> DeformablePsRoiPooling(const ReferenceRun& run) {
  const tensor::TensorView& data = run.input(0);
  const std::vector<float> numbers = Floats(data), regions = Floats(run.input(1));
  const bool is_moved = run.num_inputs() > 2;
  const std::vector<float> offsets = is_moved ? Floats(run.input(2)) : std::vector<float>();
  const int64_t channels = data.extent(1), height = data.extent(2), width = data.extent(3);
  const int64_t outputs = run.output().extent(1), bins = run.output().extent(2);
  const int64_t samples_x = run.node.Int("spatial_bins_x"), samples_y = run.node.Int("spatial_bins_y");
  const int64_t parts = run.node.Int("part_size"), classes = is_moved ? run.input(2).extent(1) / 2 : 1;
  const auto scale = static_cast<float>(run.node.Double("spatial_scale"));
  const auto spread = static_cast<float>(run.node.Double("trans_std"));
  if (static_cast<double>(samples_x) * static_cast<double>(samples_y) > 1e6)
    return KernelFault("a bin has too many samples");
  for (int64_t region = 0; region < run.output().extent(0); ++region) {
    const float batch = regions[static_cast<size_t>(5 * region)];
    if (!(batch < static_cast<float>(data.extent(0))) || std::isnan(batch))
      return KernelFault("a region is of batch {}, of {}", batch, data.extent(0));
  }
  const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(run.output().extent(0), channels * samples_x * samples_y * 8, [&](int64_t region) {
      const float* row = regions.data() + 5 * region;
      T* out = run.output().mutable_data<T>() + region * channels;
      std::fill_n(out, channels, T());
      if (row[0] < 0) return;
      std::array<float, 2> first, extent;  // along the width, then the height
      for (size_t i = 0; i < 2; ++i) {
        first[i] = std::round(row[i + 1]) * scale - 0.5F;
        extent[i] = std::max((std::round(row[i + 3]) + 1) * scale - 0.5F - first[i], 0.1F);
      }
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t bin_y = c / bins % bins, bin_x = c % bins, output = c / (bins * bins);
        std::array<float, 2> at = {
            first[0] + static_cast<float>(bin_x) * (extent[0] / static_cast<float>(bins)),
            first[1] + static_cast<float>(bin_y) * (extent[1] / static_cast<float>(bins))};
        if (is_moved) {
          const int64_t pair = region * classes + output / (outputs / classes);
          const int64_t part = bin_y * parts / bins * parts + bin_x * parts / bins;
          for (int64_t i = 0; i < 2; ++i)
            at[static_cast<size_t>(i)] +=
                offsets[static_cast<size_t>((2 * pair + i) * parts * parts + part)] * spread *
                extent[static_cast<size_t>(i)];
        }
        const float* plane = numbers.data() + (static_cast<int64_t>(row[0]) * channels + c) * height * width;
        const SampledPlane sampled{plane, height, width};
        double sum = 0;
        int64_t count = 0;
        for (int64_t i = 0; i < samples_y * samples_x; ++i) {
          const float y =
              at[1] + static_cast<float>(i / samples_x) * (extent[1] / static_cast<float>(bins * samples_y));
          const float x =
              at[0] + static_cast<float>(i % samples_x) * (extent[0] / static_cast<float>(bins * samples_x));
          if (!(y >= -0.5F && x >= -0.5F && y <= static_cast<float>(height) - 0.5F &&
                x <= static_cast<float>(width) - 0.5F))
            continue;
          sum += sampled.At(y, x);
          ++count;
        }
        if (count > 0) out[c] = T(static_cast<ComputeType<T>>(sum / static_cast<double>(count)));
      }
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

struct Detection {
  ir::ops::opset::detection::ProposedRegion region;
  int64_t category;
};

// ExperimentalDetectronDetectionOutput-6: moves the regions for each class except the first, the background.
// Keeps the best of each class, then of the image, padded with zeros.
FaultOr<Success> DetectronOutput(const ReferenceRun& run) {
  const std::vector<float> regions = Floats(run.input(0)), deltas = Floats(run.input(1)),
                           scores = Floats(run.input(2));
  const auto weights = run.node.Doubles("deltas_weights");
  const int64_t count = run.input(0).extent(0), classes = run.node.Int("num_classes"),
                most = run.output().extent(0);
  const auto largest = static_cast<float>(run.node.Double("max_delta_log_wh"));
  const auto threshold = static_cast<float>(run.node.Double("score_threshold"));
  std::vector<Detection> detections;
  for (int64_t category = 1; category < classes; ++category) {
    std::vector<ir::ops::opset::detection::ProposedRegion> candidates;
    for (int64_t i = 0; i < count; ++i) {
      const float* box = regions.data() + 4 * i;
      const float* delta = deltas.data() + (i * classes + category) * 4;
      ir::ops::opset::detection::ProposedRegion moved{
          .corners = {}, .score = scores[static_cast<size_t>(i * classes + category)]};
      if (!(moved.score > threshold) || box[2] - box[0] <= 0 || box[3] - box[1] <= 0) continue;
      for (size_t k = 0; k < 2; ++k) {  // along the width, then the height
        const float size = box[k + 2] - box[k] + 1;
        const float center = box[k] + 0.5F * size + delta[k] / static_cast<float>(weights[k]) * size;
        const float half =
            0.5F * std::exp(std::min(delta[k + 2] / static_cast<float>(weights[k + 2]), largest)) * size;
        moved.corners[k] = std::max(0.0F, center - half);
        moved.corners[k + 2] = std::max(0.0F, center + half - 1);
      }
      candidates.push_back(moved);
    }
    const auto kept = ir::ops::opset::detection::KeepBestRegions(
        std::move(candidates), {.candidates = count,
                                .most = run.node.Int("post_nms_count"),
                                .threshold = static_cast<float>(run.node.Double("nms_threshold")),
                                .extent = 1});
    if (!kept) return KernelFault("too many regions compete");
    for (const ir::ops::opset::detection::ProposedRegion& region : *kept)
      detections.push_back({region, category});
  }
  if (static_cast<int64_t>(detections.size()) > most) {
    std::stable_sort(detections.begin(), detections.end(),
                     [](const Detection& a, const Detection& b) { return a.region.score > b.region.score; });
    detections.resize(static_cast<size_t>(most));
  }
  for (size_t i = 0; i < run.num_outputs(); ++i)
    std::memset(run.output(i).mutable_bytes(), 0, run.output(i).byte_size());
  const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
    for (size_t i = 0; i < detections.size(); ++i) {
      const auto store = [](float x) { return T(static_cast<ComputeType<T>>(x)); };
      for (size_t k = 0; k < 4; ++k)
        run.output().mutable_data<T>()[4 * i + k] = store(detections[i].region.corners[k]);
      if (run.num_outputs() > 1)
        run.output(1).mutable_data<int32_t>()[i] = static_cast<int32_t>(detections[i].category);
      if (run.num_outputs() > 2) run.output(2).mutable_data<T>()[i] = store(detections[i].region.score);
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterPooledRegions(KernelRegistry& registry) {
  registry.AddReference({"opset15"}, "ROIAlignRotated", RoiAlignRotated);
  registry.AddReference({"opset1"}, "DeformablePSROIPooling", DeformablePsRoiPooling);
  registry.AddReference({"opset6"}, "ExperimentalDetectronROIFeatureExtractor", FeatureExtractor);
  registry.AddReference({"opset6"}, "ExperimentalDetectronDetectionOutput", DetectronOutput);
}

}  // namespace nnefc::runtime::kernels::detection
