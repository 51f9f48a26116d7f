// Integer Winograd convolution of int8 NHWC images with 3x3 filters, identical to direct convolution
// (lanes/code_winograd_tile.h).
#pragma once

#include "runtime/fast/coded_images.h"
#include "runtime/fast/coded_results.h"
#include "runtime/fast/lanes/code_tile.h"

namespace nnefc::runtime {

class CodedWinograd final : public Kernel {
 public:
  // Returns whether Winograd is exact, and faster than direct convolution. `magnitude`:
  // FilterCodes::most_magnitude.
  static bool Suits(const CodedForm& form, float magnitude);

  CodedWinograd(const CodedForm& form, CodedResults results);

  std::string implementation() const override { return "nnefc:winograd_of_codes"; }
  size_t scratch_bytes() const;
  FaultOr<Success> Run(const KernelRun& run) const override;

 private:
  using Call = CodedResults::Call;
  struct Scratch;

  Span TilesOf(int64_t group) const;
  void TransformTiles(const Call& call, const Span& group, const Span& tiles, int16_t* numbers) const;
  void Multiply(const Call& call, const Span& group, const Span& tiles, int64_t block,
                const Scratch& scratch) const;
  void FindOffsets(NumberTile of_one, int32_t* offsets) const;
  void Finish(const Call& call, const Span& tiles, int64_t block, const Scratch& scratch) const;

  CodedForm form_;
  CodedResults results_;
  int64_t groups_;  // groups of tiles transformed together
};

}  // namespace nnefc::runtime
