// Operations whose output elements are elements of the input, or zero, at
// coordinates that a formula gives.

#include <cstring>
#include <optional>

#include "runtime/kernels/attributes.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/unary.h"

namespace nnefc::runtime {

namespace {

using Coordinates = llvm::SmallVector<int64_t, 6>;

// out[coordinates] = in[source(coordinates)], zero where `source` returns
// false; it changes the coordinates of the output to those of the input.
template <typename Source>
ErrorOr<Success> MapElements(const ReferenceRun& run, const Source& source) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  const size_t width = input.element_bytes();
  ParallelFor(output.volume(), 16, [&](int64_t index) {
    Coordinates at(output.shape().size());
    int64_t rest = index;
    for (size_t axis = at.size(); axis-- > 0;) {
      at[axis] = rest % output.shape()[axis];
      rest /= output.shape()[axis];
    }
    std::byte* to = output.mutable_bytes() + static_cast<size_t>(index) * width;
    if (!source(at)) {
      std::memset(to, 0, width);
      return;
    }
    int64_t offset = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * input.strides()[axis];
    std::memcpy(to, input.bytes() + static_cast<size_t>(offset) * width, width);
  });
  return Success();
}

// out[n, c, y..] = in[n, d, y / b ..], where d counts the place of y in its
// block before (blocks_first) or after the channel.
ErrorOr<Success> DepthToSpace(const ReferenceRun& run) {
  const int64_t block = IntOr(run.node, "block_size", 1);
  const bool blocks_first = StringOr(run.node, "mode", "") == "blocks_first";
  const int64_t channels = run.output().extent(1);
  return MapElements(run, [&](Coordinates& at) {
    int64_t place = 0;
    int64_t places = 1;
    for (size_t axis = 2; axis < at.size(); ++axis) {
      place = place * block + at[axis] % block;
      places *= block;
      at[axis] /= block;
    }
    at[1] = blocks_first ? place * channels + at[1] : at[1] * places + place;
    return true;
  });
}

// The other way round.
ErrorOr<Success> SpaceToDepth(const ReferenceRun& run) {
  const int64_t block = IntOr(run.node, "block_size", 1);
  const bool blocks_first = StringOr(run.node, "mode", "") == "blocks_first";
  const int64_t channels = run.input(0).extent(1);
  return MapElements(run, [&](Coordinates& at) {
    int64_t places = 1;
    for (size_t axis = 2; axis < at.size(); ++axis) places *= block;
    int64_t place = blocks_first ? at[1] / channels : at[1] % places;
    at[1] = blocks_first ? at[1] % channels : at[1] / places;
    for (size_t axis = at.size(); axis-- > 2;) {
      at[axis] = at[axis] * block + place % block;
      place /= block;
    }
    return true;
  });
}

// out[n, y..] = in[(place of y + begin in its block, n), (y + begin) / b ..]
ErrorOr<Success> BatchToSpace(const ReferenceRun& run) {
  const llvm::SmallVector<int64_t, 8> blocks = ElementsAsInts(run.input(1));
  const llvm::SmallVector<int64_t, 8> begin = ElementsAsInts(run.input(2));
  const int64_t batch = run.output().extent(0);
  return MapElements(run, [&](Coordinates& at) {
    int64_t place = 0;
    for (size_t axis = 1; axis < at.size(); ++axis) {
      const int64_t y = at[axis] + begin[axis];
      place = place * blocks[axis] + y % blocks[axis];
      at[axis] = y / blocks[axis];
    }
    at[0] = place * batch + at[0];
    return true;
  });
}

// The other way round; what lies in the padding is zero.
ErrorOr<Success> SpaceToBatch(const ReferenceRun& run) {
  const llvm::SmallVector<int64_t, 8> blocks = ElementsAsInts(run.input(1));
  const llvm::SmallVector<int64_t, 8> begin = ElementsAsInts(run.input(2));
  const TensorView& input = run.input(0);
  return MapElements(run, [&](Coordinates& at) {
    int64_t place = input.extent(0) == 0 ? 0 : at[0] / input.extent(0);
    at[0] %= input.extent(0);
    bool inside = true;
    for (size_t axis = at.size(); axis-- > 1;) {
      at[axis] = at[axis] * blocks[axis] + place % blocks[axis] - begin[axis];
      place /= blocks[axis];
      inside &= at[axis] >= 0 && at[axis] < input.shape()[axis];
    }
    return inside;
  });
}

// The axis seen as [group, members] is transposed.
ErrorOr<Success> ShuffleChannels(const ReferenceRun& run) {
  const auto axis = static_cast<size_t>(NormalAxis(IntOr(run.node, "axis", 1), run.output().rank()));
  const int64_t group = IntOr(run.node, "group", 1);
  const int64_t members = run.output().shape()[axis] / group;
  return MapElements(run, [&](Coordinates& at) {
    at[axis] = at[axis] % group * members + at[axis] / group;
    return true;
  });
}

// The first seq_lengths[n] elements of each sequence are reversed.
ErrorOr<Success> ReverseSequence(const ReferenceRun& run) {
  const auto batch = static_cast<size_t>(NormalAxis(IntOr(run.node, "batch_axis", 0), run.output().rank()));
  const auto axis = static_cast<size_t>(NormalAxis(IntOr(run.node, "seq_axis", 1), run.output().rank()));
  const llvm::SmallVector<int64_t, 8> lengths = ElementsAsInts(run.input(1));
  for (int64_t length : lengths) {
    if (length < 0 || length > run.output().shape()[axis]) {
      return KernelError("a sequence of length {} does not fit the extent {}", length,
                         run.output().shape()[axis]);
    }
  }
  return MapElements(run, [&](Coordinates& at) {
    const int64_t length = lengths[static_cast<size_t>(at[batch])];
    if (at[axis] < length) at[axis] = length - 1 - at[axis];
    return true;
  });
}

ErrorOr<Success> Reverse(const ReferenceRun& run) {
  const MutableTensorView& output = run.output();
  std::vector<bool> reversed(output.shape().size(), false);
  const llvm::SmallVector<int64_t, 8> given = ElementsAsInts(run.input(1));
  const bool by_mask = StringOr(run.node, "mode", "index") == "mask";
  for (size_t i = 0; i < given.size(); ++i) {
    if (by_mask) {
      if (i < reversed.size()) reversed[i] = given[i] != 0;
    } else if (given[i] >= -output.rank() && given[i] < output.rank()) {
      reversed[static_cast<size_t>(NormalAxis(given[i], output.rank()))] = true;
    }
  }
  return MapElements(run, [&](Coordinates& at) {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      if (reversed[axis]) at[axis] = output.shape()[axis] - 1 - at[axis];
    }
    return true;
  });
}

// out[(i + shift) mod extent] = in[i]; shifts of one axis add up.
ErrorOr<Success> Roll(const ReferenceRun& run) {
  const MutableTensorView& output = run.output();
  const llvm::SmallVector<int64_t, 8> given = ElementsAsInts(run.input(1));
  const llvm::SmallVector<int64_t, 8> axes = ElementsAsInts(run.input(2));
  if (given.size() != 1 && given.size() != axes.size())
    return KernelError("{} shifts for {} axes", given.size(), axes.size());
  std::vector<int64_t> shifts(output.shape().size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -output.rank() || axes[i] >= output.rank()) return KernelError("axis {}", axes[i]);
    const auto axis = static_cast<size_t>(NormalAxis(axes[i], output.rank()));
    const int64_t extent = output.shape()[axis];
    if (extent > 0) shifts[axis] = (shifts[axis] + given[given.size() == 1 ? 0 : i] % extent) % extent;
  }
  return MapElements(run, [&](Coordinates& at) {
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t extent = output.shape()[axis];
      at[axis] = (at[axis] - shifts[axis] + extent) % extent;
    }
    return true;
  });
}

// out[n, (row, column, c), y, x] = in[n, c, y * stride + row * rate - pad, ..]
ErrorOr<Success> ExtractImagePatches(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const std::vector<int64_t> sizes = IntsOr(run.node, "sizes", 2, 1);
  const std::vector<int64_t> strides = IntsOr(run.node, "strides", 2, 1);
  const std::vector<int64_t> rates = IntsOr(run.node, "rates", 2, 1);
  const std::string auto_pad = StringOr(run.node, "auto_pad", "valid");
  std::array<int64_t, 2> pads{0, 0};
  for (size_t i = 0; i < 2 && auto_pad != "valid"; ++i) {
    const int64_t reach = (sizes[i] - 1) * rates[i] + 1;
    const int64_t covered = (run.output().shape()[i + 2] - 1) * strides[i] + reach;
    const int64_t total = std::max<int64_t>(0, covered - input.shape()[i + 2]);
    pads[i] = auto_pad == "same_lower" ? total - total / 2 : total / 2;
  }
  const int64_t channels = input.extent(1);
  return MapElements(run, [&](Coordinates& at) {
    const int64_t place = at[1] / channels;
    at[1] %= channels;
    at[2] = at[2] * strides[0] + place / sizes[1] * rates[0] - pads[0];
    at[3] = at[3] * strides[1] + place % sizes[1] * rates[1] - pads[1];
    return at[2] >= 0 && at[2] < input.extent(2) && at[3] >= 0 && at[3] < input.extent(3);
  });
}

}  // namespace

void RegisterRearranging(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "DepthToSpace", DepthToSpace);
  registry.AddReference({"opset1"}, "SpaceToDepth", SpaceToDepth);
  registry.AddReference({"opset2"}, "BatchToSpace", BatchToSpace);
  registry.AddReference({"opset2"}, "SpaceToBatch", SpaceToBatch);
  registry.AddReference({"opset1"}, "ShuffleChannels", ShuffleChannels);
  registry.AddReference({"opset1"}, "ReverseSequence", ReverseSequence);
  registry.AddReference({"opset1"}, "Reverse", Reverse);
  registry.AddReference({"opset7"}, "Roll", Roll);
  registry.AddReference({"opset3"}, "ExtractImagePatches", ExtractImagePatches);
}

}  // namespace nnefc::runtime
