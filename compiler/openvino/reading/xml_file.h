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

// A parsed XML file with the source ranges of its content. It is well-formed UTF-8 without DOCTYPE, custom
// entities and duplicate attributes.
class XmlFile {
 public:
  // Loads a file. Returns the system's error, or emits diagnostics and returns null.
  static ErrorOr<std::unique_ptr<XmlFile>> Load(const std::string& path, Context& context);
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;

  pugi::xml_node root() const { return document_.document_element(); }
  // Returns the range of the element's name, or the parent's if the element does not exist.
  SourceRange Range(pugi::xml_node element) const;
  SourceRange Range(pugi::xml_attribute attribute) const;

  // Returns a note that names the enclosing layer; none outside of layers.
  std::vector<DiagnosticNote> LayerNote(pugi::xml_node element) const;

 private:
  friend class XmlReader;
  XmlFile(FileId file, std::string text, Context& context)
      : context_(context), file_(file), text_(std::move(text)) {}
  [[nodiscard]] bool Parse();
  [[nodiscard]] bool CheckAttributes();
  SourceRange RangeAt(const char* name) const;

  template <typename... Args>
  DiagnosticBuilder Error(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                          Args&&... args) {
    return context_.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
  }

  Context& context_;
  FileId file_;
  std::string text_;  // parsed in place: names and values point into it
  pugi::xml_document document_;
};

// A reader of one part of a file, such as a body. It records whether the part has errors.
class XmlReader {
 public:
  explicit XmlReader(XmlFile& file) : file_(file) {}

  // Emits a diagnostic of this part.
  template <typename... Args>
  DiagnosticBuilder Error(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                          Args&&... args) {
    has_errors_ |= rule.severity == Severity::kError;
    return file_.Error(rule, range, format, std::forward<Args>(args)...);
  }
  // Returns true if an error was emitted.
  bool has_errors() const { return has_errors_; }

  SourceRange Range(pugi::xml_node element) const { return file_.Range(element); }
  SourceRange Range(pugi::xml_attribute attribute) const { return file_.Range(attribute); }
  std::vector<DiagnosticNote> LayerNote(pugi::xml_node element) const { return file_.LayerNote(element); }

  // Returns the only child with that name. If it is missing, returns an empty node; RequiredChild also emits
  // an error. A second child is an error.
  pugi::xml_node Child(pugi::xml_node element, const char* name);
  pugi::xml_node RequiredChild(pugi::xml_node element, const char* name);
  // Returns the attribute's text; emits kXmlMissingAttribute if it is missing.
  std::optional<std::string_view> Text(pugi::xml_node element, const char* name);
  // Returns the attribute as an integer within bounds; emits an error otherwise.
  std::optional<int64_t> Integer(pugi::xml_node element, const char* name,
                                 int64_t lowest = std::numeric_limits<int64_t>::min(),
                                 int64_t highest = std::numeric_limits<int64_t>::max());

 private:
  XmlFile& file_;
  bool has_errors_ = false;
};

}  // namespace nnefc::openvino
