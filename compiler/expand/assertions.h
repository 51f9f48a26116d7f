#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/semantics/extensions.h"
#include "compiler/support/context.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::expand {

// A condition on symbols that a line of extensions states: `extension tract_assert S + P <= 16;`.
struct Assertion {
  SourceRange range;  // of the condition
  std::string text;
};

// Those of the document, without the ones of a scenario (`tg: S == 1`), which hold
// in that alone. Warns of what is no comparison of sums and products (kAssertionUnread).
std::vector<Assertion> AssertionsOf(const ast::Document& document, Context& context);

enum class Truth : uint8_t {
  kHolds,
  kFails,
  kOpen,    // of a symbol without a value, or beyond 64 bits
  kUnread,  // no condition
};

// `value` tells the extent that a symbol stands for, or nothing.
Truth Evaluate(std::string_view condition,
               llvm::function_ref<std::optional<int64_t>(std::string_view)> value);

}  // namespace nnefc::expand
