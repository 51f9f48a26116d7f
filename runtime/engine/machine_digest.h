#pragma once

#include "compiler/support/digest.h"

namespace nnefc::runtime {

// What this build of nnefc and of oneDNN and this processor are: what one of them made is not for others.
Digest DigestOfMachine();

}  // namespace nnefc::runtime
