// The reader of constants from the .bin file of a model.

#include "compiler/openvino/reading/const_reader.h"

#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/limits.h"
#include "compiler/support/files/file.h"

namespace nnefc::openvino {

namespace {

template <typename T>
std::optional<T> ParsedData(XmlReader& xml, pugi::xml_node data, const char* name, ir::AttributeKind kind) {
  const pugi::xml_attribute attribute = data.attribute(name);
  const std::string_view text = attribute.value();
  const std::optional<ir::Attribute> value = ParseAttribute(text, kind);
  if (value) return *value->get<T>();
  xml.Error(kXmlAttributeValue, xml.Range(attribute), "`{}` of `data` is `{}`; expected {}", name,
            text.substr(0, kShown), KindText(kind))
      .Notes(xml.LayerNote(data));
  return std::nullopt;
}

}  // namespace

std::optional<DeclaredTensor> ReadDeclaredTensor(XmlReader& xml, const LayerElement& layer) {
  const pugi::xml_node data = xml.Child(layer.element, "data");
  const PortElement* port = layer.outputs.empty() ? nullptr : &layer.outputs.front();
  const bool is_known_by_port = !data.attribute("element_type") && !data.attribute("shape") &&
                                port != nullptr && port->precision != ElementType::kDynamic;
  if (is_known_by_port)
    return DeclaredTensor{port->precision, port->shape.value_or(ir::PartialShape::OfRank(0))};
  if (!xml.RequiredChild(layer.element, "data")) return std::nullopt;
  if (!xml.Text(data, "element_type") || !xml.Text(data, "shape")) return std::nullopt;
  const auto parsed_type = ParsedData<ElementType>(xml, data, "element_type", ir::AttributeKind::kType);
  const auto parsed_shape = ParsedData<ir::PartialShape>(xml, data, "shape", ir::AttributeKind::kShape);
  if (!parsed_type || !parsed_shape) return std::nullopt;
  return DeclaredTensor{*parsed_type, *parsed_shape};
}

bool ConstReader::Open(XmlReader& xml, const LayerElement& layer) {
  if (tried_) return file_ != nullptr;
  tried_ = true;
  auto file = MappedFile::Open(path_);
  if (file) {
    file_ = *file;
    return true;
  }
  xml.Error(kConstWeights, xml.Range(layer.element), "the constants are missing: {}", file.error().message);
  return false;
}

std::optional<TensorValue> ConstReader::Read(XmlReader& xml, const LayerElement& layer) {
  const pugi::xml_node data = xml.RequiredChild(layer.element, "data");
  if (!data) return std::nullopt;
  const std::optional<DeclaredTensor> tensor = ReadDeclaredTensor(xml, layer);
  if (!tensor) return std::nullopt;
  const std::optional<int64_t> offset = xml.Integer(data, "offset", 0);
  const std::optional<int64_t> size = xml.Integer(data, "size", 0);
  if (!offset || !size) return std::nullopt;
  const std::optional<Shape> shape = tensor->shape.extents();
  const std::optional<int64_t> volume = shape ? Volume(*shape) : std::nullopt;
  const bool has_bytes = BitWidth(tensor->type) != 0;
  const std::optional<size_t> needed = volume && has_bytes ? ByteSize(tensor->type, *volume) : std::nullopt;
  if (!needed) {
    xml.Error(kConstSize, xml.Range(data), "a constant cannot have the element type {} and the shape {}",
              Name(tensor->type), ir::ToString(tensor->shape));
    return std::nullopt;
  }
  if (*needed > static_cast<uint64_t>(*size)) {
    xml.Error(kConstSize, xml.Range(data.attribute("size")),
              "`size` is {} bytes; the shape {} of {} needs {}", *size, ir::ToString(tensor->shape),
              Name(tensor->type), *needed);
    return std::nullopt;
  }
  if (*size == 0) return TensorValue(tensor->type, *shape, Buffer::Allocate(0));
  if (!Open(xml, layer)) return std::nullopt;
  const auto begin = static_cast<uint64_t>(*offset);
  if (begin > file_->size() || static_cast<uint64_t>(*size) > file_->size() - begin) {
    xml.Error(kConstRange, xml.Range(data.attribute("offset")),
              "the bytes from {} to {} are outside of `{}`, which has {}", begin,
              begin + static_cast<uint64_t>(*size), path_, file_->size());
    return std::nullopt;
  }
  return TensorValue(tensor->type, *shape, Buffer::Map(file_, static_cast<size_t>(begin), *needed));
}

}  // namespace nnefc::openvino
