#pragma once

#include <string>
#include <string_view>

#include "compiler/expand/site.h"
#include "compiler/semantics/deviations.h"
#include "compiler/support/context.h"

namespace nnefc::expand::build {

// Emits the diagnostics of operations, with the stack of fragments.
class Reporter {
 public:
  explicit Reporter(Context& context) : context_(context) {}

  // Returns the range of the document's invocation for a range in a library's fragment; otherwise `range`.
  static SourceRange OutsideLibrary(SourceRange range, const Site& site);

  // Emits a diagnostic at the site; one in a body of the standard library is reported at the document's
  // invocation.
  void EmitAt(Diagnostic diagnostic, const Site& site);
  void Report(const Fault& fault, const Site& site);
  // Same, for an error in an argument of the plan's operation.
  void Report(const Fault& fault, const OpPlan& plan, const Site& site);
  // Returns true once a limit was reached.
  bool stopped() const { return stopped_; }

  // Records a deviation that only lenient mode accepts, at an argument of the plan's operation.
  void Deviate(const Rule& rule, const OpPlan& plan, std::string_view argument, const Site& site,
               std::string message);
  void ReportDeviations() const { deviations_.Report(context_.emitter); }

 private:
  Context& context_;
  semantics::Deviations deviations_;
  bool stopped_ = false;
};

}  // namespace nnefc::expand::build
