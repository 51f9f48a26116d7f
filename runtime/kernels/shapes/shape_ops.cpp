// Operations that move elements without arithmetic, and Convert. Most are copied views of the input.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "compiler/support/tensor/packed_elements.h"
#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/strided_loop.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime::kernels {

using tensor::MutableTensorView;
using tensor::TensorView;

namespace {

// Reshape, Squeeze, Unsqueeze: the same elements in the same order.
FaultOr<Success> Reshape(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  if (input.volume() != run.output().volume()) {
    return KernelFault("{} elements do not fill the shape {}", input.volume(),
                       ToString(run.output().shape()));
  }
  if (input.bytes() != run.output().bytes())
    std::memcpy(run.output().mutable_bytes(), input.bytes(), input.byte_size());
  return Success();
}

// Returns the part [begin, begin + extent) of a tensor along an axis.
MutableTensorView Part(const MutableTensorView& whole, size_t axis, int64_t begin, int64_t extent) {
  Shape shape(whole.shape());
  shape[axis] = extent;
  const int64_t offset = begin * whole.strides()[axis] * static_cast<int64_t>(whole.element_bytes());
  return MutableTensorView(whole.type(), shape, whole.strides(), whole.mutable_bytes() + offset);
}

FaultOr<Success> Concat(const ReferenceRun& run) {
  const size_t axis = static_cast<size_t>(NormalAxis(run.node.Int("axis"), run.output().rank()));
  int64_t begin = 0;
  for (size_t i = 0; i < run.num_inputs(); ++i) {
    const int64_t extent = run.input(i).shape()[axis];
    tensor::CopyElements(run.input(i), Part(run.output(), axis, begin, extent));
    begin += extent;
  }
  return Success();
}

// Split and VariadicSplit: the extents of the outputs determine the offsets.
FaultOr<tensor::ElementsView> Split(const ViewRequest& run) {
  const auto rank = static_cast<int64_t>(run.source.shape.size());
  const size_t axis = static_cast<size_t>(NormalAxis(tensor::ElementsAsInts(run.input(1))[0], rank));
  tensor::ElementsView part{
      .shape = run.outputs[run.output], .strides = run.source.strides, .offset = run.source.offset};
  for (size_t i = 0; i < run.output; ++i) part.offset += run.outputs[i][axis] * part.strides[axis];
  return part;
}

// Output axis i is input axis order[i]; an empty order reverses the axes.
FaultOr<tensor::ElementsView> Transpose(const ViewRequest& run) {
  const auto rank = static_cast<int64_t>(run.source.shape.size());
  llvm::SmallVector<int64_t, 8> order = tensor::ElementsAsInts(run.input(1));
  if (order.empty()) {
    for (int64_t axis = rank; axis-- > 0;) order.push_back(axis);
  }
  tensor::ElementsView view{.shape = run.outputs[0], .strides = {}, .offset = run.source.offset};
  for (int64_t axis : order)
    view.strides.push_back(run.source.strides[static_cast<size_t>(NormalAxis(axis, rank))]);
  return view;
}

// Views each axis as [repeat, extent]; repeats have stride 0.
FaultOr<Success> Tile(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  Shape shape;
  tensor::Strides from, to;
  const int64_t new_axes = output.rank() - input.rank();
  for (int64_t axis = 0; axis < output.rank(); ++axis) {
    const int64_t extent = axis < new_axes ? 1 : input.extent(axis - new_axes);
    const int64_t stride = axis < new_axes ? 0 : input.strides()[static_cast<size_t>(axis - new_axes)];
    const int64_t out_stride = output.strides()[static_cast<size_t>(axis)];
    shape.append({extent == 0 ? 0 : output.extent(axis) / extent, extent});
    from.append({0, stride});
    to.append({out_stride * extent, out_stride});
  }
  tensor::CopyElements(TensorView(input.type(), shape, from, input.bytes()),
                       MutableTensorView(output.type(), shape, to, output.mutable_bytes()));
  return Success();
}

// Modes numpy, bidirectional and explicit (with a mapping of input axes to output axes).
FaultOr<Success> Broadcast(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  tensor::Strides strides;
  const std::string mode = run.node.String("mode");
  if (mode == "explicit" && run.num_inputs() > 2) {
    const llvm::SmallVector<int64_t, 8> axes = tensor::ElementsAsInts(run.input(2));
    if (static_cast<int64_t>(axes.size()) != input.rank())
      return KernelFault("`axes_mapping` has {} items", axes.size());
    strides.assign(static_cast<size_t>(output.rank()), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] < 0 || axes[i] >= output.rank())
        return KernelFault("`axes_mapping` has the item {}", axes[i]);
      if (input.shape()[i] != 1) strides[static_cast<size_t>(axes[i])] = input.strides()[i];
    }
  } else {
    strides = BroadcastStrides(input, output.shape());
  }
  tensor::CopyElements(TensorView(input.type(), output.shape(), strides, input.bytes()), output);
  return Success();
}

template <typename T>
void StoreInts(const MutableTensorView& output, llvm::ArrayRef<int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) output.mutable_data<T>()[i] = static_cast<T>(values[i]);
}

FaultOr<Success> ShapeOf(const ReferenceRun& run) {
  if (run.output().type() == ElementType::kI32) {
    StoreInts<int32_t>(run.output(), run.input(0).shape());
  } else {
    StoreInts<int64_t>(run.output(), run.input(0).shape());
  }
  return Success();
}

// start, start + step, ... before stop.
FaultOr<Success> Range(const ReferenceRun& run) {
  const MutableTensorView& output = run.output();
  if (IsFloat(output.type())) {
    const double start = tensor::ElementsAsDoubles(run.input(0))[0];
    const double step = tensor::ElementsAsDoubles(run.input(2))[0];
    VisitFloatType(output.type(), [&]<typename T>(TypeTag<T>) {
      for (int64_t i = 0; i < output.volume(); ++i) {
        output.mutable_data<T>()[i] = ConvertElement<T>(start + static_cast<double>(i) * step);
      }
    });
    return Success();
  }
  const auto start = static_cast<uint64_t>(tensor::ElementsAsInts(run.input(0))[0]);
  const auto step = static_cast<uint64_t>(tensor::ElementsAsInts(run.input(2))[0]);
  const bool known = VisitIntegerType(output.type(), [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < output.volume(); ++i) {
      output.mutable_data<T>()[i] = static_cast<T>(start + static_cast<uint64_t>(i) * step);
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

template <typename T, typename... Types>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);

// Vectorised conversions between common types of quantized values, masks and indices.
template <typename To, typename From>
inline constexpr bool kIsCommon = kIsOneOf<From, float, int32_t, int64_t, int8_t, uint8_t, Boolean> &&
                                  kIsOneOf<To, float, int32_t, int64_t, int8_t, uint8_t>;

// ConvertElement<To>(value), branch-free for floats to integers of at most 32 bits.
template <typename To, typename From>
To ConvertInVectors(From value) {
  if constexpr (std::is_same_v<From, float> && std::is_integral_v<To> && sizeof(To) <= sizeof(int32_t)) {
    constexpr auto kLeast = static_cast<float>(std::numeric_limits<To>::min());
    constexpr auto kMost = static_cast<float>(std::numeric_limits<To>::max());
    constexpr float kLargestBelow = 2147483520.0F;  // largest float below 2^31
    const float number = value == value ? value : 0.0F;
    const float above = number > kLeast ? number : kLeast;
    const float within = above < std::min(kMost, kLargestBelow) ? above : std::min(kMost, kLargestBelow);
    const auto whole = static_cast<int32_t>(within);
    return static_cast<To>(value >= kMost ? int32_t{std::numeric_limits<To>::max()} : whole);
  } else if constexpr (std::is_same_v<From, Boolean>) {
    return value.value != 0 ? To{1} : To{0};
  } else {
    return ConvertElement<To>(value);
  }
}

// Converts `count` elements from `from` to `to`.
using ConvertFunction = void (*)(const std::byte* from, std::byte* to, int64_t count);

template <typename To, typename From>
void ConvertElements(const std::byte* from, std::byte* to, int64_t count) {
  const auto* x = reinterpret_cast<const From*>(from);
  auto* out = reinterpret_cast<To*>(to);
  if constexpr (kIsCommon<To, From>) {
    tensor::Wide([=] {
      // Local copies, so that the compiler knows that stores do not alias them.
      const From* in_part = x;
      To* out_part = out;
      const int64_t length = count;
      for (int64_t i = 0; i < length; ++i) out_part[i] = ConvertInVectors<To>(in_part[i]);
    });
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = ConvertElement<To>(x[i]);
  }
}

// Returns the function that converts elements between these types, or null.
ConvertFunction FindConversion(ElementType from, ElementType to) {
  ConvertFunction convert = nullptr;
  VisitAnyType(from, [&]<typename From>(TypeTag<From>) {
    VisitAnyType(to, [&]<typename To>(TypeTag<To>) { convert = ConvertElements<To, From>; });
  });
  return convert;
}

// Returns the values of all bit patterns of a type that supports storage and conversion only.
std::array<double, 256> NumbersOf(ElementType type) {
  std::array<double, 256> numbers{};
  for (unsigned code = 0; code < 1U << BitWidth(type); ++code)
    numbers[code] = NumberOf(type, static_cast<uint8_t>(code));
  return numbers;
}

// Calls `store(i, number)` with the value of each element of such a type.
template <typename Store>
void ForEachNumber(const TensorView& codes, const Store& store) {
  const std::array<double, 256> numbers = NumbersOf(codes.type());
  const auto* x = codes.data<uint8_t>();
  tensor::ParallelParts(codes.volume(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) store(i, numbers[x[i]]);
  });
}

// Converts from or to a type that supports storage and conversion only.
FaultOr<Success> ConvertStored(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  const ElementType type = output.type();
  bool known = true;
  if (IsStorageOnly(type)) {
    auto* out = output.mutable_data<uint8_t>();
    if (IsStorageOnly(input.type())) {
      ForEachNumber(input, [=](int64_t i, double number) { out[i] = CodeOf(type, number); });
      return Success();
    }
    known = VisitAnyType(input.type(), [&]<typename From>(TypeTag<From>) {
      const From* x = input.data<From>();
      tensor::ParallelParts(output.volume(), [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if constexpr (std::is_integral_v<From>) {
            out[i] = CodeOf(type, static_cast<int64_t>(x[i]));
          } else {
            out[i] = CodeOf(type, AsDouble(x[i]));
          }
        }
      });
    });
  } else {
    known = VisitAnyType(type, [&]<typename To>(TypeTag<To>) {
      To* out = output.mutable_data<To>();
      ForEachNumber(input, [=](int64_t i, double number) { out[i] = ConvertElement<To>(number); });
    });
  }
  if (!known) return UnsupportedType(run);
  return Success();
}

FaultOr<Success> Convert(const ReferenceRun& run) {
  const TensorView& input = run.input(0);
  const MutableTensorView& output = run.output();
  if (IsStorageOnly(input.type()) || IsStorageOnly(output.type())) return ConvertStored(run);
  const ConvertFunction convert = FindConversion(input.type(), output.type());
  if (convert == nullptr) return UnsupportedType(run);
  const auto in_bytes = static_cast<int64_t>(input.element_bytes()),
             out_bytes = static_cast<int64_t>(output.element_bytes());
  tensor::ParallelParts(output.volume(), [&](int64_t begin, int64_t end) {
    convert(input.bytes() + begin * in_bytes, output.mutable_bytes() + begin * out_bytes, end - begin);
  });
  return Success();
}

// ConvertPromoteTypes-14: converts each input like Convert.
FaultOr<Success> ConvertPromoteTypes(const ReferenceRun& run) {
  for (size_t i = 0; i < run.num_outputs(); ++i) {
    const KernelRun part{.inputs = run.run.inputs.slice(i, 1), .outputs = run.run.outputs.slice(i, 1)};
    if (FaultOr<Success> done = Convert({run.node, part}); !done) return done;
  }
  return Success();
}

}  // namespace

void RegisterShapeOps(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "Reshape", Reshape);
  registry.AddReference({"opset1", "opset15"}, "Squeeze", Reshape);
  registry.AddReference({"opset16"}, "Identity", Reshape);
  registry.AddReference({"opset1"}, "Unsqueeze", Reshape);
  registry.AddReference({"opset1"}, "Concat", Concat);
  registry.AcceptStrides(Backend::kReference, {"opset1"}, "Concat", INT32_MAX);
  registry.AddCopiedView<Split>({"opset1"}, "Split");
  registry.AddCopiedView<Split>({"opset1"}, "VariadicSplit");
  registry.AddCopiedView<Transpose>({"opset1"}, "Transpose");
  registry.AddReference({"opset1"}, "Tile", Tile);
  registry.AddReference({"opset1", "opset3"}, "Broadcast", Broadcast);
  registry.AddReference({"opset1", "opset3"}, "ShapeOf", ShapeOf);
  registry.AddReference({"opset1", "opset4"}, "Range", Range);
  registry.AddReference({"opset1"}, "Convert", Convert);
  registry.AddReference({"opset1"}, "ConvertLike", Convert);
  registry.AddReference({"opset14"}, "ConvertPromoteTypes", ConvertPromoteTypes);
}

}  // namespace nnefc::runtime::kernels
