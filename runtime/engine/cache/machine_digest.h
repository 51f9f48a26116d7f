#pragma once

#include "compiler/support/files/digest.h"

namespace nnefc::runtime::engine::cache {

// Returns a digest of this build of nnefc, of oneDNN and of the processor. Cached data is valid only for an
// equal digest.
Digest DigestOfMachine();

}  // namespace nnefc::runtime::engine::cache
