// Writes the declarations of documents of the standard library as a C++ file for
// stdlib/declarations.h:
//
//   nnefc_describe_stdlib OUTPUT.cpp FILE.nnef... [--primitives FILE.nnef...]
//
// Of the documents behind --primitives fragments with a body are no operations.

#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "fmt/core.h"

namespace nnefc::stdlib::describe {
namespace {

std::string ReadFile(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string Literal(std::string text) {
  std::erase(text, ' ');
  return fmt::format("R\"NNEF({})NNEF\"", text);
}

class Description {
 public:
  // False if the text is no document.
  bool Add(const char* path, bool only_primitives) {
    Context context;
    const auto document = ast::ParseDocument(
        context.sources.AddText(path, ReadFile(path)),
        {.dialect = ast::Dialect::kRatified, .kind = ast::DocumentKind::kLibrary}, context);
    for (const Diagnostic& diagnostic : context.emitter.diagnostics())
      std::cerr << path << ": " << diagnostic.message << "\n";
    if (!document->complete || document->fragments.empty()) return false;
    for (const ast::Fragment& fragment : document->fragments) {
      if (!fragment.has_body || !only_primitives) Add(*document, fragment, context);
    }
    return true;
  }

  std::string Text() const {
    return fmt::format(R"(// Made of the documents in stdlib/; edit those.

#include "stdlib/declarations.h"

namespace nnefc::stdlib {{

namespace {{

{}
constexpr Declaration kDeclarations[] = {{
{}}};

}}  // namespace

std::span<const Declaration> Declarations() {{
  return kDeclarations;
}}

const Declaration* FindDeclaration(std::string_view name) {{
  for (const Declaration& declaration : kDeclarations) {{
    if (declaration.name == name) return &declaration;
  }}
  return nullptr;
}}

}}  // namespace nnefc::stdlib
)",
                       values_, declarations_);
  }

 private:
  void Add(const ast::Document& document, const ast::Fragment& fragment, const Context& context) {
    const std::string_view name = context.symbols.Text(fragment.name.symbol);
    const std::string parameters = AddValues(document, fragment.parameters, context);
    const std::string results = AddValues(document, fragment.results, context);
    declarations_ +=
        fmt::format("    {{\"{}\", {}, {}, {}}},\n", name, fragment.is_generic, parameters, results);
  }

  // The name of the array that holds them.
  template <typename Value>
  std::string AddValues(const ast::Document& document, llvm::ArrayRef<Value> values, const Context& context) {
    const std::string array = fmt::format("kValues{}", arrays_++);
    values_ += fmt::format("constexpr DeclaredValue {}[] = {{\n", array);
    for (const Value& value : values) {
      std::string fallback;
      if constexpr (requires { value.default_value; }) {
        if (value.default_value.valid()) fallback = ast::PrintExpr(document, value.default_value, context);
      }
      values_ += fmt::format("    {{\"{}\", {}, {}}},\n", context.symbols.Text(value.name.symbol),
                             Literal(ast::PrintType(document, value.type)), Literal(fallback));
    }
    values_ += "};\n";
    return array;
  }

  int arrays_ = 0;
  std::string values_;
  std::string declarations_;
};

}  // namespace
}  // namespace nnefc::stdlib::describe

int main(int argc, char** argv) {
  nnefc::stdlib::describe::Description description;
  bool only_primitives = false;
  for (int i = 2; i < argc; ++i) {
    if (argv[i] == std::string_view("--primitives")) {
      only_primitives = true;
    } else if (!description.Add(argv[i], only_primitives)) {
      return 1;
    }
  }
  std::ofstream output(argc > 2 ? argv[1] : "");
  output << description.Text();
  return output.flush() ? 0 : 1;
}
