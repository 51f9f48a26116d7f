// Correction of the sums of saturating int8 microkernels.

#include "runtime/fast/int8/saturation_correction.h"

#include <algorithm>
#include <utility>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using simd::ResidualTerm;

namespace {

constexpr int64_t kLine = 64;  // cache line in bytes

int64_t ReceptiveQuads(const Int8ConvolutionShape& form, int64_t rows) {
  return form.InputRowsFor(rows) * form.row_numbers() / simd::kQuad;
}
int64_t ReceptivePixels(const Int8ConvolutionShape& form, int64_t rows) {
  return form.InputRowsFor(rows) * form.row_numbers() / form.channels;
}
// Returns the number of residuals beyond which clamped kernels lose their advantage, measured on Zen 3.
int64_t MaxResiduals(const Int8ConvolutionShape& form, int64_t rows) {
  constexpr int64_t kQuadsOfRest = 5;
  return ReceptiveQuads(form, rows) / kQuadsOfRest;
}

int64_t RestBytes(const Int8ConvolutionShape& form, int64_t rows) {
  return tensor::RoundUp((MaxResiduals(form, rows) + 1) * int64_t{sizeof(simd::Residual)}, kLine);
}
int64_t BeforeBytes(const Int8ConvolutionShape& form, int64_t rows) {
  return tensor::RoundUp((ReceptivePixels(form, rows) + 1) * int64_t{sizeof(int32_t)}, kLine);
}
int64_t TermBytes(const Int8ConvolutionShape& form, int64_t rows) {
  const int64_t terms = MaxResiduals(form, rows) * SaturationCorrection::WindowsOf(form);
  return tensor::RoundUp(terms * int64_t{sizeof(ResidualTerm)}, kLine);
}

}  // namespace

SaturationCorrection::Scratch::Scratch(const Int8ConvolutionShape& form, int64_t rows, std::byte* from) {
  const auto take = [&](int64_t bytes) { return std::exchange(from, from + bytes); };
  codes = reinterpret_cast<uint8_t*>(take(Im2colBuffer::Bytes(form, rows)));
  rests = {.above = reinterpret_cast<simd::Residual*>(take(RestBytes(form, rows))),
           .below = reinterpret_cast<simd::Residual*>(take(RestBytes(form, rows))),
           .most = MaxResiduals(form, rows)};
  before = reinterpret_cast<int32_t*>(take(BeforeBytes(form, rows)));
  terms_above = reinterpret_cast<ResidualTerm*>(take(TermBytes(form, rows)));
  terms_below = reinterpret_cast<ResidualTerm*>(take(TermBytes(form, rows)));
}

int64_t SaturationCorrection::Scratch::Bytes(const Int8ConvolutionShape& form, int64_t rows) {
  return Im2colBuffer::Bytes(form, rows) + 2 * RestBytes(form, rows) + BeforeBytes(form, rows) +
         2 * TermBytes(form, rows);
}

bool SaturationCorrection::Fill(const uint8_t* image, int zero) {
  simd::Residuals& rests = scratch_.rests;
  rests.most = MaxResiduals(form_, rows_.count());
  ClampRows(image, zero);
  if (rests.are_too_many()) return false;
  above_ = FindTerms({rests.above, static_cast<size_t>(rests.above_count)}, scratch_.terms_above);
  below_ = FindTerms({rests.below, static_cast<size_t>(rests.below_count)}, scratch_.terms_below);
  return true;
}

void SaturationCorrection::ClampRows(const uint8_t* image, int zero) {
  const int base = BaseOf(zero);
  simd::Residuals& rests = scratch_.rests;
  const auto clamp = [&](const uint8_t* codes, int64_t count, int64_t at) {
    if (rests.are_too_many()) return;
    const simd::ValuesToClamp call = {.codes = codes,
                                      .count = count,
                                      .base = base,
                                      .out = scratch_.codes + at,
                                      .first_quad = at / simd::kQuad};
    simd::ClampValues(call, rests);
  };
  const Im2colBuffer seen(form_, rows_, scratch_.codes);
  if (seen.lie_in_image()) return clamp(seen.InImage(image), seen.rows() * form_.row_numbers(), 0);
  seen.TakeRows(image, static_cast<uint8_t>(zero - base), clamp);
}

void SaturationCorrection::CountBefore(llvm::ArrayRef<simd::Residual> rests) const {
  const int64_t pixels = ReceptivePixels(form_, rows_.count()), quads = form_.channels / simd::kQuad;
  int64_t pixel = 0;
  for (size_t i = 0; i < rests.size(); ++i) {
    for (; pixel * quads <= rests[i].quad; ++pixel) scratch_.before[pixel] = static_cast<int32_t>(i);
  }
  for (; pixel <= pixels; ++pixel) scratch_.before[pixel] = static_cast<int32_t>(rests.size());
}

// Returns terms in the order of pixels.
llvm::ArrayRef<ResidualTerm> SaturationCorrection::FindTerms(llvm::ArrayRef<simd::Residual> rests,
                                                             ResidualTerm* terms) const {
  if (rests.empty()) return {};
  CountBefore(rests);
  const auto quads = static_cast<int32_t>(form_.channels / simd::kQuad);
  const auto strip_pixels = static_cast<int32_t>(windows_.strip_pixels);
  size_t count = 0;
  for (int32_t pixel = 0; pixel < rows_.count() * form_.columns.output; ++pixel) {
    for (int32_t strip = 0; strip < static_cast<int32_t>(windows_.strips.size()); ++strip) {
      const int32_t first =
          windows_.seen[static_cast<size_t>(pixel)] + windows_.strips[static_cast<size_t>(strip)];
      const int32_t end = scratch_.before[first + strip_pixels];
      for (int32_t i = scratch_.before[first]; i < end; ++i) {
        const simd::Residual& rest = rests[static_cast<size_t>(i)];
        const int32_t quad = (strip * strip_pixels - first) * quads + rest.quad;
        terms[count++] = {pixel, quad * static_cast<int32_t>(simd::kQuadWeights), rest.bytes};
      }
    }
  }
  return {terms, count};
}

void SaturationCorrection::AddResidualsTo(const simd::IndexRange& pixels,
                                          simd::ResidualProducts products) const {
  for (const bool is_above : {true, false}) {
    const llvm::ArrayRef<ResidualTerm> terms = is_above ? above_ : below_;
    const auto before = [](const ResidualTerm& term, int64_t pixel) { return term.pixel < pixel; };
    const ResidualTerm* begin = std::lower_bound(terms.begin(), terms.end(), pixels.begin, before);
    const ResidualTerm* end = std::lower_bound(begin, terms.end(), pixels.end, before);
    products.terms = begin;
    products.count = end - begin;
    products.is_above = is_above;
    if (begin < end) simd::AddResiduals(products);
  }
}

}  // namespace nnefc::runtime::fast::int8
