// Runs a fuzz target without libFuzzer: on files and folders of inputs, then
// on a number of mutants of them, the same ones in every run.
//
//     fuzz_TARGET [--mutants N] [--seed N] [--keep FILE] FILE|FOLDER...
//
// An input that aborts the process is reported, and written to FILE.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

namespace {

namespace fs = std::filesystem;

// Larger inputs are run, but not mutated.
constexpr size_t kMaxMutantBytes = 16'384;

struct Input {
  std::string name;
  std::string bytes;
};

Input ReadInput(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {path.string(), {std::istreambuf_iterator<char>(file), {}}};
}

// The input that is reported when the process aborts.
const Input* current = nullptr;
std::string keep_path;  // of --keep; empty: the input is not saved

// Handles SIGABRT: reports the input and saves it.
void ReportInput(int) {
  std::fprintf(stderr, "the input was: %s\n", current->name.c_str());
  if (!keep_path.empty()) std::ofstream(keep_path, std::ios::binary) << current->bytes;
  std::signal(SIGABRT, SIG_DFL);
}

void Run(const Input& input) {
  current = &input;
  // A buffer of exactly that size, so that the address sanitizer detects reads past its end.
  const std::vector<uint8_t> bytes(input.bytes.begin(), input.bytes.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// A generator of mutants of the inputs; the same seed generates the same mutants.
class Mutants {
 public:
  Mutants(const std::vector<Input>& inputs, uint32_t seed) : inputs_(inputs), random_(seed) {}

  // Returns a mutant of a random input, named by `number`.
  Input Make(int number) {
    const Input& original = inputs_[Below(inputs_.size())];
    Input mutant{original.name + " mutant " + std::to_string(number), original.bytes};
    const auto* data = reinterpret_cast<const uint8_t*>(original.bytes.data());
    constexpr size_t kCrossOverOneIn = 8;
    mutant.bytes.resize(kMaxMutantBytes);
    auto* out = reinterpret_cast<uint8_t*>(mutant.bytes.data());
    size_t size = original.bytes.size();
    if (Below(kCrossOverOneIn) == 0) {
      const std::string& other = inputs_[Below(inputs_.size())].bytes;
      size = LLVMFuzzerCustomCrossOver(data, size, reinterpret_cast<const uint8_t*>(other.data()),
                                       other.size(), out, kMaxMutantBytes, random_());
    } else {
      size = LLVMFuzzerCustomMutator(out, size, kMaxMutantBytes, random_());
    }
    mutant.bytes.resize(size);
    return mutant;
  }

  // Makes one to three random edits, in place of libFuzzer's LLVMFuzzerMutate.
  void EditBytes(std::string& bytes) {
    for (size_t edits = 1 + Below(3); edits > 0; --edits) Edit(bytes);
  }

 private:
  // Returns a random number below `bound`; 0 if it is 0.
  size_t Below(size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(random_() % bound); }

  // Replaces the next digits at or after offset `at` by a boundary number.
  void ChangeNumber(std::string& bytes, size_t at) {
    static constexpr const char* kNumbers[] = {
        "0",   "1",   "2",    "-1",         "3",          "7",
        "64",  "255", "1e30", "2147483648", "4294967295", "-9223372036854775808",
        "0.5", "",    "1000", "65537",      "1000000007", "9223372036854775807"};
    const size_t begin = bytes.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    const size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
    bytes.replace(begin, end - begin, kNumbers[Below(std::size(kNumbers))]);
  }

  void Edit(std::string& bytes) {
    const size_t at = Below(bytes.size() + 1);
    const size_t length = std::min(1 + Below(16), bytes.size() - at);
    const std::string& other = inputs_[Below(inputs_.size())].bytes;
    const size_t from = Below(other.size() + 1);
    switch (Below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = "\0\xff\x7f\x80 0-\"[<"[Below(10)];
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        ChangeNumber(bytes, at);
        break;
      case 5:
        bytes.insert(at, other, from, 1 + Below(32));
        break;
      default:
        bytes.replace(at, length, other, from, 1 + Below(32));
    }
  }

  const std::vector<Input>& inputs_;
  std::mt19937 random_;
};

// The generator that LLVMFuzzerMutate uses.
Mutants* mutator = nullptr;

// Collects the inputs of the path, in an order that does not depend on the disk.
void Collect(const std::string& path, std::vector<Input>& inputs) {
  std::vector<fs::path> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  } else if (fs::exists(path)) {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) inputs.push_back(ReadInput(file));
}

// Returns the inputs that are small enough to be mutated.
std::vector<Input> Small(const std::vector<Input>& inputs) {
  std::vector<Input> small;
  for (const Input& input : inputs)
    if (input.bytes.size() <= kMaxMutantBytes) small.push_back(input);
  return small;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mutator->EditBytes(bytes);
  bytes.resize(std::min(bytes.size(), max_size));
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int main(int count, char** arguments) {
  std::vector<Input> inputs;
  int mutants = 0;
  uint32_t seed = 1;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--mutants" && i + 1 < count) {
      mutants = std::atoi(arguments[++i]);
    } else if (argument == "--seed" && i + 1 < count) {
      seed = static_cast<uint32_t>(std::atoi(arguments[++i]));
    } else if (argument == "--keep" && i + 1 < count) {
      keep_path = arguments[++i];
    } else {
      Collect(argument, inputs);
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "there are no inputs\n");
    return 2;
  }
  std::signal(SIGABRT, ReportInput);
  for (const Input& input : inputs) Run(input);
  const std::vector<Input> small = Small(inputs);
  Mutants mutants_of_small(small, seed);
  mutator = &mutants_of_small;
  for (int i = 0; i < mutants && !small.empty(); ++i) Run(mutants_of_small.Make(i));
  std::printf("%zu inputs and %d mutants of them\n", inputs.size(), mutants);
  return 0;
}
