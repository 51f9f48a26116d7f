// Mutants of tensor files and of NumPy's arrays: fields of the header change, and with them dependent fields
// and the length of the data.
#include "tests/fuzz/mutators/tensor_mutator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/fuzz/mutators/boundary_numbers.h"
#include "tests/fuzz/mutators/text_edits.h"

namespace nnefc::fuzz {
namespace {

uint32_t U32(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void PutU32(std::string& bytes, size_t at, uint64_t value) {
  const auto word = static_cast<uint32_t>(value);
  if (at + sizeof word <= bytes.size()) std::memcpy(bytes.data() + at, &word, sizeof word);
}

// Usually returns a small extent: the data must be present.
uint32_t Extent(Choices& choices) {
  constexpr size_t kMaxSmall = 5;
  return choices.OneIn(8) ? static_cast<uint32_t>(BoundaryInteger(choices))
                          : static_cast<uint32_t>(choices.Below(kMaxSmall));
}

// Returns the bytes of a tensor of these extents, limited to `max_size`.
size_t DataBytes(const std::vector<uint32_t>& extents, uint64_t bits, size_t max_size) {
  uint64_t total = bits;
  for (uint32_t extent : extents) {
    if (extent != 0 && total > 8 * uint64_t{max_size} / extent) return max_size;
    total *= extent;
  }
  return static_cast<size_t>(std::min<uint64_t>((total + 7) / 8, max_size));
}

// Resizes the data; added bytes have all values.
void ResizeData(std::string& bytes, size_t begin, size_t size) {
  bytes.resize(std::min(bytes.size(), begin + size));
  while (bytes.size() < begin + size) bytes += static_cast<char>(bytes.size() * 37);
}

constexpr auto kBits =
    std::to_array<uint32_t>({0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65});

constexpr size_t kLengthAt = 4;
constexpr size_t kRankAt = 8;
constexpr size_t kExtentsAt = 12;

// A tensor file of the ratified dialect: 128 bytes, and the data.
std::string MutateRatified(std::string bytes, Mutation& mutation) {
  constexpr size_t kHeader = 128;
  constexpr size_t kMaxRank = 8;
  constexpr size_t kBitsAt = 44;
  constexpr size_t kTypeAt = 48;
  constexpr size_t kParametersAt = 52;
  static constexpr auto kTypes = std::to_array<uint32_t>(
      {0, 1, 2, 3, 4, 5, 6, 0x10, 0x11, 0x10000, 0x10001, 0x10005, 0x1000c, 0x4e0000});
  Choices& choices = mutation.choices;
  bytes.resize(std::max(bytes.size(), kHeader));
  switch (choices.Below(6)) {
    case 0:
      PutU32(bytes, kBitsAt, choices.Pick(kBits));
      break;
    case 1:
      PutU32(bytes, kTypeAt, choices.Pick(kTypes));
      if (choices.OneIn(2)) PutU32(bytes, kBitsAt, choices.Pick(kBits));
      break;
    case 2:
      PutU32(bytes, kRankAt, choices.OneIn(8) ? Extent(choices) : choices.Below(kMaxRank + 1));
      break;
    case 3:
      PutU32(bytes, kExtentsAt + 4 * choices.Below(kMaxRank), Extent(choices));
      break;
    case 4:
      PutU32(bytes, kParametersAt + 4 * choices.Below(8), static_cast<uint64_t>(BoundaryInteger(choices)));
      break;
    default: {
      const size_t at = choices.Below(bytes.size());
      bytes[at] = static_cast<char>(BoundaryInteger(choices));
    }
  }
  if (choices.OneIn(8)) return bytes;
  std::vector<uint32_t> extents;
  for (size_t i = 0; i < std::min<size_t>(U32(bytes, kRankAt), kMaxRank); ++i)
    extents.push_back(U32(bytes, kExtentsAt + 4 * i));
  if (!choices.OneIn(4)) {  // extents beyond the rank are zero
    for (size_t i = extents.size(); i < kMaxRank; ++i) PutU32(bytes, kExtentsAt + 4 * i, 0);
  }
  ResizeData(
      bytes, kHeader,
      DataBytes(extents, U32(bytes, kBitsAt), mutation.max_size - std::min(kHeader, mutation.max_size)));
  PutU32(bytes, kLengthAt, bytes.size() - kHeader);
  return bytes;
}

// Makes a file of the provisional dialect: 16 bytes, extents, the text of the quantization, and the data.
std::string MakeProvisional(Mutation& mutation) {
  static constexpr auto kTexts = std::to_array<std::string_view>(
      {"", "", "linear(0.0, 1.0)", "linear(min = -1.0, max = 1.0, bits = 8)", "logarithmic(-1.0, 1.0)",
       "linear()", "linear_quantize(0.0, 1.0, 8)", "linear(1e30, -1e30)", "linear(0.0, 0.0)", "x"});
  Choices& choices = mutation.choices;
  std::string text(choices.Pick(kTexts));
  if (!text.empty() && choices.OneIn(3)) {
    static const std::vector<std::string_view> words = {"linear", "logarithmic", "min", "max", "bits"};
    Tokens tokens = Tokenize(text, "#");
    TextEdits(tokens, choices, words).MakeAny();
    text = Join(tokens);
  }
  std::vector<uint32_t> extents(choices.Below(5));
  for (uint32_t& extent : extents) extent = Extent(choices);
  const uint32_t bits = choices.Pick(kBits);
  const size_t type_at = kExtentsAt + 4 * extents.size();
  std::string bytes("\x4e\xef\x01\x00", 4);
  bytes.resize(type_at + 4);
  PutU32(bytes, kLengthAt, type_at + 4 + text.size());
  PutU32(bytes, kRankAt, extents.size());
  for (size_t i = 0; i < extents.size(); ++i) PutU32(bytes, kExtentsAt + 4 * i, extents[i]);
  bytes[type_at] = static_cast<char>(text.empty() ? choices.Below(5) : 1);
  bytes[type_at + 1] = static_cast<char>(bits);
  bytes[type_at + 2] = static_cast<char>(text.size());
  bytes[type_at + 3] = static_cast<char>(text.size() >> 8);
  bytes += text;
  const size_t begin = bytes.size();
  ResizeData(bytes, begin, DataBytes(extents, bits, mutation.max_size - std::min(begin, mutation.max_size)));
  return bytes;
}

constexpr std::string_view kNpyMagic = "\x93NUMPY";

// An array of NumPy, split into header and data.
struct Array {
  int version = 1;
  std::string header;  // the dictionary
  std::string data;
};

Array SplitArray(std::string_view input) {
  Array array;
  if (input.size() < 10 || !input.starts_with(kNpyMagic)) {
    array.header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
    array.data.resize(8);
    return array;
  }
  array.version = static_cast<unsigned char>(input[6]);
  const size_t start = array.version == 1 ? 10 : 12;
  uint32_t length = 0;
  std::memcpy(&length, input.data() + 8, array.version == 1 || input.size() < start ? 2 : 4);
  input.remove_prefix(std::min(start, input.size()));
  const size_t end = std::min<size_t>(length, input.size());
  array.header = input.substr(0, end);
  array.data = input.substr(end);
  while (!array.header.empty() && (array.header.back() == ' ' || array.header.back() == '\n'))
    array.header.pop_back();
  return array;
}

std::string Print(const Array& array) {
  std::string bytes(kNpyMagic);
  bytes += static_cast<char>(array.version);
  bytes += '\0';
  const size_t length = array.header.size();
  for (size_t i = 0; i < (array.version == 1 ? 2u : 4u); ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes + array.header + array.data;
}

std::string Dictionary(const std::string& type, bool is_fortran, const std::vector<uint32_t>& extents) {
  std::string shape;
  for (uint32_t extent : extents) shape += std::to_string(extent) + ", ";
  return "{'descr': '" + type + "', 'fortran_order': " + (is_fortran ? "True" : "False") + ", 'shape': (" +
         shape + "), }\n";
}

}  // namespace

std::string MutateDat(std::string_view input, Mutation& mutation) {
  if (mutation.choices.OneIn(4)) return MakeProvisional(mutation);
  return MutateRatified(std::string(input), mutation);
}

std::string MutateNpy(std::string_view input, Mutation& mutation) {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"<f4", "<f8", "<f2", "|b1", "|i1",  "|u1", "<i2", "<u2", "<i4",    "<u4",
       "<i8", "<u8", ">f4", ">f8", ">f2",  ">i2", ">i8", ">u4", "=f4",    "<b1",
       "<c8", "|O",  "<U4", "|S3", "<f16", "V2",  "f4",  "<i3", "<M8[ns]"});
  static const std::vector<std::string_view> words = {"True",    "False", "'descr'", "'fortran_order'",
                                                      "'shape'", "'<f4'", "None",    "'extra'"};
  Choices& choices = mutation.choices;
  Array array = SplitArray(input);
  switch (choices.Below(6)) {
    case 0:
      array.version = static_cast<int>(choices.Below(5));
      break;
    case 1: {
      Tokens tokens = Tokenize(array.header, "");
      TextEdits(tokens, choices, words).MakeAny();
      array.header = Join(tokens);
      break;
    }
    case 2:
      mutation.mutate_bytes(array.data, mutation.max_size);
      break;
    default: {
      std::vector<uint32_t> extents(choices.Below(5));
      for (uint32_t& extent : extents) extent = Extent(choices);
      const std::string type(choices.Pick(kTypes));
      const uint64_t item =
          type.back() >= '1' && type.back() <= '8' ? static_cast<uint64_t>(type.back() - '0') : 4;
      array.header = Dictionary(type, choices.OneIn(2), extents);
      if (choices.OneIn(4)) array.header.insert(array.header.size() - 1, choices.Below(60), ' ');
      if (!choices.OneIn(8)) ResizeData(array.data, 0, DataBytes(extents, 8 * item, mutation.max_size / 2));
    }
  }
  return Print(array);
}

const Mutator kDatMutator = {MutateDat};

}  // namespace nnefc::fuzz
