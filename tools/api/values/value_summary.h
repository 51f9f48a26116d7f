#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::api {

// The number of highest elements shown per row.
inline constexpr int64_t kTopValues = 5;

// Returns the number of rows along the first axis; 1 for tensors with fewer than two axes.
int64_t RowsOf(const TensorValue& value);
// Returns the index text, such as "[3,1]", of element `position` of a row, or of the whole tensor.
std::string IndexInRow(int64_t position, const TensorValue& value);
std::string IndexText(int64_t position, const TensorValue& value);
// Returns the positions of the highest elements of a row in descending order; NaN comes last.
std::vector<int64_t> HighestOfRow(const TensorValue& value, int64_t row, int64_t count);

// The statistics shown for the values of a tensor.
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
// Returns "; top [281] 0.3 [282] 0.2 ..", or one line for each of the first rows.
std::string HighestText(const TensorValue& value);

}  // namespace nnefc::api
