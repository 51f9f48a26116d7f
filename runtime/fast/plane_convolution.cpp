#include "runtime/fast/plane_convolution.h"

#include <algorithm>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/lanes/matrix_transpose.h"
#include "runtime/fast/lanes/plane_tile.h"
#include "runtime/fast/product_steps.h"
#include "runtime/fast/round_up.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

struct PlaneForm {
  bool is_blocked;  // true if the images are nChw16c
  int64_t images, inputs, outputs;
  WindowAxis rows, columns;
  int threads;

  int64_t taps() const { return rows.size * columns.size; }
  int64_t in_pixels() const { return rows.input * columns.input; }
  int64_t in_image() const { return in_pixels() * (is_blocked ? RoundUp(inputs, kBlockColumns) : inputs); }
  // Outputs are summed in groups of equal size; padding outputs have zero weights.
  int64_t groups() const { return DividedUp(outputs, kMostPlanes); }
  int64_t of_group() const { return DividedUp(outputs, groups()); }
};

// The division of an image's pixels into tasks with inputs that fit a core's cache.
struct PlaneGrid {
  int64_t row_parts, column_parts;
  int64_t rows, columns;  // maximum per task
  // The input of a task, including `left` pixels before its own for register alignment.
  int64_t seen_rows, left, seen_columns;

  static PlaneGrid Of(const PlaneForm& form) {
    constexpr int64_t kLeastColumns = 96;
    const int64_t most = 2 * CacheFloats(), beside = form.rows.reach() - 1;
    const int64_t columns = form.columns.output, rows = form.rows.output;
    PlaneGrid grid{};
    const int64_t least = form.inputs * (beside + 1) * (columns + form.columns.reach());
    grid.column_parts =
        std::clamp<int64_t>(DividedUp(least, most), 1, std::max<int64_t>(columns / kLeastColumns, 1));
    grid.columns = DividedUp(columns, grid.column_parts);
    grid.left = RoundUp(form.columns.before, LaneCount());
    const int64_t right = std::max<int64_t>(form.columns.reach() - 1 - form.columns.before, 0);
    grid.seen_columns = grid.left + RoundUp(RoundUp(grid.columns, kBlockColumns) + right, LaneCount());
    const int64_t together = std::clamp<int64_t>(most / (form.inputs * grid.seen_columns) - beside, 1, rows);
    const int64_t wanted = form.threads == 1 ? 1 : kTasksPerThread * form.threads;
    grid.row_parts =
        std::clamp(std::max(DividedUp(rows, together), DividedUp(wanted, form.images * grid.column_parts)),
                   int64_t{1}, rows);
    grid.rows = DividedUp(rows, grid.row_parts);
    grid.seen_rows = grid.rows + beside;
    return grid;
  }
};

class PlaneConvolution final : public Kernel {
 public:
  PlaneConvolution(const PlaneForm& form, ProductSteps steps)
      : form_(form), grid_(PlaneGrid::Of(form)), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:planes"; }
  size_t scratch_bytes() const {
    const int64_t floats = steps_.column_floats(form_.outputs) + form_.threads * MemberFloats();
    return static_cast<size_t>(floats) * sizeof(float);
  }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    const FilterCall call = FilterCall::Of(run, steps_, form_.outputs);
    float* scratch = reinterpret_cast<float*>(run.scratch) + steps_.column_floats(form_.outputs);
    const int64_t parts = grid_.row_parts * grid_.column_parts;
    RunTasks(form_.images * parts, form_.threads, [&](int64_t task, int member) {
      const int64_t row_part = task % parts / grid_.column_parts, column_part = task % grid_.column_parts;
      float* planes = scratch + member * MemberFloats();
      const Part part = {task / parts, Span{0, form_.rows.output}.Part(grid_.row_parts, row_part),
                         Span{0, form_.columns.output}.Part(grid_.column_parts, column_part)};
      Gather(call, part, planes);
      for (int64_t row = part.rows.begin; row < part.rows.end; ++row)
        RunRow(call, part, row, planes, planes + form_.inputs * PlaneFloats());
    });
    return Success();
  }

 private:
  struct Part {
    int64_t image;
    Span rows, columns;
  };

  // An odd number of blocks, because planes at page-sized distances would conflict in caches.
  int64_t PlaneFloats() const {
    return (DividedUp(grid_.seen_rows * grid_.seen_columns, kBlockColumns) | 1) * kBlockColumns;
  }
  int64_t LineFloats() const { return RoundUp(grid_.columns, kBlockColumns); }
  int64_t MemberFloats() const {
    return form_.inputs * PlaneFloats() + form_.groups() * form_.of_group() * LineFloats();
  }

  // Copies the input pixels of a part, zero-padded at the border of the image.
  void Gather(const FilterCall& call, const Part& part, float* planes) const {
    const WindowAxis &rows = form_.rows, &columns = form_.columns;
    const int64_t first_row = SeenBy(rows, part.rows.begin, 0);
    const int64_t first = part.columns.begin - grid_.left;
    const int64_t begin = std::clamp<int64_t>(-first, 0, grid_.seen_columns);
    const int64_t end = std::clamp(columns.input - first, begin, grid_.seen_columns);
    for (int64_t row = 0; row < part.rows.count() + rows.reach() - 1; ++row) {
      float* to = planes + row * grid_.seen_columns;
      const bool is_seen = first_row + row >= 0 && first_row + row < rows.input;
      for (int64_t channel = 0; channel < form_.inputs; ++channel) {
        float* line = to + channel * PlaneFloats();
        std::fill(line, line + (is_seen ? begin : grid_.seen_columns), 0.0f);
        if (is_seen) std::fill(line + end, line + grid_.seen_columns, 0.0f);
      }
      if (is_seen && begin < end)
        CopyPixels(call.in + part.image * form_.in_image(), (first_row + row) * columns.input + first + begin,
                   end - begin, to + begin);
    }
  }

  // Copies pixels of all channels.
  void CopyPixels(const float* image, int64_t pixel, int64_t count, float* to) const {
    const int64_t together = form_.is_blocked ? kBlockColumns : 1;
    for (int64_t channel = 0; channel < form_.inputs; channel += together) {
      const float* from = image + channel * form_.in_pixels() + pixel * together;
      float* line = to + channel * PlaneFloats();
      if (!form_.is_blocked) {
        std::copy_n(from, count, line);
        continue;
      }
      TransposeMatrix({.from = from,
                       .from_stride = kBlockColumns,
                       .to = line,
                       .to_stride = PlaneFloats(),
                       .rows = count,
                       .columns = std::min(kBlockColumns, form_.inputs - channel)});
    }
  }

  void RunRow(const FilterCall& call, const Part& part, int64_t row, const float* planes,
              float* lines) const {
    const int64_t of_group = form_.of_group(), pixels = RoundUp(part.columns.count(), kBlockColumns);
    const int64_t seen = (row - part.rows.begin) * grid_.seen_columns + grid_.left - form_.columns.before;
    const auto offset = [&](int64_t output) {
      return ((part.image * form_.outputs + output) * form_.rows.output + row) * form_.columns.output +
             part.columns.begin;
    };
    for (int64_t output = 0; output < form_.groups() * of_group; ++output) {
      float* line = lines + output * LineFloats();
      const bool is_made = output < form_.outputs;
      const float* bias = is_made ? call.operands.ColumnsOf(steps_.bias(), output) : nullptr;
      std::fill_n(line, pixels, bias == nullptr ? 0.0f : *bias);
      const float* start = is_made ? call.operands.ElementsOf(steps_.start(), offset(output)) : nullptr;
      for (int64_t i = 0; start != nullptr && i < part.columns.count(); ++i) line[i] += start[i];
    }
    for (int64_t group = 0; group < form_.groups(); ++group)
      RunPlaneTile(of_group, {.in = planes + seen,
                              .channels = form_.inputs,
                              .in_channel = PlaneFloats(),
                              .rows = form_.rows.size,
                              .columns = form_.columns.size,
                              .in_row = form_.rows.dilation * grid_.seen_columns,
                              .in_column = form_.columns.dilation,
                              .weights = call.weights + group * form_.inputs * form_.taps() * of_group,
                              .out = lines + group * of_group * LineFloats(),
                              .out_plane = LineFloats(),
                              .pixels = pixels,
                              .limits = steps_.limits()});
    for (int64_t output = 0; output < form_.outputs; ++output) {
      float* line = lines + output * LineFloats();
      // Pixels in place of channels, with no padding at the end.
      steps_.Finish({.out = {line, kBlockColumns, 0},
                     .offset = 0,
                     .column = 0,
                     .rows = pixels / kBlockColumns,
                     .blocks = 1},
                    kBlockColumns, call.operands);
      std::copy_n(line, part.columns.count(), call.out + offset(output));
    }
  }

  PlaneForm form_;
  PlaneGrid grid_;
  ProductSteps steps_;
};

// [outputs, inputs, taps..] in groups of outputs, contiguous per tap.
Layout PlaneFilterLayout(llvm::ArrayRef<int64_t> filter, const PlaneForm& form) {
  dnnl::memory::desc desc = PlainDesc(filter);
  PutOutputsInBlocks(desc, form.of_group());
  return std::make_shared<DnnLayout>(desc);
}

std::optional<PlaneForm> PlaneFormOf(const KernelRequest& request) {
  constexpr int64_t kLeastPixels = 6, kMostPixels = int64_t{1} << 24, kMostOutputs = 12;
  constexpr int64_t kMostInputs = int64_t{1} << 20;
  // All rows between the taps of a window are gathered, and pixels to the left of each row.
  constexpr int64_t kMostRows = 33, kMostBeside = 1024;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (filter.size() > 5 || filter[0] > kMostOutputs || filter[1] > kMostInputs ||
      request.inputs[1].constant == nullptr)
    return std::nullopt;
  const Window window = WindowOfConvolution(request);
  PlaneForm form{.is_blocked = LiesInBlocks(request.inputs[0]),
                 .images = request.inputs[0].shape[0],
                 .inputs = filter[1],
                 .outputs = filter[0],
                 .rows = window[1],
                 .columns = window[2],
                 .threads = CurrentThreads()};
  const WindowAxis& slices = window[0];
  if (SeesPlaces(slices) && SeesPlaces(form.rows) && SeesPlaces(form.columns)) {
    form.columns.input = form.columns.output = slices.input * form.in_pixels();
    form.rows = WindowAxis{};
  } else if (filter.size() == 5) {
    return std::nullopt;
  }
  if (form.rows.stride != 1 || form.columns.stride != 1 || form.columns.output < kLeastPixels)
    return std::nullopt;
  if (form.columns.output > kMostPixels || form.rows.reach() > kMostRows ||
      std::max(form.columns.reach(), form.columns.before) > kMostBeside)
    return std::nullopt;
  return form;
}

}  // namespace

std::optional<PreparedKernel> MakePlaneConvolution(const KernelRequest& request) {
  if (!request.way.empty() || !HasLanes()) return std::nullopt;
  const std::optional<PlaneForm> form = PlaneFormOf(request);
  if (!form) return std::nullopt;
  std::optional<ProductSteps> steps = ProductSteps::Make(request, request.posts, 1);
  if (!steps || steps->takes_operands()) return std::nullopt;
  PreparedKernel prepared =
      PrepareFilterStep(request, *steps, form->outputs, PlaneFilterLayout(request.inputs[1].shape, *form));
  if (!form->is_blocked) prepared.inputs[0] = nullptr;
  prepared.outputs[0] = nullptr;
  for (int input : steps->element_inputs()) prepared.inputs[static_cast<size_t>(input)] = nullptr;
  auto kernel = std::make_shared<PlaneConvolution>(*form, std::move(*steps));
  constexpr size_t kMostScratch = size_t{1} << 24;
  if (kernel->scratch_bytes() > kMostScratch * static_cast<size_t>(form->threads)) return std::nullopt;
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime
