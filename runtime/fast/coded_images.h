// Images of codes of 8 bits as tiles of products want them.
#pragma once

#include <vector>

#include "runtime/fast/lanes/code_tile.h"
#include "runtime/fast/lanes/span.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Images with their channels behind the pixels, and how windows see them. Rows of a matrix are images of one
// column.
struct CodedForm {
  int64_t images, channels, outputs;
  // Numbers of a pixel, zeros behind the last channel; fewer than channels where some are seen at a time.
  int64_t padded_channels;
  WindowAxis rows, columns;
  int zero;  // the code of 0
  int threads;

  // Codes of an image.
  int64_t in_size() const { return rows.input * columns.input * channels; }
  int64_t out_pixels() const { return rows.output * columns.output; }
  // Numbers of a row of the pixels that windows see, borders included.
  int64_t row_numbers() const {
    return ((columns.output - 1) * columns.stride + columns.reach()) * padded_channels;
  }
  // Rows that some rows of the result see.
  int64_t RowsSeenBy(int64_t count) const { return (count - 1) * rows.stride + rows.reach(); }
  // Windows of one pixel see a column of pixels: all of them. Others stay as they are.
  void SeePixelsInColumn();
  // What of a row windows see without columns in the border, in pixels of `row_numbers`.
  Span SeenColumns() const;
};

// What a window sees as numbers that lie behind one another: taps of a row whose pixels do are one strip.
struct CodedStrips {
  std::vector<int32_t> places;  // how far they are from what a pixel sees first
  int64_t pairs;                // of each; of an odd number the last one is half a number of the next pixel

  static CodedStrips Of(const CodedForm& form);
};

// How rows of the results of all images, and tiles of channels, are cut into tasks.
struct CodedGrid {
  int64_t row_parts, tile_parts;  // of an image

  // What a part takes is at most `bytes`.
  struct Limits {
    int64_t bytes;
    size_t number_bytes;       // of what it reads
    int64_t result_bytes = 0;  // of a pixel of its results
    // For threads rows are cut as those of other products are (row_parts.h), where parts of the same rows do
    // little anew.
    bool cuts_rows_first = false;
  };
  static CodedGrid Of(const CodedForm& form, const Limits& limits);
  // Of a thread: of the largest part and one that is read behind it, and a whole line of a cache more, which
  // others do not write to.
  int64_t MemberNumbers(const CodedForm& form) const;
  // Of each pixel of the largest part, how far what it sees first is; of others as many of these.
  std::vector<int32_t> SeenBy(const CodedForm& form) const;
};

// Some rows of an image's result, and what they see as numbers, of 16 bits or floats: codes less their zero.
template <typename Number>
class CodedPart {
 public:
  CodedPart(const CodedForm& form, const Span& rows, Number* numbers)
      : form_(form), rows_(rows), numbers_(numbers) {}

  // With channels from one on.
  void Fill(const uint8_t* image, int64_t channel = 0) const;
  const Span& rows() const { return rows_; }
  int64_t pixels() const { return rows_.count() * form_.columns.output; }
  // Of the image.
  int64_t first_pixel() const { return rows_.begin * form_.columns.output; }
  const Number* numbers() const { return numbers_; }

 private:
  void Widen(CodesAs<Number> codes) const;
  void FillRow(const uint8_t* row, int64_t channels, Number* out) const;

  const CodedForm& form_;
  Span rows_;
  Number* numbers_;
};

}  // namespace nnefc::runtime
