// The form of a Winograd convolution: its axes, the places of its taps and of its results.
#pragma once

#include "runtime/fast/conv/winograd/winograd_grid.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast::conv {

// One phase of a dilated axis: taps `dilation` pixels apart form a separate image from every such pixel.
// Describes one axis of it, for the results starting at `first` at a distance of `dilation`.
struct WinogradPhase {
  int64_t pixels;
  int64_t first_pixel;  // in the image
  int64_t seen_first;   // first input of the first result, in pixels of this phase; negative in the border

  static WinogradPhase Of(const kernels::WindowAxis& axis, int64_t first);
};

// The distances between the pixels of an image, of its result, and between the taps along an axis.
struct AxisSteps {
  int64_t input = 1, output = 1, tap = 1;
};

// An axis of the results. A transposed convolution of stride S is S convolutions of the same image, called
// result phases. Phase p has every S-th tap; its result i is at S i + p + shift, and does not exist if this
// is negative.
struct WinogradResults {
  int64_t extent;
  int64_t stride = 1, shift = 0;
};

// The filters of the outputs of a phase, in floats: the first tap, and as of simd::FilterTiles.
struct WinogradTaps {
  int64_t first, row, column;
};

// Slices of a volume are images: each adds the products of its inputs for all taps along that axis, as
// additional input channels, ordered by tap. Lines of taps are along the columns. If the filter has one
// column, rows and columns of the image are exchanged. The axes have the taps and the results of one phase of
// a transposed convolution.
struct WinogradForm {
  int64_t images, inputs, outputs;
  kernels::WindowAxis slices, rows, columns;
  WinogradResults row_results, column_results;
  AxisSteps row_steps, column_steps;
  int threads;
  bool is_transposed = false;

  bool has_lines() const { return rows.size == 1; }
  int64_t taps() const { return rows.size * columns.size; }
  int64_t taps_of_all() const { return taps() * result_phases(); }
  // Per tile: rows of products, all products, and results along each axis.
  int64_t product_rows() const { return has_lines() ? 1 : simd::kWinogradExtent; }
  int64_t products() const { return product_rows() * simd::kWinogradExtent; }
  int64_t tile_rows() const { return has_lines() ? 1 : tile_columns(); }
  int64_t tile_columns() const { return simd::WinogradResultsOf(columns.size); }

  int64_t terms() const { return slices.size * inputs; }
  int64_t input_blocks() const { return tensor::CeilDivide(inputs, simd::kBlockColumns); }
  int64_t term_blocks() const { return slices.size * input_blocks(); }
  int64_t output_blocks() const { return tensor::CeilDivide(outputs, simd::kBlockColumns); }
  // Tiles of outputs: those of each phase of a transposed convolution.
  int64_t phase_tiles() const { return tensor::CeilDivide(outputs, simd::kTileColumns); }
  int64_t output_tiles() const { return result_phases() * phase_tiles(); }
  int64_t result_phases() const { return row_results.stride * column_results.stride; }
  WinogradTaps TapsOf(int64_t result_phase) const;

  int64_t phases() const { return rows.dilation * columns.dilation; }
  // One image per slice and phase.
  WinogradGrid grid() const;
  WinogradPhase RowPhase(int64_t phase) const { return WinogradPhase::Of(rows, phase / columns.dilation); }
  WinogradPhase ColumnPhase(int64_t phase) const {
    return WinogradPhase::Of(columns, phase % columns.dilation);
  }
  int64_t tiles() const { return grid().tiles(); }
  int64_t in_slice() const { return rows.input * columns.input * simd::kBlockColumns; }
  int64_t out_slice() const { return row_results.extent * column_results.extent * simd::kBlockColumns; }
};

// Describes a convolution of stride 1 with a square or a line of taps, with one slice or several, in channel
// blocks.
kernels::OrReason<WinogradForm> WinogradFormOf(const kernels::KernelRequest& request);
// Describes a transposed convolution of images whose filter has such taps for each phase.
kernels::OrReason<WinogradForm> TransposedWinogradFormOf(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
