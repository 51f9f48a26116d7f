#include "compiler/expand/evaluate/graph_ends.h"

#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/lenient_arguments.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::expand::evaluate {

using semantics::TypeKind;

void AddGraphEnds(Evaluation& state) {
  const Chunk& chunk = *state.frame().chunk;
  ir::Graph& graph = state.builder.graph();
  for (int32_t slot : chunk.parameter_slots) {
    if (slot < 0 || state.stack[static_cast<size_t>(slot)].kind() != ValueKind::kTensor) continue;
    ir::NodeId node = state.stack[static_cast<size_t>(slot)].port().node;
    if (graph.node(node).Is(ir::OpRole::kExternal)) graph.AddToParameters(node);
  }
  // In the provisional dialect externals need not be parameters of the graph; in the ratified one each must
  // be.
  if (!state.document.dialect().external_parameters) {
    const llvm::DenseSet<ir::NodeId> known(graph.parameters().begin(), graph.parameters().end());
    for (ir::NodeId id : graph.nodes()) {
      if (graph.node(id).Is(ir::OpRole::kExternal) && !known.contains(id)) graph.AddToParameters(id);
    }
  }
  const ast::Graph& declared = *state.document.graph();
  for (size_t i = 0; i < chunk.result_slots.size(); ++i) {
    int32_t slot = chunk.result_slots[i];
    if (slot < 0 || !declared.results[i].symbol.valid()) continue;
    const Value& result = state.stack[static_cast<size_t>(slot)];
    if (state.builder.is_lenient() && (result.kind() == ValueKind::kArray || result.primitive())) {
      // A result with a known value, such as a shape.
      const Value constant = vendor::MakeConstant(state.stack[static_cast<size_t>(slot)], TypeKind::kError,
                                                  state.SiteOf({}), state.builder);
      if (!constant.poison())
        state.stack[static_cast<size_t>(slot)] =
            state.builder.NameInBody(constant, declared.results[i].symbol, state.SiteOf({}));
    }
    const ast::Name& name = declared.results[i];
    if (state.builder.is_lenient() && state.stack[static_cast<size_t>(slot)].sequence()) {
      state.context.emitter.Emit(kValueType, name.range, "result `{}` of the graph is {}; expected a tensor",
                                 state.context.symbols.Text(name.symbol),
                                 KindText(state.stack[static_cast<size_t>(slot)]));
    }
    if (state.stack[static_cast<size_t>(slot)].kind() != ValueKind::kTensor) continue;
    ir::OutputPort port = state.stack[static_cast<size_t>(slot)].port();
    const bool is_coordinate = state.document.dialect().coordinates && IsInteger(graph.output(port).type);
    if (is_coordinate && state.options.purpose == Purpose::kPrint) {
      state.context.emitter.Emit(
          kCoordinate, name.range,
          "result `{}` of the graph holds coordinates, which have a ratified form only as the `index` "
          "of `sample` and `desample`",
          state.context.symbols.Text(name.symbol));
      continue;
    }
    ir::AddResult(graph, std::string(state.context.symbols.Text(name.symbol)), port, {name.range, nullptr});
  }
}

}  // namespace nnefc::expand::evaluate
