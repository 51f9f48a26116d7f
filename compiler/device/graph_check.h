#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/device/profile.h"
#include "compiler/ir/graph.h"
#include "compiler/support/context.h"

namespace nnefc::device {

// Checks of the operations and tensors of a graph against a profile.
struct GraphCheck {
  const Profile& profile;
  Emitter& emitter;
  // Returns the advice for an operation absent in the profile: "`nnefc expand --lower sqr` ..", or nothing.
  std::function<std::string(std::string_view operation)> advice;
  // True if the extents of the graph stand for those of symbols; then they are not checked.
  bool is_trial = false;

  void Check(const ir::Graph& graph) const;
};

// Returns true if a node and its tensors, without its bodies, satisfy a profile.
bool IsAccepted(const Profile& profile, const ir::Graph& graph, const ir::Node& node);
// Returns the names of the attributes of a node whose values a profile forbids.
std::vector<std::string> ForbiddenAttributes(const Profile& profile, const ir::Node& node);

// Returns true for a node that the device executes: not an external, a constant, a variable or a result.
bool IsExecuted(const ir::Node& node);

// Returns the largest number of bytes of the tensors that a graph needs at one time. Its operations run in
// the order of the document. A tensor is stored from the operation that computes it, an input from the start,
// to the last operation that reads it, a result of the graph to the end. Weights and constants do not count.
// Nothing if an extent is unknown or the number exceeds 63 bits.
std::optional<int64_t> ActivationBytes(const ir::Graph& graph, int64_t scalar_bits);

// Returns the bytes of a tensor whose items have these bits; nothing if an extent is unknown or the number
// exceeds 63 bits.
std::optional<int64_t> TensorBytes(const ir::PartialShape& shape, int64_t bits);

}  // namespace nnefc::device
