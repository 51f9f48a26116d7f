// Runs the documents of document_cases.txt, whose results tract and NumPy computed (make_document_cases.py),
// on both backends.

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

struct DocumentCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;  // name and bytes
  Tensors inputs, outputs;
  double tolerance = 0;
};

Tensor ReadTensor(std::istream& line) {
  std::string type, dims;
  line >> type >> dims;
  std::vector<int64_t> shape;
  std::stringstream extents(dims.substr(1, dims.size() - 2));
  for (std::string extent; std::getline(extents, extent, ',');) shape.push_back(std::stoll(extent));
  std::string bytes;
  for (std::string item; line >> item;) {
    if (type == "f32") {
      const float number = std::strtof(item.c_str(), nullptr);
      bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
    } else {
      const int64_t number = std::stoll(item);
      bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }
  }
  const std::optional<Tensor> tensor =
      Tensor::Copy(*ParseElementType(type), shape, std::as_bytes(std::span<const char>(bytes)));
  EXPECT_TRUE(tensor.has_value()) << dims;
  return tensor.value_or(Tensor());
}

std::string FromHexadecimal(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::vector<DocumentCase> ReadDocumentCases() {
  std::vector<DocumentCase> cases;
  std::ifstream file("tests/unit/tools/api/document_cases.txt");
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word, name;
    line >> word >> name;
    if (word == "case") {
      cases.emplace_back().name = name;
    } else if (word == "text") {
      int count = 0;
      line >> count;
      std::string lines;
      for (std::string next; count > 0 && std::getline(file, next); --count) lines += next + "\n";
      cases.back().files.emplace_back(name, lines);
    } else if (word == "data") {
      std::string digits;
      line >> digits;
      cases.back().files.emplace_back(name, FromHexadecimal(digits));
    } else if (word == "input" || word == "output") {
      (word == "input" ? cases.back().inputs : cases.back().outputs).emplace(name, ReadTensor(line));
    } else if (word == "tolerance") {
      cases.back().tolerance = std::stod(name);
    }
  }
  return cases;
}

const std::vector<DocumentCase>& DocumentCases() {
  static const auto* cases = new std::vector<DocumentCase>(ReadDocumentCases());
  return *cases;
}

class DocumentCasesTest : public testing::TestWithParam<size_t> {};

TEST_P(DocumentCasesTest, Runs) {
  const DocumentCase& test = DocumentCases()[GetParam()];
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       ("documents-" + std::to_string(::getpid()) + "-" + test.name);
  std::filesystem::create_directories(folder);
  for (const auto& [name, bytes] : test.files) std::ofstream(folder / name, std::ios::binary) << bytes;
  const Outcome<Model> model = Model::Open(folder.string());
  ASSERT_TRUE(model) << model.report.ToText();
  for (const Backend backend : {Backend::kReference, Backend::kFast}) {
    const Outcome<Executable> executable = model->Compile({.backend = backend, .threads = 1});
    ASSERT_TRUE(executable) << executable.report.ToText();
    const Outcome<Tensors> made = executable->Run(test.inputs);
    ASSERT_TRUE(made) << made.report.ToText();
    ASSERT_EQ(made->size(), test.outputs.size());
    for (const auto& [name, expected] : test.outputs) {
      ASSERT_EQ(made->count(name), 1U) << name;
      const Tensor& found = made->at(name);
      ASSERT_EQ(found.shape(), expected.shape());
      for (int64_t i = 0; i < expected.volume(); ++i) {
        const double number = expected.ElementAsDouble(i);
        ASSERT_LE(std::abs(found.ElementAsDouble(i) - number), test.tolerance * (1 + std::abs(number)))
            << "element " << i << ": " << found.ElementAsDouble(i) << ", expected " << number;
      }
    }
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Cases, DocumentCasesTest, testing::Range(size_t{0}, DocumentCases().size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           return DocumentCases()[info.param].name;
                         });

TEST(DocumentCasesTable, IsThere) {
  EXPECT_GE(DocumentCases().size(), 150U);
}

}  // namespace
}  // namespace nnefc::api
