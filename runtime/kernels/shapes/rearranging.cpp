// Operations that copy input elements, or zeros, from computed coordinates.

#include <cstring>
#include <optional>
#include <vector>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

using tensor::ElementsAsInts;
using tensor::MutableTensorView;
using tensor::TensorView;

namespace {

using Coordinates = llvm::SmallVector<int64_t, 6>;

// out[coordinates] = in[source(coordinates)], or zero if `source` returns false. `source` converts
// coordinates of the output to those of the input in place.
template <typename Source>
FaultOr<Success> MapElements(const ReferenceRun& run, const Source& source) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  const size_t width = input.element_bytes();
  tensor::ParallelFor(output.volume(), 16, [&](int64_t index) {
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

// The blocks of DepthToSpace and its inverse, viewed as [N, channels, (blocks, positions in a block) of each
// spatial axis].
struct BlockView {
  Shape shape;
  tensor::Strides deep;  // strides in the tensor with blocks in its channels
  tensor::Strides wide;  // strides in the tensor with spatial blocks
};
BlockView ViewBlocks(const ir::Node& node, const TensorView& deep, const TensorView& wide) {
  const int64_t block = node.Int("block_size");
  const bool blocks_first = node.String("mode") == "blocks_first";
  const int64_t channels = wide.extent(1);
  int64_t places = 1;
  for (int64_t axis = 2; axis < wide.rank(); ++axis) places *= block;
  const int64_t channel = deep.strides()[1];
  BlockView view{.shape = {wide.extent(0), channels},
                 .deep = {deep.strides()[0], blocks_first ? channel : channel * places},
                 .wide = {wide.strides()[0], wide.strides()[1]}};
  int64_t place = blocks_first ? channel * channels : channel;
  for (size_t axis = 2; axis < wide.shape().size(); ++axis) {
    places /= block;
    view.shape.append({deep.shape()[axis], block});
    view.deep.append({deep.strides()[axis], place * places});
    view.wide.append({wide.strides()[axis] * block, wide.strides()[axis]});
  }
  return view;
}

FaultOr<Success> DepthToSpace(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  const BlockView view = ViewBlocks(run.node, input, output);
  tensor::CopyElements(TensorView(input.type(), view.shape, view.deep, input.bytes()),
                       MutableTensorView(output.type(), view.shape, view.wide, output.mutable_bytes()));
  return Success();
}

FaultOr<Success> SpaceToDepth(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  const BlockView view = ViewBlocks(run.node, output, input);
  tensor::CopyElements(TensorView(input.type(), view.shape, view.wide, input.bytes()),
                       MutableTensorView(output.type(), view.shape, view.deep, output.mutable_bytes()));
  return Success();
}

// out[n, y..] = in[(position of y + begin in its block, n), (y + begin) / b ..]
FaultOr<Success> BatchToSpace(const ReferenceRun& run) {
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

// The inverse of BatchToSpace; padding is zero.
FaultOr<Success> SpaceToBatch(const ReferenceRun& run) {
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

// Transposes the axis viewed as [group, members].
FaultOr<Success> ShuffleChannels(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  const auto axis = static_cast<size_t>(NormalAxis(run.node.Int("axis"), output.rank()));
  const int64_t group = run.node.Int("group");
  const int64_t members = output.shape()[axis] / group;
  Shape shape(output.shape());
  tensor::Strides from(input.strides()), to(output.strides());
  const int64_t stride = input.strides()[axis];
  shape[axis] = members;
  from[axis] = stride;
  to[axis] = stride * group;
  shape.insert(shape.begin() + axis + 1, group);
  from.insert(from.begin() + axis + 1, stride * members);
  to.insert(to.begin() + axis + 1, stride);
  tensor::CopyElements(TensorView(input.type(), shape, from, input.bytes()),
                       MutableTensorView(output.type(), shape, to, output.mutable_bytes()));
  return Success();
}

// Copies the slice at an index of `place.axis`, with the first `length` elements along `axis` reversed.
struct PlaceOfAxis {
  size_t axis;
  int64_t index;
};
void CopyReversed(const TensorView& from, const MutableTensorView& to, const PlaceOfAxis& place, size_t axis,
                  int64_t length) {
  const auto width = static_cast<int64_t>(from.element_bytes());
  const auto copy = [&](int64_t begin, int64_t end, bool reversed) {
    if (begin == end) return;
    Shape shape(from.shape());
    shape[place.axis] = 1;
    shape[axis] = end - begin;
    tensor::Strides strides(from.strides());
    const int64_t out = place.index * to.strides()[place.axis] + begin * to.strides()[axis];
    int64_t in = place.index * strides[place.axis] + begin * strides[axis];
    if (reversed) {
      in += (end - begin - 1) * strides[axis];
      strides[axis] = -strides[axis];
    }
    tensor::CopyElements(TensorView(from.type(), shape, strides, from.bytes() + in * width),
                         MutableTensorView(to.type(), shape, to.strides(), to.mutable_bytes() + out * width));
  };
  copy(0, length, true);
  copy(length, from.shape()[axis], false);
}

// Reverses the first seq_lengths[n] elements of each sequence.
FaultOr<Success> ReverseSequence(const ReferenceRun& run) {
  const auto batch = static_cast<size_t>(NormalAxis(run.node.Int("batch_axis"), run.output().rank()));
  const auto axis = static_cast<size_t>(NormalAxis(run.node.Int("seq_axis"), run.output().rank()));
  const llvm::SmallVector<int64_t, 8> lengths = ElementsAsInts(run.input(1));
  for (int64_t length : lengths) {
    if (length < 0 || length > run.output().shape()[axis]) {
      return KernelFault("a sequence of length {} does not fit the extent {}", length,
                         run.output().shape()[axis]);
    }
  }
  if (run.output().volume() == 0) return Success();
  for (size_t i = 0; i < lengths.size(); ++i)
    CopyReversed(run.input(0), run.output(), {batch, static_cast<int64_t>(i)}, axis, lengths[i]);
  return Success();
}

FaultOr<Success> Reverse(const ReferenceRun& run) {
  const MutableTensorView& output = run.output();
  std::vector<bool> reversed(output.shape().size(), false);
  const llvm::SmallVector<int64_t, 8> given = ElementsAsInts(run.input(1));
  const bool by_mask = run.node.String("mode") == "mask";
  for (size_t i = 0; i < given.size(); ++i) {
    if (by_mask) {
      if (i < reversed.size()) reversed[i] = given[i] != 0;
    } else if (given[i] >= -output.rank() && given[i] < output.rank()) {
      reversed[static_cast<size_t>(NormalAxis(given[i], output.rank()))] = true;
    }
  }
  const TensorView& input = run.input(0);
  if (input.volume() == 0) return Success();
  tensor::Strides strides(input.strides());
  int64_t first = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (!reversed[axis]) continue;
    first += (input.shape()[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  const auto width = static_cast<int64_t>(input.element_bytes());
  tensor::CopyElements(TensorView(input.type(), input.shape(), strides, input.bytes() + first * width),
                       output);
  return Success();
}

// Copies with all axes starting at `axis` rotated, in two parts per axis.
void CopyRolled(const TensorView& from, const MutableTensorView& to, llvm::ArrayRef<int64_t> shifts,
                size_t axis) {
  while (axis < shifts.size() && shifts[axis] == 0) ++axis;
  if (axis == shifts.size()) return tensor::CopyElements(from, to);
  const int64_t extent = from.shape()[axis];
  const int64_t shift = (shifts[axis] + extent) % extent;
  for (const auto& [begin, end, place] :
       {std::array{int64_t{0}, extent - shift, shift}, std::array{extent - shift, extent, int64_t{0}}}) {
    Shape shape(from.shape());
    shape[axis] = end - begin;
    const auto width = static_cast<int64_t>(from.element_bytes());
    CopyRolled(
        TensorView(from.type(), shape, from.strides(), from.bytes() + begin * from.strides()[axis] * width),
        MutableTensorView(to.type(), shape, to.strides(),
                          to.mutable_bytes() + place * to.strides()[axis] * width),
        shifts, axis + 1);
  }
}

// out[(i + shift) mod extent] = in[i]; shifts of the same axis add up.
FaultOr<Success> Roll(const ReferenceRun& run) {
  const MutableTensorView& output = run.output();
  const llvm::SmallVector<int64_t, 8> given = ElementsAsInts(run.input(1));
  const llvm::SmallVector<int64_t, 8> axes = ElementsAsInts(run.input(2));
  if (given.size() != 1 && given.size() != axes.size())
    return KernelFault("{} shifts for {} axes", given.size(), axes.size());
  std::vector<int64_t> shifts(output.shape().size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -output.rank() || axes[i] >= output.rank()) return KernelFault("axis {}", axes[i]);
    const auto axis = static_cast<size_t>(NormalAxis(axes[i], output.rank()));
    const int64_t extent = output.shape()[axis];
    if (extent > 0) shifts[axis] = (shifts[axis] + given[given.size() == 1 ? 0 : i] % extent) % extent;
  }
  CopyRolled(run.input(0), output, shifts, 0);
  return Success();
}

// out[n, (row, column, c), y, x] = in[n, c, y * stride + row * rate - pad, ..]
FaultOr<Success> ExtractImagePatches(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const std::vector<int64_t> sizes = run.node.Ints("sizes");
  const std::vector<int64_t> strides = run.node.Ints("strides");
  const std::vector<int64_t> rates = run.node.Ints("rates");
  const std::string auto_pad = run.node.String("auto_pad");
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

// Col2Im-15: out[c, y, x] = the sum of all window elements at that position.
FaultOr<Success> Col2Im(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const MutableTensorView& output = run.output();
  const auto kernel = ElementsAsInts(run.input(2));
  const auto strides = run.node.Ints("strides", 2), dilations = run.node.Ints("dilations", 2);
  const auto pads = run.node.Ints("pads_begin", 2), pads_end = run.node.Ints("pads_end", 2);
  const int64_t height = output.extent(output.rank() - 2), width = output.extent(output.rank() - 1);
  const auto places = [&](int64_t extent, size_t i) {
    return (extent + pads[i] + pads_end[i] - dilations[i] * (kernel[i] - 1) - 1) / strides[i] + 1;
  };
  const int64_t columns = places(width, 1), windows = data.extent(data.rank() - 1);
  if (data.volume() == 0) std::memset(output.mutable_bytes(), 0, output.byte_size());
  if (data.volume() == 0) return Success();
  const int64_t elements = kernel[0] * kernel[1];
  const bool known = VisitNumericType(data.type(), [&]<typename T>(TypeTag<T>) {
    using Sum = std::conditional_t<kIsFloating<T>, double, ComputeType<T>>;
    tensor::ParallelFor(output.volume() / (height * width), elements * windows, [&](int64_t plane) {
      std::vector<Sum> sums(static_cast<size_t>(height * width));
      for (int64_t i = 0; i < elements * windows; ++i) {
        const int64_t place = i / windows, window = i % windows;
        const int64_t y = window / columns * strides[0] + place / kernel[1] * dilations[0] - pads[0];
        const int64_t x = window % columns * strides[1] + place % kernel[1] * dilations[1] - pads[1];
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        Sum& sum = sums[static_cast<size_t>(y * width + x)];
        const T element = data.data<T>()[plane * elements * windows + i];
        sum = static_cast<Sum>(sum + static_cast<Sum>(static_cast<ComputeType<T>>(element)));
      }
      T* out = output.mutable_data<T>() + plane * height * width;
      for (size_t i = 0; i < sums.size(); ++i) out[i] = T(static_cast<ComputeType<T>>(sums[i]));
    });
  });
  if (!known) return UnsupportedType(run);
  return Success();
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
  registry.AddReference({"opset15"}, "Col2Im", Col2Im);
}

}  // namespace nnefc::runtime::kernels
