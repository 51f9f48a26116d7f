// Conversion of YUV 4:2:0 images to RGB and BGR.

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/signal/rows.h"

namespace nnefc::ir::ops::opset::signal {

namespace {

// Returns the image extent for a plane with `denominator` elements per `numerator` of the image. Emits
// kOpsetExtent and returns nothing if the plane's extent is not a multiple.
std::optional<Dim> PictureExtent(OpContext& op, int32_t input, int64_t axis, int64_t numerator,
                                 int64_t denominator) {
  const Dim extent = op.shape(input)[axis];
  if (!extent.known()) {
    const auto scale = [&](int64_t value) {
      return value == Dim::kUnbounded ? value : SaturatingMultiply(value / denominator, numerator);
    };
    return Dim(scale(extent.min), scale(extent.max));
  }
  if (extent.value() % denominator == 0) return Dim(extent.value() / denominator * numerator);
  op.Error(kOpsetExtent, "{} has the shape {}; expected a multiple of {} along axis {}", op.InputName(input),
           ToString(op.shape(input)), denominator, axis);
  return std::nullopt;
}

struct Plane {
  int32_t input;
  int64_t channels;
};

// Merges the image's extents with those of a color plane, of half its height and width.
bool AddPlane(OpContext& op, const Plane& plane, PartialShape& picture) {
  const PartialShape& shape = op.shape(plane.input);
  if (!shape.rank_known()) return true;
  const std::optional<Dim> batch = Merge(picture[0], shape[0]);
  const std::optional<Dim> height = Merge(picture[1], MultiplyOrAny(shape[1], Dim(2)));
  const std::optional<Dim> width = Merge(picture[2], MultiplyOrAny(shape[2], Dim(2)));
  if (!batch || !height || !width || !shape[3].Compatible(Dim(plane.channels))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected [n,h/2,w/2,{}] of a picture {}",
             op.InputName(plane.input), ToString(shape), plane.channels, ToString(picture));
    return false;
  }
  picture.set(0, *batch);
  picture.set(1, *height);
  picture.set(2, *width);
  return true;
}

// NV12 and I420: [n,h,w,1] and color planes, or all in one plane of [n,h*3/2,w,1].
template <int32_t kColorPlanes>
void InferColor(OpContext& op) {
  constexpr int32_t kAll = kColorPlanes + 1;
  if (op.num_inputs() != 1 && op.num_inputs() != kAll) {
    op.Error(kOpsetArity, "`{}` has {} inputs; expected 1 or {}", op.node().type(), op.num_inputs(), kAll);
    return;
  }
  const ElementType type = op.CommonType(0, op.num_inputs());
  if (op.failed()) return;
  if (type != ElementType::kDynamic && type != ElementType::kU8 && !Accepts(TypeClass::kFloat, type)) {
    op.Error(kOpsetElementType, "{} has the element type {}; expected u8 or a float", op.InputName(0),
             Name(type));
    return;
  }
  PartialShape picture = PartialShape::OfRank(4);
  if (op.shape(0).rank_known()) {
    picture = op.shape(0);
    if (!picture[3].Compatible(Dim(1))) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected one channel", op.InputName(0), ToString(picture));
      return;
    }
    const bool is_single = op.num_inputs() == 1;
    const auto height = PictureExtent(op, 0, 1, 2, is_single ? 3 : 2);
    const auto width = PictureExtent(op, 0, 2, 2, 2);
    if (!height || !width) return;
    picture.set(1, *height);
    picture.set(2, *width);
  }
  for (int32_t plane = 1; plane < op.num_inputs(); ++plane) {
    if (!AddPlane(op, {.input = plane, .channels = kColorPlanes == 1 ? 2 : 1}, picture)) return;
  }
  picture.set(3, Dim(3));
  op.Set(type, picture);
}

}  // namespace

std::vector<OpInfo> ColorRows() {
  std::vector<OpInfo> rows;
  for (std::string_view name : {"NV12toRGB", "NV12toBGR"}) {
    rows.push_back(MakeRow(
        {.set = "opset8", .name = name, .inputs = {"y: 4", "uv?: 4"}, .infer = Infer<InferColor<1>>}));
  }
  for (std::string_view name : {"I420toRGB", "I420toBGR"}) {
    rows.push_back(MakeRow({.set = "opset8",
                            .name = name,
                            .inputs = {"y: 4", "u?: 4", "v?: 4"},
                            .infer = Infer<InferColor<2>>}));
  }
  return rows;
}

}  // namespace nnefc::ir::ops::opset::signal
