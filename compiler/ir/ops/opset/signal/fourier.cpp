// Discrete Fourier transforms of whole tensors and of frames of a signal.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/signal/rows.h"

namespace nnefc::ir::ops::opset::signal {

namespace {

// The inputs `axes` and `signal_size`, if they are known.
struct Transform {
  std::optional<std::vector<int64_t>> axes;  // counted from the front
  bool has_sizes = false;
  std::optional<std::vector<int64_t>> sizes;  // -1: the extent of the input
  bool is_known() const { return axes && (!has_sizes || sizes); }
  // Returns the extent of axis `i` of `axes` before the transform.
  Dim Size(size_t i, Dim extent) const {
    if (!has_sizes) return extent;
    if (!sizes) return Dim();
    return (*sizes)[i] < 0 ? extent : Dim((*sizes)[i]);
  }
};

// Reads the inputs for a tensor of `rank` axes, without the complex axis. Returns nothing after an error.
std::optional<Transform> ReadTransform(OpContext& op, std::optional<int64_t> rank) {
  const std::optional<std::vector<int64_t>> axes = op.Integers(1);
  Transform transform{.axes = std::nullopt, .has_sizes = op.has_input(2), .sizes = std::nullopt};
  if (transform.has_sizes) transform.sizes = op.Integers(2);
  const PartialShape& axes_shape = op.shape(1);
  if (transform.has_sizes && axes_shape.rank_known() && op.shape(2).rank_known() &&
      !axes_shape[0].Compatible(op.shape(2)[0])) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected an item for each of the axes {}", op.InputName(2),
             ToString(op.shape(2)), ToString(axes_shape));
    return std::nullopt;
  }
  if (rank && axes_shape.rank_known() && axes_shape[0].min > *rank) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected at most {} axes", op.InputName(1),
             ToString(axes_shape), *rank);
    return std::nullopt;
  }
  if (transform.sizes) {
    for (int64_t size : *transform.sizes) {
      if (size == -1 || size > 0) continue;
      op.Error(kOpsetConstantInput, "{} has the item {}; expected -1 or a positive extent", op.InputName(2),
               size);
      return std::nullopt;
    }
  }
  if (!axes || !rank) return transform;
  transform.axes = op.NormalizeAxes(*axes, *rank);
  return transform.axes ? std::optional(transform) : std::nullopt;
}

// True if the data end with an axis of real and imaginary parts; emits kOpsetExtent otherwise.
bool CheckComplex(OpContext& op) {
  const PartialShape& data = op.shape(0);
  if (!data.rank_known() || data[data.rank() - 1].Compatible(Dim(2))) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected a last axis of extent 2", op.InputName(0),
           ToString(data));
  return false;
}

std::optional<int64_t> ComplexRank(OpContext& op) {
  if (!op.shape(0).rank_known()) return std::nullopt;
  return op.shape(0).rank() - 1;
}

// DFT-7 and IDFT-7: extents of the axes become those of `signal_size`.
void InferDft(OpContext& op) {
  const std::optional<Transform> transform = ReadTransform(op, ComplexRank(op));
  if (!transform || !CheckComplex(op)) return;
  PartialShape shape = op.shape(0);
  if (!shape.rank_known() || !transform->has_sizes) return op.Set(op.type(0), shape);
  if (!transform->axes) {
    for (int64_t axis = 0; axis + 1 < shape.rank(); ++axis) shape.set(axis, Dim());
    return op.Set(op.type(0), shape);
  }
  for (size_t i = 0; i < transform->axes->size(); ++i)
    shape.set((*transform->axes)[i], transform->Size(i, shape[(*transform->axes)[i]]));
  op.Set(op.type(0), shape);
}

// Returns n / 2 + 1, the number of non-redundant results of a real transform of n elements, or 0 for n = 0.
Dim HalfOf(Dim extent) {
  const auto half = [](int64_t n) { return n == 0 ? 0 : n / 2 + 1; };
  return Dim(half(extent.min), extent.max == Dim::kUnbounded ? extent.max : half(extent.max));
}

// RDFT-9: real numbers become complex ones; the last of the axes is about halved.
void InferRdft(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::optional<Transform> transform =
      ReadTransform(op, data.rank_known() ? std::optional(data.rank()) : std::nullopt);
  if (!transform) return;
  if (!data.rank_known()) return op.Set(op.type(0), PartialShape());
  llvm::SmallVector<Dim, 4> dims(data.dims().begin(), data.dims().end());
  if (!transform->axes) {
    std::fill(dims.begin(), dims.end(), Dim());
  } else {
    for (size_t i = 0; i < transform->axes->size(); ++i) {
      Dim& dim = dims[static_cast<size_t>((*transform->axes)[i])];
      dim = transform->Size(i, dim);
      if (i + 1 == transform->axes->size()) dim = HalfOf(dim);
    }
  }
  dims.push_back(Dim(2));
  op.Set(op.type(0), PartialShape(dims));
}

// IRDFT-9: the inverse. Without `signal_size` the last of the axes has 2 * (n - 1) elements.
void InferIrdft(OpContext& op) {
  const std::optional<Transform> transform = ReadTransform(op, ComplexRank(op));
  if (!transform || !CheckComplex(op)) return;
  const PartialShape& data = op.shape(0);
  if (!data.rank_known()) return op.Set(op.type(0), PartialShape());
  llvm::SmallVector<Dim, 4> dims(data.dims().begin(), data.dims().end() - 1);
  if (!transform->axes) {
    std::fill(dims.begin(), dims.end(), Dim());
    return op.Set(op.type(0), PartialShape(dims));
  }
  for (size_t i = 0; i < transform->axes->size(); ++i) {
    Dim& dim = dims[static_cast<size_t>((*transform->axes)[i])];
    const bool is_last = i + 1 == transform->axes->size();
    const bool is_given = transform->has_sizes && (!transform->sizes || (*transform->sizes)[i] >= 0);
    if (is_last && !is_given) {
      dim = MultiplyOrAny(Dim(2), Shift(dim, -1));
    } else {
      dim = transform->Size(i, dim);
    }
  }
  op.Set(op.type(0), PartialShape(dims));
}

// ---- frames ----

// Returns the single element of an integer input; it must be at least 1. Nothing if it is unknown or invalid.
std::optional<int64_t> PositiveInput(OpContext& op, int32_t input) {
  const std::optional<std::vector<int64_t>> value = op.Integers(input);
  if (!value || value->size() != 1) return std::nullopt;
  if (value->front() >= 1) return value->front();
  op.Error(kOpsetConstantInput, "{} is {}; expected at least 1", op.InputName(input), value->front());
  return std::nullopt;
}

// True if the window is at most as long as a frame; emits kOpsetExtent otherwise.
bool CheckWindow(OpContext& op, int64_t frame_size) {
  const PartialShape& window = op.shape(1);
  if (!window.rank_known() || (window[0].min <= frame_size && window[0].max >= 1)) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected 1 to {} elements, as a frame has", op.InputName(1),
           ToString(window), frame_size);
  return false;
}

// STFT-15: [batch, frames, bins, 2], or bins before frames.
void InferStft(OpContext& op) {
  op.CommonType(0, 2);
  const std::optional<int64_t> size = PositiveInput(op, 2);
  const std::optional<int64_t> step = PositiveInput(op, 3);
  if (op.failed() || (size && !CheckWindow(op, *size))) return;
  const PartialShape& signal = op.shape(0);
  if (!signal.rank_known()) return op.Set(op.type(0), PartialShape());
  const Dim length = signal[signal.rank() - 1];
  Dim frames, bins;
  if (size) {
    bins = Dim(*size / 2 + 1);
    if (length.max < *size) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected at least the {} elements of a frame",
               op.InputName(0), ToString(signal), *size);
      return;
    }
    if (step) frames = WindowPlaces(length, {.size = *size, .stride = *step}).value_or(Dim());
  }
  llvm::SmallVector<Dim, 4> dims(signal.dims().begin(), signal.dims().end() - 1);
  const bool transposed = op.Bool("transpose_frames");
  dims.push_back(transposed ? bins : frames);
  dims.push_back(transposed ? frames : bins);
  dims.push_back(Dim(2));
  op.Set(op.type(0), PartialShape(dims));
}

// ISTFT-16: transforms [batch, bins, frames, 2] to a signal of `signal_length` elements. By default the
// length is that of the overlapping frames, less half a frame at each end if they are centered.
void InferIstft(OpContext& op) {
  op.CommonType(0, 2);
  const std::optional<int64_t> size = PositiveInput(op, 2);
  const std::optional<int64_t> step = PositiveInput(op, 3);
  const std::optional<std::vector<int64_t>> given = op.has_input(4) ? op.Integers(4) : std::nullopt;
  if (op.failed() || (size && !CheckWindow(op, *size)) || !CheckComplex(op)) return;
  const PartialShape& data = op.shape(0);
  if (!data.rank_known()) return op.Set(op.type(0), PartialShape());
  const int64_t rank = data.rank();
  if (size && !data[rank - 3].Compatible(Dim(*size / 2 + 1))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected {} bins, of frames of {} elements", op.InputName(0),
             ToString(data), *size / 2 + 1, *size);
    return;
  }
  Dim length;
  if (given) {
    if (given->front() < 0) {
      op.Error(kOpsetConstantInput, "{} is {}; expected at least 0", op.InputName(4), given->front());
      return;
    }
    length = Dim(given->front());
  } else if (!op.has_input(4) && size && step) {
    const int64_t rest = op.Bool("center") ? *size % 2 : *size;
    length = AddOrAny(MultiplyOrAny(Shift(data[rank - 2], -1), Dim(*step)), Dim(rest));
  }
  if (rank == 3) return op.Set(op.type(0), PartialShape{length});
  op.Set(op.type(0), PartialShape{data[0], length});
}

}  // namespace

std::vector<OpInfo> FourierRows() {
  const auto row = [](std::string_view set, std::string_view name, std::string_view data,
                      InferFunction infer) {
    return MakeRow({.set = set,
                    .name = name,
                    .inputs = {data, "axes: index 1", "signal_size?: index 1"},
                    .infer = std::move(infer),
                    .work = Work::kHeavy});
  };
  return {
      row("opset7", "DFT", "data: float 2..", Infer<InferDft>),
      row("opset7", "IDFT", "data: float 2..", Infer<InferDft>),
      row("opset9", "RDFT", "data: float 1..", Infer<InferRdft>),
      row("opset9", "IRDFT", "data: float 2..", Infer<InferIrdft>),
      MakeRow(
          {.set = "opset15",
           .name = "STFT",
           .inputs = {"signal: float 1..2", "window: float 1", "frame_size: index 0", "frame_step: index 0"},
           .attributes = {{"transpose_frames", AttributeKind::kBool}},
           .infer = Infer<InferStft>,
           .work = Work::kHeavy}),
      MakeRow({.set = "opset16",
               .name = "ISTFT",
               .inputs = {"data: float 3..4", "window: float 1", "frame_size: index 0", "frame_step: index 0",
                          "signal_length?: index 0..1 one"},
               .attributes = {{"center", AttributeKind::kBool}, {"normalized", AttributeKind::kBool}},
               .infer = Infer<InferIstft>,
               .work = Work::kHeavy}),
  };
}

}  // namespace nnefc::ir::ops::opset::signal
