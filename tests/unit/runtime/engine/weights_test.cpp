// Weights of a file: what of them is in memory, and plans that read them again.

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "compiler/support/file.h"
#include "fmt/format.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {
namespace {

// Random numbers in a file that is mapped.
class MappedNumbers {
 public:
  explicit MappedNumbers(int64_t count) : numbers_(RandomTensor({count}, 7)) {
    path_ = testing::TempDir() + "/nnefc_weights_" + std::to_string(::getpid());
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers_.bytes()), static_cast<std::streamsize>(numbers_.byte_size()));
    file_ = *MappedFile::Open(path_);
    ::unlink(path_.c_str());
  }

  TensorValue Part(int64_t first, const Shape& shape) const {
    const auto size = static_cast<size_t>(*Volume(shape)) * sizeof(float);
    return {ElementType::kF32, shape, Buffer::Map(file_, static_cast<size_t>(first) * sizeof(float), size)};
  }
  void LetGo() const { MappedFile::LetGo(file_->bytes()); }
  // How much of the file is in the memory of this process.
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

// Convolutions, a matrix, and sizes of the input that are open.
TestGraph Network(const MappedNumbers& numbers) {
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
  const TestGraph g = Network(numbers);
  // Plans for images of other sizes lay filters out in other ways.
  const std::vector<int64_t> sizes = {32, 5, 16, 1};
  std::vector<TensorValue> inputs, expected;
  const auto reference = Compile(g.graph, {.backend = Backend::kReference});
  for (int64_t size : sizes) {
    inputs.push_back(RandomTensor({1, 64, size, size}, static_cast<unsigned>(size)));
    auto outputs = Session::Create(reference)->Run({inputs.back()});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    expected.push_back((*outputs)[0]);
  }
  for (int threads : {1, 2, 4}) {
    numbers.LetGo();
    const auto session = Session::Create(Compile(g.graph, {.threads = threads}));
    for (size_t i = 0; i < sizes.size(); ++i) {
      auto actual = session->Run({inputs[i]});
      ASSERT_TRUE(actual.ok()) << actual.error().message;
      ExpectClose((*actual)[0], expected[i], 1e-4);
      // The matrix is read where it lies, and what lies around what is read comes with it.
      EXPECT_LT(numbers.resident(), size_t{512} << 10) << sizes[i] << " pixels, " << threads << " threads";
    }
  }
}

TEST(WeightsTest, AreThereForAllSessionsThatPlanAtOnce) {
  const MappedNumbers numbers(kNumbers);
  const TestGraph g = Network(numbers);
  const auto executable = Compile(g.graph, {.threads = 2});
  const TensorValue x = RandomTensor({1, 64, 20, 20}, 3);
  const auto first = Session::Create(Compile(g.graph, {.threads = 2}))->Run({x});
  ASSERT_TRUE(first.ok());
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
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
}  // namespace nnefc::runtime
