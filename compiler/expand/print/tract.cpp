// Calls of tract's registries in place of standard operations that tract does not read.

#include "compiler/expand/print/tract.h"

#include <numeric>
#include <utility>
#include <vector>

#include "compiler/expand/print/literals.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace nnefc::expand::print {
namespace {

using Inputs = llvm::ArrayRef<std::string>;
using Writer = std::string (*)(const ir::Graph&, const ir::Node&, Inputs);

std::string_view DatumType(std::string_view data_type) {
  if (data_type == "integer") return "i64";
  return data_type == "logical" ? "bool" : "f32";
}

// An input of scalars is the standard `external`.
std::string External(const ir::Graph&, const ir::Node& node, Inputs) {
  const std::string_view datum_type = DatumType(node.String("dtype"));
  if (datum_type == "f32") return "";
  return fmt::format("tract_core_external(shape = {}, datum_type = '{}')",
                     AttributeLiteral(node.attribute("shape")), datum_type);
}

std::string Cast(const ir::Graph&, const ir::Node& node, Inputs inputs) {
  return fmt::format("tract_core_cast({}, to = '{}')", inputs[0], DatumType(node.String("dtype")));
}

std::string ToInteger(const ir::Graph&, const ir::Node&, Inputs inputs) {
  return fmt::format("tract_core_cast({}, to = 'i64')", inputs[0]);
}

std::string ToWidth(const ir::Graph&, const ir::Node& node, Inputs inputs) {
  return fmt::format("tract_core_cast(tract_core_cast({}, to = '{}'), to = 'i64')", inputs[0],
                     node.String("datum_type"));
}

std::string Gather(const ir::Graph&, const ir::Node& node, Inputs inputs) {
  return fmt::format("tract_core_gather({}, {}, axis = {})", inputs[0], inputs[1], node.Int("axis"));
}

std::string Reciprocal(const ir::Graph&, const ir::Node&, Inputs inputs) {
  return fmt::format("recip({})", inputs[0]);
}

std::string Silu(const ir::Graph&, const ir::Node&, Inputs inputs) {
  return fmt::format("tract_core_silu({})", inputs[0]);
}

// Windows across channels alone.
std::string LocalResponse(const ir::Graph&, const ir::Node& node, Inputs inputs) {
  const std::vector<int64_t> size = node.Ints("size");
  if (size.size() < 2 || size[1] == 1) return "";
  return fmt::format("tract_onnx_lrn({}, alpha = {}, beta = {}, bias = {}, size = {})", inputs[0],
                     ScalarLiteral(node.Double("alpha")), ScalarLiteral(node.Double("beta")),
                     ScalarLiteral(node.Double("bias")), size[1]);
}

// tract's filters are [outputs, inputs / groups, ..], and its `output_shape` has the spatial extents.
std::string Deconv(const ir::Graph& graph, const ir::Node& node, Inputs inputs) {
  const Shape filter = graph.output(node.input(1)).shape.known_extents();
  const Shape output = node.output().shape.known_extents();
  const int64_t given = node.Int("groups");
  const int64_t groups = given == 0 ? filter[0] : given;
  std::vector<int64_t> swapped(filter.size());
  std::iota(swapped.begin(), swapped.end(), int64_t{0});
  std::string text;
  if (groups == 1) {
    std::swap(swapped[0], swapped[1]);
    text = fmt::format("transpose({}, axes = [{}])", inputs[1], fmt::join(swapped, ", "));
  } else {
    std::vector<int64_t> split{groups, filter[0] / groups, filter[1]};
    std::vector<int64_t> joined{groups * filter[1], filter[0] / groups};
    split.insert(split.end(), filter.begin() + 2, filter.end());
    joined.insert(joined.end(), filter.begin() + 2, filter.end());
    swapped.push_back(static_cast<int64_t>(filter.size()));
    std::swap(swapped[1], swapped[2]);
    text = fmt::format("reshape(transpose(reshape({}, shape = [{}]), axes = [{}]), shape = [{}])", inputs[1],
                       fmt::join(split, ", "), fmt::join(swapped, ", "), fmt::join(joined, ", "));
  }
  std::string call = fmt::format("deconv({}, {}, {}", inputs[0], text, inputs[2]);
  for (std::string_view name : {"padding", "stride", "dilation"}) {
    const ir::Attribute& attribute = node.attribute(name);
    if (attribute.ListSize() > 0) call += fmt::format(", {} = {}", name, AttributeLiteral(attribute));
  }
  if (node.attribute("output_shape").ListSize() > 0) {
    call += fmt::format(", output_shape = [{}]", fmt::join(output.begin() + 2, output.end(), ", "));
  }
  return call + fmt::format(", groups = {})", groups);
}

// The accumulation type and the type of the result have no defaults in tract.
std::string Einsum(const ir::Graph&, const ir::Node& node, Inputs inputs) {
  return fmt::format("tract_core_einsum([{}], expr = {}, acc = 'f32', output = '')", fmt::join(inputs, ", "),
                     StringLiteral(node.String("expr")));
}

const ir::OpTable<Writer>& Writers() {
  static const ir::OpTable<Writer> writers(ir::StandardOps(), ir::kNnefSet,
                                           {
                                               {"external", External},
                                               {"cast", Cast},
                                               {"tract_core_to_integer", ToInteger},
                                               {"tract_core_to_width", ToWidth},
                                               {"gather", Gather},
                                               {"rcp", Reciprocal},
                                               {"tract_core_einsum", Einsum},
                                               {"silu", Silu},
                                               {"local_response_normalization", LocalResponse},
                                               {"deconv", Deconv},
                                           });
  return writers;
}

}  // namespace

std::string TractCall(const ir::Graph& graph, const ir::Node& node, Inputs inputs) {
  const Writer* write = Writers().Find(node.op());
  return write == nullptr ? "" : (*write)(graph, node, inputs);
}

}  // namespace nnefc::expand::print
