#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::api {

// The arguments for which OpenVINO IR has no form of an operation, and the difference to OpenVINO's
// operations.
struct MissingForm {
  std::string_view when;  // empty: always
  std::string_view reason;
};

// Returns nothing for an operation that is always lowered.
std::optional<MissingForm> FindMissingForm(std::string_view operation);

// An operation of NNEF documents.
struct DocumentOperation {
  std::string name;
  std::string section;  // "R 4.3.1"; the name of the extension that declares it
  std::optional<MissingForm> missing_form;
};

// Returns the operations of the ratified standard, then those of extensions, without those of plug-ins.
std::vector<DocumentOperation> DocumentOperations();

// A version of an OpenVINO operation.
struct OpsetOperation {
  std::string set;
  std::string name;
  bool has_kernel = false;  // false: the engine runs it
};

// Returns the operations of OpenVINO's sets.
std::vector<OpsetOperation> OpsetOperations();

}  // namespace nnefc::api
