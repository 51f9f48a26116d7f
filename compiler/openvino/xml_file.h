#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/openvino/rules.h"
#include "compiler/support/context.h"
#include "pugixml.hpp"

namespace nnefc::openvino {

// A parsed XML file, and the places of what it holds. Well-formed, UTF-8,
// without DOCTYPE and without entities of its own; no attribute is given twice.
class XmlFile {
 public:
  // A failing call of the operating system, or null and diagnostics.
  static ErrorOr<std::unique_ptr<XmlFile>> Load(const std::string& path, Context& context);
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;

  pugi::xml_node root() const { return document_.document_element(); }
  // Of the element's name; of the parent's if there is no such element.
  SourceRange Range(pugi::xml_node element) const;
  SourceRange Range(pugi::xml_attribute attribute) const;

  template <typename... Args>
  DiagnosticBuilder Error(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                          Args&&... args) {
    return context_.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
  }

  // A note that names the layer that the element stands in; none if that is none.
  std::vector<DiagnosticNote> LayerNote(pugi::xml_node element) const;

  // The only child of that name. If it is not there: an empty node, and for
  // RequiredChild an error. A second one is an error.
  pugi::xml_node Child(pugi::xml_node element, const char* name);
  pugi::xml_node RequiredChild(pugi::xml_node element, const char* name);
  // The attribute's text; emits kXmlMissingAttribute if it is missing.
  std::optional<std::string_view> Text(pugi::xml_node element, const char* name);
  // The attribute as an integer within bounds; emits what is wrong with it.
  std::optional<int64_t> Integer(pugi::xml_node element, const char* name,
                                 int64_t lowest = std::numeric_limits<int64_t>::min(),
                                 int64_t highest = std::numeric_limits<int64_t>::max());

 private:
  XmlFile(FileId file, std::string text, Context& context)
      : context_(context), file_(file), text_(std::move(text)) {}
  [[nodiscard]] bool Parse();
  [[nodiscard]] bool CheckAttributes();
  SourceRange RangeAt(const char* name) const;

  Context& context_;
  FileId file_;
  std::string text_;  // parsed in place: names and values point into it
  pugi::xml_document document_;
};

}  // namespace nnefc::openvino
