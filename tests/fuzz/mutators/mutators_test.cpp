// Mutants of valid inputs: most of them parse, they differ, and the seed determines them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <pugixml.hpp>
#include <set>

#include "compiler/ir/op_registry.h"
#include "compiler/ir/text/text.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/package/tensors/npy.h"
#include "compiler/package/tensors/npz.h"
#include "compiler/package/tensors/safetensors.h"
#include "compiler/syntax/parse.h"
#include "tests/fuzz/mutators/archives.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/mutators/operations.h"

namespace nnefc::fuzz {
namespace {

constexpr size_t kMaxSize = 8192;
constexpr int kMutants = 400;

constexpr std::string_view kDocument =
    "version 1.0;\n"
    "extension KHR_enable_fragment_definitions;\n"
    "extension KHR_enable_operator_expressions;\n"
    "fragment scaled(x: tensor<scalar>, by: scalar = 2.0) -> (y: tensor<scalar>) { y = x * by; }\n"
    "graph net(input) -> (output) {\n"
    "  input = external<scalar>(shape = [1, 2, 4, 4]);\n"
    "  filter = variable<scalar>(shape = [2, 2, 1, 1], label = 'filter');\n"
    "  x = conv(input, filter, 0.0, border = 'constant', stride = [1, 1], padding = [(0, 0), (0, 0)]);\n"
    "  y = scaled(x, by = 0.5);\n"
    "  output = relu(y);\n"
    "}\n";
constexpr std::string_view kProvisionalDocument =
    "version 1.0\n"
    "graph net(input) -> (output) {\n"
    "  input = external(shape = [1, 2, 4, 4])\n"
    "  filter = variable(shape = [2, 2, 1, 1], label = 'filter')\n"
    "  x = conv(input, filter, padding = [(0, 0), (0, 0)])\n"
    "  output = relu(x)\n"
    "}\n";
constexpr std::string_view kGraph =
    "graph \"net\" {\n"
    "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2,3]} : f32[2,3]\n"
    "  %1 = opset1.Const \"c\" : i64[1] = dense<i64[1]: 1>\n"
    "  %2 = opset1.ReduceSum \"s\" (%0, %1) {keep_dims = true} : f32[2,1]\n"
    "  %3 = opset1.ReLU \"r\" (%2) : f32[2,1]\n"
    "  opset1.Result \"y\" (%3)\n"
    "}\n";
constexpr std::string_view kXml =
    "<net name=\"net\" version=\"11\"><layers>"
    "<layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data shape=\"2,3\" "
    "element_type=\"f32\"/>"
    "<output><port id=\"0\" precision=\"FP32\"><dim>2</dim><dim>3</dim></port></output></layer>"
    "<layer id=\"1\" name=\"r\" type=\"ReLU\" version=\"opset1\"><input><port "
    "id=\"0\"><dim>2</dim><dim>3</dim></port></input>"
    "<output><port id=\"1\" precision=\"FP32\"><dim>2</dim><dim>3</dim></port></output></layer>"
    "<layer id=\"2\" name=\"y\" type=\"Result\" version=\"opset1\"><input><port "
    "id=\"0\"><dim>2</dim><dim>3</dim></port></input></layer>"
    "</layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/>"
    "<edge from-layer=\"1\" from-port=\"1\" to-layer=\"2\" to-port=\"0\"/></edges></net>";

// Replaces libFuzzer's mutation: writes a byte that no format expects.
void SpoilByte(std::string& bytes, size_t max_size) {
  bytes = (bytes + '\xff').substr(0, max_size);
}

std::string MakeMutant(const Mutator& mutator, std::string_view input, uint64_t seed,
                       size_t max_size = kMaxSize) {
  Choices choices(seed);
  Mutation mutation{.choices = choices, .max_size = max_size, .mutate_bytes = SpoilByte};
  return mutator.mutate(input, mutation);
}

std::string MakeCross(const Mutator& mutator, std::string_view first, std::string_view second,
                      uint64_t seed) {
  Choices choices(seed);
  Mutation mutation{.choices = choices, .max_size = kMaxSize, .mutate_bytes = SpoilByte};
  return mutator.cross(first, second, mutation);
}

package::DataSource Source(std::string_view bytes, Context& context) {
  auto buffer = Buffer::Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer->mutable_data(), bytes.data(), bytes.size());
  return {context.sources.AddOpaque("input", FileKind::kBinary), std::move(buffer)};
}

// The required quality of a format's mutants.
struct Case {
  const char* name;
  const Mutator& mutator;
  std::string input;
  bool (*parses)(std::string_view);
  double min_rate;    // minimum rate of mutants that parse
  int min_different;  // out of kMutants
};

bool ParsesDocument(std::string_view text) {
  Context context;
  const auto document =
      ast::ParseDocument(context.sources.AddText("graph.nnef", std::string(text)), {}, context);
  return document != nullptr && !context.emitter.has_errors();
}

bool ParsesGraph(std::string_view text) {
  Context context;
  const ir::OpRegistry registry(&ir::StandardOps());
  return ir::ParseGraph(context.sources.AddText("net.ir", std::string(text)), registry, context) != nullptr;
}

bool ParsesXml(std::string_view input) {
  const std::string_view xml = input.substr(0, input.find('\0'));
  return static_cast<bool>(pugi::xml_document().load_buffer(xml.data(), xml.size()));
}

bool ReadsDat(std::string_view bytes) {
  Context context;
  return package::ReadDat(Source(bytes, context), context.emitter).has_value();
}

bool ReadsNpy(std::string_view bytes) {
  Context context;
  const package::DataSource source = Source(bytes, context);
  if (bytes.starts_with("PK")) return package::ReadNpz(source, context, {}).has_value();
  return package::ReadNpy(source, context.emitter).has_value();
}

bool ReadsSafetensors(std::string_view bytes) {
  Context context;
  return package::ReadSafetensorsIndex(Source(bytes, context), bytes.size(), context.emitter).has_value();
}

bool HasMembers(std::string_view archive) {
  return !ReadTar(archive.starts_with("\x1f\x8b") ? Gunzip(archive, 1 << 20) : std::string(archive), 1 << 20)
              .empty();
}

std::string Npy() {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
         std::string(8, '\0');
}

std::string Dat() {
  std::string bytes("\x4e\xef\1\0\4\0\0\0\1\0\0\0\1\0\0\0", 16);
  bytes.resize(128 + 4);
  bytes[44] = 32;
  return bytes;
}

std::string Safetensors() {
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"I8","shape":[1,3],"data_offsets":[8,11]}})";
  return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header +
         std::string(11, '\0');
}

std::vector<Case> Cases() {
  const std::string model = WriteTar(
      {{.name = "graph.nnef", .content = std::string(kDocument)}, {.name = "filter.dat", .content = Dat()}});
  return {
      {"document", kDocumentMutator, std::string(kDocument), ParsesDocument, 0.6, 350},
      {"provisional document", kDocumentMutator, std::string(kProvisionalDocument), ParsesDocument, 0.7, 350},
      {"graph", kGraphTextMutator, std::string(kGraph), ParsesGraph, 0.25, 320},
      {"openvino", kOpenVinoMutator, std::string(kXml) + '\0', ParsesXml, 1, 230},
      {"dat", kDatMutator, Dat(), ReadsDat, 0.6, 240},
      {"npy", kNpyMutator, Npy(), ReadsNpy, 0.35, 220},
      {"npz", kNpyMutator,
       WriteZip({{.name = "a.npy", .content = Npy()}, {.name = "b.npy", .content = Npy(), .method = 8}}),
       ReadsNpy, 0.5, 190},
      {"safetensors", kSafetensorsMutator, Safetensors(), ReadsSafetensors, 0.2, 160},
      {"tar", kContainerMutator, model, HasMembers, 0.95, 210},
      {"tgz", kContainerMutator, Gzip(model), HasMembers, 0.95, 210}};
}

TEST(MutatorsTest, MutantsMostlyParseAndDiffer) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    ASSERT_TRUE(each.parses(each.input));
    std::set<std::string> different;
    int parsed = 0;
    for (int seed = 0; seed < kMutants; ++seed) {
      const std::string mutant = MakeMutant(each.mutator, each.input, static_cast<uint64_t>(seed));
      different.insert(mutant);
      if (each.parses(mutant)) ++parsed;
    }
    EXPECT_GE(parsed, each.min_rate * kMutants);
    EXPECT_GE(different.size(), static_cast<size_t>(each.min_different));
  }
}

TEST(MutatorsTest, SeedDecides) {
  for (const Case& each : Cases())
    for (uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(MakeMutant(each.mutator, each.input, seed), MakeMutant(each.mutator, each.input, seed))
          << each.name;
}

// The mutator of each format runs on the inputs of every other one, also truncated and empty.
TEST(MutatorsTest, AcceptAnyInput) {
  std::vector<std::string> inputs = {"",
                                     "{",
                                     std::string(3000, '('),
                                     std::string(2000, '[') + "1",
                                     "a\n{\"a\": [[1]]}",
                                     std::string(300, '\0'),
                                     "\"",
                                     "x = -",
                                     "<a><b></a>"};
  for (const Case& each : Cases()) {
    inputs.push_back(each.input);
    inputs.push_back(each.input.substr(0, each.input.size() / 2));
    inputs.push_back(each.input.substr(each.input.size() / 3));
  }
  for (const Mutator* mutator :
       {&kDocumentMutator, &kGraphTextMutator, &kJsonMutator, &kResourceMutator, &kOpenVinoMutator,
        &kSafetensorsMutator, &kDatMutator, &kNpyMutator, &kContainerMutator})
    for (size_t i = 0; i < inputs.size(); ++i)
      for (uint64_t seed = 0; seed < 12; ++seed) {
        MakeMutant(*mutator, inputs[i], seed);
        MakeMutant(*mutator, inputs[i], seed, 64);
        if (mutator->cross != nullptr)
          MakeCross(*mutator, inputs[i], inputs[(i + seed) % inputs.size()], seed);
      }
}

TEST(MutatorsTest, CrossesParts) {
  int found = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::string crossed = MakeCross(kDocumentMutator, kDocument, kProvisionalDocument, seed);
    if (!crossed.empty() && crossed != kDocument) ++found;
  }
  EXPECT_GE(found, 30);
  const std::string layers = MakeCross(kOpenVinoMutator, kXml, kXml, 1);
  EXPECT_NE(layers.find("id=\"3\""), std::string::npos) << layers;
}

TEST(OperationsTest, ReadsDeclarations) {
  const Operation* conv = FindOperation("conv");
  ASSERT_NE(conv, nullptr);
  ASSERT_EQ(conv->parameters.size(), 8u);
  EXPECT_EQ(conv->parameters[0].type, "tensor<scalar>");
  EXPECT_EQ(conv->parameters[3].default_value, "'constant'");
  EXPECT_EQ(conv->parameters[4].type, "(integer,integer)[]");
  EXPECT_EQ(FindOperation("external")->is_generic, true);
  EXPECT_EQ(FindOperation("conv")->is_generic, false);
  EXPECT_GT(LibraryOperations().size(), 200u);
}

TEST(ArchivesTest, WrittenArchivesAreRead) {
  const std::vector<ArchiveMember> members = {{.name = "a", .content = "abc"},
                                              {.name = "b", .content = std::string(600, 'x'), .method = 8}};
  const auto tar = ReadTar(WriteTar(members), 4096);
  const auto zip = ReadZip(WriteZip(members), 4096);
  ASSERT_EQ(tar.size(), 2u);
  ASSERT_EQ(zip.size(), 2u);
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(tar[i].name, members[i].name);
    EXPECT_EQ(tar[i].content, members[i].content);
    EXPECT_EQ(zip[i].name, members[i].name);
    EXPECT_EQ(zip[i].content, members[i].content);
    EXPECT_EQ(zip[i].method, members[i].method);
  }
  EXPECT_EQ(Gunzip(Gzip("text"), 100), "text");
  EXPECT_EQ(ReadTar(WriteTar(members), 600).size(), 1u);  // a bound on the unpacked bytes
}

}  // namespace
}  // namespace nnefc::fuzz
