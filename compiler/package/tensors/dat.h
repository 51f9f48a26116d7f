#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/package/data_source.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::package {

// The encoding of the items of a tensor file (q: a stored item).
enum class DatCoding : uint8_t {
  kPlain,        // the values themselves
  kLinear,       // min + q / (2^bits - 1) * (max - min)
  kLogarithmic,  // 2^(q + ceil(log2(max)) - (2^bits - 1)), with a sign bit if min is not 0
  kQuantized,    // quantized values described in `graph.quant`
  kAlgorithm,    // quantized values described by the file's algorithm text (P 5.2)
};

// The type of the stored items, regardless of their width.
enum class DatItems : uint8_t { kFloat, kUnsigned, kSigned, kBool };

// A vendor's packing of items in blocks of 32: an f16 scale and 16 bytes with two 4-bit values each. An item
// is (value - 8) * scale.
enum class DatBlocks : uint8_t {
  kNone,
  kHalves,  // byte i of the 16 has item i in its low bits, item i + 16 in its high bits
  kPairs,   // byte i has item 2 * i in its low bits, item 2 * i + 1 in its high bits
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
  DatBlocks blocks = DatBlocks::kNone;  // if not kNone, `items` is kFloat and `bits` is 4
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

// The content of a tensor file. Items have the narrowest native type that fits them, and are not decoded.
struct DatFile : DatHeader {
  // Float items are f16, f32 or f64, bools are boolean, integers u8 to u64 or i8 to i64. Items with a native
  // width share the bytes of the file. Blocks are f32 values that are decompressed on first access.
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

// Reads a tensor file of either dialect, distinguished by header and size. Returns nothing after a reported
// error. Sizes stated in the header are compared with the available bytes before memory is allocated.
[[nodiscard]] std::optional<DatFile> ReadDat(const DataSource& source, Emitter& emitter);

// The maximum size of a header in bytes: a provisional one with 32 extents and 65,535 bytes of text.
inline constexpr uint64_t kLongestDatHeader = 16 + uint64_t{4} * 32 + 0xffff;
// Returns the number of leading bytes that ReadDatHeader needs. `start` has the first kLongestDatHeader bytes
// of the file, or all of a shorter one. The result may exceed the size of a truncated file.
uint64_t DatHeaderSize(std::span<const std::byte> start);
// Reads the header of a tensor file of `size` bytes. `start` has at least its first DatHeaderSize bytes, or
// all of a shorter file. Returns nothing after reporting an error, the same one as ReadDat.
[[nodiscard]] std::optional<DatHeader> ReadDatHeader(const DataSource& start, uint64_t size,
                                                     Emitter& emitter);

// Returns a description of the items: "8-bit signed integers", "4-bit quantized items".
std::string DescribeItems(const DatHeader& dat);

// Decodes the items for a variable of type `wanted`: kF32 (`scalar`), kI64 (`integer`) or kBoolean
// (`logical`); R 5.2.1. Floats of other widths become f32. Quantized items are decoded by the file's own
// algorithm text if it has one, otherwise by `quantization`, or by the range in the file if that is null.
// Returns nothing after a reported error, such as items of another type. Items that already have the type are
// not copied.
[[nodiscard]] std::optional<TensorValue> DecodeDat(const DatFile& dat, ElementType wanted, Emitter& emitter,
                                                   const DatQuantization* quantization = nullptr);

// Writes a tensor of any element type except string. bf16 and narrower floats are written as 32-bit floats;
// provisional files store booleans as 8-bit unsigned integers. Fails if the file cannot be written, or if the
// header cannot describe the tensor: an extent of 2^32 or, in the ratified format, 4 GiB or a rank above 8.
ErrorOr<Success> WriteDat(const std::string& path, const TensorValue& value,
                          DatFile::Format format = DatFile::Format::kRatified);

}  // namespace nnefc::package
