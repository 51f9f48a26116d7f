// Assignment of tensors to a model's inputs, by name.

#include "tools/api/values/bind_inputs.h"

#include "compiler/driver/rules.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::api {

const runtime::engine::Port* FindPort(const std::vector<runtime::engine::Port>& ports,
                                      std::string_view name) {
  const auto exact =
      llvm::find_if(ports, [&](const runtime::engine::Port& port) { return port.name == name; });
  if (exact != ports.end()) return &*exact;
  const auto called = [&](const runtime::engine::Port& port) { return port.IsCalled(name); };
  return llvm::count_if(ports, called) == 1 ? &*llvm::find_if(ports, called) : nullptr;
}

std::string NoInput(const std::vector<runtime::engine::Port>& ports, std::string_view name) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const runtime::engine::Port& port : ports) names.push_back(fmt::format("`{}`", port.name));
  return fmt::format("the graph has no input `{}`; it has {}", name,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

namespace {

// Returns "; convert them (`x.astype(np.float32)` in NumPy)", if NumPy has the type.
std::string TypeAdvice(ElementType type) {
  std::string_view name;
  switch (type) {
    case ElementType::kBoolean:
      name = "bool_";
      break;
    case ElementType::kF16:
      name = "float16";
      break;
    case ElementType::kF32:
      name = "float32";
      break;
    case ElementType::kF64:
      name = "float64";
      break;
    case ElementType::kI8:
      name = "int8";
      break;
    case ElementType::kI16:
      name = "int16";
      break;
    case ElementType::kI32:
      name = "int32";
      break;
    case ElementType::kI64:
      name = "int64";
      break;
    case ElementType::kU8:
      name = "uint8";
      break;
    case ElementType::kU16:
      name = "uint16";
      break;
    case ElementType::kU32:
      name = "uint32";
      break;
    case ElementType::kU64:
      name = "uint64";
      break;
    default:
      return "";
  }
  return fmt::format("; convert them (`x.astype(np.{})` in NumPy)", name);
}

}  // namespace

std::optional<TensorValue> FitType(const TensorValue& value, const runtime::engine::Port& port,
                                   Emitter& emitter) {
  if (port.type == ElementType::kDynamic || value.type() == port.type) return value;
  const bool same_kind =
      (IsFloat(value.type()) && IsFloat(port.type)) || (IsInteger(value.type()) && IsInteger(port.type));
  if (same_kind) return value.ConvertedTo(port.type);
  emitter.Emit(driver::kInputType, {}, "the data of input `{}` are of type {}; expected {}{}", port.name,
               Name(value.type()), Name(port.type), TypeAdvice(port.type));
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

std::string ShapeAdvice(const runtime::engine::Port& port, const Shape& shape, bool may_reshape) {
  const std::optional<Shape> expected = port.shape.extents();
  if (!expected) return "";
  const llvm::ArrayRef<int64_t> wanted(*expected);
  const llvm::ArrayRef<int64_t> found(shape);
  if (found.size() + 1 == wanted.size() && wanted.front() == 1 && wanted.drop_front() == found)
    return "; put a batch of one before it (`x[None]` in NumPy)";
  if (found.size() != wanted.size()) return "";
  if (found.size() == 4 && *expected == Shape{shape[0], shape[3], shape[1], shape[2]} && shape[3] != shape[1])
    return "; the channels come second (`x.transpose(0, 3, 1, 2)` in NumPy)";
  if (!may_reshape || llvm::is_contained(shape, 0)) return "";
  const bool is_batch = found.size() > 1 && wanted.drop_front() == found.drop_front();
  return fmt::format("; `--input-shape {}={}` makes the graph for {}", port.name, fmt::join(shape, ","),
                     is_batch ? "that batch" : "that shape");
}

std::optional<TensorValue> FitInput(const TensorValue& value, const runtime::engine::Port& port,
                                    bool may_reshape, Emitter& emitter) {
  if (FitsShape(port.shape, value.shape())) return FitType(value, port, emitter);
  emitter.Emit(driver::kInputShape, {}, "the data of input `{}` have shape {}; expected {}{}", port.name,
               ToString(value.shape()), ir::ToString(port.shape),
               ShapeAdvice(port, value.shape(), may_reshape));
  return std::nullopt;
}

void InputBinder::Bind(const std::string& name, TensorValue value, std::string_view source) {
  const runtime::engine::Port* port = FindPort(ports_, name);
  if (port == nullptr) {
    emitter_.Emit(driver::kInputUnknown, {}, "{}: {}", source, NoInput(ports_, name));
    return;
  }
  if (auto fit = FitInput(value, *port, may_reshape_, emitter_))
    bound_.try_emplace(port->name, std::move(*fit));
}

std::optional<std::vector<TensorValue>> InputBinder::Finish() {
  std::vector<TensorValue> values;
  for (const runtime::engine::Port& port : ports_) {
    const auto found = bound_.find(port.name);
    if (found != bound_.end()) {
      values.push_back(found->second);
    } else if (!emitter_.has_errors()) {
      emitter_.Emit(driver::kInputMissing, {}, "no data for input `{}` of {}{}", port.name, Name(port.type),
                    ir::ToString(port.shape));
    }
  }
  if (emitter_.has_errors()) return std::nullopt;
  return values;
}

}  // namespace nnefc::api
