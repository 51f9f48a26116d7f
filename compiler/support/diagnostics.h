#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/support/source.h"
#include "fmt/format.h"

namespace nnefc {

enum class Severity : uint8_t { kError, kWarning, kNote };

// A rule that a diagnostic enforces. Each room lists its own in `rules.h`
// with NNEFC_DEFINE_RULES; the label is stable and shown to the user.
struct Rule {
  std::string_view label;  // "binding.missing-argument"
  Severity severity;
  // Where the rule stands: "R 3.3.2, P 3.3.1"; empty for rules of our own.
  std::string_view section;
};

// Use: #define NNEFC_SYNTAX_RULES(RULE) RULE(kMissingSemicolon, "syntax.missing-semicolon", kError,
// "R 3.2.1")
//      NNEFC_DEFINE_RULES(kSyntaxRules, NNEFC_SYNTAX_RULES)
#define NNEFC_RULE_DEFINITION(name, label, severity, section) \
  inline constexpr ::nnefc::Rule name{label, ::nnefc::Severity::severity, section};
#define NNEFC_RULE_ADDRESS(name, label, severity, section) &name,
#define NNEFC_DEFINE_RULES(list, RULES) \
  RULES(NNEFC_RULE_DEFINITION)          \
  inline constexpr const ::nnefc::Rule* list[] = {RULES(NNEFC_RULE_ADDRESS)};

struct DiagnosticNote {
  SourceRange range;
  std::string message;
};

// Whether the fix-its of a diagnostic may be applied without being read first.
enum class Applicability : uint8_t {
  kSafe,    // the text has one reading, which the fix-its write
  kUnsafe,  // they guess what was meant, or may change what the network computes
};

// "safe" or "unsafe", as reports for machines have it.
std::string_view ApplicabilityName(Applicability applicability);

// An edit that repairs a text: replace `range` by `text`.
struct FixIt {
  SourceRange range;
  std::string text;
};

struct Diagnostic {
  const Rule* rule = nullptr;
  Severity severity = Severity::kError;
  SourceRange range;
  std::string message;
  std::vector<DiagnosticNote> notes;
  // They belong together, and so have one applicability.
  std::vector<FixIt> fixes;
  Applicability applicability = Applicability::kSafe;
};

class Emitter;

// Collects the notes and fix-its of a diagnostic; emitted when destroyed.
class DiagnosticBuilder {
 public:
  DiagnosticBuilder(Emitter* emitter, Diagnostic diagnostic)
      : emitter_(emitter), diagnostic_(std::move(diagnostic)) {}
  DiagnosticBuilder(const DiagnosticBuilder&) = delete;
  DiagnosticBuilder& operator=(const DiagnosticBuilder&) = delete;
  ~DiagnosticBuilder();

  template <typename... Args>
  DiagnosticBuilder& Note(SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    diagnostic_.notes.push_back({range, fmt::format(format, std::forward<Args>(args)...)});
    return *this;
  }
  DiagnosticBuilder& Notes(const std::vector<DiagnosticNote>& notes) {
    diagnostic_.notes.insert(diagnostic_.notes.end(), notes.begin(), notes.end());
    return *this;
  }
  // One unsafe fix-it makes all of a diagnostic unsafe.
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

// Receives the user's mistakes. A diagnostic of the same rule at the same
// place is told once, however often a fragment is expanded. Not thread-safe.
class Emitter {
 public:
  // After `error_limit` errors the rest is counted but not kept.
  explicit Emitter(size_t error_limit = 100) : error_limit_(error_limit) {}

  template <typename... Args>
  DiagnosticBuilder Emit(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                         Args&&... args) {
    return DiagnosticBuilder(
        this, {&rule, rule.severity, range, fmt::format(format, std::forward<Args>(args)...), {}, {}});
  }
  void Add(Diagnostic diagnostic);
  // Adds what a callee's emitter was told, as if it had been told to this one.
  void Take(Emitter callee);

  bool has_errors() const { return error_count_ > 0; }
  size_t error_count() const { return error_count_; }
  // True once so many errors were told that a stage may stop early.
  bool exhausted() const { return error_count_ >= error_limit_; }
  // Errors that may be told until then.
  size_t room() const { return exhausted() ? 0 : error_limit_ - error_count_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  void Clear();

 private:
  size_t error_limit_;
  size_t error_count_ = 0;
  std::vector<Diagnostic> diagnostics_;
  std::unordered_set<std::string> seen_;
};

struct RenderOptions {
  bool color = false;
  // Shows the source line with a caret; without it a diagnostic is one line.
  bool excerpts = true;
};

// Writes diagnostics as `FILE:LINE:COL: error: message [rule.label]`, each
// followed by the source line with the range underlined, its notes and fixes.
std::string RenderText(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                       const RenderOptions& options);
// One JSON object {"diagnostics": [...]}.
std::string RenderJson(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources);
// A SARIF 2.1.0 log with one run.
std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources);

}  // namespace nnefc
