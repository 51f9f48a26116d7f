#pragma once

#include <string_view>

namespace nnefc::lower {

// A standard NNEF operation that has no OpenVINO form for some or all arguments.
struct MissingForm {
  std::string_view operation;
  std::string_view when;    // empty: always
  std::string_view reason;  // the difference to OpenVINO's operations
};

// Returns null if the operation is always lowered.
const MissingForm* FindMissingForm(std::string_view operation);
// True if the operation has a lowering for at least some arguments.
bool HasLowering(std::string_view operation);

}  // namespace nnefc::lower
