// Operations whose shape functions and kernels are Python functions, and the rows of all operations.

#include "tools/python/binding/operations.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <utility>

#include "tools/api/internals.h"
#include "tools/python/binding/arrays.h"
#include "tools/python/binding/report.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using runtime::kernels::FaultOr;
using runtime::kernels::KernelFault;
using runtime::kernels::KernelRun;
using runtime::tensor::MutableTensorView;
using runtime::tensor::TensorView;

nb::object ShapeObject(const ir::PartialShape& shape) {
  if (!shape.rank_known()) return nb::none();
  nb::list extents;
  for (const ir::Dim& dim : shape.dims())
    extents.append(dim.known() ? nb::object(nb::int_(dim.min)) : nb::none());
  return extents;
}

ir::PartialShape ToPartialShape(nb::handle extents) {
  if (extents.is_none()) return {};
  std::vector<ir::Dim> dims;
  for (nb::handle extent : extents)
    dims.push_back(extent.is_none() ? ir::Dim() : ir::Dim(nb::cast<int64_t>(extent)));
  return ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims));
}

// A Python object that any thread may release.
using Held = std::shared_ptr<nb::object>;

Held Hold(nb::handle object) {
  return Held(new nb::object(nb::borrow(object)), [](nb::object* held) {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire locked;
    delete held;
  });
}

// Returns the message of a Python exception of a function of an operation.
std::string MessageOf(const nb::python_error& error) {
  const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
  return fmt::format("{}: {}", type, nb::cast<std::string>(nb::str(error.value())));
}

// Calls the shape function with the node's name, attributes, inputs as (type, shape, function that returns
// the value) and the number of outputs. It returns (type, shape, value) for each output.
void InferInPython(const Held& infer, ir::InferContext& context) {
  const nb::gil_scoped_acquire locked;
  try {
    nb::list inputs;
    for (int32_t i = 0; i < context.num_inputs(); ++i) {
      const ir::Output& input = context.input(i);
      const nb::object value = nb::cpp_function([&context, i]() -> nb::object {
        const std::optional<TensorValue>& known = context.value(i);
        return known ? ToArray(api::ToTensor(*known), Access::kReadOnly) : nb::none();
      });
      inputs.append(nb::make_tuple(std::string(Name(input.type)), ShapeObject(input.shape), value));
    }
    const ir::Node& node = context.node();
    const nb::object results =
        (*infer)(ToText(node.name()), ToDict(node.attributes()), inputs, node.num_outputs());
    int32_t index = 0;
    for (nb::handle result : results) {
      const auto type = ParseElementType(nb::cast<std::string>(result[0]));
      context.SetOutput(index, type.value_or(ElementType::kDynamic), ToPartialShape(result[1]));
      const nb::object value = result[2];
      if (!value.is_none())
        context.SetOutputValue(index, ToTensor(value, "the value of an output").state().value);
      ++index;
    }
  } catch (const nb::python_error& error) {
    throw std::runtime_error(MessageOf(error));
  }
}

api::Tensor TensorOf(const TensorView& view) {
  const std::optional<api::Tensor> tensor =
      api::Tensor::Copy(view.type(), std::vector<int64_t>(view.shape().begin(), view.shape().end()),
                        std::span<const std::byte>(view.bytes(), view.byte_size()));
  if (!tensor) throw std::bad_alloc();
  return *tensor;
}

// A kernel that calls a Python function with arrays.
class PythonKernel final : public runtime::kernels::Kernel {
 public:
  PythonKernel(const ir::Node& node, Held compute) : node_(node), compute_(std::move(compute)) {}

  std::string implementation() const override { return "python"; }
  FaultOr<Success> Run(const KernelRun& run) const override {
    const nb::gil_scoped_acquire locked;
    try {
      nb::list inputs;
      for (const TensorView* view : run.inputs) inputs.append(ToArray(TensorOf(*view), Access::kReadOnly));
      const nb::object results =
          (*compute_)(ToText(node_.name()), ToDict(node_.attributes()), inputs, node_.num_outputs());
      if (nb::len(results) != run.outputs.size())
        return KernelFault("the kernel of `{}` returned {} arrays; expected {}", node_.type(),
                           nb::len(results), run.outputs.size());
      for (size_t i = 0; i < run.outputs.size(); ++i) {
        const api::Tensor made = ToTensor(nb::object(results[i]), "a result");
        const MutableTensorView& output = *run.outputs[i];
        if (made.type() != output.type() || !llvm::equal(made.shape(), output.shape()))
          return KernelFault(
              "the kernel of `{}` returned {}{} as output {}; its shape function returned {}{}", node_.type(),
              Name(made.type()), ToString(Shape(made.shape().begin(), made.shape().end())), i,
              Name(output.type()), ToString(output.shape()));
        std::memcpy(const_cast<std::byte*>(output.bytes()), made.bytes().data(), made.bytes().size());
      }
      return Success();
    } catch (const nb::python_error& error) {
      return KernelFault("the kernel of `{}` failed: {}", node_.type(), MessageOf(error));
    }
  }

 private:
  const ir::Node& node_;
  Held compute_;
};

nb::dict AttributesOf(const ir::OpInfo& row) {
  nb::dict attributes;
  for (const ir::AttributeInfo& attribute : row.attributes)
    attributes[attribute.name.c_str()] = attribute.fallback ? ToObject(*attribute.fallback) : nb::none();
  return attributes;
}

// Returns (set, name, required inputs, maximum of inputs or None, outputs or None, attributes with defaults).
nb::list Operations() {
  nb::list rows;
  const ir::OpRegistry& registry = ir::StandardOps();
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
    const bool is_open = !row.inputs.empty() && row.inputs.back().variadic;
    const auto required = llvm::count_if(
        row.inputs, [](const ir::InputInfo& input) { return !input.optional && !input.variadic; });
    const bool has_any_outputs = !row.outputs.empty() && row.outputs.back().ends_with("[]");
    rows.append(
        nb::make_tuple(row.set, row.name, required,
                       is_open ? nb::object(nb::none()) : nb::object(nb::int_(row.inputs.size())),
                       has_any_outputs ? nb::object(nb::none()) : nb::object(nb::int_(row.outputs.size())),
                       AttributesOf(row)));
  }
  return rows;
}

}  // namespace

void AddPythonOperation(nb::handle operation, plugin::ExtensionFolder& folder) {
  const auto set = nb::cast<std::string>(operation.attr("set"));
  const auto name = nb::cast<std::string>(operation.attr("name"));
  folder.operations.push_back({.set = set,
                               .name = name,
                               .inputs = {{.name = "inputs", .variadic = true, .optional = true}},
                               .outputs = {"outputs[]"},
                               .infer = [infer = Hold(operation.attr("infer"))](ir::InferContext& context) {
                                 InferInPython(infer, context);
                               }});
  const nb::object compute = operation.attr("compute");
  if (compute.is_none()) return;
  folder.kernels.push_back(
      {set, name, [set, name, compute = Hold(compute)](runtime::kernels::KernelRegistry& kernels) {
         using namespace runtime::kernels;
         kernels.Add(Backend::kReference, {set}, name,
                     [compute](const KernelRequest& request) -> std::optional<PreparedKernel> {
                       if (!request.posts.empty()) return std::nullopt;
                       PreparedKernel prepared;
                       prepared.kernel = std::make_shared<PythonKernel>(*request.node, compute);
                       prepared.inputs.resize(request.inputs.size());
                       prepared.outputs.resize(request.outputs.size());
                       return prepared;
                     });
       }});
}

void BindOperations(nb::module_& module) {
  module.def("operations", &Operations,
             nb::sig("def operations() -> list[tuple[str, str, int, int | None, int | None, dict[str, "
                     "typing.Any]]]"));
}

}  // namespace nnefc::python
