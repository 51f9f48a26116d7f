// Evaluation of single nodes with reference kernels, immediately or on first read.

#include "runtime/engine/evaluate.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>

#include "compiler/ir/text/text.h"
#include "compiler/support/tensor/compressed_floats.h"
#include "compiler/support/tensor/packed_elements.h"
#include "fmt/core.h"

namespace nnefc::runtime::engine {

using kernels::FaultOr;
using kernels::KernelRegistry;

namespace {

// Allocates the value of an output. Sub-byte elements take one byte each until the kernel is done.
FaultOr<TensorValue> AllocateOutput(const ir::Output& output) {
  const std::optional<Shape> shape = output.shape.extents();
  if (!shape || output.type == ElementType::kDynamic)
    return kernels::KernelFault("the shape of its result is not known");
  const std::optional<int64_t> volume = Volume(*shape);
  const std::optional<size_t> bytes = volume ? tensor::ViewBytes(output.type, *volume) : std::nullopt;
  std::shared_ptr<Buffer> buffer = bytes ? Buffer::Allocate(*bytes) : nullptr;
  if (buffer == nullptr)
    return kernels::FaultOf(kernels::kRuntimeMemory, "no memory for a result of shape {}", ToString(*shape));
  return TensorValue(IsPacked(output.type) ? ElementType::kU8 : output.type, *shape, std::move(buffer));
}

// Computes the outputs of a node. Their types and shapes have been inferred from these inputs.
FaultOr<Success> Compute(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs,
                         llvm::ArrayRef<tensor::MutableTensorView> outputs, const KernelRegistry& kernels) {
  const kernels::KernelFactory* factory = kernels.Find(kernels::Backend::kReference, node.set(), node.type());
  if (factory == nullptr) return kernels::FaultOf(kernels::kNoKernel, "there is no kernel for it");
  std::vector<TensorValue> loaded;
  std::vector<tensor::TensorView> views;
  llvm::SmallVector<kernels::ValueInfo, 4> input_infos, output_infos;
  for (const TensorValue& input : inputs) {
    loaded.push_back(IsPacked(input.type()) ? CodesOf(input) : input.Loaded().AlignedToElements());
    views.emplace_back(input.type(), input.shape(), loaded.back().bytes());
    input_infos.push_back({.type = input.type(), .shape = input.shape()});
  }
  for (const tensor::MutableTensorView& output : outputs)
    output_infos.push_back({.type = output.type(), .shape = output.shape()});
  std::optional<kernels::PreparedKernel> prepared =
      (*factory)({.node = &node, .inputs = input_infos, .outputs = output_infos});
  if (!prepared) return kernels::FaultOf(kernels::kNoKernel, "there is no kernel for it");
  llvm::SmallVector<const tensor::TensorView*, 4> input_pointers;
  llvm::SmallVector<const tensor::MutableTensorView*, 4> output_pointers;
  for (const tensor::TensorView& view : views) input_pointers.push_back(&view);
  for (const tensor::MutableTensorView& view : outputs) output_pointers.push_back(&view);
  return prepared->kernel->Run({.inputs = input_pointers, .outputs = output_pointers});
}

bool Is16Bit(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16;
}

}  // namespace

FaultOr<std::vector<TensorValue>> EvaluateNode(const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                                               llvm::ArrayRef<TensorValue> inputs,
                                               const KernelRegistry& kernels) {
  if (node.Is(ir::ElementFunction::kConvert) && IsStorageOnly(inputs[0].type())) {
    return std::vector<TensorValue>{inputs[0].ConvertedTo(known[0].type)};
  }
  const std::optional<Shape> shape = known[0].shape.extents();
  // 16-bit floats stay compressed until their bytes are read.
  if (node.Is(ir::ElementFunction::kConvert) && known[0].type == ElementType::kF32 &&
      Is16Bit(inputs[0].type())) {
    const auto form = inputs[0].type() == ElementType::kF16 ? CompressedFloats::Form::kHalf
                                                            : CompressedFloats::Form::kBfloat;
    return std::vector<TensorValue>{{ElementType::kF32, inputs[0].shape(),
                                     Buffer::Unpacked({form, inputs[0].buffer(), inputs[0].volume()})}};
  }
  if (node.Is(ir::OpRole::kView) && shape && Volume(*shape) == inputs[0].volume())
    return std::vector<TensorValue>{inputs[0].Reshaped(*shape)};
  std::vector<TensorValue> outputs;
  std::vector<tensor::MutableTensorView> views;
  for (const ir::Output& output : known) {
    FaultOr<TensorValue> value = AllocateOutput(output);
    if (!value) return value.error();
    // The buffer is new and not shared yet.
    std::byte* bytes = const_cast<std::byte*>(value->bytes());
    views.emplace_back(output.type, value->shape(), bytes);
    outputs.push_back(*value);
  }
  if (FaultOr<Success> done = Compute(node, inputs, views, kernels); !done) return done.error();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (IsPacked(known[i].type))
      outputs[i] = PackCodes(known[i].type, outputs[i].shape(), outputs[i].bytes());
  }
  return outputs;
}

namespace {

// Returns a graph of the node alone, with a parameter for each input, so that reading its attributes needs no
// other graph.
std::shared_ptr<const ir::Graph> GraphOf(const ir::Node& node, const ir::OpRegistry& registry,
                                         llvm::ArrayRef<TensorValue> inputs) {
  auto graph = std::make_shared<ir::Graph>(&registry);
  std::vector<ir::OutputPort> ports;
  for (const TensorValue& input : inputs) {
    const ir::PartialShape shape{llvm::ArrayRef<int64_t>(input.shape())};
    ports.push_back({ir::AddParameter(*graph, "", input.type(), shape), 0});
    graph->SetOutputType(ports.back(), input.type(), shape);
  }
  const ir::NodeId id = graph->AddNode({.op = node.op(), .inputs = ports, .attributes = node.attributes()});
  graph->SetOutputType({id, 0}, node.output().type, node.output().shape);
  ir::AddResult(*graph, "", {id, 0});
  return graph;
}

Buffer::Recipe RecipeOf(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs) {
  FieldDigest what;
  what.Add("evaluated").Add(node.set()).Add(node.type()).Add(ir::PrintAttributes(node.attributes()));
  what.Add(node.output().type).Add(ir::ToString(node.output().shape));
  Buffer::Recipe recipe;
  for (const TensorValue& input : inputs) {
    what.Add(input.type()).Add(ToString(input.shape()));
    recipe.from.push_back(input.buffer());
  }
  recipe.what = what.Finish();
  return recipe;
}

// Returns true for operations that cannot fail: conversions from whole-byte types to f32, sums and products.
// Conversions of 16-bit floats are excluded because they stay compressed.
bool AlwaysSucceeds(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs) {
  if (node.num_outputs() != 1 || node.output().type != ElementType::kF32) return false;
  if (node.Is(ir::ElementFunction::kConvert))
    return !IsStorageOnly(inputs[0].type()) && !Is16Bit(inputs[0].type());
  return node.Is(ir::ElementFunction::kAdd) || node.Is(ir::ElementFunction::kSubtract) ||
         node.Is(ir::ElementFunction::kMultiply);
}

// An elementwise node evaluated in blocks of rows along the outermost axis of its result. Lazy inputs are
// also computed block by block, so that a block fits into a core's cache.
class RowsOfNode {
 public:
  RowsOfNode(const ir::Node& node, const ir::OpRegistry& registry, llvm::ArrayRef<TensorValue> inputs,
             const KernelRegistry& kernels)
      : graph_(GraphOf(node, registry, inputs)), inputs_(inputs.vec()), kernels_(&kernels) {}

  // Writes `out.size()` bytes of the result, starting at byte `begin`.
  void Write(std::span<std::byte> out, size_t begin) const {
    const size_t row = RowBytes();
    const size_t first = begin / row, last = (begin + out.size() + row - 1) / row;
    if (begin % row != 0 || out.size() % row != 0) {
      std::vector<std::byte> whole((last - first) * row);
      WriteRows(whole.data(), first, last);
      std::memcpy(out.data(), whole.data() + (begin - first * row), out.size());
      return;
    }
    WriteRows(out.data(), first, last);
  }

 private:
  static constexpr size_t kPart = size_t{256} << 10;
  static constexpr size_t kKept = size_t{1} << 20;  // result bytes between releases of input pages

  const ir::Node& node() const { return graph_->node(graph_->node(graph_->results()[0]).input(0).node); }
  Shape shape() const { return node().output().shape.known_extents(); }
  size_t RowBytes() const {
    const Shape whole = shape();
    return sizeof(float) * static_cast<size_t>(*Volume(llvm::ArrayRef<int64_t>(whole).drop_front()));
  }

  // Returns true if row i of the result depends only on row i of the input.
  bool HasRows(const TensorValue& input) const {
    const Shape whole = shape();
    return input.shape().size() == whole.size() && input.shape()[0] == whole[0] &&
           BitWidth(input.type()) % 8 == 0;
  }

  void WriteRows(std::byte* out, size_t first, size_t last) const {
    std::vector<TensorValue> inputs;
    inputs.reserve(inputs_.size());
    for (const TensorValue& input : inputs_) inputs.push_back(HasRows(input) ? input : input.Loaded());
    const size_t row = RowBytes(), step = std::max<size_t>(1, kPart / row);
    for (size_t begin = first; begin < last; begin += step) {
      const size_t end = std::min(begin + step, last);
      std::vector<TensorValue> parts;
      parts.reserve(inputs.size());
      for (const TensorValue& input : inputs) {
        parts.push_back(HasRows(input)
                            ? input.LoadedRows(static_cast<int64_t>(begin), static_cast<int64_t>(end))
                            : input);
      }
      Shape part = shape();
      part[0] = static_cast<int64_t>(end - begin);
      const tensor::MutableTensorView result(ElementType::kF32, part, out + (begin - first) * row);
      // No other fault is possible here.
      if (!Compute(node(), parts, result, *kernels_)) throw std::bad_alloc();
    }
    // Pages are released rarely, because the kernel maps several neighbours on each fault.
    const bool is_end = last == static_cast<size_t>(shape()[0]);
    if (!is_end && first * row / kKept == last * row / kKept) return;
    for (const TensorValue& input : inputs_) input.buffer()->Release();
  }

  std::shared_ptr<const ir::Graph> graph_;
  std::vector<TensorValue> inputs_;
  const KernelRegistry* kernels_;
};

}  // namespace

std::optional<TensorValue> EvaluateLater(const ir::Node& node, const ir::OpRegistry& registry,
                                         llvm::ArrayRef<TensorValue> inputs, const KernelRegistry& kernels) {
  constexpr size_t kWorthwhile = size_t{64} << 10;
  if (!AlwaysSucceeds(node, inputs)) return std::nullopt;
  const std::optional<Shape> shape = node.output().shape.extents();
  const std::optional<int64_t> volume = shape ? Volume(*shape) : std::nullopt;
  const std::optional<size_t> bytes = volume ? ByteSize(ElementType::kF32, *volume) : std::nullopt;
  if (!bytes || *bytes < kWorthwhile) return std::nullopt;
  const auto rows = std::make_shared<const RowsOfNode>(node, registry, inputs, kernels);
  const auto all = [rows, size = *bytes](std::byte* out) { rows->Write({out, size}, 0); };
  const auto part = [rows](std::span<std::byte> out, size_t begin) { rows->Write(out, begin); };
  return TensorValue(ElementType::kF32, *shape, Buffer::Computed(*bytes, all, RecipeOf(node, inputs), part));
}

FaultOr<Success> InferOnValues(ir::LoneNode& lone) {
  Emitter emitter;
  if (lone.Infer(emitter)) return Success();
  return kernels::FirstFault(emitter, kernels::KernelFault("its inputs do not fit it"));
}

FaultOr<std::vector<TensorValue>> EvaluateDynamicNode(const ir::Node& node,
                                                      llvm::ArrayRef<TensorValue> inputs,
                                                      const KernelRegistry& kernels, size_t limit) {
  ir::LoneNode lone(node);
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    const TensorValue& input = inputs[static_cast<size_t>(i)];
    lone.SetInput(i, input.type(), ir::PartialShape(llvm::ArrayRef<int64_t>(input.shape())), input);
  }
  if (FaultOr<Success> checked = InferOnValues(lone); !checked) return checked.error();
  size_t left = limit;
  for (const ir::Output& output : lone.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> bytes = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (bytes && *bytes <= left) {
      left -= *bytes;
    } else if (output.shape.extents() && output.type != ElementType::kDynamic) {
      return kernels::FaultOf(
          kernels::kRuntimeMemory,
          "a result of shape {} takes more memory than is allowed; `--max-memory` raises the limit",
          ir::ToString(output.shape));
    }
  }
  return EvaluateNode(node, lone.outputs(), inputs, kernels);
}

ir::Evaluator ReferenceEvaluator(std::function<void(KernelRegistry&)> add_kernels) {
  // Created on first use, because most commands evaluate nothing.
  struct Kernels {
    std::once_flag made;
    KernelRegistry registry;
  };
  return [kernels = std::make_shared<Kernels>(), add_kernels = std::move(add_kernels)](
             const ir::Node& node, llvm::ArrayRef<ir::Output> known,
             llvm::ArrayRef<TensorValue> inputs) -> std::optional<std::vector<TensorValue>> {
    std::call_once(kernels->made, [&] {
      kernels::RegisterReferenceKernels(kernels->registry);
      // A failed registration adds no kernels here; an executable reports the reason.
      if (add_kernels) (void)kernels->registry.AddForeign(add_kernels);
    });
    FaultOr<std::vector<TensorValue>> values = EvaluateNode(node, known, inputs, kernels->registry);
    if (!values) return std::nullopt;
    return std::move(*values);
  };
}

}  // namespace nnefc::runtime::engine
