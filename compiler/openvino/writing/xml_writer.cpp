// The writer of indented XML.

#include "compiler/openvino/writing/xml_writer.h"

#include <iterator>

#include "fmt/format.h"

namespace nnefc::openvino {

namespace {

constexpr size_t kFlushSize = size_t{1} << 20;

}  // namespace

XmlWriter::XmlWriter(OutputFile* file) : file_(file), buffer_("<?xml version=\"1.0\"?>\n") {}

void XmlWriter::Begin(std::string_view tag) {
  CloseStartTag();
  FlushIfLarge();
  Indent();
  buffer_ += '<';
  buffer_ += tag;
  open_.emplace_back(tag);
  in_start_tag_ = true;
}

void XmlWriter::Attribute(std::string_view name, std::string_view value) {
  NNEFC_CHECK(in_start_tag_);
  buffer_ += ' ';
  buffer_ += name;
  buffer_ += "=\"";
  AppendEscaped(value);
  buffer_ += '"';
}

void XmlWriter::Attribute(std::string_view name, int64_t value) {
  Attribute(name, fmt::to_string(value));
}

void XmlWriter::End() {
  NNEFC_CHECK(!open_.empty());
  const std::string tag = std::move(open_.back());
  open_.pop_back();
  if (in_start_tag_) {
    buffer_ += "/>\n";
    in_start_tag_ = false;
    return;
  }
  Indent();
  fmt::format_to(std::back_inserter(buffer_), "</{}>\n", tag);
}

void XmlWriter::TextElement(std::string_view tag, std::string_view text) {
  CloseStartTag();
  Indent();
  fmt::format_to(std::back_inserter(buffer_), "<{}>", tag);
  AppendEscaped(text);
  fmt::format_to(std::back_inserter(buffer_), "</{}>\n", tag);
}

ErrorOr<Success> XmlWriter::Finish() {
  NNEFC_CHECK(open_.empty());
  if (error_) return *error_;
  return file_->Write(buffer_);
}

std::string XmlWriter::TakeText() {
  NNEFC_CHECK(open_.empty() && file_ == nullptr);
  return std::move(buffer_);
}

void XmlWriter::CloseStartTag() {
  if (!in_start_tag_) return;
  buffer_ += ">\n";
  in_start_tag_ = false;
}

void XmlWriter::Indent() {
  buffer_.append(open_.size(), '\t');
}

// Escapes text, including line ends and tabs, since parsers may convert them to spaces.
void XmlWriter::AppendEscaped(std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&':
        buffer_ += "&amp;";
        break;
      case '<':
        buffer_ += "&lt;";
        break;
      case '>':
        buffer_ += "&gt;";
        break;
      case '"':
        buffer_ += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(buffer_), "&#{};", static_cast<int>(c));
        } else {
          buffer_ += c;
        }
    }
  }
}

void XmlWriter::FlushIfLarge() {
  if (file_ == nullptr || buffer_.size() < kFlushSize) return;
  if (!error_) {
    if (auto written = file_->Write(buffer_); !written) error_ = written.error();
  }
  buffer_.clear();
}

}  // namespace nnefc::openvino
