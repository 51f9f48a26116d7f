#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nnefc::ir {

// How an axis is cut into the parts of the iterations of a TensorIterator:
// forward `{0, -1, c, c}`, backward `{-1, 0, -c, c}`.
struct PartRange {
  int64_t start = 0;
  int64_t end = -1;
  int64_t stride = 1;
  int64_t part_size = 1;
};

// The part of the axis that is cut: half-open [first, last), both counted from
// the front. A negative `v` of the range stands for `extent + 1 + v`.
struct CutSpan {
  int64_t first = 0;
  int64_t last = 0;
};

// The number of iterations over an axis of that extent, or nothing and the
// reason: a stride of 0, a part size other than |stride|, a span that is empty,
// outside of the axis or no multiple of |stride|.
std::optional<int64_t> CountIterations(const PartRange& range, int64_t extent, std::string* reason);
// Where the part of iteration k begins; for a range that CountIterations
// accepts. The elements within a part always ascend.
int64_t PartOffset(const PartRange& range, int64_t extent, int64_t iteration);

// The number of iterations by the rule of OpenVINO's shape inference, which
// takes `end` as inclusive and knows no stride.
std::optional<int64_t> CountIterationsInclusive(const PartRange& range, int64_t extent);

}  // namespace nnefc::ir
