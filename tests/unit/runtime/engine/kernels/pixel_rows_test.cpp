// Convolutions between matrices of pixels, as in transformers, against the reference kernels.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

TEST(PixelRowsTest, ConvolutionsBetweenProducts) {
  for (const int64_t images : {1, 2}) {
    for (const int64_t channels : {16, 20, 64}) {
      for (const int64_t groups : {int64_t{1}, channels}) {
        SCOPED_TRACE(std::to_string(images) + " images of " + std::to_string(channels) + " channels in " +
                     std::to_string(groups) + " groups");
        const int64_t height = 6, width = 9, pixels = height * width;
        TestGraph g;
        const auto x = g.Parameter("x", {images, pixels, channels});
        const auto rows = g.Op("MatMul", {x, g.Weights({channels, channels}, 1)});
        const auto planes = g.Op("Transpose", {rows, g.Ints({0, 2, 1})});
        const auto image =
            g.Op("Reshape", {planes, g.Ints({images, channels, height, width})}, With("special_zero", false));
        const WindowSetting window = {
            .input = {images, channels, height, width}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
        const auto convolved =
            groups == 1
                ? g.Op("Convolution", {image, g.Weights({channels, channels, 3, 3}, 2)}, WindowOf(window))
                : g.Op("GroupConvolution", {image, g.Weights({channels, 1, 1, 3, 3}, 2)}, WindowOf(window));
        const auto flat =
            g.Op("Reshape", {convolved, g.Ints({images, channels, pixels})}, With("special_zero", false));
        const auto again = g.Op("Transpose", {flat, g.Ints({0, 2, 1})});
        g.Result(g.Op("MatMul", {g.Op("ReLU", {again}), g.Weights({channels, 24}, 3)}));
        ExpectAsReference(g, {RandomTensor({images, pixels, channels}, 4)}, "");
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
