// Formats of other frameworks by the first bytes of a file and by its name.
#include "compiler/package/foreign_format.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "fmt/format.h"

namespace nnefc::package {
namespace {

using namespace std::string_view_literals;

// Returns the format without the advice.
std::string Of(const std::string& path, std::string_view bytes) {
  const auto format = ForeignFormat(path, std::as_bytes(std::span(bytes)));
  return format ? format->substr(0, format->find(';')) : "none";
}

// Each mark at its place counts, whatever the name and whatever follows. A byte less or a byte off does not.
TEST(ForeignFormatTest, Marks) {
  for (const auto& [at, mark, title] : {std::tuple(4, "TFL3"sv, "a TensorFlow Lite model"),
                                        {0, "\x89HDF\r\n\x1a\n"sv, "a Keras or HDF5 file"},
                                        {0, "GGUF"sv, "a GGUF model"},
                                        {0, "\x93NUMPY"sv, "a file of NumPy arrays"},
                                        {0, "N\xef\x01\x00"sv, "a tensor file of NNEF"},
                                        {0, "N\xef\x00\x01"sv, "a tensor file of NNEF"},
                                        {0, "\x80\x02\x8a\x0a"sv, "a PyTorch file"},
                                        {0, "PK\x03\x04"sv, "a zip archive"}}) {
    const std::string start(static_cast<size_t>(at), '.');
    const std::string whole = start + std::string(mark);
    EXPECT_EQ(Of("model", whole), title);
    EXPECT_EQ(Of("model.nnef", whole + "more"), title);
    // A span ends before its memory does.
    EXPECT_EQ(Of("model", std::string_view(whole).substr(0, whole.size() - 1)), "none") << title;
    EXPECT_EQ(Of("model", "." + whole), "none") << title;
  }
}

// A name counts for a file that is not text.
TEST(ForeignFormatTest, Names) {
  for (const auto& [end, title] : {std::pair(".onnx", "an ONNX model"),
                                   {".pb", "a TensorFlow graph"},
                                   {".tflite", "a TensorFlow Lite model"},
                                   {".caffemodel", "a Caffe model"},
                                   {".pt", "a PyTorch file"},
                                   {".pth", "a PyTorch file"},
                                   {".ckpt", "a PyTorch file"},
                                   {".torchscript", "a PyTorch file"},
                                   {".h5", "a Keras or HDF5 file"},
                                   {".hdf5", "a Keras or HDF5 file"},
                                   {".keras", "a Keras or HDF5 file"},
                                   {".mlmodel", "a Core ML model"},
                                   {".safetensors", "a file of weights (safetensors) without a graph"},
                                   {".gguf", "a GGUF model"},
                                   {".npy", "a file of NumPy arrays"},
                                   {".npz", "a file of NumPy arrays"},
                                   {".dat", "a tensor file of NNEF"},
                                   {".bin", "a file of weights without a graph"}}) {
    const std::string path = std::string("model") + end;
    EXPECT_EQ(Of(path, "\x01\x02"sv), title);
    EXPECT_EQ(Of(path, "graph net"sv), "none") << title;
    EXPECT_EQ(Of(path, ""sv), "none") << title;
    EXPECT_EQ(Of(path + "x", "\x01\x02"sv), "none") << title;
  }
}

// Text has no control characters but blanks and line ends. The first 4096 bytes count.
TEST(ForeignFormatTest, BinaryFiles) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_text =
        byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' || byte == '\v';
    const std::string bytes = std::string("ab") + static_cast<char>(byte);
    EXPECT_EQ(Of("model.onnx", bytes), is_text ? "none" : "an ONNX model") << byte;
  }
  EXPECT_EQ(Of("model.onnx", std::string(4095, 'a') + '\1'), "an ONNX model");
  EXPECT_EQ(Of("model.onnx", std::string(4096, 'a') + '\1'), "none");
}

// Version 1 to 20 of ONNX, and then the name of the producer.
TEST(ForeignFormatTest, MessagesOfOnnx) {
  for (const int version : {0, 1, 10, 19, 20, 21, 255}) {
    const std::string bytes = {'\x08', static_cast<char>(version), '\x12', 'a'};
    EXPECT_EQ(Of("model", bytes), version <= 20 ? "an ONNX model" : "none") << version;
    EXPECT_EQ(Of("model", std::string_view(bytes).substr(0, 3)), version <= 20 ? "an ONNX model" : "none");
    for (const size_t size : {0, 1, 2})
      EXPECT_EQ(Of("model", std::string_view(bytes).substr(0, size)), "none") << version << ' ' << size;
  }
  EXPECT_EQ(Of("model", "\x09\x07\x12"sv), "none");
  EXPECT_EQ(Of("model", "\x08\x07\x13"sv), "none");
}

TEST(ForeignFormatTest, AdviceOnConversion) {
  EXPECT_EQ(*ForeignFormat("m.onnx", std::as_bytes(std::span("\x08\x07\x12"sv))),
            "an ONNX model; convert it by Khronos' converter (the Python package `nnef-tools`): `python -m "
            "nnef_tools.convert --input-format onnx --output-format nnef --input-model m.onnx "
            "--keep-io-names`, which "
            "keeps the names of inputs and outputs");
  EXPECT_EQ(
      *ForeignFormat("m.pb", std::as_bytes(std::span("\x08\x07\x13"sv))),
      "a TensorFlow graph; convert it by Khronos' converter (the Python package `nnef-tools`): `python -m "
      "nnef_tools.convert --input-format tf --output-format nnef --input-model m.pb`");
}

}  // namespace
}  // namespace nnefc::package
