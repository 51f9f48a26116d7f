#pragma once

#include <string>
#include <string_view>

#include "compiler/support/error_or.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// Writes the files of a model into a folder that exists. Whatever labels the document has and
// whatever the folder contains, nothing outside of the folder is written: a label that leads out
// and a symbolic link on the way are errors that name them. Every writer of a model uses it.
class ModelFolder {
 public:
  explicit ModelFolder(std::string path) : path_(std::move(path)) {}

  // Writes the tensor file of a variable, and makes the folders that its label names.
  ErrorOr<Success> WriteVariable(std::string_view label, const TensorValue& value) const;
  // Writes a text: kGraphFile or kQuantizationFile.
  ErrorOr<Success> WriteText(std::string_view name, std::string_view text) const;

 private:
  // The path of a file of the model whose folders were made.
  ErrorOr<std::string> MakePath(std::string_view inside) const;

  std::string path_;
};

}  // namespace nnefc
