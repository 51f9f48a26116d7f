// The number of iterations of a TensorIterator or Loop, from the partition of its sliced inputs.

#include "compiler/ir/ops/opset/control_flow/iterations.h"

#include "fmt/core.h"

namespace nnefc::ir::ops::opset {

namespace {

constexpr int64_t kFarthest = int64_t{1} << 62;  // sums of two such values fit 64 bits

bool IsFar(int64_t value) {
  return value > kFarthest || value < -kFarthest;
}

int64_t FromFront(int64_t place, int64_t extent) {
  return place < 0 ? extent + 1 + place : place;
}

CutSpan SpanOf(const PartRange& range, int64_t extent) {
  const int64_t start = FromFront(range.start, extent);
  const int64_t end = FromFront(range.end, extent);
  return range.stride < 0 ? CutSpan{end, start} : CutSpan{start, end};
}

}  // namespace

std::optional<int64_t> CountIterations(const PartRange& range, int64_t extent, std::string* reason) {
  const auto fail = [&](std::string why) {
    *reason = std::move(why);
    return std::nullopt;
  };
  if (range.stride == 0) return fail("the stride is 0");
  if (IsFar(range.stride) || IsFar(range.start) || IsFar(range.end) || IsFar(extent)) {
    return fail("start, end, stride or extent is out of range");
  }
  const int64_t part = range.stride < 0 ? -range.stride : range.stride;
  if (range.part_size != part) {
    return fail(fmt::format("the part size is {}; expected {} as the stride", range.part_size, part));
  }
  const CutSpan span = SpanOf(range, extent);
  if (span.first < 0 || span.last > extent || span.first >= span.last) {
    return fail(fmt::format("start {}, end {} and stride {} cut [{}, {}) of an axis of {}", range.start,
                            range.end, range.stride, span.first, span.last, extent));
  }
  const int64_t length = span.last - span.first;
  if (length % part != 0)
    return fail(fmt::format("a length of {} is not a multiple of the stride {}", length, range.stride));
  return length / part;
}

int64_t PartOffset(const PartRange& range, int64_t extent, int64_t iteration) {
  const CutSpan span = SpanOf(range, extent);
  if (range.stride < 0) return span.last - (iteration + 1) * range.part_size;
  return span.first + iteration * range.part_size;
}

std::optional<int64_t> CountIterationsInclusive(const PartRange& range, int64_t extent) {
  if (range.part_size <= 0 || IsFar(range.start) || IsFar(range.end) || IsFar(extent)) return std::nullopt;
  const int64_t start = range.start < 0 ? extent + range.start : range.start;
  const int64_t end = range.end < 0 ? extent + range.end : range.end;
  return ((end > start ? end - start : start - end) + 1) / range.part_size;
}

}  // namespace nnefc::ir::ops::opset
