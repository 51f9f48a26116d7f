#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/raise/raise.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc::raise {

// One run of RaiseGraph over a graph of OpenVINO operations in the text form.
class Raising {
 public:
  // `body` has the lines between the braces of the graph. Values are those that inference knows: nothing is
  // evaluated.
  explicit Raising(const std::string& body, bool folds_batch_normalization = false,
                   Target target = Target::kRatified);
  // The same with other options; their evaluator is replaced by the one that evaluates nothing.
  Raising(const std::string& body, RaiseOptions options);

  bool ok() const { return raised_.has_value(); }
  const RaisedGraph& raised() const { return *raised_; }
  // Returns the statements of the document, without those of externals.
  std::vector<std::string> Statements() const;
  std::vector<std::string> Externals() const;
  // Returns the document.
  std::string Document() const;
  // Returns the messages of the given severity.
  std::vector<std::string> Messages(Severity severity = Severity::kError) const;

 private:
  std::vector<std::string> Lines(bool of_externals) const;

  const semantics::StandardLibrary& library_ = semantics::StandardLibrary::Shared();
  Context context_{library_.base()};
  std::unique_ptr<ir::Graph> graph_;
  std::optional<RaisedGraph> raised_;
};

}  // namespace nnefc::raise
