#pragma once

#include <memory>
#include <string>

#include "compiler/expand/expand.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc {

struct UpgradeInput {
  const CheckedDocument& document;  // sound, provisional
  const ir::Graph& expanded;        // what it expands to
  StandardLibrary& library;
  ir::OpRegistry& registry;
};

// Writes a provisional document in the ratified dialect, in the style of
// PrintDocument. The result checks in silence and expands to the very text
// that `expanded` prints as, so that it computes the same. Fragments, comments
// and composition stay wherever the ratified dialect has a form for them;
// invocations of fragments that have none, such as those with variables inside,
// and statements that it would read otherwise are written as the operations
// that they expand to. Each of these is told as a warning (rules.h).
std::string UpgradeDocument(const UpgradeInput& input, Context& context);

// The same for the text of a graph.quant file, parsed without mistakes.
std::string UpgradeQuantization(const UpgradeInput& input, const ast::Document& quantization,
                                Context& context);

}  // namespace nnefc
