// Detection of model files of other frameworks, for messages.

#include "compiler/package/foreign_format.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "fmt/core.h"

namespace nnefc::package {
namespace {

using namespace std::string_view_literals;

// A model format of another framework. `converter` is its name in `nnef_tools.convert` of the package
// `nnef-tools`; empty if unsupported there.
struct Format {
  std::string_view title;
  std::string_view converter;
  std::string_view advice;  // if there is no converter
};

constexpr Format kOnnx{"an ONNX model", "onnx", ""};
constexpr Format kTensorFlow{"a TensorFlow graph", "tf", ""};
constexpr Format kTensorFlowLite{"a TensorFlow Lite model", "tflite", ""};
constexpr Format kCaffe{"a Caffe model", "caffe", ""};
constexpr Format kPyTorch{"a PyTorch file", "",
                          "export it with `torch.onnx.export`, then convert the ONNX model"};
constexpr Format kKeras{"a Keras or HDF5 file", "",
                        "write it as ONNX (`tf2onnx`) or TensorFlow Lite, then convert that"};
constexpr Format kCoreMl{"a Core ML model", "", "start from the model that it was made of"};
constexpr Format kSafeTensors{"a file of weights (safetensors) without a graph", "",
                              "name the folder that holds it and `graph.nnef`"};
constexpr Format kGguf{"a GGUF model", "", "start from the model that it was made of"};
constexpr Format kZip{"a zip archive", "", "a model is a folder, a `.tar` or a `.tgz`; unpack it"};
constexpr Format kArrays{"a file of NumPy arrays", "",
                         "`run` takes data by `--input` and `--inputs`; a model is a document or a folder"};
constexpr Format kTensorFile{"a tensor file of NNEF", "", "name the folder that holds it and `graph.nnef`"};
constexpr Format kSkriptNd{"a model of NNEF 2.0 (SkriptND)", "", "nnefc reads NNEF 1.0"};
constexpr Format kWeights{"a file of weights without a graph", "", "name the `.xml` or `.ir` next to it"};

struct ByMagic {
  size_t at;
  std::string_view bytes;
  const Format* format;
};
constexpr ByMagic kMagics[] = {
    {4, "TFL3"sv, &kTensorFlowLite},
    {0, "\x89HDF\r\n\x1a\n"sv, &kKeras},
    {0, "GGUF"sv, &kGguf},
    {0, "\x93NUMPY"sv, &kArrays},
    {0, "N\xef\x01\x00"sv, &kTensorFile},
    {0, "N\xef\x00\x01"sv, &kTensorFile},
    {0, "\x80\x02\x8a\x0a"sv, &kPyTorch},
};

struct ByName {
  std::string_view end;
  const Format* format;
};
// For binary files only: a text file is a document regardless of its name.
constexpr ByName kNames[] = {
    {".onnx", &kOnnx},
    {".pb", &kTensorFlow},
    {".tflite", &kTensorFlowLite},
    {".caffemodel", &kCaffe},
    {".pt", &kPyTorch},
    {".pth", &kPyTorch},
    {".ckpt", &kPyTorch},
    {".torchscript", &kPyTorch},
    {".h5", &kKeras},
    {".hdf5", &kKeras},
    {".keras", &kKeras},
    {".mlmodel", &kCoreMl},
    {".safetensors", &kSafeTensors},
    {".gguf", &kGguf},
    {".npy", &kArrays},
    {".npz", &kArrays},
    {".dat", &kTensorFile},
    {".bin", &kWeights},
};

// Returns whether the bytes have a NUL or another control character unusual in text.
bool IsBinary(std::span<const std::byte> bytes) {
  const size_t looked_at = std::min<size_t>(bytes.size(), 4096);
  return std::any_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(looked_at),
                     [](std::byte byte) {
                       const auto c = std::to_integer<unsigned char>(byte);
                       return c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
                     });
}

bool StartsWith(std::span<const std::byte> bytes, size_t at, std::string_view magic) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

const Format* Find(const std::string& path, std::span<const std::byte> bytes) {
  for (const ByMagic& row : kMagics) {
    if (StartsWith(bytes, row.at, row.bytes)) return row.format;
  }
  if (path.ends_with(kSkriptNdSuffix)) return &kSkriptNd;
  if (!IsBinary(bytes)) return nullptr;
  for (const ByName& row : kNames) {
    if (path.ends_with(row.end)) return row.format;
  }
  // The first field of ONNX' message is the format version, with the latest ones supported; the producer's
  // name usually follows.
  if (bytes.size() > 2 && bytes[0] == std::byte{0x08} && std::to_integer<int>(bytes[1]) <= 20 &&
      bytes[2] == std::byte{0x12})
    return &kOnnx;
  return StartsWith(bytes, 0, "PK\x03\x04") ? &kZip : nullptr;
}

}  // namespace

std::optional<std::string> ForeignFormat(const std::string& path, std::span<const std::byte> bytes) {
  const Format* format = Find(path, bytes);
  if (format == nullptr) return std::nullopt;
  if (format->converter.empty()) return fmt::format("{}; {}", format->title, format->advice);
  // Without the option, inputs become `external1` and outputs are named after operations.
  const bool keeps_names = format == &kOnnx;
  return fmt::format(
      "{}; convert it by Khronos' converter (the Python package `nnef-tools`): `python -m nnef_tools.convert "
      "--input-format {} --output-format nnef --input-model {}{}`{}",
      format->title, format->converter, path, keeps_names ? " --keep-io-names" : "",
      keeps_names ? ", which keeps the names of inputs and outputs" : "");
}

}  // namespace nnefc::package
