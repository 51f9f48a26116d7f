// The scan of an XML text for constructs that the XML parser does not report.

#include "compiler/openvino/reading/xml_scan.h"

#include <algorithm>

#include "compiler/openvino/limits.h"
#include "compiler/openvino/rules.h"
#include "fmt/core.h"

namespace nnefc::openvino {

namespace {

constexpr uint64_t kBytesOfElement = 64;    // pugixml's node
constexpr uint64_t kBytesOfAttribute = 40;  // pugixml's attribute
constexpr size_t kLongestReference = 12;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<ScanFinding> Run() {
    if (text_.size() > kLongestXml) {
      return ScanFinding{&kXmlSize, 0, fmt::format("the text is longer than {} MiB", kLongestXml >> 20)};
    }
    const size_t nul = text_.find('\0');
    if (nul != std::string_view::npos) return ScanFinding{&kXmlSyntax, nul, "NUL bytes are invalid in XML"};
    while (at_ < text_.size() && !finding_) {
      const char c = text_[at_];
      if (c == '<') {
        ScanMarkup();
      } else if (c == '&') {
        ScanReference();
      } else {
        ++at_;
      }
    }
    return finding_;
  }

 private:
  void ScanMarkup() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("<!--")) return SkipPast("-->");
    if (rest.starts_with("<![CDATA[")) return SkipPast("]]>");
    if (rest.starts_with("<?")) return SkipPast("?>");
    if (rest.starts_with("<!")) return Report(kXmlDoctype, "a document type is not allowed here");
    if (!rest.starts_with("</")) Charge(kBytesOfElement);
    ++at_;
    ScanTag();
  }

  // Scans the remainder of a tag; quoted values may contain `>`.
  void ScanTag() {
    char quote = 0;
    while (at_ < text_.size() && !finding_) {
      const char c = text_[at_];
      if (c == '&') {
        ScanReference();
        continue;
      }
      ++at_;
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
        Charge(kBytesOfAttribute);
      } else if (c == '>') {
        return;
      }
    }
  }

  void ScanReference() {
    const std::string_view rest = text_.substr(at_, kLongestReference);
    const size_t end = rest.find(';');
    const std::string_view name = end == std::string_view::npos ? "" : rest.substr(1, end - 1);
    const bool is_defined = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos";
    if (!is_defined && !IsCharacter(name)) {
      return Report(kXmlEntity, "`&` does not begin a character or one of the five entities of XML");
    }
    at_ += end + 1;
  }

  // Returns whether a reference is `#65` or `#x41`, and not NUL.
  static bool IsCharacter(std::string_view name) {
    if (!name.starts_with('#')) return false;
    name.remove_prefix(1);
    const bool is_hex = name.starts_with('x');
    if (is_hex) name.remove_prefix(1);
    const auto is_digit = [&](char c) {
      return (c >= '0' && c <= '9') || (is_hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), is_digit) &&
           !std::all_of(name.begin(), name.end(), [](char c) { return c == '0'; });
  }

  void SkipPast(std::string_view end) {
    const size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void Charge(uint64_t bytes) {
    memory_ += bytes;
    if (memory_ <= kMaxXmlMemory || finding_) return;
    Report(kXmlSize,
           fmt::format("the elements and attributes up to here take more than {} MiB", kMaxXmlMemory >> 20));
  }

  void Report(const Rule& rule, std::string message) {
    finding_ = ScanFinding{&rule, at_, std::move(message)};
  }

  std::string_view text_;
  size_t at_ = 0;
  uint64_t memory_ = 0;
  std::optional<ScanFinding> finding_;
};

}  // namespace

std::optional<ScanFinding> ScanXml(std::string_view text) {
  return Scanner(text).Run();
}

}  // namespace nnefc::openvino
