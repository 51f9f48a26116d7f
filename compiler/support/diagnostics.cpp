#include "compiler/support/diagnostics.h"

namespace nnefc {

DiagnosticBuilder::~DiagnosticBuilder() {
  emitter_->Add(std::move(diagnostic_));
}

void Emitter::Add(Diagnostic diagnostic) {
  // Without a place the message itself tells two mistakes apart.
  std::string key = diagnostic.range.valid()
                        ? fmt::format("{}:{}:{}:{}", diagnostic.rule->label, diagnostic.range.file.index,
                                      diagnostic.range.begin, diagnostic.range.end)
                        : fmt::format("{}:{}", diagnostic.rule->label, diagnostic.message);
  bool is_text_place = diagnostic.range.valid() && diagnostic.range.end > 0;
  if (!is_text_place) key += diagnostic.message;
  if (!seen_.insert(std::move(key)).second) return;
  if (diagnostic.severity == Severity::kError) {
    ++error_count_;
    if (error_count_ > error_limit_) return;
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
}

void Emitter::Clear() {
  error_count_ = 0;
  diagnostics_.clear();
  seen_.clear();
}

}  // namespace nnefc
