#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/processor_support.h"

namespace nnefc::runtime::fast {

size_t SelectInstructionSet() {
  size_t index = 0;
  for (; index < simd::kInstructionSetCount; ++index) {
    const simd::InstructionSet& set = simd::kInstructionSets[index];
    if (set.is_measured && NamedInstructionLimit() >= set.limit && simd::IsSupported.versions[index]()) break;
  }
  return index;
}

}  // namespace nnefc::runtime::fast
