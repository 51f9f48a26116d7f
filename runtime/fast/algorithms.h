#pragma once

#include <string_view>

namespace nnefc::runtime {

// Algorithm names for KernelRequest::way in the fast backend.

// Convolution: direct or Winograd in nChw16c layout, NHWC, or in the layouts that oneDNN prefers.
inline constexpr std::string_view kDirect = "direct";
inline constexpr std::string_view kWinograd = "winograd";
inline constexpr std::string_view kChannelsLast = "channels_last";
inline constexpr std::string_view kPreferred = "preferred";
// Matmul with a constant matrix: oneDNN's matmul or inner product, or unpacked weights.
inline constexpr std::string_view kMatmul = "matrix_product";
inline constexpr std::string_view kInnerProduct = "inner_product";
inline constexpr std::string_view kGemv = "in_place";
// Matmul with multiple rows, or a convolution: our microkernels.
inline constexpr std::string_view kTiles = "tiles";
// A convolution as im2col plus GEMM.
inline constexpr std::string_view kIm2col = "gathered";

}  // namespace nnefc::runtime
