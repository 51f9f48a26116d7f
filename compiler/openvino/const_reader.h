#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/openvino/layers.h"
#include "compiler/openvino/xml_file.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::openvino {

// Gives Const layers their part of the .bin file, which is opened when the
// first one asks.
class ConstReader {
 public:
  ConstReader(XmlFile* xml, std::string path) : xml_(xml), path_(std::move(path)) {}

  // The value of the layer's `<data element_type= shape= offset= size=/>`; old
  // files have type and shape at the output port only. Emits what is wrong:
  // bytes outside the file, fewer bytes than the shape needs.
  [[nodiscard]] std::optional<TensorValue> Read(const LayerElement& layer);

 private:
  [[nodiscard]] bool Open(const LayerElement& layer);

  XmlFile* xml_;
  std::string path_;
  bool tried_ = false;
  std::shared_ptr<const MappedFile> file_;
};

// Element type and shape as `<data>` of a Parameter or Const has them, or else
// the output port.
struct DeclaredTensor {
  ElementType type = ElementType::kDynamic;
  ir::PartialShape shape;
};
[[nodiscard]] std::optional<DeclaredTensor> ReadDeclaredTensor(XmlFile& xml, const LayerElement& layer);

}  // namespace nnefc::openvino
