#include "tests/fuzz/mutators/operations.h"

#include <algorithm>

#include "stdlib/stdlib.h"
#include "tests/fuzz/mutators/tokens.h"

namespace nnefc::fuzz {
namespace {

// Returns the tokens without the space between them.
std::string Packed(const Tokens& tokens, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += tokens[i].text;
  return text;
}

OperationParameter ReadParameter(const Tokens& tokens, Span item) {
  size_t assigned = item.begin;
  while (assigned < item.end && !tokens[assigned].Is("=")) ++assigned;
  return {.name = tokens[item.begin].text,
          .type = Packed(tokens, std::min(item.begin + 2, assigned), assigned),
          .default_value = Packed(tokens, std::min(assigned + 1, item.end), item.end)};
}

// `fragment NAME<? = scalar>(PARAMETERS) -> (RESULTS)`.
void AddOperations(std::string_view text, std::vector<Operation>& operations) {
  const Tokens tokens = Tokenize(text, "#");
  const Brackets brackets(tokens);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].Is("fragment")) continue;
    Operation operation{.name = tokens[i + 1].text};
    operation.is_generic = tokens[i + 2].Is("<");
    size_t open = i + 2;
    while (!tokens[open].Is("(")) ++open;
    for (const Span& item : brackets.ItemsOf(open))
      operation.parameters.push_back(ReadParameter(tokens, item));
    size_t results = brackets.partner(open);
    while (!tokens[results].Is("(")) ++results;
    operation.results = brackets.ItemsOf(results).size();
    operations.push_back(std::move(operation));
  }
}

std::vector<Operation> AllOperations() {
  std::vector<Operation> operations;
  for (std::string_view text :
       {stdlib::RatifiedLibraryText(), stdlib::ProvisionalLibraryText(), stdlib::ControlFlowLibraryText(),
        stdlib::LayersLibraryText(), stdlib::TractCoreLibraryText(), stdlib::TractTransformersLibraryText(),
        stdlib::TractExtraLibraryText(), stdlib::TractOnnxLibraryText(), stdlib::TractPulseLibraryText()})
    AddOperations(text, operations);
  return operations;
}

}  // namespace

const std::vector<Operation>& LibraryOperations() {
  static const std::vector<Operation> operations = AllOperations();
  return operations;
}

const Operation* FindOperation(std::string_view name) {
  const auto& operations = LibraryOperations();
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const Operation& operation) { return operation.name == name; });
  return found == operations.end() ? nullptr : &*found;
}

const std::vector<std::string_view>& DocumentWords() {
  static const std::vector<std::string_view> words(stdlib::LibraryWords().begin(),
                                                   stdlib::LibraryWords().end());
  return words;
}

}  // namespace nnefc::fuzz
