#include "tools/api/bind_inputs.h"

#include "compiler/driver/rules.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::api {

const runtime::Port* FindPort(const std::vector<runtime::Port>& ports, std::string_view name) {
  const auto exact = llvm::find_if(ports, [&](const runtime::Port& port) { return port.name == name; });
  if (exact != ports.end()) return &*exact;
  const auto called = [&](const runtime::Port& port) { return port.IsCalled(name); };
  return llvm::count_if(ports, called) == 1 ? &*llvm::find_if(ports, called) : nullptr;
}

std::string NoInput(const std::vector<runtime::Port>& ports, std::string_view name) {
  std::vector<std::string> names;
  for (const runtime::Port& port : ports) names.push_back(fmt::format("`{}`", port.name));
  return fmt::format("the graph has no input `{}`; it has {}", name,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

std::optional<TensorValue> FitType(const TensorValue& value, const runtime::Port& port, Emitter& emitter) {
  if (port.type == ElementType::kDynamic || value.type() == port.type) return value;
  const bool same_kind =
      (IsFloat(value.type()) && IsFloat(port.type)) || (IsInteger(value.type()) && IsInteger(port.type));
  if (same_kind) return value.ConvertedTo(port.type);
  emitter.Emit(kInputType, {}, "the data of input `{}` is of type {}; expected {}", port.name,
               Name(value.type()), Name(port.type));
  return std::nullopt;
}

bool FitsShape(const ir::PartialShape& open, const Shape& shape) {
  if (!open.rank_known()) return true;
  if (open.rank() != static_cast<int64_t>(shape.size())) return false;
  for (int64_t i = 0; i < open.rank(); ++i) {
    if (!open[i].Compatible(ir::Dim(shape[static_cast<size_t>(i)]))) return false;
  }
  return true;
}

void InputBinder::Bind(const std::string& name, TensorValue value, std::string_view source) {
  const runtime::Port* port = FindPort(ports_, name);
  if (port == nullptr) {
    emitter_.Emit(kInputUnknown, {}, "{}: {}", source, NoInput(ports_, name));
    return;
  }
  if (auto fit = FitType(value, *port, emitter_)) bound_.try_emplace(port->name, std::move(*fit));
}

std::optional<std::vector<TensorValue>> InputBinder::Finish() {
  std::vector<TensorValue> values;
  for (const runtime::Port& port : ports_) {
    const auto found = bound_.find(port.name);
    if (found != bound_.end()) {
      values.push_back(found->second);
    } else if (!emitter_.has_errors()) {
      emitter_.Emit(kInputMissing, {}, "no data for input `{}` of {}{}", port.name, Name(port.type),
                    ToString(port.shape));
    }
  }
  if (emitter_.has_errors()) return std::nullopt;
  return values;
}

}  // namespace nnefc::api
