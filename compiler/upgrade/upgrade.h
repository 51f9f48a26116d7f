#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/expand.h"
#include "compiler/expand/instances.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::upgrade {

struct UpgradeInput {
  // Without mistakes; provisional, unless it is adapted.
  const semantics::CheckedDocument& document;
  const ir::Graph& expanded;                               // the expansion of the document
  const std::vector<expand::FragmentInstance>& instances;  // recorded during the expansion
  const semantics::StandardLibrary& library;
  ir::OpRegistry& registry;
  // True if the expansion has other operations than the document, those that a device accepts.
  bool is_adapted = false;
  // The standard compounds that were expanded for it.
  llvm::ArrayRef<std::string> lowered = {};
};

struct [[nodiscard]] UpgradedDocument {
  std::string text;
  // Tensors within fragments whose identifiers in the expansion differ.
  std::map<std::string, std::string> renamed;
};

// Writes a provisional document in the ratified dialect, in the style of PrintDocument. The result has no
// diagnostics and expands to the same graph, operation by operation, so that it computes the same values.
// Fragments, comments and composition are preserved if the ratified dialect has a form for them. Other
// invocations (of fragments with variables inside, for example) and statements with a different ratified
// meaning are expanded: to operations, and to invocations of preserved fragments. Each expansion is reported
// as a warning (rules.h).
UpgradedDocument UpgradeDocument(const UpgradeInput& input, Context& context);

// Upgrades the text of a graph.quant file that was parsed without errors.
std::string UpgradeQuantization(const UpgradeInput& input, const ast::Document& quantization,
                                const std::map<std::string, std::string>& renamed, Context& context);

}  // namespace nnefc::upgrade
