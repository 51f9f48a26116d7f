// Evaluation of `tract_resource_get`: its calls are replaced by values from the model's JSON files.

#include "compiler/driver/data/resources.h"

#include <charconv>
#include <map>

#include "compiler/driver/rules.h"
#include "compiler/semantics/extensions.h"
#include "compiler/support/diagnostics/suggest.h"
#include "compiler/support/text/json_value.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::driver {
namespace {

constexpr std::string_view kExtension = "tract_registry tract_resource";
constexpr std::string_view kFunction = "tract_resource_get";
constexpr std::string_view kParameters[] = {"label", "key"};

// One step of a key: `.name` or `[3]`.
struct Step {
  std::string name;  // empty for an index
  size_t index = 0;
};

// Parses the steps of a path such as `$.a[1].b`; nothing if it is malformed.
std::optional<std::vector<Step>> ReadPath(std::string_view key) {
  if (!key.starts_with('$')) return std::nullopt;
  key.remove_prefix(1);
  std::vector<Step> steps;
  while (!key.empty()) {
    Step step;
    if (key[0] == '.') {
      const size_t end = std::min(key.find_first_of(".[", 1), key.size());
      step.name = key.substr(1, end - 1);
      key.remove_prefix(end);
      if (step.name.empty()) return std::nullopt;
    } else {
      const size_t end = key[0] == '[' ? key.find(']') : std::string_view::npos;
      if (end == std::string_view::npos) return std::nullopt;
      const auto [stop, error] = std::from_chars(key.data() + 1, key.data() + end, step.index);
      if (error != std::errc() || stop != key.data() + end) return std::nullopt;
      key.remove_prefix(end + 1);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string_view KindOf(const JsonValue& value) {
  constexpr std::string_view kKinds[] = {"null",     "a logical value", "an integer", "a number",
                                         "a string", "an array",        "an object"};
  return kKinds[value.value.index()];
}

class Replacer {
 public:
  Replacer(ast::Document& document, const package::ModelContainer& model, std::string_view path,
           Context& context)
      : document_(document), model_(model), path_(path), context_(context) {}

  bool Run() {
    // Inserted values contain no calls.
    const auto count = static_cast<int32_t>(document_.exprs.size());
    bool ok = true;
    for (int32_t i = 0; i < count; ++i) {
      const ast::ExprId id(i);
      const auto* call = ast::Find<ast::InvocationExpr>(document_.exprs[id].node);
      if (call == nullptr || context_.symbols.Text(call->callee.symbol) != kFunction) continue;
      if (Replace(id, *call)) continue;
      document_.exprs[id].node = ast::ErrorExpr();
      ok = false;
    }
    return ok;
  }

 private:
  template <typename... Args>
  bool Fail(const Rule& rule, SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    context_.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
    return false;
  }

  bool Replace(ast::ExprId id, const ast::InvocationExpr& call) {
    const SourceRange range = document_.exprs[id].range;
    std::optional<std::string> values[std::size(kParameters)];
    SourceRange places[std::size(kParameters)];
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const ast::Argument& argument = call.arguments[i];
      size_t at = i;
      if (argument.name)
        at = llvm::find(kParameters, context_.symbols.Text(argument.name->symbol)) - kParameters;
      const auto* text = std::get_if<ast::StringLiteral>(&document_.exprs[argument.value].node);
      if (at >= std::size(kParameters) || values[at] || text == nullptr) return FailCall(range);
      values[at] = context_.symbols.Text(text->value);
      places[at] = document_.exprs[argument.value].range;
    }
    if (!values[0] || !values[1]) return FailCall(range);
    const JsonValue* resource = Find(*values[0], places[0]);
    if (resource == nullptr) return false;
    const std::optional<std::vector<Step>> path = ReadPath(*values[1]);
    if (!path) {
      return Fail(kResourceKey, places[1], "`{}` is not a path into a JSON file; expected one as `$.name[0]`",
                  package::ShownText(*values[1]));
    }
    const JsonValue* value = Follow(*resource, *path, places[1]);
    std::optional<ast::ExprNode> literal = value == nullptr ? std::nullopt : Literal(*value, range);
    if (literal) document_.exprs[id].node = *literal;
    return literal.has_value();
  }

  // A syntax error may have cut the call: it alone is reported.
  bool FailCall(SourceRange range) {
    if (!document_.complete) return false;
    return Fail(kResourceKey, range,
                "`{}` takes a label and a key, written as strings: `{}('config', '$.size')`", kFunction,
                kFunction);
  }

  // Returns the JSON file of a label. Emits an error and returns null if it is missing or unreadable.
  const JsonValue* Find(const std::string& label, SourceRange place) {
    const auto [found, is_new] = resources_.try_emplace(label);
    if (!is_new) return found->second ? &*found->second : nullptr;
    const std::string inside = path_.empty() ? label : fmt::format("{}/{}", path_, label);
    if (!model_.HasResource(inside)) {
      Fail(kResourceMissing, place, "the model `{}` has no `{}.json`", model_.name(),
           package::ShownText(inside));
      return nullptr;
    }
    const std::optional<FileId> file = model_.OpenResource(inside, context_.emitter);
    if (!file) return nullptr;
    const JsonFormat format{&kResourceJson, &kResourceJson, R"(a value, such as `{"size": 3}`)"};
    found->second = ReadJson(context_.sources.Text(*file), *file, 0, format, context_.emitter);
    return found->second ? &*found->second : nullptr;
  }

  const JsonValue* Follow(const JsonValue& resource, const std::vector<Step>& path, SourceRange place) {
    const JsonValue* value = &resource;
    for (const Step& step : path) {
      const JsonValue* inner = nullptr;
      if (step.name.empty()) {
        const auto* items = value->get<JsonValue::Items>();
        if (items != nullptr && step.index < items->size()) inner = &(*items)[step.index];
        if (inner == nullptr) {
          context_.emitter
              .Emit(kResourceKey, place, "there is no item {} in {}", step.index,
                    items == nullptr ? std::string(KindOf(*value))
                                     : fmt::format("an array of {}", items->size()))
              .Note(value->range, "this");
        }
      } else {
        inner = value->Find(step.name);
        if (inner == nullptr) FailMember(*value, step.name, place);
      }
      if (inner == nullptr) return nullptr;
      value = inner;
    }
    return value;
  }

  void FailMember(const JsonValue& value, const std::string& name, SourceRange place) {
    const auto* members = value.get<JsonValue::Members>();
    if (members == nullptr) {
      context_.emitter
          .Emit(kResourceKey, place, "there is no `{}` in {}", package::ShownText(name), KindOf(value))
          .Note(value.range, "this");
      return;
    }
    Suggestion suggestion(name);
    for (const JsonValue::Member& member : *members) suggestion.Offer(member.key);
    const std::string hint = suggestion.best().empty()
                                 ? ""
                                 : fmt::format("; did you mean `{}`?", package::ShownText(suggestion.best()));
    context_.emitter
        .Emit(kResourceKey, place, "there is no `{}` in the object{}", package::ShownText(name), hint)
        .Note(value.range, "this");
  }

  // Converts a value to a literal expression with the range `range`. The nesting of arrays is limited by that
  // of JSON texts.
  std::optional<ast::ExprNode> Literal(const JsonValue& value, SourceRange range) {
    if (const auto* truth = value.get<bool>()) return ast::LogicalLiteral{*truth};
    if (const auto* integer = value.get<int64_t>()) return ast::IntegerLiteral{*integer};
    if (const auto* number = value.get<double>()) return ast::ScalarLiteral{*number};
    if (const auto* text = value.get<std::string>())
      return ast::StringLiteral{context_.symbols.Intern(*text)};
    const auto* items = value.get<JsonValue::Items>();
    if (items == nullptr) {
      context_.emitter
          .Emit(kResourceKey, range,
                "the key names {}; expected a number, a string, a logical value or an array", KindOf(value))
          .Note(value.range, "this");
      return std::nullopt;
    }
    std::vector<ast::ExprId> ids;
    for (const JsonValue& item : *items) {
      const std::optional<ast::ExprNode> node = Literal(item, range);
      if (!node) return std::nullopt;
      ids.push_back(document_.exprs.Add({range, *node}));
    }
    return ast::ArrayExpr{document_.Keep<ast::ExprId>(ids)};
  }

  ast::Document& document_;
  const package::ModelContainer& model_;
  std::string_view path_;
  Context& context_;
  std::map<std::string, std::optional<JsonValue>> resources_;  // key: label; nothing after a reported error
};

}  // namespace

bool ReplaceResources(ast::Document& document, const package::ModelContainer& model, std::string_view path,
                      Context& context) {
  const auto* extension = llvm::find_if(semantics::Extensions(), [](const semantics::Extension& extension) {
    return extension.name == kExtension;
  });
  if (!semantics::Enables(document, *extension, context.symbols)) return true;
  const bool is_own = llvm::any_of(document.fragments, [&](const ast::Fragment& fragment) {
    return fragment.name.symbol.valid() && context.symbols.Text(fragment.name.symbol) == kFunction;
  });
  return is_own || Replacer(document, model, path, context).Run();
}

}  // namespace nnefc::driver
