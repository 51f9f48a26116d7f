// The emitter of diagnostics: repetitions and the limit on errors.

#include "compiler/support/diagnostics/diagnostics.h"

#include <array>

namespace nnefc {
namespace {

// Plural nouns in messages that lose their final letter after "1".
constexpr std::array kCounted = {"arguments", "dimensions", "elements", "errors",  "extents",
                                 "inputs",    "items",      "names",    "outputs", "parameters",
                                 "results",   "tensors",    "values"};

// Corrects the number of nouns after "1": "has 1 items" becomes "has 1 item". Format strings always use the
// plural.
void AgreeInNumber(std::string& message) {
  for (size_t at = message.find("1 "); at != std::string::npos; at = message.find("1 ", at + 1)) {
    if (at > 0 && message[at - 1] != ' ') continue;                    // part of a longer number, or code
    if (at >= 4 && message.compare(at - 4, 4, "and ") == 0) continue;  // "2 and 1 items"
    for (const std::string_view noun : kCounted) {
      const size_t end = at + 2 + noun.size();
      if (message.compare(at + 2, noun.size(), noun) != 0) continue;
      if (end == message.size() || std::isalnum(static_cast<unsigned char>(message[end])) == 0)
        message.erase(end - 1, 1);
    }
  }
}

}  // namespace

std::string_view ApplicabilityName(Applicability applicability) {
  return applicability == Applicability::kSafe ? "safe" : "unsafe";
}

DiagnosticBuilder::~DiagnosticBuilder() {
  emitter_->Add(std::move(diagnostic_));
}

void Emitter::Add(Diagnostic diagnostic) {
  AgreeInNumber(diagnostic.message);
  // Without a source range the message distinguishes two mistakes.
  std::string key = diagnostic.range.valid()
                        ? fmt::format("{}:{}:{}:{}", diagnostic.rule->label, diagnostic.range.file.index,
                                      diagnostic.range.begin, diagnostic.range.end)
                        : fmt::format("{}:{}", diagnostic.rule->label, diagnostic.message);
  bool is_text_place = diagnostic.range.valid() && diagnostic.range.end > 0;
  if (!is_text_place) key += diagnostic.message;
  if (!seen_.insert(std::move(key)).second) return;
  if (diagnostic.severity == Severity::kError) {
    ++error_count_;
    if (error_count_ > error_limit_) {
      has_dropped_errors_ = true;
      return;
    }
  }
  diagnostics_.push_back(std::move(diagnostic));
}

void Emitter::Take(Emitter callee) {
  size_t unkept = callee.error_count_;
  for (Diagnostic& diagnostic : callee.diagnostics_) {
    unkept -= diagnostic.severity == Severity::kError ? 1 : 0;
    Add(std::move(diagnostic));
  }
  error_count_ += unkept;
  has_dropped_errors_ |= callee.has_dropped_errors_;
}

void Emitter::Clear() {
  error_count_ = 0;
  has_dropped_errors_ = false;
  diagnostics_.clear();
  seen_.clear();
}

}  // namespace nnefc
