#pragma once

#include <cstdint>

namespace nnefc::runtime {

enum class Backend : uint8_t {
  kReference,  // portable C++ that reads like the formula
  kOneDnn,     // oneDNN where it has the operation, reference elsewhere
};

}  // namespace nnefc::runtime
