#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tests/fuzz/mutators/choices.h"

namespace nnefc::fuzz {

// The context of a mutation.
struct Mutation {
  Choices& choices;
  size_t max_size;  // of the mutant, in bytes
  // Changes bytes without knowledge of their format; the result has at most `max_size` bytes.
  void (*mutate_bytes)(std::string& bytes, size_t max_size);
};

// The mutators of one input format. Both functions return an empty or too long text if there is nothing to
// change; the caller then mutates bytes.
struct Mutator {
  std::string (*mutate)(std::string_view input, Mutation& mutation);
  // Combines parts of two inputs; null if the format has no such parts.
  std::string (*cross)(std::string_view first, std::string_view second, Mutation& mutation) = nullptr;
};

// The mutators of the target that is linked.
const Mutator& TargetMutator();

// The mutators of each format.
extern const Mutator kDocumentMutator;     // NNEF documents and graph.quant
extern const Mutator kGraphTextMutator;    // graphs in text form
extern const Mutator kJsonMutator;         // JSON
extern const Mutator kResourceMutator;     // a path, a line end, and JSON
extern const Mutator kOpenVinoMutator;     // XML, a zero byte and the constants
extern const Mutator kSafetensorsMutator;  // files of tensors in that format
extern const Mutator kDatMutator;          // tensor files
extern const Mutator kNpyMutator;          // .npy and .npz
extern const Mutator kContainerMutator;    // .tar and .tgz

}  // namespace nnefc::fuzz

// The functions of libFuzzer's interface, which hooks.cpp defines by TargetMutator().
extern "C" {
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                 size_t second_size, uint8_t* out, size_t max_size, unsigned int seed);
// Defined by libFuzzer, or by replay.cpp in its absence.
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
}
