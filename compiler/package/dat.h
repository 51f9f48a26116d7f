#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/package/data_source.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// What the items of a tensor file stand for.
enum class DatCoding : uint8_t {
  kPlain,        // themselves
  kLinear,       // min + q / (2^bits - 1) * (max - min)
  kLogarithmic,  // powers of two up to 2^ceil(log2(max))
  kQuantized,    // indices whose meaning stands in `graph.quant`
  kAlgorithm,    // indices whose meaning is the file's algorithm text (P 5.2)
};

// The type of the items as written, whatever their width.
enum class DatItems : uint8_t { kFloat, kUnsigned, kSigned, kBool };

// Items that a vendor packs in blocks of 32, each a scale (f16) and 16 bytes of two codes of four
// bits: an item is its code less 8, times the scale.
enum class DatBlocks : uint8_t {
  kNone,
  kHalves,  // a byte holds items i and i + 16
  kPairs,   // items 2 * i and 2 * i + 1
};

// What a tensor file (language of R 5.2 or P 5.2) says of its items.
struct DatHeader {
  enum class Format : uint8_t { kProvisional, kRatified };

  FileId file;
  Shape shape = {};
  Format format = Format::kRatified;
  DatItems items = DatItems::kFloat;
  DatCoding coding = DatCoding::kPlain;
  int bits = 32;
  DatBlocks blocks = DatBlocks::kNone;  // of floats that are read as f32
  // Of kLinear and kLogarithmic; of kQuantized where `has_range`.
  float min = 0;
  float max = 0;
  bool has_range = false;
  // Of kAlgorithm: "linear_quantize(min = -1.0, max = 1.0, bits = 8)".
  std::string algorithm;
  // Places in the file that messages point to.
  uint64_t type_offset = 0;
  uint64_t algorithm_offset = 0;
  uint64_t data_offset = 0;
};

// A tensor file as read: its items widened to the next native type, not
// decoded.
struct DatFile : DatHeader {
  // Float items are f16, f32 or f64, bools are boolean, integers u8 to u64 or
  // i8 to i64. Whole native items are mapped, not copied.
  TensorValue value;
};

// How `graph.quant` tells to read quantized items (R 4.9.5): evaluated
// arguments, each a single f32 or a tensor that broadcasts to the items'
// shape (leading extents aligned, R 4.1).
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

// Reads a tensor file of either dialect, which its header and size tell apart.
// Nothing is believed before it is checked against the bytes that are there.
[[nodiscard]] std::optional<DatFile> ReadDat(const DataSource& source, Emitter& emitter);

// No header takes more bytes.
inline constexpr uint64_t kLongestDatHeader = 16 + uint64_t{4} * 32 + 0xffff;
// How many bytes the header of a file takes, told by the first kLongestDatHeader
// of them; less where the file is shorter.
uint64_t DatHeaderSize(std::span<const std::byte> start);
// Reads the header of a tensor file of `size` bytes, of which `start` holds
// those of the header at least, and says of the file what ReadDat does.
[[nodiscard]] std::optional<DatHeader> ReadDatHeader(const DataSource& start, uint64_t size,
                                                     Emitter& emitter);

// The items in words: "8-bit signed integers", "4-bit quantized items".
std::string DescribeItems(const DatHeader& dat);

// Turns items into what a variable of type `wanted` holds: kF32 (`scalar`),
// kI64 (`integer`) or kBoolean (`logical`); R 5.2.1. Floats are converted,
// quantized items decoded, by `quantization` if given; items of another type
// are an error. Plain f32 stays mapped.
[[nodiscard]] std::optional<TensorValue> DecodeDat(const DatFile& dat, ElementType wanted, Emitter& emitter,
                                                   const DatQuantization* quantization = nullptr);

// Writes a tensor of any element type but string. bf16 is written as 32-bit
// float; provisional files hold booleans as 8-bit unsigned integers. Fails for
// what the header cannot say: 4 GiB or a rank above 8 in the ratified format.
ErrorOr<Success> WriteDat(const std::string& path, const TensorValue& value,
                          DatFile::Format format = DatFile::Format::kRatified);

}  // namespace nnefc
