#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "compiler/plugin/interface.h"
#include "compiler/plugin/plugins.h"
#include "compiler/transform/transformation.h"

namespace nnefc::plugin {

// The function that a loaded plug-in calls to register its parts.
inline std::function<void(Registrar&)>& Registration() {
  static std::function<void(Registrar&)> registration;
  return registration;
}

inline constexpr char kHead[] = "version 1.0;\nextension KHR_enable_fragment_definitions;\n";
inline constexpr char kPrimitive[] = "fragment broken( x: tensor<scalar> ) -> ( y: tensor<scalar> );";

inline std::string Module(const std::string& kind) {
  return std::string(NNEFC_TEST_MODULES) + "/nnefc_plugin_test_" + kind + ".so";
}

class PluginsTest : public testing::Test {
 protected:
  void SetUp() override {
    Registration() = nullptr;
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("plugins-" + std::to_string(::getpid()) +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string PathOf(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(PathOf(name), std::ios::binary) << bytes;
    return PathOf(name);
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Loads the plug-in, which registers by `registration`.
  static std::shared_ptr<const Plugins> Load(std::function<void(Registrar&)> registration) {
    Registration() = std::move(registration);
    return Plugins::Load({Module("whole")});
  }

  struct Reported {
    std::vector<std::string> rules, messages;
    bool environment_failed = false;
  };
  static Reported Report(const Plugins& plugins) {
    Reported reported;
    Emitter emitter;
    plugins.Report(emitter, reported.environment_failed);
    for (const Diagnostic& diagnostic : emitter.diagnostics()) {
      reported.rules.emplace_back(diagnostic.rule->label);
      reported.messages.push_back(diagnostic.message);
    }
    EXPECT_EQ(plugins.ok(), reported.rules.empty());
    return reported;
  }
  // Of one mistake.
  static void ExpectMistake(const Plugins& plugins, const std::string& rule, const std::string& part) {
    const Reported reported = Report(plugins);
    ASSERT_EQ(reported.rules, (std::vector<std::string>{rule}))
        << (reported.messages.empty() ? "" : reported.messages.front());
    EXPECT_NE(reported.messages[0].find(part), std::string::npos) << reported.messages[0];
    EXPECT_EQ(reported.environment_failed, rule == "plugin.unreadable");
  }
  static void ExpectMistake(std::function<void(Registrar&)> registration, const std::string& rule,
                            const std::string& part) {
    ExpectMistake(*Load(std::move(registration)), rule, part);
  }

  std::filesystem::path folder_;
};

// A transformation that may throw in one of its functions, an exception or a number.
class Named : public transform::FrontReplacementPattern {
 public:
  explicit Named(const char* name, const char* throws = "") : throws_(throws) { id = name; }
  void FindAndReplacePattern(transform::Graph&) override {}
  transform::Phase phase() const override { return Or("phase", transform::Phase::kFront); }
  std::string_view kind() const override { return Or("kind", std::string_view("a kind")); }
  transform::Names RunBefore() const override { return Or("RunBefore", transform::Names{}); }
  transform::Names RunAfter() const override { return Or("RunAfter", transform::Names{}); }
  std::string_view Description() const override { return Or("Description", std::string_view()); }
  std::string_view Example() const override { return Or("Example", std::string_view()); }
  std::vector<ir::OpInfo> ExampleOperations() const override {
    return Or("ExampleOperations", std::vector<ir::OpInfo>());
  }
  bool is_anchor() const override { return Or("is_anchor", false); }
  std::string_view replacement_id() const override { return Or("replacement_id", std::string_view()); }

 private:
  template <typename T>
  T Or(const std::string& function, T value) const {
    if (throws_ == function) throw std::runtime_error("no answer");
    if (throws_ == function + "-int") throw 7;
    return value;
  }
  std::string throws_;
};

}  // namespace nnefc::plugin
