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

// A part of a file, from (line, column) to just before (end_line, end_column).
// Lines and columns begin at 1, columns count bytes; all are 0 where a file as a
// whole is meant, as of binary ones.
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
  kSafe,    // the document has one reading, which the fix writes
  kUnsafe,  // the fix guesses what was meant, or may change what the network computes
};

// An edit that repairs a document: `text` replaces what is at `place`. The fixes of a diagnostic belong
// together.
struct Fix {
  Place place;
  std::string text;
  Applicability applicability = Applicability::kSafe;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string rule;     // "binding.missing-argument": stable; `nnefc explain RULE` tells more
  std::string section;  // where the specification says so: "R 3.3.2"; empty for rules of nnefc's own
  std::string message;
  Place place;
  std::vector<Note> notes;
  std::vector<Fix> fixes;
};

// What there is to say of an input. Copies share what they hold; a report
// outlives the model that it speaks of.
class [[nodiscard]] Report {
 public:
  struct State;

  Report() = default;
  explicit Report(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // In the order of a document's text.
  const std::vector<Diagnostic>& diagnostics() const;
  // No errors; there may be warnings.
  bool ok() const;
  // Those too that are beyond the limit of what is kept.
  size_t error_count() const;
  // The failure is the system's (a file that cannot be opened, memory that is
  // short), not the model's.
  bool environment_failed() const;

  // As the command line prints it: with the lines of the text and what to do.
  std::string ToText(bool color = false) const;
  // An object with a list `diagnostics`.
  std::string ToJson() const;
  // A SARIF 2.1.0 log.
  std::string ToSarif() const;

 private:
  std::shared_ptr<const State> state_;
};

// A result, or none where the report has errors, and what there is to say of it.
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
