#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/support/context.h"

namespace nnefc::ir {

struct PrintOptions {
  // Larger constants are printed as a digest that cannot be parsed ("dense<f32[64,3]: #8c6f..>"); -1 prints
  // all.
  int64_t max_constant_elements = 64;
  // Stores the elements of such a constant outside of the text and returns their byte offset. With the
  // offset, "dense<f32[64,3]: #8c6f.. @128>", the constant can be parsed.
  std::function<uint64_t(const TensorValue&)> keep = {};
};

// Prints the text form of a graph: parameters first, operations in topological order, results last.
//
//   graph "net" {
//     %0 = opset1.Parameter "input" {element_type = f32, shape = shape[1,3,8,8]} : f32[1,3,8,8] as ["x"]
//     %1 = opset1.Const "w" : f32[2] = dense<f32[2]: 1.0, 2.5>
//     %2 = opset1.Convolution "conv1" (%0, %1) {strides = [2,2]} rt {fused = "a"} : f32[1,64,?,2..8]
//     %3:2 = nnef.split "halves" (%2) {axis = 1, ratios = [1,1]} : f32[1,32,?,?], f32[1,32,?,?]
//     %4 = opset8.If "if" (%9, %3.1) : f32[1] bodies {
//       "then_body" input 1 -> 0 output 0 -> 0 graph "then" { .. }
//       "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) back 0 -> 1 graph "loop" { .. }
//     }
//     %5 = nnef.conv "c" (%3.0, %1) segments [1,1,0] {..} : f32[..]
//     opset1.Result "output" (%4)
//     sinks (%5)
//   }
//
// `%3` is short for `%3.0`. A port map has the form "outer -> inner", a back edge "result -> parameter".
// Attribute values: `1`, `1.0`, `true`, `"text"`, `f32` (an element type), `[1,2]` (integers), `[1.0]`,
// `[true]`, `["a"]`, `[[0,0], [1,1]]`, `(1, 2.0)` (a tuple), `[]` (an empty list), `shape[1,3]` or, with
// unknown extents, `[1,?]`. A list of one primitive kind that is not packed is `list[1,2]`. Packed empty
// lists are `integers[]`, `scalars[]`, `logicals[]`, `strings[]`. `//` begins a comment.
std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});
// Prints attributes in braces: `{strides = [2,2], ..}`.
std::string PrintAttributes(const AttributeMap& attributes, const PrintOptions& options = {});

// Parses the text form. Emits errors, including violations that Verify finds, and returns null after one.
// `[1,3]` is a shape where opset1.Parameter expects one. The origin of a node is its range in the text.
// `elements` are the bytes that PrintOptions::keep stored; null if there are none.
[[nodiscard]] std::unique_ptr<Graph> ParseGraph(FileId file, const OpRegistry& registry, Context& context,
                                                std::shared_ptr<const Buffer> elements = nullptr);

}  // namespace nnefc::ir
