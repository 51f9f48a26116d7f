// Plug-ins, loaded from shared libraries that the build makes: what they bring, and each mistake of a file or
// of what one registers. `module/module.cpp` calls back, so that each test registers what it wants.

#include "compiler/plugin/plugins.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "compiler/ir/infer.h"
#include "compiler/plugin/interface.h"
#include "compiler/plugin/rules.h"
#include "compiler/transform/standard.h"

namespace nnefc::plugin {
namespace {

std::function<void(Registrar&)>& Registration() {
  static std::function<void(Registrar&)> registration;
  return registration;
}

}  // namespace
}  // namespace nnefc::plugin

// Resolved when a plug-in is loaded.
extern "C" __attribute__((visibility("default"), used)) void nnefc_test_register(
    nnefc::plugin::Registrar& registrar) {
  nnefc::plugin::Registration()(registrar);
}

namespace nnefc::plugin {
namespace {

constexpr char kHead[] = "version 1.0;\nextension KHR_enable_fragment_definitions;\n";
constexpr char kPrimitive[] = "fragment broken( x: tensor<scalar> ) -> ( y: tensor<scalar> );";

std::string Module(const std::string& kind) {
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

void LikeInput(ir::InferContext& context) {
  context.SetOutput(0, context.input(0).type, context.input(0).shape);
}
void LowerToNothing(lower::NodeLowering&) {}

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

void AddBroken(Registrar& registrar, const std::string& declaration = kPrimitive) {
  registrar.AddLibrary("acme", kHead + declaration);
  registrar.AddOperation({.set = "nnef", .name = "broken", .infer = LikeInput});
}

// ---- files ----

TEST_F(PluginsTest, NothingWrongWithNothing) {
  const auto plugins = Plugins::Load({});
  EXPECT_TRUE(plugins->ok());
  EXPECT_TRUE(Report(*plugins).rules.empty());
  EXPECT_EQ(&plugins->library(), &StandardLibrary::Shared());
  EXPECT_EQ(plugins->FindLowering("relu"), nullptr);
}

TEST_F(PluginsTest, AFileNamedTwiceIsLoadedOnce) {
  int count = 0;
  Registration() = [&](Registrar&) { ++count; };
  const std::string path = Module("whole");
  const std::string other = std::filesystem::path(path).parent_path().string() + "/./" +
                            std::filesystem::path(path).filename().string();
  EXPECT_TRUE(Plugins::Load({path, other, path})->ok());
  EXPECT_EQ(count, 1);
  // A copy is another plug-in.
  const std::string copy = Write("copy.so", Read(path));
  EXPECT_TRUE(Plugins::Load({path, copy})->ok());
  EXPECT_EQ(count, 3);
}

TEST_F(PluginsTest, FilesThatCannotBeRead) {
  ExpectMistake(*Plugins::Load({PathOf("none.so")}), "plugin.unreadable", "none.so");
  ExpectMistake(*Plugins::Load({folder_.string()}), "plugin.unreadable", "takes folders of Python modules");
}

TEST_F(PluginsTest, FilesThatAreNoPlugins) {
  const std::string whole = Read(Module("whole"));
  // A part ends before the table of sections, which is at the end.
  for (const size_t size : {size_t{0}, size_t{3}, size_t{4}, size_t{20}, sizeof(Elf64_Ehdr) - 1,
                            sizeof(Elf64_Ehdr), size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    SCOPED_TRACE(size);
    ExpectMistake(*Plugins::Load({Write("part.so", whole.substr(0, size))}), "plugin.not-a-plug-in",
                  "part.so");
  }
  ExpectMistake(*Plugins::Load({Write("text.so", std::string(4096, 'x'))}), "plugin.not-a-plug-in",
                "it is not a shared library");
  ExpectMistake(*Plugins::Load({Module("nameless")}), "plugin.not-a-plug-in", "without `NNEFC_EXTENSION`");
  ExpectMistake(*Plugins::Load({Module("unregistered")}), "plugin.not-a-plug-in",
                "it has no `nnefc_register_extension`");
  ExpectMistake(*Plugins::Load({Module("foreign")}), "plugin.interface", "headers 0");
  ExpectMistake(*Plugins::Load({Module("unresolved")}), "plugin.not-loadable", "nnefc_test_missing");
}

// Each byte of the header that says of what kind the file is, and where its sections are.
TEST_F(PluginsTest, DamagedHeaders) {
  const std::string whole = Read(Module("whole"));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof(header));
  const auto damaged = [&](const std::function<void(Elf64_Ehdr&)>& change) {
    Elf64_Ehdr changed = header;
    change(changed);
    std::string bytes = whole;
    std::memcpy(bytes.data(), &changed, sizeof(changed));
    return Write("damaged.so", bytes);
  };
  const std::function<void(Elf64_Ehdr&)> kinds[] = {
      [](Elf64_Ehdr& changed) { changed.e_ident[EI_MAG0] = 0; },
      [](Elf64_Ehdr& changed) { changed.e_ident[EI_MAG3] = 'G'; },
      [](Elf64_Ehdr& changed) { changed.e_ident[EI_CLASS] = ELFCLASS32; },
      [](Elf64_Ehdr& changed) { changed.e_ident[EI_DATA] = ELFDATA2MSB; },
      [](Elf64_Ehdr& changed) { changed.e_type = ET_EXEC; },
      [](Elf64_Ehdr& changed) { changed.e_type = ET_REL; }};
  for (const auto& change : kinds)
    ExpectMistake(*Plugins::Load({damaged(change)}), "plugin.not-a-plug-in", "it is not a shared library");
  const std::function<void(Elf64_Ehdr&)> sections[] = {
      [](Elf64_Ehdr& changed) { changed.e_shentsize = sizeof(Elf64_Shdr) - 1; },
      [](Elf64_Ehdr& changed) { changed.e_shentsize = sizeof(Elf64_Shdr) + 1; },
      [](Elf64_Ehdr& changed) { changed.e_shnum = 0; },
      [](Elf64_Ehdr& changed) { changed.e_shoff = ~uint64_t{0}; },
      [&](Elf64_Ehdr& changed) { changed.e_shoff = whole.size(); },
      [](Elf64_Ehdr& changed) { changed.e_shstrndx = 0xffff; },
      [](Elf64_Ehdr& changed) { changed.e_shstrndx = 0; }};
  for (const auto& change : sections)
    ExpectMistake(*Plugins::Load({damaged(change)}), "plugin.not-a-plug-in", "without `NNEFC_EXTENSION`");
  EXPECT_TRUE([&] {
    Registration() = [](Registrar&) {};
    return Plugins::Load({damaged([](Elf64_Ehdr&) {})})->ok();
  }());
}

// The section that holds the interface: its name, its offset and size at the end of the file and beyond.
TEST_F(PluginsTest, DamagedSections) {
  const std::string whole = Read(Module("whole"));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof(header));
  const auto section = [&](size_t index) {
    Elf64_Shdr found;
    std::memcpy(&found, whole.data() + header.e_shoff + index * sizeof(found), sizeof(found));
    return found;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  size_t index = 0;
  while (std::string(whole.data() + names.sh_offset + section(index).sh_name) != NNEFC_INTERFACE_SECTION)
    ++index;
  const auto interface = [&](const std::function<void(Elf64_Shdr&)>& change) {
    Elf64_Shdr changed = section(index);
    change(changed);
    std::string bytes = whole;
    std::memcpy(bytes.data() + header.e_shoff + index * sizeof(changed), &changed, sizeof(changed));
    return ReadInterface(std::as_bytes(std::span<const char>(bytes)));
  };
  EXPECT_EQ(*interface([](Elf64_Shdr&) {}), NNEFC_INTERFACE);
  EXPECT_EQ(*interface([](Elf64_Shdr& changed) { changed.sh_size = 7; }), std::string(NNEFC_INTERFACE, 7));
  EXPECT_EQ(*interface([](Elf64_Shdr& changed) { changed.sh_size = 0; }), "");
  EXPECT_EQ(*interface([&](Elf64_Shdr& changed) { changed.sh_offset = whole.size(); }), "");
  EXPECT_EQ(*interface([](Elf64_Shdr& changed) { changed.sh_offset = ~uint64_t{0}; }), "");
  // The last byte of the file.
  EXPECT_EQ(*interface([&](Elf64_Shdr& changed) {
    changed.sh_offset = whole.size() - 1;
    changed.sh_size = 100;
  }),
            std::string(whole.data() + whole.size() - 1, strnlen(whole.data() + whole.size() - 1, 1)));
  EXPECT_FALSE(interface([](Elf64_Shdr& changed) { changed.sh_name += 1; }).ok());
  EXPECT_FALSE(interface([](Elf64_Shdr& changed) { changed.sh_name = ~uint32_t{0}; }).ok());
}

// ---- registration ----

TEST_F(PluginsTest, RegistrationThatThrows) {
  ExpectMistake([](Registrar&) { throw std::runtime_error("no licence"); }, "plugin.registration",
                "no licence");
  ExpectMistake([](Registrar&) { throw 7; }, "plugin.registration", "other than a std::exception");
  // Nothing of the plug-in counts then.
  const auto plugins = Load([](Registrar& registrar) {
    AddBroken(registrar);
    registrar.AddLowering("broken", LowerToNothing);
    throw 7;
  });
  EXPECT_EQ(plugins->FindLowering("broken"), nullptr);
  EXPECT_EQ(&plugins->library(), &StandardLibrary::Shared());
  ir::OpRegistry registry;
  plugins->AddOperations(registry);
  EXPECT_FALSE(registry.Find("nnef", "broken").valid());
}

TEST_F(PluginsTest, Transformations) {
  ExpectMistake([](Registrar& r) { r.AddTransformation(TransformationFactory([] { return nullptr; })); },
                "plugin.entry", "is null");
  ExpectMistake(
      [](Registrar& r) {
        r.AddTransformation(TransformationFactory(
            []() -> std::unique_ptr<transform::Transformation> { throw std::runtime_error("no parts"); }));
      },
      "plugin.registration", "no parts");
  ExpectMistake(
      [](Registrar& r) {
        r.AddTransformation(
            TransformationFactory([]() -> std::unique_ptr<transform::Transformation> { throw 7; }));
      },
      "plugin.registration", "cannot be made");
  ExpectMistake(
      [](Registrar& r) {
        r.AddTransformation<Named>("Twice");
        r.AddTransformation<Named>("Twice");
      },
      "plugin.duplicate", "registered twice");
  ExpectMistake([](Registrar& r) { r.AddTransformation<Named>("nnefc::transform::front::MishFusion"); },
                "plugin.duplicate", "an id belongs to one");
  for (const char* function : {"phase", "kind", "RunBefore", "RunAfter", "Description", "Example",
                               "is_anchor", "replacement_id", "kind-int"}) {
    SCOPED_TRACE(function);
    ExpectMistake([=](Registrar& r) { r.AddTransformation<Named>("Throws", function); },
                  "plugin.registration", std::string(function).substr(0, std::string(function).find('-')));
  }
}

TEST_F(PluginsTest, TransformationsOfARun) {
  const auto plugins = Load([](Registrar& r) {
    r.AddTransformation<Named>("First");
    r.AddTransformation<Named>("Second");
  });
  ASSERT_TRUE(plugins->ok());
  transform::TransformationList list;
  Emitter emitter;
  plugins->AddTransformations(list, emitter);
  EXPECT_TRUE(emitter.diagnostics().empty());
  for (const char* name : {"First", "Second"}) {
    ASSERT_NE(list.Find(name), nullptr) << name;
    EXPECT_EQ(list.Find(name)->plugin, Module("whole"));
  }
}

// A factory that fails when a run wants another one: an exception, something else, nothing.
TEST_F(PluginsTest, TransformationsThatCannotBeMadeAgain) {
  for (const int how : {0, 1, 2}) {
    const auto plugins = Load([how](Registrar& r) {
      r.AddTransformation(
          TransformationFactory([how, count = 0]() mutable -> std::unique_ptr<transform::Transformation> {
            if (count++ == 0) return std::make_unique<Named>("First");
            if (how == 0) throw std::runtime_error("no second one");
            if (how == 1) throw 7;
            return nullptr;
          }));
    });
    ASSERT_TRUE(plugins->ok());
    transform::TransformationList list;
    Emitter emitter;
    plugins->AddTransformations(list, emitter);
    ASSERT_EQ(emitter.diagnostics().size(), 1U);
    const std::string part = how == 0   ? "no second one"
                             : how == 1 ? "other than a std::exception"
                                        : "it is null";
    EXPECT_NE(emitter.diagnostics()[0].message.find(part), std::string::npos)
        << emitter.diagnostics()[0].message;
    EXPECT_EQ(list.Find("First"), nullptr);
  }
}

TEST_F(PluginsTest, Libraries) {
  ExpectMistake(
      [](Registrar& r) {
        r.AddLibrary("acme",
                     std::string(kHead) + "fragment broken( x: tensor<scalar> -> ( y: tensor<scalar> );");
      },
      "plugin.library-text", "`acme`");
  ExpectMistake(
      [](Registrar& r) {
        r.AddLibrary("acme",
                     std::string(kHead) + "fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );");
      },
      "plugin.library-text", "relu");
  ExpectMistake([](Registrar& r) { r.AddLibrary("acme", std::string(kHead) + kPrimitive); }, "plugin.entry",
                "has no body");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLibrary("acme", std::string(kHead) +
                                 "fragment other( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n"
                                 "{\n    y = relu(x);\n}");
      },
      "plugin.duplicate", "library `acme` is registered twice");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLibrary("other", std::string(kHead) + kPrimitive);
      },
      "plugin.duplicate", "fragment `broken` is registered twice");
  // Of two plug-ins.
  Registration() = [](Registrar& r) { AddBroken(r); };
  const std::string copy = Write("copy.so", Read(Module("whole")));
  ExpectMistake(*Plugins::Load({Module("whole"), copy}), "plugin.duplicate", "registered by `");
}

TEST_F(PluginsTest, Operations) {
  const auto add = [](ir::OpInfo row) {
    return [row = std::move(row)](Registrar& r) { r.AddOperation(row); };
  };
  ExpectMistake(add({.set = "", .name = "Broken", .infer = LikeInput}), "plugin.entry", "no set or no name");
  ExpectMistake(add({.set = "acme", .name = "", .infer = LikeInput}), "plugin.entry", "no set or no name");
  ExpectMistake(add({.set = "acme", .name = "Broken"}), "plugin.entry", "no shape function");
  ExpectMistake(add({.set = "opset1", .name = "Add", .infer = LikeInput}), "plugin.duplicate",
                "nnefc has an operation `opset1.Add`");
  ExpectMistake(add({.set = "opset1", .name = "Broken", .infer = LikeInput}), "plugin.entry",
                "a set of the plug-in's own");
  ExpectMistake(add({.set = "nnef", .name = "undeclared", .infer = LikeInput}), "plugin.entry",
                "no library of it declares");
  ExpectMistake(
      [](Registrar& r) {
        r.AddOperation({.set = "acme", .name = "Broken", .infer = LikeInput});
        r.AddOperation({.set = "acme", .name = "Broken", .infer = LikeInput});
      },
      "plugin.duplicate", "operation `acme.Broken` is registered twice");
  ExpectMistake([](Registrar& r) { r.AddLowering("relu", LowerToNothing); }, "plugin.entry",
                "of no NNEF operation that it adds");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLowering("broken", nullptr);
      },
      "plugin.entry", "of no NNEF operation that it adds");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddLowering("broken", LowerToNothing);
        r.AddLowering("broken", LowerToNothing);
      },
      "plugin.duplicate", "lowering of `broken`");
  const KernelAdder nothing = [](runtime::KernelRegistry&) {};
  ExpectMistake([&](Registrar& r) { r.AddKernel("opset1", "ReLU", nothing); }, "plugin.entry",
                "of no operation that it adds");
  ExpectMistake(
      [&](Registrar& r) {
        AddBroken(r);
        r.AddKernel("acme", "broken", nothing);
      },
      "plugin.entry", "of no operation that it adds");
  ExpectMistake(
      [&](Registrar& r) {
        AddBroken(r);
        r.AddKernel("nnef", "other", nothing);
      },
      "plugin.entry", "of no operation that it adds");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r);
        r.AddKernel("nnef", "broken", nullptr);
      },
      "plugin.entry", "of no operation that it adds");
  ExpectMistake(
      [&](Registrar& r) {
        AddBroken(r);
        r.AddKernel("nnef", "broken", nothing);
        r.AddKernel("nnef", "broken", nothing);
      },
      "plugin.duplicate", "kernel of `nnef.broken`");
}

TEST_F(PluginsTest, LoweringsAndKernelsOfARun) {
  const runtime::KernelRegistry* added = nullptr;
  const auto plugins = Load([&](Registrar& r) {
    AddBroken(r);
    r.AddLowering("broken", LowerToNothing);
    r.AddKernel("nnef", "broken", [&](runtime::KernelRegistry& registry) { added = &registry; });
  });
  ASSERT_TRUE(plugins->ok());
  EXPECT_EQ(plugins->FindLowering("broken"), &LowerToNothing);
  EXPECT_EQ(plugins->FindLowering("relu"), nullptr);
  // Only named here: nothing of it is used.
  int registry = 0;
  plugins->AddKernels(reinterpret_cast<runtime::KernelRegistry&>(registry));
  EXPECT_EQ(static_cast<const void*>(added), &registry);
  for (const bool is_exception : {true, false}) {
    const auto broken = Load([=](Registrar& r) {
      AddBroken(r);
      r.AddKernel("nnef", "broken", [=](runtime::KernelRegistry&) {
        if (is_exception) throw std::runtime_error("no registry");
        throw 7;
      });
    });
    try {
      broken->AddKernels(reinterpret_cast<runtime::KernelRegistry&>(registry));
      FAIL();
    } catch (const std::runtime_error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("nnef.broken"), std::string::npos) << message;
      EXPECT_NE(message.find(is_exception ? "no registry" : "other than a std::exception"), std::string::npos)
          << message;
      EXPECT_NE(message.find(Module("whole")), std::string::npos) << message;
    }
  }
}

// ---- rows ----

// The row of `broken` as a declaration has it.
ir::OpInfo RowOf(const std::string& declaration) {
  Registration() = [=](Registrar& r) { AddBroken(r, declaration); };
  const auto plugins = Plugins::Load({Module("whole")});
  Emitter emitter;
  bool failed = false;
  plugins->Report(emitter, failed);
  EXPECT_TRUE(plugins->ok()) << (emitter.diagnostics().empty() ? "" : emitter.diagnostics()[0].message);
  ir::OpRegistry registry;
  plugins->AddOperations(registry);
  const ir::OpId id = registry.Find("nnef", "broken");
  EXPECT_TRUE(id.valid());
  return id.valid() ? registry.Info(id) : ir::OpInfo();
}

TEST_F(PluginsTest, InputsAndResultsOfDeclarations) {
  const ir::OpInfo row = RowOf(
      "fragment broken( x: tensor<scalar>, n: tensor<integer>, c: tensor<logical>, more: tensor<scalar>[], "
      "last: tensor<scalar> = 1.5 ) -> ( y: tensor<scalar>, parts: tensor<scalar>[] );");
  ASSERT_EQ(row.inputs.size(), 5U);
  const char* names[] = {"x", "n", "c", "more", "last"};
  const ir::TypeClass types[] = {ir::TypeClass::kFloat, ir::TypeClass::kInteger, ir::TypeClass::kBoolean,
                                 ir::TypeClass::kFloat, ir::TypeClass::kFloat};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(row.inputs[i].name, names[i]);
    EXPECT_EQ(row.inputs[i].types, types[i]) << names[i];
    EXPECT_EQ(row.inputs[i].variadic, i == 3) << names[i];
    EXPECT_EQ(row.inputs[i].optional, i == 4) << names[i];
    EXPECT_FALSE(row.inputs[i].generic) << names[i];
  }
  EXPECT_EQ(row.outputs, (std::vector<std::string>{"y", "parts[]"}));
  EXPECT_TRUE(row.attributes.empty());
  EXPECT_FALSE(row.is_generic);
}

TEST_F(PluginsTest, GenericDeclarations) {
  const ir::OpInfo row = RowOf("fragment broken<?>( x: tensor<?>, value: ?[] ) -> ( y: tensor<?> );");
  ASSERT_EQ(row.inputs.size(), 1U);
  EXPECT_TRUE(row.inputs[0].generic);
  EXPECT_TRUE(row.is_generic);
  ASSERT_EQ(row.attributes.size(), 1U);
  EXPECT_EQ(row.attributes[0].kind, ir::AttributeKind::kGeneric);
}

TEST_F(PluginsTest, AttributesOfDeclarations) {
  const ir::OpInfo row = RowOf(
      "fragment broken( x: tensor<scalar>, i: integer = -3, s: scalar = 0.25, l: logical = true, t: string = "
      "'same', "
      "is: integer[] = [1, 2], ss: scalar[] = [0.5], ps: (integer,integer)[] = [(0, 1)], no: integer ) -> ( "
      "y: "
      "tensor<scalar> );");
  const std::pair<const char*, ir::AttributeKind> expected[] = {
      {"i", ir::AttributeKind::kInt},    {"s", ir::AttributeKind::kDouble},
      {"l", ir::AttributeKind::kBool},   {"t", ir::AttributeKind::kString},
      {"is", ir::AttributeKind::kInts},  {"ss", ir::AttributeKind::kDoubles},
      {"ps", ir::AttributeKind::kPairs}, {"no", ir::AttributeKind::kInt}};
  ASSERT_EQ(row.attributes.size(), 8U);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(row.attributes[i].name, expected[i].first);
    EXPECT_EQ(row.attributes[i].kind, expected[i].second) << expected[i].first;
    EXPECT_EQ(row.attributes[i].fallback.has_value(), i != 7) << expected[i].first;
  }
  EXPECT_EQ(row.attributes[0].fallback->AsInt(), -3);
  EXPECT_EQ(row.attributes[1].fallback->AsDouble(), 0.25);
  EXPECT_TRUE(row.attributes[2].fallback->AsBool());
  EXPECT_EQ(row.attributes[3].fallback->AsString(), "same");
}

TEST_F(PluginsTest, DeclarationsThatNoRowHas) {
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r, "fragment broken( x: tensor<scalar>, names: string[] ) -> ( y: tensor<scalar> );");
      },
      "plugin.entry", "`names` of `broken` is of type string[]");
  ExpectMistake(
      [](Registrar& r) {
        AddBroken(r, "fragment broken( x: tensor<scalar>, p: (integer,scalar)[] ) -> ( y: tensor<scalar> );");
      },
      "plugin.entry", "`p` of `broken`");
}

// What a shape function throws names the plug-in.
TEST_F(PluginsTest, ShapeFunctionsThatThrow) {
  for (const bool is_exception : {true, false}) {
    const auto plugins = Load([=](Registrar& r) {
      r.AddOperation({.set = "acme", .name = "Broken", .infer = [=](ir::InferContext&) {
                        if (is_exception) throw std::out_of_range("no such axis");
                        throw 7;
                      }});
    });
    ASSERT_TRUE(plugins->ok());
    ir::OpRegistry registry;
    plugins->AddOperations(registry);
    const ir::OpInfo& row = registry.Info(registry.Find("acme", "Broken"));
    EXPECT_NE(row.check, nullptr);
    int nothing = 0;
    try {
      row.infer(reinterpret_cast<ir::InferContext&>(nothing));
      FAIL();
    } catch (const std::runtime_error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(is_exception ? "no such axis" : "other than a std::exception"),
                std::string::npos)
          << message;
      EXPECT_NE(message.find(Module("whole")), std::string::npos) << message;
    }
  }
}

// ---- folders ----

TEST_F(PluginsTest, Folders) {
  const std::string first = PathOf("first"), second = PathOf("second");
  std::filesystem::create_directories(first);
  std::filesystem::create_directories(second);
  std::vector<std::string> seen;
  Registration() = [&](Registrar& r) {
    r.SetFolderLoader([&](std::vector<ExtensionFolder>& folders) {
      for (ExtensionFolder& folder : folders) {
        seen.push_back(folder.path);
        folder.transformations.push_back([] { return std::make_unique<Named>("OfFolder"); });
      }
      if (folders.size() == 2) folders[1].mistake = "no module";
    });
  };
  // Folders come after files, whatever their order.
  const auto one = Plugins::Load({first, Module("whole")});
  EXPECT_TRUE(one->ok());
  EXPECT_EQ(seen, std::vector<std::string>{first});
  transform::TransformationList list;
  Emitter emitter;
  one->AddTransformations(list, emitter);
  ASSERT_NE(list.Find("OfFolder"), nullptr);
  EXPECT_EQ(list.Find("OfFolder")->plugin, first);
  // The other one is left out; its transformation is no duplicate.
  ExpectMistake(*Plugins::Load({Module("whole"), first, second}), "plugin.not-loadable", "no module");
}

TEST_F(PluginsTest, FoldersThatCannotBeLoaded) {
  for (const bool is_exception : {true, false}) {
    Registration() = [=](Registrar& r) {
      r.SetFolderLoader([=](std::vector<ExtensionFolder>&) {
        if (is_exception) throw std::runtime_error("no interpreter");
        throw 7;
      });
    };
    ExpectMistake(*Plugins::Load({Module("whole"), folder_.string()}), "plugin.registration",
                  is_exception ? "no interpreter" : "other than a std::exception");
  }
}

}  // namespace
}  // namespace nnefc::plugin
