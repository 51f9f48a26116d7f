// Mutants of OpenVINO IR: of the XML as a tree, and of the constants.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <sstream>

#include "tests/fuzz/mutators/boundary_numbers.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/mutators/xml_edits.h"

namespace nnefc::fuzz {
namespace {

// The XML, and after a zero byte the constants.
struct Files {
  std::string_view xml;
  std::string constants;
};

Files Split(std::string_view input) {
  const size_t end = std::min(input.find('\0'), input.size());
  return {input.substr(0, end), std::string(input.substr(std::min(end + 1, input.size())))};
}

std::string Print(const pugi::xml_document& document, const std::string& constants) {
  std::ostringstream text;
  document.save(text, "", pugi::format_raw);
  return std::move(text).str() + '\0' + constants;
}

// Sets an aligned item to a number for which kernels and shape functions have special cases.
void ChangeConstant(std::string& constants, Mutation& mutation) {
  Choices& choices = mutation.choices;
  static constexpr auto kScalars =
      std::to_array<float>({0.0F, -0.0F, 1.0F, -1.0F, 0.5F, 1e-45F, std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::max(), 16777216.0F, 2147483648.0F});
  const auto put = [&](const auto& value) {
    if (constants.size() < sizeof value) return;
    const size_t at = choices.Below(constants.size() / sizeof value) * sizeof value;
    std::memcpy(constants.data() + at, &value, sizeof value);
  };
  switch (choices.Below(5)) {
    case 0:
      put(choices.Pick(kScalars));
      break;
    case 1:
      constants.resize(choices.Below(2 * constants.size() + 9));
      break;
    case 2:
      if (!constants.empty()) mutation.mutate_bytes(constants, constants.size() + 8);
      break;
    default:
      put(BoundaryInteger(choices));
  }
}

bool MakeEdit(pugi::xml_document& document, Choices& choices) {
  using Edit = bool (XmlEdits::*)();
  static constexpr Edit kEdits[] = {
      &XmlEdits::ChangeAttribute, &XmlEdits::ChangeAttribute,   &XmlEdits::ChangeAttribute,
      &XmlEdits::ChangeAttribute, &XmlEdits::ChangeText,        &XmlEdits::RepeatNode,
      &XmlEdits::DeleteNode,      &XmlEdits::MoveNode,          &XmlEdits::SwapNodes,
      &XmlEdits::ChangeOperation, &XmlEdits::ChangeElementType, &XmlEdits::RepeatLayer,
      &XmlEdits::RepeatLayer,     &XmlEdits::BypassLayer,       &XmlEdits::MoveEdge,
      &XmlEdits::MoveEdge,        &XmlEdits::OpenExtents,       &XmlEdits::OpenExtents,
      &XmlEdits::ChangeRank,      &XmlEdits::ReshapeConst,      &XmlEdits::ChangePortMap,
      &XmlEdits::ChangePortMap};
  constexpr int kAttempts = 8;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    XmlEdits edits(document, choices);
    if ((edits.*choices.Pick(kEdits))()) return true;
  }
  return false;
}

std::string Mutate(std::string_view input, Mutation& mutation) {
  constexpr size_t kMaxEdits = 3;
  constexpr size_t kConstantsOneIn = 5;
  Choices& choices = mutation.choices;
  Files files = Split(input);
  pugi::xml_document document;
  if (!document.load_buffer(files.xml.data(), files.xml.size())) return "";
  bool changed = false;
  for (size_t edits = 1 + choices.Below(kMaxEdits); edits > 0; --edits) {
    if (choices.OneIn(kConstantsOneIn)) {
      ChangeConstant(files.constants, mutation);
      changed = true;
    } else {
      changed |= MakeEdit(document, choices);
    }
  }
  return changed ? Print(document, files.constants) : "";
}

std::string Cross(std::string_view first, std::string_view second, Mutation& mutation) {
  Files files = Split(first);
  const Files others = Split(second);
  pugi::xml_document document;
  pugi::xml_document other;
  if (!document.load_buffer(files.xml.data(), files.xml.size())) return "";
  if (!other.load_buffer(others.xml.data(), others.xml.size())) return "";
  constexpr size_t kAlignment = 8;
  files.constants.resize((files.constants.size() + kAlignment - 1) / kAlignment * kAlignment);
  if (!XmlEdits(document, mutation.choices).AddLayer(other, files.constants.size())) return "";
  return Print(document, files.constants + others.constants);
}

}  // namespace

const Mutator kOpenVinoMutator = {Mutate, Cross};

}  // namespace nnefc::fuzz
