#pragma once

#include <cstddef>
#include <cstdint>

namespace nnefc::openvino {

inline constexpr int kMaxAttributes = 256;      // per XML element
inline constexpr int kMaxRtInfoEntries = 4096;  // per graph or layer
inline constexpr int kDeepestRtInfo = 64;
inline constexpr size_t kShown = 60;                            // bytes of a name or text in messages
inline constexpr uint64_t kLongestXml = uint64_t{256} << 20;    // bytes of text
inline constexpr uint64_t kMaxXmlMemory = uint64_t{768} << 20;  // bytes of the parsed elements

}  // namespace nnefc::openvino
