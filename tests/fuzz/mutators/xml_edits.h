#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/mutators/choices.h"

namespace nnefc::fuzz {

// Edits of an XML tree of OpenVINO IR. Each makes one change, or returns false if the tree has no target for
// it.
class XmlEdits {
 public:
  XmlEdits(pugi::xml_document& document, Choices& choices);

  // Edits of any XML tree.
  bool ChangeAttribute();
  bool ChangeText();
  bool RepeatNode();
  bool DeleteNode();
  bool MoveNode();
  bool SwapNodes();

  // Edits of layers and of the edges between them.
  bool ChangeOperation();
  bool ChangeElementType();
  // Repeats a layer under a new id, with its incoming edges; one of its users reads the copy.
  bool RepeatLayer();
  // Removes a layer; its readers use its first input.
  bool BypassLayer();
  // Connects an input to another output.
  bool MoveEdge();
  // Replaces the extents of the outputs of a layer, or of all, by unknown ones, which are compatible with any
  // inferred extent.
  bool OpenExtents();
  // Adds or removes a dimension of a Parameter, with its ports.
  bool ChangeRank();
  // Sets the shape of a Const and the corresponding size.
  bool ReshapeConst();
  // Changes a port map or a back edge of a layer with bodies.
  bool ChangePortMap();

  // Adds a layer of another tree to the layers of this one; `added_offset` is the start of its constants.
  bool AddLayer(const pugi::xml_document& other, size_t added_offset);

 private:
  // Collects the elements again, after an edit.
  std::vector<pugi::xml_node> Find(const char* name) const;
  // Returns the edges of the graph of `layer` with the layer on this side.
  std::vector<pugi::xml_node> EdgesOf(pugi::xml_node layer, const char* side) const;
  std::string NewLayerId() const;
  std::string ChangedValue(const std::string& name, const std::string& value);

  Choices& choices_;
  std::vector<pugi::xml_node> elements_;
};

}  // namespace nnefc::fuzz
