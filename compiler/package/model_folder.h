#pragma once

#include <string>
#include <string_view>

#include "compiler/support/error_or.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::package {

// A writer of a model's files into an existing folder. It never writes outside the folder: a label that
// leaves the folder and a symbolic link on the path are errors that name them. All writers of models use it.
class ModelFolder {
 public:
  explicit ModelFolder(std::string path) : path_(std::move(path)) {}

  // Writes the tensor file of a variable and creates the folders in its label.
  ErrorOr<Success> WriteVariable(std::string_view label, const TensorValue& value) const;
  // Renames the tensor file of a variable, and its variants such as `w.dat.int8`, to those of another label.
  // Returns false if there is none. It is an error if a file of the new label exists.
  ErrorOr<bool> RenameVariable(std::string_view label, std::string_view new_label) const;
  // Writes a text: kGraphFile or kQuantizationFile.
  ErrorOr<Success> WriteText(std::string_view name, std::string_view text) const;

 private:
  // Creates the parent folders of a file inside the model and returns its path.
  ErrorOr<std::string> MakePath(std::string_view inside) const;

  std::string path_;
};

}  // namespace nnefc::package
