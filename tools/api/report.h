#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnefc::api {

enum class Severity : uint8_t { kError, kWarning, kNote };

// A part of a file, from (line, column) up to but excluding (end_line, end_column). Lines and columns start
// at 1, and columns count bytes. All are 0 for a file as a whole, such as a binary one.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
};

struct Note {
  std::string message;
  Place place;
};

enum class Applicability : uint8_t {
  kSafe,    // the document has a single interpretation, and the fix writes it
  kUnsafe,  // the fix guesses the intent, or may change the results of the network
};

// An edit that repairs a document: `text` replaces `place`. The fixes of a diagnostic belong together.
struct Fix {
  Place place;
  std::string text;
  Applicability applicability = Applicability::kSafe;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string rule;     // "binding.missing-argument": stable; see `nnefc explain RULE`
  std::string section;  // section of the specification, such as "R 3.3.2"; empty for rules specific to nnefc
  std::string message;
  Place place;
  std::vector<Note> notes;
  std::vector<Fix> fixes;
};

// The diagnostics of an input. Copies share them, and they remain valid after the model is gone.
class [[nodiscard]] Report {
 public:
  struct State;

  Report() = default;
  explicit Report(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // Diagnostics in the order of the document's text.
  const std::vector<Diagnostic>& diagnostics() const;
  // Returns true without errors; there may be warnings.
  bool ok() const;
  // The number of errors, including those beyond the limit of stored diagnostics.
  size_t error_count() const;
  // Returns true if the failure is caused by the system (a file that cannot be opened, out of memory) rather
  // than by the model.
  bool environment_failed() const;

  // Returns the text that the command line prints, with source lines and fixes.
  std::string ToText(bool color = false) const;
  // Returns a JSON object with a list `diagnostics`.
  std::string ToJson() const;
  // Returns a SARIF 2.1.0 log.
  std::string ToSarif() const;

 private:
  std::shared_ptr<const State> state_;
};

// A result and its report. There is no result if the report has errors.
template <typename T>
struct [[nodiscard]] Outcome {
  std::optional<T> value;
  Report report;

  explicit operator bool() const { return value.has_value(); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

}  // namespace nnefc::api
