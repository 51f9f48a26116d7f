// Random graphs, computed by every configuration. See README.md.

#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "CLI/CLI.hpp"
#include "compiler/ir/text/text.h"
#include "fmt/format.h"
#include "tests/differential/describe.h"
#include "tests/differential/generator.h"
#include "tests/differential/ways.h"

namespace nnefc::differential {
namespace {

struct Options {
  uint64_t seed = 1;
  int64_t graphs = 5000;
  int most_operations = 8;
  int wide = 2;
  int tries = 3000;
  int64_t most_failures = 10;
  std::string level = "both";
  std::vector<std::string> only;
  std::string keep;
  std::vector<std::string> replay;
  std::string dump;
  bool print = false;
  bool describe = false;
  bool rows = false;
};

// The seed of the running graph, for the signal handler.
volatile uint64_t current_seed = 0;

void TellSeed(int signal) {
  fmt::print(stderr, "signal {} in the graph of seed {}\n", signal, current_seed);
  std::_Exit(1);
}

// Processor time for a graph before it counts as hanging.
constexpr int kMaxSeconds = 30;

void Expect(int seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

using Clock = std::chrono::steady_clock;
double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view Name(Spread spread) {
  switch (spread) {
    case Spread::kEighths:
      return "eighths";
    case Spread::kReal:
      return "real";
    case Spread::kSpecial:
      return "special";
  }
  return "";
}

Spread SpreadOf(uint64_t seed) {
  const int64_t draw = Random(seed ^ 0x5eed).Below(20);
  return draw < 11 ? Spread::kEighths : draw < 17 ? Spread::kReal : Spread::kSpecial;
}

class Suite {
 public:
  explicit Suite(const Options& options) : options_(options) {
    folder_ =
        fmt::format("{}/nnefc-differential-{}", std::filesystem::temp_directory_path().string(), getpid());
    std::filesystem::create_directories(folder_);
  }
  ~Suite() { std::filesystem::remove_all(folder_); }

  int Run() {
    if (options_.rows) {
      PrintRows(registry_);
      return 0;
    }
    if (options_.describe) {
      Describe(registry_, {.seed = options_.seed, .tries = options_.tries, .only = options_.only});
      return 0;
    }
    const Ways ways(registry_, folder_);
    if (!options_.replay.empty()) return Replay(ways);
    const auto start = Clock::now();
    std::vector<Generator> generators;
    const auto add = [&](std::vector<OperationDescription> operations) {
      generators.emplace_back(registry_, std::move(operations), options_.tries).Restrict(options_.only);
      generators.back().set_wide_percent(options_.wide);
      if (generators.back().empty()) generators.pop_back();
    };
    if (options_.level != "nnef") add(OperationsWithKernel());
    if (options_.level != "opset") add(DescribeNnef(registry_));
    if (generators.empty()) {
      fmt::print(stderr, "no operation to make graphs of is called {}\n", fmt::join(options_.only, " or "));
      return 2;
    }
    const double explored = SecondsSince(start);
    for (int64_t i = 0; i < options_.graphs && failures_ < options_.most_failures; ++i) {
      // Two graphs of NNEF's operations for each of OpenVINO's, since they have more configurations.
      const uint64_t seed = options_.seed + static_cast<uint64_t>(i);
      const Generator& generator = generators[generators.size() > 1 && seed % 3 != 0 ? 1 : 0];
      RunOne(generator, seed, ways);
    }
    return Report(generators, explored, SecondsSince(start));
  }

 private:
  // Control flow and states have dedicated steps.
  static std::vector<OperationDescription> OperationsWithKernel() {
    runtime::kernels::KernelRegistry kernels;
    runtime::kernels::RegisterReferenceKernels(kernels);
    std::vector<OperationDescription> operations = DescribeOpsets();
    std::erase_if(operations, [&](const OperationDescription& operation) {
      return kernels.Find(runtime::kernels::Backend::kReference, operation.set, operation.name) == nullptr;
    });
    return operations;
  }

  void RunOne(const Generator& generator, uint64_t seed, const Ways& ways) {
    current_seed = seed;
    Expect(kMaxSeconds);
    Case made{
        .recipe = generator.Make(seed, options_.most_operations), .spread = SpreadOf(seed), .seed = seed};
    // The Winograd algorithm, which wide convolutions use, spreads non-finite values over a tile
    // (runtime/README.md).
    if (generator.IsWide(seed) && made.spread == Spread::kSpecial) made.spread = Spread::kReal;
    Emitter emitter;
    if (std::unique_ptr<ir::Graph> graph = Build(made.recipe, registry_, emitter))
      coverage_.Count(made.recipe, *graph);
    if (options_.print) Print(made);
    if (!options_.dump.empty()) return Dump(made, ways);
    const Outcome outcome = ways.Run(made);
    ++graphs_;
    refused_ += outcome.built ? 0 : 1;
    uncomputed_ += outcome.computed ? 0 : 1;
    for (const std::string& way : outcome.ways) ++compared_[way];
    if (outcome.way.empty()) return;
    ++failures_;
    Expect(10 * kMaxSeconds);
    Tell(Shrink(made, ways, outcome), outcome);
  }

  // Writes the graph as OpenVINO IR with the data of its inputs and the results of the reference kernels, in
  // files named by the seed, for another implementation.
  void Dump(const Case& made, const Ways& ways) {
    const Outcome outcome = ways.Export(made, fmt::format("{}/{}", options_.dump, made.seed));
    ++graphs_;
    if (outcome.way.empty()) return;
    ++failures_;
    fmt::print("FAILED seed {}: {}: {}\n", made.seed, outcome.way, outcome.difference);
  }

  void Print(const Case& made) {
    Emitter emitter;
    const std::unique_ptr<ir::Graph> graph = Build(made.recipe, registry_, emitter);
    if (graph != nullptr) fmt::print("// seed {}\n{}", made.seed, ir::PrintGraph(*graph));
    std::fflush(stdout);
  }

  void Tell(const Case& failing, const Outcome& outcome) {
    Emitter emitter;
    const std::unique_ptr<ir::Graph> graph = Build(failing.recipe, registry_, emitter);
    const std::string text = fmt::format("// inputs: {} {}\n// {}\n{}", failing.seed, Name(failing.spread),
                                         outcome.way, ir::PrintGraph(*graph, {.max_constant_elements = -1}));
    fmt::print("FAILED seed {}: {}: {}\n{}\n", failing.seed, outcome.way, outcome.difference, text);
    std::fflush(stdout);
    if (options_.keep.empty()) return;
    std::filesystem::create_directories(options_.keep);
    std::ofstream(fmt::format("{}/{}.ir", options_.keep, failing.seed)) << text;
  }

  int Report(const std::vector<Generator>& generators, double explored, double seconds) {
    int64_t nodes = 0;
    for (const auto& [name, count] : coverage_.operations) nodes += count;
    fmt::print(
        "{} graphs ({} refused, {} with data that a node refuses) of {} nodes in {:.1f} s, {:.1f} of them to "
        "explore\n",
        graphs_, refused_, uncomputed_, nodes, seconds, explored);
    fmt::print("{} operations, {} pairs of one behind another\n", coverage_.operations.size(),
               coverage_.pairs.size());
    int64_t compared = 0;
    for (const auto& [way, count] : compared_) {
      fmt::print("{}: compared {} times\n", way, count);
      compared += count;
    }
    fmt::print("{} ways compared\n", compared);
    std::string ranks;
    for (const auto& [rank, count] : coverage_.ranks) ranks += fmt::format(" {}: {}", rank, count);
    fmt::print("results by rank:{}\n", ranks);
    for (const Generator& generator : generators)
      fmt::print("no valid node found: {}\n", fmt::join(generator.Missing(), " "));
    fmt::print("{} passed, {} failed\n", graphs_ - failures_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

  // Replays stored cases: graphs in text form whose first line states the inputs.
  int Replay(const Ways& ways) {
    for (const std::string& path : options_.replay) {
      std::ifstream file(path);
      const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      Context context;
      std::unique_ptr<ir::Graph> graph =
          ir::ParseGraph(context.sources.AddText(path, text), registry_, context);
      Case kept{.all_ways = true};
      char spread[16] = "";
      unsigned long long seed = 0;
      if (graph == nullptr || sscanf(text.c_str(), "// inputs: %llu %15s", &seed, spread) != 2) {
        fmt::print("{}: not a kept case\n", path);
        return 2;
      }
      kept.recipe = RecipeOf(*graph);
      kept.seed = seed;
      for (Spread candidate : {Spread::kEighths, Spread::kReal, Spread::kSpecial}) {
        if (Name(candidate) == spread) kept.spread = candidate;
      }
      const Outcome outcome = ways.Run(kept);
      ++graphs_;
      if (outcome.way.empty() && outcome.built) continue;
      ++failures_;
      fmt::print("FAILED {}: {}: {}\n", path, outcome.built ? outcome.way : "refused", outcome.difference);
    }
    fmt::print("{} passed, {} failed\n", graphs_ - failures_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

  const Options& options_;
  ir::OpRegistry registry_{&ir::StandardOps()};
  std::string folder_;
  Coverage coverage_;
  int64_t graphs_ = 0, refused_ = 0, uncomputed_ = 0, failures_ = 0;
  std::map<std::string, int64_t> compared_;  // by configuration
};

}  // namespace
}  // namespace nnefc::differential

int main(int argc, char** argv) {
  nnefc::differential::Options options;
  CLI::App app("Random graphs, computed in every way that there is");
  app.add_option("--seed", options.seed, "of the first graph; the next has the next");
  app.add_option("--graphs", options.graphs, "how many");
  app.add_option("--most-operations", options.most_operations, "of a graph");
  app.add_option("--wide", options.wide, "of a hundred graphs, so many with extents as networks have")
      ->check(CLI::Range(0, 100));
  app.add_option("--tries", options.tries, "proposals for each operation while its forms are explored");
  app.add_option("--most-failures", options.most_failures, "after which to stop");
  app.add_option("--level", options.level, "opset, nnef or both")
      ->check(CLI::IsMember({"opset", "nnef", "both"}));
  app.add_option("--only", options.only, "operations to make graphs of: opset1.Add")->delimiter(',');
  app.add_option("--keep", options.keep, "a folder for graphs that fail");
  app.add_option("--dump", options.dump,
                 "a folder for graphs, inputs and reference results; nothing is compared");
  app.add_flag("--print", options.print, "each graph before it is run");
  app.add_option("--replay", options.replay, "graphs that were kept");
  app.add_flag("--describe", options.describe,
               "nodes and what the shape functions say of them, as JSON lines");
  app.add_flag("--rows", options.rows, "the rows of the operations with their attributes, as JSON lines");
  CLI11_PARSE(app, argc, argv);
  for (int signal : {SIGPROF, SIGSEGV, SIGABRT, SIGFPE, SIGBUS})
    std::signal(signal, nnefc::differential::TellSeed);
  return nnefc::differential::Suite(options).Run();
}
