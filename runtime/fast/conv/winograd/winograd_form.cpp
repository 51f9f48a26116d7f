// The forms of Winograd convolutions and transposed convolutions.

#include "runtime/fast/conv/winograd/winograd_form.h"

#include <algorithm>
#include <utility>

#include "runtime/fast/reasons.h"
#include "runtime/kernels/windows/transposed_window.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;
using kernels::WindowAxis;
using simd::kBlockColumns;
using tensor::CeilDivide;

WinogradPhase WinogradPhase::Of(const WindowAxis& axis, int64_t first) {
  const int64_t apart = axis.dilation, seen = first - axis.before;
  const int64_t pixel = (seen % apart + apart) % apart;
  return {.pixels = CeilDivide(axis.input - pixel, apart),
          .first_pixel = pixel,
          .seen_first = (seen - pixel) / apart};
}

// A phase of a transposed convolution has its taps in the opposite order.
WinogradTaps WinogradForm::TapsOf(int64_t result_phase) const {
  const int64_t row = row_steps.tap * simd::kTileColumns, column = column_steps.tap * simd::kTileColumns;
  if (!is_transposed) return {.first = 0, .row = row, .column = column};
  const int64_t row_stride = row_results.stride, column_stride = column_results.stride;
  const int64_t last_row = (rows.size - 1) * row_stride + result_phase / column_stride;
  const int64_t last_column = (columns.size - 1) * column_stride + result_phase % column_stride;
  return {.first = last_row * row + last_column * column,
          .row = -row_stride * row,
          .column = -column_stride * column};
}

WinogradGrid WinogradForm::grid() const {
  WindowAxis of_rows = rows, of_columns = columns;
  of_rows.output = CeilDivide(rows.output, rows.dilation);
  of_columns.output = CeilDivide(columns.output, columns.dilation);
  return WinogradGrid::Of(images * slices.output * phases(), of_rows, of_columns, tile_rows(),
                          tile_columns());
}

namespace {

bool IsLine(int64_t rows, int64_t columns) {
  const int64_t length = std::max(rows, columns);
  return std::min(rows, columns) == 1 && length >= simd::kMinLineTaps && length <= simd::kMaxLineTaps;
}

bool IsSquare(int64_t rows, int64_t columns) {
  return rows == columns && rows >= simd::kMinSquareTaps && rows <= simd::kMaxSquareTaps;
}

// Checks the taps and channels of a convolution or of a phase of a transposed one.
Reason CheckTaps(const WinogradForm& form, const kernels::KernelRequest& request) {
  if (!IsLine(form.rows.size, form.columns.size) && !IsSquare(form.rows.size, form.columns.size))
    return Reason("filter {}x{}", form.rows.size, form.columns.size);
  if (std::min(form.inputs, form.outputs) < kBlockColumns)
    return Reason("{} input and {} output channels, fewer than a block", form.inputs, form.outputs);
  return request.inputs[1].constant == nullptr ? kNeedsConstantFilter : Reason();
}

void PutLineAlongColumns(WinogradForm& form) {
  if (form.columns.size == 1) {
    std::swap(form.rows, form.columns);
    std::swap(form.row_results, form.column_results);
    std::swap(form.row_steps, form.column_steps);
  }
  if (form.has_lines()) form.rows.dilation = 1;  // no effect on a single tap
}

// Returns the axis of the convolutions of the phases of a transposed axis, whose `input` is the result.
// Result y is in phase (y + before) % stride, and its last pixel is (y + before) / stride.
WindowAxis PhaseAxis(const WindowAxis& axis) {
  const int64_t taps = axis.size / axis.stride;
  const int64_t first = axis.before / axis.stride, last = (axis.input - 1 + axis.before) / axis.stride;
  return {.input = axis.output, .output = last - first + 1, .size = taps, .before = taps - 1 - first};
}

WinogradResults ResultsOf(const WindowAxis& axis) {
  return {.extent = axis.input,
          .stride = axis.stride,
          .shift = axis.before / axis.stride * axis.stride - axis.before};
}

}  // namespace

kernels::OrReason<WinogradForm> WinogradFormOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const WindowAxis &rows = window[1], &columns = window[2];
  WinogradForm form = {.images = request.inputs[0].shape[0],
                       .inputs = filter[1],
                       .outputs = filter[0],
                       .slices = window[0],
                       .rows = rows,
                       .columns = columns,
                       .row_results = {.extent = rows.output},
                       .column_results = {.extent = columns.output},
                       .row_steps = {.input = columns.input, .output = columns.output, .tap = columns.size},
                       .column_steps = {},
                       .threads = tensor::CurrentThreads()};
  if (rows.stride != 1 || columns.stride != 1) return Reason("strides {}x{}", rows.stride, columns.stride);
  if (const Reason reason = CheckTaps(form, request); !reason.empty()) return reason;
  // Terms are in blocks, so the channels of a tap must fill them. Tiles with all terms are transformed at a
  // time.
  constexpr int64_t kMaxTerms = 8192;
  const int64_t slices = window[0].size;
  if (slices > 1 && filter[1] % kBlockColumns != 0)
    return Reason("{} channels for several slices, not whole blocks", filter[1]);
  if (slices > 1 && filter[1] > kMaxTerms / slices)
    return Reason("{} channels of {} slices are too many", filter[1], slices);
  PutLineAlongColumns(form);
  return form;
}

kernels::OrReason<WinogradForm> TransposedWinogradFormOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> data = request.inputs[0].shape, filter = request.inputs[1].shape;
  if (data.size() > 4) return Reason("{} spatial axes", static_cast<int64_t>(data.size()) - 2);
  const kernels::Window window = kernels::MakeTransposedWindow(
      *request.node, llvm::ArrayRef<int64_t>(request.outputs[0].shape).drop_front(2), data.drop_front(2),
      filter.drop_front(2));
  const WindowAxis &rows = window[1], &columns = window[2];
  if (rows.dilation != 1 || columns.dilation != 1)
    return Reason("dilations {}x{}", rows.dilation, columns.dilation);
  if (rows.before < 0 || columns.before < 0) return Reason("negative padding");
  if (rows.size % rows.stride != 0 || columns.size % columns.stride != 0)
    return Reason("phases of filter {}x{} have different taps", rows.size, columns.size);
  WinogradForm form = {.images = data[0],
                       .inputs = filter[0],
                       .outputs = filter[1],
                       .slices = {},
                       .rows = PhaseAxis(rows),
                       .columns = PhaseAxis(columns),
                       .row_results = ResultsOf(rows),
                       .column_results = ResultsOf(columns),
                       .row_steps = {.input = columns.output, .output = columns.input, .tap = columns.size},
                       .column_steps = {},
                       .threads = tensor::CurrentThreads(),
                       .is_transposed = true};
  if (const Reason reason = CheckTaps(form, request); !reason.empty()) return reason;
  PutLineAlongColumns(form);
  return form;
}

}  // namespace nnefc::runtime::fast::conv
