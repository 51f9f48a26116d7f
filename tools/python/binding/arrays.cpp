// Conversions between NumPy arrays and tensors.

#include "tools/python/binding/arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

constexpr int kBitsOfByte = 8;

std::optional<ElementType> TypeOf(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  const int bytes = dtype.bits / kBitsOfByte;
  switch (static_cast<nb::dlpack::dtype_code>(dtype.code)) {
    case nb::dlpack::dtype_code::Bool:
      return FromNumPy('b', bytes);
    case nb::dlpack::dtype_code::Int:
      return FromNumPy('i', bytes);
    case nb::dlpack::dtype_code::UInt:
      return FromNumPy('u', bytes);
    case nb::dlpack::dtype_code::Float:
      return FromNumPy('f', bytes);
    case nb::dlpack::dtype_code::Bfloat:
      return bytes == 2 ? std::optional(ElementType::kBF16) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<nb::dlpack::dtype> DtypeOf(ElementType type) {
  const std::optional<char> letter = NumPyLetter(type);
  if (!letter) return std::nullopt;
  using Code = nb::dlpack::dtype_code;
  const Code code = *letter == 'b'   ? Code::Bool
                    : *letter == 'i' ? Code::Int
                    : *letter == 'u' ? Code::UInt
                                     : Code::Float;
  return nb::dlpack::dtype{static_cast<uint8_t>(code), static_cast<uint8_t>(BitWidth(type)), 1};
}

std::string NameOfType(nb::handle object) {
  return nb::cast<std::string>(nb::str(object.type().attr("__name__")));
}

std::optional<api::Tensor> Borrow(nb::handle object) {
  Array array;
  if (!nb::try_cast<Array>(object, array)) return std::nullopt;
  const std::optional<ElementType> type = TypeOf(array.dtype());
  if (!type) return std::nullopt;
  std::vector<int64_t> shape;
  for (size_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(static_cast<int64_t>(array.shape(axis)));
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(array.data()), array.nbytes());
  // The last reference may be released on any thread.
  std::shared_ptr<const void> owner(new Array(std::move(array)), [](const void* held) {
    const nb::gil_scoped_acquire gil;
    delete static_cast<const Array*>(held);
  });
  return api::Tensor::Borrow(*type, shape, bytes, std::move(owner));
}

// Converts an object with NumPy to a dense array in native byte order.
nb::object AsArray(nb::handle object, const std::string& what) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array;
  try {
    array = numpy.attr("asarray")(object);
  } catch (nb::python_error& error) {
    const std::string message =
        what + " is not an array: NumPy takes no `" + NameOfType(object) + "` (" + error.what() + ")";
    throw nb::type_error(message.c_str());
  }
  nb::object dtype = array.attr("dtype");
  // Elements of ml_dtypes are exact in the wider NumPy types.
  const std::string library = nb::cast<std::string>(dtype.attr("type").attr("__module__"));
  if (library.starts_with("ml_dtypes")) {
    const std::string name = nb::cast<std::string>(dtype.attr("name"));
    const char* wide = name.starts_with("int") ? "int8" : name.starts_with("uint") ? "uint8" : "float32";
    array = array.attr("astype")(wide);
    dtype = array.attr("dtype");
  }
  const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S" || kind == "M" || kind == "m" || kind == "V" || kind == "c") {
    const std::string seen = nb::cast<std::string>(nb::str(dtype));
    const std::string message = what + " has elements of NumPy's type `" + seen +
                                "`; expected numbers or booleans (a `" + NameOfType(object) + "` was given)";
    throw nb::type_error(message.c_str());
  }
  return numpy.attr("require")(array, dtype.attr("newbyteorder")("="), "CA");
}

// Returns the elements of a tensor as an array of `T` with element type `type`.
template <typename T>
nb::object WidenedAs(ElementType type, const api::Tensor& tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.volume()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(tensor.ElementAsDouble(static_cast<int64_t>(i)));
  const std::optional<api::Tensor> wide =
      api::Tensor::Copy(type, tensor.shape(), std::as_bytes(std::span<const T>(values)));
  if (!wide) throw std::bad_alloc();
  return ToArray(*wide, Access::kWritable);
}

// Returns elements of types unknown to NumPy as f32 or 8-bit integers, an exact conversion.
nb::object Widened(const api::Tensor& tensor) {
  if (IsFloat(tensor.type())) return WidenedAs<float>(ElementType::kF32, tensor);
  if (IsSigned(tensor.type())) return WidenedAs<int8_t>(ElementType::kI8, tensor);
  return WidenedAs<uint8_t>(ElementType::kU8, tensor);
}

// Returns an array that shares the memory of a tensor and keeps it alive.
nb::object View(const api::Tensor& tensor, const std::vector<size_t>& shape, nb::dlpack::dtype dtype,
                Access access) {
  auto held = std::make_unique<api::Tensor>(tensor);
  const nb::capsule owner(held.get(),
                          [](void* tensor) noexcept { delete static_cast<api::Tensor*>(tensor); });
  held.release();  // owned by the capsule now
  void* data = const_cast<std::byte*>(tensor.bytes().data());
  if (access == Access::kReadOnly) {
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), owner, nullptr, dtype));
  }
  return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, dtype));
}

}  // namespace

api::Tensor ToTensor(nb::handle object, const std::string& what) {
  if (std::optional<api::Tensor> tensor = Borrow(object)) return *tensor;
  const nb::object array = AsArray(object, what);
  if (std::optional<api::Tensor> tensor = Borrow(array)) return *tensor;
  const nb::object dtype = array.attr("dtype");
  const std::string seen = nb::cast<std::string>(nb::str(dtype));
  const std::string message = what + " has elements of NumPy's type `" + seen +
                              "`, which nnefc has not; convert it, as with `astype(numpy.float32)`";
  throw nb::type_error(message.c_str());
}

api::Tensors ToTensors(nb::dict tensors, const char* what) {
  api::Tensors converted;
  for (const auto& [name, value] : tensors) {
    if (!nb::isinstance<nb::str>(name)) {
      const std::string message =
          std::string("the name of an ") + what + " is text, not a `" + NameOfType(name) + "`";
      throw nb::type_error(message.c_str());
    }
    const std::string text = nb::cast<std::string>(name);
    converted.emplace(text, ToTensor(value, std::string(what) + " `" + text + "`"));
  }
  return converted;
}

nb::object ToArray(const api::Tensor& tensor, Access access) {
  const std::optional<nb::dlpack::dtype> dtype = DtypeOf(tensor.type());
  if (!dtype) return Widened(tensor);
  const std::vector<size_t> shape(tensor.shape().begin(), tensor.shape().end());
  return View(tensor, shape, *dtype, access);
}

nb::object ToBytes(const api::Tensor& tensor) {
  return View(tensor, {tensor.bytes().size()}, *DtypeOf(ElementType::kU8), Access::kReadOnly);
}

nb::dict ToArrays(const api::Tensors& tensors) {
  nb::dict arrays;
  for (const auto& [name, tensor] : tensors) arrays[name.c_str()] = ToArray(tensor, Access::kWritable);
  return arrays;
}

}  // namespace nnefc::python
