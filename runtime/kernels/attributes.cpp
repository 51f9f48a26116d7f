#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

int64_t IntOr(const ir::Node& node, std::string_view name, int64_t fallback) {
  const ir::Attribute* attribute = node.attributes().Find(name);
  if (attribute == nullptr) return fallback;
  if (const int64_t* value = attribute->get<int64_t>()) return *value;
  if (const bool* value = attribute->get<bool>()) return *value ? 1 : 0;
  return fallback;
}

double DoubleOr(const ir::Node& node, std::string_view name, double fallback) {
  const ir::Attribute* attribute = node.attributes().Find(name);
  if (attribute == nullptr) return fallback;
  if (const double* value = attribute->get<double>()) return *value;
  if (const int64_t* value = attribute->get<int64_t>()) return static_cast<double>(*value);
  return fallback;
}

bool BoolOr(const ir::Node& node, std::string_view name, bool fallback) {
  const ir::Attribute* attribute = node.attributes().Find(name);
  if (attribute == nullptr) return fallback;
  if (const bool* value = attribute->get<bool>()) return *value;
  if (const int64_t* value = attribute->get<int64_t>()) return *value != 0;
  return fallback;
}

std::string StringOr(const ir::Node& node, std::string_view name, std::string_view fallback) {
  const ir::Attribute* attribute = node.attributes().Find(name);
  if (attribute == nullptr) return std::string(fallback);
  if (const std::string* value = attribute->get<std::string>()) return *value;
  return std::string(fallback);
}

std::vector<int64_t> IntsOr(const ir::Node& node, std::string_view name, size_t count, int64_t fallback) {
  const ir::Attribute* attribute = node.attributes().Find(name);
  if (attribute != nullptr) {
    if (const auto* values = attribute->get<ir::Attribute::Integers>();
        values != nullptr && !values->empty()) {
      return *values;
    }
  }
  return std::vector<int64_t>(count, fallback);
}

std::vector<double> DoublesOr(const ir::Node& node, std::string_view name, size_t count, double fallback) {
  const ir::Attribute* attribute = node.attributes().Find(name);
  if (attribute != nullptr) {
    if (const auto* values = attribute->get<ir::Attribute::Scalars>();
        values != nullptr && !values->empty()) {
      return *values;
    }
    if (const auto* values = attribute->get<ir::Attribute::Integers>();
        values != nullptr && !values->empty()) {
      return {values->begin(), values->end()};
    }
  }
  return std::vector<double>(count, fallback);
}

}  // namespace nnefc::runtime
