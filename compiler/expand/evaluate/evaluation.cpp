#include "compiler/expand/evaluate/evaluation.h"

#include "compiler/expand/evaluate/bodies.h"
#include "compiler/expand/rules.h"

namespace nnefc::expand::evaluate {

Evaluation::Evaluation(const semantics::CheckedDocument& evaluated, build::GraphBuilder& graph_builder)
    : document(evaluated),
      builder(graph_builder),
      options(graph_builder.settings().options),
      context(graph_builder.settings().context),
      heap(graph_builder.heap()),
      fragments(graph_builder.settings()) {}

Evaluation::~Evaluation() = default;

bool Evaluation::Fail(const Fault& fault, ast::ExprId expr) {
  builder.Report(fault, SiteOf(expr));
  return false;
}

bool Evaluation::FailAtLimit(ast::ExprId expr) {
  Fault fault =
      Fault::Of(kLimitSteps, "expansion takes more than {} steps (`--max-steps`)", context.limits.steps);
  fault.fatal = true;
  return Fail(fault, expr);
}

bool Evaluation::Push(std::optional<Value> value, const Fault& fault, ast::ExprId expr) {
  if (!value) return Fail(fault, expr);
  if (value->kind() == ValueKind::kUnknownExtent && !builder.is_lenient()) {
    return Fail(OpenExtent(), expr);
  }
  if (value->poison()) return false;
  stack.push_back(std::move(*value));
  return true;
}

void Evaluation::TruncateLoops(size_t num_remaining) {
  while (loops.size() > num_remaining) {
    heap.Charge(-static_cast<int64_t>(loops.back().results.size()));
    loops.pop_back();
  }
}

Site Evaluation::SiteOf(ast::ExprId expr) {
  const Frame& current = frame();
  Site site;
  if (expr.valid()) site.range = current.chunk->document->ast().exprs[expr].range;
  site.document = current.chunk->document;
  site.expr = expr;
  if (current.statement >= 0) {
    site.statement = current.chunk->statements[static_cast<size_t>(current.statement)].identifier;
  }
  const Frame& first = frames.front();
  if (first.statement >= 0)
    site.in_graph = first.chunk->statements[static_cast<size_t>(first.statement)].identifier;
  site.frame = OriginFrame();
  return site;
}

// Returns the local name of an instantiation: the identifier of its result, or the fragment's name within an
// expression.
std::string Evaluation::ScopeOf(size_t index) const {
  const Frame& callee = frames[index];
  const Frame& caller = frames[index - 1];
  const Call& call = *callee.call;
  std::string_view fragment =
      context.symbols.Text(call.callee.document->signature(call.callee.fragment).name.symbol);
  Symbol identifier = caller.chunk->statements[static_cast<size_t>(caller.statement)].identifier;
  if (!identifier.valid()) return std::string(fragment);
  std::string_view assigned = context.symbols.Text(identifier);
  if (call.direct) return std::string(assigned);
  return index == 1 ? fmt::format("{}/{}", assigned, fragment) : std::string(fragment);
}

const std::shared_ptr<const ir::Frame>& Evaluation::OriginFrame() {
  size_t first = frames.size();
  while (first > 1 && frames[first - 1].origin == nullptr) --first;
  for (size_t i = first; i < frames.size(); ++i) {
    Frame& instance = frames[i];
    const Call& call = *instance.call;
    auto origin = std::make_shared<ir::Frame>();
    origin->parent = frames[i - 1].origin;
    origin->fragment =
        context.symbols.Text(call.callee.document->signature(call.callee.fragment).name.symbol);
    origin->call_site = call.quantizer_range.valid()
                            ? call.quantizer_range
                            : frames[i - 1].chunk->document->ast().exprs[call.expr].range;
    origin->scope = ScopeOf(i);
    origin->depth = static_cast<int64_t>(i);
    instance.origin = std::move(origin);
  }
  return frames.back().origin;
}

}  // namespace nnefc::expand::evaluate
