// Detection of texts that are not NNEF 1.0 documents.

#include "compiler/syntax/parse/mistakes/other_formats.h"

#include <algorithm>

#include "compiler/syntax/parse/scanner.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

// Maximum number of bytes that are searched for signs of a format.
constexpr size_t kMaxSearched = size_t{64} << 10;

constexpr std::string_view kConvert =
    "; convert the model by Khronos' converter (the Python package `nnef-tools`)";
constexpr std::string_view kOpenVino = "; `check`, `inspect`, `run`, `bench` and `compile` read it";

// A format identified by two words: `mark` at the beginning of the text, and `content` after it, unless that
// is empty.
struct Format {
  std::string_view mark;
  std::string_view content;
  std::string_view title;
  std::string_view advice;
};

// The first match counts.
constexpr Format kFormats[] = {
    {"<?xml", "<net ", "OpenVINO IR", kOpenVino},
    {"<net ", "", "OpenVINO IR", kOpenVino},
    {"<?xml", "", "XML", ""},
    {"<!DOCTYPE", "", "HTML", ""},
    {"<html", "", "HTML", ""},
    {"<", "ir_version", "ONNX's text form", kConvert},
    {"[net]", "", "a Darknet configuration", ""},
    {"[convolutional]", "", "a Darknet configuration", ""},
    {"module {", "", "MLIR", ""},
    {"module @", "", "MLIR", ""},
    {"builtin.module", "", "MLIR", ""},
    {"func.func", "", "MLIR", ""},
    {"digraph", "", "a graph of Graphviz", ""},
    {"---", "", "YAML", ""},
};

// Text forms of protocol buffers: the first word is followed by `:` or `{`, and a field name identifies the
// model.
constexpr Format kProtocolBuffers[] = {
    {"ir_version", "", "an ONNX model in text form", kConvert},
    {"opset_import", "", "an ONNX model in text form", kConvert},
    {"op_type", "", "an ONNX model in text form", kConvert},
    {"layer {", "", "a Caffe model", kConvert},
    {"layers {", "", "a Caffe model", kConvert},
    {"layer{", "", "a Caffe model", kConvert},
    {"node {", "", "a TensorFlow graph in text form", kConvert},
};

// Section names of graphs and operators in SkriptND.
constexpr std::string_view kSections[] = {"@attrib",   "@compose", "@constant", "@dtype",  "@input",
                                          "@lower",    "@output",  "@using",    "@assert", "@variable",
                                          "@quantize", "@update",  "@params"};

std::string_view TrimLeft(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\v"), text.size()));
  return text;
}

class FormatFinder {
 public:
  explicit FormatFinder(std::string_view text) : text_(text) {
    const Token first = NextToken();
    start_ = text_.substr(std::min<size_t>(first.begin, text_.size()));
    first_ = first.Text(text_);
    after_first_ = TrimLeft(text_.substr(std::min<size_t>(first.end, text_.size())));
    searched_ = start_.substr(0, kMaxSearched);
    offset_ = first.begin;
  }

  std::optional<OtherFormat> Find() const {
    if (const auto section = SkriptNd()) return section;
    if (IsJson()) return Named("JSON", "");
    for (const Format& format : kFormats) {
      if (start_.starts_with(format.mark) && Holds(format.content)) return Named(format.title, format.advice);
    }
    if (IsPython()) return Named("Python source", "");
    if (first_ == "version" || first_ == "graph" || first_ == "fragment") {
      // `graph {` is a protocol buffer message only if its fields are, too.
      if (first_ != "graph" || !after_first_.starts_with('{') || !Holds("op_type")) return std::nullopt;
    }
    if (!after_first_.starts_with(':') && !after_first_.starts_with('{')) return std::nullopt;
    for (const Format& format : kProtocolBuffers) {
      if (Holds(format.mark)) return Named(format.title, format.advice);
    }
    return std::nullopt;
  }

 private:
  // Returns the first token after comments.
  Token NextToken() const {
    Scanner scanner(text_, text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    Token token = scanner.Next();
    while (token.kind == TokenKind::kComment) token = scanner.Next();
    return token;
  }

  bool Holds(std::string_view word) const {
    return word.empty() || searched_.find(word) != std::string_view::npos;
  }

  OtherFormat Named(std::string_view title, std::string_view advice) const {
    return {offset_, fmt::format("this is {}, not an NNEF document{}", title, advice)};
  }

  bool IsJson() const {
    if (!start_.starts_with('{') && !start_.starts_with('[')) return false;
    const std::string_view inner = TrimLeft(start_.substr(1));
    if (inner.starts_with('"') || inner.starts_with('{') || inner.starts_with('[')) return true;
    return inner.starts_with(start_.front() == '{' ? '}' : ']') && TrimLeft(inner.substr(1)).empty();
  }

  // Returns true for a file without `graph` and `fragment` that begins like a Python module.
  bool IsPython() const {
    const bool begins = first_ == "import" || first_ == "from" || first_ == "class" || first_ == "def";
    return begins && !Holds("graph ") && !Holds("fragment ");
  }

  // Recognizes `@input {` outside comments.
  std::optional<OtherFormat> SkriptNd() const {
    for (size_t at = searched_.find('@'); at != std::string_view::npos; at = searched_.find('@', at + 1)) {
      const size_t line = searched_.rfind('\n', at) == std::string_view::npos ? 0 : searched_.rfind('\n', at);
      if (searched_.substr(line, at - line).find('#') != std::string_view::npos) continue;
      for (const std::string_view section : kSections) {
        const std::string_view rest = searched_.substr(at);
        if (!rest.starts_with(section) || !TrimLeft(rest.substr(section.size())).starts_with('{')) continue;
        OtherFormat format = Named("SkriptND, the language of NNEF 2.0", "; nnefc reads NNEF 1.0");
        format.offset = offset_ + static_cast<uint32_t>(at);
        return format;
      }
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::string_view start_;        // text from the first token on
  std::string_view first_;        // the first token
  std::string_view after_first_;  // the text after the first token and blanks
  std::string_view searched_;
  uint32_t offset_ = 0;
};

}  // namespace

std::optional<OtherFormat> FindOtherFormat(std::string_view text) {
  return FormatFinder(text).Find();
}

}  // namespace nnefc::ast::parse
