#include "compiler/expand/vendor/data_types.h"

#include <string>

#include "compiler/expand/rules.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::expand::vendor {

// tract_type.name
bool ReadDataTypes(evaluate::Evaluation& state, const evaluate::Call& call,
                   const semantics::Signature& signature, llvm::MutableArrayRef<Value> arguments) {
  static constexpr std::string_view kTypes[] = {"f16", "f32", "f64", "bool", "u8",  "u16", "u32",
                                                "u64", "i8",  "i16", "i32",  "i64", "tdim"};
  if (!call.callee.document->dialect().vendor_meanings) return true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = state.context.symbols.Text(signature.parameters[i].name.symbol);
    const bool is_type = name == "datum_type" || name == "acc_datum_type" || name == "to";
    if (!is_type || arguments[i].kind() != ValueKind::kString) continue;
    const std::string_view text = arguments[i].text();
    if (text.empty() || text == "as_declared") continue;
    std::string type = llvm::StringRef(text.data(), text.size()).lower();
    if (!llvm::is_contained(kTypes, type)) {
      return state.Fail(
          Fault::Of(kTractType, "`{}` of `{}` is `{}`; expected a type of numbers or logicals: {}", name,
                    state.context.symbols.Text(signature.name.symbol), text.substr(0, 60),
                    fmt::join(kTypes, ", ")),
          call.expr);
    }
    if (type != text) arguments[i] = Value::String(state.heap, std::move(type));
  }
  return true;
}

}  // namespace nnefc::expand::vendor
