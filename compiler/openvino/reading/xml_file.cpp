// The reader of XML files with source ranges, and typed access to elements and attributes.

#include "compiler/openvino/reading/xml_file.h"

#include <algorithm>
#include <cctype>

#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/limits.h"
#include "compiler/openvino/reading/xml_scan.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::openvino {

namespace {

constexpr unsigned kParseFlags = pugi::parse_escapes | pugi::parse_eol | pugi::parse_wconv_attribute |
                                 pugi::parse_cdata | pugi::parse_embed_pcdata;

std::string_view ShownName(pugi::xml_node layer) {
  return std::string_view(layer.attribute("name").value()).substr(0, 60);
}

// Returns an element's description for messages: "`port`", "the layer `conv1`".
std::string Subject(pugi::xml_node element) {
  if (std::string_view(element.name()) != "layer" || !element.attribute("name"))
    return fmt::format("`{}`", element.name());
  return fmt::format("the layer `{}`", ShownName(element));
}

}  // namespace

ErrorOr<std::unique_ptr<XmlFile>> XmlFile::Load(const std::string& path, Context& context) {
  auto file = context.sources.Open(path);
  if (!file) return file.error();
  const std::string_view text = context.sources.Text(*file);
  if (const std::optional<ScanFinding> finding = ScanXml(text)) {
    const auto offset = static_cast<uint32_t>(finding->offset);
    context.emitter.Emit(*finding->rule, {*file, offset, offset + 1}, "{}", finding->message);
    return std::unique_ptr<XmlFile>();
  }
  std::unique_ptr<XmlFile> xml(new XmlFile(*file, std::string(text), context));
  context.sources.Release(*file);  // only diagnostics read it from now on
  if (!xml->Parse() || !xml->CheckAttributes()) return std::unique_ptr<XmlFile>();
  return xml;
}

bool XmlFile::Parse() {
  const pugi::xml_parse_result result =
      document_.load_buffer_inplace(text_.data(), text_.size(), kParseFlags, pugi::encoding_utf8);
  if (!result) {
    std::string reason = result.description();
    if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
    const auto offset =
        static_cast<uint32_t>(std::clamp<ptrdiff_t>(result.offset, 0, static_cast<ptrdiff_t>(text_.size())));
    Error(kXmlSyntax, {file_, offset, offset}, "this is not well-formed XML: {}", reason);
    return false;
  }
  const pugi::xml_node second = root().next_sibling();
  if (second.type() == pugi::node_element) {
    Error(kXmlSyntax, Range(second), "`{}` is a second root after `{}`; XML has one root", second.name(),
          root().name());
    return false;
  }
  return true;
}

// Visits the elements iteratively.
bool XmlFile::CheckAttributes() {
  bool all_fine = true;
  const pugi::xml_node top = root();
  for (pugi::xml_node node = top; node && !context_.emitter.exhausted();) {
    llvm::SmallVector<std::string_view, 16> names;
    for (pugi::xml_attribute attribute : node.attributes()) {
      const std::string_view name = attribute.name();
      if (names.size() == kMaxAttributes) {
        Error(kXmlSize, Range(attribute), "`{}` has more than {} attributes", node.name(), kMaxAttributes);
        return false;
      }
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        Error(kXmlRepeatedAttribute, Range(attribute), "the attribute `{}` of `{}` is given twice", name,
              node.name());
        all_fine = false;
      }
      names.push_back(name);
    }
    if (node.first_child()) {
      node = node.first_child();
      continue;
    }
    while (node != top && !node.next_sibling()) node = node.parent();
    if (node == top) break;
    node = node.next_sibling();
  }
  return all_fine;
}

SourceRange XmlFile::RangeAt(const char* name) const {
  const char* begin = text_.data();
  if (name < begin || name >= begin + text_.size()) return {file_, 0, 0};
  const auto offset = static_cast<uint32_t>(name - begin);
  return {file_, offset, offset + static_cast<uint32_t>(std::string_view(name).size())};
}

SourceRange XmlFile::Range(pugi::xml_node element) const {
  return RangeAt(element.name());
}
SourceRange XmlFile::Range(pugi::xml_attribute attribute) const {
  return RangeAt(attribute.name());
}

std::vector<DiagnosticNote> XmlFile::LayerNote(pugi::xml_node element) const {
  for (pugi::xml_node layer = element.parent(); layer; layer = layer.parent()) {
    if (std::string_view(layer.name()) != "layer") continue;
    return {{Range(layer), fmt::format("in the layer `{}`", ShownName(layer))}};
  }
  return {};
}

pugi::xml_node XmlReader::Child(pugi::xml_node element, const char* name) {
  const pugi::xml_node child = element.child(name);
  const pugi::xml_node second = child.next_sibling(name);
  if (second) {
    Error(kXmlRepeatedElement, Range(second), "{} has a second `{}`", Subject(element), name)
        .Note(Range(child), "the first is here")
        .Notes(LayerNote(element));
  }
  return child;
}

pugi::xml_node XmlReader::RequiredChild(pugi::xml_node element, const char* name) {
  const pugi::xml_node child = Child(element, name);
  if (!child) {
    Error(kXmlMissingElement, Range(element), "{} lacks the element `{}`", Subject(element), name)
        .Notes(LayerNote(element));
  }
  return child;
}

std::optional<std::string_view> XmlReader::Text(pugi::xml_node element, const char* name) {
  const pugi::xml_attribute attribute = element.attribute(name);
  if (attribute) return attribute.value();
  Error(kXmlMissingAttribute, Range(element), "{} lacks the attribute `{}`", Subject(element), name)
      .Notes(LayerNote(element));
  return std::nullopt;
}

std::optional<int64_t> XmlReader::Integer(pugi::xml_node element, const char* name, int64_t lowest,
                                          int64_t highest) {
  const std::optional<std::string_view> text = Text(element, name);
  if (!text) return std::nullopt;
  const std::optional<int64_t> value = ParseInteger(Trimmed(*text));
  if (value && *value >= lowest && *value <= highest) return value;
  const std::string expected = lowest == std::numeric_limits<int64_t>::min() ? "an integer"
                               : highest == std::numeric_limits<int64_t>::max()
                                   ? fmt::format("an integer of at least {}", lowest)
                                   : fmt::format("an integer from {} to {}", lowest, highest);
  Error(kXmlAttributeValue, Range(element.attribute(name)), "`{}` of `{}` is `{}`; expected {}", name,
        element.name(), text->substr(0, 40), expected)
      .Notes(LayerNote(element));
  return std::nullopt;
}

}  // namespace nnefc::openvino
