// A mutator of graphs in text form: edits of tokens, and replacements of operations.
#include <array>

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/mutators/operation_names.h"
#include "tests/fuzz/mutators/text_edits.h"

namespace nnefc::fuzz {
namespace {

constexpr std::string_view kComment = "//";

// Returns element types, kinds of attributes and values of enumerations, which edits may insert.
const std::vector<std::string_view>& Words() {
  static const std::vector<std::string_view> words = {
      "f32",           "f64",      "f16",        "bf16",       "i8",         "i16",           "i32",
      "i64",           "i4",       "u1",         "u4",         "u8",         "u16",           "u32",
      "u64",           "boolean",  "string",     "f8e4m3",     "f8e5m2",     "true",          "false",
      "dynamic",       "shape",    "list",       "dense",      "integers",   "scalars",       "strings",
      "logicals",      "explicit", "same_upper", "same_lower", "valid",      "floor",         "ceil",
      "numpy",         "none",     "pdpd",       "constant",   "reflect",    "edge",          "symmetric",
      "mean",          "max",      "min",        "sum",        "prod",       "nearest",       "linear",
      "cubic",         "scales",   "sizes",      "half_pixel", "asymmetric", "align_corners", "add",
      "bidirectional", "forward",  "reverse",    "replicate",  "ignore"};
  return words;
}

// Replaces `opset1.Relu` by another operation of any set, or only its set. Returns false if the text has no
// operation.
bool ChangeOperation(Tokens& tokens, Choices& choices) {
  std::vector<size_t> dots;
  for (size_t i = 1; i + 1 < tokens.size(); ++i)
    if (tokens[i].Is(".") && tokens[i - 1].kind == TokenKind::kName && tokens[i + 1].kind == TokenKind::kName)
      dots.push_back(i);
  if (dots.empty()) return false;
  const size_t at = choices.Pick(dots);
  const OperationName& name = choices.Pick(OperationNames());
  if (!choices.OneIn(4)) tokens[at + 1].text = name.name;
  tokens[at - 1].text = name.set;
  return true;
}

// Makes one edit. Returns false if the text has no target for it.
bool MakeEdit(Tokens& tokens, Choices& choices) {
  constexpr size_t kOperationEditOneIn = 6;
  if (choices.OneIn(kOperationEditOneIn) && ChangeOperation(tokens, choices)) return true;
  return TextEdits(tokens, choices, Words()).MakeAny();
}

std::string Mutate(std::string_view input, Mutation& mutation) {
  return EditText(input, kComment, mutation.choices, MakeEdit);
}

std::string Cross(std::string_view first, std::string_view second, Mutation& mutation) {
  return SpliceTexts(first, second, kComment, Words(), mutation.choices);
}

}  // namespace

const Mutator kGraphTextMutator = {Mutate, Cross};

}  // namespace nnefc::fuzz
