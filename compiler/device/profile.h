#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/support/text/json_value.h"

namespace nnefc::device {

// An entry of a profile: its JSON pointer (RFC 6901), such as `/operations/conv/kernel`, and its source
// range.
struct ProfileEntry {
  std::string pointer;
  SourceRange range;
};

// The allowed values of an attribute, a rank or an extent: an alternative is a value, a list
// of values, or a range.
struct AllowedValues {
  struct Range {
    std::optional<double> min, max;  // inclusive; none: unbounded
  };
  using Alternative = std::variant<JsonValue, Range>;

  ProfileEntry entry;
  std::vector<Alternative> alternatives;

  bool AllowsNumber(double number) const;
};
// Returns the alternatives as text: "`'constant'`, `'ignore'`", "1 to 2", "[] or 0 to 3".
std::string Describe(const AllowedValues& allowed);

// A list of allowed names.
struct AllowedNames {
  ProfileEntry entry;
  std::vector<std::string> names;

  bool Allows(std::string_view name) const;
};
// Returns the names as text: "`scalar` and `integer`"; "nothing" for an empty list.
std::string Describe(const AllowedNames& allowed);

// An upper bound on a number, such as bytes.
struct Limit {
  ProfileEntry entry;
  int64_t max = 0;
};

// The largest extents of a tensor: one for all axes, or one for each of the first axes.
struct MaxExtents {
  ProfileEntry entry;
  std::vector<int64_t> extents;
  bool is_uniform = false;  // `extents` has one item for all axes

  // Returns the limit of an axis; nothing if it has none.
  std::optional<int64_t> Of(size_t axis) const;
};

// The restrictions of a tensor. An absent one allows everything.
struct TensorLimits {
  std::optional<AllowedNames> types;  // `scalar`, `integer`, `logical`, `string`
  std::optional<AllowedValues> ranks;
  std::optional<MaxExtents> max_extents;

  bool limits_extents() const { return max_extents.has_value(); }
};

// The restrictions of an allowed operation.
struct OperationLimits {
  TensorLimits results;
  std::map<std::string, TensorLimits, std::less<>> inputs;
  std::map<std::string, AllowedValues, std::less<>> attributes;
  std::optional<AllowedValues> kernel;  // the spatial extents of the filter
};

// A list of allowed operations.
struct AllowedOperations {
  ProfileEntry entry;
  std::map<std::string, OperationLimits, std::less<>> by_name;
};

// The restrictions of a device. An absent member allows everything.
struct Profile {
  std::string name;
  std::optional<ProfileEntry> ratified_only;
  std::optional<ProfileEntry> no_fragments;
  std::optional<AllowedNames> extensions;
  std::optional<AllowedOperations> operations;         // standard ones and those of nnefc's extensions
  std::optional<AllowedOperations> custom_operations;  // declared by documents without a body
  TensorLimits tensors;                                // restrictions for every tensor
  std::optional<AllowedNames> weight_types;            // types of stored items: `f16`, `i8`
  std::optional<Limit> max_operations;
  std::optional<Limit> max_weight_bytes;
  std::optional<Limit> max_weight_bytes_per_tensor;
  std::optional<Limit> max_activation_bytes;
  int64_t scalar_bits = 32;  // the bits that the device stores for an item of `scalar` tensors
};

}  // namespace nnefc::device
