// Weights in a file: the parts in memory, and plans that read them again.

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "compiler/support/files/file.h"
#include "fmt/core.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

// Random numbers in a mapped file.
class MappedNumbers {
 public:
  explicit MappedNumbers(int64_t count) : numbers_(RandomTensor({count}, 7)) {
    path_ = testing::TempDir() + "/nnefc_weights_" + std::to_string(::getpid());
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers_.bytes()),
               static_cast<std::streamsize>(numbers_.byte_size()));
    file_ = *MappedFile::Open(path_);
    ::unlink(path_.c_str());
  }

  TensorValue Part(int64_t first, const Shape& shape) const {
    const auto size = static_cast<size_t>(*Volume(shape)) * sizeof(float);
    return {ElementType::kF32, shape, Buffer::Map(file_, static_cast<size_t>(first) * sizeof(float), size)};
  }
  void Release() const { MappedFile::Release(file_->bytes()); }
  // Returns the number of bytes of the file that are in the memory of this process.
  size_t resident() const {
    std::ifstream maps("/proc/self/smaps");
    const std::string begin = fmt::format("{:x}-", reinterpret_cast<uintptr_t>(file_->data()));
    bool found = false;
    for (std::string line; std::getline(maps, line);) {
      found |= line.starts_with(begin);
      if (found && line.starts_with("Rss:")) return std::stoul(line.substr(4)) * 1024;
    }
    ADD_FAILURE() << "the file is not mapped";
    return 0;
  }

 private:
  TensorValue numbers_;
  std::string path_;
  std::shared_ptr<const MappedFile> file_;
};

// Convolutions, a matrix, and open extents of the input.
TestGraph MappedNetwork(const MappedNumbers& numbers) {
  TestGraph g;
  ir::OutputPort x = g.PartialParameter("x", ir::PartialShape{ir::Dim(1), ir::Dim(64), ir::Dim(), ir::Dim()});
  int64_t first = 0;
  for (int i = 0; i < 6; ++i, first += 64 * 64 * 9)
    x = g.Op("ReLU", {g.Convolution(x, g.Const(numbers.Part(first, {64, 64, 3, 3})), 1)});
  x = g.Op("ReduceMean", {x, g.Ints({2, 3})}, With("keep_dims", false));
  g.Result(g.Op("MatMul", {x, g.Const(numbers.Part(first, {64, 1000}))}));
  return g;
}
constexpr int64_t kNumbers = 6 * 64 * 64 * 9 + 64 * 1000;

TEST(WeightsTest, OfAFileAreLetGoOnceTheyAreLaidOutAndReadAgain) {
  const MappedNumbers numbers(kNumbers);
  const TestGraph g = MappedNetwork(numbers);
  // Plans for images of other sizes reorder filters differently.
  const std::vector<int64_t> sizes = {32, 5, 16, 1};
  std::vector<TensorValue> inputs, expected;
  const auto reference = Compile(g.graph, {.backend = kernels::Backend::kReference});
  for (int64_t size : sizes) {
    inputs.push_back(RandomTensor({1, 64, size, size}, static_cast<unsigned>(size)));
    auto outputs = Session::Create(reference)->Run({inputs.back()});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    expected.push_back((*outputs)[0]);
  }
  for (int threads : {1, 2, 4}) {
    numbers.Release();
    const auto session = Session::Create(Compile(g.graph, {.threads = threads}));
    for (size_t i = 0; i < sizes.size(); ++i) {
      auto actual = session->Run({inputs[i]});
      ASSERT_TRUE(actual.ok()) << actual.error().message;
      ExpectClose((*actual)[0], expected[i], 1e-4);
      // The matrix is read in place; the pages around the read bytes also count.
      EXPECT_LT(numbers.resident(), size_t{512} << 10) << sizes[i] << " pixels, " << threads << " threads";
    }
  }
}

// 8-bit integer weights that become numbers by an addition and a multiplication with constants.
TEST(WeightsTest, InIntegersBecomeNumbersOneByOne) {
  constexpr int64_t kLayers = 40, kChannels = 256;
  const TensorValue codes =
      TensorValue::Make<int8_t>(ElementType::kI8, {kChannels, kChannels, 1, 1}, [](std::span<int8_t> out) {
        for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int8_t>(i * 31 % 15 - 7);
      });
  TestGraph g;
  ir::OutputPort x = g.Parameter("x", {1, kChannels, 2, 2});
  const TensorValue input = RandomTensor({1, kChannels, 2, 2}, 1);
  std::vector<double> expected;
  for (int64_t i = 0; i < input.volume(); ++i) expected.push_back(input.ElementAsDouble(i));
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const ir::OutputPort numbers =
        g.Op("Convert", {g.Const(codes)}, With("destination_type", ElementType::kF32));
    const TensorValue zero = TensorValue::FromFloats({}, {static_cast<float>(layer % 3 - 1)});
    const TensorValue scale = TensorValue::FromFloats({}, {0.01F});
    const ir::OutputPort shifted = g.Op("Subtract", {numbers, g.Const(zero)});
    x = g.Convolution(x, g.Op("Multiply", {shifted, g.Const(scale)}), 0);
    std::vector<double> next(expected.size(), 0.0);
    for (int64_t o = 0; o < kChannels; ++o) {
      for (int64_t i = 0; i < kChannels; ++i) {
        const double code = static_cast<double>(codes.ElementAsInt(o * kChannels + i) - (layer % 3 - 1));
        for (int64_t p = 0; p < 4; ++p)
          next[static_cast<size_t>(o * 4 + p)] += 0.01 * code * expected[static_cast<size_t>(i * 4 + p)];
      }
    }
    expected = next;
  }
  g.Result(x);
  for (kernels::Backend backend : kBackends) {
    const std::vector<TensorValue> outputs = RunGraph(g.graph, {.backend = backend, .threads = 2}, {input});
    ASSERT_EQ(outputs.size(), 1u);
    double largest = 0;
    for (double number : expected) largest = std::max(largest, std::abs(number));
    for (int64_t i = 0; i < input.volume(); ++i)
      ASSERT_NEAR(outputs[0].ElementAsDouble(i), expected[static_cast<size_t>(i)], 1e-4 * largest);
  }
}

TEST(WeightsTest, AreThereForAllSessionsThatPlanAtOnce) {
  const MappedNumbers numbers(kNumbers);
  const TestGraph g = MappedNetwork(numbers);
  const auto executable = Compile(g.graph, {.threads = 2});
  const TensorValue x = RandomTensor({1, 64, 20, 20}, 3);
  const auto first = Session::Create(Compile(g.graph, {.threads = 2}))->Run({x});
  ASSERT_TRUE(first.ok());
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto outputs = Session::Create(executable)->Run({x});
      same += outputs.ok() && (*outputs)[0] == (*first)[0] ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 4);
}

}  // namespace
}  // namespace nnefc::runtime::engine
