// Grouped int8 convolution without VNNI. A range of groups is processed as one dense convolution, with a
// filter that is 0 between different groups.
#pragma once

#include <vector>

#include "runtime/fast/coded_results.h"
#include "runtime/fast/quad_sums.h"

namespace nnefc::runtime {

// The channel counts of a group.
struct CodedGroups {
  int64_t inputs, outputs;

  // The groups per range: as many as fill an output tile, or one with several tiles.
  int64_t groups_of_range() const { return std::max<int64_t>(1, kBlockColumns / outputs); }
  int64_t range_inputs() const { return groups_of_range() * inputs; }
  int64_t range_outputs() const { return groups_of_range() * outputs; }
  // Returns whether tiles are filled enough to be faster than f32.
  bool Suit() const;
};

class CodedGroupConvolution final : public Kernel {
 public:
  // `form` describes all channels.
  static bool Suits(const CodedForm& form, const CodedGroups& groups);
  CodedGroupConvolution(const CodedForm& form, CodedResults results, const CodedGroups& groups);

  std::string implementation() const override { return "nnefc:groups_of_codes"; }
  size_t scratch_bytes() const;
  FaultOr<Success> Run(const KernelRun& run) const override;

 private:
  using Call = CodedResults::Call;
  // The packed weights of a range, as QuadSums expects them.
  struct Weights {
    int8_t* codes;
    int32_t* less;
  };

  int64_t ranges() const;
  int64_t range_tiles() const { return (groups_.range_outputs() + kBlockColumns - 1) / kBlockColumns; }
  int64_t WeightBytes() const;
  int64_t ImageBytes() const;
  int64_t NumberBytes() const;
  int64_t MemberBytes() const;
  void MergeWeights(const Call& call, int64_t range, const Weights& weights) const;
  void CopyImage(const Call& call, int64_t image, int64_t range, uint8_t* codes) const;
  void RunRange(const Call& call, int64_t image, int64_t range, std::byte* own) const;

  CodedForm form_, range_form_;
  CodedGroups groups_;
  CodedGrid grid_;
  QuadSums sums_;
  CodedResults results_;
};

}  // namespace nnefc::runtime
