#pragma once

#include <string_view>

namespace nnefc::runtime {

// What KernelRequest::way may ask of factories of the fast backend.

// A convolution: with channels in blocks, directly or in fewer multiplications; with channels behind the
// pixels; in the layouts that oneDNN prefers.
inline constexpr std::string_view kDirect = "direct";
inline constexpr std::string_view kWinograd = "winograd";
inline constexpr std::string_view kChannelsLast = "channels_last";
inline constexpr std::string_view kPreferred = "preferred";
// A product with a constant matrix: by oneDNN's products of matrices or its inner product; by the matrix as
// it lies.
inline constexpr std::string_view kMatrixProduct = "matrix_product";
inline constexpr std::string_view kInnerProduct = "inner_product";
inline constexpr std::string_view kInPlace = "in_place";
// One of many rows, or a convolution: in our own tiles, as it is or in fewer multiplications.
inline constexpr std::string_view kTiles = "tiles";
inline constexpr std::string_view kFewer = "fewer_products";
// A convolution as such a product of what its windows see.
inline constexpr std::string_view kGathered = "gathered";

}  // namespace nnefc::runtime
