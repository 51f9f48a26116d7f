// The reader of device profiles.

#include "compiler/device/read_profile.h"

#include <cmath>
#include <functional>

#include "compiler/device/rules.h"
#include "compiler/driver/rules.h"
#include "compiler/ir/op_registry.h"
#include "compiler/support/diagnostics/suggest.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::device {
namespace {

// The bits of the widest items of tensor files and of a device's scalars.
constexpr int64_t kMaxBits = 64;

// Returns a pointer with one more key (RFC 6901).
std::string Below(const std::string& pointer, std::string_view key) {
  std::string escaped;
  for (char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return fmt::format("{}/{}", pointer, escaped);
}

bool IsTensorType(std::string_view name) {
  constexpr std::string_view kTypes[] = {"scalar", "integer", "logical", "string"};
  return llvm::is_contained(kTypes, name);
}

// Returns true for `boolean`, and for a letter f, i or u and 1 to 64 bits.
bool IsStoredType(std::string_view name) {
  if (name == "boolean") return true;
  if (name.size() < 2 || name.size() > 3 || std::string_view("fiu").find(name[0]) == std::string_view::npos)
    return false;
  int64_t bits = 0;
  for (char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') return false;
    bits = bits * 10 + (digit - '0');
  }
  return name[1] != '0' && bits <= kMaxBits;
}

class ProfileReader {
 public:
  explicit ProfileReader(Emitter& emitter) : emitter_(emitter) {}

  std::optional<Profile> Read(const JsonValue& json) {
    const Keys keys = {
        {"$schema", [&](const Member& member) { (void)Text(member); }},
        {"name", [&](const Member& member) { profile_.name = Text(member); }},
        {"dialect", [&](const Member& member) { ReadDialect(member); }},
        {"fragments", [&](const Member& member) { ReadFragments(member); }},
        {"extensions",
         [&](const Member& member) { profile_.extensions = Names(member, "", nullptr, "extensions"); }},
        {"operations", [&](const Member& member) { profile_.operations = Operations(member, true); }},
        {"custom_operations",
         [&](const Member& member) { profile_.custom_operations = Operations(member, false); }},
        {"tensors", [&](const Member& member) { profile_.tensors = Tensor(member, ""); }},
        {"weight_types",
         [&](const Member& member) {
           profile_.weight_types = Names(member, "", IsStoredType,
                                         "types of stored items: `boolean`, or `f`, `i` or `u` with 1 to 64 "
                                         "bits such as `f16` and `i8`");
         }},
        {"scalar_bits", [&](const Member& member) { ReadScalarBits(member); }},
        {"limits", [&](const Member& member) { ReadLimits(member); }},
    };
    ReadMembers(json, "", "the profile", keys);
    if (!ok_) return std::nullopt;
    return std::move(profile_);
  }

 private:
  using Member = JsonValue::Member;
  using Keys = std::vector<std::pair<std::string_view, std::function<void(const Member&)>>>;

  template <typename... Args>
  void Wrong(SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    ok_ = false;
    emitter_.Emit(kProfileValue, range, "{}", fmt::format(format, std::forward<Args>(args)...));
  }

  // Calls the reader of each member of an object, and reports other keys.
  void ReadMembers(const JsonValue& json, const std::string& pointer, std::string_view what,
                   const Keys& keys) {
    const auto* members = json.get<JsonValue::Members>();
    if (members == nullptr) return Wrong(json.range, "{} must be an object", what);
    for (const Member& member : *members) {
      const auto known = llvm::find_if(keys, [&](const auto& key) { return key.first == member.key; });
      if (known != keys.end()) {
        known->second(member);
        continue;
      }
      Suggestion meant(member.key);
      std::string all;
      for (const auto& [key, read] : keys) {
        meant.Offer(key);
        all += fmt::format("{}`{}`", all.empty() ? "" : ", ", key);
      }
      ok_ = false;
      emitter_.Emit(
          kProfileKey, member.key_range, "there is no key `{}` in `{}`; {}", member.key,
          pointer.empty() ? "/" : pointer,
          meant.best().empty() ? "there are " + all : fmt::format("did you mean `{}`?", meant.best()));
    }
  }

  std::string Text(const Member& member) {
    const auto* text = member.value.get<std::string>();
    if (text != nullptr) return *text;
    Wrong(member.value.range, "`{}` must be a string", member.key);
    return {};
  }

  // Returns an integer of at least `min`; nothing on errors. A number such as `2.0` is an integer, too, as in
  // JSON schemas.
  std::optional<int64_t> Integer(const JsonValue& value, std::string_view what, int64_t min,
                                 int64_t max = INT64_MAX) {
    std::optional<int64_t> integer;
    if (const auto* whole = value.get<int64_t>()) integer = *whole;
    const auto* number = value.get<double>();
    if (number != nullptr && *number == std::floor(*number) && std::abs(*number) < 0x1p62)
      integer = static_cast<int64_t>(*number);
    if (integer && *integer >= min && *integer <= max) return integer;
    if (max == INT64_MAX) {
      Wrong(value.range, "{} must be an integer of at least {}", what, min);
    } else {
      Wrong(value.range, "{} must be an integer from {} to {}", what, min, max);
    }
    return std::nullopt;
  }

  void ReadDialect(const Member& member) {
    const auto* text = member.value.get<std::string>();
    if (text != nullptr && *text == "any") return;
    if (text == nullptr || *text != "ratified")
      return Wrong(member.value.range, "`dialect` must be `ratified` or `any`");
    profile_.ratified_only = {"/dialect", member.value.range};
  }

  void ReadFragments(const Member& member) {
    const auto* allowed = member.value.get<bool>();
    if (allowed == nullptr) return Wrong(member.value.range, "`fragments` must be `true` or `false`");
    if (!*allowed) profile_.no_fragments = {"/fragments", member.value.range};
  }

  void ReadScalarBits(const Member& member) {
    if (const auto bits = Integer(member.value, "`scalar_bits`", 1, kMaxBits)) profile_.scalar_bits = *bits;
  }

  // Reads a list of names that satisfy `is_name`, or of any that are not empty.
  AllowedNames Names(const Member& member, const std::string& pointer, bool (*is_name)(std::string_view),
                     std::string_view what) {
    AllowedNames names{.entry = {Below(pointer, member.key), member.key_range}, .names = {}};
    const auto* items = member.value.get<JsonValue::Items>();
    if (items == nullptr) {
      Wrong(member.value.range, "`{}` must be a list of {}", member.key, what);
      return names;
    }
    for (const JsonValue& item : *items) {
      const auto* name = item.get<std::string>();
      if (name != nullptr && !name->empty() && (is_name == nullptr || is_name(*name))) {
        names.names.push_back(*name);
      } else {
        Wrong(item.range, "`{}` must be a list of {}", member.key, what);
      }
    }
    return names;
  }

  std::optional<AllowedValues::Range> ReadRange(const JsonValue& json, const std::string& pointer) {
    AllowedValues::Range range;
    const auto number = [&](std::optional<double>& bound) {
      return [this, &bound](const Member& member) {
        if (const auto* integer = member.value.get<int64_t>()) {
          bound = static_cast<double>(*integer);
        } else if (const auto* scalar = member.value.get<double>()) {
          bound = *scalar;
        } else {
          Wrong(member.value.range, "`{}` must be a number", member.key);
        }
      };
    };
    ReadMembers(json, pointer, "a range", {{"min", number(range.min)}, {"max", number(range.max)}});
    const auto* members = json.get<JsonValue::Members>();
    if (members != nullptr && members->empty()) Wrong(json.range, "a range must have `min`, `max` or both");
    return range;
  }

  // Returns whether a JSON value can be that of an attribute: not null, and no object inside a list.
  static bool IsAttribute(const JsonValue& value) {
    if (value.get<std::nullptr_t>() != nullptr || value.get<JsonValue::Members>() != nullptr) return false;
    const auto* items = value.get<JsonValue::Items>();
    return items == nullptr || llvm::all_of(*items, IsAttribute);
  }

  // Reads a range, or a list of values and ranges. If `only_numbers`, values are integers.
  AllowedValues Values(const Member& member, const std::string& pointer, bool only_numbers) {
    AllowedValues allowed{.entry = {Below(pointer, member.key), member.key_range}, .alternatives = {}};
    if (member.value.get<JsonValue::Members>() != nullptr) {
      if (const auto range = ReadRange(member.value, allowed.entry.pointer))
        allowed.alternatives.emplace_back(*range);
      return allowed;
    }
    const auto* items = member.value.get<JsonValue::Items>();
    if (items == nullptr) {
      Wrong(member.value.range,
            "`{}` must be a list of allowed values, or a range such as `{{\"min\": 1, \"max\": 2}}`",
            member.key);
      return allowed;
    }
    for (const JsonValue& item : *items) {
      if (item.get<JsonValue::Members>() != nullptr) {
        if (const auto range = ReadRange(item, allowed.entry.pointer))
          allowed.alternatives.emplace_back(*range);
      } else if (only_numbers) {
        if (Integer(item, fmt::format("a value of `{}`", member.key), 0))
          allowed.alternatives.emplace_back(item);
      } else if (IsAttribute(item)) {
        allowed.alternatives.emplace_back(item);
      } else {
        Wrong(item.range, "a value of `{}` must be a logical value, a number, a string or a list of these",
              member.key);
      }
    }
    return allowed;
  }

  MaxExtents Extents(const Member& member, const std::string& pointer) {
    MaxExtents extents{.entry = {Below(pointer, member.key), member.key_range}, .extents = {}};
    if (const auto* items = member.value.get<JsonValue::Items>()) {
      for (const JsonValue& item : *items) {
        if (const auto extent = Integer(item, "an extent", 0)) extents.extents.push_back(*extent);
      }
      return extents;
    }
    extents.is_uniform = true;
    extents.extents.push_back(
        Integer(member.value, "`max_extents` without a list, one for each axis,", 0).value_or(0));
    return extents;
  }

  // Returns the readers of the keys of `limits`. It must outlive them.
  Keys TensorKeys(TensorLimits& limits, const std::string& pointer) {
    return {
        {"types",
         [this, &limits, pointer](const Member& member) {
           limits.types = Names(member, pointer, IsTensorType,
                                "types of tensors: `scalar`, `integer`, `logical` and `string`");
         }},
        {"ranks",
         [this, &limits, pointer](const Member& member) { limits.ranks = Values(member, pointer, true); }},
        {"max_extents",
         [this, &limits, pointer](const Member& member) { limits.max_extents = Extents(member, pointer); }},
    };
  }
  TensorLimits Tensor(const Member& member, const std::string& outer) {
    TensorLimits limits;
    const std::string pointer = Below(outer, member.key);
    ReadMembers(member.value, pointer, fmt::format("`{}`", member.key), TensorKeys(limits, pointer));
    return limits;
  }

  // Reports a name that the operation does not have. Returns true if it has it.
  bool RequireName(const Member& member, std::string_view what, const std::vector<std::string_view>& names) {
    if (llvm::is_contained(names, member.key)) return true;
    Suggestion meant(member.key);
    for (std::string_view name : names) meant.Offer(name);
    ok_ = false;
    emitter_.Emit(kProfileName, member.key_range, "there is no {} `{}`{}", what, member.key,
                  meant.best().empty() ? "" : fmt::format("; did you mean `{}`?", meant.best()));
    return false;
  }

  // Reads the members of an object by name. `names`: the known ones; null: any.
  template <typename Use>
  void ReadNamed(const Member& member, std::string_view what, const std::vector<std::string_view>* names,
                 Use use) {
    const auto* members = member.value.get<JsonValue::Members>();
    if (members == nullptr) return Wrong(member.value.range, "`{}` must be an object", member.key);
    for (const Member& each : *members) {
      if (names == nullptr || RequireName(each, what, *names)) use(each);
    }
  }

  // Reads an entry of an operation. `info`: its row, null for a custom operation.
  OperationLimits Operation(const Member& member, const std::string& outer, const ir::OpInfo* info) {
    OperationLimits limits;
    const std::string pointer = Below(outer, member.key);
    std::vector<std::string_view> inputs, attributes;
    if (info != nullptr) {
      for (const ir::InputInfo& input : info->inputs) inputs.push_back(input.name);
      for (const ir::AttributeInfo& attribute : info->attributes) attributes.push_back(attribute.name);
    }
    Keys keys = TensorKeys(limits.results, pointer);
    keys.emplace_back("inputs", [&](const Member& all) {
      ReadNamed(
          all, fmt::format("input of `{}`", member.key), info == nullptr ? nullptr : &inputs,
          [&](const Member& input) { limits.inputs[input.key] = Tensor(input, Below(pointer, all.key)); });
    });
    keys.emplace_back("attributes", [&](const Member& all) {
      ReadNamed(all, fmt::format("attribute of `{}`", member.key), info == nullptr ? nullptr : &attributes,
                [&](const Member& attribute) {
                  limits.attributes[attribute.key] = Values(attribute, Below(pointer, all.key), false);
                });
    });
    if (info != nullptr && HasFilter(*info)) {
      keys.emplace_back("kernel",
                        [&](const Member& kernel) { limits.kernel = Values(kernel, pointer, true); });
    }
    ReadMembers(member.value, pointer, fmt::format("`{}`", member.key), keys);
    return limits;
  }
  static bool HasFilter(const ir::OpInfo& info) {
    return info.window == ir::WindowKind::kFilter || info.window == ir::WindowKind::kScatter;
  }

  AllowedOperations Operations(const Member& member, bool is_standard) {
    AllowedOperations allowed;
    allowed.entry = {Below("", member.key), member.key_range};
    const ir::OpRegistry& registry = ir::StandardOps();
    std::vector<std::string_view> known;
    for (size_t i = 0; is_standard && i < registry.size(); ++i) {
      const ir::OpInfo& info = registry.Info(ir::OpId(static_cast<int32_t>(i)));
      if (info.set == ir::kNnefSet) known.push_back(info.name);
    }
    const auto read = [&](const Member& each) {
      const ir::OpId op = registry.Find(ir::kNnefSet, each.key);
      if (!is_standard && op.valid()) {
        Wrong(each.key_range, "`{}` is an operation of nnefc; list it in `operations`", each.key);
        return;
      }
      allowed.by_name[each.key] =
          Operation(each, allowed.entry.pointer, is_standard ? &registry.Info(op) : nullptr);
    };
    ReadNamed(member, "operation", is_standard ? &known : nullptr, read);
    return allowed;
  }

  void ReadLimits(const Member& limits) {
    const auto limit = [&](std::optional<Limit>& made) {
      return [this, &made](const Member& member) {
        const std::string what = fmt::format("`{}`", member.key);
        if (const auto max = Integer(member.value, what, 0))
          made = Limit{{Below("/limits", member.key), member.key_range}, *max};
      };
    };
    ReadMembers(limits.value, "/limits", "`limits`",
                {{"operations", limit(profile_.max_operations)},
                 {"weight_bytes", limit(profile_.max_weight_bytes)},
                 {"weight_bytes_per_tensor", limit(profile_.max_weight_bytes_per_tensor)},
                 {"activation_bytes", limit(profile_.max_activation_bytes)}});
  }

  Emitter& emitter_;
  Profile profile_;
  bool ok_ = true;
};

}  // namespace

std::optional<FileId> OpenProfile(const std::string& path, Context& context) {
  ErrorOr<FileId> file = context.sources.Open(path);
  if (file) return *file;
  context.emitter.Emit(driver::kFileUnreadable, {}, "{}", file.error().message);
  return std::nullopt;
}

std::optional<Profile> ReadProfileText(FileId file, Context& context) {
  const JsonFormat format{.syntax = &kProfileSyntax,
                          .repetition = &kProfileTwice,
                          .holds = "one object, such as `{\"operations\": {\"conv\": {}}}`",
                          .max_bytes = kMaxSettingsBytes};
  const std::optional<JsonValue> json =
      ReadJson(context.sources.Text(file), file, 0, format, context.emitter);
  if (!json) return std::nullopt;
  return ProfileReader(context.emitter).Read(*json);
}

}  // namespace nnefc::device
