#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nnefc::ir::ops::opset {

// The partition of an axis into the iterations of a TensorIterator: forward `{0, -1, c, c}`, backward
// `{-1, 0, -c, c}`.
struct PartRange {
  int64_t start = 0;
  int64_t end = -1;
  int64_t stride = 1;
  int64_t part_size = 1;
};

// The sliced range of the axis: half-open [first, last), both counted from the front. A negative `v` of the
// PartRange means `extent + 1 + v`.
struct CutSpan {
  int64_t first = 0;
  int64_t last = 0;
};

// Returns the number of iterations over an axis of that extent, or nothing and the reason: a stride of 0, a
// part size other than |stride|, or a range that is empty, out of bounds or not a multiple of |stride|.
std::optional<int64_t> CountIterations(const PartRange& range, int64_t extent, std::string* reason);
// Returns the offset of the part of an iteration, for a range that CountIterations accepts. The elements
// within a part are always in ascending order.
int64_t PartOffset(const PartRange& range, int64_t extent, int64_t iteration);

// Returns the number of iterations by the rule of OpenVINO's shape inference, where `end` is inclusive and
// the stride is ignored.
std::optional<int64_t> CountIterationsInclusive(const PartRange& range, int64_t extent);

}  // namespace nnefc::ir::ops::opset
