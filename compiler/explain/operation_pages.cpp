// The contents of the pages of operations, shown by `nnefc explain`.

#include "compiler/explain/operation_pages.h"

#include <algorithm>

#include "compiler/explain/embedded_file.h"
#include "compiler/explain/operation_texts.h"
#include "compiler/ir/op_registry.h"
#include "compiler/semantics/extensions.h"
#include "fmt/core.h"
#include "stdlib/stdlib.h"

namespace nnefc::explain {
namespace {

// A fragment's declaration in a library's text, with the comment above it.
struct Declaration {
  std::string comment;
  std::string text;
};

std::optional<Declaration> FindDeclaration(std::string_view library, std::string_view name) {
  for (const char behind : {'(', '<'}) {
    const std::string head = fmt::format("\nfragment {}{}", name, behind);
    const size_t found = library.find(head);
    if (found == std::string_view::npos) continue;
    const size_t begin = found + 1;
    const size_t stop = library.find_first_of(";{", begin);
    if (stop == std::string_view::npos) continue;
    const size_t end = library[stop] == ';' ? stop + 1 : library.find("\n}", stop) + 2;
    Declaration declaration{.comment = "", .text = std::string(library.substr(begin, end - begin))};
    // Collect the comment lines above; one empty line may separate them from the declaration.
    size_t above = begin;
    while (above > 1) {
      const size_t line = library.rfind('\n', above - 2) + 1;
      const std::string_view text = library.substr(line, above - line);
      // A heading such as `# ---- products ----` belongs to the declarations below it, not to one.
      if (text != "\n" && (!text.starts_with("# ") || text.starts_with("# ----"))) break;
      if (text == "\n" && !declaration.comment.empty()) break;
      if (text != "\n") declaration.comment.insert(0, text.substr(2));
      above = line;
    }
    return declaration;
  }
  return std::nullopt;
}

// The contents of operations/NAME.operation: the formula of a primitive, then a document that uses the
// operation. Either may be missing.
struct Example {
  std::string_view formula;
  std::string_view document;
};

Example ExampleOf(std::string_view name) {
  const std::string_view text = FindText(EmbeddedOperations(), name).value_or("");
  const size_t document = std::min(text.find("version 1.0;"), text.size());
  const size_t end = text.find_last_not_of('\n', document - 1);
  return {document == 0 ? "" : text.substr(0, end + 1), text.substr(document)};
}

// Returns the parameter names of a declaration, "fragment name<?>(x: type = default, ..)".
std::vector<std::string> ParameterNames(std::string_view declaration) {
  std::vector<std::string> names;
  int depth = 0;
  std::string word;
  for (const char c : declaration.substr(declaration.find('('))) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0) break;
    if (depth == 1 && c == ':') names.push_back(word);
    const bool is_name =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    word = is_name ? word + c : "";
  }
  return names;
}

// Returns an example document for an elementwise operation, whose parameters are all tensors.
std::string PlainDocument(const OperationPage& page) {
  const bool is_binary = page.signature.find(", y: tensor") != std::string::npos;
  const bool is_logical = page.signature.find("x: tensor<logical>") != std::string::npos;
  const std::string_view type = is_logical ? "<logical>" : "";
  std::string text = fmt::format("version 1.0;\n\ngraph net( x{0} ) -> ( {1} )\n{{\n", is_binary ? ", y" : "",
                                 is_binary ? "z" : "y");
  text += fmt::format("    x = external{}(shape = [1, 4]);\n", type);
  if (is_binary) text += fmt::format("    y = external{}(shape = [1, 4]);\n", type);
  text += is_binary ? fmt::format("    z = {}(x, y);\n}}\n", page.name)
                    : fmt::format("    y = {}(x);\n}}\n", page.name);
  return text;
}

}  // namespace

namespace {

// Returns the extensions that add operations to documents that name them.
std::vector<const semantics::Extension*> ExtensionsWithOperations() {
  std::vector<const semantics::Extension*> found;
  for (const semantics::Extension& extension : semantics::Extensions()) {
    if (extension.library != nullptr && extension.activation == semantics::Activation::kLine)
      found.push_back(&extension);
  }
  return found;
}

std::optional<OperationPage> FindExtensionPage(std::string_view name) {
  for (const semantics::Extension* extension : ExtensionsWithOperations()) {
    const std::optional<Declaration> declaration = FindDeclaration(extension->library(), name);
    if (!declaration) continue;
    OperationPage page;
    page.name = name;
    page.extension = extension->name;
    page.section = extension->name;
    page.comment = declaration->comment;
    page.signature = declaration->text;
    return page;
  }
  return std::nullopt;
}

}  // namespace

std::optional<OperationPage> FindOperationPage(std::string_view name) {
  const ir::OpRegistry& registry = ir::StandardOps();
  const ir::OpId id = registry.Find(ir::kNnefSet, name);
  const std::optional<Declaration> declaration =
      id.valid() ? FindDeclaration(stdlib::RatifiedLibraryText(), name) : std::nullopt;
  OperationPage page;
  if (declaration) {
    page.name = name;
    page.summary = SummaryOf(name);
    page.signature = declaration->text;
    for (std::string& parameter : ParameterNames(page.signature)) {
      std::string text(ParameterText(name, parameter));
      page.parameters.push_back({std::move(parameter), std::move(text)});
    }
    const std::optional<Declaration> provisional = FindDeclaration(stdlib::ProvisionalLibraryText(), name);
    if (provisional && provisional->text != page.signature) page.provisional = provisional->text;
  } else if (std::optional<OperationPage> found = FindExtensionPage(name)) {
    page = std::move(*found);
  } else {
    return std::nullopt;
  }
  if (id.valid() && !registry.Info(id).section.empty()) page.section = registry.Info(id).section;
  const Example example = ExampleOf(name);
  page.formula = example.formula;
  page.example = example.document;
  if (page.example.empty() && page.extension.empty()) page.example = PlainDocument(page);
  return page;
}

std::vector<ExtensionOperation> ExtensionOperations() {
  std::vector<ExtensionOperation> found;
  for (const semantics::Extension* extension : ExtensionsWithOperations()) {
    constexpr std::string_view kHead = "\nfragment ";
    const std::string_view text = extension->library();
    for (size_t at = text.find(kHead); at != std::string_view::npos; at = text.find(kHead, at + 1)) {
      const size_t begin = at + kHead.size();
      found.push_back(
          {std::string(text.substr(begin, text.find_first_of("(<", begin) - begin)), extension->name});
    }
  }
  return found;
}

std::optional<OperationPage> FindPluginPage(std::string_view name, const plugin::Plugins& plugins) {
  for (const semantics::Extension* extension : plugins.library().extensions()) {
    if (extension->text.empty()) continue;
    const std::optional<Declaration> declaration = FindDeclaration(extension->text, name);
    if (!declaration) continue;
    OperationPage page;
    page.name = name;
    page.extension = fmt::format("library {} of a plug-in", extension->name);
    page.comment = declaration->comment;
    page.signature = declaration->text;
    return page;
  }
  return std::nullopt;
}

std::string ControlFlowComment() {
  std::string text;
  for (std::string_view library = stdlib::ControlFlowLibraryText(); library.starts_with("# ");) {
    const size_t end = library.find('\n');
    text += fmt::format("{}\n", library.substr(2, end - 2));
    library.remove_prefix(end + 1);
  }
  return text;
}

std::vector<std::string> PagedOperations() {
  std::vector<std::string> names;
  const ir::OpRegistry& registry = ir::StandardOps();
  for (size_t i = 0; i < registry.size(); ++i) {
    const std::string_view name = registry.Info(ir::OpId(static_cast<int32_t>(i))).name;
    if (FindDeclaration(stdlib::RatifiedLibraryText(), name)) names.emplace_back(name);
  }
  for (ExtensionOperation& operation : ExtensionOperations()) names.push_back(std::move(operation.name));
  return names;
}

}  // namespace nnefc::explain
