#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/plugin/plugins.h"

namespace nnefc::explain {

// The contents of an operation's page in `explain`.
struct OperationPage {
  std::string name;
  std::string extension;    // the declaring extension; empty for a standard operation
  std::string section;      // "R 4.3.1", or the extension
  std::string comment;      // library comment; only for operations of an extension
  std::string summary;      // one sentence; only for standard operations
  std::string signature;    // the library's declaration, with the body of a compound
  std::string provisional;  // the signature in the other dialect, if it differs
  std::string formula;      // only for primitives
  std::string example;      // a document; empty for plug-ins
  // A parameter of a standard operation and its meaning, in declaration order.
  struct Parameter {
    std::string name;
    std::string text;
  };
  std::vector<Parameter> parameters = {};
};

// Returns the page of an operation of the standard or of an extension, or nothing if there is none.
std::optional<OperationPage> FindOperationPage(std::string_view name);
// Returns the page of a fragment in a plug-in's library, or nothing if there is none.
std::optional<OperationPage> FindPluginPage(std::string_view name, const plugin::Plugins& plugins);
// Returns the comment at the start of the library of control flow, without comment marks.
std::string ControlFlowComment();
// Returns the names of all operations that have a page.
std::vector<std::string> PagedOperations();

// An operation that an extension's library declares. The list is in declaration order.
struct ExtensionOperation {
  std::string name;
  std::string_view extension;
};
std::vector<ExtensionOperation> ExtensionOperations();

}  // namespace nnefc::explain
