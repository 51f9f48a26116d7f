#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/openvino/layers.h"
#include "compiler/openvino/reading/xml_file.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::openvino {

// A reader of the values of Const layers from the .bin file, opened on first use.
class ConstReader {
 public:
  explicit ConstReader(std::string path) : path_(std::move(path)) {}

  // Reads the value of the layer's `<data element_type= shape= offset= size=/>`; old files have type and
  // shape only at the output port. Emits an error for bytes outside the file, or fewer bytes than the shape
  // requires.
  [[nodiscard]] std::optional<TensorValue> Read(XmlReader& xml, const LayerElement& layer);

 private:
  [[nodiscard]] bool Open(XmlReader& xml, const LayerElement& layer);

  std::string path_;
  bool tried_ = false;
  std::shared_ptr<const MappedFile> file_;
};

// The element type and shape declared in `<data>` of a Parameter or Const, or else at the output port.
struct DeclaredTensor {
  ElementType type = ElementType::kDynamic;
  ir::PartialShape shape;
};
[[nodiscard]] std::optional<DeclaredTensor> ReadDeclaredTensor(XmlReader& xml, const LayerElement& layer);

}  // namespace nnefc::openvino
