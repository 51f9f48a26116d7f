#include "runtime/fast/clamped_part.h"

#include <algorithm>
#include <utility>

#include "runtime/fast/round_up.h"
#include "runtime/fast/window_tiles.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kLine = 64;  // cache line in bytes

int64_t QuadsSeen(const CodedForm& form, int64_t rows) {
  return form.RowsSeenBy(rows) * form.row_numbers() / kQuad;
}
int64_t PixelsSeen(const CodedForm& form, int64_t rows) {
  return form.RowsSeenBy(rows) * form.row_numbers() / form.channels;
}
// Returns the number of residuals beyond which clamped kernels lose their advantage, measured on Zen 3.
int64_t MostRests(const CodedForm& form, int64_t rows) {
  constexpr int64_t kQuadsOfRest = 5;
  return QuadsSeen(form, rows) / kQuadsOfRest;
}

int64_t RestBytes(const CodedForm& form, int64_t rows) {
  return RoundUp((MostRests(form, rows) + 1) * int64_t{sizeof(CodeRest)}, kLine);
}
int64_t BeforeBytes(const CodedForm& form, int64_t rows) {
  return RoundUp((PixelsSeen(form, rows) + 1) * int64_t{sizeof(int32_t)}, kLine);
}
int64_t TermBytes(const CodedForm& form, int64_t rows) {
  const int64_t terms = MostRests(form, rows) * ClampedPart::WindowsOf(form);
  return RoundUp(terms * int64_t{sizeof(RestTerm)}, kLine);
}

}  // namespace

ClampedPart::Scratch::Scratch(const CodedForm& form, int64_t rows, std::byte* from) {
  const auto take = [&](int64_t bytes) { return std::exchange(from, from + bytes); };
  codes = reinterpret_cast<uint8_t*>(take(SeenCodes::Bytes(form, rows)));
  rests = {.above = reinterpret_cast<CodeRest*>(take(RestBytes(form, rows))),
           .below = reinterpret_cast<CodeRest*>(take(RestBytes(form, rows))),
           .most = MostRests(form, rows)};
  before = reinterpret_cast<int32_t*>(take(BeforeBytes(form, rows)));
  terms_above = reinterpret_cast<RestTerm*>(take(TermBytes(form, rows)));
  terms_below = reinterpret_cast<RestTerm*>(take(TermBytes(form, rows)));
}

int64_t ClampedPart::Scratch::Bytes(const CodedForm& form, int64_t rows) {
  return SeenCodes::Bytes(form, rows) + 2 * RestBytes(form, rows) + BeforeBytes(form, rows) +
         2 * TermBytes(form, rows);
}

bool ClampedPart::Fill(const uint8_t* image, int zero) {
  CodeRests& rests = scratch_.rests;
  rests.most = MostRests(form_, rows_.count());
  ClampRows(image, zero);
  if (rests.are_too_many()) return false;
  above_ = FindTerms({rests.above, static_cast<size_t>(rests.above_count)}, scratch_.terms_above);
  below_ = FindTerms({rests.below, static_cast<size_t>(rests.below_count)}, scratch_.terms_below);
  return true;
}

void ClampedPart::ClampRows(const uint8_t* image, int zero) {
  const int base = BaseOf(zero);
  CodeRests& rests = scratch_.rests;
  const auto clamp = [&](const uint8_t* codes, int64_t count, int64_t at) {
    if (rests.are_too_many()) return;
    const CodesToClamp call = {
        .codes = codes, .count = count, .base = base, .out = scratch_.codes + at, .first_quad = at / kQuad};
    ClampCodes(call, rests);
  };
  const SeenCodes seen(form_, rows_, scratch_.codes);
  if (seen.lie_in_image()) return clamp(seen.InImage(image), seen.rows() * form_.row_numbers(), 0);
  seen.TakeRows(image, static_cast<uint8_t>(zero - base), clamp);
}

void ClampedPart::CountBefore(llvm::ArrayRef<CodeRest> rests) const {
  const int64_t pixels = PixelsSeen(form_, rows_.count()), quads = form_.channels / kQuad;
  int64_t pixel = 0;
  for (size_t i = 0; i < rests.size(); ++i) {
    for (; pixel * quads <= rests[i].quad; ++pixel) scratch_.before[pixel] = static_cast<int32_t>(i);
  }
  for (; pixel <= pixels; ++pixel) scratch_.before[pixel] = static_cast<int32_t>(rests.size());
}

// Returns terms in the order of pixels.
llvm::ArrayRef<RestTerm> ClampedPart::FindTerms(llvm::ArrayRef<CodeRest> rests, RestTerm* terms) const {
  if (rests.empty()) return {};
  CountBefore(rests);
  const auto quads = static_cast<int32_t>(form_.channels / kQuad);
  const auto strip_pixels = static_cast<int32_t>(windows_.strip_pixels);
  size_t count = 0;
  for (int32_t pixel = 0; pixel < rows_.count() * form_.columns.output; ++pixel) {
    for (int32_t strip = 0; strip < static_cast<int32_t>(windows_.strips.size()); ++strip) {
      const int32_t first =
          windows_.seen[static_cast<size_t>(pixel)] + windows_.strips[static_cast<size_t>(strip)];
      const int32_t end = scratch_.before[first + strip_pixels];
      for (int32_t i = scratch_.before[first]; i < end; ++i) {
        const CodeRest& rest = rests[static_cast<size_t>(i)];
        const int32_t quad = (strip * strip_pixels - first) * quads + rest.quad;
        terms[count++] = {pixel, quad * static_cast<int32_t>(kQuadWeights), rest.bytes};
      }
    }
  }
  return {terms, count};
}

void ClampedPart::AddRestsTo(const Span& pixels, RestProducts products) const {
  for (const bool is_above : {true, false}) {
    const llvm::ArrayRef<RestTerm> terms = is_above ? above_ : below_;
    const auto before = [](const RestTerm& term, int64_t pixel) { return term.pixel < pixel; };
    const RestTerm* begin = std::lower_bound(terms.begin(), terms.end(), pixels.begin, before);
    const RestTerm* end = std::lower_bound(begin, terms.end(), pixels.end, before);
    products.terms = begin;
    products.count = end - begin;
    products.is_above = is_above;
    if (begin < end) AddRests(products);
  }
}

}  // namespace nnefc::runtime
