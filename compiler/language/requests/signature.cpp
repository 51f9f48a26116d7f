// The signature of the invocation around a position, and its current parameter.

#include <algorithm>

#include "compiler/language/code_text.h"
#include "compiler/language/queries.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {

std::optional<SignatureHelp> FindSignature(const Analysis& analysis, uint32_t offset) {
  const std::string_view text = analysis.text();
  const Code code = CodeBefore(text, std::min<size_t>(offset, text.size()));
  if (code.in_comment) return std::nullopt;
  const Around around = FindAround(code.text, Nesting::kThroughArrays);
  const Symbol symbol = around.callee.empty() ? Symbol() : analysis.context().symbols.Find(around.callee);
  const semantics::Callee callee = symbol.valid() ? analysis.checked().Find(symbol) : semantics::Callee();
  if (!callee.valid()) return std::nullopt;
  SignatureHelp help{.label = {}, .parameters = {}, .active = {}, .operation = std::string(around.callee)};
  help.label = analysis.SignatureText(callee, &help.parameters);
  const semantics::Signature& signature = callee.document->signature(callee.fragment);
  size_t active = around.positional;
  if (!around.argument.empty()) {
    const auto named = llvm::find_if(signature.parameters, [&](const semantics::TypedName& parameter) {
      return analysis.Text(parameter.name.symbol) == around.argument;
    });
    active = static_cast<size_t>(named - signature.parameters.begin());
  }
  if (active < signature.parameters.size()) help.active = active;
  return help;
}

}  // namespace nnefc::language
