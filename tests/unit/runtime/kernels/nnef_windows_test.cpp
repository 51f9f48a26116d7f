// The kernels of NNEF's own convolutions and pools, which OpenVINO's do not cover (borders, more axes,
// indices), against the specification's sums over one to four spatial axes.

#include <functional>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {
namespace {

// A window over the spatial axes of an image.
struct SpatialWindow {
  std::vector<int64_t> extents, size, stride, dilation;
  std::vector<std::pair<int64_t, int64_t>> padding;
  std::string border = "constant";
  bool is_automatic = false;  // `padding` follows from the extents, so that the attribute is empty

  size_t axes() const { return extents.size(); }
  int64_t Reach(size_t axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
  int64_t Down(size_t axis) const {
    return (extents[axis] + padding[axis].first + padding[axis].second - Reach(axis)) / stride[axis] + 1;
  }
  int64_t Up(size_t axis) const {
    return (extents[axis] - 1) * stride[axis] + Reach(axis) - padding[axis].first - padding[axis].second;
  }
};

// Where the border of an axis is read; -1 for its constant or what is ignored.
int64_t InBorder(int64_t at, int64_t extent, const std::string& border) {
  if (at >= 0 && at < extent) return at;
  if (border == "replicate") return at < 0 ? 0 : extent - 1;
  if (border == "reflect") return at < 0 ? -at : 2 * extent - 2 - at;
  if (border == "reflect-even") return at < 0 ? -at - 1 : 2 * extent - 1 - at;
  return -1;
}

// Calls `visit` with each index below the extents, row-major.
void ForEachIndex(const std::vector<int64_t>& extents,
                  const std::function<void(const std::vector<int64_t>&)>& visit) {
  int64_t volume = 1;
  for (const int64_t extent : extents) volume *= extent;
  for (int64_t i = 0; i < volume; ++i) {
    std::vector<int64_t> index(extents.size());
    int64_t rest = i;
    for (size_t axis = extents.size(); axis-- > 0;) {
      index[axis] = rest % extents[axis];
      rest /= extents[axis];
    }
    visit(index);
  }
}

int64_t PlaceOfIndex(const std::vector<int64_t>& index, const std::vector<int64_t>& extents) {
  int64_t place = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) place = place * extents[axis] + index[axis];
  return place;
}

Shape WithChannels(int64_t images, int64_t channels, const std::vector<int64_t>& spatial) {
  Shape shape = {images, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

ir::AttributeMap AttributesOfWindow(const SpatialWindow& window) {
  ir::AttributeMap attributes;
  attributes.Set("border", window.border);
  attributes.Set("padding", window.is_automatic ? ir::PairList({}) : ir::PairList(window.padding));
  attributes.Set("stride", ir::Attribute::Integers(window.stride.begin(), window.stride.end()));
  attributes.Set("dilation", ir::Attribute::Integers(window.dilation.begin(), window.dilation.end()));
  return attributes;
}

std::string NameOfWindow(const SpatialWindow& window) {
  std::string text = window.border + " border";
  for (size_t axis = 0; axis < window.axes(); ++axis)
    text += ", " + std::to_string(window.extents[axis]) + " by " + std::to_string(window.size[axis]);
  return text;
}

std::vector<SpatialWindow> SpatialWindows() {
  std::vector<SpatialWindow> windows;
  for (const char* border : {"constant", "replicate", "reflect", "reflect-even"}) {
    const std::string name = border;
    windows.push_back({{7}, {3}, {2}, {1}, {{1, 2}}, name});
    windows.push_back({{5}, {1}, {3}, {1}, {{0, 0}}, name});
    windows.push_back({{6, 5}, {3, 2}, {1, 2}, {2, 1}, {{2, 1}, {0, 2}}, name});
    windows.push_back({{4, 4, 3}, {2, 3, 1}, {2, 1, 1}, {1, 1, 1}, {{1, 0}, {1, 1}, {0, 0}}, name});
    windows.push_back(
        {{3, 2, 3, 4}, {2, 1, 3, 2}, {1, 1, 2, 3}, {1, 1, 1, 2}, {{0, 1}, {0, 0}, {1, 1}, {2, 2}}, name});
    // The whole image, read to its ends by a mirror at either end.
    windows.push_back({{4}, {4}, {1}, {1}, {{3, 3}}, name});
  }
  return windows;
}

// Returns windows with the automatic padding: of the smallest total with ceil(extent / stride) positions, the
// smaller half is before the axis. `extents` are those of the tensor of higher resolution.
std::vector<SpatialWindow> AutomaticWindows(bool is_reverse) {
  std::vector<SpatialWindow> windows = {
      {{7}, {3}, {2}, {1}, {}}, {{8}, {3}, {2}, {1}, {}}, {{9, 6}, {4, 3}, {1, 2}, {1, 2}, {}}};
  // A stride that is larger than the window: a deconvolution has more elements than these windows reach.
  if (!is_reverse) windows.push_back({{8}, {2}, {3}, {1}, {}});
  for (SpatialWindow& window : windows) {
    window.is_automatic = true;
    for (size_t axis = 0; axis < window.axes(); ++axis) {
      // A deconvolution multiplies its extent by the stride.
      const int64_t stride = window.stride[axis];
      const int64_t extent = window.extents[axis] * (is_reverse ? stride : 1);
      const int64_t positions = (extent + stride - 1) / stride;
      const int64_t total = std::max<int64_t>((positions - 1) * stride + window.Reach(axis) - extent, 0);
      window.padding.push_back({total / 2, total - total / 2});
    }
  }
  return windows;
}

void CheckConvolution(const SpatialWindow& window, int64_t groups, bool is_reverse) {
  SCOPED_TRACE(NameOfWindow(window) + ", groups " + std::to_string(groups) + (is_reverse ? ", reverse" : ""));
  // `down` is what a filter [2 * groups, 3, ..] makes of `up`.
  const int64_t images = 2, of_up = 3 * groups, of_down = 2 * groups;
  std::vector<int64_t> out_extents;
  for (size_t axis = 0; axis < window.axes(); ++axis)
    out_extents.push_back(is_reverse ? window.Up(axis) : window.Down(axis));
  const Shape in = WithChannels(images, is_reverse ? of_down : of_up, window.extents);
  const Shape out = WithChannels(images, is_reverse ? of_up : of_down, out_extents);
  const Shape filter = WithChannels(of_down, 3, window.size);
  const TensorValue x = RandomTensor(in, 1), w = RandomTensor(filter, 2);
  TestGraph g;
  ir::AttributeMap attributes = AttributesOfWindow(window);
  attributes.Set("groups", groups);
  if (is_reverse) attributes.Set("output_shape", ir::Attribute());
  const ir::OutputPort port = g.Op("nnef", is_reverse ? "deconv" : "conv",
                                   {g.Parameter("x", in), g.Parameter("w", filter)}, attributes);
  ASSERT_EQ(ToString(*g.graph->output(port).shape.extents()), ToString(out));
  g.Result(port);
  const auto made = RunGraph(g.graph, {.backend = Backend::kReference, .threads = 2}, {x, w});
  ASSERT_EQ(made.size(), 1U);
  std::vector<double> expected(static_cast<size_t>(*Volume(out)), 0.0);
  const std::vector<int64_t>& down = is_reverse ? window.extents : out_extents;
  const std::vector<int64_t>& up = is_reverse ? out_extents : window.extents;
  const auto volume = [](const std::vector<int64_t>& extents) {
    int64_t product = 1;
    for (const int64_t extent : extents) product *= extent;
    return product;
  };
  ForEachIndex(down, [&](const std::vector<int64_t>& at) {
    ForEachIndex(window.size, [&](const std::vector<int64_t>& tap) {
      std::vector<int64_t> read(at.size());
      for (size_t axis = 0; axis < at.size(); ++axis) {
        const int64_t place =
            at[axis] * window.stride[axis] + tap[axis] * window.dilation[axis] - window.padding[axis].first;
        read[axis] = InBorder(place, up[axis], window.border);
        if (read[axis] < 0) return;
      }
      const int64_t of = PlaceOfIndex(at, down), from = PlaceOfIndex(read, up),
                    weight = PlaceOfIndex(tap, window.size);
      for (int64_t b = 0; b < images; ++b) {
        for (int64_t f = 0; f < of_down; ++f) {
          for (int64_t c = 0; c < 3; ++c) {
            const int64_t channel = f / 2 * 3 + c;
            const int64_t below = (b * of_down + f) * volume(down) + of;
            const int64_t above = (b * of_up + channel) * volume(up) + from;
            const double factor = w.ElementAsDouble((f * 3 + c) * volume(window.size) + weight);
            if (is_reverse) {
              expected[static_cast<size_t>(above)] += factor * x.ElementAsDouble(below);
            } else {
              expected[static_cast<size_t>(below)] += factor * x.ElementAsDouble(above);
            }
          }
        }
      }
    });
  });
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), expected[i], 1e-5) << i;
}

TEST(NnefWindowsTest, Convolutions) {
  for (const SpatialWindow& window : SpatialWindows()) {
    for (const int64_t groups : {1, 2}) {
      CheckConvolution(window, groups, false);
      if (window.border == "constant") CheckConvolution(window, groups, true);
    }
  }
}

TEST(NnefWindowsTest, AutomaticPadding) {
  for (const bool is_reverse : {false, true}) {
    for (const SpatialWindow& window : AutomaticWindows(is_reverse)) CheckConvolution(window, 1, is_reverse);
  }
}

// A mirror reaches to the other end of an axis, and not beyond it.
TEST(NnefWindowsTest, BordersBeyondAnAxis) {
  struct Reach {
    const char* border;
    int64_t pad;
    bool fits;
  };
  for (const auto& [border, pad, fits] :
       {Reach{"reflect", 2, true}, Reach{"reflect", 3, false}, Reach{"reflect-even", 3, true},
        Reach{"reflect-even", 4, false}, Reach{"replicate", 9, true}, Reach{"constant", 9, true}}) {
    for (const bool is_begin : {true, false}) {
      SCOPED_TRACE(std::string(border) + " " + std::to_string(pad) + (is_begin ? " before" : " after"));
      SpatialWindow window{{3}, {1}, {1}, {1}, {{is_begin ? pad : 0, is_begin ? 0 : pad}}, border};
      TestGraph g;
      ir::AttributeMap attributes = AttributesOfWindow(window);
      attributes.Set("groups", int64_t{1});
      const ir::NodeId id = ir::AddNode(
          *g.graph, "nnef", "conv",
          {.name = "y",
           .inputs = std::vector<ir::OutputPort>{g.Parameter("x", {1, 1, 3}), g.Parameter("w", {1, 1, 1})},
           .attributes = attributes,
           .num_outputs = 1});
      Emitter emitter;
      if (!ir::InferNode(*g.graph, id, emitter)) {
        EXPECT_FALSE(fits) << Messages(emitter);
        continue;
      }
      g.Result({id, 0});
      const auto executable = Compile(g.graph, {.backend = Backend::kReference});
      ASSERT_NE(executable, nullptr);
      const auto outputs =
          engine::Session::Create(executable)
              ->Run({TensorValue::FromFloats({1, 1, 3}, {1, 2, 3}), TensorValue::FromFloats({1, 1, 1}, {1})});
      EXPECT_EQ(outputs.ok(), fits);
    }
  }
}

TEST(NnefWindowsTest, PlacesOfTheLargest) {
  for (SpatialWindow window : SpatialWindows()) {
    for (const bool ignores_border : {false, true}) {
      if (ignores_border && window.border != "constant") continue;
      if (ignores_border) window.border = "ignore";
      SCOPED_TRACE(NameOfWindow(window));
      const Shape in = WithChannels(2, 3, window.extents);
      // Few values, so that there are equal ones, below 0 too.
      const TensorValue x = TensorValue::Make<float>(ElementType::kF32, in, [&](std::span<float> values) {
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 5) - 3;
      });
      SpatialWindow whole = window;
      for (auto* list : {&whole.size, &whole.stride, &whole.dilation}) list->insert(list->begin(), 2, 1);
      whole.padding.insert(whole.padding.begin(), 2, {0, 0});
      ir::AttributeMap attributes = AttributesOfWindow(whole);
      attributes.Set("size", ir::Attribute::Integers(whole.size.begin(), whole.size.end()));
      TestGraph g;
      const ir::OutputPort input = g.Parameter("x", in);
      const ir::OutputPort both = g.Op("nnef", "max_pool_with_index", {input}, attributes, 2);
      g.Result(both, "values");
      g.Result({both.node, 1}, "indices");
      g.Result(g.Op("nnef", "argmax_pool", {input}, attributes), "places");
      const auto made = RunGraph(g.graph, {.backend = Backend::kReference, .threads = 2}, {x});
      ASSERT_EQ(made.size(), 3U);
      std::vector<int64_t> out;
      for (size_t axis = 0; axis < window.axes(); ++axis) out.push_back(window.Down(axis));
      int64_t element = 0;
      for (int64_t plane = 0; plane < 6; ++plane) {
        ForEachIndex(out, [&](const std::vector<int64_t>& at) {
          double best = -std::numeric_limits<double>::infinity();
          int64_t place = -1;
          ForEachIndex(window.size, [&](const std::vector<int64_t>& tap) {
            bool is_inside = true;
            std::vector<int64_t> read(at.size());
            for (size_t axis = 0; axis < at.size(); ++axis) {
              read[axis] = InBorder(at[axis] * window.stride[axis] + tap[axis] * window.dilation[axis] -
                                        window.padding[axis].first,
                                    window.extents[axis], window.border);
              is_inside &= read[axis] >= 0;
            }
            if (!is_inside && window.border == "ignore") return;
            int64_t volume = 1;
            for (const int64_t extent : window.extents) volume *= extent;
            const double value =
                is_inside ? x.ElementAsDouble(plane * volume + PlaceOfIndex(read, window.extents)) : 0;
            if (value > best) {
              best = value;
              place = PlaceOfIndex(tap, window.size);
            }
          });
          EXPECT_EQ(made[0].ElementAsDouble(element), best) << element;
          EXPECT_EQ(made[1].ElementAsInt(element), std::max<int64_t>(place, 0)) << element;
          EXPECT_EQ(made[2].ElementAsInt(element), std::max<int64_t>(place, 0)) << element;
          ++element;
        });
      }
    }
  }
}

// Nothing is greater than negative infinity: the place is that of the first element in the tensor, or the
// first one where all are in the ignored border.
TEST(NnefWindowsTest, PlacesWithoutALargest) {
  for (const float item : {-kInfinity, kNan}) {
    SpatialWindow window{{1, 1, 3}, {1, 1, 2}, {1, 1, 1}, {1, 1, 1}, {{0, 0}, {0, 0}, {2, 2}}, "ignore"};
    ir::AttributeMap attributes = AttributesOfWindow(window);
    attributes.Set("size", ir::Attribute::Integers{1, 1, 2});
    TestGraph g;
    const ir::OutputPort input = g.Parameter("x", {1, 1, 3});
    const ir::OutputPort both = g.Op("nnef", "max_pool_with_index", {input}, attributes, 2);
    g.Result(both, "values");
    g.Result({both.node, 1}, "indices");
    const auto made = RunGraph(g.graph, {.backend = Backend::kReference},
                               {TensorValue::FromFloats({1, 1, 3}, {item, item, item})});
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(made[1], TensorValue::FromInts({1, 1, 6}, {0, 1, 0, 0, 0, 0})) << item;
    for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(made[0].ElementAsDouble(i), -kInfinity);
  }
}

}  // namespace
}  // namespace nnefc::runtime::kernels
