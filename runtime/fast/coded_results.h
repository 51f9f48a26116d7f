// What becomes of sums of products of codes (lanes/code_tile.h): codes, or numbers and what follows them.
#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/lanes/code_tile.h"
#include "runtime/fast/product_steps.h"
#include "runtime/fast/quantization.h"

namespace nnefc::runtime {

// Where sums lie in a result: pixels of an image that follow one another, from channel `tile` * kBlockColumns
// on.
struct TilePlace {
  int64_t image, pixel, pixels, tile;
};

// As many pixels as are best stored at a time: their sums are in the first cache.
inline constexpr int64_t kMostStoredPixels = 56;

class CodedResults {
 public:
  struct Form {
    int64_t outputs, pixels;    // of an image
    bool is_blocked;            // numbers; row-major otherwise
    std::vector<float> scales;  // of numbers, by output
    std::optional<FoldedCodes> folded;
  };
  CodedResults(Form form, ProductSteps steps);

  int64_t element_bytes() const { return form_.folded ? 1 : int64_t{sizeof(float)}; }
  int64_t scratch_floats() const { return steps_.column_floats(form_.outputs); }
  // What a run gives to a step: codes of images, those of a filter, and what follows their sums.
  struct Call {
    const uint8_t* in;
    const int8_t* weights;
    std::byte* out;
    ProductSteps::Operands operands;
  };
  // `scratch`: scratch_floats() of them.
  Call CallOf(const KernelRun& run, float* scratch) const {
    return {.in = reinterpret_cast<const uint8_t*>(run.input(0).bytes()),
            .weights = reinterpret_cast<const int8_t*>(run.input(1).bytes()),
            .out = run.output().mutable_bytes(),
            .operands = steps_.OperandsOf(run, form_.outputs, scratch)};
  }
  // Whether codes are made, as MakerOf tells, and of sums alone.
  bool makes_codes() const { return form_.folded.has_value(); }
  bool makes_codes_of_sums() const { return makes_codes() && !form_.folded->sum; }
  CodeResults MakerOf(const TilePlace& at, std::byte* out) const;
  // Of kBlockColumns sums for each pixel; of numbers that are row-major, at most kMostStoredPixels.
  void Store(const int32_t* sums, const TilePlace& at, std::byte* out,
             const ProductSteps::Operands& operands) const;

 private:
  void StoreNumbers(const int32_t* sums, const TilePlace& at, float* out,
                    const ProductSteps::Operands& operands) const;

  Form form_;
  ProductSteps steps_;
  std::vector<float> scales_, bias_;
  float low_ = 0, high_ = 255;
  bool is_limited_ = true;
};

}  // namespace nnefc::runtime
