#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/package/tensors/npy.h"
#include "nlohmann/json.hpp"

namespace nnefc::api {

// The accepted difference of a tensor from its expected value.
struct Tolerance {
  // A bound of max|a-b| / max|b|: "exact" (bit for bit), "close" (1e-6), "approximate" (1e-4) or "very"
  // (1e-2).
  std::string word = "approximate";
  // Instead: |a-b| of each element is at most `absolute` plus `relative` times |b|.
  std::optional<double> absolute;
  std::optional<double> relative;
  // Compares the indices of this number of highest elements in each row.
  std::optional<int64_t> top;
  // False if those indices alone are compared.
  bool bounds_values = true;
};

// The result of comparing a tensor with its expected value.
struct Comparison {
  bool within = false;
  std::string text;  // one or more lines
  nlohmann::ordered_json json;
};

// Compares `actual` with the expected tensor of the same name.
Comparison Compare(const package::NamedTensor& actual, const std::vector<package::NamedTensor>& expected,
                   const Tolerance& tolerance);

}  // namespace nnefc::api
