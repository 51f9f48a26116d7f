#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::cli {

// How many of the highest elements of a row are told.
inline constexpr int64_t kTopValues = 5;

// The rows of a tensor lie along its first axis; one of fewer than two axes is a row.
int64_t RowsOf(const TensorValue& value);
// "[3,1]" of element `position` of a row, or of the whole tensor.
std::string IndexInRow(int64_t position, const TensorValue& value);
std::string IndexText(int64_t position, const TensorValue& value);
// The places of the highest elements of a row, the highest first; NaN comes last.
std::vector<int64_t> HighestOfRow(const TensorValue& value, int64_t row, int64_t count);

// What is told of the values of a tensor.
struct ValueSummary {
  int64_t count = 0;
  double lowest = 0;
  double mean = 0;
  double highest = 0;
  int64_t not_finite = 0;
};
ValueSummary Summarize(const TensorValue& value);
// "min -0.1, mean 0.2, max 3"
std::string ToText(const ValueSummary& summary);
// "; top [281] 0.3 [282] 0.2 ..", or a line for each of the first rows.
std::string HighestText(const TensorValue& value);

}  // namespace nnefc::cli
