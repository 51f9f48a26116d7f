// Conversions between attributes of nodes and Python objects.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "tools/api/internals.h"
#include "tools/python/binding/arrays.h"
#include "tools/python/binding/report.h"
#include "tools/python/binding/transform.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using ir::Attribute;

bool IsNumber(nb::handle value) {
  return PyLong_Check(value.ptr()) != 0 || PyFloat_Check(value.ptr()) != 0;
}

// Returns the text of an object for messages.
std::string Shown(nb::handle value) {
  return nb::cast<std::string>(nb::str(value));
}

int64_t ToInteger(nb::handle value) {
  int overflows = 0;
  const int64_t integer = PyLong_AsLongLongAndOverflow(value.ptr(), &overflows);
  if (overflows != 0) throw transform::Error("{} is not an attribute; integers have 64 bits", Shown(value));
  return integer;
}

// The representation of a dictionary, and of None in lists: a tuple that starts with this text.
constexpr char kMapping[] = "{}";

Attribute ToMapping(const nb::dict& dict) {
  ir::AttributeList list{.items = {Attribute(std::string(kMapping))}, .is_tuple = true};
  for (const auto& [key, value] : dict) {
    if (!nb::isinstance<nb::str>(key))
      throw transform::Error("{} is not a key of an attribute; expected texts", Shown(key));
    ir::AttributeList pair{.items = {Attribute(nb::cast<std::string>(key)), ToAttribute(value, nullptr)},
                           .is_tuple = true};
    list.items.emplace_back(std::move(pair));
  }
  return list;
}

bool IsMapping(const ir::AttributeList& list) {
  const std::string* first = list.items.empty() ? nullptr : list.items.front().get<std::string>();
  return list.is_tuple && first != nullptr && *first == kMapping;
}

nb::object ToMappingObject(const ir::AttributeList& list) {
  nb::dict dict;
  for (size_t i = 1; i < list.items.size(); ++i) {
    const auto* pair = list.items[i].get<ir::AttributeList>();
    if (pair == nullptr) return nb::none();
    dict[ToObject(pair->items[0])] = ToObject(pair->items[1]);
  }
  return dict;
}

// Returns the shape with these extents, of which None and -1 are unknown; nothing if an item is no extent.
std::optional<ir::PartialShape> ToShape(const std::vector<nb::object>& extents) {
  std::vector<ir::Dim> dims;
  dims.reserve(extents.size());
  for (const nb::object& extent : extents) {
    if (!extent.is_none() && PyLong_Check(extent.ptr()) == 0) return std::nullopt;
    const int64_t number = extent.is_none() ? -1 : ToInteger(extent);
    if (number < -1) return std::nullopt;
    dims.push_back(number == -1 ? ir::Dim() : ir::Dim(number));
  }
  return ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims));
}

// Packs lists with items of one kind.
Attribute ToListAttribute(nb::handle value, const ir::AttributeInfo* info) {
  std::vector<nb::object> items;
  for (nb::handle item : value) items.push_back(nb::borrow(item));
  if (info != nullptr && info->kind == ir::AttributeKind::kShape) {
    if (std::optional<ir::PartialShape> shape = ToShape(items)) return std::move(*shape);
    throw transform::Error("`{}` is not a shape; expected extents, where None and -1 are unknown",
                           info->name);
  }
  const auto all = [&](auto holds) {
    return !items.empty() && std::all_of(items.begin(), items.end(), holds);
  };
  if (all([](const nb::object& item) { return PyBool_Check(item.ptr()) != 0; }))
    return nb::cast<std::vector<bool>>(nb::list(value));
  const bool wants_doubles = info != nullptr && info->kind == ir::AttributeKind::kDoubles;
  if (!wants_doubles && all([](const nb::object& item) { return PyLong_Check(item.ptr()) != 0; })) {
    Attribute::Integers integers;
    for (const nb::object& item : items) integers.push_back(ToInteger(item));
    return integers;
  }
  if (all([](const nb::object& item) { return IsNumber(item); }))
    return nb::cast<Attribute::Scalars>(nb::list(value));
  if (all([](const nb::object& item) { return nb::isinstance<nb::str>(item); }))
    return nb::cast<Attribute::Strings>(nb::list(value));
  ir::AttributeList list{.items = {}, .is_tuple = nb::isinstance<nb::tuple>(value)};
  for (const nb::object& item : items) list.items.push_back(ToAttribute(item, nullptr));
  return list;
}

// Converts a number, to the kind in the operation's row if known.
Attribute ToNumberAttribute(nb::handle value, const ir::AttributeInfo* info) {
  const auto kind = info != nullptr ? std::optional(info->kind) : std::nullopt;
  if (kind == ir::AttributeKind::kBool || PyBool_Check(value.ptr()) != 0)
    return nb::cast<bool>(nb::bool_(value));
  if (kind == ir::AttributeKind::kDouble || PyFloat_Check(value.ptr()) != 0) return nb::cast<double>(value);
  return ToInteger(value);
}

}  // namespace

nb::object ToObject(const Attribute& attribute) {
  const auto convert = [](const auto& held) -> nb::object {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Held, ir::AttributeList>) {
      if (IsMapping(held)) return ToMappingObject(held);
      nb::list items;
      for (const Attribute& item : held.items) items.append(ToObject(item));
      return held.is_tuple ? nb::object(nb::tuple(items)) : nb::object(items);
    } else if constexpr (std::is_same_v<Held, ElementType>) {
      return nb::cast(std::string(Name(held)));
    } else if constexpr (std::is_same_v<Held, ir::Boxed<Attribute::Logicals>>) {
      return nb::cast(held.get());
    } else if constexpr (std::is_same_v<Held, ir::Boxed<ir::PartialShape>>) {
      return nb::cast(ToString(held.get()));
    } else if constexpr (std::is_same_v<Held, ir::Boxed<TensorValue>>) {
      return ToArray(api::ToTensor(held.get()), Access::kReadOnly);
    } else if constexpr (std::is_same_v<Held, std::string>) {
      return ToText(held);
    } else {
      return nb::cast(held);
    }
  };
  return std::visit(convert, attribute.value());
}

nb::dict ToDict(const ir::AttributeMap& attributes) {
  nb::dict dict;
  for (const auto& [name, value] : attributes) dict[name.c_str()] = ToObject(value);
  return dict;
}

Attribute ToAttribute(nb::handle value, const ir::AttributeInfo* info) {
  nb::object plain = nb::borrow(value);
  if (nb::hasattr(value, "tolist")) plain = value.attr("tolist")();  // NumPy objects
  if (nb::isinstance<nb::str>(plain)) {
    auto text = nb::cast<std::string>(plain);
    const bool is_type = info != nullptr && info->kind == ir::AttributeKind::kType;
    if (const auto type = is_type ? ParseElementType(text) : std::nullopt) return *type;
    return text;
  }
  if (IsNumber(plain)) return ToNumberAttribute(plain, info);
  if (nb::isinstance<nb::list>(plain) || nb::isinstance<nb::tuple>(plain)) {
    return ToListAttribute(plain, info);
  }
  if (nb::isinstance<nb::dict>(plain)) return ToMapping(nb::borrow<nb::dict>(plain));
  if (plain.is_none())
    return ir::AttributeList{.items = {Attribute(std::string(kMapping)), Attribute(int64_t{0})},
                             .is_tuple = true};
  const std::string type = nb::cast<std::string>(nb::str(value.type().attr("__name__")));
  throw transform::Error(
      "a value of `{}` is not an attribute; expected numbers, texts, lists or dictionaries of them", type);
}

}  // namespace nnefc::python
