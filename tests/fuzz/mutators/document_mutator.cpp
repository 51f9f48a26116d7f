// Mutants of NNEF documents and of graph.quant, by the grammar and by the declarations of the standard
// libraries.
#include <algorithm>
#include <array>

#include "tests/fuzz/mutators/boundary_numbers.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/mutators/operations.h"
#include "tests/fuzz/mutators/text_edits.h"

namespace nnefc::fuzz {
namespace {

constexpr std::string_view kComment = "#";

class DocumentEdits {
 public:
  DocumentEdits(Tokens& tokens, Choices& choices) : tokens_(tokens), choices_(choices) {}

  // Replaces the name of an invoked operation by that of another one.
  bool ChangeOperation() {
    const std::vector<size_t> invocations = Invocations();
    if (invocations.empty()) return false;
    tokens_[choices_.Pick(invocations)].text = choices_.Pick(LibraryOperations()).name;
    return true;
  }

  // Inserts an assignment of an invocation whose arguments have the declared types.
  bool InsertInvocation() {
    const Brackets brackets(tokens_);
    const std::vector<Span> assignments = Assignments(brackets);
    if (assignments.empty()) return false;
    const Span before = choices_.Pick(assignments);
    const Operation& operation = choices_.Pick(LibraryOperations());
    const bool has_semicolon = tokens_[before.end - 1].Is(";");
    std::string text =
        NewNames(operation.results) + " = " + Invocation(operation, before.end) + (has_semicolon ? ";" : "");
    Tokens made = Tokenize("\n  " + text, kComment);
    if (choices_.OneIn(2)) UseLater(made.front().text, before);
    Replace(tokens_, {before.end, before.end}, made);
    return true;
  }

  // Adds an omitted argument to an invocation, or replaces one by a value of its declared type.
  bool SetArgument() {
    const std::vector<size_t> invocations = Invocations();
    if (invocations.empty()) return false;
    const size_t at = choices_.Pick(invocations);
    const Operation* operation = FindOperation(tokens_[at].text);
    if (operation == nullptr || operation->parameters.empty()) return false;
    const OperationParameter& parameter = choices_.Pick(operation->parameters);
    const std::string text = parameter.name + " = " + Value(parameter.type, at);
    const Brackets brackets(tokens_);
    const size_t open = OpenAfter(at);
    for (const Span& item : brackets.ItemsOf(open)) {
      if (!tokens_[item.begin].Is(parameter.name) || item.size() < 3) continue;
      Replace(tokens_, item, Tokenize(text, kComment));
      return true;
    }
    const size_t close = brackets.partner(open);
    Replace(tokens_, {close, close}, Tokenize((close == open + 1 ? "" : ", ") + text, kComment));
    return true;
  }

  // Wraps an expression in another one.
  bool Nest() {
    const Brackets brackets(tokens_);
    if (brackets.items().empty()) return false;
    Span item = choices_.Pick(brackets.items());
    if (item.size() > 2 && tokens_[item.begin + 1].Is("=")) item.begin += 2;
    static constexpr auto kForms = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"[", "]"},
         {"(", ")"},
         {"-", ""},
         {"", " + 1"},
         {"", " * 0"},
         {"", " - 1"},
         {"", " / 2"},
         {"", " ^ 2"},
         {"1 - ", ""},
         {"[", "] * 2"},
         {"(", ")[0]"},
         {"(", ")[1:]"},
         {"[for i in range_of([0, 1, 2]) yield ", "]"},
         {"[for i in [1, 2] yield i * ", "]"},
         {"", " if true else 0"},
         {"length_of(", ")"},
         {"lengthof ", ""},
         {"shape_of(", ")"},
         {"scalar(", ")"},
         {"integer(", ")"},
         {"copy(", ")"},
         {"(", ", 1)"},
         {"[", ", 1]"},
         {"!", ""},
         {"", " < 1"},
         {"", " && true"}});
    const auto& [before, after] = choices_.Pick(kForms);
    Replace(tokens_, {item.end, item.end}, Tokenize(after, kComment));
    Replace(tokens_, {item.begin, item.begin}, Tokenize(before, kComment));
    return true;
  }

  // Removes a pair of brackets, or an operation around its argument.
  bool Unnest() {
    const Brackets brackets(tokens_);
    std::vector<size_t> pairs;
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (brackets.opens(i) && !tokens_[i].Is("{")) pairs.push_back(i);
    if (pairs.empty()) return false;
    const size_t open = choices_.Pick(pairs);
    const size_t close = brackets.partner(open);
    const bool is_invocation = open > 0 && tokens_[open - 1].kind == TokenKind::kName;
    const std::vector<Span> items = brackets.ItemsOf(open);
    if (items.empty()) return false;
    Span kept = choices_.OneIn(2) ? items.front() : Span{open + 1, close};
    if (is_invocation) kept = items.front();
    const Tokens copy(tokens_.begin() + static_cast<ptrdiff_t>(kept.begin),
                      tokens_.begin() + static_cast<ptrdiff_t>(kept.end));
    Replace(tokens_, {open - (is_invocation ? 1 : 0), close + 1}, copy);
    return true;
  }

  // Changes the header of the document.
  bool ChangeHeader() {
    static constexpr auto kLines = std::to_array<std::string_view>(
        {"extension KHR_enable_fragment_definitions;", "extension KHR_enable_operator_expressions;",
         "extension NNEFC_control_flow;", "extension tract_registry tract_core;", "extension tract_symbol S;",
         "extension tract_assert S >= 1;", "extension KHR_enable_fragment_definitions",
         "fragment f(x: tensor<scalar>) -> (y: tensor<scalar>) { y = relu(x); }",
         "fragment f(x: tensor) -> (y: tensor) { y = relu(x) }"});
    size_t at = 0;
    while (at < tokens_.size() && !tokens_[at].Is("graph") && !tokens_[at].Is("fragment")) ++at;
    if (at == tokens_.size()) return false;
    Replace(tokens_, {at, at}, Tokenize("\n" + std::string(choices_.Pick(kLines)), kComment));
    return true;
  }

 private:
  // Returns the bracket of an invocation's arguments, possibly after a generic type.
  size_t OpenAfter(size_t name) const {
    size_t open = name + 1;
    if (open < tokens_.size() && tokens_[open].Is("<")) {
      while (open < tokens_.size() && !tokens_[open].Is(">")) ++open;
      ++open;
    }
    return open < tokens_.size() && tokens_[open].Is("(") ? open : tokens_.size();
  }

  std::vector<size_t> Invocations() const {
    std::vector<size_t> found;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const bool is_declared = i > 0 && (tokens_[i - 1].Is("fragment") || tokens_[i - 1].Is("graph"));
      if (tokens_[i].kind == TokenKind::kName && !is_declared && OpenAfter(i) != tokens_.size())
        found.push_back(i);
    }
    return found;
  }

  std::vector<Span> Assignments(const Brackets& brackets) const {
    std::vector<Span> found;
    for (const Span& statement : brackets.statements())
      for (size_t i = statement.begin; i < statement.end; ++i)
        if (tokens_[i].Is("=")) {
          found.push_back(statement);
          break;
        } else if (tokens_[i].Is("{")) {
          break;
        }
    return found;
  }

  // Returns a name that is defined before the token.
  std::string DefinedName(size_t at) {
    std::vector<size_t> names;
    for (size_t i = 0; i + 1 < std::min(at, tokens_.size()); ++i) {
      if (tokens_[i].kind != TokenKind::kName) continue;
      const bool is_assigned =
          tokens_[i + 1].Is("=") && (tokens_[i].begins_line() || (i > 0 && tokens_[i - 1].Is(";")));
      const bool is_parameter = tokens_[i + 1].Is(":");
      if (is_assigned || is_parameter) names.push_back(i);
    }
    return names.empty() ? "x" : tokens_[choices_.Pick(names)].text;
  }

  std::string NewNames(size_t count) {
    std::string names;
    for (size_t i = 0; i < std::max<size_t>(count, 1); ++i)
      names += (i == 0 ? "m" : ", m") + std::to_string(choices_.Below(1000));
    if (count < 2) return names;
    return choices_.OneIn(2) ? "(" + names + ")" : names;
  }

  std::string Invocation(const Operation& operation, size_t at) {
    std::string text = operation.name;
    static constexpr auto kTypes =
        std::to_array<std::string_view>({"<scalar>", "<integer>", "<logical>", "", "<string>"});
    if (operation.is_generic) text += choices_.Pick(kTypes);
    text += "(";
    bool is_first = true;
    for (const OperationParameter& parameter : operation.parameters) {
      if (!parameter.default_value.empty() && choices_.OneIn(2)) continue;
      text += is_first ? "" : ", ";
      text += parameter.name + " = " + Value(parameter.type, at);
      is_first = false;
    }
    return text + ")";
  }

  // Returns a value of the type for an argument at the token.
  std::string Value(std::string_view type, size_t at) {
    constexpr size_t kMaxItems = 6;
    if (type.ends_with("[]")) {
      type.remove_suffix(2);
      std::string text = "[";
      const size_t count = choices_.Below(kMaxItems);
      const std::string same = Value(type, at);
      const bool repeats = choices_.OneIn(2);
      for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + (repeats ? same : Value(type, at));
      return text + "]";
    }
    if (type.starts_with("(")) return "(" + Value("integer", at) + ", " + Value("integer", at) + ")";
    if (type.starts_with("tensor"))
      return choices_.OneIn(8) ? BoundaryNumber("1.0", choices_) : DefinedName(at);
    if (type == "scalar") return BoundaryNumber("1.0", choices_);
    if (type == "logical") return choices_.OneIn(2) ? "true" : "false";
    if (type == "string") return String();
    return BoundaryNumber("1", choices_);
  }

  std::string String() {
    std::vector<std::string_view> strings;
    for (std::string_view word : DocumentWords())
      if (word.starts_with("'") || word.starts_with("\"")) strings.push_back(word);
    return strings.empty() || choices_.OneIn(8) ? "'f'" : std::string(choices_.Pick(strings));
  }

  // Replaces a name in a statement after `before` by `name`.
  void UseLater(const std::string& name, Span before) {
    std::vector<size_t> names;
    for (size_t i = before.end; i + 1 < tokens_.size(); ++i)
      if (tokens_[i].kind == TokenKind::kName && (tokens_[i + 1].Is(",") || tokens_[i + 1].Is(")")))
        names.push_back(i);
    if (!names.empty()) tokens_[choices_.Pick(names)].text = name;
  }

  Tokens& tokens_;
  Choices& choices_;
};

bool MakeEdit(Tokens& tokens, Choices& choices) {
  using Edit = bool (DocumentEdits::*)();
  static constexpr Edit kEdits[] = {&DocumentEdits::ChangeOperation,
                                    &DocumentEdits::InsertInvocation,
                                    &DocumentEdits::InsertInvocation,
                                    &DocumentEdits::SetArgument,
                                    &DocumentEdits::SetArgument,
                                    &DocumentEdits::SetArgument,
                                    &DocumentEdits::Nest,
                                    &DocumentEdits::Nest,
                                    &DocumentEdits::Unnest,
                                    &DocumentEdits::ChangeHeader};
  DocumentEdits edits(tokens, choices);
  if (choices.OneIn(2) && (edits.*choices.Pick(kEdits))()) return true;
  return TextEdits(tokens, choices, DocumentWords()).MakeAny();
}

std::string Mutate(std::string_view input, Mutation& mutation) {
  return EditText(input, kComment, mutation.choices, MakeEdit);
}

std::string Cross(std::string_view first, std::string_view second, Mutation& mutation) {
  return SpliceTexts(first, second, kComment, DocumentWords(), mutation.choices);
}

}  // namespace

const Mutator kDocumentMutator = {Mutate, Cross};

}  // namespace nnefc::fuzz
