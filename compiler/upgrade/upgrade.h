#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/expand.h"
#include "compiler/expand/instances.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc {

struct UpgradeInput {
  const CheckedDocument& document;                 // sound, provisional
  const ir::Graph& expanded;                       // what it expands to
  const std::vector<FragmentInstance>& instances;  // through these
  const StandardLibrary& library;
  ir::OpRegistry& registry;
};

struct [[nodiscard]] UpgradedDocument {
  std::string text;
  // Tensors within fragments whose identifiers in the expansion differ.
  std::map<std::string, std::string> renamed;
};

// Writes a provisional document in the ratified dialect, in the style of
// PrintDocument. The result checks in silence and expands to the graph that the
// old document expands to, operation by operation, so that it computes the same.
// Fragments, comments and composition stay wherever the ratified dialect has a
// form for them; invocations of fragments that have none, such as those with
// variables inside, and statements that it would read otherwise are written as
// the operations and the invocations of kept fragments that they expand to.
// Each of these is told as a warning (rules.h).
UpgradedDocument UpgradeDocument(const UpgradeInput& input, Context& context);

// The same for the text of a graph.quant file, parsed without mistakes.
std::string UpgradeQuantization(const UpgradeInput& input, const ast::Document& quantization,
                                const std::map<std::string, std::string>& renamed, Context& context);

}  // namespace nnefc
