// Pictures by Graphviz: programs named `dot` that succeed, fail, end without a picture or do not end.

#include "tools/api/views/svg.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace nnefc::api {
namespace {

namespace fs = std::filesystem;

// A folder at the beginning of PATH with a program `dot`.
class SvgTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("nnefc_svg_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    path_ = std::getenv("PATH");
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  // Makes a shell script the only `dot`; its other programs are those of PATH.
  void Use(const std::string& script) {
    const fs::path program = folder_ / "dot";
    std::ofstream(program) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(program, fs::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
  std::string path_;
};

std::string MessageOf(const ErrorOr<std::string>& result) {
  return result ? "" : result.error().message;
}

TEST_F(SvgTest, PassesTheGraphAndReturnsThePicture) {
  Use("printf '<svg>'; cat; printf ' %s</svg>' \"$*\"; echo a warning >&2");
  const std::string graph(3'000'000, 'g');  // more than a pipe buffers
  const ErrorOr<std::string> picture = SvgText(graph);
  ASSERT_TRUE(picture) << MessageOf(picture);
  EXPECT_EQ(*picture, "<svg>" + graph + " -Tsvg</svg>");
}

TEST_F(SvgTest, ReportsAMissingProgram) {
  ::setenv("PATH", folder().c_str(), 1);
  EXPECT_EQ(MessageOf(SvgText("digraph {}")),
            "cannot run Graphviz' `dot`: it is not installed or not on PATH: install the Debian package "
            "`graphviz`; "
            "`-o net.html` writes a page that needs no Graphviz, `-o net.dot` the graph in DOT");
}

TEST_F(SvgTest, ReportsAProgramThatMayNotRun) {
  Use("true");
  fs::permissions(folder() / "dot", fs::perms::owner_read);
  ::setenv("PATH", folder().c_str(), 1);
  EXPECT_TRUE(
      MessageOf(SvgText("digraph {}")).starts_with("cannot run Graphviz' `dot`: permission denied; "));
}

TEST_F(SvgTest, ReportsFailures) {
  Use("echo '</svg>'; echo syntax error >&2; echo in line 1 >&2; exit 3");
  EXPECT_TRUE(MessageOf(SvgText("digraph"))
                  .starts_with("Graphviz' `dot` failed with exit code 3: syntax error in line 1; "));
  Use("echo '</svg>'; kill -9 $$");
  EXPECT_TRUE(MessageOf(SvgText("digraph")).starts_with("Graphviz' `dot` was ended by signal 9; "));
  Use("echo '<svg>'");
  EXPECT_TRUE(MessageOf(SvgText("digraph")).starts_with("Graphviz' `dot` wrote no picture; "));
}

TEST_F(SvgTest, EndsAProgramThatTakesTooLong) {
  Use("echo '</svg>'; exec sleep 600");
  EXPECT_TRUE(MessageOf(SvgText("digraph", std::chrono::milliseconds(300)))
                  .starts_with("Graphviz' `dot` made no picture within 0.3 seconds; "));
  Use("sleep 0.2; echo '</svg>'");
  EXPECT_TRUE(SvgText("digraph", std::chrono::seconds(120)));
}

// Programs block the signals that a thread of theirs waits for; `dot` must not inherit that.
TEST_F(SvgTest, UnblocksSignals) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  Use("echo '</svg>'; kill -TERM $$; sleep 60");
  EXPECT_TRUE(MessageOf(SvgText("digraph")).starts_with("Graphviz' `dot` was ended by signal 15; "));
  ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
}

}  // namespace
}  // namespace nnefc::api
