// Mutants of JSON: a JSON file, a file with a path into it, and the header of a safetensors file.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "nlohmann/json.hpp"
#include "tests/fuzz/mutators/boundary_numbers.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/mutators/text_edits.h"

namespace nnefc::fuzz {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string_view>& Words() {
  static const std::vector<std::string_view> words = {
      "true",  "false", "null",         "F64",          "F32",   "F16",   "BF16",    "I8",      "I16",
      "I32",   "I64",   "U8",           "U16",          "U32",   "U64",   "BOOL",    "F8_E4M3", "F8_E5M2",
      "dtype", "shape", "data_offsets", "__metadata__", "rules", "error", "warning", "off",     "all"};
  return words;
}

// Edits the tokens: this keeps repeated keys and the spelling of numbers, unlike a tree of values.
std::string EditText(std::string_view text, Mutation& mutation) {
  constexpr size_t kMaxEdits = 3;
  Tokens tokens = Tokenize(text, "");
  for (size_t edits = 1 + mutation.choices.Below(kMaxEdits); edits > 0; --edits)
    TextEdits(tokens, mutation.choices, Words()).MakeAny();
  return Join(tokens);
}

std::string CrossText(std::string_view first, std::string_view second, Mutation& mutation) {
  Tokens tokens = Tokenize(first, "");
  if (!TextEdits(tokens, mutation.choices, Words()).Splice(Tokenize(second, ""))) return "";
  return Join(tokens);
}

// Also returns null if the text is not JSON, or nested too deeply for the library's recursion.
Json Parse(std::string_view text) {
  constexpr int kMaxDepth = 64;
  const auto is_shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; };
  Json json = Json::parse(text, is_shallow, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

std::string Print(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns a path from the root to a random value, in the form of resource names: `$.a[1].b`.
std::string SomePath(const Json& root, Choices& choices) {
  std::string path = "$";
  const Json* at = &root;
  while (at->is_structured() && !at->empty() && !choices.OneIn(5)) {
    const size_t index = choices.Below(at->size());
    if (at->is_array()) {
      path += "[" + std::to_string(index) + "]";
      at = &(*at)[index];
    } else {
      const auto member = std::next(at->begin(), static_cast<ptrdiff_t>(index));
      path += "." + member.key();
      at = &*member;
    }
  }
  return path;
}

std::string MutateResource(std::string_view input, Mutation& mutation) {
  const size_t end = std::min(input.find('\n'), input.size());
  std::string path(input.substr(0, end));
  std::string text(input.substr(std::min(end + 1, input.size())));
  Choices& choices = mutation.choices;
  if (!choices.OneIn(3)) text = EditText(text, mutation);
  if (choices.OneIn(2)) {
    path = SomePath(Parse(text), choices);
  } else if (choices.OneIn(3)) {
    path = EditText(path, mutation);
  }
  std::erase(path, '\n');
  return path + "\n" + text;
}

std::string CrossResources(std::string_view first, std::string_view second, Mutation& mutation) {
  const auto text = [](std::string_view input) {
    return input.substr(std::min(input.find('\n'), input.size() - 1) + 1);
  };
  if (first.empty() || second.empty()) return "";
  const std::string crossed = CrossText(text(first), text(second), mutation);
  return SomePath(Parse(crossed), mutation.choices) + "\n" + crossed;
}

constexpr size_t kLengthBytes = 8;

// A file of tensors, split into header and data.
struct TensorFile {
  std::string header;
  std::string data;
};

TensorFile Split(std::string_view input) {
  uint64_t length = 0;
  if (input.size() < kLengthBytes) return {std::string(input), ""};
  std::memcpy(&length, input.data(), kLengthBytes);
  input.remove_prefix(kLengthBytes);
  const size_t end = static_cast<size_t>(std::min<uint64_t>(length, input.size()));
  return {std::string(input.substr(0, end)), std::string(input.substr(end))};
}

std::string Print(const TensorFile& file) {
  const uint64_t length = file.header.size();
  std::string text(kLengthBytes, '\0');
  std::memcpy(text.data(), &length, kLengthBytes);
  return text + file.header + file.data;
}

// Returns the bits of an item from the digits in the name of its type: `F32`, `F8_E4M3`.
uint64_t ItemBits(const std::string& type) {
  const size_t digits = type.find_first_of("0123456789");
  if (type == "BOOL" || digits == std::string::npos) return 8;
  return std::strtoull(type.c_str() + digits, nullptr, 10) % 1000;
}

// Stores the tensors one after another, with sizes by their types and extents.
void FixOffsets(Json& header, TensorFile& file, size_t max_size) {
  uint64_t offset = 0;
  for (auto& [name, tensor] : header.items()) {
    if (!tensor.is_object() || !tensor.contains("shape") || !tensor["shape"].is_array()) continue;
    uint64_t bits = tensor.contains("dtype") && tensor["dtype"].is_string() ? ItemBits(tensor["dtype"]) : 32;
    for (const Json& extent : tensor["shape"]) {
      if (!extent.is_number_unsigned()) continue;
      const uint64_t count = extent.get<uint64_t>();
      bits = count > max_size ? 0 : bits * count % (uint64_t{1} << 32);
    }
    const uint64_t end = offset + std::min<uint64_t>((bits + 7) / 8, max_size);
    tensor["data_offsets"] = {offset, end};
    offset = end;
  }
  file.data.resize(static_cast<size_t>(std::min<uint64_t>(offset, max_size)), '\1');
}

// Changes one tensor of the header, and updates the others.
bool ChangeTensor(TensorFile& file, Mutation& mutation) {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"F64", "F32", "F16", "BF16", "I8", "I16", "I32", "I64", "U8", "U16",
                                       "U32", "U64", "BOOL", "F8_E4M3", "F4"});
  Choices& choices = mutation.choices;
  Json header = Parse(file.header);
  if (!header.is_object() || header.empty()) return false;
  const auto member = std::next(header.begin(), static_cast<ptrdiff_t>(choices.Below(header.size())));
  const std::string& name = member.key();
  if (!member->is_object()) return false;
  Json& tensor = *member;
  if (!tensor.contains("shape") || !tensor["shape"].is_array()) return false;
  switch (choices.Below(5)) {
    case 0:
      tensor["dtype"] = choices.Pick(kTypes);
      break;
    case 1:
      tensor["shape"].push_back(BoundaryInteger(choices));
      break;
    case 2:
      if (tensor["shape"].empty()) return false;
      choices.Pick(tensor["shape"]) = BoundaryInteger(choices);
      break;
    case 3: {
      const Json copy = tensor;
      header[name + "_" + std::to_string(choices.Below(10))] = copy;
      break;
    }
    default:
      header.erase(member);
  }
  if (!choices.OneIn(4)) FixOffsets(header, file, mutation.max_size);
  file.header = Print(header);
  return true;
}

std::string MutateSafetensors(std::string_view input, Mutation& mutation) {
  TensorFile file = Split(input);
  Choices& choices = mutation.choices;
  const size_t kind = choices.Below(8);
  if (kind == 0) {
    mutation.mutate_bytes(file.data, mutation.max_size);
  } else if (kind == 1) {
    mutation.mutate_bytes(file.header, mutation.max_size);
  } else if (kind < 4 || !ChangeTensor(file, mutation)) {
    file.header = EditText(file.header, mutation);
    // By the format the header begins with a brace and may end with spaces.
    while (!file.header.empty() && file.header.back() == '\n') file.header.pop_back();
    if (choices.OneIn(4)) file.header.append(choices.Below(9), ' ');
  }
  return Print(file);
}

std::string CrossSafetensors(std::string_view first, std::string_view second, Mutation& mutation) {
  TensorFile file = Split(first);
  Json header = Parse(file.header);
  const Json other = Parse(Split(second).header);
  if (!header.is_object() || !other.is_object()) return "";
  for (const auto& [name, tensor] : other.items())
    if (mutation.choices.OneIn(2)) header[name] = tensor;
  FixOffsets(header, file, mutation.max_size);
  file.header = Print(header);
  return Print(file);
}

}  // namespace

const Mutator kJsonMutator = {EditText, CrossText};
const Mutator kResourceMutator = {MutateResource, CrossResources};
const Mutator kSafetensorsMutator = {MutateSafetensors, CrossSafetensors};

}  // namespace nnefc::fuzz
