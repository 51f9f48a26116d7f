// Nodes with bodies: the nodes of each body are created in a separate graph.

#include "compiler/expand/build/node_factory.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"

namespace nnefc::expand::build {
namespace {

// Fixed cost of a body in operations, for its separate graph.
constexpr int64_t kBodyOperations = 32;

}  // namespace

ir::NodeId NodeFactory::MakeWithBodies(const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                                       int64_t num_outputs, const Site& site) {
  NodeParts parts;
  if (!GatherArguments(plan, arguments, semantics::TypeKind::kError, site, parts)) return {};
  if (!CountOperation(num_outputs, site)) return {};
  ir::NodeId node = graph().AddNode({.op = plan.op,
                                     .inputs = parts.inputs,
                                     .segments = parts.segments,
                                     .attributes = std::move(parts.attributes),
                                     .num_outputs = static_cast<int32_t>(num_outputs),
                                     .origin = {site.range, site.frame}});
  names().OnNode(graph().node(node), site.statement);
  return node;
}

bool NodeFactory::EnterBody(const semantics::Signature& fragment, llvm::ArrayRef<ir::ops::BodyParameter> fed,
                            llvm::ArrayRef<size_t> order, const Site& site, std::vector<Value>& parameters) {
  if (scopes_.size() - 1 == ir::kMaxBodyNesting) {
    Fault fault = Fault::Of(kLimitBodies, "bodies are nested more than {} deep", ir::kMaxBodyNesting);
    fault.fatal = true;
    reporter_.Report(fault, site);
    return false;
  }
  if (!CountOperations(kBodyOperations + static_cast<int64_t>(fed.size()), site)) return false;
  auto body = std::make_unique<ir::Graph>(&settings_.registry,
                                          std::string(context_.symbols.Text(fragment.name.symbol)));
  scopes_.push_back(std::make_unique<GraphScope>(*body, context_.symbols));
  scopes_.back()->body = std::move(body);
  for (size_t i = 0; i < fed.size(); ++i) {
    const size_t index = order.empty() ? i : order[i];
    if (index >= fragment.parameters.size()) {
      ir::NodeId node = ir::AddParameter(graph(), {}, fed[i].type, fed[i].shape, {site.range, site.frame});
      names().OnNode(graph().node(node), Symbol());
      parameters.push_back(Value::Tensor({node, 0}));
      continue;
    }
    const ast::Name& name = fragment.parameters[index].name;
    ir::NodeId node = ir::AddParameter(graph(), std::string(context_.symbols.Text(name.symbol)), fed[i].type,
                                       fed[i].shape, {name.range, site.frame});
    names().OnNode(graph().node(node), name.symbol);
    names().AssignInBody({node, 0}, name.symbol);
    parameters.push_back(Value::Tensor({node, 0}));
  }
  return true;
}

std::unique_ptr<ir::Graph> NodeFactory::LeaveBody() {
  std::unique_ptr<GraphScope> scope = std::move(scopes_.back());
  scopes_.pop_back();
  scope->names.Finish(scope->graph);
  return std::move(scope->body);
}

Value NodeFactory::FinishBodies(ir::NodeId node, std::vector<ir::Body> bodies, const SitePlaces& places) {
  for (ir::Body& body : bodies) graph().AddBody(node, std::move(body));
  if (!ir::InferNode(graph(), node, context_.emitter, &places)) return {};
  std::vector<Value> outputs;
  outputs.reserve(static_cast<size_t>(graph().node(node).num_outputs()));
  for (int32_t i = 0; i < graph().node(node).num_outputs(); ++i) outputs.push_back(Value::Tensor({node, i}));
  return Value::Array(settings_.heap, std::move(outputs));
}

}  // namespace nnefc::expand::build
