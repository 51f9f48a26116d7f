// Plug-ins, loaded from shared libraries that the build makes, and each mistake of a file or folder.
// `module/module.cpp` calls back, so that each test registers what it wants.

#include <dlfcn.h>
#include <elf.h>

#include <cstring>

#include "compiler/driver/compilation.h"
#include "compiler/ir/algorithms/infer.h"
#include "tests/unit/compiler/plugin/plugins_support.h"

// Resolved when a plug-in is loaded.
extern "C" __attribute__((visibility("default"), used)) void nnefc_test_register(
    nnefc::plugin::Registrar& registrar) {
  nnefc::plugin::Registration()(registrar);
}

namespace nnefc::plugin {
namespace {

// ---- files ----

TEST_F(PluginsTest, NothingWrongWithNothing) {
  const auto plugins = Plugins::Load({});
  EXPECT_TRUE(plugins->ok());
  EXPECT_TRUE(Report(*plugins).rules.empty());
  EXPECT_EQ(&plugins->library(), &semantics::StandardLibrary::Shared());
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
  // The system does not resolve such a path; each is reported.
  const auto plugins = Plugins::Load({std::string(5000, 'a'), std::string(5000, 'b')});
  EXPECT_EQ(Report(*plugins).rules, (std::vector<std::string>{"plugin.unreadable", "plugin.unreadable"}));
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
  // The path is there once, and names of C++ are readable.
  ExpectMistake(*Plugins::Load({Module("unresolved")}), "plugin.not-loadable",
                "unresolved.so`: undefined symbol: nnefc_test_missing");
  ExpectMistake(*Plugins::Load({Module("mangled")}), "plugin.not-loadable",
                "mangled.so`: undefined symbol: nnefc::plugin::Missing(int)");
  EXPECT_EQ(Report(*Plugins::Load({Module("mangled")})).messages[0].find("_Z"), std::string::npos);
}

// Names of C++ are readable whatever is written before and after them.
TEST_F(PluginsTest, NamesOfMissingFunctions) {
  ExpectMistake(*Plugins::Load({Write("of_Zoo.so", Read(Module("mangled")))}), "plugin.not-loadable",
                "of_Zoo.so`: undefined symbol: nnefc::plugin::Missing(int)");
  // The system states the version of a symbol after its name.
  std::string bytes = Read(Module("allocating"));
  const std::string known = "_Znwm", unknown = "_Znwx";
  for (size_t at = bytes.find(known); at != std::string::npos; at = bytes.find(known, at))
    bytes.replace(at, known.size(), unknown);
  ExpectMistake(*Plugins::Load({Write("versioned.so", bytes)}), "plugin.not-loadable",
                "versioned.so`: undefined symbol: operator new(long long)");
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

// A section whose name continues after that of the interface is another one.
TEST_F(PluginsTest, NamesOfSections) {
  std::string bytes = Read(Module("whole"));
  const std::string name = std::string("\0", 1) + NNEFC_INTERFACE_SECTION + std::string("\0", 1);
  const size_t at = bytes.rfind(name);
  ASSERT_NE(at, std::string::npos);
  bytes[at + name.size() - 1] = '_';
  ExpectMistake(*Plugins::Load({Write("named.so", bytes)}), "plugin.not-a-plug-in",
                "without `NNEFC_EXTENSION`");
}

// Verification infers the shapes of a graph again: of an expanded document, and of a graph that was read.
TEST_F(PluginsTest, ShapesThatChange) {
  driver::CompileOptions options;
  options.plugins = Load([](Registrar& registrar) {
    registrar.AddLibrary("acme", kHead + std::string(kPrimitive));
    registrar.AddOperation(
        {.set = "nnef", .name = "broken", .infer = [count = int64_t{0}](ir::InferContext& context) mutable {
           context.SetOutput(0, context.input(0).type, {++count});
         }});
  });
  ASSERT_TRUE(options.plugins->ok());
  const auto run = [&](const std::string& path, driver::Stage stage) {
    driver::Compilation compilation(path, options);
    const bool is_complete = compilation.RunUntil(stage);
    std::string messages;
    for (const Diagnostic& diagnostic : compilation.context().emitter.diagnostics())
      messages += diagnostic.message;
    EXPECT_EQ(is_complete, messages.empty()) << messages;
    return messages;
  };
  const std::string document = Write("net.nnef",
                                     "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = "
                                     "[8]);\n    y = broken(x);\n}\n");
  const std::string graph = Write("net.ir",
                                  R"(graph "g" {
  %0 = nnef.external "x" {shape = [8], dtype = "scalar"} : f32[8] as ["x"]
  %1 = nnef.broken "y" (%0) : f32[8] as ["y"]
  opset1.Result "y" (%1)
}
)");
  EXPECT_EQ(run(document, driver::Stage::kExpand), "");
  EXPECT_EQ(run(graph, driver::Stage::kOpen), "");
  options.verify = true;
  const std::string fault = "a fault of nnefc, not of the model: after the stage ";
  EXPECT_TRUE(run(document, driver::Stage::kExpand).starts_with(fault + "`expand`"));
  EXPECT_TRUE(run(graph, driver::Stage::kOpen).starts_with(fault + "`open`"));
}

// The libraries are loaded as long as the plug-ins.
TEST_F(PluginsTest, LibrariesAreUnloaded) {
  Registration() = [](Registrar&) {};
  const std::string path = Write("unloaded.so", Read(Module("whole")));
  const auto is_loaded = [&] {
    void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) ::dlclose(handle);
    return handle != nullptr;
  };
  EXPECT_FALSE(is_loaded());
  auto plugins = Plugins::Load({path});
  ASSERT_TRUE(plugins->ok());
  EXPECT_TRUE(is_loaded());
  plugins = nullptr;
  EXPECT_FALSE(is_loaded());
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
  // Sections after the number in the header do not count.
  for (const size_t count : {index, index + 1}) {
    Elf64_Ehdr changed = header;
    changed.e_shnum = static_cast<Elf64_Half>(count);
    std::string bytes = whole;
    std::memcpy(bytes.data(), &changed, sizeof(changed));
    EXPECT_EQ(ReadInterface(std::as_bytes(std::span<const char>(bytes))).ok(), count > index);
  }
  EXPECT_EQ(*interface([](Elf64_Shdr& changed) { changed.sh_size = 7; }), std::string(NNEFC_INTERFACE, 7));
  EXPECT_EQ(*interface([](Elf64_Shdr& changed) { changed.sh_size = 0; }), "");
  EXPECT_EQ(*interface([&](Elf64_Shdr& changed) { changed.sh_offset = whole.size(); }), "");
  EXPECT_EQ(*interface([](Elf64_Shdr& changed) { changed.sh_offset = ~uint64_t{0}; }), "");
  // A text without an end stops at the end of the file, whatever follows in memory.
  for (const size_t length : {size_t{1}, size_t{2}, size_t{7}}) {
    Elf64_Shdr changed = section(index);
    changed.sh_offset = whole.size() - length;
    changed.sh_size = 100;
    std::string bytes = whole + std::string(200, 'x');
    std::memcpy(bytes.data() + header.e_shoff + index * sizeof(changed), &changed, sizeof(changed));
    std::memset(bytes.data() + whole.size() - length, 'a', length);
    EXPECT_EQ(*ReadInterface(std::as_bytes(std::span<const char>(bytes.data(), whole.size()))),
              std::string(length, 'a'));
  }
  // The last byte of the file.
  EXPECT_EQ(*interface([&](Elf64_Shdr& changed) {
    changed.sh_offset = whole.size() - 1;
    changed.sh_size = 100;
  }),
            std::string(whole.data() + whole.size() - 1, strnlen(whole.data() + whole.size() - 1, 1)));
  EXPECT_FALSE(interface([](Elf64_Shdr& changed) { changed.sh_name += 1; }).ok());
  EXPECT_FALSE(interface([](Elf64_Shdr& changed) { changed.sh_name = ~uint32_t{0}; }).ok());
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
  EXPECT_TRUE(one->AddTransformations(list, emitter));
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
