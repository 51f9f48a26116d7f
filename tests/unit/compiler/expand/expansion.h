#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compiler/expand/expand.h"
#include "compiler/expand/print/flat.h"
#include "compiler/ir/op_registry.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "compiler/syntax/parse.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::expand {

// A document that passes through parser, checker and expander.
class Expansion {
 public:
  explicit Expansion(std::string text, ExpandOptions options = {}, Limits limits = {},
                     semantics::Leniency leniency = semantics::Leniency::kAuto) {
    context.limits = limits;
    auto document = ast::ParseDocument(context.sources.AddText("test.nnef", std::move(text)), {}, context);
    checked = semantics::CheckDocument(std::move(document), library, {.leniency = leniency}, context);
    check_errors = context.emitter.error_count();
    expanded = ExpandDocument(*checked, library, registry, options, context);
    if (expanded.complete) graph = expanded.graph.get();
  }

  // The diagnostics as one line each: "3:7: message [label]".
  std::string Diagnostics() const {
    return RenderText(context.emitter.diagnostics(), context.sources, {.color = false, .excerpts = false});
  }
  bool Has(std::string_view label) const {
    for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
      if (diagnostic.rule->label == label) return true;
    }
    return false;
  }
  const Diagnostic* Find(std::string_view label) const {
    for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
      if (diagnostic.rule->label == label) return &diagnostic;
    }
    return nullptr;
  }
  std::string Flat() {
    if (graph == nullptr) return Diagnostics();
    return print::PrintFlatDocument(*graph, library, context.symbols);
  }
  // Returns the lines of the graph's body in the flat document.
  std::string Body() {
    std::string flat = Flat();
    size_t begin = flat.find("{\n");
    return begin == std::string::npos ? flat : flat.substr(begin + 2, flat.rfind('}') - begin - 2);
  }
  const ir::Node* Named(std::string_view name) const {
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      if (node.set() == ir::kNnefSet && node.name() == name) return &node;
    }
    return nullptr;
  }

  const semantics::StandardLibrary& library = semantics::StandardLibrary::Shared();
  Context context{library.base()};
  ir::OpRegistry registry{&ir::StandardOps()};
  std::unique_ptr<semantics::CheckedDocument> checked;
  size_t check_errors = 0;
  ExpandedDocument expanded;
  const ir::Graph* graph = nullptr;  // null after errors
};

inline constexpr std::string_view kRatifiedHeader =
    "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n";

inline std::string Ratified(std::string_view fragments, std::string_view body) {
  return std::string(kRatifiedHeader) + std::string(fragments) +
         "\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1,2,8,8]);\n" + std::string(body) + "\n}\n";
}

inline std::string Provisional(std::string_view fragments, std::string_view body) {
  return "version 1.0\n" + std::string(fragments) +
         "\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1,2,8,8])\n" + std::string(body) + "\n}\n";
}

// Statements and the text that they become.
struct StatementRow {
  std::string_view statements;
  std::string_view expected;
};

inline void ExpectRows(llvm::ArrayRef<StatementRow> rows,
                       llvm::function_ref<std::string(std::string_view)> translate) {
  for (const StatementRow& row : rows) EXPECT_EQ(translate(row.statements), row.expected) << row.statements;
}

// Returns the statements of an expansion without externals and variables, then the messages without their
// positions.
inline std::string StatementsOf(Expansion& expansion) {
  std::string result;
  const std::string text = expansion.graph == nullptr ? "" : expansion.Body();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.find(" external") == std::string::npos && line.find(" variable") == std::string::npos)
      result += line.substr(line.find_first_not_of(' '));
    begin = end;
  }
  for (const Diagnostic& diagnostic : expansion.context.emitter.diagnostics())
    result += fmt::format("{} [{}]\n", diagnostic.message, diagnostic.rule->label);
  return result;
}

// Returns the statements of the ratified document, then the messages. `s` holds the extents [1,4,6,5] of `x`,
// `n` is an open extent.
inline std::string FromTract(std::string_view statements) {
  Expansion expansion(
      "version 1.0;\n"
      "extension tract_registry tract_core;\n"
      "extension tract_symbol N;\n"
      "graph g( x, v, i, b, o ) -> ( y )\n"
      "{\n"
      "    x = tract_core_external(shape = [1,4,6,5], datum_type = 'f32');\n"
      "    v = tract_core_external(shape = [3], datum_type = 'f32');\n"
      "    i = tract_core_external(shape = [3], datum_type = 'i64');\n"
      "    b = tract_core_external(shape = [3], datum_type = 'bool');\n"
      "    o = tract_core_external(shape = [N,3], datum_type = 'f32');\n"
      "    s = tract_core_shape_of(x);\n"
      "    n = squeeze(slice(tract_core_shape_of(o), axes = [0], begin = [0], end = [1]), axes = [0]);\n" +
      std::string(statements) +
      "\n"
      "}\n");
  return StatementsOf(expansion);
}

}  // namespace nnefc::expand
