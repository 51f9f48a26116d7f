#include "checking.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace nnefc::semantics {

std::string Ratified(std::string_view text) {
  std::string document =
      "version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n" +
      std::string(text);
  if (text.find("graph ") == std::string_view::npos) {
    document += "\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1,2]);\n    y = copy(x);\n}\n";
  }
  return document;
}

std::string RatifiedGraph(std::string_view body) {
  return Ratified("graph g( x ) -> ( y ) {\nx = external(shape = [1,2]);\n" + std::string(body) + "\n}\n");
}

std::string RatifiedBody(std::string_view body) {
  return Ratified(
      "fragment f( x: tensor<scalar>, l: tensor<logical>, xs: tensor<scalar>[], n: integer, s: scalar, b: "
      "logical, "
      "t: string, ns: integer[], ts: (integer,scalar) ) -> ( y: tensor<scalar> ) {\n" +
      std::string(body) + "\n}\n");
}

std::string Provisional(std::string_view text) {
  std::string document = "version 1.0\n" + std::string(text);
  if (text.find("graph ") == std::string_view::npos) {
    document += "\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1,2])\n    y = idn(x)\n}\n";
  }
  return document;
}

std::string ProvisionalGraph(std::string_view body) {
  return Provisional("graph g( x ) -> ( y ) {\nx = external(shape = [1,2])\n" + std::string(body) + "\n}\n");
}

std::string ProvisionalBody(std::string_view body) {
  return Provisional(
      "fragment f( x: tensor, l: tensor, xs: tensor[], n: extent, s: scalar, b: logical, t: string, ns: "
      "extent[], "
      "ts: (extent,scalar) ) -> ( y: tensor ) {\n" +
      std::string(body) + "\n}\n");
}

Checked::Checked(std::string text, const CheckOptions& options, std::optional<ast::Dialect> dialect)
    : file_(context_.sources.AddText("test.nnef", std::move(text))) {
  document_ =
      CheckDocument(ast::ParseDocument(file_, {.dialect = dialect}, context_), library_, options, context_);
}

std::string Describe(const Context& context) {
  std::vector<const Diagnostic*> diagnostics;
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) diagnostics.push_back(&diagnostic);
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [](const Diagnostic* a, const Diagnostic* b) { return a->range.begin < b->range.begin; });
  std::string text;
  for (const Diagnostic* diagnostic : diagnostics) {
    const LineColumn place = context.sources.Position(diagnostic->range.start());
    if (!text.empty()) text += '\n';
    text += fmt::format("{} {}:{}{}", diagnostic->rule->label, place.line, place.column,
                        diagnostic->severity == Severity::kWarning ? " warning" : "");
  }
  return text;
}

std::string Checked::Diagnostics() const {
  return Describe(context_);
}

std::string Checked::Rendered() const {
  return RenderText(context_.emitter.diagnostics(), context_.sources, {});
}

ast::ExprId Checked::Find(std::string_view text) const {
  const ast::Document& ast = document_->ast();
  const std::string_view source = context_.sources.Text(file_);
  for (size_t i = 0; i < ast.exprs.size(); ++i) {
    const ast::ExprId id(static_cast<int32_t>(i));
    const SourceRange range = ast.exprs[id].range;
    if (source.substr(range.begin, range.end - range.begin) == text) return id;
  }
  ADD_FAILURE() << "no expression `" << text << "`";
  return {};
}

void ExpectDiagnostics(std::initializer_list<CheckCase> cases) {
  for (const CheckCase& check : cases) {
    const Checked checked(check.text);
    EXPECT_EQ(checked.Diagnostics(), check.expected) << check.text << "\n" << checked.Rendered();
  }
}

}  // namespace nnefc::semantics
