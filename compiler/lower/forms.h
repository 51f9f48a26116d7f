#pragma once

#include <string_view>

namespace nnefc::lower {

// A standard NNEF operation that is not, or not always, lowered to OpenVINO's.
struct MissingForm {
  std::string_view operation;
  std::string_view when;    // empty: always
  std::string_view reason;  // what OpenVINO's operations do instead
};

// Nothing if the operation is always lowered.
const MissingForm* FindMissingForm(std::string_view operation);
// True if the operation has a lowering, if only for some of its arguments.
bool HasLowering(std::string_view operation);

}  // namespace nnefc::lower
