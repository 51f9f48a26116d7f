#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/support/text/source.h"
#include "fmt/core.h"

namespace nnefc {

// The severity of a diagnostic.
enum class Severity : uint8_t { kError, kWarning, kNote };

// A rule that a diagnostic enforces. Each module lists its own in `rules.h` with NNEFC_DEFINE_RULES; the
// label is stable and shown to the user.
struct Rule {
  std::string_view label;  // "binding.missing-argument"
  Severity severity;
  // The sections of the ratified and provisional specification that define the rule: "R 3.3.2, P 3.3.1".
  // Empty for nnefc's own rules about models; "internal", "environment" or "plug-in" for errors that a model
  // does not cause.
  std::string_view section;
};

// Usage:
//   #define NNEFC_SYNTAX_RULES(RULE) RULE(kMissingSemicolon, "syntax.missing-semicolon", kError, "R 3.2.1")
//   NNEFC_DEFINE_RULES(kSyntaxRules, NNEFC_SYNTAX_RULES)
#define NNEFC_RULE_DEFINITION(name, label, severity, section) \
  inline constexpr ::nnefc::Rule name{label, ::nnefc::Severity::severity, section};
#define NNEFC_RULE_ADDRESS(name, label, severity, section) &name,
#define NNEFC_DEFINE_RULES(list, RULES) \
  RULES(NNEFC_RULE_DEFINITION)          \
  inline constexpr const ::nnefc::Rule* list[] = {RULES(NNEFC_RULE_ADDRESS)};

// An additional message of a diagnostic, at the same or another source range.
struct DiagnosticNote {
  SourceRange range;
  std::string message;
};

// Whether the fix-its of a diagnostic may be applied without review.
enum class Applicability : uint8_t {
  kSafe,    // the text has only one reading, and the fix-its spell it out
  kUnsafe,  // the fix-its guess the intention, or may change the network's results
};

// Returns "safe" or "unsafe", as used in machine-readable reports.
std::string_view ApplicabilityName(Applicability applicability);

// An edit that replaces `range` by `text`.
struct FixIt {
  SourceRange range;
  std::string text;
};

// A message to the user about a source range, or without one about a whole model.
struct Diagnostic {
  const Rule* rule = nullptr;
  Severity severity = Severity::kError;
  SourceRange range;
  std::string message;
  std::vector<DiagnosticNote> notes;
  // Edits that are applied together, and so share one applicability.
  std::vector<FixIt> fixes;
  Applicability applicability = Applicability::kSafe;
};

class Emitter;

// Collects the notes and fix-its of a diagnostic; the destructor emits it.
class DiagnosticBuilder {
 public:
  DiagnosticBuilder(Emitter* emitter, Diagnostic diagnostic)
      : emitter_(emitter), diagnostic_(std::move(diagnostic)) {}
  DiagnosticBuilder(const DiagnosticBuilder&) = delete;
  DiagnosticBuilder& operator=(const DiagnosticBuilder&) = delete;
  ~DiagnosticBuilder();

  // Adds a note, or several.
  template <typename... Args>
  DiagnosticBuilder& Note(SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    diagnostic_.notes.push_back({range, fmt::format(format, std::forward<Args>(args)...)});
    return *this;
  }
  DiagnosticBuilder& Notes(const std::vector<DiagnosticNote>& notes) {
    diagnostic_.notes.insert(diagnostic_.notes.end(), notes.begin(), notes.end());
    return *this;
  }
  // Adds a fix-it. One unsafe fix-it makes the whole diagnostic unsafe.
  DiagnosticBuilder& Fix(SourceRange range, std::string text,
                         Applicability applicability = Applicability::kSafe) {
    diagnostic_.fixes.push_back({range, std::move(text)});
    diagnostic_.applicability = std::max(diagnostic_.applicability, applicability);
    return *this;
  }

 private:
  Emitter* emitter_;
  Diagnostic diagnostic_;
};

// Collects diagnostics. Repeated diagnostics of one rule at one source range are reported once, however often
// a fragment is expanded; without a range, those with the same message. Not thread-safe.
class Emitter {
 public:
  // Creates an emitter that counts but does not store errors after the first `error_limit`.
  explicit Emitter(size_t error_limit = 100) : error_limit_(error_limit) {}

  // Starts a diagnostic with the rule's severity. It is added when the builder is destroyed, normally at the
  // end of the statement: `Emit(..).Note(..).Fix(..);`.
  template <typename... Args>
  DiagnosticBuilder Emit(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                         Args&&... args) {
    return DiagnosticBuilder(
        this, {&rule, rule.severity, range, fmt::format(format, std::forward<Args>(args)...), {}, {}});
  }
  // Adds a finished diagnostic, unless it is a repetition or an error beyond the limit.
  void Add(Diagnostic diagnostic);
  // Adds the diagnostics of a callee's emitter, as if they had been emitted here.
  void Take(Emitter callee);

  bool has_errors() const { return error_count_ > 0; }
  size_t error_count() const { return error_count_; }
  // Returns true if errors beyond the limit were counted but not stored.
  bool has_dropped_errors() const { return has_dropped_errors_; }
  // Returns true once the error limit is reached, so that a stage may stop early.
  bool exhausted() const { return error_count_ >= error_limit_; }
  // Returns the number of errors that can still be stored before the limit.
  size_t room() const { return exhausted() ? 0 : error_limit_ - error_count_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // Removes all diagnostics, resets the counts, and allows repetitions of the removed ones.
  void Clear();

 private:
  size_t error_limit_;
  size_t error_count_ = 0;
  bool has_dropped_errors_ = false;
  std::vector<Diagnostic> diagnostics_;
  std::unordered_set<std::string> seen_;
};

// The appearance of diagnostics in a terminal.
struct RenderOptions {
  bool color = false;
  // Show the source line with a caret; otherwise a diagnostic is one line.
  bool excerpts = true;
};

// Renders diagnostics as `FILE:LINE:COL: error: message [rule.label]`, each followed by the source line with
// the range underlined, its notes and its fixes.
std::string RenderText(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                       const RenderOptions& options);
// Renders one JSON object {"diagnostics": [...]}.
std::string RenderJson(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources);
// Renders a SARIF 2.1.0 log with one run. Rules have no descriptions; see render_sarif.h.
std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources);

}  // namespace nnefc
