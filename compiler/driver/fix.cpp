// Application of fix-its to the texts of a model.

#include "compiler/driver/fix.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <tuple>

#include "compiler/driver/rules.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/support/diagnostics/apply_fixes.h"
#include "fmt/core.h"

namespace nnefc::driver {
namespace {

// Limits on the number of checks of a model and on their total work: bytes of text, plus a cost for finding
// and rendering each diagnostic. A user would not wait longer; kMinRuns checks run regardless of the text's
// size.
constexpr int kMaxRuns = 100;
constexpr int kMinRuns = 8;
constexpr size_t kMaxWork = size_t{16} << 20;
constexpr size_t kDiagnosticWork = 64;
// The maximum length of a chain of fix-its that only help together.
constexpr int kMaxLinks = 8;
// Large enough to see all mistakes of a text at once.
constexpr size_t kMaxErrors = 100'000;

// A measure of a model's quality; less is better.
struct Standing {
  int stages_left = 0;
  size_t errors = 0;
  size_t warnings = 0;

  auto operator<=>(const Standing&) const = default;
};

// A set of texts with the diagnostics of `check`.
struct Attempt {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::string> stored_labels;  // FixReport::stored_labels
  std::unique_ptr<Compilation> compilation;
  Standing standing;

  const std::vector<Diagnostic>& diagnostics() const { return compilation->context().emitter.diagnostics(); }
};

class Fixer {
 public:
  Fixer(const std::string& path, const CompileOptions& options, Applicability most, const FixValidator& judge)
      : path_(path), options_(options), most_(most), judge_(judge) {
    options_.error_limit = kMaxErrors;
  }

  FixReport Run() {
    Attempt best = Check({.texts = options_.texts});
    if (best.compilation->model() == nullptr) return {};
    const Attempt* first = &best;
    std::map<std::string, std::string> before = TextsOf(*first);
    std::vector<Diagnostic> wanted = Wanted(best);
    for (; !wanted.empty() && MayCheck(); wanted = Wanted(best)) {
      group_ = std::min(group_, wanted.size());
      wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(group_), wanted.end());
      const bool helped = group_ > 1 ? FixGroup(best, wanted) : FixOne(best, wanted.front());
      group_ = helped ? 2 * group_ : std::max<size_t>(1, group_ / 2);
    }
    report_.untried = wanted.size();
    for (const Diagnostic& diagnostic : best.diagnostics()) {
      report_.unsafe += !diagnostic.fixes.empty() && !IsAllowed(diagnostic);
      if (unhelpful_.contains(Key(best, diagnostic)))
        report_.refused.push_back(Describe(best, diagnostic, "not fixed, since it would not help"));
    }
    report_.stored_labels = std::move(best.stored_labels);
    for (const auto& [name, text] : best.texts) {
      if (before.at(name) != text) report_.changes[name] = {before.at(name), text};
    }
    return std::move(report_);
  }

 private:
  static std::vector<FileId> FilesOf(const Attempt& attempt) {
    std::vector<FileId> files = {attempt.compilation->graph_text()};
    if (auto quantization = attempt.compilation->quantization_text()) files.push_back(*quantization);
    return files;
  }

  static std::map<std::string, std::string> TextsOf(const Attempt& attempt) {
    std::map<std::string, std::string> texts;
    const SourceManager& sources = attempt.compilation->context().sources;
    for (FileId file : FilesOf(attempt)) texts.emplace(sources.Name(file), sources.Text(file));
    return texts;
  }

  bool MayCheck() const { return runs_ < kMinRuns || (runs_ < kMaxRuns && work_ < kMaxWork); }

  bool IsAllowed(const Diagnostic& diagnostic) const { return diagnostic.applicability <= most_; }

  // Returns the diagnostics with fix-its that are allowed and not yet refused.
  std::vector<Diagnostic> Wanted(const Attempt& attempt) const {
    std::vector<Diagnostic> wanted;
    for (const Diagnostic& diagnostic : attempt.diagnostics()) {
      if (!diagnostic.fixes.empty() && IsAllowed(diagnostic) && !refused_.contains(Key(attempt, diagnostic)))
        wanted.push_back(diagnostic);
    }
    return wanted;
  }

  // Changed texts, and the labels that they change.
  struct Changed {
    std::map<std::string, std::string> texts;
    std::map<std::string, std::string> stored_labels = {};
  };

  Attempt Check(Changed changed) {
    ++runs_;
    CompileOptions options = options_;
    options.texts = changed.texts;
    Attempt attempt{.texts = std::move(changed.texts),
                    .stored_labels = std::move(changed.stored_labels),
                    .compilation = std::make_unique<Compilation>(path_, options),
                    .standing = {}};
    attempt.compilation->RunUntil(Stage::kExpand);
    attempt.standing.stages_left = attempt.compilation->incomplete_stages();
    if (judge_) judge_(*attempt.compilation);
    for (const Diagnostic& diagnostic : attempt.diagnostics()) {
      attempt.standing.errors += diagnostic.severity == Severity::kError;
      attempt.standing.warnings += diagnostic.severity == Severity::kWarning;
    }
    work_ += kDiagnosticWork * attempt.diagnostics().size();
    if (attempt.compilation->model() == nullptr) return attempt;
    for (const auto& [name, text] : TextsOf(attempt)) work_ += text.size();
    return attempt;
  }

  std::string Describe(const Attempt& attempt, const Diagnostic& diagnostic, std::string_view what) const {
    const SourceManager& sources = attempt.compilation->context().sources;
    const LineColumn at = sources.Position(diagnostic.range.start());
    return fmt::format("{}:{}:{}: {}: {} [{}]", sources.Name(diagnostic.range.file), at.line, at.column, what,
                       diagnostic.message, diagnostic.rule->label);
  }

  // Returns the texts after applying the fix-its of `diagnostics`; adds the indices of the applied ones to
  // `applied`.
  static Changed Apply(const Attempt& attempt, const std::vector<Diagnostic>& diagnostics,
                       std::vector<size_t>& applied) {
    Changed changed{attempt.texts, attempt.stored_labels};
    const SourceManager& sources = attempt.compilation->context().sources;
    for (FileId file : FilesOf(attempt)) {
      AppliedFixes result = ApplyFixes(sources.Text(file), file, diagnostics);
      applied.insert(applied.end(), result.applied.begin(), result.applied.end());
      if (!result.applied.empty()) changed.texts[std::string(sources.Name(file))] = std::move(result.text);
    }
    for (size_t index : applied) AddLabels(attempt, diagnostics[index], changed);
    return changed;
  }

  // Adds the labels that the fix-its of a diagnostic change.
  static void AddLabels(const Attempt& attempt, const Diagnostic& diagnostic, Changed& changed) {
    const ir::Graph* graph = attempt.compilation->expanded();
    if (diagnostic.rule != &ir::ops::kVariableLabel || graph == nullptr) return;
    const ir::ops::RatifiedLabels labels(*graph);
    for (const auto& label : labels.changes()) {
      if (diagnostic.fixes.front().text == ir::ops::LabelLiteral(label.after))
        changed.stored_labels[label.after] = label.before;
    }
  }

  // Bytes [begin, end) of a file's text after fix-its were applied.
  struct Place {
    std::string file;
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  // Returns the locations, in the new texts, of the applied fix-its.
  static std::vector<Place> PlacesOf(const Attempt& attempt, const std::vector<Diagnostic>& diagnostics,
                                     const std::vector<size_t>& applied) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::string>, FileId> edits;
    for (size_t index : applied) {
      for (const FixIt& fix : diagnostics[index].fixes)
        edits.emplace(std::tuple(fix.range.file.index, fix.range.begin, fix.range.end, fix.text),
                      fix.range.file);
    }
    std::vector<Place> places;
    std::map<uint32_t, int64_t> growth;  // key: file
    for (const auto& [edit, file] : edits) {
      const auto& [index, begin, end, text] = edit;
      const auto at = static_cast<uint32_t>(begin + growth[index]);
      const auto size = static_cast<uint32_t>(text.size());
      places.push_back({std::string(attempt.compilation->context().sources.Name(file)), at, at + size});
      growth[index] += static_cast<int64_t>(size) - (end - begin);
    }
    return places;
  }

  // Returns true if the fixes only led to another mistake: `next` has an error that `best` lacks, within the
  // text written by the fix-its or in the token that they changed.
  static bool Misleads(const Attempt& best, const Attempt& next, const std::vector<Place>& places) {
    std::set<std::pair<std::string_view, std::string_view>> known;
    for (const Diagnostic& diagnostic : best.diagnostics())
      known.emplace(diagnostic.rule->label, diagnostic.message);
    const SourceManager& sources = next.compilation->context().sources;
    return std::any_of(next.diagnostics().begin(), next.diagnostics().end(),
                       [&](const Diagnostic& diagnostic) {
                         if (diagnostic.severity != Severity::kError || !diagnostic.range.valid())
                           return false;
                         if (known.contains({diagnostic.rule->label, diagnostic.message})) return false;
                         const SourceRange range = diagnostic.range;
                         const std::string_view name = sources.Name(range.file);
                         return std::any_of(places.begin(), places.end(), [&](const Place& place) {
                           if (name != place.file || range.end <= place.begin || place.end <= range.begin)
                             return false;
                           const bool is_inside = place.begin <= range.begin && range.end <= place.end;
                           const std::string_view text =
                               sources.Text(range.file).substr(range.begin, range.end - range.begin);
                           return is_inside || text.find_first_of(" ,()[]=\n") == std::string_view::npos;
                         });
                       });
  }

  void Accept(Attempt& best, Attempt next, const std::vector<Diagnostic>& diagnostics,
              const std::vector<size_t>& applied) {
    for (size_t index : applied) report_.fixed.push_back(Describe(best, diagnostics[index], "fixed"));
    best = std::move(next);
  }

  // Applies the fix-its of several diagnostics at once. They must fix as many errors as they claim, or enable
  // a later stage.
  bool FixGroup(Attempt& best, const std::vector<Diagnostic>& diagnostics) {
    std::vector<size_t> applied;
    Changed changed = Apply(best, diagnostics, applied);
    if (applied.empty()) return false;
    Attempt next = Check(std::move(changed));
    size_t errors = 0;
    for (size_t index : applied) errors += diagnostics[index].severity == Severity::kError;
    const bool as_claimed = next.standing.stages_left < best.standing.stages_left ||
                            next.standing.errors + errors <= best.standing.errors;
    if (!as_claimed || next.standing >= best.standing) return false;
    if (Misleads(best, next, PlacesOf(best, diagnostics, applied))) return false;
    Accept(best, std::move(next), diagnostics, applied);
    return true;
  }

  // Applies a diagnostic's fix-its if they improve the model.
  bool FixOne(Attempt& best, const Diagnostic& diagnostic) {
    std::vector<size_t> applied;
    Changed changed = Apply(best, {diagnostic}, applied);
    if (!applied.empty()) {
      Attempt next = Check(std::move(changed));
      const bool is_better = next.standing < best.standing;
      if (is_better && !Misleads(best, next, PlacesOf(best, {diagnostic}, applied))) {
        Accept(best, std::move(next), {diagnostic}, applied);
        return true;
      }
      if (FixFurther(best, diagnostic, std::move(next))) return true;
      unhelpful_.insert(Key(best, diagnostic));
    }
    refused_.insert(Key(best, diagnostic));
    return false;
  }

  // Continues with the fix-its of the diagnostics that replace this one in `next`: for example,
  // `dim = 1` becomes `axes = 1` and then `axes = [1]`.
  bool FixFurther(Attempt& best, const Diagnostic& diagnostic, Attempt next) {
    std::set<std::string> known;
    for (const Diagnostic& other : best.diagnostics()) known.insert(Key(best, other));
    std::vector<std::string> fixed = {Describe(best, diagnostic, "fixed")};
    for (int link = 0; link < kMaxLinks && MayCheck(); ++link) {
      if (next.standing.stages_left > best.standing.stages_left ||
          next.standing.errors > best.standing.errors)
        return false;
      const auto& found = next.diagnostics();
      const auto further = std::find_if(found.begin(), found.end(), [&](const Diagnostic& other) {
        return !other.fixes.empty() && IsAllowed(other) && !known.contains(Key(next, other));
      });
      if (further == found.end()) return false;
      known.insert(Key(next, *further));
      fixed.push_back(Describe(next, *further, "fixed"));
      std::vector<size_t> applied;
      Changed changed = Apply(next, {*further}, applied);
      if (applied.empty()) return false;
      const std::vector<Place> places = PlacesOf(next, {*further}, applied);
      next = Check(std::move(changed));
      if (next.standing >= best.standing || Misleads(best, next, places)) continue;
      report_.fixed.insert(report_.fixed.end(), fixed.begin(), fixed.end());
      best = std::move(next);
      return true;
    }
    return false;
  }

  // Returns an identity of a diagnostic that is stable while other fixes move its line. A fix within the line
  // changes it, so that the diagnostic is tried again.
  static std::string Key(const Attempt& attempt, const Diagnostic& diagnostic) {
    const SourceManager& sources = attempt.compilation->context().sources;
    std::string_view line;
    if (diagnostic.range.valid())
      line = sources.Line(diagnostic.range.file, sources.Position(diagnostic.range.start()).line);
    return fmt::format("{}\n{}\n{}", diagnostic.rule->label, diagnostic.message, line);
  }

  std::string path_;
  CompileOptions options_;
  const Applicability most_;
  const FixValidator& judge_;
  FixReport report_;
  std::set<std::string> refused_;                      // keys of diagnostics that are not tried again
  std::set<std::string> unhelpful_;                    // those of them whose fix-its were tried
  size_t group_ = std::numeric_limits<size_t>::max();  // number of diagnostics to fix at once
  int runs_ = 0;
  size_t work_ = 0;
};

}  // namespace

FixReport FixModel(const std::string& path, const CompileOptions& options, Applicability most,
                   const FixValidator& judge) {
  return Fixer(path, options, most, judge).Run();
}

}  // namespace nnefc::driver
