#pragma once

#include <span>
#include <string_view>

namespace nnefc {

// NNEF's equivalent of an operation that PyTorch, ONNX, Keras, JAX, TensorFlow,
// NumPy, Caffe or OpenVINO has. Several rows may have one name, for frameworks
// that compute different functions by it.
struct ForeignOperation {
  // Lower case without `_`, separated by blanks; numbers of dimensions (`2d`)
  // only where the name without them is another operation.
  std::string_view names;
  // NNEF's name of the same function with the same arguments; empty if there is none.
  std::string_view ours;
  // Code that computes the function of the first tensors `x`, `y`, `z`: an
  // expression, or statements of which `y` is the result. `..` stands for an
  // argument of the framework's operation; other names say what they stand for.
  std::string_view formula;
  // What else there is to say, such as a condition or an extension.
  std::string_view note;
  // The frameworks whose operation it is, such as "PyTorch, ONNX"; empty for all that have the name.
  std::string_view frameworks;
  // The parameters whose defaults differ in NNEF: it is the same function only where they are all named.
  std::string_view needs;

  bool is_known() const { return !ours.empty() || !formula.empty(); }
};

// The same function by another name.
constexpr ForeignOperation Renamed(std::string_view names, std::string_view ours) {
  return {names, ours, "", "", "", ""};
}
// The same as Renamed where `needs` are named; `formula` names them.
constexpr ForeignOperation RenamedIf(std::string_view needs, std::string_view names, std::string_view ours,
                                     std::string_view formula, std::string_view note = "",
                                     std::string_view frameworks = "") {
  return {names, ours, formula, note, frameworks, needs};
}
constexpr ForeignOperation Computed(std::string_view names, std::string_view formula,
                                    std::string_view note = "", std::string_view frameworks = "") {
  return {names, "", formula, note, frameworks, ""};
}
constexpr ForeignOperation Missing(std::string_view names, std::string_view note = "",
                                   std::string_view frameworks = "") {
  return {names, "", "", note, frameworks, ""};
}

// The note of a reduction whose framework drops the axes.
inline constexpr std::string_view kKeepsAxes = "which keeps the axes with extent 1";

// The tables, one for each family of operations.
std::span<const ForeignOperation> ForeignArithmetic();
std::span<const ForeignOperation> ForeignActivations();
std::span<const ForeignOperation> ForeignWindows();
std::span<const ForeignOperation> ForeignReductions();
std::span<const ForeignOperation> ForeignShapes();
std::span<const ForeignOperation> ForeignMatrices();
std::span<const ForeignOperation> ForeignOthers();

}  // namespace nnefc
