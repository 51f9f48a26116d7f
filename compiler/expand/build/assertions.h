#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/semantics/extensions.h"
#include "compiler/support/context.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::expand::build {

// A condition on symbolic extents in an extension line: `extension tract_assert S + P <= 16;`.
struct Assertion {
  SourceRange range;  // range of the condition
  std::string text;
};

// Returns the assertions of the document, except those of a scenario (`tg: S == 1`), which apply to it only.
// Warns about conditions that are not comparisons of sums and products (kAssertionUnread).
std::vector<Assertion> AssertionsOf(const ast::Document& document, Context& context);

enum class Truth : uint8_t {
  kHolds,
  kFails,
  kOpen,    // a symbol has no value, or a number exceeds 64 bits
  kUnread,  // not a condition
};

// Evaluates a condition. `value` returns the extent of a symbol, or nothing if it is unknown.
Truth Evaluate(std::string_view condition,
               llvm::function_ref<std::optional<int64_t>(std::string_view)> value);

}  // namespace nnefc::expand::build
