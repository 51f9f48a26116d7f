// The fixture of tests of the plan cache: a temporary folder and a network whose plan has items.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/engine/cache/plan_cache.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::cache {

namespace fs = std::filesystem;

inline std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PlanCacheTest : public testing::Test {
 protected:
  PlanCacheTest() {
    std::string name = (fs::temp_directory_path() / "plan_cache.XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~PlanCacheTest() override { fs::remove_all(folder_); }

  // Convolutions whose kernels need reordered filters, one by the Winograd algorithm.
  static TestGraph Network(unsigned seed = 1) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, 32, 20, 20});
    const auto first = g.Convolution(x, g.Weights({32, 32, 3, 3}, seed), 1);
    g.Result(g.Convolution(first, g.Weights({48, 32, 1, 1}, seed + 1), 0));
    return g;
  }
  static std::vector<TensorValue> Inputs() { return {RandomTensor({1, 32, 20, 20}, 7)}; }

  struct Outcome {
    std::vector<TensorValue> outputs;
    PlanCacheUse use;
    std::string warnings;
  };
  Outcome Run(const TestGraph& g, ExecutableOptions options = {}) const {
    options.plan_cache = (folder_ / "cache").string();
    options.transform = StandardTransformer();
    Emitter emitter;
    const auto executable = Executable::Create(g.graph, options, emitter);
    EXPECT_NE(executable, nullptr);
    if (executable == nullptr) return {};
    auto outputs = Session::Create(executable)->Run(Inputs());
    EXPECT_TRUE(outputs.ok());
    EXPECT_FALSE(emitter.has_errors());
    return {*outputs, executable->plan_cache_use(), Messages(emitter)};
  }
  fs::path Entry() const {
    for (const auto& file : fs::directory_iterator(folder_ / "cache")) {
      if (file.path().extension() == ".plan") return file.path();
    }
    ADD_FAILURE() << "no entry";
    return {};
  }
  // Runs with a damaged entry, and once more.
  void ExpectNoticed(const std::string& what) const {
    const Outcome noticed = Run(Network());
    EXPECT_EQ(noticed.use.found, 0) << what;
    EXPECT_NE(noticed.warnings.find("it is written again"), std::string::npos) << what << noticed.warnings;
    EXPECT_EQ(noticed.outputs, RunGraph(Network().graph, {}, Inputs())) << what;
    const Outcome again = Run(Network());
    EXPECT_EQ(again.use.made, 0) << what;
    EXPECT_EQ(again.warnings, "") << what;
  }

  // Runs in a process with a small limit on file sizes, and exits.
  [[noreturn]] void RunOnFullDisk() const {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 5000, .rlim_max = 5000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Outcome run = Run(Network());
    const bool told = run.warnings.find("the next run plans again") != std::string::npos;
    const bool right = run.outputs == RunGraph(Network().graph, {}, Inputs());
    std::_Exit(told && right ? 0 : 1);
  }

  fs::path folder_;
};

}  // namespace nnefc::runtime::engine::cache
