#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/plugin/plugins.h"

namespace nnefc::explain {

// What `explain` tells of an operation beside its signature.
struct OperationPage {
  std::string name;
  std::string extension;    // that declares it; empty for a standard operation
  std::string section;      // "R 4.3.1", or the extension
  std::string comment;      // of the library, of operations of an extension
  std::string summary;      // one sentence, of a standard operation
  std::string signature;    // as the library declares it, with the body of a compound
  std::string provisional;  // the same in the other dialect, if it is another there
  std::string formula;      // of a primitive
  std::string example;      // a document; empty of plug-ins'
  // The parameters of a standard operation in their order, with what each means.
  struct Parameter {
    std::string name;
    std::string text;
  };
  std::vector<Parameter> parameters = {};
};

// The page of an operation of the standard or of an extension.
std::optional<OperationPage> FindOperationPage(std::string_view name);
// The page of a fragment in a library of a plug-in.
std::optional<OperationPage> FindPluginPage(std::string_view name, const plugin::Plugins& plugins);
// The names of all that have a page.
std::vector<std::string> PagedOperations();

// What libraries of extensions declare, in their order.
struct ExtensionOperation {
  std::string name;
  std::string_view extension;
};
std::vector<ExtensionOperation> ExtensionOperations();

}  // namespace nnefc::explain
