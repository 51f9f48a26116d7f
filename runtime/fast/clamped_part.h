// What windows see of images of codes, for tiles of clamped codes (lanes/clamped_tile.h).
#pragma once

#include <algorithm>
#include <numeric>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/lanes/clamped_tile.h"
#include "runtime/fast/seen_codes.h"

namespace nnefc::runtime {

// Of some rows of an image's result the codes that they see, clamped, and what is left of those beyond. A
// pixel has whole fours of channels and no zeros behind them.
class ClampedPart {
 public:
  // The base for codes around a zero: as few as may be are below, or two together kMostOfTwo above it, if
  // their deviation is two ninths of what they may differ from a zero in the middle.
  static int BaseOf(int zero) {
    constexpr int kBelowZero = 76;
    return std::max(zero - kBelowZero, 0);
  }

  // By so many windows at most each pixel is seen: of the taps of a row, by those that steps of windows lead
  // to.
  static int64_t WindowsOf(const CodedForm& form) {
    const auto windows = [](const WindowAxis& axis) {
      const int64_t between = axis.stride / std::gcd(axis.stride, axis.dilation);
      return (axis.size + between - 1) / between;
    };
    return windows(form.rows) * windows(form.columns);
  }

  // Memory of a part of so many rows or less.
  struct Scratch {
    uint8_t* codes;
    CodeRests rests;
    int32_t* before;  // how many rests there are before each pixel that is seen, and behind the last one
    RestTerm *terms_above, *terms_below;

    Scratch(const CodedForm& form, int64_t rows, std::byte* from);
    static int64_t Bytes(const CodedForm& form, int64_t rows);
  };
  // What windows see: strips of pixels behind one another.
  struct Windows {
    llvm::ArrayRef<int32_t> seen, strips;  // as of CodedGrid and CodedStrips, in pixels
    int64_t strip_pixels;
  };
  ClampedPart(const CodedForm& form, const Windows& windows, const Span& rows, const Scratch& scratch)
      : form_(form), windows_(windows), rows_(rows), scratch_(scratch) {}

  // False if there are so many rests that other tiles are faster.
  bool Fill(const uint8_t* image, int zero);
  const uint8_t* codes() const { return scratch_.codes; }
  // Adds what rests make to sums of some pixels of the result; `products` says all but which rests.
  void AddRestsTo(const Span& pixels, RestProducts products) const;

 private:
  void ClampRows(const uint8_t* image, int zero);
  void CountBefore(llvm::ArrayRef<CodeRest> rests) const;
  llvm::ArrayRef<RestTerm> FindTerms(llvm::ArrayRef<CodeRest> rests, RestTerm* terms) const;

  const CodedForm& form_;
  Windows windows_;
  Span rows_;
  Scratch scratch_;
  llvm::ArrayRef<RestTerm> above_, below_;
};

}  // namespace nnefc::runtime
