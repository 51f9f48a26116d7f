#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/package/data_source.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// The encoding of the items of a tensor file.
enum class DatCoding : uint8_t {
  kPlain,        // plain values
  kLinear,       // min + q / (2^bits - 1) * (max - min)
  kLogarithmic,  // powers of two up to 2^ceil(log2(max))
  kQuantized,    // quantized values described in `graph.quant`
  kAlgorithm,    // quantized values described by the file's algorithm text (P 5.2)
};

// The type of the stored items, regardless of their width.
enum class DatItems : uint8_t { kFloat, kUnsigned, kSigned, kBool };

// A vendor's packing of items in blocks of 32: an f16 scale and 16 bytes with two 4-bit values each. An item
// is (value - 8) * scale.
enum class DatBlocks : uint8_t {
  kNone,
  kHalves,  // a byte holds items i and i + 16
  kPairs,   // items 2 * i and 2 * i + 1
};

// The description of the items in a tensor file (R 5.2, P 5.2).
struct DatHeader {
  enum class Format : uint8_t { kProvisional, kRatified };

  FileId file;
  Shape shape = {};
  Format format = Format::kRatified;
  DatItems items = DatItems::kFloat;
  DatCoding coding = DatCoding::kPlain;
  int bits = 32;
  DatBlocks blocks = DatBlocks::kNone;  // blocks of floats, read as f32
  // For kLinear and kLogarithmic, and for kQuantized if `has_range`.
  float min = 0;
  float max = 0;
  bool has_range = false;
  // For kAlgorithm: "linear_quantize(min = -1.0, max = 1.0, bits = 8)".
  std::string algorithm;
  // File offsets for messages.
  uint64_t type_offset = 0;
  uint64_t algorithm_offset = 0;
  uint64_t data_offset = 0;
};

// The content of a tensor file: items widened to the next native type, not decoded.
struct DatFile : DatHeader {
  // Float items are f16, f32 or f64, bools are boolean, integers u8 to u64 or i8 to i64. Items with a native
  // width are mapped, not copied.
  TensorValue value;
};

// The quantization of items from `graph.quant` (R 4.9.5): evaluated arguments, each a single f32 or a tensor
// that broadcasts to the items' shape (leading extents aligned, R 4.1).
struct DatQuantization {
  enum class Algorithm : uint8_t { kMinMaxLinear, kZeroPointLinear, kLogarithmic };

  Algorithm algorithm = Algorithm::kMinMaxLinear;
  int bits = 8;
  bool is_signed = false;
  bool symmetric = false;
  TensorValue min = {};         // kMinMaxLinear
  TensorValue max = {};         // kMinMaxLinear, kLogarithmic
  TensorValue zero_point = {};  // kZeroPointLinear
  TensorValue scale = {};       // kZeroPointLinear
};

// Reads a tensor file of either dialect, distinguished by header and size. All stated sizes are checked
// against the available bytes first.
[[nodiscard]] std::optional<DatFile> ReadDat(const DataSource& source, Emitter& emitter);

// The maximum size of a header, in bytes.
inline constexpr uint64_t kLongestDatHeader = 16 + uint64_t{4} * 32 + 0xffff;
// Returns the number of header bytes to read, from the first kLongestDatHeader bytes of a file. For a
// truncated file it may differ from the stated length and exceed the file's size.
uint64_t DatHeaderSize(std::span<const std::byte> start);
// Reads the header of a tensor file of `size` bytes. `start` has at least the header. Reports the same errors
// as ReadDat.
[[nodiscard]] std::optional<DatHeader> ReadDatHeader(const DataSource& start, uint64_t size,
                                                     Emitter& emitter);

// Returns a description of the items: "8-bit signed integers", "4-bit quantized items".
std::string DescribeItems(const DatHeader& dat);

// Decodes the items for a variable of type `wanted`: kF32 (`scalar`), kI64 (`integer`) or kBoolean
// (`logical`); R 5.2.1. Floats are converted and quantized items decoded, by `quantization` if not null.
// Items of another type are an error. Plain f32 stays mapped.
[[nodiscard]] std::optional<TensorValue> DecodeDat(const DatFile& dat, ElementType wanted, Emitter& emitter,
                                                   const DatQuantization* quantization = nullptr);

// Writes a tensor of any element type except string. bf16 is written as 32-bit float; provisional files store
// booleans as 8-bit unsigned integers. Fails for tensors that the header cannot describe: 4 GiB or a rank
// above 8 in the ratified format.
ErrorOr<Success> WriteDat(const std::string& path, const TensorValue& value,
                          DatFile::Format format = DatFile::Format::kRatified);

}  // namespace nnefc
