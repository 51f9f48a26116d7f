// libFuzzer's entry points for mutation, in terms of the target's own mutator.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/mutators/mutator.h"

namespace nnefc::fuzz {
namespace {

void MutateBytes(std::string& bytes, size_t max_size) {
  const size_t size = std::min(bytes.size(), max_size);
  bytes.resize(max_size);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, max_size));
}

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

bool Fits(const std::string& text, size_t max_size) {
  return !text.empty() && text.size() <= max_size;
}

}  // namespace
}  // namespace nnefc::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using namespace nnefc::fuzz;
  // Mutations of bytes find errors that format-aware mutators miss.
  constexpr size_t kBytesOneIn = 5;
  Choices choices(seed);
  if (choices.OneIn(kBytesOneIn)) return LLVMFuzzerMutate(data, size, max_size);
  Mutation mutation{.choices = choices, .max_size = max_size, .mutate_bytes = MutateBytes};
  const std::string_view before = View(data, size);
  const std::string after = TargetMutator().mutate(before, mutation);
  if (!Fits(after, max_size) || after == before) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, after.data(), after.size());
  return after.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t max_size,
                                            unsigned int seed) {
  using namespace nnefc::fuzz;
  Choices choices(seed);
  Mutation mutation{.choices = choices, .max_size = max_size, .mutate_bytes = MutateBytes};
  if (TargetMutator().cross != nullptr) {
    const std::string crossed =
        TargetMutator().cross(View(first, first_size), View(second, second_size), mutation);
    if (Fits(crossed, max_size)) {
      std::memcpy(out, crossed.data(), crossed.size());
      return crossed.size();
    }
  }
  // The prefix of the first and the suffix of the second.
  const size_t head = std::min(choices.Below(first_size + 1), max_size);
  const size_t tail = std::min(choices.Below(second_size + 1), max_size - head);
  if (head != 0) std::memcpy(out, first, head);
  if (tail != 0) std::memcpy(out + head, second + (second_size - tail), tail);
  return head + tail;
}
